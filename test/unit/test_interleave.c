/* test_interleave.c - shares of slots, classes of jobs, and what a list of
 * hosts says: dispatch §1.1, §2.4, §2.5. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "census.h"
#include "interleave.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
    const char *promise;
    double weight[4];
    const char *dry; /* 'd' where a stream is dry */
    const char *want;
} spec[] = {
    {"equal weights take turns",            {1, 1, 1},    "...",  "abcabcabc"},
    {"twice the weight, twice the slots",   {2, 1},       "..",   "abaabaaba"},
    {"a weight of 0 gets none",             {0, 1, 0, 1}, "....", "bdbdbd"   },
    {"all of weight 0: all count 1",        {0, 0},       "..",   "ababab"   },
    {"-1 counts as 1",                      {-1, 1},      "..",   "ababab"   },
    {"-1 among zeros is the only one",      {-1, 0},      "..",   "aaaa"     },
    {"any other below 0 gets none",         {-2, 1},      "..",   "bbbb"     },
    {"no number gets none",                 {NAN, 1},     "..",   "bbbb"     },
    {"an app without work lends its slots", {8, 1, 1},    "d..",  "bcbcbc"   },
    {"to one of weight 0 it does not",      {1, 0},       "d.",   "-"        },
    {"nobody has work",                     {1, 1},       "dd",   "-"        },
    {"fractions",                           {0.5, 0.25},  "..",   "abaabaaba"},
};

START_TEST(slots_go_by_weight)
{
    struct share share[4];
    size_t n = strlen(spec[_i].dry);

    for (size_t i = 0; i < n; i++)
        share[i].weight = spec[_i].weight[i];
    interleave_begin(share, n);
    for (size_t i = 0; i < n; i++)
        share[i].dry = spec[_i].dry[i] == 'd';
    for (const char *want = spec[_i].want; *want != '\0'; want++) {
        ptrdiff_t got = interleave_next(share, n);
        char c = got < 0 ? '-' : (char)('a' + got);

        ck_assert_msg(c == *want, "%s: got %c at %s", spec[_i].promise, c,
                      want);
    }
}
END_TEST

START_TEST(what_a_stream_holds_counts)
{
    struct share share[2] = {{.weight = 1}, {.weight = 1}};

    interleave_begin(share, 2);
    interleave_holds(&share[0], 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(interleave_next(share, 2), 1);
    ck_assert_int_eq(interleave_next(share, 2), 0);
    ck_assert_int_eq(interleave_next(share, 2), 1);
}
END_TEST

START_TEST(what_was_lent_is_not_owed)
{
    struct share share[2] = {{.weight = 1}, {.weight = 1}};
    int of_first = 0;

    interleave_begin(share, 2);
    share[0].dry = true;
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(interleave_next(share, 2), 1);
    share[0].dry = false;
    for (int i = 0; i < 10; i++)
        of_first += interleave_next(share, 2) == 0;
    ck_assert_int_le(of_first, 6); /* half of them, and one it waited for */
    ck_assert_int_ge(of_first, 5);
}
END_TEST

START_TEST(half_the_hr_slots_are_uncommitted)
{
    static const double credit[] = {300, 100, 0};
    size_t slots[4];

    interleave_hr(credit, 3, 80, slots);
    ck_assert_uint_eq(slots[0], 40);
    ck_assert_uint_eq(slots[1], 30); /* 40 x 3/4 */
    ck_assert_uint_eq(slots[2], 10);
    ck_assert_uint_eq(slots[3], 1); /* the least */
    interleave_hr(credit, 3, 1, slots);
    ck_assert_uint_eq(slots[0], 1);
    ck_assert_uint_eq(slots[1], 1);
}
END_TEST

/* ---- classes --------------------------------------------------------------
 */

static const struct sendable base = {
    .appid = 3,
    .size_class = -1,
    .delay_bound = 86400,
    .rsc_fpops_est = 1e14,
    .rsc_memory_bound = 1.5e9,
    .rsc_disk_bound = 1.5e9,
};

START_TEST(what_makes_jobs_alike)
{
    struct sendable j = base;

    j.result_id = 99;
    j.wu_id = 98;
    j.priority = 5;
    j.batch = 7;
    j.user_id = 8;
    j.rsc_memory_bound = 1.9e9; /* both in 2^30 … 2^31 */
    ck_assert_uint_eq(feasibility_class(&j), feasibility_class(&base));
}
END_TEST

START_TEST(what_parts_them)
{
    struct sendable other[8];

    for (size_t i = 0; i < ARRAY_LEN(other); i++)
        other[i] = base;
    other[0].appid = 4;
    other[1].size_class = 0;
    other[2].hr_class = 258;
    other[3].app_version_id = 1;
    other[4].app_version_num = 100;
    other[5].rsc_memory_bound = 3e9;
    other[6].rsc_disk_bound = 1e12;
    other[7].delay_bound = 3600;
    for (size_t i = 0; i < ARRAY_LEN(other); i++)
        ck_assert_msg(feasibility_class(&other[i]) != feasibility_class(&base),
                      "%zu", i);
}
END_TEST

START_TEST(strange_numbers_have_a_class)
{
    struct sendable j = base, same = base;

    j.rsc_memory_bound = NAN;
    same.rsc_memory_bound = -1;
    ck_assert_uint_eq(feasibility_class(&j), feasibility_class(&same));
    j.delay_bound = 0;
    j.rsc_fpops_est = INFINITY;
    feasibility_class(&j);
}
END_TEST

/* ---- census ---------------------------------------------------------------
 */

START_TEST(nine_hosts_say_nothing)
{
    double flops[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct host_speeds s;

    census_speeds(flops, 9, &s);
    ck_assert_double_eq(s.mean, 2.2e9);
    ck_assert_double_eq(s.stddev, 0.7e9);
    ck_assert_double_eq(s.median, 3.3e9);
    ck_assert_double_eq(s.percentile95, 3.3e9);
}
END_TEST

START_TEST(speeds_of_hosts)
{
    double flops[100];
    struct host_speeds s;

    for (int i = 0; i < 100; i++)
        flops[i] = 100 - i; /* 1 … 100: mean 50.5, variance (100^2 - 1)/12 */
    census_speeds(flops, 100, &s);
    ck_assert_double_eq_tol(s.mean, 50.5, 1e-9);
    ck_assert_double_eq_tol(s.stddev, sqrt(9999 / 12.), 1e-9);
    ck_assert_double_eq(s.median, 51);       /* 50 are below it */
    ck_assert_double_eq(s.percentile95, 96); /* 95 are below it */
}
END_TEST

START_TEST(quantiles_part_hosts_equally)
{
    double speed[8] = {8, 7, 6, 5, 4, 3, 2, 1}, q[3];

    ck_assert(census_quantiles(speed, 8, 4, q));
    ck_assert_double_eq(q[0], 3); /* 1, 2 below */
    ck_assert_double_eq(q[1], 5);
    ck_assert_double_eq(q[2], 7);
    ck_assert(!census_quantiles(speed, 3, 4, q));
    ck_assert(!census_quantiles(speed, 0, 0, q));
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("interleave");
    TCase *tc = tcase_create("interleave");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tc, slots_go_by_weight, 0, ARRAY_LEN(spec));
    tcase_add_test(tc, what_a_stream_holds_counts);
    tcase_add_test(tc, what_was_lent_is_not_owed);
    tcase_add_test(tc, half_the_hr_slots_are_uncommitted);
    tcase_add_test(tc, what_makes_jobs_alike);
    tcase_add_test(tc, what_parts_them);
    tcase_add_test(tc, strange_numbers_have_a_class);
    tcase_add_test(tc, nine_hosts_say_nothing);
    tcase_add_test(tc, speeds_of_hosts);
    tcase_add_test(tc, quantiles_part_hosts_equally);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
