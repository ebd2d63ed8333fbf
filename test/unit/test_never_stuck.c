/* test_never_stuck.c - the proof by enumeration that no workunit gets stuck.
 *
 * All states are tried that a workunit with none to five results can be in:
 * every kind of result (transition_cases.h) in every number, with every
 * possible canonical result, state of its files, of the workunit, and limits
 * below, at and above the numbers.  Results are a multiset: which of two equal
 * ones comes first does not matter, so only sorted lists are tried.
 *
 * For each state that the invariants allow (test/walk/invariant.h):
 * - a transition keeps the invariants, takes nothing back, looks again later
 *   than now, and brings nothing new if it is made twice;
 * - afterwards somebody moves the workunit next, or it is final;
 * - if nobody fails any more, it becomes final, and every step on the way makes
 *   the measure smaller: so there is no circle of steps either;
 * - whatever a volunteer, an operator or the validator does with it, it is in a
 *   state that the invariants allow again.  So all that was shown holds for
 *   every state that can ever be reached.
 *
 * States that should not be (rows changed by hand) must be survived, too. */
#include "transition_cases.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invariant.h"
#include "walk_speed.h"

enum {
    MAX_N = WALK_IS_SLOW ? 3 : 5,
    APP_TARGET = 1,
    REPLICATED = 3, /* app.target_nresults where a result is suspicious */
};

static struct {
    long states, possible, drained, longest, steps;
} count;

struct limits {
    int quorum, target, errors, total, successes;
};

/* `total` counts from the number of results there are: 0 is exactly reached. */
static const struct limits few_limits[] = {
    {1, 1, 0, 0, 1},
    {2, 2, 1, 1, 2},
    {2, 3, 2, 3, 5},
    {3, 3, 5, 0, 5},
};

static const int assimilations[] = {ASSIMILATE_INIT, ASSIMILATE_READY,
                                    ASSIMILATE_DONE};

/* ---- the states -----------------------------------------------------------
 */

static void
give_up_on(const struct life *before, const struct life *after, const char *why)
{
    fprintf(stderr, "before:\n");
    invariant_print(before, NOW);
    fprintf(stderr, "after:\n");
    invariant_print(after, NOW);
    ck_abort_msg("%s", why);
}

static struct life_result
result_of_kind(int what, size_t i)
{
    struct life_result r = {.row = kinds[what]};

    r.row.id = (int64_t)i + 1;
    r.row.suffix = (int)i;
    if (r.row.server_state > RESULT_UNSENT &&
        r.row.outcome != OUTCOME_DIDNT_NEED &&
        r.row.outcome != OUTCOME_COULDNT_SEND) {
        r.row.hostid = (int64_t)i + 1;
        r.row.sent_time = NOW - DAY;
    }
    if (what == VALID) {
        r.grants = 1;
        r.credit = 10;
    }
    return r;
}

/* Needs more than there is room for: it gets what there is, and is given up
 * when it is looked at again (lifecycle §3.2 step 4). */
static bool
ran_out_of_room(const struct life *once, const struct life *twice)
{
    return once->n == (size_t)once->wu.max_total_results &&
           once->wu.error_mask == 0 &&
           twice->wu.error_mask == WU_TOO_MANY_TOTAL_RESULTS;
}

static void
ck_transition(const struct life *given, struct life *after)
{
    struct life again;
    const char *broken;

    *after = *given;
    after->wu.transition_time = NOW;
    life_transition(after, &plain, NOW);
    if (after->wu.transition_time <= NOW)
        give_up_on(given, after, "the next look is not later than now");
    broken = invariant_step_broken(given, after);
    if (broken != NULL)
        give_up_on(given, after, broken);
    again = *after;
    again.wu.transition_time = NOW;
    life_transition(&again, &plain, NOW);
    again.wu.transition_time = after->wu.transition_time;
    if (ran_out_of_room(after, &again))
        return;
    if (memcmp(&again, after, sizeof(again)) != 0)
        give_up_on(after, &again, "a second transition changes something");
}

static void
ck_possible(const struct life *before, const struct life *after,
            const char *event)
{
    const char *broken = invariant_step_broken(before, after);

    if (broken == NULL)
        broken = invariant_broken(after, true);
    if (broken != NULL) {
        fprintf(stderr, "event: %s\n", event);
        give_up_on(before, after, broken);
    }
}

static void
ck_drains(const struct life *l)
{
    const char *why;
    int steps = invariant_drain(*l, &plain, APP_TARGET, NOW, &why);

    if (steps < 0)
        give_up_on(l, l, why);
    count.drained++;
    count.steps += steps;
    if (steps > count.longest)
        count.longest = steps;
}

/* ---- what may happen to it ------------------------------------------------
 */

static bool
good_report(struct life *l, size_t i)
{
    return life_report(l, i, REPORT_GOOD, NOW);
}

static bool
failed_report(struct life *l, size_t i)
{
    return life_report(l, i, REPORT_FAILED, NOW);
}

static bool
sending(struct life *l, size_t i)
{
    return life_send(l, i, 99, NOW);
}

static bool
sending_untrusted(struct life *l, size_t i)
{
    return life_send_untrusted(l, i, 99, REPLICATED, NOW);
}

static bool
resending(struct life *l, size_t i)
{
    return life_resend(l, i, NOW);
}

static bool
expiry(struct life *l, size_t i)
{
    return life_expire(l, i, NOW);
}

static bool
detaching(struct life *l, size_t i)
{
    return life_detach(l, i, NOW);
}

static bool
deletion(struct life *l, size_t i)
{
    return life_delete(l, i, true);
}

static bool
failed_deletion(struct life *l, size_t i)
{
    return life_delete(l, i, false);
}

static const struct {
    const char *name;
    bool (*happens)(struct life *, size_t i);
} result_events[] = {
    {"report: good",              good_report      },
    {"report: failed",            failed_report    },
    {"sent",                      sending          },
    {"sent to an untrusted host", sending_untrusted},
    {"sent again",                resending        },
    {"lost for good",             expiry           },
    {"host detached",             detaching        },
    {"output deleted",            deletion         },
    {"output not deleted",        failed_deletion  },
    {"released",                  life_activate    },
};

static void
ck_events_of_results(const struct life *l)
{
    for (size_t e = 0; e < ARRAY_LEN(result_events); e++)
        for (size_t i = 0; i < l->n; i++) {
            struct life after = *l;

            if (result_events[e].happens(&after, i))
                ck_possible(l, &after, result_events[e].name);
        }
}

static void
ck_events_of_workunit(const struct life *l)
{
    struct life after = *l;

    life_cancel(&after, NOW);
    ck_possible(l, &after, "cancelled");
    after = *l;
    if (life_withdraw(&after))
        ck_possible(l, &after, "withdrawn by the feeder");
    after = *l;
    if (life_delete(&after, after.n, true))
        ck_possible(l, &after, "inputs deleted");
    after = *l;
    if (life_assimilate(&after, LIFE_TAKEN, NOW))
        ck_possible(l, &after, "assimilated");
    after = *l;
    if (life_assimilate(&after, LIFE_DEFERRED, NOW))
        ck_possible(l, &after, "assimilation deferred");
}

/* What the outputs hold: all the same, all different, the first two the same,
 * the last unreadable for good or for now, the first odd. */
static void
give_outputs(struct life *l, int pattern)
{
    for (size_t i = 0; i < l->n; i++) {
        l->r[i].read = OUTPUT_OK;
        l->r[i].answer = pattern == 0 || (pattern == 2 && i < 2) ? 0 : (int)i;
    }
    if (l->n == 0)
        return;
    if (pattern == 3)
        l->r[l->n - 1].read = OUTPUT_BAD;
    if (pattern == 4)
        l->r[l->n - 1].read = OUTPUT_LATER;
    if (pattern == 5)
        l->r[0].read = OUTPUT_SUSPICIOUS;
}

enum { N_PATTERNS = 6 };

static void
ck_validation(const struct life *given)
{
    for (int pattern = 0; pattern < N_PATTERNS; pattern++) {
        struct life l = *given, after;

        give_outputs(&l, pattern);
        after = l;
        if (!life_validate(&after, pattern == 5 ? REPLICATED : APP_TARGET, NOW))
            return;
        ck_possible(&l, &after, "validated");
        if (invariant_waits_for(&after, &plain, NOW) == WAITS_STUCK)
            give_up_on(&l, &after, "stuck after the validator");
        ck_drains(&after);
    }
}

/* ---- one state ------------------------------------------------------------
 */

static void
ck_state(const struct life *l)
{
    struct life after;

    count.states++;
    if (invariant_broken(l, true) != NULL) {
        after = *l;
        after.wu.transition_time = NOW;
        life_transition(&after, &plain, NOW);
        if (after.wu.transition_time <= NOW)
            give_up_on(l, &after, "the next look is not later than now");
        return;
    }
    count.possible++;
    ck_transition(l, &after);
    ck_possible(l, &after, "transition");
    if (invariant_waits_for(&after, &plain, NOW) == WAITS_STUCK)
        give_up_on(l, &after, "stuck after the transitioner");
    if (l->wu.transitioner_flags == TRANSITION_NO_NEW_RESULTS)
        return; /* it ends when its target has come for it */
    ck_drains(&after);
    ck_events_of_results(&after);
    ck_events_of_workunit(&after);
    ck_validation(&after);
}

/* In which phases can it be?  Canonical: none, one whose row is missing, the
 * first valid one with its files in each state. */
static void
for_each_phase(struct life *l)
{
    static const unsigned masks[] = {0, WU_CANCELLED};

    for (size_t a = 0; a < ARRAY_LEN(assimilations); a++)
        for (size_t m = 0; m < ARRAY_LEN(masks); m++)
            for (int validate = 0; validate < 2; validate++)
                for (int files = FILES_INIT; files <= FILES_ERROR; files++) {
                    l->wu.assimilate_state =
                        (enum assimilate_state)assimilations[a];
                    l->wu.error_mask = masks[m];
                    l->wu.need_validate = validate == 1;
                    l->wu.file_delete_state = (enum file_delete_state)files;
                    ck_state(l);
                }
}

static void
for_each_canonical(struct life *l)
{
    size_t valid = 0;

    l->wu.canonical_resultid = 0;
    for_each_phase(l);
    l->wu.canonical_resultid = 77;
    for_each_phase(l);
    while (valid < l->n && l->r[valid].row.validate_state != VALIDATE_VALID)
        valid++;
    if (valid == l->n)
        return;
    l->wu.canonical_resultid = l->r[valid].row.id;
    for (int files = FILES_INIT; files <= FILES_ERROR; files++) {
        l->r[valid].row.file_delete_state = (enum file_delete_state)files;
        for_each_phase(l);
    }
    l->r[valid].row.file_delete_state = FILES_INIT;
}

static void
with_limits(struct life *l, const struct limits *x)
{
    l->wu.min_quorum = x->quorum;
    l->wu.target_nresults = x->target;
    l->wu.max_error_results = x->errors;
    l->wu.max_total_results = (int)l->n + x->total;
    l->wu.max_success_results = x->successes;
    for_each_canonical(l);
}

static void
all_limits(struct life *l)
{
    for (int quorum = 1; quorum <= 3; quorum++)
        for (int more = 0; more < 2; more++)
            for (int errors = 0; errors < 3; errors++)
                for (int total = 0; total < 3; total++)
                    for (int successes = 1; successes <= 3; successes++)
                        with_limits(l,
                                    &(struct limits){quorum, quorum + more,
                                                     errors, total, successes});
}

static void
chosen_limits(struct life *l)
{
    if (l->n <= 3) {
        l->wu.transitioner_flags = TRANSITION_NO_NEW_RESULTS;
        with_limits(l, &few_limits[1]);
        l->wu.transitioner_flags = TRANSITION_NORMAL;
    }
    for (size_t i = l->n < 5 ? 0 : 1; i < ARRAY_LEN(few_limits); i++)
        with_limits(l, &few_limits[i]);
}

/* All sorted lists of n kinds. */
static void
for_each_list(size_t n, void limits(struct life *))
{
    int what[MAX_N] = {0};
    size_t i;

    for (i = 0; i < n; i++)
        what[i] = INACTIVE;
    for (;;) {
        struct life l;

        memset(&l, 0, sizeof(l)); /* compared as bytes */
        l.wu = pair;
        l.n = n;
        for (i = 0; i < n; i++)
            l.r[i] = result_of_kind(what[i], i);
        limits(&l);
        for (i = n; i > 0 && what[i - 1] == N_KINDS - 1; i--)
            ;
        if (i == 0)
            return;
        what[i - 1]++;
        for (; i < n; i++)
            what[i] = what[i - 1];
    }
}

START_TEST(no_state_is_a_dead_end)
{
    memset(&count, 0, sizeof(count));
    if (_i <= (WALK_IS_SLOW ? 1 : 2))
        for_each_list((size_t)_i, all_limits);
    for_each_list((size_t)_i, chosen_limits);
    printf("%d results: %ld states, %ld of them possible, %ld walks to the "
           "end (%ld steps at most, %ld in all)\n",
           _i, count.states, count.possible, count.drained, count.longest,
           count.steps);
    ck_assert_int_gt(count.possible, 0);
}
END_TEST

static Suite *
never_stuck_suite(void)
{
    Suite *s = suite_create("never-stuck");
    TCase *tc = tcase_create("states");

    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, no_state_is_a_dead_end, 0, MAX_N + 1);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    SRunner *runner = srunner_create(never_stuck_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
