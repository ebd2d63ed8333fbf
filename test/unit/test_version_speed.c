/* test_version_speed.c - which of several versions is the fastest, and how fast
 * it is said to be: dispatch §7. */
#include "version.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define LINUX64 11
#define HOST_FLOPS 1e9

static const struct version_platform platforms[] = {
    {LINUX64, true}
};
static const struct app app = {.id = 3};

static struct version_query
query(const struct version_on_host *on)
{
    return (struct version_query){
        .app = &app,
        .platforms = platforms,
        .n_platforms = ARRAY_LEN(platforms),
        .on_host = on,
        .client_version = 72005,
        .cap_plan_class = true,
        .any_type = true,
        .flops_per_cpu = HOST_FLOPS,
        .ncpus = 4,
        .random_factor = 1,
    };
}

/* ---- how fast is one? -----------------------------------------------------
 */

/* A GPU version: the class promises 2e10 FLOPS, its peak is 1e11. */
static const struct host_usage gpu = {
    .type = PROC_NVIDIA,
    .avg_ncpus = 0.5,
    .gpu_usage = 2,
    .projected_flops = 2e10,
    .peak_flops = 1e11,
};

static const struct {
    const char *promise;
    bool no_stats, by_hav_pfc;
    double et_n, et_avg, hav_pfc; /* of the host */
    double pfc_n, pfc_avg;        /* of the version */
    double want;
} flops_spec[] = {
    {"nothing known: one GPU is worth ten CPUs",           false, false, 0,  0,     0, 0,   0,
     20.5e9                                                                                          },
    {"10 jobs of the host are too few to believe in",      false, false, 10, 1e-10,
     0,                                                                                0,   0, 20.5e9},
    {"11 are enough: 1e-10 s for each FLOP is 1e10 FLOPS", false, false, 11,
     1e-10,                                                                         0, 0,   0, 1e10  },
    {"nobody is more than 250 times faster than promised", false, false, 11,
     1e-13,                                                                         0, 0,   0, 5e12  },
    {"250 times is possible",                              false, false, 11, 2e-13, 0, 0,   0, 5e12  },
    {"no time at all is no measurement",                   false, false, 11, 0,     0, 0,   0, 20.5e9},
    {"by efficiency if configured: a fifth of the peak",   false, true,  11, 1e-10,
     5,                                                                                0,   0, 2e10  },
    {"100 jobs of all hosts are too few",                  false, false, 0,  0,     0, 100, 4,
     20.5e9                                                                                          },
    {"101 are enough: a quarter of the peak",              false, false, 0,  0,     0, 101, 4,
     2.5e10                                                                                          },
    {"the host's own count more",                          false, false, 11, 1e-10, 0, 101, 4, 1e10  },
    {"rte_no_stats: nothing is believed",                  true,  false, 11, 1e-10, 0, 101, 4,
     20.5e9                                                                                          },
};

START_TEST(speed_of_one)
{
    const struct app_version v = {.pfc_n = flops_spec[_i].pfc_n,
                                  .pfc_avg = flops_spec[_i].pfc_avg};
    const struct host_app_version hav = {.et_n = flops_spec[_i].et_n,
                                         .et_avg = flops_spec[_i].et_avg,
                                         .pfc_avg = flops_spec[_i].hav_pfc};
    struct version_query q = query(NULL);
    double got;

    q.rte_no_stats = flops_spec[_i].no_stats;
    q.estimate_flops_from_hav_pfc = flops_spec[_i].by_hav_pfc;
    got = version_flops(&q, &v, &gpu, &hav);
    ck_assert_msg(fabs(got / flops_spec[_i].want - 1) < 1e-9, "broken: %s (%g)",
                  flops_spec[_i].promise, got);
}
END_TEST

START_TEST(a_host_without_statistics_or_benchmark)
{
    const struct app_version v = {.id = 1};
    struct version_query q = query(NULL);

    q.flops_per_cpu = 0;
    ck_assert_double_eq(version_flops(&q, &v, &gpu, NULL), 20.5e9);
    q.flops_per_cpu = NAN;
    ck_assert_double_eq(version_flops(&q, &v, &gpu, NULL), 20.5e9);
}
END_TEST

/* ---- which of two? --------------------------------------------------------
 */

/* [0] has no class: 1e9 FLOPS.  [1] is of a class that promises 2e9. */
static const struct app_version two[] = {
    {.id = 1,    .appid = 3, .platformid = LINUX64, .version_num = 100},
    { .id = 2,
     .appid = 3,
     .platformid = LINUX64,
     .version_num = 100,
     .plan_class = "sse3"},
};

static const struct plan_class_verdict sse3 = {
    .refusal = PLAN_CLASS_OK,
    .usage = {.avg_ncpus = 1, .projected_flops = 2e9, .peak_flops = 2e9},
};

/* What the host knows of [1]; [0] has no statistics. */
static const struct {
    const char *promise;
    struct host_app_version hav;
    double normal0, normal1, uniform1, factor;
    ptrdiff_t want;
} compare_spec[] = {
    {"the one that promises more",                                         {.et_n = 0}, 0,   0,   0, 1, 1},
    {"chance may say otherwise: 1e9 x 2.1 against 2e9",
     {.et_n = 0},
     1.1,                                                                                    0,
     0,                                                                                              1,
     0                                                                                                   },
    {"but not without reason: 1e9 x 1.9",                                  {.et_n = 0}, 0.9, 0,   0, 1, 1},
    {"and not if it is switched off",                                      {.et_n = 0}, 1.1, 0,   0, 0, 1},
    {"chance takes no more than nine tenths: 2e9 x 0.1 against 1e9 x 0.1",
     {.et_n = 0},
     -50,
     -50,
     0,                                                                                              1,
     1                                                                                                   },
 /* (0.5e9 x 3 + 2e9) / 4 = 0.875e9 */
    {"experience replaces promise: four jobs at 0.5e9 FLOPS",
     {.pfc_n = 4, .et_n = 11, .et_avg = 2e-9},
     0,                                                                                      0,
     0,                                                                                              1,
     0                                                                                                   },
 /* (0.5e9 x 1 + 2e9) / 2 = 1.25e9 */
    {"bit by bit: two jobs leave half of the promise",
     {.pfc_n = 2, .et_n = 11, .et_avg = 2e-9},
     0,                                                                                      0,
     0,                                                                                              1,
     1                                                                                                   },
 /* 100 jobs at 1.5e9: 1.505e9 x (1 - 10/100) = 1.35e9 */
    {"who is well known is hardly moved by chance",
     {.pfc_n = 100, .et_n = 11, .et_avg = 1 / 1.5e9},
     0,                                                                                      -10,
     0,                                                                                              1,
     1                                                                                                   },
    {"one that never worked is avoided: 2e9 x 0.01",
     {.max_jobs_per_day = 1},
     0,                                                                                      0,
     0.01,                                                                                           1,
     0                                                                                                   },
    {"but for one time in a hundred",
     {.max_jobs_per_day = 1},
     0,                                                                                      0,
     0.0099,                                                                                         1,
     1                                                                                                   },
    {"not one that has two jobs a day",
     {.max_jobs_per_day = 2},
     0,                                                                                      0,
     0.5,                                                                                            1,
     1                                                                                                   },
    {"nor one that has returned something right",
     {.max_jobs_per_day = 1, .consecutive_valid = 1},
     0,                                                                                      0,
     0.5,                                                                                            1,
     1                                                                                                   },
};

START_TEST(fastest_of_two)
{
    const struct version_on_host on[] = {
        {.normal = compare_spec[_i].normal0  },
        { .verdict = &sse3,
         .hav = &compare_spec[_i].hav,
         .normal = compare_spec[_i].normal1,
         .uniform = compare_spec[_i].uniform1},
    };
    struct version_query q = query(on);
    struct version_choice got;

    q.random_factor = compare_spec[_i].factor;
    version_choose(&q, two, ARRAY_LEN(two), &got);
    ck_assert_msg(got.index == compare_spec[_i].want, "broken: %s",
                  compare_spec[_i].promise);
}
END_TEST

START_TEST(chance_is_not_told)
{
    const struct version_on_host on[] = {{.normal = 7}, {.verdict = &sse3}};
    const struct version_query q = query(on);
    struct version_choice got;

    version_choose(&q, two, ARRAY_LEN(two), &got);
    ck_assert_int_eq(got.index, 0);
    ck_assert_double_eq(got.usage.projected_flops, 1e9);
    ck_assert_double_eq(got.usage.peak_flops, 1e9);
}
END_TEST

/* The first platform's, unless another is faster. */
START_TEST(primary_platform)
{
    static const struct version_platform both[] = {
        {LINUX64, true},
        {12,      true}
    };
    static const struct app_version v[] = {
        {.id = 1,    .appid = 3, .platformid = LINUX64, .version_num = 100},
        { .id = 2,
         .appid = 3,
         .platformid = 12,
         .version_num = 100,
         .plan_class = "sse3"},
    };
    const struct version_on_host on[] = {{.normal = 0}, {.verdict = &sse3}};
    struct version_query q = query(on);
    struct version_choice got;

    q.platforms = both;
    q.n_platforms = 2;
    version_choose(&q, v, 2, &got);
    ck_assert_int_eq(got.index, 1);
    q.prefer_primary_platform = true;
    version_choose(&q, v, 2, &got);
    ck_assert_int_eq(got.index, 0);
    q.on_host = on + 1;
    version_choose(&q, v + 1, 1, &got); /* none there: the next platform's */
    ck_assert_int_eq(got.index, 0);
}
END_TEST

static Suite *
version_speed_suite(void)
{
    Suite *s = suite_create("version_speed");
    TCase *tc = tcase_create("speed");

    tcase_add_loop_test(tc, speed_of_one, 0, ARRAY_LEN(flops_spec));
    tcase_add_test(tc, a_host_without_statistics_or_benchmark);
    tcase_add_loop_test(tc, fastest_of_two, 0, ARRAY_LEN(compare_spec));
    tcase_add_test(tc, chance_is_not_told);
    tcase_add_test(tc, primary_platform);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    SRunner *runner = srunner_create(version_speed_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
