/* quorum.c - what the agreement among results means (lifecycle §4.2-4.4).
 *
 * A workunit must never wait for nothing: the transitioner calls the validator
 * when a result is INIT, so either one stays INIT (then we come back by the
 * retry), or all become INCONCLUSIVE and the target is above their number (then
 * one more result is made and comes in as INIT).  Therefore a transient failure
 * leaves all results as they are unless the others agree without it. */
#include "quorum.h"

#include <limits.h>

struct poll {
    const enum read_verdict *read;
    const enum match *match;
    size_t n;
    enum quorum_status *status;
    bool retry; /* something could not be read or compared for now */
};

static bool
is_readable(enum read_verdict read)
{
    return read == OUTPUT_OK || read == OUTPUT_SUSPICIOUS;
}

static size_t
count_verdicts(const struct poll *p, enum read_verdict what)
{
    size_t count = 0;

    for (size_t i = 0; i < p->n; i++)
        count += p->read[i] == what;
    return count;
}

static int
to_int(size_t n)
{
    return n < INT_MAX ? (int)n : INT_MAX;
}

/* One suspicious result alone counts for nothing; with any other it does, but
 * where the application is replicated adaptively all of them must face the full
 * quorum. */
static void
weigh_suspicious(const struct poll *p, const struct quorum_limits *limits,
                 struct quorum_decision *ret)
{
    int full = limits->app_target_nresults;

    if (full < 0)
        full = full > -INT_MAX ? -full : INT_MAX;
    if (count_verdicts(p, OUTPUT_SUSPICIOUS) == 0 || ret->min_quorum >= full)
        return;
    ret->min_quorum = full;
    if (ret->target_nresults < full)
        ret->target_nresults = full;
    ret->transition_now = true;
}

static int
count_good(const struct poll *p)
{
    size_t ok = count_verdicts(p, OUTPUT_OK);
    size_t suspicious = count_verdicts(p, OUTPUT_SUSPICIOUS);

    return to_int(ok > 0 || suspicious > 1 ? ok + suspicious : 0);
}

/* Does j agree with i, seen from i?  Equality within a tolerance need not be
 * transitive, nor the same from both sides. */
static enum match
agreement(const struct poll *p, size_t i, size_t j)
{
    return i == j ? MATCH_YES : p->match[i * p->n + j];
}

/* Results that agree with i, itself included. */
static int
count_matches(struct poll *p, size_t i)
{
    size_t matches = 0;

    for (size_t j = 0; j < p->n; j++) {
        if (!is_readable(p->read[j]))
            continue;
        switch (agreement(p, i, j)) {
        case MATCH_NO:
            break;
        case MATCH_YES:
            matches++;
            break;
        case MATCH_UNKNOWN:
            p->retry = true;
            break;
        }
    }
    return to_int(matches);
}

static ptrdiff_t
find_canonical(struct poll *p, int min_valid)
{
    for (size_t i = 0; i < p->n; i++)
        if (is_readable(p->read[i]) && count_matches(p, i) >= min_valid)
            return (ptrdiff_t)i;
    return -1;
}

/* What cannot be compared with the canonical result now is left for the check
 * of stragglers. */
static void
judge_by_canonical(struct poll *p, size_t canonical)
{
    for (size_t j = 0; j < p->n; j++) {
        if (!is_readable(p->read[j]))
            continue;
        switch (agreement(p, canonical, j)) {
        case MATCH_NO:
            p->status[j] = QUORUM_INVALID;
            break;
        case MATCH_YES:
            p->status[j] = QUORUM_VALID;
            break;
        case MATCH_UNKNOWN:
            p->status[j] = QUORUM_KEEP;
            break;
        }
    }
}

static void
order_another(const struct poll *p, const struct quorum_limits *limits,
              struct quorum_decision *ret)
{
    for (size_t i = 0; i < p->n; i++)
        if (is_readable(p->read[i]))
            p->status[i] = QUORUM_INCONCLUSIVE;
    if (ret->n_viable > limits->max_success_results) {
        ret->new_errors |= WU_TOO_MANY_SUCCESS_RESULTS;
        ret->transition_now = true;
    } else if (ret->n_viable >= ret->target_nresults) {
        ret->target_nresults = ret->n_viable + 1;
        ret->transition_now = true;
    }
}

/* Everybody's start: bad output is an error whatever the others say. */
static void
judge_by_reading(const struct poll *p, struct quorum_decision *ret)
{
    for (size_t i = 0; i < p->n; i++) {
        p->status[i] = QUORUM_KEEP;
        if (p->read[i] != OUTPUT_BAD)
            continue;
        p->status[i] = QUORUM_VALIDATE_ERROR;
        ret->transition_now = true; /* it has to be replaced */
    }
    ret->n_viable = to_int(p->n - count_verdicts(p, OUTPUT_BAD));
}

static bool
has_kept(const struct poll *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->status[i] == QUORUM_KEEP)
            return true;
    return false;
}

void
quorum_decide(const struct quorum_limits *limits, const enum read_verdict *read,
              const enum match *match, size_t n, enum quorum_status *status,
              struct quorum_decision *ret)
{
    struct poll p = {read, match, n, status, false};

    *ret = (struct quorum_decision){
        .canonical = -1,
        .min_quorum = limits->min_quorum,
        .target_nresults = limits->target_nresults,
    };
    judge_by_reading(&p, ret);
    if (n == 0 || to_int(n) < limits->min_quorum)
        return; /* too few to ask: the transitioner calls again */

    p.retry = count_verdicts(&p, OUTPUT_LATER) > 0;
    weigh_suspicious(&p, limits, ret);
    if (count_good(&p) >= ret->min_quorum)
        ret->canonical = find_canonical(&p, ret->min_quorum / 2 + 1);
    if (ret->canonical >= 0) {
        judge_by_canonical(&p, (size_t)ret->canonical);
        ret->transition_now = false; /* the assimilator's turn (§4.2) */
    } else if (!p.retry) {
        order_another(&p, limits, ret);
    }
    ret->retry = has_kept(&p);
}

enum straggler_verdict
quorum_straggler(enum read_verdict late, enum read_verdict canonical,
                 enum match match)
{
    if (late == OUTPUT_LATER)
        return STRAGGLER_RETRY;
    if (late == OUTPUT_BAD)
        return STRAGGLER_ERROR;
    if (canonical == OUTPUT_LATER)
        return STRAGGLER_RETRY;
    if (canonical == OUTPUT_BAD)
        return STRAGGLER_TOO_LATE; /* our loss is not the volunteer's fault */
    switch (match) {
    case MATCH_NO:
        return STRAGGLER_INVALID;
    case MATCH_YES:
        return STRAGGLER_VALID;
    case MATCH_UNKNOWN:
        break;
    }
    return STRAGGLER_RETRY;
}
