/* claims.c - the slots of the job array that this request has claimed. */
#include "claims.h"

#include <stdlib.h>

#include "buf.h"
#include "clock.h"
#include "jobarray.h"

static struct claim *
add(struct claims *c, const struct claim *claim)
{
    if (c->n == c->room) {
        c->room = c->room > 0 ? c->room * 2 : 16;
        c->claim = xrealloc(c->claim, c->room * sizeof(*c->claim));
    }
    c->claim[c->n] = *claim;
    return &c->claim[c->n++];
}

struct claim *
claims_take(struct claims *c, const struct jobarray *array,
            struct job_slot *slot, int pid)
{
    struct claim claim = {.slot = slot};

    if (!jobarray_claim(array, slot, pid, clock_monotonic(), &claim.word,
                        &claim.job))
        return NULL;
    return add(c, &claim);
}

void
claims_note(struct claims *c, const struct sendable *job)
{
    const struct claim claim = {.job = *job};

    add(c, &claim);
}

void
claims_forget_noted(struct claims *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        if (c->claim[i].slot != NULL)
            c->claim[n++] = c->claim[i];
    c->n = n;
}

void
claims_drop_last(struct claims *c)
{
    struct claim *last = &c->claim[--c->n];

    jobarray_give_back(last->slot, last->word);
}

void
claims_settle(struct claims *c, bool committed)
{
    for (size_t i = 0; i < c->n; i++) {
        struct claim *claim = &c->claim[i];

        if (claim->slot == NULL)
            continue;
        /* False only if the lease had run out; then the feeder has freed it. */
        if (committed && claim->fate == CLAIM_DONE)
            jobarray_done(claim->slot, claim->word);
        else
            jobarray_give_back(claim->slot, claim->word);
    }
    free(c->claim);
    *c = (struct claims){0};
}
