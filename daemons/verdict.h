/* verdict.h - what is right about the results of one workunit: hooks compare,
 * policy decides, credit is computed. */
#ifndef QUORATE_VERDICT_H
#define QUORATE_VERDICT_H

#include <stddef.h>
#include <stdint.h>

struct config;
struct validate_batch;
struct validator_hooks;

enum credit_mode {
    CREDIT_FROM_WU,
    CREDIT_FROM_RUNTIME,
    CREDIT_NONE,
};

struct verdict_rules {
    const struct validator_hooks *hooks;
    const struct config *cfg;
    int64_t now; /* Unix s */
    int app_target_nresults;
    enum credit_mode credit;
    double max_granted_credit;
};

/* Decide about b->wu[i]: b->verdict[i], which holds the workunit's values, and
 * the changes of its results.  A workunit with an error, or with too few
 * results, stays as it is. */
void verdict_decide(const struct verdict_rules *, struct validate_batch *b,
                    size_t i);

#endif
