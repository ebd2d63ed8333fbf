/* test_limits.c - the life of workunits through the real transitioner,
 * validator and assimilator on a database: each limit exactly reached (it goes
 * on) and exceeded by one (it ends), and what comes late. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_set_aside.h"
#include "file.h"
#include "names.h"
#include "project.h"

#define BIG 5000000000

static void
setup(void)
{
    project_new();
}

static void
teardown(void)
{
    project_end();
}

static int64_t
results_in(int64_t wu, enum server_state state)
{
    return project_ask("SELECT COUNT(*) FROM result WHERE workunitid = "
                       "%" PRId64 " AND server_state = %d",
                       wu, (int)state);
}

static int64_t
results_ended(int64_t wu, enum outcome outcome)
{
    return project_ask("SELECT COUNT(*) FROM result WHERE workunitid = "
                       "%" PRId64 " AND server_state = 5 AND outcome = %d",
                       wu, (int)outcome);
}

static char *
content(const char *below)
{
    struct buf text = BUF_INIT;

    if (file_read(project_path(below), 1 << 20, &text) != 0) {
        buf_free(&text);
        return NULL;
    }
    return buf_take(&text);
}

/* A workunit that was given up: nothing goes out any more, and the assimilator
 * has been told why. */
static void
ck_given_up(int64_t wu, const char *name, unsigned mask, const char *reasons)
{
    char file[64];
    char *text;

    ck_assert_int_eq(project_of_workunit(wu, "error_mask"), mask);
    ck_assert_int_eq(results_in(wu, RESULT_UNSENT), 0);
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    snprintf(file, sizeof(file), "results/%s_error", name);
    text = content(file);
    ck_assert_str_eq(text, reasons);
    free(text);
}

/* And then nothing of it is kept for ever. */
static void
ck_goes_away(int64_t wu)
{
    project_transition();
    ck_assert_int_eq(project_of_workunit(wu, "file_delete_state"), FILES_READY);
    ck_assert_int_eq(project_run("file_deleter", NULL), 0);
    ck_assert_int_eq(project_of_workunit(wu, "file_delete_state"), FILES_DONE);
    ck_assert_int_eq(project_run("db_purge", NULL), 0);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM workunit"), 0);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result"), 0);
}

static void
ck_goes_on(int64_t wu)
{
    ck_assert_int_eq(project_of_workunit(wu, "error_mask"), 0);
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_INIT);
    ck_assert_int_ge(results_in(wu, RESULT_UNSENT), 1);
}

START_TEST(a_new_workunit_gets_as_many_results_as_its_target)
{
    int64_t wu = project_workunit("a", (struct workunit){.target_nresults = 3});

    project_transition();
    ck_assert_int_eq(results_in(wu, RESULT_UNSENT), 3);
    for (int k = 0; k < 3; k++)
        ck_assert_int_gt(project_of_result(wu, k, "id"), 0);
    /* each may upload what the project has signed */
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result WHERE xml_doc_in "
                                 "LIKE '%%<xml_signature>%%'"),
                     3);
    /* and nobody can guess the name of another's file */
    ck_assert_int_eq(
        project_ask("SELECT COUNT(DISTINCT REGEXP_SUBSTR(xml_doc_in, "
                    "'_r[0-9]+')) FROM result"),
        3);
    project_transition();
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result"), 3);
}
END_TEST

START_TEST(results_of_a_size_class_are_withheld)
{
    int64_t wu = project_workunit("a", (struct workunit){.min_quorum = 1});

    project_do("UPDATE workunit SET size_class = 1");
    project_transition();
    ck_assert_int_eq(results_in(wu, RESULT_INACTIVE), 2);
}
END_TEST

START_TEST(two_that_agree_are_credited_and_assimilated)
{
    int64_t wu = project_workunit("a", (struct workunit){.batch = 7});
    const double credit = 1e12 * 200 / 86400e9; /* 1e12 FLOP */
    char *text;

    project_transition();
    project_send(wu, 0, 1);
    project_send(wu, 1, 2);
    project_success(wu, 0, "forty-two\n");
    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "canonical_resultid"), 0);
    project_success(wu, 1, "forty-two\n");
    project_round();

    ck_assert_int_eq(project_of_workunit(wu, "canonical_resultid"),
                     project_of_result(wu, 0, "id"));
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_assert_int_eq(project_of_result(wu, 0, "validate_state"),
                     VALIDATE_VALID);
    ck_assert_int_eq(project_of_result(wu, 1, "validate_state"),
                     VALIDATE_VALID);
    text = content("results/a");
    ck_assert_str_eq(text, "forty-two\n");
    free(text);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM host WHERE ABS(total_credit - %.17g) "
                    "< 1e-9 AND id IN (1, 2) AND expavg_credit > 0",
                    credit),
        2);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM user WHERE ABS(total_credit - %.17g) "
                    "< 1e-9 AND id IN (1, 2) AND expavg_credit > 0",
                    credit),
        2);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM team WHERE ABS(total_credit - %.17g) "
                    "< 1e-9",
                    2 * credit),
        1);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM user WHERE total_credit > 0"), 2);
    /* files may go: nothing more can come */
    ck_assert_int_eq(project_of_workunit(wu, "file_delete_state"), FILES_READY);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM host_app_version WHERE "
                                 "app_version_id = 3 AND consecutive_valid = 1 "
                                 "AND max_jobs_per_day = 11"),
                     2);
}
END_TEST

START_TEST(as_many_errors_as_allowed_go_on_and_one_more_ends_it)
{
    int64_t wu = project_workunit(
        "a", (struct workunit){.max_error_results = 2, .target_nresults = 2});

    project_transition();
    for (int k = 0; k < 2; k++) {
        project_send(wu, k, 1 + k);
        project_error(wu, k, 1);
        project_round();
        ck_goes_on(wu);
    }
    project_send(wu, 2, 3);
    project_error(wu, 2, 1);
    project_round();
    ck_given_up(wu, "a", WU_TOO_MANY_ERROR_RESULTS, "TOO_MANY_ERROR_RESULTS");
    ck_assert_int_eq(results_ended(wu, OUTCOME_DIDNT_NEED), 1);
    ck_goes_away(wu);
}
END_TEST

START_TEST(a_volunteer_who_aborts_is_no_error_of_the_workunit)
{
    int64_t wu = project_workunit("a", (struct workunit){.max_error_results = 1,
                                                         .min_quorum = 1,
                                                         .target_nresults = 1});

    project_transition();
    for (int k = 0; k < 4; k++) {
        project_send(wu, k, 1 + k);
        project_error(wu, k, EXIT_ABORTED_VIA_GUI);
        project_round();
        ck_goes_on(wu);
    }
}
END_TEST

START_TEST(as_many_results_as_allowed_go_on_and_one_more_ends_it)
{
    int64_t wu = project_workunit(
        "a", (struct workunit){.max_total_results = 4, .min_quorum = 1});

    project_transition();
    for (int k = 0; k < 2; k++) {
        project_send(wu, k, 1 + k);
        project_error(wu, k, 1);
    }
    project_round();
    ck_goes_on(wu); /* with results 3 and 4, the last ones */
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result"), 4);
    project_send(wu, 2, 3);
    project_error(wu, 2, 1); /* a fifth would be needed now */
    project_round();
    ck_given_up(wu, "a", WU_TOO_MANY_TOTAL_RESULTS, "TOO_MANY_TOTAL_RESULTS");
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result"), 4);
    ck_goes_away(wu);
}
END_TEST

START_TEST(as_many_that_disagree_as_allowed_go_on_and_one_more_ends_it)
{
    static const char *const texts[] = {"a", "b", "c", "d"};
    int64_t wu =
        project_workunit("a", (struct workunit){.max_success_results = 3});

    project_transition();
    for (int k = 0; k < 4; k++) {
        if (k >= 2)
            ck_goes_on(wu);
        project_send(wu, k, 1 + k);
        project_success(wu, k, texts[k]);
        if (k >= 1)
            project_round();
    }
    ck_given_up(wu, "a", WU_TOO_MANY_SUCCESS_RESULTS,
                "TOO_MANY_SUCCESS_RESULTS");
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result WHERE "
                                 "validate_state = %d",
                                 VALIDATE_NO_CHECK),
                     4);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM user WHERE total_credit > 0"), 0);
    ck_goes_away(wu);
}
END_TEST

START_TEST(what_cannot_be_sent_ends_the_workunit)
{
    int64_t wu = project_workunit("a", (struct workunit){.batch = 0});

    project_transition();
    project_do("UPDATE result SET server_state = 5, outcome = %d "
               "WHERE id = %" PRId64,
               OUTCOME_COULDNT_SEND, project_of_result(wu, 0, "id"));
    project_do("UPDATE workunit SET transition_time = %" PRId64, project_now());
    project_round();
    ck_given_up(wu, "a", WU_COULDNT_SEND_RESULT, "COULDNT_SEND_RESULT");
    ck_assert_int_eq(project_of_result(wu, 1, "outcome"), OUTCOME_DIDNT_NEED);
    ck_goes_away(wu);
}
END_TEST

START_TEST(what_times_out_is_replaced_until_the_total_is_reached)
{
    int64_t wu =
        project_workunit("a", (struct workunit){.max_total_results = 6});

    project_transition();
    for (int round = 0; round < 3; round++) {
        ck_goes_on(wu);
        ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result"),
                         2 * (round + 1));
        for (int i = 0; i < 2; i++)
            project_send(wu, 2 * round + i, 1 + i);
        project_clock((round + 1) * (int64_t)86400 + 60 * (round + 1));
        project_round();
    }
    ck_given_up(wu, "a", WU_TOO_MANY_TOTAL_RESULTS, "TOO_MANY_TOTAL_RESULTS");
    ck_assert_int_eq(results_ended(wu, OUTCOME_NO_REPLY), 6);
    /* quota 10, three results late on each of two hosts */
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM host_app_version WHERE "
                                 "max_jobs_per_day = 7 AND turnaround_n = 3 "
                                 "AND turnaround_avg = 86400 AND "
                                 "consecutive_valid = 0"),
                     2);
}
END_TEST

START_TEST(a_third_decides_between_two_that_disagree)
{
    int64_t wu = project_workunit("a", (struct workunit){.batch = 0});

    project_transition();
    project_send(wu, 0, 1);
    project_send(wu, 1, 2);
    project_success(wu, 0, "right");
    project_success(wu, 1, "wrong");
    project_round();
    ck_goes_on(wu);
    ck_assert_int_eq(project_of_workunit(wu, "target_nresults"), 3);
    ck_assert_int_eq(project_of_result(wu, 0, "validate_state"),
                     VALIDATE_INCONCLUSIVE);
    project_send(wu, 2, 3);
    project_success(wu, 2, "right");
    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_assert_int_eq(project_of_result(wu, 0, "validate_state"),
                     VALIDATE_VALID);
    ck_assert_int_eq(project_of_result(wu, 1, "validate_state"),
                     VALIDATE_INVALID);
    ck_assert_int_eq(project_of_result(wu, 2, "validate_state"),
                     VALIDATE_VALID);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM user WHERE id = 2 AND "
                                 "total_credit = 0"),
                     1);
}
END_TEST

START_TEST(a_late_third_result_is_credited_once)
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
    ck_assert_int_eq(project_of_workunit(wu, "file_delete_state"), FILES_INIT);

    project_success(wu, 2, "same");
    for (int i = 0; i < 3; i++) {
        /* the same report, over and over */
        project_do("UPDATE workunit SET need_validate = 1");
        project_round();
    }
    ck_assert_int_eq(project_of_result(wu, 2, "validate_state"),
                     VALIDATE_VALID);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM user u, result r WHERE "
                                 "u.id = 3 AND r.userid = 3 AND "
                                 "u.total_credit > 0 AND "
                                 "u.total_credit = r.granted_credit"),
                     1);
    ck_assert_int_eq(project_ask("SELECT COUNT(DISTINCT total_credit) FROM "
                                 "user WHERE id IN (1, 2, 3)"),
                     1);
    ck_assert_int_eq(project_of_workunit(wu, "file_delete_state"), FILES_READY);
}
END_TEST

START_TEST(a_late_result_whose_canonical_files_are_gone_is_too_late)
{
    int64_t wu = project_workunit("a", (struct workunit){.target_nresults = 3});

    project_transition();
    for (int k = 0; k < 3; k++)
        project_send(wu, k, 1 + k);
    project_success(wu, 0, "same");
    project_success(wu, 1, "same");
    project_round();
    project_do("UPDATE result SET file_delete_state = %d WHERE id = %" PRId64,
               FILES_DONE, project_of_workunit(wu, "canonical_resultid"));
    project_success(wu, 2, "same");
    project_round();
    ck_assert_int_eq(project_of_result(wu, 2, "validate_state"),
                     VALIDATE_TOO_LATE);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM user WHERE total_credit > 0"), 2);
}
END_TEST

START_TEST(unsent_ones_are_withdrawn_when_two_agree)
{
    int64_t wu = project_workunit("a", (struct workunit){.target_nresults = 3});

    project_transition();
    project_send(wu, 0, 1);
    project_send(wu, 1, 2);
    project_success(wu, 0, "same");
    project_success(wu, 1, "same");
    project_round();
    ck_assert_int_eq(project_of_result(wu, 2, "outcome"), OUTCOME_DIDNT_NEED);
    ck_assert_int_eq(project_of_workunit(wu, "file_delete_state"), FILES_READY);
}
END_TEST

START_TEST(a_file_that_never_came_is_an_error_and_is_replaced)
{
    int64_t wu = project_workunit("a", (struct workunit){.batch = 0});

    project_transition();
    project_send(wu, 0, 1);
    project_send(wu, 1, 2);
    project_success(wu, 0, NULL);
    project_success(wu, 1, "same");
    project_round();
    ck_assert_int_eq(project_of_result(wu, 0, "outcome"),
                     OUTCOME_VALIDATE_ERROR);
    ck_assert_int_eq(project_of_result(wu, 0, "validate_state"),
                     VALIDATE_INVALID);
    ck_goes_on(wu);
    project_send(wu, 2, 3);
    project_success(wu, 2, "same");
    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM user WHERE total_credit > 0"), 2);
}
END_TEST

START_TEST(a_file_system_that_is_away_orders_nothing_and_is_looked_at_again)
{
    int64_t wu = project_workunit("a", (struct workunit){.batch = 0});
    char away[512];

    project_transition();
    project_send(wu, 0, 1);
    project_send(wu, 1, 2);
    project_success(wu, 0, "same");
    project_success(wu, 1, "same");
    snprintf(away, sizeof(away), "%s", project_path("away"));
    ck_assert_int_eq(rename(project_path("upload"), away), 0);
    project_round();
    ck_assert_int_eq(project_of_result(wu, 0, "validate_state"), VALIDATE_INIT);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result"), 2);
    ck_assert_int_le(project_of_workunit(wu, "transition_time"),
                     project_now() + 6 * 3600);

    ck_assert_int_eq(rename(away, project_path("upload")), 0);
    project_clock(6 * 3600 + 1);
    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
}
END_TEST

START_TEST(a_bad_template_sets_one_workunit_aside_and_the_others_go_on)
{
    struct workunit bad = {.result_template_file = "templates/none.xml"};
    int64_t first = project_workunit("first", (struct workunit){.batch = 0});
    int64_t wu = project_workunit("bad", bad);
    int64_t last = project_workunit("last", (struct workunit){.batch = 0});

    project_transition();
    ck_assert_int_eq(results_in(first, RESULT_UNSENT), 2);
    ck_assert_int_eq(results_in(wu, RESULT_UNSENT), 0);
    ck_assert_int_eq(results_in(last, RESULT_UNSENT), 2);
    ck_assert_int_ge(project_of_workunit(wu, "transition_time"),
                     project_now() + 50);
    ck_assert_int_le(project_of_workunit(wu, "transition_time"),
                     project_now() + 60);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM x_set_aside WHERE "
                                 "program = 'transitioner' AND tries = 1 AND "
                                 "last_error LIKE '%%none.xml%%'"),
                     1);

    project_write("templates/none.xml", "<output_template>\n<result>\n"
                                        "</result>\n</output_template>\n");
    project_clock(61);
    project_transition();
    ck_assert_int_eq(results_in(wu, RESULT_UNSENT), 2);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM x_set_aside"), 0);
}
END_TEST

/* 1e12 FLOP are 200 / 86400e9 · 1e12 credits. */
START_TEST(a_batch_is_counted_while_its_jobs_end)
{
    struct workunit job = {.batch = 77, .min_quorum = 1, .target_nresults = 1};
    int64_t wu[2];

    project_do("INSERT INTO batch (id, njobs, state, user_id, create_time, "
               "logical_start_time, logical_end_time, est_completion_time, "
               "fraction_done, nerror_jobs, completion_time, credit_estimate, "
               "credit_canonical, credit_total, name, app_id, project_state, "
               "description, expire_time) VALUES (77, 2, 1, 0, 0, 0, 0, 0, 0, "
               "0, 0, 0, 0, 0, '', 0, 0, '', 0)");
    wu[0] = project_workunit("a", job);
    job.max_error_results = 1;
    job.max_total_results = 1;
    wu[1] = project_workunit("b", job);
    project_transition();
    for (int i = 0; i < 2; i++)
        project_send(wu[i], 0, 1);
    project_success(wu[0], 0, "same");
    project_round();
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM batch WHERE state = 1 "
                                 "AND fraction_done = 0.5 AND nerror_jobs = 0 "
                                 "AND completion_time = 0 AND "
                                 "ABS(credit_canonical - %.17g) < 1e-9",
                                 1e12 * 200 / 86400e9),
                     1);
    project_error(wu[1], 0, 1);
    project_round();
    ck_assert_int_eq(project_of_workunit(wu[1], "error_mask"),
                     WU_TOO_MANY_TOTAL_RESULTS);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM batch WHERE state = 2 "
                                 "AND fraction_done = 1 AND nerror_jobs = 1 "
                                 "AND njobs = 2 AND completion_time > 0"),
                     1);
}
END_TEST

/* Within the seconds that the test takes. */
static void
ck_aside(int64_t wu, int tries, int64_t next_try)
{
    ck_assert_int_eq(project_ask("SELECT tries FROM x_set_aside WHERE program "
                                 "= 'assimilator' AND wu_id = %" PRId64,
                                 wu),
                     tries);
    ck_assert_int_le(project_ask("SELECT next_try FROM x_set_aside"), next_try);
    ck_assert_int_gt(project_ask("SELECT next_try FROM x_set_aside"),
                     next_try - 30);
}

static void
assimilate_with_four_tries(void)
{
    ck_assert_int_eq(project_run("sample_copy_assimilator", "--app", "app",
                                 "--max_tries", "4", NULL),
                     0);
}

START_TEST(a_handler_that_fails_is_called_again_and_does_not_stop_the_others)
{
    int64_t wu[2];

    wu[0] = project_workunit("a", (struct workunit){.batch = 0});
    wu[1] = project_workunit("b", (struct workunit){.batch = 0});
    project_transition();
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            project_send(wu[i], k, 1 + k);
            project_success(wu[i], k, "same");
        }
    /* a folder where the file should go: it cannot be written */
    ck_assert_int_eq(file_mkdirs(project_path("results/a/x"), 0770), 0);
    project_round();
    ck_assert_int_eq(project_of_workunit(wu[0], "assimilate_state"),
                     ASSIMILATE_READY);
    ck_assert_int_eq(project_of_workunit(wu[1], "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_aside(wu[0], 1, project_now() + 60);
    ck_assert_int_eq(file_remove_tree(project_path("results/a")), 0);
    project_clock(50); /* another process: it still waits */
    project_round();
    ck_assert_int_eq(project_of_workunit(wu[0], "assimilate_state"),
                     ASSIMILATE_READY);
    project_clock(61);
    project_round();
    ck_assert_int_eq(project_of_workunit(wu[0], "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM x_set_aside"), 0);
}
END_TEST

START_TEST(a_handler_that_fails_too_often_waits_for_an_operator)
{
    int64_t wu = project_workunit("a", (struct workunit){.batch = 0});
    int64_t clock = 0;

    project_transition();
    for (int k = 0; k < 2; k++) {
        project_send(wu, k, 1 + k);
        project_success(wu, k, "same");
    }
    ck_assert_int_eq(file_mkdirs(project_path("results/a/x"), 0770), 0);
    project_round();
    /* again after 1, 2, 4, 8 minutes */
    for (int tries = 1; tries < 4; tries++) {
        int64_t pause = INT64_C(60) << (tries - 1);

        ck_aside(wu, tries, project_now() + pause);
        clock += pause + 1;
        project_clock(clock);
        assimilate_with_four_tries();
    }
    ck_assert_int_eq(project_ask("SELECT tries FROM x_set_aside"), 4);
    ck_assert_int_eq(project_ask("SELECT next_try FROM x_set_aside"),
                     TRANSITION_NEVER);
    ck_assert_int_eq(file_remove_tree(project_path("results/a")), 0);
    project_clock(clock + 86400 * 365);
    assimilate_with_four_tries();
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_READY);

    ck_assert_int_eq(
        db_set_aside_release(project_db(), wu, "assimilator", 1, &clock), 0);
    ck_assert_int_eq(clock, 1);
    assimilate_with_four_tries();
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM x_set_aside"), 0);
}
END_TEST

START_TEST(ids_may_be_larger_than_32_bits)
{
    int64_t wu;
    char *text;

    project_do("ALTER TABLE workunit AUTO_INCREMENT = %" PRId64, BIG);
    project_do("ALTER TABLE result AUTO_INCREMENT = %" PRId64, BIG);
    wu = project_workunit("a", (struct workunit){.batch = 0});
    ck_assert_int_eq(wu, BIG);
    project_transition();
    project_send(wu, 0, 1);
    project_send(wu, 1, 2);
    project_success(wu, 0, "big");
    project_success(wu, 1, "big");
    project_round();
    ck_assert_int_eq(project_of_workunit(wu, "canonical_resultid"), BIG);
    ck_assert_int_eq(project_of_workunit(wu, "assimilate_state"),
                     ASSIMILATE_DONE);
    text = content("results/a");
    ck_assert_str_eq(text, "big");
    free(text);
}
END_TEST

static Suite *
limits_suite(void)
{
    Suite *s = suite_create("limits");
    TCase *tc = tcase_create("through the daemons");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, a_new_workunit_gets_as_many_results_as_its_target);
    tcase_add_test(tc, results_of_a_size_class_are_withheld);
    tcase_add_test(tc, two_that_agree_are_credited_and_assimilated);
    tcase_add_test(tc, as_many_errors_as_allowed_go_on_and_one_more_ends_it);
    tcase_add_test(tc, a_volunteer_who_aborts_is_no_error_of_the_workunit);
    tcase_add_test(tc, as_many_results_as_allowed_go_on_and_one_more_ends_it);
    tcase_add_test(tc,
                   as_many_that_disagree_as_allowed_go_on_and_one_more_ends_it);
    tcase_add_test(tc, what_cannot_be_sent_ends_the_workunit);
    tcase_add_test(tc, what_times_out_is_replaced_until_the_total_is_reached);
    tcase_add_test(tc, a_third_decides_between_two_that_disagree);
    tcase_add_test(tc, a_late_third_result_is_credited_once);
    tcase_add_test(tc,
                   a_late_result_whose_canonical_files_are_gone_is_too_late);
    tcase_add_test(tc, unsent_ones_are_withdrawn_when_two_agree);
    tcase_add_test(tc, a_file_that_never_came_is_an_error_and_is_replaced);
    tcase_add_test(
        tc, a_file_system_that_is_away_orders_nothing_and_is_looked_at_again);
    tcase_add_test(tc,
                   a_bad_template_sets_one_workunit_aside_and_the_others_go_on);
    tcase_add_test(
        tc, a_handler_that_fails_is_called_again_and_does_not_stop_the_others);
    tcase_add_test(tc, a_handler_that_fails_too_often_waits_for_an_operator);
    tcase_add_test(tc, a_batch_is_counted_while_its_jobs_end);
    tcase_add_test(tc, ids_may_be_larger_than_32_bits);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(limits_suite());
}
