/* db_jobs.h - what operators do to many jobs: cancel them, give them another
 * priority.
 *
 * May write: workunit.error_mask (adds CANCELLED), transition_time, priority;
 * result.server_state and outcome of results never sent (to OVER, DIDNT_NEED),
 * result.priority of those; batch as db_batch.h says; x_audit.
 *
 * Jobs are taken in pieces, by id, one transaction each.  A piece locks the
 * workunits first, as everybody does who changes more than one row of a
 * workunit: a scheduler that is about to send a result either has committed
 * before (then the result is in progress, and its client is told to abort), or
 * finds the workunit cancelled. */
#ifndef QUORATE_DB_JOBS_H
#define QUORATE_DB_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct audit_line;

/* Which jobs: all conditions that are given must hold. */
struct job_selection {
    int64_t min_id, max_id; /* of the workunit; 0: no limit */
    const char *name;       /* of the workunit; NULL: any */
    int64_t batch;          /* 0: any */
    int64_t appid;          /* 0: any */
    int64_t app_version_id; /* bound to this version, or with a result of it in
                               progress; 0: any */
    bool open_only;         /* neither an error nor a canonical result */
};

enum job_action {
    JOBS_CANCEL,   /* those not cancelled before */
    JOBS_PRIORITY, /* those that have not failed */
};                 /* of both only jobs that are not assimilated */

struct job_work {
    enum job_action action;
    const struct job_selection *which;
    int priority; /* the new one, for JOBS_PRIORITY */
    struct audit_line *audit;
    /* set */
    int64_t n_workunits; /* changed */
    int64_t n_results;   /* never sent: withdrawn, or of another priority */
    int64_t after_id;    /* all workunits up to here have been looked at */
};

/* How many workunits are selected, and how many results of them are in
 * progress.  0, -1. */
int db_jobs_count(struct db *, const struct job_work *, int64_t *ret_workunits,
                  int64_t *ret_in_progress);

/* The next piece.  0; DB_NONE: there are no more; -1 (nothing of the piece was
 * done). */
int db_jobs_piece(struct db *, struct job_work *, int64_t now);

#endif
