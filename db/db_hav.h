/* db_hav.h - host_app_version: what is known about a host with one app version.
 *
 * Three programs write its rows, each after it has locked them: the scheduler
 * (what was sent and reported), the transitioner (what came too late), the
 * validator (what was right, and how long it took). */
#ifndef QUORATE_DB_HAV_H
#define QUORATE_DB_HAV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"

struct db;

/* Order of keys (host_id, app_version_id), for qsort(): rows are locked in it.
 */
int db_hav_compare(const void *, const void *);

/* Inside a transaction: lock the n rows whose keys are set in `hav` (sorted,
 * none twice) and fill them.  A row that is not there yet is made: as a copy of
 * the host's row for the newest other version of the same app, platform and
 * plan class, or empty.  0, -1. */
int db_hav_lock(struct db *, struct host_app_version *hav, size_t n);

/* Store the locked rows.  0, -1. */
int db_hav_store(struct db *, const struct host_app_version *hav, size_t n);

/* Read the n rows whose keys are set (sorted, none twice), without a lock.
 * there[i]: it is there.  0, -1. */
int db_hav_read(struct db *, struct host_app_version *hav, bool *there,
                size_t n);

/* All rows of a host, by version (malloc; NULL if none), without a lock.  0,
 * -1. */
int db_hav_of_host(struct db *, int64_t host_id, struct host_app_version **ret,
                   size_t *ret_n);

/* The same, the rows locked until the transaction ends. */
int db_hav_lock_of_host(struct db *, int64_t host_id,
                        struct host_app_version **ret, size_t *ret_n);

/* The same of all hosts with above < id <= upto, by host and version. */
int db_hav_of_hosts(struct db *, int64_t above, int64_t upto,
                    struct host_app_version **ret, size_t *ret_n);

#endif
