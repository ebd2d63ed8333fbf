/* test_average.c - running averages of samples: lifecycle §5.2, and the numbers
 * of docs/credit.md. */
#include "average.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define NEAR 1e-12

static const struct {
    const char *promise;
    const struct average_rule *rule;
    double n, avg, x, want_n, want;
} spec[] = {
    {"the first sample is the average",        &average_of_host,    0,        0,   7,        1,   7          },
    {"a second makes the mean",                &average_of_host,    1,        10,  20,       2,   15         },
    {"one of nothing counts",                  &average_of_host,    1,        10,  0,        2,   5          },
    {"at most ten times the average counts",   &average_of_host,    1,        10,  1e6,      2,
     55                                                                                                      },
    {"exactly ten times is whole",             &average_of_host,    1,        10,  100,      2,   55         },
    {"an average of 0 limits nothing",         &average_of_host,    1,        0,   1e6,      2,   5e5        },
    {"the 19th of a host: 10 + (29 - 10)/19",  &average_of_host,    18,       10,  29,       19,
     11                                                                                                      },
    {"the 20th counts 1 %: 10 + 0.1",          &average_of_host,    19,       10,  20,       20,  10.1       },
    {"so does the 1000th",                     &average_of_host,    999,      10,  20,       1e3, 10.1       },
    {"the 99th of a version: 1 + (10 - 1)/99", &average_of_version, 98,       1,   10,
     99,                                                                                          1 + 9 / 99.},
    {"the 100th counts 0.1 %",                 &average_of_version, 99,       1,   2,        100, 1.001      },
    {"less than nothing is passed over",       &average_of_host,    1,        10,  -1,       1,   10         },
    {"so is what is no number",                &average_of_host,    1,        10,  NAN,      1,   10         },
    {"and what has no end",                    &average_of_host,    1,        10,  INFINITY, 1,   10         },
    {"and what is absurd",                     &average_of_host,    0,        0,   1e101,    0,   0          },
    {"an average that is none begins anew",    &average_of_host,    50,       NAN, 7,        1,   7          },
    {"so does one of endless samples",         &average_of_host,    INFINITY, 10,  7,        1,   7          },
};

START_TEST(takes_a_sample)
{
    double n = spec[_i].n, avg = spec[_i].avg;

    average_add(spec[_i].rule, spec[_i].x, &n, &avg);
    ck_assert_msg(fabs(n - spec[_i].want_n) < NEAR &&
                      fabs(avg - spec[_i].want) < NEAR,
                  "broken: %s (n %g, average %.17g)", spec[_i].promise, n, avg);
}
END_TEST

START_TEST(the_first_samples_have_a_variance)
{
    double n = 0, avg = 0, var = 0, q = 0;

    average_add_spread(&average_of_host, 10, &n, &avg, &var, &q);
    average_add_spread(&average_of_host, 20, &n, &avg, &var, &q);
    average_add_spread(&average_of_host, 30, &n, &avg, &var, &q);
    /* 10, 20, 30: mean 20, squares 100 + 0 + 100 */
    ck_assert_double_eq_tol(avg, 20, NEAR);
    ck_assert_double_eq_tol(q, 200, NEAR);
    ck_assert_double_eq_tol(var, 200.0 / 3, NEAR);
}
END_TEST

START_TEST(the_later_ones_move_the_variance_by_their_weight)
{
    double n = 30, avg = 10, var = 4, q = 120;

    average_add_spread(&average_of_host, 20, &n, &avg, &var, &q);
    /* d = 10: 4 + 0.01 (100 - 4) */
    ck_assert_double_eq_tol(var, 4.96, NEAR);
    ck_assert_double_eq_tol(avg, 10.1, NEAR);
    ck_assert_double_eq_tol(q, 120, NEAR);
}
END_TEST

START_TEST(odd_numbers_do_no_harm)
{
    static const double odd[] = {0,  1,     -1,    NAN,  INFINITY, 19,
                                 98, 1e308, 1e100, 1e50, -INFINITY};
    const size_t n = ARRAY_LEN(odd);

    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            for (size_t c = 0; c < n; c++)
                for (size_t d = 0; d < n; d++) {
                    double count = odd[a], avg = odd[b], var = odd[c],
                           q = odd[d];

                    for (size_t e = 0; e < n; e++)
                        average_add_spread(&average_of_host, odd[e], &count,
                                           &avg, &var, &q);
                    ck_assert(isfinite(count) && isfinite(avg) &&
                              isfinite(var) && isfinite(q) && avg >= 0);
                }
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("average");
    TCase *tc = tcase_create("samples");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tc, takes_a_sample, 0, ARRAY_LEN(spec));
    tcase_add_test(tc, the_first_samples_have_a_variance);
    tcase_add_test(tc, the_later_ones_move_the_variance_by_their_weight);
    tcase_add_test(tc, odd_numbers_do_no_harm);
    suite_add_tcase(s, tc);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
