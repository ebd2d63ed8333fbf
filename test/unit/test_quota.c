/* test_quota.c - what a good, bad or overdue result does to the statistics of
 * its host.  Numbers by hand from lifecycle §3.4, 4.5 and 5.2. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "quota.h"

#define QUOTA 10 /* daily_result_quota */

START_TEST(an_anonymous_platform_has_a_key_of_its_own)
{
    ck_assert_int_eq(quota_version_key(3, 17), 17);
    ck_assert_int_eq(quota_version_key(3, -2), 3000002);
    ck_assert_int_eq(quota_version_key(3, -6), 3000006);
    ck_assert_int_eq(quota_version_key(3, 0), 0);
}
END_TEST

START_TEST(the_first_samples_make_a_mean)
{
    double n = 0, avg = 0, var = 0, q = 0;

    quota_add_sample(10, &n, &avg, &var, &q);
    quota_add_sample(20, &n, &avg, &var, &q);
    quota_add_sample(30, &n, &avg, &var, &q);
    ck_assert_double_eq_tol(n, 3, 1e-12);
    ck_assert_double_eq_tol(avg, 20, 1e-12);
    ck_assert_double_eq_tol(var, 200.0 / 3, 1e-9); /* (100 + 0 + 100) / 3 */
}
END_TEST

START_TEST(from_the_twentieth_on_a_sample_counts_one_percent)
{
    double n = 19, avg = 100, var = 0, q = 0;

    quota_add_sample(200, &n, &avg, &var, &q);
    ck_assert_double_eq_tol(n, 20, 1e-12);
    ck_assert_double_eq_tol(avg, 101, 1e-9);
    ck_assert_double_eq_tol(var, 100, 1e-9); /* 1 % of 100 squared */
}
END_TEST

START_TEST(a_sample_counts_at_most_ten_times_the_average)
{
    double n = 1, avg = 10, var = 0, q = 0;

    quota_add_sample(1e9, &n, &avg, &var, &q);
    ck_assert_double_eq_tol(avg, 55, 1e-9); /* mean of 10 and 100 */
}
END_TEST

START_TEST(samples_that_are_no_times_are_ignored)
{
    double n = 1, avg = 10, var = 0, q = 0;

    quota_add_sample(-1, &n, &avg, &var, &q);
    quota_add_sample(NAN, &n, &avg, &var, &q);
    quota_add_sample(INFINITY, &n, &avg, &var, &q);
    ck_assert_double_eq_tol(n, 1, 1e-12);
    ck_assert_double_eq_tol(avg, 10, 1e-12);
}
END_TEST

static const struct {
    const char *promise;
    int before, after, quota;
} late[] = {
    {"a host without a quota has the whole, less one", 0,  9, QUOTA},
    {"what was earned above the quota is lost",        15, 9, QUOTA},
    {"one job a day less",                             5,  4, QUOTA},
    {"but never none",                                 1,  1, QUOTA},
    {"where nobody counts, nothing is counted",        0,  0, 0    },
};

START_TEST(a_time_out_costs_a_job_a_day_and_all_trust)
{
    struct host_app_version hav = {.max_jobs_per_day = late[_i].before,
                                   .consecutive_valid = 12};

    quota_timed_out(&hav, 1000, late[_i].quota);
    ck_assert_msg(hav.max_jobs_per_day == late[_i].after, "broken: %s",
                  late[_i].promise);
    ck_assert_int_eq(hav.consecutive_valid, 0);
    ck_assert_double_eq_tol(hav.turnaround_avg, 1000, 1e-9);
}
END_TEST

START_TEST(a_valid_result_earns_one_more)
{
    struct host_app_version hav = {.max_jobs_per_day = QUOTA,
                                   .consecutive_valid = 3};

    quota_valid(&hav, QUOTA, true);
    ck_assert_int_eq(hav.max_jobs_per_day, QUOTA + 1);
    ck_assert_int_eq(hav.consecutive_valid, 4);
    quota_valid(&hav, QUOTA, false); /* nobody has confirmed it */
    ck_assert_int_eq(hav.consecutive_valid, 4);
}
END_TEST

START_TEST(an_invalid_one_costs_what_was_earned_and_all_trust)
{
    struct host_app_version hav = {.max_jobs_per_day = QUOTA + 1,
                                   .consecutive_valid = 3};

    quota_invalid(&hav, QUOTA);
    ck_assert_int_eq(hav.max_jobs_per_day, QUOTA);
    ck_assert_int_eq(hav.consecutive_valid, 0);
    quota_invalid(&hav, QUOTA);
    ck_assert_int_eq(hav.max_jobs_per_day, QUOTA);
}
END_TEST

static const struct {
    const char *promise;
    int before, success, error, quota;
} reports[] = {
    {"a host without a quota has the whole", 0,  10, 9, QUOTA},
    {"what was lost comes back by doubling", 3,  6,  2, QUOTA},
    {"half of it doubles to the whole",      5,  10, 4, QUOTA},
    {"more than half, too",                  6,  10, 5, QUOTA},
    {"the whole stays",                      10, 10, 9, QUOTA},
    {"what was earned above it stays, too",  15, 15, 9, QUOTA},
    {"one job a day is the least",           1,  2,  1, QUOTA},
    {"an odd quota: twice 5 of 11",          5,  10, 4, 11   },
    {"where nobody counts",                  0,  0,  0, 0    },
};

START_TEST(a_report_moves_the_quota)
{
    struct host_app_version done = {.max_jobs_per_day = reports[_i].before,
                                    .consecutive_valid = 12};
    struct host_app_version failed = done;

    quota_reported_success(&done, reports[_i].quota);
    ck_assert_msg(done.max_jobs_per_day == reports[_i].success, "broken: %s",
                  reports[_i].promise);
    ck_assert_int_eq(done.consecutive_valid, 12); /* not judged yet */
    quota_reported_error(&failed, reports[_i].quota);
    ck_assert_msg(failed.max_jobs_per_day == reports[_i].error, "broken: %s",
                  reports[_i].promise);
    ck_assert_int_eq(failed.consecutive_valid, 0);
}
END_TEST

START_TEST(what_is_sent_is_counted)
{
    struct host_app_version hav = {.n_jobs_today = 2};

    quota_sent(&hav);
    ck_assert_int_eq(hav.n_jobs_today, 3);
    quota_hopeless(&hav);
    ck_assert_int_eq(hav.n_jobs_today, 1);
    ck_assert_int_eq(hav.max_jobs_per_day, 1);
}
END_TEST

START_TEST(each_host_has_one_new_day_in_24_hours)
{
    for (int64_t host = 1; host < 200; host++) {
        int days = 0;

        for (int hour = 0; hour < 24; hour++)
            days += quota_is_new_day(host, 1700000000 + 3600 * hour,
                                     1700000000 + 3600 * (hour + 1));
        ck_assert_int_eq(days, 1);
        ck_assert(!quota_is_new_day(host, 1700000000, 1700000000));
        ck_assert(quota_is_new_day(host, 0, 1700000000));
    }
}
END_TEST

/* A second before it is still today, then it is tomorrow. */
START_TEST(the_next_day_begins_when_it_is_said_to)
{
    const int64_t now = 1700000000;

    for (int64_t host = 1; host <= 1000; host++) {
        int64_t wait = quota_next_day(host, now);

        ck_assert_int_ge(wait, 1);
        ck_assert_int_le(wait, 86400);
        ck_assert(!quota_is_new_day(host, now, now + wait - 1));
        ck_assert(quota_is_new_day(host, now, now + wait));
    }
}
END_TEST

START_TEST(days_begin_at_different_times)
{
    int at_midnight = 0;

    for (int64_t host = 1; host <= 1000; host++) /* 1699920000: 00:00 UTC */
        at_midnight +=
            quota_is_new_day(host, 1699920000 - 1800, 1699920000 + 1800);
    ck_assert_int_lt(at_midnight, 100); /* about 1000 / 24 */
    ck_assert_int_gt(at_midnight, 10);
}
END_TEST

START_TEST(turnaround_follows_slowly)
{
    ck_assert_double_eq_tol(quota_turnaround(0, 500), 500, 1e-12);
    ck_assert_double_eq_tol(quota_turnaround(1000, 500), 850, 1e-9);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("quota");
    TCase *tc = tcase_create("hosts");
    SRunner *runner;
    int failures;

    tcase_add_test(tc, an_anonymous_platform_has_a_key_of_its_own);
    tcase_add_test(tc, the_first_samples_make_a_mean);
    tcase_add_test(tc, from_the_twentieth_on_a_sample_counts_one_percent);
    tcase_add_test(tc, a_sample_counts_at_most_ten_times_the_average);
    tcase_add_test(tc, samples_that_are_no_times_are_ignored);
    tcase_add_loop_test(tc, a_time_out_costs_a_job_a_day_and_all_trust, 0,
                        (int)(sizeof(late) / sizeof(late[0])));
    tcase_add_loop_test(tc, a_report_moves_the_quota, 0,
                        (int)(sizeof(reports) / sizeof(reports[0])));
    tcase_add_test(tc, what_is_sent_is_counted);
    tcase_add_test(tc, each_host_has_one_new_day_in_24_hours);
    tcase_add_test(tc, the_next_day_begins_when_it_is_said_to);
    tcase_add_test(tc, days_begin_at_different_times);
    tcase_add_test(tc, a_valid_result_earns_one_more);
    tcase_add_test(tc, an_invalid_one_costs_what_was_earned_and_all_trust);
    tcase_add_test(tc, turnaround_follows_slowly);
    suite_add_tcase(s, tc);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
