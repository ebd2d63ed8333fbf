/* test_transition.c - what happens next to a workunit: lifecycle §2.1, §3.2,
 * steps 1 to 5: the scan, validation, limits, and what follows from them.
 *
 * Each table is one step of the specification, each row one promise. */
#include "transition_cases.h"

#include <check.h>
#include <stdlib.h>

/* The only change there is, of result 0, or NULL. */
static const struct result_change *
only_change(const struct outcome_of *got)
{
    if (got->t.n_changes != 1 || got->change[0].index != 0)
        return NULL;
    return &got->change[0];
}

/* ---- step 2: the scan ---------------------------------------------------- */

enum counter {
    UNSENT_C,
    IN_PROGRESS_C,
    SUCCESS_C,
    ERROR_C,
    NO_REPLY_C,
    COULDNT_SEND_C,
    DIDNT_NEED_C,
    NONE_C,
};

/* clang-format off */
static const struct {
    const char *promise;
    enum kind given;
    enum counter counted;
    bool over;
} scan_spec[] = {
    {"a withheld result counts as unsent",  INACTIVE,     UNSENT_C,       false},
    {"an unsent result counts as unsent",   UNSENT,       UNSENT_C,       false},
    {"a result on a host is in progress",   OUT,          IN_PROGRESS_C,  false},
    {"at its deadline it still is",         DUE,          IN_PROGRESS_C,  false},
    {"a second later nobody has replied",   LATE,         NO_REPLY_C,     true},
    {"a new success counts",                NEW,          SUCCESS_C,      true},
    {"a valid success counts",              VALID,        SUCCESS_C,      true},
    {"an invalid success does not",         INVALID,      NONE_C,         true},
    {"an unchecked success counts",         NO_CHECK,     SUCCESS_C,      true},
    {"an inconclusive success counts",      INCONCLUSIVE, SUCCESS_C,      true},
    {"a success too late counts",           TOO_LATE,     SUCCESS_C,      true},
    {"one that could not be sent",          COULDNT_SEND, COULDNT_SEND_C, true},
    {"a failure on the client is an error", FAILED,       ERROR_C,        true},
    {"aborted by its user: as if no reply", USER_ABORT,   NO_REPLY_C,     true},
    {"no reply",                            NO_REPLY,     NO_REPLY_C,     true},
    {"withdrawn",                           DIDNT_NEED,   DIDNT_NEED_C,   true},
    {"unreadable output is an error",       UNREADABLE,   ERROR_C,        true},
    {"a detached host does not reply",      DETACHED,     NO_REPLY_C,     true},
};
/* clang-format on */

START_TEST(scan_counts)
{
    const enum kind what[] = {scan_spec[_i].given, END};
    struct outcome_of got = decide(&pair, what);
    enum counter c = scan_spec[_i].counted;
    const char *broken = scan_spec[_i].promise;

    ck_assert_msg(got.t.n_total == 1, "%s: total", broken);
    ck_assert_msg(got.t.n_over == scan_spec[_i].over, "%s: over", broken);
    ck_assert_msg(got.t.n_unsent == (c == UNSENT_C), "%s: unsent", broken);
    ck_assert_msg(got.t.n_in_progress == (c == IN_PROGRESS_C),
                  "%s: in progress", broken);
    ck_assert_msg(got.t.n_success == (c == SUCCESS_C), "%s: success", broken);
    ck_assert_msg(got.t.n_error == (c == ERROR_C), "%s: error", broken);
    ck_assert_msg(got.t.n_no_reply == (c == NO_REPLY_C), "%s: no reply",
                  broken);
    ck_assert_msg(got.t.n_couldnt_send == (c == COULDNT_SEND_C),
                  "%s: couldn't send", broken);
    ck_assert_msg(got.t.n_didnt_need == (c == DIDNT_NEED_C), "%s: didn't need",
                  broken);
}
END_TEST

START_TEST(overdue_result_is_closed_and_its_host_pays)
{
    const enum kind what[] = {LATE, END};
    struct outcome_of got = decide(&pair, what);
    const struct result_change *c = only_change(&got);

    ck_assert_ptr_nonnull(c);
    ck_assert_int_eq(c->server_state, RESULT_OVER);
    ck_assert_int_eq(c->outcome, OUTCOME_NO_REPLY);
    ck_assert_int_eq(c->validate_state, VALIDATE_INIT);
    ck_assert(c->penalise);
}
END_TEST

START_TEST(result_at_its_deadline_is_left_alone)
{
    const enum kind what[] = {DUE, OUT, END};
    struct outcome_of got = decide(&pair, what);

    ck_assert_uint_eq(got.t.n_changes, 0);
    ck_assert_int_eq(got.t.new_results, 0);
}
END_TEST

/* ---- step 3: validation -------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *promise;
    int min_quorum;
    int64_t canonical; /* id */
    unsigned error_mask;
    enum kind given[MAX_RESULTS];
    bool want;
} validation_spec[] = {
    {"one success below the quorum waits",      2, 0, 0,            {NEW, OUT},                                   false},
    {"at the quorum the validator is called",   2, 0, 0,            {NEW, NEW},                                   true},
    {"above it too",                            2, 0, 0,            {NEW, NEW, NEW},                              true},
    {"inconclusive ones help to the quorum",    2, 0, 0,            {INCONCLUSIVE, NEW},                          true},
    {"but do not call by themselves",           2, 0, 0,            {INCONCLUSIVE, INCONCLUSIVE, OUT},            false},
    {"invalid ones do not help",                2, 0, 0,            {INVALID, NEW, OUT},                          false},
    {"a quorum of one",                         1, 0, 0,            {NEW},                                        true},
    {"a late success is compared",              2, 1, 0,            {VALID, VALID, NEW},                          true},
    {"so is one that was inconclusive",         2, 1, 0,            {VALID, VALID, INCONCLUSIVE},                 true},
    {"even if those left are below the quorum", 5, 1, 0,            {VALID, VALID, VALID, INVALID, INVALID, NEW}, true},
    {"a failed workunit is never validated",    2, 0, WU_CANCELLED, {NEW, NEW},                                   false},
    {"nothing new, nothing to validate",        2, 1, 0,            {VALID, VALID},                               false},
};
/* clang-format on */

START_TEST(validation_is_triggered)
{
    struct workunit wu = pair;
    struct outcome_of got;

    wu.min_quorum = validation_spec[_i].min_quorum;
    wu.target_nresults = wu.min_quorum;
    wu.max_error_results = wu.max_total_results = 10;
    wu.canonical_resultid = validation_spec[_i].canonical;
    wu.error_mask = validation_spec[_i].error_mask;
    got = decide(&wu, validation_spec[_i].given);
    ck_assert_msg(got.t.need_validate == validation_spec[_i].want, "broken: %s",
                  validation_spec[_i].promise);
}
END_TEST

START_TEST(waiting_for_the_validator_stays)
{
    const enum kind what[] = {INCONCLUSIVE, INCONCLUSIVE, OUT, END};
    struct workunit wu = pair;

    wu.need_validate = true;
    ck_assert(decide(&wu, what).t.need_validate);
}
END_TEST

START_TEST(success_after_the_canonical_files_are_gone_is_too_late)
{
    struct transition_result results[2] = {kinds[VALID], kinds[_i]};
    struct result_change changes[2];
    struct workunit wu = pair;
    struct transition got;

    results[0].id = 1;
    results[0].file_delete_state = FILES_DONE;
    results[1].id = 2;
    wu.canonical_resultid = 1;
    wu.assimilate_state = ASSIMILATE_DONE;
    wu.file_delete_state = FILES_DONE;
    transition_decide(&wu, results, 2, &plain, NOW, changes, &got);

    ck_assert(!got.need_validate);
    ck_assert_uint_eq(got.n_changes, 1);
    ck_assert_uint_eq(changes[0].index, 1);
    ck_assert_int_eq(changes[0].validate_state, VALIDATE_TOO_LATE);
    /* and, assimilated and checked, its files go in the same step */
    ck_assert_int_eq(changes[0].file_delete_state, FILES_READY);
}
END_TEST

/* ---- step 4: limits, and how many results are made ----------------------- */

#define E WU_TOO_MANY_ERROR_RESULTS
#define T WU_TOO_MANY_TOTAL_RESULTS

/* clang-format off */
static const struct {
    const char *promise;
    int target, max_error, max_total;
    enum kind given[MAX_RESULTS];
    int new_results;
    unsigned error_mask;
} limit_spec[] = {
    {"a new workunit gets as many results as its target", 2, 1, 4, {END},                         2, 0},
    {"one missing, one made",                        2, 1, 4, {UNSENT},                      1, 0},
    {"at the target, none",                          2, 1, 4, {UNSENT, OUT},                 0, 0},
    {"above it, none",                               2, 1, 4, {UNSENT, OUT, NEW},            0, 0},
    {"withheld results count",                       2, 1, 4, {INACTIVE, INACTIVE},          0, 0},
    {"successes count",                              2, 1, 4, {INCONCLUSIVE, INCONCLUSIVE},  0, 0},
    {"a raised target gets one more",                3, 1, 4, {INCONCLUSIVE, INCONCLUSIVE},  1, 0},
    {"an invalid one is replaced",                   1, 1, 4, {INVALID},                     1, 0},
    {"a failed one is replaced",                     2, 1, 4, {NEW, FAILED},                 1, 0},
    {"an unreadable one is replaced",                2, 1, 4, {INCONCLUSIVE, UNREADABLE},    1, 0},
    {"a silent one is replaced",                     2, 1, 4, {NEW, NO_REPLY},               1, 0},
    {"one that times out now is replaced now",       2, 1, 4, {OUT, LATE},                   1, 0},
    {"a detached one is replaced",                   2, 1, 4, {NEW, DETACHED},               1, 0},
    {"a withdrawn one is replaced",                  2, 1, 4, {NEW, DIDNT_NEED},             1, 0},
    {"errors below the limit go on",                 1, 2, 9, {FAILED},                      1, 0},
    {"errors at the limit go on",                    1, 2, 9, {FAILED, FAILED},              1, 0},
    {"one error more ends it",                       1, 2, 9, {FAILED, FAILED, FAILED},      0, E},
    {"no error allowed: none goes on",               1, 0, 9, {OUT},                         0, 0},
    {"no error allowed: one ends it",                1, 0, 9, {FAILED},                      0, E},
    {"unreadable outputs are errors",                1, 1, 9, {FAILED, UNREADABLE},          0, E},
    {"aborts by users are not",                      1, 0, 9, {USER_ABORT, USER_ABORT},      1, 0},
    {"time-outs are not",                            1, 0, 9, {NO_REPLY, LATE},              1, 0},
    {"below the total, a replacement",               2, 9, 4, {NEW, FAILED, FAILED},         1, 0},
    {"at the total with enough alive goes on",       2, 9, 4, {NEW, FAILED, FAILED, OUT},    0, 0},
    {"at the total with one missing ends",           2, 9, 4, {NEW, FAILED, FAILED, FAILED}, 0, T},
    {"above the total ends, whoever is alive",       2, 9, 1, {OUT, OUT},                    0, T},
    {"room for fewer than are missing",              4, 9, 3, {FAILED},                      2, 0},
    {"time-outs are replaced until the total",       1, 0, 2, {NO_REPLY},                    1, 0},
    {"then it ends",                                 1, 0, 2, {NO_REPLY, NO_REPLY},          0, T},
    {"a total of one: a single chance",              1, 1, 1, {END},                         1, 0},
    {"a total of one: it failed",                    1, 1, 1, {FAILED},                      0, T},
    {"errors and total trip together",               1, 1, 2, {FAILED, FAILED},              0, E | T},
    {"not sendable ends it",                         2, 1, 4, {COULDNT_SEND, OUT},           0, WU_COULDNT_SEND_RESULT},
};
/* clang-format on */

#undef E
#undef T

START_TEST(limits_hold)
{
    struct workunit wu = pair;
    struct outcome_of got;

    wu.min_quorum = 1;
    wu.target_nresults = limit_spec[_i].target;
    wu.max_error_results = limit_spec[_i].max_error;
    wu.max_total_results = limit_spec[_i].max_total;
    got = decide(&wu, limit_spec[_i].given);
    ck_assert_msg(got.t.new_results == limit_spec[_i].new_results &&
                      got.t.error_mask == limit_spec[_i].error_mask,
                  "broken: %s (%d new, mask %u)", limit_spec[_i].promise,
                  got.t.new_results, got.t.error_mask);
}
END_TEST

START_TEST(quorum_above_the_target_is_the_target)
{
    const enum kind what[] = {NEW, END};
    struct workunit wu = pair;

    wu.target_nresults = 1;
    ck_assert_int_eq(decide(&wu, what).t.new_results, 1);
}
END_TEST

START_TEST(error_bits_stay)
{
    const enum kind what[] = {OUT, OUT, END};
    struct workunit wu = pair;

    wu.error_mask = WU_TOO_MANY_SUCCESS_RESULTS | WU_CANCELLED;
    ck_assert_uint_eq(decide(&wu, what).t.error_mask, wu.error_mask);
}
END_TEST

/* Its results were withdrawn, two errors, four of four results: all that is
 * settled. */
START_TEST(cancelled_workunit_is_cancelled_and_nothing_else)
{
    const enum kind what[] = {DIDNT_NEED, DIDNT_NEED, FAILED, FAILED, END};
    struct workunit wu = pair;

    wu.error_mask = WU_CANCELLED;
    ck_assert_uint_eq(decide(&wu, what).t.error_mask, WU_CANCELLED);
}
END_TEST

START_TEST(agreed_workunit_gets_no_error_and_no_result)
{
    /* 2 valid, 2 errors (1 allowed), the target not reached, no room */
    const enum kind what[] = {VALID, VALID, FAILED, FAILED, COULDNT_SEND, END};
    struct workunit wu = pair;
    struct outcome_of got;

    wu.canonical_resultid = 1;
    wu.target_nresults = 3;
    got = decide(&wu, what);
    ck_assert_uint_eq(got.t.error_mask, 0);
    ck_assert_int_eq(got.t.new_results, 0);
}
END_TEST

START_TEST(targeted_workunit_makes_no_results)
{
    const enum kind what[] = {OUT, LATE, END};
    struct workunit wu = pair;
    struct outcome_of got;

    wu.transitioner_flags = TRANSITION_NO_NEW_RESULTS;
    got = decide(&wu, what);
    ck_assert_int_eq(got.t.new_results, 0);
    ck_assert_uint_eq(got.t.n_changes, 1);
}
END_TEST

START_TEST(broadcast_workunit_is_never_touched)
{
    const enum kind what[] = {LATE, NEW, FAILED, FAILED, END};
    struct workunit wu = pair;
    struct outcome_of got;

    wu.transitioner_flags = TRANSITION_NONE;
    wu.transition_time = TRANSITION_NEVER;
    got = decide(&wu, what);
    ck_assert_uint_eq(got.t.n_changes, 0);
    ck_assert_int_eq(got.t.new_results, 0);
    ck_assert_uint_eq(got.t.error_mask, 0);
    ck_assert_int_eq(got.t.transition_time, TRANSITION_NEVER);
}
END_TEST

/* clang-format off */
static const struct {
    const char *promise;
    bool is_static;
    enum kind given[MAX_RESULTS];
    bool released;
} pin_spec[] = {
    {"all failed: others get a try",    false, {FAILED},           true},
    {"unsent ones do not hold the pin", false, {FAILED, UNSENT},   true},
    {"a success holds it",              false, {FAILED, NEW},      false},
    {"a result on a host holds it",     false, {FAILED, OUT},      false},
    {"a result without reply holds it", false, {FAILED, NO_REPLY}, false},
    {"without an error it stays",       false, {UNSENT},           false},
    {"classes that are static stay",    true,  {FAILED},           false},
};
/* clang-format on */

START_TEST(pins_are_released)
{
    const struct transition_config cfg = {.hr_class_static =
                                              pin_spec[_i].is_static};
    struct outcome_of got = decide_with(&pair, pin_spec[_i].given, &cfg);
    bool released = pin_spec[_i].released;

    ck_assert_msg(got.t.hr_class == (released ? 0 : 5), "broken: %s",
                  pin_spec[_i].promise);
    ck_assert_msg(got.t.app_version_id == (released ? 0 : 6), "broken: %s",
                  pin_spec[_i].promise);
}
END_TEST

/* ---- step 5: a failed workunit ------------------------------------------- */

/* clang-format off */
static const struct {
    const char *promise;
    enum kind given;
    enum outcome outcome;
    enum validate_state validate_state;
    size_t n_changes;
} failed_spec[] = {
    {"unsent: withdrawn",        UNSENT,       OUTCOME_DIDNT_NEED,   VALIDATE_INIT,     1},
    {"withheld: withdrawn",      INACTIVE,     OUTCOME_DIDNT_NEED,   VALIDATE_INIT,     1},
    {"new: never checked",       NEW,          OUTCOME_SUCCESS,      VALIDATE_NO_CHECK, 1},
    {"inconclusive: the same",   INCONCLUSIVE, OUTCOME_SUCCESS,      VALIDATE_NO_CHECK, 1},
    {"valid: stays",             VALID,        OUTCOME_SUCCESS,      VALIDATE_VALID,    0},
    {"invalid: stays",           INVALID,      OUTCOME_SUCCESS,      VALIDATE_INVALID,  0},
    {"on a host: may come back", OUT,          OUTCOME_INIT,         VALIDATE_INIT,     0},
    {"failed: stays",            FAILED,       OUTCOME_CLIENT_ERROR, VALIDATE_INVALID,  0},
};

static const unsigned every_error[] = {
    WU_COULDNT_SEND_RESULT,
    WU_TOO_MANY_ERROR_RESULTS,
    WU_TOO_MANY_SUCCESS_RESULTS,
    WU_TOO_MANY_TOTAL_RESULTS,
    WU_CANCELLED,
    WU_NO_CANONICAL_RESULT,
};
/* clang-format on */

START_TEST(failed_workunit_ends_its_results)
{
    const enum kind what[] = {failed_spec[_i].given, END};
    const char *broken = failed_spec[_i].promise;

    for (size_t e = 0; e < ARRAY_LEN(every_error); e++) {
        struct workunit wu = pair;
        struct outcome_of got;

        wu.error_mask = every_error[e];
        wu.need_validate = true;
        got = decide(&wu, what);
        ck_assert_msg(got.t.n_changes == failed_spec[_i].n_changes,
                      "broken: %s", broken);
        if (got.t.n_changes == 1) {
            ck_assert_msg(got.change[0].server_state == RESULT_OVER,
                          "broken: %s", broken);
            ck_assert_msg(got.change[0].outcome == failed_spec[_i].outcome,
                          "broken: %s", broken);
            ck_assert_msg(got.change[0].validate_state ==
                              failed_spec[_i].validate_state,
                          "broken: %s", broken);
            ck_assert_msg(!got.change[0].penalise, "broken: %s", broken);
        }
        ck_assert_int_eq(got.t.new_results, 0);
        ck_assert_int_eq(got.t.assimilate_state, ASSIMILATE_READY);
        ck_assert(!got.t.need_validate);
    }
}
END_TEST

START_TEST(failed_workunit_is_assimilated_once)
{
    const enum kind what[] = {FAILED, FAILED, END};
    struct workunit wu = pair;

    wu.error_mask = WU_TOO_MANY_ERROR_RESULTS;
    wu.assimilate_state = ASSIMILATE_DONE;
    ck_assert_int_eq(decide(&wu, what).t.assimilate_state, ASSIMILATE_DONE);
}
END_TEST

START_TEST(agreement_withdraws_what_never_went_out)
{
    const enum kind what[] = {VALID, VALID, UNSENT, INACTIVE, OUT, END};
    struct workunit wu = pair;
    struct outcome_of got;

    wu.canonical_resultid = 1;
    got = decide(&wu, what);
    ck_assert_uint_eq(got.t.n_changes, 2);
    ck_assert_uint_eq(got.change[0].index, 2);
    ck_assert_int_eq(got.change[0].outcome, OUTCOME_DIDNT_NEED);
    ck_assert_uint_eq(got.change[1].index, 3);
    ck_assert_int_eq(got.change[1].outcome, OUTCOME_DIDNT_NEED);
}
END_TEST

static Suite *
transition_suite(void)
{
    Suite *s = suite_create("transition");
    TCase *tc = tcase_create("steps");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, scan_counts, 0, ARRAY_LEN(scan_spec));
    tcase_add_test(tc, overdue_result_is_closed_and_its_host_pays);
    tcase_add_test(tc, result_at_its_deadline_is_left_alone);
    tcase_add_loop_test(tc, validation_is_triggered, 0,
                        ARRAY_LEN(validation_spec));
    tcase_add_test(tc, waiting_for_the_validator_stays);
    tcase_add_loop_test(tc,
                        success_after_the_canonical_files_are_gone_is_too_late,
                        NEW, NEW + 1);
    tcase_add_loop_test(tc,
                        success_after_the_canonical_files_are_gone_is_too_late,
                        INCONCLUSIVE, INCONCLUSIVE + 1);
    tcase_add_loop_test(tc, limits_hold, 0, ARRAY_LEN(limit_spec));
    tcase_add_test(tc, quorum_above_the_target_is_the_target);
    tcase_add_test(tc, error_bits_stay);
    tcase_add_test(tc, cancelled_workunit_is_cancelled_and_nothing_else);
    tcase_add_test(tc, agreed_workunit_gets_no_error_and_no_result);
    tcase_add_test(tc, targeted_workunit_makes_no_results);
    tcase_add_test(tc, broadcast_workunit_is_never_touched);
    tcase_add_loop_test(tc, pins_are_released, 0, ARRAY_LEN(pin_spec));
    tcase_add_loop_test(tc, failed_workunit_ends_its_results, 0,
                        ARRAY_LEN(failed_spec));
    tcase_add_test(tc, failed_workunit_is_assimilated_once);
    tcase_add_test(tc, agreement_withdraws_what_never_went_out);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    SRunner *runner = srunner_create(transition_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
