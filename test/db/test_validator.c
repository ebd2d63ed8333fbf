/* test_validator.c - options of the validator library, and killing the daemons
 * at any time, through the real programs. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "digest.h"
#include "file.h"
#include "project.h"

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

/* A workunit with two reports of this text, asking for validation. */
static int64_t
reported(const char *name, const char *one, const char *two)
{
    int64_t wu = project_workunit(name, (struct workunit){.batch = 0});

    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    project_send(wu, 0, 1);
    project_send(wu, 1, 2);
    project_success(wu, 0, one);
    project_success(wu, 1, two);
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    return wu;
}

static int64_t
valid_results(void)
{
    return project_ask("SELECT COUNT(*) FROM result WHERE validate_state = 1");
}

/* Users with this credit. */
static int64_t
users_with(double credit)
{
    return project_ask("SELECT COUNT(*) FROM user WHERE id IN (1, 2) AND "
                       "ABS(total_credit - %.17g) < 1e-9",
                       credit);
}

START_TEST(credit_may_be_preset)
{
    int64_t wu = reported("a", "same", "same");

    project_do("UPDATE workunit SET canonical_credit = 42 WHERE id = %" PRId64,
               wu);
    ck_assert_int_eq(project_run("sample_bitwise_validator", "--app", "app",
                                 "--credit_from_wu", NULL),
                     0);
    ck_assert_int_eq(users_with(42), 2);
}
END_TEST

START_TEST(credit_may_come_from_run_times)
{
    /* 500 s and 1500 s at 2e9 FLOPS: x = 1e12 and 3e12 FLOP, S = 4e12;
     * (1·3 + 3·1)e24 / 4e12 = 1.5e12 FLOP; 8.64e13 FLOP are 200 */
    const double credit = 1.5e12 * 200 / 8.64e13;
    int64_t wu = reported("a", "same", "same");

    project_do("UPDATE result SET elapsed_time = 1500 WHERE workunitid = "
               "%" PRId64 " AND hostid = 2",
               wu);
    ck_assert_int_eq(project_run("sample_bitwise_validator", "--app", "app",
                                 "--credit_from_runtime", NULL),
                     0);
    ck_assert_int_eq(users_with(credit), 2);
}
END_TEST

START_TEST(credit_may_be_none)
{
    reported("a", "same", "same");
    ck_assert_int_eq(project_run("sample_bitwise_validator", "--app", "app",
                                 "--no_credit", NULL),
                     0);
    ck_assert_int_eq(valid_results(), 2);
    ck_assert_int_eq(users_with(0), 2);
}
END_TEST

START_TEST(credit_has_a_cap)
{
    int64_t wu = reported("a", "same", "same");

    project_do("UPDATE workunit SET canonical_credit = 1e30 WHERE id = "
               "%" PRId64,
               wu);
    ck_assert_int_eq(project_run("sample_bitwise_validator", "--app", "app",
                                 "--credit_from_wu", "--max_granted_credit",
                                 "1000", NULL),
                     0);
    ck_assert_int_eq(users_with(1000), 2);
}
END_TEST

START_TEST(a_dry_run_changes_nothing)
{
    int64_t wu = reported("a", "same", "same");

    ck_assert_int_eq(project_run("sample_bitwise_validator", "--app", "app",
                                 "--dry_run", NULL),
                     0);
    ck_assert_int_eq(valid_results(), 0);
    ck_assert_int_eq(project_ask("SELECT need_validate FROM workunit WHERE "
                                 "id = %" PRId64,
                                 wu),
                     1);
}
END_TEST

START_TEST(one_can_be_asked_for)
{
    char id[32];

    reported("a", "same", "same");
    snprintf(id, sizeof(id), "%" PRId64, reported("b", "same", "same"));
    ck_assert_int_eq(project_run("sample_bitwise_validator", "--app", "app",
                                 "--wu_id", id, NULL),
                     0);
    ck_assert_int_eq(valid_results(), 2);
}
END_TEST

START_TEST(gzip_headers_may_differ)
{
    reported("a", "0123456789same", "9876543210same");
    ck_assert_int_eq(project_run("sample_bitwise_validator", "--app", "app",
                                 "--is_gzip", NULL),
                     0);
    ck_assert_int_eq(valid_results(), 2);
}
END_TEST

START_TEST(the_trivial_one_takes_everything_that_is_there)
{
    reported("a", "this", "that");
    ck_assert_int_eq(
        project_run("sample_trivial_validator", "--app", "app", NULL), 0);
    ck_assert_int_eq(valid_results(), 2);
}
END_TEST

START_TEST(outputs_go_where_the_option_says)
{
    struct buf text = BUF_INIT;

    reported("a", "same", "same");
    ck_assert_int_eq(
        project_run("sample_bitwise_validator", "--app", "app", NULL), 0);
    ck_assert_int_eq(project_run("sample_copy_assimilator", "--app", "app",
                                 "--outdir", project_path("far/away"), NULL),
                     0);
    ck_assert_int_eq(file_read(project_path("far/away/a"), 100, &text), 0);
    ck_assert_str_eq(buf_str(&text), "same");
    buf_free(&text);
}
END_TEST

/* ---- killed at any time ---------------------------------------------------
 */

static const char *const programs[][4] = {
    {DAEMONS "/transitioner",             NULL,    NULL,  NULL},
    {DAEMONS "/sample_bitwise_validator", "--app", "app", NULL},
    {DAEMONS "/sample_copy_assimilator",  "--app", "app", NULL},
};

/* Start it, and kill it after some milliseconds. */
static void
run_and_kill(const char *const *program, double seconds)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        execl(program[0], program[0], "--one_pass", program[1], program[2],
              NULL);
        _exit(127);
    }
    clock_sleep(seconds);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

START_TEST(killed_at_any_time_they_lose_nothing_and_grant_once)
{
    enum { WORKUNITS = 60 };
    const double credit = 1e12 * 200 / 86400e9;
    int64_t wu[WORKUNITS];
    char name[16];

    for (int i = 0; i < WORKUNITS; i++) {
        snprintf(name, sizeof(name), "wu%d", i);
        wu[i] = project_workunit(name, (struct workunit){.batch = 0});
    }
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    for (int i = 0; i < WORKUNITS; i++)
        for (int k = 0; k < 2; k++) {
            project_send(wu[i], k, 1 + k);
            project_success(wu[i], k, "same");
        }
    /* a pass takes some 30 ms: most are killed inside it */
    for (int i = 0; i < 150; i++)
        run_and_kill(programs[i % 3], (double)random_below(40) / 1000);
    project_round();
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM workunit WHERE "
                                 "assimilate_state = 2 AND error_mask = 0 AND "
                                 "file_delete_state = 1"),
                     WORKUNITS);
    ck_assert_int_eq(valid_results(), 2 * WORKUNITS);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result"), 2 * WORKUNITS);
    ck_assert_int_eq(users_with(WORKUNITS * credit), 2);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM team WHERE "
                                 "ABS(total_credit - %.17g) < 1e-6",
                                 2 * WORKUNITS * credit),
                     1);
    for (int i = 0; i < WORKUNITS; i++) {
        struct buf text = BUF_INIT;

        snprintf(name, sizeof(name), "results/wu%d", i);
        ck_assert_int_eq(file_read(project_path(name), 100, &text), 0);
        ck_assert_str_eq(buf_str(&text), "same");
        buf_free(&text);
    }
}
END_TEST

static Suite *
validator_suite(void)
{
    Suite *s = suite_create("validator");
    TCase *tc = tcase_create("through the daemons");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, credit_may_be_preset);
    tcase_add_test(tc, credit_may_come_from_run_times);
    tcase_add_test(tc, credit_may_be_none);
    tcase_add_test(tc, credit_has_a_cap);
    tcase_add_test(tc, a_dry_run_changes_nothing);
    tcase_add_test(tc, one_can_be_asked_for);
    tcase_add_test(tc, gzip_headers_may_differ);
    tcase_add_test(tc, the_trivial_one_takes_everything_that_is_there);
    tcase_add_test(tc, outputs_go_where_the_option_says);
    tcase_add_test(tc, killed_at_any_time_they_lose_nothing_and_grant_once);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(validator_suite());
}
