/* invariant.c - what must be true of a workunit and its results at any time. */
#include "invariant.h"

#include <math.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static bool
is_decided(const struct life *l)
{
    return l->wu.canonical_resultid != 0 || l->wu.error_mask != 0;
}

static bool
is_success(const struct transition_result *r)
{
    return r->server_state == RESULT_OVER && r->outcome == OUTCOME_SUCCESS;
}

/* A success that somebody still has to look at. */
static bool
is_unchecked(const struct transition_result *r)
{
    return is_success(r) && (r->validate_state == VALIDATE_INIT ||
                             r->validate_state == VALIDATE_INCONCLUSIVE);
}

static bool
never_went_out(const struct transition_result *r)
{
    return r->server_state == RESULT_UNSENT ||
           r->server_state == RESULT_INACTIVE;
}

static const struct life_result *
canonical_of(const struct life *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->r[i].row.id == l->wu.canonical_resultid)
            return &l->r[i];
    return NULL;
}

/* ---- one result -----------------------------------------------------------
 */

static const char *
broken_before_over(const struct transition_result *r)
{
    if (r->outcome != OUTCOME_INIT || r->validate_state != VALIDATE_INIT)
        return "a result that is not over has an outcome";
    if (r->received_time != 0)
        return "a result that is not over was received";
    if (r->file_delete_state != FILES_INIT)
        return "the files of a result that is not over may go";
    if (never_went_out(r) && r->hostid != 0)
        return "a result that was not sent has a host";
    if (r->server_state == RESULT_IN_PROGRESS &&
        (r->hostid == 0 || r->sent_time == 0 || r->report_deadline == 0))
        return "a result is out without host, time or deadline";
    return NULL;
}

/* Which verdicts go with which outcome, and with which workunit. */
static const char *
broken_verdict(const struct life *l, const struct transition_result *r)
{
    switch (r->outcome) {
    case OUTCOME_INIT:
        return "a result is over without an outcome";
    case OUTCOME_SUCCESS:
        break;
    case OUTCOME_CLIENT_ERROR:
    case OUTCOME_VALIDATE_ERROR:
        return r->validate_state == VALIDATE_INVALID
                   ? NULL
                   : "a failed result is not invalid";
    case OUTCOME_COULDNT_SEND:
    case OUTCOME_NO_REPLY:
    case OUTCOME_DIDNT_NEED:
    case OUTCOME_CLIENT_DETACHED:
        return r->validate_state == VALIDATE_INIT
                   ? NULL
                   : "a result without output has a verdict";
    }
    switch (r->validate_state) {
    case VALIDATE_INIT:
    case VALIDATE_INCONCLUSIVE:
        break;
    case VALIDATE_VALID:
    case VALIDATE_INVALID:
    case VALIDATE_TOO_LATE:
        if (l->wu.canonical_resultid == 0)
            return "a verdict without a canonical result";
        break;
    case VALIDATE_NO_CHECK:
        if (l->wu.error_mask == 0)
            return "NO_CHECK without an error of the workunit";
        break;
    }
    return NULL;
}

static const char *
broken_over(const struct life *l, const struct transition_result *r)
{
    bool brought = r->outcome == OUTCOME_SUCCESS ||
                   r->outcome == OUTCOME_CLIENT_ERROR ||
                   r->outcome == OUTCOME_VALIDATE_ERROR;

    if (brought != (r->received_time != 0) &&
        r->outcome != OUTCOME_CLIENT_DETACHED)
        return "the time of the report does not fit the outcome";
    if ((brought || r->outcome == OUTCOME_NO_REPLY) && r->hostid == 0)
        return "a result came back that has no host";
    if (r->file_delete_state != FILES_INIT && r->outcome != OUTCOME_SUCCESS &&
        r->outcome != OUTCOME_CLIENT_ERROR)
        return "files that nobody brought may go";
    if (r->file_delete_state != FILES_INIT && is_unchecked(r))
        return "the files of an unchecked result may go";
    return broken_verdict(l, r);
}

static const char *
broken_result(const struct life *l, const struct transition_result *r)
{
    if (r->file_delete_state != FILES_INIT &&
        l->wu.assimilate_state != ASSIMILATE_DONE)
        return "files may go before the workunit is assimilated";
    switch (r->server_state) {
    case RESULT_INACTIVE:
    case RESULT_UNSENT:
    case RESULT_IN_PROGRESS:
        return broken_before_over(r);
    case RESULT_OVER:
        return broken_over(l, r);
    }
    return "no such server_state";
}

static const char *
broken_credit(const struct life *l, const struct life_result *r)
{
    const struct life_result *canonical = canonical_of(l);

    if (r->grants > 1)
        return "credit was granted twice";
    if (is_success(&r->row) && r->row.validate_state == VALIDATE_VALID) {
        if (r->grants != 1)
            return "a valid result got no credit";
        if (canonical != NULL && fabs(r->credit - canonical->credit) > 1e-9)
            return "a valid result got another credit than the canonical one";
    } else if (r->grants != 0) {
        return "credit for a result that is not valid";
    }
    return NULL;
}

/* ---- the workunit ---------------------------------------------------------
 */

static const char *
broken_canonical(const struct life *l)
{
    const struct life_result *canonical = canonical_of(l);

    if (l->wu.canonical_resultid == 0)
        return NULL;
    if (canonical == NULL)
        return "the canonical result is not there";
    if (!is_success(&canonical->row) ||
        canonical->row.validate_state != VALIDATE_VALID)
        return "the canonical result is not valid";
    if (canonical->row.file_delete_state != FILES_INIT &&
        l->wu.file_delete_state == FILES_INIT)
        return "the canonical output may go before the input";
    return NULL;
}

/* The validator orders one more than there are whenever it leaves results
 * INCONCLUSIVE: by themselves they are not looked at again. */
static bool
wants_no_tie_breaker(const struct life *l)
{
    int inconclusive = 0;

    for (size_t i = 0; i < l->n; i++)
        inconclusive += is_success(&l->r[i].row) &&
                        l->r[i].row.validate_state == VALIDATE_INCONCLUSIVE;
    return !is_decided(l) && inconclusive > 0 &&
           inconclusive >= l->wu.target_nresults &&
           inconclusive >= l->wu.min_quorum;
}

static const char *
broken_workunit(const struct life *l)
{
    const struct workunit *wu = &l->wu;

    if (wu->error_mask > 63)
        return "an error bit that is none";
    if (wu->assimilate_state != ASSIMILATE_INIT && !is_decided(l))
        return "assimilated without a canonical result or an error";
    if (wu->file_delete_state != FILES_INIT &&
        wu->assimilate_state != ASSIMILATE_DONE)
        return "the inputs may go before the workunit is assimilated";
    for (size_t i = 0; i < l->n; i++)
        if (wu->file_delete_state != FILES_INIT &&
            l->r[i].row.server_state != RESULT_OVER)
            return "the inputs may go while a result needs them";
    if (l->n > 0 && wu->max_total_results >= 0 &&
        l->n > (size_t)wu->max_total_results)
        return "more results than max_total_results";
    if (wants_no_tie_breaker(l))
        return "results disagree, and no further one is wanted";
    return broken_canonical(l);
}

const char *
invariant_broken(const struct life *l, bool credits)
{
    const char *broken = broken_workunit(l);

    for (size_t i = 0; i < l->n && broken == NULL; i++) {
        broken = broken_result(l, &l->r[i].row);
        if (broken == NULL && credits)
            broken = broken_credit(l, &l->r[i]);
        for (size_t j = 0; j < i; j++)
            if (l->r[i].row.suffix == l->r[j].row.suffix)
                return "two results of one name";
    }
    return broken;
}

/* ---- from one moment to the next ------------------------------------------
 */

/* READY -> DONE or ERROR, ERROR -> DONE. */
static bool
files_went_back(enum file_delete_state before, enum file_delete_state after)
{
    if (before == after || before == FILES_INIT)
        return false;
    return before == FILES_DONE || after == FILES_INIT || after == FILES_READY;
}

/* A verdict is for good; one that says "not yet" is not one. */
static bool
verdict_changed(const struct transition_result *b,
                const struct transition_result *a)
{
    return b->validate_state != VALIDATE_INIT &&
           b->validate_state != VALIDATE_INCONCLUSIVE &&
           (a->validate_state != b->validate_state || a->outcome != b->outcome);
}

static const char *
result_step_broken(const struct transition_result *b,
                   const struct transition_result *a)
{
    if (a->id != b->id)
        return "a result has gone";
    if (a->server_state < b->server_state)
        return "a result went back to an earlier state";
    if (files_went_back(b->file_delete_state, a->file_delete_state))
        return "deleted files came back";
    if (b->server_state == RESULT_OVER && verdict_changed(b, a))
        return "a verdict was changed";
    if (b->server_state == RESULT_OVER && b->outcome == OUTCOME_DIDNT_NEED &&
        a->outcome != OUTCOME_DIDNT_NEED)
        return "a withdrawn result came back";
    if (b->received_time != 0 && a->received_time != b->received_time)
        return "a result was received twice";
    return NULL;
}

const char *
invariant_step_broken(const struct life *b, const struct life *a)
{
    const char *broken = NULL;

    if ((b->wu.error_mask & ~a->wu.error_mask) != 0)
        return "an error bit was lost";
    if (b->wu.canonical_resultid != 0 &&
        a->wu.canonical_resultid != b->wu.canonical_resultid)
        return "another result became canonical";
    if (b->wu.assimilate_state == ASSIMILATE_DONE &&
        a->wu.assimilate_state != ASSIMILATE_DONE)
        return "it would be assimilated again";
    if (files_went_back(b->wu.file_delete_state, a->wu.file_delete_state))
        return "deleted input files came back";
    if (a->wu.target_nresults < b->wu.target_nresults ||
        a->wu.min_quorum < b->wu.min_quorum)
        return "quorum or target went down";
    if (a->n < b->n)
        return "a result has gone";
    if (a->n > b->n && is_decided(b))
        return "a decided workunit got more results";
    for (size_t i = 0; i < b->n && broken == NULL; i++)
        broken = result_step_broken(&b->r[i].row, &a->r[i].row);
    return broken;
}

/* ---- who moves it next ----------------------------------------------------
 */

static bool
has_files_to_delete(const struct life *l)
{
    bool some = l->wu.file_delete_state == FILES_READY ||
                l->wu.file_delete_state == FILES_ERROR;

    for (size_t i = 0; i < l->n && !some; i++)
        some = l->r[i].row.file_delete_state == FILES_READY ||
               l->r[i].row.file_delete_state == FILES_ERROR;
    return some;
}

bool
invariant_is_final(const struct life *l)
{
    if (!life_may_be_purged(l))
        return false;
    for (size_t i = 0; i < l->n; i++)
        if (is_unchecked(&l->r[i].row))
            return false;
    return true;
}

static bool
differs(const struct life *a, const struct life *b)
{
    bool yes = a->n != b->n || a->wu.error_mask != b->wu.error_mask ||
               a->wu.need_validate != b->wu.need_validate ||
               a->wu.assimilate_state != b->wu.assimilate_state ||
               a->wu.file_delete_state != b->wu.file_delete_state;

    for (size_t i = 0; i < a->n && !yes; i++)
        yes = a->r[i].row.server_state != b->r[i].row.server_state ||
              a->r[i].row.outcome != b->r[i].row.outcome ||
              a->r[i].row.validate_state != b->r[i].row.validate_state ||
              a->r[i].row.file_delete_state != b->r[i].row.file_delete_state;
    return yes;
}

/* Does the transitioner find something to do when it comes by, then or the
 * next times?  A look that finds nothing (a deadline was moved) must lead to
 * one that does. */
static bool
clock_moves_it(const struct life *given, const struct transition_config *cfg)
{
    struct life l = *given;

    for (int look = 0; look < 4 && l.wu.transition_time < TRANSITION_NEVER;
         look++) {
        life_transition(&l, cfg, l.wu.transition_time);
        if (differs(&l, given))
            return true;
    }
    return false;
}

static enum life_waits
waits_for_results(const struct life *l)
{
    int64_t first_deadline = INT64_MAX;

    for (size_t i = 0; i < l->n; i++) {
        const struct transition_result *r = &l->r[i].row;

        if (never_went_out(r) && !is_decided(l))
            return l->wu.transition_time < TRANSITION_NEVER ? WAITS_SCHEDULER
                                                            : WAITS_STUCK;
        if (r->server_state == RESULT_IN_PROGRESS &&
            r->report_deadline < first_deadline)
            first_deadline = r->report_deadline;
    }
    if (first_deadline == INT64_MAX)
        return WAITS_FINAL; /* for no result */
    /* it is late in the second after its deadline */
    return l->wu.transition_time <= first_deadline + 1 ? WAITS_HOST
                                                       : WAITS_STUCK;
}

enum life_waits
invariant_waits_for(const struct life *l, const struct transition_config *cfg,
                    int64_t now)
{
    enum life_waits results;

    if (l->wu.transitioner_flags == TRANSITION_NONE)
        return WAITS_OPERATOR;
    if (l->wu.transition_time <= now)
        return WAITS_TRANSITIONER;
    if (l->wu.need_validate)
        return WAITS_VALIDATOR;
    if (l->wu.assimilate_state == ASSIMILATE_READY)
        return WAITS_ASSIMILATOR;
    results = waits_for_results(l);
    if (results != WAITS_FINAL)
        return results;
    if (clock_moves_it(l, cfg))
        return WAITS_TRANSITIONER;
    if (has_files_to_delete(l))
        return WAITS_DELETER;
    if (l->wu.transitioner_flags == TRANSITION_NO_NEW_RESULTS &&
        !is_decided(l) && l->wu.transition_time < TRANSITION_NEVER)
        return WAITS_TARGET;
    return invariant_is_final(l) ? WAITS_FINAL : WAITS_STUCK;
}
