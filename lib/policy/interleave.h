/* interleave.h - which stream of jobs gets the next slot of the job array, and
 * which jobs are alike (dispatch §2.4 to §2.6). */
#ifndef QUORATE_INTERLEAVE_H
#define QUORATE_INTERLEAVE_H

#include <stdbool.h>
#include <stddef.h>

#include "sendable.h"

/* One of several streams that divide the slots by weight. */
struct share {
    double weight; /* of the app, as the operator has set it */
    double x;      /* the one with the largest is next */
    bool dry;      /* has no job now: lends its slots */
};

/* Put weights in order: -1 (once the mark of a "hard" app) counts as 1, any
 * other that is not positive gets no slot; if none is left, all count 1.
 * Nobody holds a slot, nobody is dry. */
void interleave_begin(struct share *, size_t n);

/* This one holds so many slots already. */
void interleave_holds(struct share *, size_t jobs);

/* The stream that gets the next slot, and account for it: the largest x, the
 * first on ties; then x -= 1 / weight.  Dry streams are passed over, and what
 * others take meanwhile is not owed to them.  -1: all are dry. */
ptrdiff_t interleave_next(struct share *, size_t n);

/* Divide `slots` among uncommitted workunits (ret[0], half of them, rounded up)
 * and n classes of equal hosts (ret[1 … n]) in proportion to their recent
 * credit, each at least 1 (so the sum may exceed `slots`). */
void interleave_hr(const double *credit, size_t n, size_t slots, size_t *ret);

/* Jobs of one class ask for much the same of a host: same app, size class,
 * class of equal hosts and version, memory and disk within a factor of two,
 * speed (FLOP per second until the deadline) within a factor of four.  What one
 * host cannot take of a class, it can hardly take of the rest. */
uint32_t feasibility_class(const struct sendable *);

#endif
