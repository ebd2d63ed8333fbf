/* claim.h - what a valid result claims, and what the results of a workunit get
 * (lifecycle §5). */
#ifndef QUORATE_CLAIM_H
#define QUORATE_CLAIM_H

#include <stddef.h>

#include "app.h"

struct said;
struct validate_batch;

enum credit_mode { /* §5.1 */
                   CREDIT_ADAPTIVE,
                   CREDIT_FROM_WU,
                   CREDIT_FROM_RUNTIME,
                   CREDIT_POST_ASSIGNED,
                   CREDIT_NONE,
};

struct claim_rules {
    enum credit_mode mode;
    double max_granted_credit;
    const struct app *app;
};

/* b->result[k] of b->wu[i] was found valid: note what it claims, its samples
 * for the averages, and whether it is an outlier.  `said` by the hooks. */
void claim_result(const struct claim_rules *, struct validate_batch *b,
                  size_t i, size_t k, const struct said *);

/* What each of the valid results of b->wu[i] gets, now that all have claimed;
 * b->result[canonical] stands for them. */
double claim_credit(const struct claim_rules *, const struct validate_batch *b,
                    size_t i, size_t canonical);

#endif
