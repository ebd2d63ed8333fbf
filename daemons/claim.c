/* claim.c - what a valid result claims, and what the results of a workunit get
 * (lifecycle §5). */
#include "claim.h"

#include <stdlib.h>

#include "buf.h"
#include "compare.h"
#include "credit.h"
#include "db_validate.h"
#include "pfc.h"

/* ---- one result -----------------------------------------------------------
 */

static enum pfc_times
times_of(enum runtime_kind kind)
{
    switch (kind) {
    case RUNTIME_AUTOMATIC:
        break;
    case RUNTIME_USUAL:
        return PFC_TIMES_USUAL;
    case RUNTIME_OUTLIER:
        return PFC_TIMES_OUTLIER;
    }
    return PFC_TIMES_AUTOMATIC;
}

static double
elapsed(const struct result *r)
{
    return r->elapsed_time < 1e-6 ? r->cpu_time : r->elapsed_time;
}

static double
claimed(const struct claim_rules *rules, const struct validate_batch *b,
        size_t i, size_t k, const struct said *said)
{
    const struct workunit *wu = &b->wu[i].wu;
    const struct result *r = &b->result[k];
    double max = rules->max_granted_credit;

    switch (rules->mode) {
    case CREDIT_ADAPTIVE:
        return pfc_claim(&b->change[k].pfc, wu, max);
    case CREDIT_FROM_WU:
        return credit_from_wu(wu->canonical_credit, wu->rsc_fpops_est, max);
    case CREDIT_FROM_RUNTIME:
        return credit_from_runtime(r->flops_estimate, elapsed(r),
                                   wu->rsc_fpops_bound, max);
    case CREDIT_POST_ASSIGNED:
        return credit_cap(said->credit, max);
    case CREDIT_NONE:
        break;
    }
    return 0;
}

/* Credit from run times does without peak FLOP counts (§5.1). */
static void
forget_pfc(struct validate_change *c)
{
    c->pfc.host_pfc = c->pfc.version_pfc = -1;
    c->version_credit = 0;
}

void
claim_result(const struct claim_rules *rules, struct validate_batch *b,
             size_t i, size_t k, const struct said *said)
{
    struct validate_change *c = &b->change[k];
    const struct pfc_query query = {
        .wu = &b->wu[i].wu,
        .app = rules->app,
        .result = &b->result[k],
        .hav = validate_hav(b, &b->result[k]),
        .av = validate_version(b, &b->result[k]),
        .times = times_of(said->runtime),
    };

    pfc_of_result(&query, &c->pfc);
    c->measured = true;
    c->outlier = c->pfc.outlier;
    c->version_credit = pfc_claim(&c->pfc, query.wu, rules->max_granted_credit);
    c->claimed_credit = claimed(rules, b, i, k, said);
    if (rules->mode == CREDIT_FROM_RUNTIME)
        forget_pfc(c);
}

/* ---- a workunit -----------------------------------------------------------
 */

/* Of the valid ones; malloc, one at least. */
static struct pfc *
list_pfc(const struct validate_batch *b, size_t i, size_t *n)
{
    const struct validate_wu *w = &b->wu[i];
    struct pfc *list = xcalloc(w->n + 1, sizeof(*list));

    *n = 0;
    for (size_t k = w->first; k < w->first + w->n; k++)
        if (b->change[k].validate_state == VALIDATE_VALID)
            list[(*n)++] = b->change[k].pfc;
    return list;
}

static double
adaptive(const struct claim_rules *rules, const struct validate_batch *b,
         size_t i)
{
    size_t n;
    struct pfc *list = list_pfc(b, i, &n);
    double credit = pfc_credit(list, n, &b->wu[i].wu, rules->app,
                               rules->max_granted_credit);

    free(list);
    return credit;
}

static double
from_run_times(const struct validate_batch *b, size_t i)
{
    const struct validate_wu *w = &b->wu[i];
    double *claims = xcalloc(w->n + 1, sizeof(*claims));
    double credit;
    int n = 0;

    for (size_t k = w->first; k < w->first + w->n; k++)
        if (b->change[k].validate_state == VALIDATE_VALID &&
            b->change[k].claimed_credit > 0)
            claims[n++] = b->change[k].claimed_credit;
    credit = credit_low_average(claims, n);
    free(claims);
    return credit;
}

double
claim_credit(const struct claim_rules *rules, const struct validate_batch *b,
             size_t i, size_t canonical)
{
    double credit = 0;

    switch (rules->mode) {
    case CREDIT_ADAPTIVE:
        credit = adaptive(rules, b, i);
        break;
    case CREDIT_FROM_RUNTIME:
        credit = from_run_times(b, i);
        break;
    case CREDIT_FROM_WU:
    case CREDIT_POST_ASSIGNED:
        credit = b->change[canonical].claimed_credit;
        break;
    case CREDIT_NONE:
        break;
    }
    return credit_cap(credit, rules->max_granted_credit);
}
