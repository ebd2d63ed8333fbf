/* test_credit.c - granted credit and decaying averages: lifecycle §5.1, §5.8.
 */
#include "credit.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define NEAR 1e-9 /* relative */
#define WEEK 604800.0
#define NOW 1.7e9
#define MAX 73e6

static bool
is_near(double got, double want)
{
    return fabs(got - want) <= NEAR * fmax(1, fabs(want));
}

static bool
is_sane(double x)
{
    return isfinite(x) && x >= 0;
}

/* 200 credits are a day of 1e9 FLOPS = 8.64e13 FLOP; so 4.32e11 FLOP are 1. */
static const struct {
    const char *promise;
    double preset, fpops_est, max, want;
} wu_spec[] = {
    {"the preset credit",              5,        8.64e13, MAX,  5   },
    {"else a day of 1 GFLOPS is 200",  0,        8.64e13, MAX,  200 },
    {"and 4.32e11 FLOP are 1",         0,        4.32e11, MAX,  1   },
    {"just below the cap",             999,      0,       1000, 999 },
    {"exactly the cap",                1e3,      0,       1000, 1000},
    {"above the cap",                  1e4,      0,       1000, 1000},
    {"an absurd estimate is capped",   0,        1e30,    1000, 1000},
    {"no estimate, no credit",         0,        0,       MAX,  0   },
    {"a negative estimate, no credit", 0,        -1e12,   MAX,  0   },
    {"a negative preset is none",      -7,       8.64e13, MAX,  200 },
    {"a preset that is no number",     NAN,      8.64e13, MAX,  200 },
    {"an endless preset",              INFINITY, 8.64e13, MAX,  200 },
    {"a cap of nothing",               5,        8.64e13, 0,    0   },
    {"a negative cap",                 5,        8.64e13, -1,   0   },
    {"a cap that is no number: ours",  1e9,      0,       NAN,  73e6},
};

START_TEST(credit_from_workunit)
{
    double got = credit_from_wu(wu_spec[_i].preset, wu_spec[_i].fpops_est,
                                wu_spec[_i].max);

    ck_assert_msg(is_near(got, wu_spec[_i].want), "broken: %s (%g)",
                  wu_spec[_i].promise, got);
}
END_TEST

static const struct {
    const char *promise;
    double flops, elapsed, bound, max, want;
} runtime_spec[] = {
    {"an hour of 1.2 GFLOPS is 10",        1.2e9, 3600,     1e15,    MAX, 10 },
    {"1e9 exactly is 4.3e9, not measured", 1e9,   86400,    1e15,    MAX, 860},
    {"near 1e9 is what it says",           1.5e9, 86400,    1e15,    MAX, 300},
    {"up to twice the bound it counts",    2e9,   86400,    8.64e13, MAX, 400},
    {"above, the bound counts",            2.1e9, 86400,    8.64e13, MAX, 200},
    {"exactly the cap is kept",            1.2e9, 3600,     1e15,    10,  10 },
    {"above the cap it is not used",       1.2e9, 3600,     1e15,    9.9, 0  },
    {"no time, no credit",                 1.2e9, 0,        1e15,    MAX, 0  },
    {"negative time, no credit",           1.2e9, -5,       1e15,    MAX, 0  },
    {"no speed, no credit",                0,     3600,     1e15,    MAX, 0  },
    {"no bound, no credit",                1.2e9, 3600,     0,       MAX, 0  },
    {"time without end",                   1.2e9, INFINITY, 1e15,    MAX, 0  },
    {"speed that is no number",            NAN,   3600,     1e15,    MAX, 0  },
    {"a product without end: the bound",   1e300, 1e300,    8.64e13, MAX, 200},
};

START_TEST(credit_from_run_time)
{
    double got =
        credit_from_runtime(runtime_spec[_i].flops, runtime_spec[_i].elapsed,
                            runtime_spec[_i].bound, runtime_spec[_i].max);

    ck_assert_msg(is_near(got, runtime_spec[_i].want), "broken: %s (%g)",
                  runtime_spec[_i].promise, got);
}
END_TEST

/* Σ x(S-x) / ((n-1)·S) by hand. */
static const struct {
    const char *promise;
    int n;
    double x[3];
    double want;
} average_spec[] = {
    {"none",                    0, {0},            0             },
    {"one is itself",           1, {7},            7             },
    {"two alike",               2, {4, 4},         4             },
    {"1, 3: (1·3 + 3·1) / 4", 2, {1, 3},         1.5           },
    {"1, 2, 3: (5+8+9) / 12",   3, {1, 2, 3},      22.0 / 12     },
    {"one cheat among three",   3, {10, 10, 1000}, 40200.0 / 2040},
    {"all nothing",             2, {0, 0},         0             },
    {"nothing and something",   2, {0, 8},         0             },
    {"what is no number is 0",  2, {NAN, 8},       0             },
};

START_TEST(low_average)
{
    double got = credit_low_average(average_spec[_i].x, average_spec[_i].n);

    ck_assert_msg(is_near(got, average_spec[_i].want), "broken: %s (%g)",
                  average_spec[_i].promise, got);
}
END_TEST

#define LN2 0.69314718055994530942

/* Credit per day, half-life a week. */
static const struct {
    const char *promise;
    double last, start, credit, avg, want;
} decay_spec[] = {
    {"first credit: over the time it took",  0,              NOW - 86400, 70, 0,  70           },
    {"half a day for it: twice as much",     0,              NOW - 43200, 70, 0,  140          },
    {"first look without credit: nothing",   0,              NOW - 86400, 0,  0,  0            },
    {"a week without credit halves",         NOW - WEEK,     NOW,         0,  80, 40           },
    {"two weeks quarter",                    NOW - 2 * WEEK, NOW,         0,  80, 20           },
    {"a week with 10 a day holds 10",        NOW - WEEK,     NOW,         70, 10, 10           },
    {"from nothing: half of the rate",       NOW - WEEK,     NOW,         70, 0,  5            },
    {"two at once: ln 2 / 7 days of it",     NOW,            NOW,         70, 10, 10 + 10 * LN2},
    {"a clock that went back counts as now", NOW + 500,      NOW,         70, 10,
     10 + 10 * LN2                                                                             },
    {"begun this second: no time to divide", 0,              NOW,         70, 0,  10 * LN2     },
    {"begun in the future: the same",        0,              NOW + 1000,  70, 0,  10 * LN2     },
    {"an age ago: nothing is left",          1,              NOW,         0,  80, 0            },
};

START_TEST(average_decays)
{
    double avg = decay_spec[_i].avg;
    double when = decay_spec[_i].last;

    credit_update_average(NOW, decay_spec[_i].start, decay_spec[_i].credit,
                          CREDIT_HALF_LIFE, &avg, &when);
    ck_assert_msg(is_near(avg, decay_spec[_i].want), "broken: %s (%.12g)",
                  decay_spec[_i].promise, avg);
    ck_assert(when == NOW);
}
END_TEST

START_TEST(odd_numbers_do_no_harm)
{
    static const double odd[] = {0,     1,         -1,     NAN, INFINITY,
                                 1e308, -INFINITY, 1e-308, NOW, 4e9};
    const size_t n = ARRAY_LEN(odd);

    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            for (size_t c = 0; c < n; c++)
                for (size_t d = 0; d < n; d++) {
                    double pair[] = {odd[a], odd[b]};
                    double avg = odd[c];
                    double when = odd[d];

                    credit_update_average(NOW, odd[a], odd[b], CREDIT_HALF_LIFE,
                                          &avg, &when);
                    ck_assert(is_sane(avg) && is_sane(when));
                    ck_assert(is_sane(credit_from_wu(odd[a], odd[b], odd[c])));
                    ck_assert(is_sane(
                        credit_from_runtime(odd[a], odd[b], odd[c], odd[d])));
                    ck_assert(is_sane(credit_low_average(pair, 2)));
                }
}
END_TEST

static Suite *
credit_suite(void)
{
    Suite *s = suite_create("credit");
    TCase *tc = tcase_create("credit");

    tcase_add_loop_test(tc, credit_from_workunit, 0, ARRAY_LEN(wu_spec));
    tcase_add_loop_test(tc, credit_from_run_time, 0, ARRAY_LEN(runtime_spec));
    tcase_add_loop_test(tc, low_average, 0, ARRAY_LEN(average_spec));
    tcase_add_loop_test(tc, average_decays, 0, ARRAY_LEN(decay_spec));
    tcase_add_test(tc, odd_numbers_do_no_harm);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    SRunner *runner = srunner_create(credit_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
