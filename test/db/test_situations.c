/* test_situations.c - situations with one right answer, through the real
 * daemons on a database.  Each ends as audit says a project must be. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "buf.h"
#include "file.h"
#include "names.h"
#include "project.h"

static void
setup(void)
{
    project_new();
}

static void
teardown(void)
{
    project_audit();
    project_end();
}

static int64_t
results_of(int64_t wu)
{
    return project_ask("SELECT COUNT(*) FROM result WHERE workunitid = "
                       "%" PRId64,
                       wu);
}

/* Files are deleted, rows archived; the workunit was the last one. */
static void
ck_purged(void)
{
    project_transition();
    ck_assert_int_eq(project_run("file_deleter", NULL), 0);
    ck_assert_int_eq(project_run("db_purge", NULL), 0);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM workunit"), 0);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result"), 0);
}

/* ---- nothing good is left -------------------------------------------------
 */

static const struct workunit alone = {.min_quorum = 1, .target_nresults = 1};

START_TEST(the_only_success_has_no_output_so_another_instance_is_made)
{
    int64_t wu = project_workunit("a", alone);

    project_transition();
    project_send(wu, 0, 1);
    project_success(wu, 0, NULL);
    project_round();
    ck_assert_int_eq(project_of_result(wu, 0, "validate_state"),
                     VALIDATE_INVALID);
    ck_assert_int_eq(project_of_result(wu, 1, "server_state"), RESULT_UNSENT);
    ck_assert_int_eq(project_of_workunit(wu, "error_mask"), 0);
    project_send(wu, 1, 2);
    project_success(wu, 1, "fine");
    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_assert_int_eq(project_of_workunit(wu, "error_mask"), 0);
    ck_purged();
}
END_TEST

/* As an operator or a hook may judge: still a success, but invalid. */
START_TEST(the_only_success_is_invalid_so_another_instance_is_made)
{
    int64_t wu = project_workunit("a", alone);

    project_transition();
    project_send(wu, 0, 1);
    project_success(wu, 0, "wrong");
    project_do("UPDATE result SET validate_state = %d", VALIDATE_INVALID);
    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "need_validate"), 0);
    ck_assert_int_eq(project_of_result(wu, 1, "server_state"), RESULT_UNSENT);
    ck_assert_int_eq(results_of(wu), 2);
}
END_TEST

START_TEST(error_and_total_limit_are_reached_together)
{
    int64_t wu =
        project_workunit("a", (struct workunit){.min_quorum = 1,
                                                .target_nresults = 1,
                                                .max_error_results = 3,
                                                .max_total_results = 3});

    project_transition();
    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(project_of_workunit(wu, "error_mask"), 0);
        ck_assert_int_eq(project_of_result(wu, k, "server_state"),
                         RESULT_UNSENT);
        project_send(wu, k, 1 + k);
        project_error(wu, k, 1);
        project_round();
    }
    /* three errors are allowed; a fourth result is not */
    ck_assert_int_eq(project_of_workunit(wu, "error_mask"),
                     WU_TOO_MANY_TOTAL_RESULTS);
    ck_assert_int_eq(results_of(wu), 3);
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_purged();
}
END_TEST

static const struct {
    const char *why;
    int64_t bit;
} errors[] = {
    {"it could not be sent",       WU_COULDNT_SEND_RESULT     },
    {"too many errors",            WU_TOO_MANY_ERROR_RESULTS  },
    {"too many that disagree",     WU_TOO_MANY_SUCCESS_RESULTS},
    {"too many results",           WU_TOO_MANY_TOTAL_RESULTS  },
    {"it was cancelled",           WU_CANCELLED               },
    {"its canonical row was lost", WU_NO_CANONICAL_RESULT     },
};

/* With one result unsent, one that failed, one success nobody looked at. */
START_TEST(an_errored_workunit_is_final_and_purged)
{
    int64_t wu = project_workunit(
        "a", (struct workunit){.min_quorum = 3, .target_nresults = 3});

    project_transition();
    project_send(wu, 0, 1);
    project_send(wu, 1, 2);
    project_error(wu, 0, 1);
    project_success(wu, 1, "text");
    project_do("UPDATE workunit SET error_mask = %" PRId64, errors[_i].bit);
    project_round();
    ck_assert_msg(project_of_workunit(wu, "error_mask") == errors[_i].bit, "%s",
                  errors[_i].why);
    ck_assert_int_eq(results_of(wu), 3);
    ck_assert_int_eq(project_of_result(wu, 1, "validate_state"),
                     VALIDATE_NO_CHECK);
    ck_assert_int_eq(project_of_result(wu, 2, "outcome"), OUTCOME_DIDNT_NEED);
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM user WHERE total_credit > 0"), 0);
    ck_purged();
}
END_TEST

START_TEST(volunteers_may_abort_more_often_than_errors_are_allowed)
{
    int64_t wu =
        project_workunit("a", (struct workunit){.min_quorum = 1,
                                                .target_nresults = 1,
                                                .max_error_results = 1});

    project_transition();
    for (int k = 0; k < 6; k++) {
        project_send(wu, k, 1 + k);
        project_error(wu, k, EXIT_ABORTED_VIA_GUI);
        project_round();
        ck_assert_int_eq(project_of_workunit(wu, "error_mask"), 0);
    }
    project_send(wu, 6, 7);
    project_success(wu, 6, "at last");
    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_purged();
}
END_TEST

/* ---- names ----------------------------------------------------------------
 */

static const char *const names[] = {"a_7", "x", "_", "7", "_7_", "a__1"};

START_TEST(a_name_may_look_like_that_of_a_result)
{
    int64_t wu = project_workunit(names[_i], alone);

    project_transition();
    ck_assert_int_eq(project_of_result(wu, 0, "server_state"), RESULT_UNSENT);
    project_send(wu, 0, 1);
    project_error(wu, 0, 1);
    project_round();
    ck_assert_int_eq(project_of_result(wu, 1, "server_state"), RESULT_UNSENT);
    ck_assert_int_eq(results_of(wu), 2);
    project_send(wu, 1, 2);
    project_success(wu, 1, "done");
    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_purged();
}
END_TEST

/* The column takes 191 characters. */
static char *
long_name(size_t n)
{
    char *name = xcalloc(1, n + 1);

    memset(name, 'n', n);
    return name;
}

START_TEST(a_name_of_189_characters_has_room_for_ten_results)
{
    char *name = long_name(189);
    int64_t wu = project_workunit(
        name, (struct workunit){.min_quorum = 10, .target_nresults = 10});

    project_transition();
    ck_assert_int_eq(results_of(wu), 10);
    ck_assert_int_eq(project_ask("SELECT MAX(CHAR_LENGTH(name)) FROM result"),
                     191);
    free(name);
}
END_TEST

/* create_work refuses it, another program may have made it.  It can never have
 * a result, so it ends at once. */
START_TEST(a_name_of_190_characters_ends_the_workunit_and_no_other)
{
    char *name = long_name(190);
    int64_t wu = project_workunit(name, alone);
    int64_t other = project_workunit("other", alone);

    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "error_mask"),
                     WU_COULDNT_SEND_RESULT);
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_assert_int_eq(results_of(wu), 0);
    ck_assert_int_eq(project_of_result(other, 0, "server_state"),
                     RESULT_UNSENT);
    free(name);
}
END_TEST

START_TEST(the_eleventh_result_of_a_long_name_ends_it_too)
{
    char *name = long_name(189);
    int64_t wu = project_workunit(
        name, (struct workunit){.min_quorum = 10, .target_nresults = 10});

    project_transition();
    project_send(wu, 9, 1);
    project_error(wu, 9, 1);
    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "error_mask"),
                     WU_COULDNT_SEND_RESULT);
    ck_assert_int_eq(results_of(wu), 10);
    ck_purged();
    free(name);
}
END_TEST

/* ---- time -----------------------------------------------------------------
 */

START_TEST(what_is_still_out_when_two_agree_may_come_or_not)
{
    int64_t wu = project_workunit("a", (struct workunit){.target_nresults = 3});

    project_transition();
    for (int k = 0; k < 3; k++)
        project_send(wu, k, 1 + k);
    project_success(wu, 0, "same");
    project_success(wu, 1, "same");
    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_assert_int_eq(project_of_result(wu, 2, "server_state"),
                     RESULT_IN_PROGRESS);
    ck_assert_int_eq(project_of_workunit(wu, "transition_time"),
                     project_of_result(wu, 2, "report_deadline"));
    ck_assert_int_eq(project_of_workunit(wu, "file_delete_state"), FILES_INIT);
    ck_assert_int_eq(project_of_result(wu, 0, "file_delete_state"), FILES_INIT);
    project_audit();

    project_clock(86400 + 2); /* it never comes */
    project_round();
    ck_assert_int_eq(project_of_result(wu, 2, "outcome"), OUTCOME_NO_REPLY);
    ck_assert_int_eq(results_of(wu), 3);
    ck_purged();
}
END_TEST

START_TEST(a_delay_bound_may_be_as_large_as_the_column)
{
    int64_t wu = project_workunit(
        "a", (struct workunit){.min_quorum = 1, .target_nresults = 1});

    project_do("UPDATE workunit SET delay_bound = 2147483647");
    project_transition();
    ck_assert_int_eq(project_of_workunit(wu, "transition_time"),
                     TRANSITION_NEVER - 1);
    /* the scheduler ends deadlines there, too */
    project_do("UPDATE workunit SET delay_bound = %" PRId64,
               TRANSITION_NEVER - 1 - project_now() - 100);
    project_send(wu, 0, 1);
    project_do("UPDATE workunit SET delay_bound = 2147483647, "
               "transition_time = %" PRId64,
               project_now());
    project_transition();
    ck_assert_int_eq(project_of_result(wu, 0, "server_state"),
                     RESULT_IN_PROGRESS);
    ck_assert_int_gt(project_of_workunit(wu, "transition_time"), project_now());
    ck_assert_int_lt(project_of_workunit(wu, "transition_time"),
                     TRANSITION_NEVER);
    project_success(wu, 0, "done");
    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_purged();
}
END_TEST

/* ---- the canonical row is gone --------------------------------------------
 */

static int64_t
agreed(void)
{
    int64_t wu = project_workunit("a", (struct workunit){.target_nresults = 3});

    project_transition();
    for (int k = 0; k < 3; k++)
        project_send(wu, k, 1 + k);
    project_success(wu, 0, "same");
    project_success(wu, 1, "same");
    project_transition();
    ck_assert_int_eq(
        project_run("sample_bitwise_validator", "--app", "app", NULL), 0);
    ck_assert_int_ne(project_of_workunit(wu, "canonical_resultid"), 0);
    return wu;
}

static void
lose_canonical(int64_t wu)
{
    project_do("INSERT INTO x_credit_base SELECT 1, userid, granted_credit "
               "FROM result WHERE id = %" PRId64,
               project_of_workunit(wu, "canonical_resultid"));
    project_do("INSERT INTO x_credit_base SELECT 2, hostid, granted_credit "
               "FROM result WHERE id = %" PRId64,
               project_of_workunit(wu, "canonical_resultid"));
    project_do("INSERT INTO x_credit_base SELECT 3, teamid, granted_credit "
               "FROM result WHERE id = %" PRId64,
               project_of_workunit(wu, "canonical_resultid"));
    project_do("DELETE FROM result WHERE id = %" PRId64,
               project_of_workunit(wu, "canonical_resultid"));
}

START_TEST(a_canonical_row_lost_before_the_assimilator_is_an_error)
{
    int64_t wu = agreed();

    lose_canonical(wu);
    project_success(wu, 2, "same");
    project_round();
    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "error_mask"),
                     WU_NO_CANONICAL_RESULT);
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_assert_int_eq(project_of_workunit(wu, "need_validate"), 0);
    ck_purged();
}
END_TEST

START_TEST(a_canonical_row_lost_behind_the_assimilator_stops_nothing)
{
    int64_t wu = agreed();

    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    lose_canonical(wu);
    project_success(wu, 2, "same");
    project_round();
    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "error_mask"),
                     WU_NO_CANONICAL_RESULT);
    ck_assert_int_eq(project_of_workunit(wu, "need_validate"), 0);
    ck_purged();
}
END_TEST

/* ---- many -----------------------------------------------------------------
 */

START_TEST(one_may_have_fifteen_hundred_results)
{
    enum { N = 1500 };
    int64_t wu = project_workunit("a", (struct workunit){
                                           .target_nresults = N,
                                           .max_total_results = 2 * N,
                                       });
    int64_t other = project_workunit("b", alone);

    project_transition();
    ck_assert_int_eq(results_of(wu), N);
    ck_assert_int_eq(results_of(other), 1);
    project_send(wu, 0, 1);
    project_send(wu, N - 1, 2);
    project_success(wu, 0, "same");
    project_success(wu, N - 1, "same");
    project_send(other, 0, 3);
    project_success(other, 0, "b");
    project_round();
    ck_assert_int_eq(project_of_workunit(other, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result WHERE "
                                 "workunitid = %" PRId64 " AND outcome = %d",
                                 wu, OUTCOME_DIDNT_NEED),
                     N - 2);
    ck_purged();
}
END_TEST

START_TEST(ten_thousand_may_be_due_in_the_same_second)
{
    enum { N = 10000, PATIENCE = 100 /* s */ };
    time_t begin;

    project_workunit("wu_1", alone);
    for (int64_t n = 1; n < N; n *= 2)
        project_do("INSERT INTO workunit (create_time, appid, name, xml_doc, "
                   "batch, rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound, "
                   "rsc_disk_bound, need_validate, canonical_resultid, "
                   "canonical_credit, transition_time, delay_bound, "
                   "error_mask, file_delete_state, assimilate_state, "
                   "hr_class, opaque, min_quorum, target_nresults, "
                   "max_error_results, max_total_results, "
                   "max_success_results, result_template_file, priority, "
                   "rsc_bandwidth_bound, fileset_id, app_version_id, "
                   "transitioner_flags, size_class, keywords, "
                   "app_version_num) SELECT create_time, appid, "
                   "CONCAT('wu_', SUBSTRING(name, 4) + %" PRId64 "), xml_doc, "
                   "batch, rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound, "
                   "rsc_disk_bound, 0, 0, 0, transition_time, delay_bound, 0, "
                   "0, 0, 0, 0, min_quorum, target_nresults, "
                   "max_error_results, max_total_results, "
                   "max_success_results, result_template_file, priority, 0, "
                   "0, 0, 0, -1, '', 0 FROM workunit WHERE "
                   "SUBSTRING(name, 4) + %" PRId64 " <= %d",
                   n, n, N);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM workunit"), N);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(DISTINCT transition_time) FROM workunit"), 1);
    begin = time(NULL);
    project_transition();
    ck_assert_int_le(time(NULL) - begin, PATIENCE);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result"), N);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(DISTINCT workunitid) FROM result"), N);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM workunit WHERE "
                                 "transition_time <= %" PRId64,
                                 project_now()),
                     0);
}
END_TEST

static Suite *
situations_suite(void)
{
    Suite *s = suite_create("situations");
    TCase *tc = tcase_create("through the daemons");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 200);
    tcase_add_test(tc,
                   the_only_success_has_no_output_so_another_instance_is_made);
    tcase_add_test(tc, the_only_success_is_invalid_so_another_instance_is_made);
    tcase_add_test(tc, error_and_total_limit_are_reached_together);
    tcase_add_loop_test(tc, an_errored_workunit_is_final_and_purged, 0,
                        ARRAY_LEN(errors));
    tcase_add_test(tc, volunteers_may_abort_more_often_than_errors_are_allowed);
    tcase_add_loop_test(tc, a_name_may_look_like_that_of_a_result, 0,
                        ARRAY_LEN(names));
    tcase_add_test(tc, a_name_of_189_characters_has_room_for_ten_results);
    tcase_add_test(tc, a_name_of_190_characters_ends_the_workunit_and_no_other);
    tcase_add_test(tc, the_eleventh_result_of_a_long_name_ends_it_too);
    tcase_add_test(tc, what_is_still_out_when_two_agree_may_come_or_not);
    tcase_add_test(tc, a_delay_bound_may_be_as_large_as_the_column);
    tcase_add_test(tc, a_canonical_row_lost_before_the_assimilator_is_an_error);
    tcase_add_test(tc,
                   a_canonical_row_lost_behind_the_assimilator_stops_nothing);
    tcase_add_test(tc, one_may_have_fifteen_hundred_results);
    tcase_add_test(tc, ten_thousand_may_be_due_in_the_same_second);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(situations_suite());
}
