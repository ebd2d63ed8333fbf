/* db_assign.h - the scheduler's questions about jobs for a certain host, user
 * or team, and about jobs for every host (dispatch §9 b, d).
 *
 * The transitioner makes no results of such workunits: the scheduler makes one
 * when a host that is meant asks.  It writes
 *   result      new rows, UNSENT, which the same transaction sends
 *   assignment  deleted if its workunit is gone */
#ifndef QUORATE_DB_ASSIGN_H
#define QUORATE_DB_ASSIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workunit.h"

struct db;

struct assign_target { /* who asks */
    int64_t userid;
    int64_t hostid;
    int64_t teamid; /* 0 none */
    int64_t now;
};

struct assigned {
    int64_t assignment_id;
    /* id, appid, name, batch, bounds, pins, limits, template; id 0: gone */
    struct workunit wu;
    /* of its result, if one is to be made */
    char result_name[NAME_SIZE];
    uint32_t random;
    char *xml_doc_in; /* malloc, or NULL */
    int64_t result_id;
};

/* Jobs meant for who asks that want a result, and none of which this host has a
 * result: those of the user first, then of the host, then of the team; at most
 * max.  With `broadcast` those for all hosts (or all of the user or team).  A
 * workunit is not listed while the transitioner or validator has to look at it.
 * *ret (malloc) is given back with db_assign_free(). */
int db_assign_list(struct db *, const struct assign_target *, bool broadcast,
                   size_t max, struct assigned **ret, size_t *ret_n);
void db_assign_free(struct assigned *, size_t n);

/* Assignments of workunits that are gone. */
int db_assign_delete(struct db *, const int64_t *ids, size_t n);

/* Lock the workunits and leave those (in their order, *n of them) that still
 * want a result; sets result_name.  Workunits that another has locked are left
 * out, and what they are bound to (class, version) is read anew.  Of three
 * hosts that ask for one job at a time one gets it. */
int db_assign_lock(struct db *, const struct assign_target *, bool broadcast,
                   struct assigned *, size_t *n);

/* Make the results; sets result_id. */
int db_assign_make(struct db *, struct assigned *, size_t n, int64_t now);

#endif
