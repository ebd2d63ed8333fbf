/* claims.h - the slots of the job array that this request has claimed.
 *
 * A worker outlives its request, so every claim is settled at the end of the
 * request, whatever happened: given back, or emptied because its result was
 * sent or is not needed any more. */
#ifndef QUORATE_CLAIMS_H
#define QUORATE_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sendable.h"

struct jobarray;
struct job_slot;

enum claim_fate {
    CLAIM_BACK, /* READY again */
    CLAIM_DONE, /* EMPTY: sent, or not needed */
};

struct claim {
    struct job_slot *slot; /* NULL: in none */
    uint64_t word;
    struct sendable job;
    enum claim_fate fate;
    bool out; /* looked at and turned down in this request */
};

struct claims {
    struct claim *claim;
    size_t n, room;
};

/* Try to claim a slot; NULL if somebody was first.  The claim lies in the list,
 * which may move at the next call. */
struct claim *claims_take(struct claims *, const struct jobarray *,
                          struct job_slot *, int pid);

/* Note a job that is in no slot (read from the database itself), so that it is
 * settled with the others, which means nothing for it. */
void claims_note(struct claims *, const struct sendable *);

/* Forget the jobs that are in no slot; they are read anew. */
void claims_forget_noted(struct claims *);

/* Give the last claim taken back at once. */
void claims_drop_last(struct claims *);

/* Settle all.  With `committed` false all go back, whatever their fate. */
void claims_settle(struct claims *, bool committed);

#endif
