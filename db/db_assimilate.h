/* db_assimilate.h - the assimilator's questions: finished workunits; mark them
 * done.
 *
 * May write: workunit.assimilate_state (READY to DONE, or back to INIT),
 * transition_time, error_mask (adds NO_CANONICAL_RESULT); batch as db_batch.h
 * says; x_set_aside. */
#ifndef QUORATE_DB_ASSIMILATE_H
#define QUORATE_DB_ASSIMILATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db_set_aside.h"
#include "result.h"
#include "workunit.h"

struct db;

struct assimilate_query {
    int64_t appid;
    int64_t now;      /* what was set aside until later is left out */
    int64_t after_id; /* workunits with a larger id */
    int mod_n, mod_i; /* 0: all */
    int limit;
};

enum assimilate_ending {
    ENDING_LEAVE, /* as it is: it comes again */
    ENDING_DONE,
    ENDING_DEFER,  /* back to INIT until all results are over and checked */
    ENDING_FAILED, /* set aside */
};

struct assimilate_wu {
    struct workunit wu; /* id, name, batch, error_mask, canonical_* */
    bool has_canonical;
    struct result canonical; /* id, name, xml_doc_in, elapsed_time, cpu_time,
                                received_time */
    bool no_canonical;       /* its error bit is not in the row yet */
    bool is_open;            /* a result of it is not over, or not checked */
    enum assimilate_ending ending; /* the caller decides */
    /* tries: failed ones so far.  With ENDING_FAILED the caller sets all but
     * wu_id. */
    struct set_aside aside;
    bool was_aside; /* there is a row */
};

struct assimilate_batch {
    size_t n, room;
    struct assimilate_wu *wu;
};

/* Read a batch, ids ascending; what was in *batch is forgotten.  A workunit
 * without error and without its canonical result gets the error bit
 * NO_CANONICAL_RESULT here; it is written with its ending.  0 or -1. */
int db_assimilate_due(struct db *, const struct assimilate_query *,
                      struct assimilate_batch *);
void assimilate_batch_free(struct assimilate_batch *);

/* Store the endings in one transaction.  A workunit that is no longer READY, or
 * has another error_mask than was handed over (somebody cancelled it), is left
 * alone and marked ENDING_LEAVE: it comes again.  0 or -1. */
int db_assimilate_store(struct db *, struct assimilate_batch *, int64_t now);

#endif
