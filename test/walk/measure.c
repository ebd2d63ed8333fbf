/* measure.c - how far a workunit is from its end, and the way there when
 * nothing fails any more. */
#include "invariant.h"

#include <inttypes.h>
#include <stdio.h>

static bool
is_success(const struct transition_result *r)
{
    return r->server_state == RESULT_OVER && r->outcome == OUTCOME_SUCCESS;
}

static bool
is_unchecked(const struct transition_result *r)
{
    return is_success(r) && (r->validate_state == VALIDATE_INIT ||
                             r->validate_state == VALIDATE_INCONCLUSIVE);
}

/* ---- the measure ----------------------------------------------------------
 */

static int64_t
measure_of_files(enum file_delete_state state)
{
    switch (state) {
    case FILES_INIT:
        return 8;
    case FILES_READY:
        return 6;
    case FILES_ERROR:
        return 4;
    case FILES_DONE:
        break;
    }
    return 0;
}

/* A step to the right in the picture of a result's life makes it smaller. */
static int64_t
measure_of_result(const struct transition_result *r)
{
    int64_t files = measure_of_files(r->file_delete_state);

    switch (r->server_state) {
    case RESULT_INACTIVE:
        return 44;
    case RESULT_UNSENT:
        return 40;
    case RESULT_IN_PROGRESS:
        return 36;
    case RESULT_OVER:
        break;
    }
    switch (r->outcome) {
    case OUTCOME_SUCCESS:
        if (r->validate_state == VALIDATE_INIT)
            return 20 + files;
        return r->validate_state == VALIDATE_INCONCLUSIVE ? 12 + files : files;
    case OUTCOME_NO_REPLY:
        return 32; /* may still come */
    case OUTCOME_CLIENT_ERROR:
        return files;
    case OUTCOME_INIT:
    case OUTCOME_COULDNT_SEND:
    case OUTCOME_DIDNT_NEED:
    case OUTCOME_VALIDATE_ERROR:
    case OUTCOME_CLIENT_DETACHED:
        break;
    }
    return 0;
}

/* Would the validator find something to judge? */
static bool
can_be_judged(const struct life *l)
{
    int viable = 0;
    bool new = false;

    for (size_t i = 0; i < l->n; i++) {
        const struct transition_result *r = &l->r[i].row;

        viable += is_success(r) && r->validate_state != VALIDATE_INVALID;
        new = new || (is_success(r) && r->validate_state == VALIDATE_INIT) ||
              (is_unchecked(r) && l->wu.canonical_resultid != 0);
    }
    return new && l->wu.error_mask == 0 &&
           (l->wu.canonical_resultid != 0 || viable >= l->wu.min_quorum);
}

/* The flag need_validate is a step towards a verdict if there is something to
 * judge, and a step to be taken back if there is not. */
static int64_t
measure_of_validation(const struct life *l)
{
    return can_be_judged(l) != l->wu.need_validate ? 2 : 0;
}

int64_t
invariant_measure(const struct life *l, int64_t now)
{
    int64_t room = (int64_t)l->wu.max_total_results - (int64_t)l->n;
    int64_t m = room > 0 ? 100 * room : 0;

    for (size_t i = 0; i < l->n; i++)
        m += measure_of_result(&l->r[i].row);
    if (l->wu.assimilate_state != ASSIMILATE_DONE)
        m += l->wu.assimilate_state == ASSIMILATE_INIT ? 8 : 4;
    return m + measure_of_files(l->wu.file_delete_state) +
           measure_of_validation(l) + (l->wu.transition_time <= now);
}

/* ---- when nothing fails any more ------------------------------------------
 */

/* A volunteer who does not fail sends, or takes, result i. */
static bool
volunteer_step(struct life *l, int64_t now)
{
    for (size_t i = 0; i < l->n; i++) {
        if (life_activate(l, i) || life_send(l, i, (int64_t)i + 1000, now))
            return true;
        if (l->r[i].row.server_state == RESULT_IN_PROGRESS) {
            l->r[i].read = OUTPUT_OK;
            l->r[i].answer = 0;
            return life_report(l, i, REPORT_GOOD, now);
        }
    }
    return false;
}

static bool
deleter_step(struct life *l)
{
    for (size_t i = 0; i <= l->n; i++)
        if (life_delete(l, i, true))
            return true;
    return false;
}

/* Any step that can be taken now. */
static bool
any_step(struct life *l, const struct transition_config *cfg, int app_target,
         int64_t now)
{
    return life_transition(l, cfg, now) || life_validate(l, app_target, now) ||
           life_assimilate(l, LIFE_TAKEN, now) || deleter_step(l) ||
           volunteer_step(l, now);
}

int
invariant_drain(struct life l, const struct transition_config *cfg,
                int app_target, int64_t now, const char **ret_why)
{
    int steps = 0, limit = 20 * (l.wu.max_total_results + (int)l.n + 2);
    int64_t before = invariant_measure(&l, now), after;

    for (size_t i = 0; i < l.n; i++)
        if (l.r[i].read == OUTPUT_LATER)
            l.r[i].read = OUTPUT_OK; /* the disk is there again */
    for (; steps < limit; steps++) {
        if (!any_step(&l, cfg, app_target, now)) {
            if (l.wu.transition_time == TRANSITION_NEVER)
                break;
            now = l.wu.transition_time;
            before = invariant_measure(&l, now);
            continue;
        }
        after = invariant_measure(&l, now);
        if (after >= before) {
            *ret_why = "a step did not bring it nearer to its end";
            return -1;
        }
        before = after;
    }
    *ret_why = steps == limit ? "it turns in circles" : "it stops half-way";
    return steps < limit && invariant_is_final(&l) ? steps : -1;
}

/* ---- print ----------------------------------------------------------------
 */

void
invariant_print(const struct life *l, int64_t now)
{
    fprintf(stderr,
            "workunit %" PRId64 ": quorum %d target %d errors <= %d total <= "
            "%d success <= %d flags %d; canonical %" PRId64 " mask %u "
            "validate %d assimilate %d files %d due %+" PRId64 "\n",
            l->wu.id, l->wu.min_quorum, l->wu.target_nresults,
            l->wu.max_error_results, l->wu.max_total_results,
            l->wu.max_success_results, l->wu.transitioner_flags,
            l->wu.canonical_resultid, l->wu.error_mask, l->wu.need_validate,
            (int)l->wu.assimilate_state, (int)l->wu.file_delete_state,
            l->wu.transition_time == TRANSITION_NEVER
                ? -1
                : l->wu.transition_time - now);
    for (size_t i = 0; i < l->n; i++) {
        const struct life_result *r = &l->r[i];

        fprintf(stderr,
                "  result %" PRId64 " _%d: state %d outcome %d verdict %d "
                "files %d exit %d deadline %+" PRId64 " answer %d/%d grants "
                "%d\n",
                r->row.id, r->row.suffix, (int)r->row.server_state,
                (int)r->row.outcome, (int)r->row.validate_state,
                (int)r->row.file_delete_state, r->row.exit_status,
                r->row.report_deadline == 0 ? 0 : r->row.report_deadline - now,
                r->answer, (int)r->read, r->grants);
    }
}
