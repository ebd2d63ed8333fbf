/* verdict.h - what is right about the results of one workunit: hooks compare,
 * policy decides, credit is computed. */
#ifndef QUORATE_VERDICT_H
#define QUORATE_VERDICT_H

#include <stddef.h>
#include <stdint.h>

#include "claim.h"

struct config;
struct validate_batch;
struct validator_hooks;

struct verdict_rules {
    const struct validator_hooks *hooks;
    const struct config *cfg;
    int64_t now;              /* Unix s */
    struct claim_rules claim; /* with the application */
};

/* Decide about b->wu[i]: b->verdict[i], which holds the workunit's values, and
 * the changes of its results; and b->failed of it.  A workunit with an error,
 * or with too few results, stays as it is. */
void verdict_decide(const struct verdict_rules *, struct validate_batch *b,
                    size_t i);

#endif
