/* db_transition.h - the transitioner's questions: which workunits are due, and
 * make the decided changes.
 *
 * May write: workunit.need_validate, error_mask (adds bits),
 * assimilate_state (to READY), file_delete_state (to READY), hr_class,
 * app_version_id (to 0), transition_time; result.server_state, outcome,
 * validate_state, file_delete_state; inserts results; host_app_version as
 * db_hav.h says, batch as db_batch.h says.
 *
 * A batch is one transaction.  It locks the workunits' rows first, skipping
 * those that somebody else holds, then their results; from then on nothing of
 * them changes under our hands, and a report that comes meanwhile waits and
 * sets its transition_time after we have committed. */
#ifndef QUORATE_DB_TRANSITION_H
#define QUORATE_DB_TRANSITION_H

#include <stdint.h>

#include "transition.h"
#include "workunit.h"

struct db;

struct due_query {
    int64_t now;
    int mod_n, mod_i; /* 0: all */
    int64_t wu_id;    /* this one alone, whatever its transition_time; 0 none */
    int limit;        /* workunits in a batch */
    /* only those behind this place in the order of transition_time and id: the
     * one of the batch before; zeros: all */
    int64_t after_time, after_id;
};

struct due_wu {
    struct workunit wu; /* all fields but create_time, xml_doc, rsc_*, opaque,
                           canonical_credit, keywords */
    size_t first, n; /* its results: batch->result[first … first + n - 1] */
};

struct new_result {
    size_t wu; /* index into batch->wu */
    char name[NAME_SIZE];
    char *xml_doc_in; /* malloc */
    int64_t random;   /* 0 … 2^31 - 1 */
};

struct transition_batch {
    size_t n;
    int64_t last_time, last_id; /* the last one's place */
    struct due_wu *wu;
    size_t n_results;
    struct transition_result *result;
    /* The caller decides: todo[i] for wu[i], its changes from change[first] on
     * (their index counts from `first`), and appends what is to be created. */
    struct transition *todo;
    struct result_change *change;
    size_t n_new;
    struct new_result *new_result;
    size_t room_for_wu, room_for_results, room_for_new;
};

/* Inside a transaction: lock and read a batch; what was in *batch is forgotten.
 * Oldest transition_time first.  0 (batch->n may be 0) or -1.
 *
 * A walk that goes on behind the last batch does not meet the index entries of
 * what it has just moved, which the server removes only later; it comes to what
 * was locked, or became due in the past, when it begins again. */
int db_transition_due(struct db *, const struct due_query *,
                      struct transition_batch *);

/* Append a new result; the caller fills it. */
struct new_result *transition_batch_add(struct transition_batch *, size_t wu);

/* In the same transaction: write all changes.  Those of a result are written
 * only over the states that were read.  Time-outs are charged to the hosts
 * (lifecycle §3.4).  0; DB_EXISTS if a new result's name is taken or a row was
 * not as read: nothing of the batch may be committed; -1. */
int db_transition_apply(struct db *, const struct transition_batch *,
                        int64_t now, int daily_result_quota);

/* Set a workunit aside: look at it again at `when`.  0 or -1. */
int db_transition_postpone(struct db *, int64_t wu_id, int64_t when);

void transition_batch_free(struct transition_batch *);

#endif
