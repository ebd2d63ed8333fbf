/* locality.h - jobs for the files that a host holds (dispatch §9.4), straight
 * from the database instead of the job array.
 *
 * dispatch.c takes jobs from here one by one, judges them by the same rules as
 * any other, and sends them in the same way; so what holds for a job there
 * holds for these. */
#ifndef QUORATE_LOCALITY_H
#define QUORATE_LOCALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db_locality.h"

struct dispatch_rule;
struct rpc;

enum {
    LOCALITY_HELD_MAX = 128, /* files of one host that are looked at */
    LOCALITY_PAGE = 64,      /* jobs read at once */
};

struct locality {
    bool on, first; /* before the job array */
    bool array_too; /* the job array is asked as well */
    bool kept;      /* jobs were left to the computers that have their files */
    int64_t since;  /* Unix s: a holder got a job after this */
    struct held_file { /* the host's, by the configuration work files */
        struct locality_name name;
        struct locality_jobs jobs;
        bool listed; /* by the client */
    } * held;
    size_t n_held, next_held;

    /* the file whose jobs are handed out */
    bool has_file, is_new, is_held;
    struct locality_name file;
    char after[NAME_SIZE];
    struct locality_job page[LOCALITY_PAGE];
    size_t n_page, next_page;
    bool page_is_last;
    bool taken[LOCALITY_PAGE]; /* the user, or host, has one of its workunit */

    /* files that could be next, as far as they were looked at */
    struct next_file {
        struct locality_name name;
        struct locality_jobs jobs;
        struct locality_held holders;
        bool tried; /* or held already */
    } * next;
    size_t n_next;
    bool all_seen;
    ptrdiff_t chosen;
    int useless; /* new files of which no job could go */

    char (*sent)[NAME_SIZE]; /* files of jobs in this reply */
    size_t n_sent;
};

/* What the host holds, and what waits for it; files that are of no use any more
 * are deleted there.  0 or -1. */
int locality_begin(struct locality *, struct rpc *);

/* The next job that suits the files of the host, then of one new file after
 * another.  *ret_taken: by the rule of one result, it cannot be this one's.
 * 0; DB_NONE; -1. */
int locality_next(struct locality *, struct rpc *, struct sendable *ret,
                  bool *ret_taken);

/* The job given last is to be given again. */
void locality_put_back(struct locality *);

/* The job given last suits the host: it becomes a holder of its file.  0;
 * DB_EXISTS: somebody was faster, the job is not to be sent; -1. */
int locality_take(struct locality *, struct rpc *);

/* A result of this name was sent: remember that the host holds its file.  0 or
 * -1. */
int locality_sent(struct locality *, struct rpc *, const char *result_name);

/* Nothing was sent, for this reason (or NULL).  If it is want of disk, one of
 * the host's files goes. */
void locality_make_room(struct locality *, struct rpc *,
                        const struct dispatch_rule *);

void locality_free(struct locality *);

#endif
