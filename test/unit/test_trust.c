/* test_trust.c - which hosts may do a job alone (lifecycle §6), or get one that
 * is in a hurry (dispatch §6). */
#include "trust.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
    const char *promise;
    int consecutive_valid;
    double draw;
    bool alone;
} draws[] = {
    {"nine valid results are too few",     9,   0.99, false},
    {"ten are enough",                     10,  0.99, true },
    {"but one time in ten it is checked",  10,  0.1,  false},
    {"just above a tenth it is not",       10,  0.11, true },
    {"after 100, one time in a hundred",   100, 0.01, false},
    {"just above a hundredth it is not",   100, 0.02, true },
    {"a draw of nothing checks everybody", 999, 0,    false},
    {"so does one that is no number",      999, NAN,  false},
    {"a new host is never alone",          0,   1,    false},
    {"nor one with a broken counter",      -5,  1,    false},
};

START_TEST(a_host_is_trusted)
{
    ck_assert_msg(trust_alone(draws[_i].consecutive_valid, draws[_i].draw) ==
                      draws[_i].alone,
                  "broken: %s", draws[_i].promise);
}
END_TEST

static const struct {
    const char *promise;
    int app, target, quorum;
    bool replicates, unconfirmed;
} limits[] = {
    {"no adaptive replication: as it was made", 0,  1, 1, false, false},
    {"an app's target of 1 is none",            1,  1, 1, false, false},
    {"nor is one below 0",                      -2, 1, 1, false, false},
    {"a single job is done twice",              2,  1, 1, true,  true },
    {"a replicated one is left as it is",       2,  2, 2, false, false},
    {"a quorum of one is raised to the target", 2,  2, 1, true,  false},
    {"more instances than that stay",           2,  3, 3, false, false},
};

START_TEST(a_job_is_replicated)
{
    const struct app app = {.target_nresults = limits[_i].app};

    ck_assert_msg(trust_replicates(&app, limits[_i].target,
                                   limits[_i].quorum) == limits[_i].replicates,
                  "broken: %s", limits[_i].promise);
    ck_assert_msg(trust_unconfirmed(limits[_i].app, limits[_i].target) ==
                      limits[_i].unconfirmed,
                  "broken: %s", limits[_i].promise);
}
END_TEST

static const struct {
    const char *promise;
    double n, turnaround;
    int valid, max_jobs;
    double max_turnaround;
    int quota;
    double factor;
    bool reliable;
} hosts[] = {
    {"fast, right and with its full quota",   11, 1000, 10, 50, 1000, 50, 1,
     true                                                                           },
    {"a second too slow",                     11, 1001, 10, 50, 1000, 50, 1,   false},
    {"a slow kind of computer has longer",    11, 1800, 10, 50, 1000, 50, 1.8,
     true                                                                           },
    {"ten results do not tell how fast",      10, 9999, 10, 50, 1000, 50, 1,   true },
    {"where nobody asks how fast, any is",    11, 9999, 10, 50, 0,    50, 1,   true },
    {"nine valid results are too few",        11, 1000, 9,  50, 1000, 50, 1,   false},
    {"one that has lost of its quota is not", 11, 1000, 10, 49, 1000, 50, 1,
     false                                                                          },
    {"where nobody counts, nothing is lost",  11, 1000, 10, 0,  1000, 0,  1,   true },
    {"a turnaround that is no number is bad", 11, NAN,  10, 50, 1000, 50, 1,
     false                                                                          },
};

START_TEST(a_host_is_reliable)
{
    const struct host_app_version hav = {
        .turnaround_n = hosts[_i].n,
        .turnaround_avg = hosts[_i].turnaround,
        .consecutive_valid = hosts[_i].valid,
        .max_jobs_per_day = hosts[_i].max_jobs,
    };
    const struct trust_limits limit = {
        .max_avg_turnaround = hosts[_i].max_turnaround,
        .daily_result_quota = hosts[_i].quota,
        .turnaround_factor = hosts[_i].factor,
    };

    ck_assert_msg(trust_reliable(&hav, &limit) == hosts[_i].reliable,
                  "broken: %s", hosts[_i].promise);
}
END_TEST

static const struct {
    const char *os, *vendor;
    double factor;
} kinds[] = {
    {"Microsoft Windows 11", "GenuineIntel",    1  },
    {"Linux Debian",         "AuthenticAMD",    1  },
    {"Darwin",               "Apple",           1  },
    {"Darwin",               "Power Macintosh", 1.8},
    {"Android",              "ARM",             1.8},
    {"",                     "",                1.8},
};

START_TEST(slow_kinds_have_longer)
{
    struct host host = {0};

    memcpy(host.os_name, kinds[_i].os, strlen(kinds[_i].os));
    memcpy(host.p_vendor, kinds[_i].vendor, strlen(kinds[_i].vendor));
    ck_assert_double_eq_tol(trust_turnaround_factor(&host), kinds[_i].factor,
                            1e-12);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("trust");
    TCase *tc = tcase_create("hosts");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tc, a_host_is_trusted, 0, ARRAY_LEN(draws));
    tcase_add_loop_test(tc, a_job_is_replicated, 0, ARRAY_LEN(limits));
    tcase_add_loop_test(tc, a_host_is_reliable, 0, ARRAY_LEN(hosts));
    tcase_add_loop_test(tc, slow_kinds_have_longer, 0, ARRAY_LEN(kinds));
    suite_add_tcase(s, tc);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
