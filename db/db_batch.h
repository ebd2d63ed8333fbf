/* db_batch.h - batches: jobs submitted together, counted while they go.
 *
 * Writes batch and x_batch.
 *
 * A job (workunit) of a batch is open until it has a canonical result or an
 * error.  Whoever changes that calls db_batch_count() in the same transaction,
 * when the workunits are changed (see the order of locks in db.h).  So the
 * counters are right at every commit, and nobody ever counts a batch's jobs
 * but once: rows of batch that another program made have no row in x_batch,
 * and get it when they are first counted.
 *
 * A number in workunit.batch for which there is no row of batch is the
 * project's own business: nothing is counted. */
#ifndef QUORATE_DB_BATCH_H
#define QUORATE_DB_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names.h"
#include "workunit.h"

struct db;

/* ---- counting (db_batch_count.c) ----------------------------------------
 */
enum job_end { JOB_OPEN, JOB_SUCCEEDED, JOB_FAILED };

enum job_end job_end(int64_t canonical_resultid, unsigned error_mask);

struct batch_change { /* of one workunit, or of several that are alike */
    int64_t batch;    /* 0: of none */
    enum job_end was, is;
    double credit; /* canonical credit that came to the batch */
    int64_t added; /* new jobs, all open */
};

/* Inside the transaction that has changed the workunits.  0 or -1. */
int db_batch_count(struct db *, const struct batch_change *, size_t n,
                   int64_t now);

/* ---- for operators and submitters (db_batch.c) ----------------------------
 */
struct batch {
    int64_t id;
    int64_t user_id; /* 0 none */
    int64_t app_id;  /* 0 any */
    int64_t create_time;
    char name[NAME_SIZE];
    char description[NAME_SIZE];
    enum batch_state state;
    int64_t njobs, nerror_jobs;
    double fraction_done;    /* 0 to 1 */
    double completion_time;  /* Unix s; 0: not yet */
    double credit_canonical; /* of the canonical results */
    double expire_time;      /* Unix s; 0 never */
};

/* A new one without jobs; sets the id.  0, -1. */
int db_batch_create(struct db *, struct batch *);

/* 0, DB_NONE, -1. */
int db_batch_by_id(struct db *, int64_t id, struct batch *ret);

/* Those with a larger id than after_id, by id: of a user and in a state (-1:
 * any).  With expired_at not 0 only those whose time is over and that are not
 * retired.  *ret_n of at most `max`.  0, -1. */
struct batch_query {
    int64_t after_id;
    int64_t user_id; /* 0 all */
    int state;
    int64_t expired_at;
};
int db_batch_list(struct db *, const struct batch_query *, struct batch *ret,
                  size_t max, size_t *ret_n);

/* Jobs of the batch that are still open.  -1. */
int64_t db_batch_open_jobs(struct db *, int64_t id);

/* To ABORTED (from any state before it) or RETIRED (from any other).  0,
 * DB_NONE: it is not in such a state; -1. */
int db_batch_end(struct db *, int64_t id, enum batch_state, int64_t now);

#endif
