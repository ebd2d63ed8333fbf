/* verdict.c - what is right about the results of one workunit: hooks compare,
 * policy decides, credit is computed. */
#include "verdict.h"

#include <stdlib.h>

#include "buf.h"
#include "claim.h"
#include "compare.h"
#include "db_validate.h"
#include "log.h"
#include "quorum.h"

/* ---- one workunit ---------------------------------------------------------
 */

static void
change_to(struct validate_change *c, const struct result *r,
          enum outcome outcome, enum validate_state state)
{
    c->outcome = outcome;
    c->validate_state = state;
    c->write = outcome != r->outcome || state != r->validate_state;
    c->outlier = r->runtime_outlier;
    c->claimed_credit = r->claimed_credit;
}

static void
apply_status(struct validate_change *c, const struct result *r,
             enum quorum_status status, struct validate_verdict *v)
{
    switch (status) {
    case QUORUM_KEEP:
        break;
    case QUORUM_VALID:
        change_to(c, r, OUTCOME_SUCCESS, VALIDATE_VALID);
        break;
    case QUORUM_INVALID:
        change_to(c, r, OUTCOME_SUCCESS, VALIDATE_INVALID);
        break;
    case QUORUM_INCONCLUSIVE:
        change_to(c, r, OUTCOME_SUCCESS, VALIDATE_INCONCLUSIVE);
        break;
    case QUORUM_VALIDATE_ERROR:
        change_to(c, r, OUTCOME_VALIDATE_ERROR, VALIDATE_INVALID);
        v->transition_now = true;
        break;
    }
}

/* Pointers to the results of wu[i] (malloc). */
static const struct result **
results_of(const struct validate_batch *b, size_t i)
{
    const struct validate_wu *w = &b->wu[i];
    const struct result **list = xcalloc(w->n + 1, sizeof(*list));

    for (size_t k = 0; k < w->n; k++)
        list[k] = &b->result[w->first + k];
    return list;
}

static void
take_decision(const struct verdict_rules *rules, struct validate_batch *b,
              size_t i, const struct quorum_decision *q,
              const enum quorum_status *status, const struct said *said)
{
    const struct validate_wu *w = &b->wu[i];
    struct validate_verdict *v = &b->verdict[i];

    v->new_errors = q->new_errors;
    v->min_quorum = q->min_quorum;
    v->target_nresults = q->target_nresults;
    v->transition_now = q->transition_now;
    v->retry = q->retry;
    for (size_t k = 0; k < w->n; k++)
        apply_status(&b->change[w->first + k], &b->result[w->first + k],
                     status[k], v);
    if (q->canonical < 0)
        return;
    for (size_t k = 0; k < w->n; k++)
        if (b->change[w->first + k].validate_state == VALIDATE_VALID)
            claim_result(&rules->claim, b, i, w->first + k, &said[k]);
    v->canonical_resultid = b->result[w->first + (size_t)q->canonical].id;
    v->canonical_credit =
        claim_credit(&rules->claim, b, i, w->first + (size_t)q->canonical);
    for (size_t k = w->first; k < w->first + w->n; k++)
        if (b->change[k].validate_state == VALIDATE_VALID)
            b->change[k].credit = v->canonical_credit;
}

/* No canonical result yet: do enough of them agree? */
static void
find_quorum(const struct verdict_rules *rules, struct validate_batch *b,
            size_t i)
{
    const struct validate_wu *w = &b->wu[i];
    const struct quorum_limits limits = {
        .min_quorum = w->wu.min_quorum,
        .target_nresults = w->wu.target_nresults,
        .max_success_results = w->wu.max_success_results,
        .app_target_nresults = rules->claim.app->target_nresults,
    };
    const struct result **results = results_of(b, i);
    enum quorum_status *status = xcalloc(w->n + 1, sizeof(*status));
    struct quorum_decision decision;
    struct compare c;
    enum match *match;

    compare_read(rules->hooks, rules->cfg, &w->wu, results, w->n, rules->now,
                 &c);
    match = compare_all(&c);
    quorum_decide(&limits, c.read, match, w->n, status, &decision);
    take_decision(rules, b, i, &decision, status, c.said);
    free(match);
    compare_free(&c);
    free(status);
    free(results);
}

static void
judge_straggler(struct validate_change *c, const struct result *r,
                enum straggler_verdict verdict, double credit,
                struct validate_verdict *v)
{
    switch (verdict) {
    case STRAGGLER_VALID:
        change_to(c, r, OUTCOME_SUCCESS, VALIDATE_VALID);
        c->credit = credit;
        break;
    case STRAGGLER_INVALID:
        change_to(c, r, OUTCOME_SUCCESS, VALIDATE_INVALID);
        break;
    case STRAGGLER_ERROR:
        change_to(c, r, OUTCOME_VALIDATE_ERROR, VALIDATE_INVALID);
        break;
    case STRAGGLER_TOO_LATE:
        change_to(c, r, OUTCOME_SUCCESS, VALIDATE_TOO_LATE);
        break;
    case STRAGGLER_RETRY:
        v->retry = true;
        break;
    }
    v->transition_now = v->transition_now || c->write;
}

static void
check_straggler(const struct verdict_rules *rules, struct validate_batch *b,
                size_t i, const struct result *canonical, size_t k)
{
    const struct result *pair[] = {&b->result[k], canonical};
    enum match match = MATCH_UNKNOWN;
    struct compare c;

    compare_read(rules->hooks, rules->cfg, &b->wu[i].wu, pair, ARRAY_LEN(pair),
                 rules->now, &c);
    if (canonical->file_delete_state == FILES_DONE)
        c.read[1] = OUTPUT_BAD;
    if ((c.read[0] == OUTPUT_OK || c.read[0] == OUTPUT_SUSPICIOUS) &&
        (c.read[1] == OUTPUT_OK || c.read[1] == OUTPUT_SUSPICIOUS))
        match = compare_pair(&c, 0, 1);
    judge_straggler(&b->change[k], pair[0],
                    quorum_straggler(c.read[0], c.read[1], match),
                    canonical->granted_credit, &b->verdict[i]);
    if (b->change[k].validate_state == VALIDATE_VALID)
        claim_result(&rules->claim, b, i, k, &c.said[0]);
    compare_free(&c);
}

/* A canonical result is there: does what came later agree with it? */
static void
check_stragglers(const struct verdict_rules *rules, struct validate_batch *b,
                 size_t i)
{
    const struct validate_wu *w = &b->wu[i];
    const struct result *canonical = NULL;

    for (size_t k = w->first; k < w->first + w->n; k++)
        if (b->result[k].id == w->wu.canonical_resultid)
            canonical = &b->result[k];
    if (canonical == NULL) {
        log_critical(TAG_WU "canonical result %" PRId64 " is not there",
                     w->wu.id, w->wu.name, w->wu.canonical_resultid);
        b->verdict[i].new_errors = WU_NO_CANONICAL_RESULT;
        b->verdict[i].transition_now = true;
        return;
    }
    for (size_t k = w->first; k < w->first + w->n; k++)
        if (b->result[k].validate_state == VALIDATE_INIT ||
            b->result[k].validate_state == VALIDATE_INCONCLUSIVE)
            check_straggler(rules, b, i, canonical, k);
}

/* Does the hook say that the host of a failed result will go on failing? */
static void
look_at_failed(const struct verdict_rules *rules, struct validate_batch *b,
               size_t i)
{
    for (size_t f = 0; f < b->n_failed; f++) {
        const struct result *r = &b->failed[f].result;
        struct compare c;

        if (b->failed[f].wu != i)
            continue;
        compare_read(rules->hooks, rules->cfg, &b->wu[i].wu, &r, 1, rules->now,
                     &c);
        b->failed[f].hopeless = c.said[0].long_term_fail;
        compare_free(&c);
        if (b->failed[f].hopeless)
            log_normal(TAG_WU TAG_RESULT "host %" PRId64
                                         " will go on failing: one result a "
                                         "day",
                       b->wu[i].wu.id, b->wu[i].wu.name, r->id, r->name,
                       r->hostid);
    }
}

void
verdict_decide(const struct verdict_rules *rules, struct validate_batch *b,
               size_t i)
{
    const struct workunit *wu = &b->wu[i].wu;

    if (wu->error_mask != 0)
        return;
    look_at_failed(rules, b, i);
    if (wu->canonical_resultid != 0)
        check_stragglers(rules, b, i);
    else if ((int64_t)b->wu[i].n >= wu->min_quorum)
        find_quorum(rules, b, i);
}
