/* db_size.h - what census and size_regulator ask: how fast and how many are the
 * hosts, how many jobs of a size class wait?
 *
 * May write: result.server_state (INACTIVE to UNSENT). */
#ifndef QUORATE_DB_SIZE_H
#define QUORATE_DB_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;

/* A host with recent credit above CENSUS_MIN_CREDIT. */
struct census_host {
    char os_name[255], p_vendor[255], p_model[255];
    double credit; /* recent */
};

/* Call fn for each of them.  0 or -1. */
int db_census_hosts(struct db *, void (*fn)(void *, const struct census_host *),
                    void *arg);

/* (1 / et_avg) x availability of these hosts with the versions of an app,
 * FLOPS: *ret (to be freed).  0 or -1. */
int db_census_speeds(struct db *, int64_t appid, double **ret, size_t *ret_n);

struct sized_app {
    int64_t id;
    char name[255];
    int n_size_classes;
};

/* Apps that are not deprecated and have more than one size class: *ret (to be
 * freed).  0 or -1. */
int db_sized_apps(struct db *, struct sized_app **ret, size_t *ret_n);

/* The number of size classes of an app.  0; DB_NONE; -1. */
int db_size_classes(struct db *, int64_t appid, int *ret);

/* How many unsent results of this app and class, at most `limit`.  0 or -1. */
int db_size_count(struct db *, int64_t appid, int size_class, int64_t limit,
                  int64_t *ret);

enum size_order { SIZE_BY_ID, SIZE_RANDOM, SIZE_BEST, SIZE_WORST };

/* Make up to `max` inactive results of this app and class UNSENT, of workunits
 * that have not failed.  *ret_n of them.  0; DB_BUSY; -1. */
int db_size_release(struct db *, int64_t appid, int size_class, enum size_order,
                    size_t max, size_t *ret_n);

#endif
