/* test_score.c - the order of jobs that may be sent: dispatch §9.1, §9.2. */
#include "score.h"

#include "rules.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define NO_SIZE .job_size = -1, .host_size = -1

/* clang-format off */
static const struct {
    const char *promise;
    struct score_facts facts;
    double score, pass;
} spec[] = {
    {"a plain job",            {NO_SIZE},                                 0,   1},
    {"its priority",           {NO_SIZE, .priority = 7},                  7,   1},
    {"… below nothing",      {NO_SIZE, .priority = -3},                 -3,  1},
    {"for a fast host",        {NO_SIZE, .accelerated = true},            10,  1},
    {"a test application",     {NO_SIZE, .beta = true},                   1,   4},
    {"not of a selected app",  {NO_SIZE, .not_preferred = true},          -1,  0},
    {"refused by others",      {NO_SIZE, .was_infeasible = true},         1,   3},
    {"for reliable hosts",     {NO_SIZE, .need_reliable = true},          0,   5},
    {"whose file is there",    {NO_SIZE, .has_file = true},               10,  2},
    {"of the host's size",     {.job_size = 2, .host_size = 2},           5,   1},
    {"too large for the host", {.job_size = 2, .host_size = 1},           -2,  1},
    {"too small for the host", {.job_size = 0, .host_size = 1},           -1,  1},
    {"no size of its own",     {.job_size = -1, .host_size = 1},          0,   1},
    {"sizes do not count",     {.job_size = 1, .host_size = -1},          0,   1},
    {"three liked keywords",   {NO_SIZE, .keywords = 3},                  3,   1},
    {"all together",
     {.priority = 100, .accelerated = true, .beta = true, .was_infeasible = true,
      .has_file = true, .job_size = 1, .host_size = 1, .keywords = 2},    129, 4},
};
/* clang-format on */

START_TEST(score_is_the_sum)
{
    ck_assert_msg(score(&spec[_i].facts) == spec[_i].score, "broken: %s (%g)",
                  spec[_i].promise, score(&spec[_i].facts));
    ck_assert_msg(score_of_pass(&spec[_i].facts) == spec[_i].pass,
                  "pass of: %s (%g)", spec[_i].promise,
                  score_of_pass(&spec[_i].facts));
}
END_TEST

static const struct {
    double speed;
    int want;
} sizes[] = {
    {0,   0},
    {1e9, 0},
    {2e9, 1}, /* a quantile itself is of the next class */
    {3e9, 1},
    {4e9, 2},
    {9e9, 2},
    {NAN, 2},
};

START_TEST(host_has_a_size)
{
    const double quantile[] = {2e9, 4e9};

    ck_assert_int_eq(score_host_size(sizes[_i].speed, quantile, 2),
                     sizes[_i].want);
}
END_TEST

/* Two quantiles, 2 and 4 GFLOPS: three classes. */
static const struct app sized_app = {
    .n_size_classes = 3,
    .n_size_quantiles = 2,
    .size_quantile = {2e9, 4e9},
};
static const struct app plain_app = {.n_size_classes = 3};

static const struct {
    const char *promise;
    const struct app *app;
    enum proc_type type;
    double flops;
    int want;
} offers[] = {
    {"half of 3.9 GFLOPS is below the first quantile", &sized_app, PROC_CPU,
     3.9e9,                                                                           0 },
    {"half of 4 is the first quantile",                &sized_app, PROC_CPU,    4e9,  1 },
    {"half of 8 is the last one",                      &sized_app, PROC_CPU,    8e9,  2 },
    {"GPUs have a time of their own: a quarter of 8",  &sized_app, PROC_NVIDIA,
     8e9,                                                                             1 },
    {"… and of 16",                                  &sized_app, PROC_NVIDIA, 16e9, 2 },
    {"without quantiles there is no size",             &plain_app, PROC_CPU,    4e9,  -1},
    {"nor without an app",                             NULL,       PROC_CPU,    4e9,  -1},
};

START_TEST(size_is_speed_times_availability)
{
    const struct offer_host host = {.available_frac = 0.5,
                                    .gpu_available_frac = 0.25};
    const struct offer offer = {.app = offers[_i].app,
                                .host = &host,
                                .type = offers[_i].type,
                                .flops = offers[_i].flops};

    ck_assert_msg(score_offer_size(&offer) == offers[_i].want,
                  "broken: %s (%d)", offers[_i].promise,
                  score_offer_size(&offer));
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("score");
    TCase *tc = tcase_create("order");
    SRunner *runner = srunner_create(s);
    int failed;

    tcase_add_loop_test(tc, score_is_the_sum, 0, ARRAY_LEN(spec));
    tcase_add_loop_test(tc, host_has_a_size, 0, ARRAY_LEN(sizes));
    tcase_add_loop_test(tc, size_is_speed_times_availability, 0,
                        ARRAY_LEN(offers));
    suite_add_tcase(s, tc);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
