/* test_defer.c - a handler that asks to be called again when all results are
 * over and checked; here one that asks so each time (defer.c). */
#include <inttypes.h>
#include <stdlib.h>

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
    project_end();
}

static void
run(const char *program)
{
    ck_assert_int_eq(project_run(program, "--app", "app", NULL), 0);
}

static void
check_results(void)
{
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    run("sample_bitwise_validator");
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
}

static int64_t
of_wu(int64_t wu, const char *column)
{
    return project_ask("SELECT %s FROM workunit WHERE id = %" PRId64, column,
                       wu);
}

static int64_t
tries(void)
{
    return project_ask("SELECT COALESCE(MAX(tries), -1) FROM x_set_aside");
}

static int64_t
workunit_with_three_out(void)
{
    int64_t wu = project_workunit("a", (struct workunit){.target_nresults = 3});

    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    for (int k = 0; k < 3; k++)
        project_send(wu, k, 1 + k);
    return wu;
}

START_TEST(it_comes_again_when_all_are_over)
{
    int64_t wu = workunit_with_three_out();

    project_success(wu, 0, "same");
    project_success(wu, 1, "same");
    check_results();
    ck_assert_int_eq(of_wu(wu, "assimilate_state"), ASSIMILATE_READY);
    run("../test/db/defer");
    check_results();
    ck_assert_int_eq(of_wu(wu, "assimilate_state"), ASSIMILATE_INIT);

    project_success(wu, 2, "same");
    check_results();
    ck_assert_int_eq(of_wu(wu, "assimilate_state"), ASSIMILATE_READY);
    ck_assert_int_eq(tries(), -1);
}
END_TEST

START_TEST(with_nothing_to_wait_for_it_is_a_failed_try)
{
    int64_t wu = workunit_with_three_out();

    for (int k = 0; k < 3; k++)
        project_success(wu, k, "same");
    check_results();
    run("../test/db/defer");
    check_results();
    ck_assert_int_eq(of_wu(wu, "assimilate_state"), ASSIMILATE_READY);
    ck_assert_int_eq(tries(), 1);
}
END_TEST

START_TEST(a_failed_workunit_waits_for_its_results_without_turning_in_circles)
{
    int64_t wu = workunit_with_three_out();

    project_do("UPDATE workunit SET error_mask = 16, transition_time = 1");
    check_results();
    run("../test/db/defer");
    ck_assert_int_eq(of_wu(wu, "assimilate_state"), ASSIMILATE_READY);
    ck_assert_int_eq(tries(), 0); /* it did not fail */
    ck_assert_int_gt(project_ask("SELECT next_try FROM x_set_aside"),
                     project_now() + 3500);

    for (int k = 0; k < 3; k++)
        project_error(wu, k, 1);
    project_clock(3700);
    check_results();
    run("sample_copy_assimilator");
    ck_assert_int_eq(of_wu(wu, "assimilate_state"), ASSIMILATE_DONE);
    ck_assert_int_eq(tries(), -1);
}
END_TEST

static Suite *
defer_suite(void)
{
    Suite *s = suite_create("defer");
    TCase *tc = tcase_create("assimilator");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, it_comes_again_when_all_are_over);
    tcase_add_test(tc, with_nothing_to_wait_for_it_is_a_failed_try);
    tcase_add_test(
        tc, a_failed_workunit_waits_for_its_results_without_turning_in_circles);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(defer_suite());
}
