/* db_submit.h - new workunits, many at a time, each at most once.
 *
 * Writes: workunit (insert), assignment (insert), batch as db_batch.h says. */
#ifndef QUORATE_DB_SUBMIT_H
#define QUORATE_DB_SUBMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workunit.h"

struct db;

enum submit_target { /* assignment.target_type */
                     SUBMIT_ANYBODY = 0,
                     SUBMIT_HOST = 1,
                     SUBMIT_USER = 2,
                     SUBMIT_TEAM = 3,
};

/* What became of a job. */
enum submit_status {
    SUBMIT_NEW,    /* inserted */
    SUBMIT_REPEAT, /* the same job is there already: nothing done */
    SUBMIT_TAKEN,  /* its name is another workunit's */
};

struct submit_job {
    struct workunit wu; /* all that a new row has; id is set: of the new row, of
                           the same job, or of the one that has the name */
    bool assigned;      /* for a target alone, or for all of a kind */
    bool broadcast;     /* assignment.multi */
    enum submit_target target;
    int64_t target_id;
    enum submit_status status; /* set */
};

/* Insert the jobs in one transaction.  If `all` and one name is taken, nothing
 * is inserted.  No two jobs may have the same name.  0; DB_EXISTS: with `all`,
 * some are SUBMIT_TAKEN; -1 failed (logged), nothing inserted. */
int db_submit(struct db *, struct submit_job *, size_t n, bool all);

/* The host, user or team is there?  0, DB_NONE, -1. */
int db_submit_target(struct db *, enum submit_target, int64_t id);

#endif
