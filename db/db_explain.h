/* db_explain.h - what the scheduler keeps, and asks, to explain its decisions.
 *
 * May write: x_host_request. */
#ifndef QUORATE_DB_EXPLAIN_H
#define QUORATE_DB_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account.h"
#include "host.h"
#include "sendable.h"

struct buf;
struct db;
struct db_query;

/* ---- inside db: the columns that db_sched_host() reads ---- */
void db_host_columns(struct buf *sql, const char *table);
/* From the first columns of a row; returns how many they are. */
unsigned db_host_from_row(struct db_query *, struct host *ret);

/* ---- facts of requests (see sched_request.facts) ---- */
/* Inside the RPC's transaction, with the host locked.  0, -1. */
int db_explain_store_request(struct db *, int64_t hostid, int64_t hash,
                             const char *facts, int64_t now);
/* malloc'ed, and when they were sent.  DB_NONE: nothing is known. */
int db_explain_request(struct db *, int64_t hostid, char **ret_facts,
                       int64_t *ret_time);

/* ---- one workunit ---- */
struct explain_workunit {
    struct sendable job; /* result_id: one that is UNSENT, or 0 */
    char name[NAME_SIZE];
    char app_name[NAME_SIZE];
    unsigned error_mask;
    int64_t canonical_resultid;
    int transitioner_flags;
    bool app_deprecated;
    int n_results, n_unsent, n_in_progress, n_over;
};
/* DB_NONE: there is no such workunit. */
int db_explain_workunit(struct db *, int64_t id, struct explain_workunit *ret);

/* Whose are its results?  Pairs of user and host, malloc'ed. */
struct explain_owner {
    int64_t userid, hostid;
};
int db_explain_owners(struct db *, int64_t wu_id, struct explain_owner **ret,
                      size_t *ret_n);

/* ---- one host ---- */
struct explain_job { /* in progress on the host */
    char name[NAME_SIZE];
    int64_t appid;
    int64_t app_version_id;
};
/* By id, at most `max`; malloc'ed. */
int db_explain_jobs(struct db *, int64_t hostid, size_t max,
                    struct explain_job **ret, size_t *ret_n);

/* ---- many hosts ---- */
struct explain_host {
    struct host host;
    struct user user; /* id, preferences, venue, only_own_jobs */
    char *facts;      /* NULL: nothing is known */
};
/* The next hosts with an id above `above` that were in contact since `since`,
 * by id; at most `limit`.  Free each with explain_host_free(). */
int db_explain_hosts(struct db *, int64_t above, int64_t since, size_t limit,
                     struct explain_host *ret, size_t *ret_n);
void explain_host_free(struct explain_host *);

#endif
