/* test_version_limits.c - why there is no version for a job, which reason
 * counts, quotas, 64 bits, pins, and the client's own versions: dispatch §7,
 * §7.1, §8.3. */
#include "version.h"

#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define LINUX64 11
#define LINUX32 12
#define GIGA 1073741824.0

static const struct version_platform platforms[] = {
    {LINUX64, true },
    {LINUX32, false}
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
        .asked = {true, true, false, false, false},
        .flops_per_cpu = 1e9,
        .daily_result_quota = 10,
        .ncpus = 4,
        .ngpus = {0,    2,    0,     0,     0    },
        .gpu_multiplier = 3,
    };
}

/* ---- one version, one thing in its way ------------------------------------
 */

static const struct plan_class_verdict on_gpu = {
    .usage = {.type = PROC_NVIDIA,
              .avg_ncpus = 0.1,
              .gpu_usage = 1,
              .projected_flops = 1e11,
              .peak_flops = 1e12},
};
static const struct plan_class_verdict on_amd = {
    .usage = {.type = PROC_AMD, .gpu_usage = 1, .projected_flops = 1e11},
};
static const struct plan_class_verdict not_here = {
    .refusal = PLAN_CLASS_HOST,
    .why = "needs 4 processors, 2 may be used",
};
/* gets one a day; four a day; is proven */
static const struct host_app_version failing = {.max_jobs_per_day = 1};
static const struct host_app_version middling = {.max_jobs_per_day = 4};
static const struct host_app_version proven = {.max_jobs_per_day = 10,
                                               .consecutive_valid = 10};
static const struct host_app_version almost = {.max_jobs_per_day = 10,
                                               .consecutive_valid = 9};

static void
plain(struct version_query *q)
{
    (void)q;
}
static void
pinned_to_7(struct version_query *q)
{
    q->app_version_num = 7;
}
static void
needs_64(struct version_query *q)
{
    q->needs_64bit = true;
    q->platforms = &platforms[1];
    q->n_platforms = 1;
}
static void
client_6(struct version_query *q)
{
    q->client_version = 61234;
}
static void
no_classes(struct version_query *q)
{
    q->cap_plan_class = false;
}
static void
takes_beta(struct version_query *q)
{
    q->beta_allowed = true;
}
static const struct app a_test = {.id = 3, .beta = true};
static void
of_a_test(struct version_query *q)
{
    q->app = &a_test;
    q->beta_allowed = true; /* test versions, that is */
}
static void
takes_the_test(struct version_query *q)
{
    q->app = &a_test;
    q->test_app_allowed = true;
}
static void
no_gpu(struct version_query *q)
{
    q->excluded[PROC_NVIDIA] = true;
}
static void
hurry(struct version_query *q)
{
    q->reliable_only = true;
}
static void
gpu_limit(struct version_query *q)
{
    q->at_limit[PROC_NVIDIA] = true;
}
static void
no_quota(struct version_query *q)
{
    q->daily_result_quota = 0;
}
static void
old_form(struct version_query *q)
{
    q->any_type = true;
}
static void
anyhow(struct version_query *q)
{
    q->anyhow = true;
}

#define V(num, ...)                                                            \
    {                                                                          \
        .id = 5, .appid = 3, .platformid = LINUX64, .version_num = (num),      \
        __VA_ARGS__                                                            \
    }
#define V32(...)                                                               \
    {                                                                          \
        .id = 5, .appid = 3, .platformid = LINUX32, .version_num = 100,        \
        __VA_ARGS__                                                            \
    }

/* clang-format off */
static const struct {
    const char *promise;
    struct app_version v;
    struct version_on_host on;
    void (*given)(struct version_query *);
    enum version_refusal want;
} refusal_spec[] = {
    {"nothing in its way", V(100, .beta = false), {.normal = 0}, plain, VERSION_OK},
    {"pinned to another number", V(100, .beta = false), {.normal = 0}, pinned_to_7, VERSION_NO_PLATFORM},
    {"pinned to it, though superseded", V(7, .deprecated = true), {.normal = 0}, pinned_to_7, VERSION_OK},
    {"superseded", V(7, .deprecated = true), {.normal = 0}, plain, VERSION_NO_PLATFORM},
    {"32 bits for a job that needs more", V32(.beta = false), {.normal = 0}, needs_64, VERSION_NOT_64_BIT},
    {"for newer clients", V(100, .min_core_version = 70000), {.normal = 0}, client_6, VERSION_CLIENT_TOO_OLD},
    {"for older clients", V(100, .max_core_version = 60000), {.normal = 0}, client_6, VERSION_CLIENT_TOO_NEW},
    {"of a class, for a client that knows none", V(100, .plan_class = "cuda"), {.verdict = &on_gpu}, no_classes, VERSION_CLIENT_TOO_OLD},
    {"a class that does not fit", V(100, .plan_class = "mt"), {.verdict = &not_here}, plain, VERSION_PLAN_CLASS},
    {"a class that nobody asked about", V(100, .plan_class = "mt"), {.normal = 0}, plain, VERSION_PLAN_CLASS},
    {"a class for other jobs", V(100, .plan_class = "cuda"), {.verdict = &on_gpu, .not_for_job = true}, plain, VERSION_PLAN_CLASS},
    {"a class that fits", V(100, .plan_class = "cuda"), {.verdict = &on_gpu}, plain, VERSION_OK},
    {"a test version", V(100, .beta = true), {.normal = 0}, plain, VERSION_BETA},
    {"a test version for one who likes that", V(100, .beta = true), {.normal = 0}, takes_beta, VERSION_OK},
    {"a test application", V(100, .beta = false), {.normal = 0}, of_a_test, VERSION_BETA},
    {"a test application for one who takes it", V(100, .beta = false), {.normal = 0}, takes_the_test, VERSION_OK},
    {"a GPU that preferences exclude", V(100, .plan_class = "cuda"), {.verdict = &on_gpu}, no_gpu, VERSION_EXCLUDED},
    {"a job in a hurry, nothing known", V(100, .beta = false), {.normal = 0}, hurry, VERSION_UNRELIABLE},
    {"a job in a hurry, one valid result too few", V(100, .beta = false), {.hav = &almost}, hurry, VERSION_UNRELIABLE},
    {"a job in a hurry, a proven host", V(100, .beta = false), {.hav = &proven}, hurry, VERSION_OK},
    {"quota of a new host: 10 for each of 4 CPUs, one left", V(100, .beta = false), {.jobs_today = 39}, plain, VERSION_OK},
    {"none left", V(100, .beta = false), {.jobs_today = 40}, plain, VERSION_QUOTA},
    {"4 for each of 4 CPUs, one left", V(100, .beta = false), {.hav = &middling, .jobs_today = 15}, plain, VERSION_OK},
    {"none left", V(100, .beta = false), {.hav = &middling, .jobs_today = 16}, plain, VERSION_QUOTA},
    {"4 for each of 2 GPUs, times 3, one left", V(100, .plan_class = "cuda"), {.verdict = &on_gpu, .hav = &middling, .jobs_today = 23}, plain, VERSION_OK},
    {"none left", V(100, .plan_class = "cuda"), {.verdict = &on_gpu, .hav = &middling, .jobs_today = 24}, plain, VERSION_QUOTA},
    {"one a day is one, however many CPUs", V(100, .beta = false), {.hav = &failing, .jobs_today = 1}, plain, VERSION_QUOTA},
    {"one a day is one", V(100, .beta = false), {.hav = &failing}, plain, VERSION_OK},
    {"no quota: no limit", V(100, .beta = false), {.hav = &failing, .jobs_today = 1000}, no_quota, VERSION_OK},
    {"too many in progress", V(100, .plan_class = "cuda"), {.verdict = &on_gpu}, gpu_limit, VERSION_IN_PROGRESS},
    {"that is the GPU's limit, not the CPU's", V(100, .beta = false), {.normal = 0}, gpu_limit, VERSION_OK},
    {"an AMD GPU, which needs no work", V(100, .plan_class = "ati"), {.verdict = &on_amd}, plain, VERSION_NOT_ASKED},
    {"old clients do not tell processors apart", V(100, .plan_class = "ati"), {.verdict = &on_amd}, old_form, VERSION_OK},
    {"a lost job comes again whatever is asked for", V(100, .plan_class = "ati"), {.verdict = &on_amd}, anyhow, VERSION_OK},
    {"whatever the quota", V(100, .beta = false), {.hav = &failing, .jobs_today = 1}, anyhow, VERSION_OK},
};
/* clang-format on */

START_TEST(one_reason)
{
    struct version_query q = query(&refusal_spec[_i].on);
    struct version_choice got;

    refusal_spec[_i].given(&q);
    version_choose(&q, &refusal_spec[_i].v, 1, &got);
    ck_assert_msg(got.refusal == refusal_spec[_i].want &&
                      (got.index == 0) == (got.refusal == VERSION_OK),
                  "broken: %s (%d)", refusal_spec[_i].promise,
                  (int)got.refusal);
}
END_TEST

START_TEST(the_numbers_of_a_refusal)
{
    const struct app_version cuda = V(100, .plan_class = "cuda");
    struct version_on_host on = {
        .verdict = &on_gpu, .hav = &middling, .jobs_today = 24};
    const struct version_query q = query(&on);
    struct version_choice got;

    version_choose(&q, &cuda, 1, &got);
    ck_assert_int_eq(got.quota, 24);
    on = (struct version_on_host){.verdict = &not_here};
    version_choose(&q, &cuda, 1, &got);
    ck_assert_ptr_eq(got.verdict, &not_here);
    on = (struct version_on_host){.verdict = &on_gpu};
    version_choose(&q, &cuda, 1, &got);
    ck_assert_int_eq(got.version_id, 5);
    ck_assert_int_eq(got.usage.type, PROC_NVIDIA);
    ck_assert_double_eq(got.usage.peak_flops, 1e12);
    ck_assert_double_eq(got.fpops_scale, 1);
}
END_TEST

/* Of several versions, the one that came nearest says why. */
START_TEST(the_nearest_reason)
{
    const struct app_version v[] = {
        V(100, .plan_class = "mt"),        /* does not fit */
        V(100, .plan_class = "ati"),       /* was not asked for */
        V(100, .min_core_version = 80000), /* for newer clients */
    };
    const struct version_on_host on[] = {
        {.verdict = &not_here}, {.verdict = &on_amd}, {.normal = 0}};
    const struct version_query q = query(on);
    struct version_choice got;

    version_choose(&q, v, 3, &got);
    ck_assert_int_eq(got.refusal, VERSION_NOT_ASKED);
    ck_assert_ptr_null(got.verdict);
    version_choose(&q, v, 1, &got);
    ck_assert_int_eq(got.refusal, VERSION_PLAN_CLASS);
}
END_TEST

/* ---- quota ----------------------------------------------------------------
 */

static const struct {
    const char *promise;
    int daily, max;
    enum proc_type type;
    double multiplier;
    int want;
} quota_spec[] = {
    {"0 is without limit",                             0,       1,       PROC_CPU,    1,   0      },
    {"a host that is new gets the whole",              10,      0,       PROC_CPU,    1,   40     },
    {"one is one",                                     10,      1,       PROC_CPU,    1,   1      },
    {"a quota of one is one",                          1,       0,       PROC_CPU,    1,   1      },
    {"two for each of four",                           10,      2,       PROC_CPU,    1,   8      },
    {"what was earned above the quota counts",         10,      12,      PROC_CPU,    1,   48     },
    {"two GPUs, times a half: not less than one each", 10,      2,       PROC_NVIDIA, 0.5,
     4                                                                                            },
    {"no multiplier set: as if it were 1",             10,      2,       PROC_NVIDIA, 0,   4      },
    {"no such GPU: one, at least",                     10,      2,       PROC_AMD,    1,   2      },
    {"no overflow",                                    INT_MAX, INT_MAX, PROC_CPU,    1,   INT_MAX},
};

START_TEST(quota)
{
    struct version_query q = query(NULL);

    q.daily_result_quota = quota_spec[_i].daily;
    q.gpu_multiplier = quota_spec[_i].multiplier;
    ck_assert_msg(version_quota(&q, quota_spec[_i].type, quota_spec[_i].max) ==
                      quota_spec[_i].want,
                  "broken: %s", quota_spec[_i].promise);
}
END_TEST

/* ---- 64 bits --------------------------------------------------------------
 */

static const struct {
    const char *os;
    double space; /* bytes */
} spaces[] = {
    {"Microsoft Windows 11", 2 * GIGA},
    {"Linux Debian",         3 * GIGA},
    {"Darwin",               4 * GIGA},
    {"SunOS",                4 * GIGA},
    {"FreeBSD",              2 * GIGA},
    {"",                     2 * GIGA},
};

START_TEST(address_space)
{
    ck_assert(!version_needs_64bit(spaces[_i].space, spaces[_i].os));
    ck_assert(version_needs_64bit(spaces[_i].space + 1, spaces[_i].os));
}
END_TEST

START_TEST(names_of_64_bit_platforms)
{
    ck_assert(version_platform_is_64bit("x86_64-pc-linux-gnu"));
    ck_assert(version_platform_is_64bit("aarch64-unknown-linux-gnu"));
    ck_assert(version_platform_is_64bit("windows_arm64"));
    ck_assert(!version_platform_is_64bit("windows_intelx86"));
    ck_assert(!version_platform_is_64bit(""));
}
END_TEST

/* ---- one version for all results of a workunit ----------------------------
 */

START_TEST(pinned_to_a_version)
{
    const struct app one = {.id = 3, .homogeneous_app_version = true};
    const struct app_version v[] = {
        V(100, .deprecated = true),
        {.id = 6, .appid = 3, .platformid = LINUX64, .version_num = 101},
        {.id = 7, .appid = 3, .platformid = 99,      .version_num = 101},
    };
    struct version_query q = query(NULL);
    struct version_choice got;

    q.app = &one;
    version_choose(&q, v, 3, &got);
    ck_assert_int_eq(got.version_id, 6); /* not pinned yet */
    q.app_version_id = 5;
    version_choose(&q, v, 3, &got);
    ck_assert_int_eq(got.version_id, 5); /* though superseded */
    q.app_version_id = 7;
    version_choose(&q, v, 3, &got);
    ck_assert_int_eq(got.refusal, VERSION_NO_PLATFORM);
    q.app_version_id = 8; /* gone */
    version_choose(&q, v, 3, &got);
    ck_assert_int_eq(got.refusal, VERSION_NO_PLATFORM);
    q.app = &app; /* a pin of earlier days binds no longer */
    version_choose(&q, v, 3, &got);
    ck_assert_int_eq(got.version_id, 6);
}
END_TEST

/* ---- the client's own -----------------------------------------------------
 */

#define OWN(...)                                                               \
    {                                                                          \
        .appid = 3, .version_num = 300, .is_64bit = true,                      \
        .usage = {.avg_ncpus = 1, .projected_flops = 2e9}, __VA_ARGS__         \
    }

/* 4e9 FLOPS by its jobs; and 1e15, which nobody believes */
static const struct host_app_version fast = {.et_n = 11, .et_avg = 0.25e-9};
static const struct host_app_version ten = {.et_n = 10, .et_avg = 0.25e-9};
static const struct host_app_version wild = {.et_n = 11, .et_avg = 1e-15};

static const struct {
    const char *promise;
    struct version_own own;
    void (*given)(struct version_query *);
    enum version_refusal want;
    double flops, scale;
} own_spec[] = {
    {"as the client says",                            OWN(.jobs_today = 0),  plain,       VERSION_OK,         2e9,  1    },
    {"ten jobs prove nothing",                        OWN(.hav = &ten),      plain,       VERSION_OK,         2e9,  1    },
    {"by its jobs; the client is told half the work", OWN(.hav = &fast),     plain,
     VERSION_OK,                                                                                              4e9,  0.5  },
    {"250 times at most",                             OWN(.hav = &wild),     plain,       VERSION_OK,         5e11, 0.004},
    {"another application",
     {.appid = 4, .version_num = 300},
     plain,                                                                               VERSION_ANONYMOUS,
     0,                                                                                                             1    },
    {"an unknown one",                                {.version_num = 300},  plain,       VERSION_ANONYMOUS,  0,    1    },
    {"32 bits for a job that needs more",
     {.appid = 3, .version_num = 300, .usage = {.avg_ncpus = 1}},
     needs_64,                                                                            VERSION_ANONYMOUS,
     0,                                                                                                             1    },
    {"64 bits do",                                    OWN(.jobs_today = 0),  needs_64,    VERSION_OK,         2e9,  1    },
    {"pinned to another",                             OWN(.jobs_today = 0),  pinned_to_7, VERSION_ANONYMOUS,
     0,                                                                                                             1    },
    {"in a hurry",                                    OWN(.jobs_today = 0),  hurry,       VERSION_UNRELIABLE, 0,    1    },
    {"quota reached",                                 OWN(.jobs_today = 40), plain,       VERSION_QUOTA,      0,    1    },
    {"no speed told: that of a CPU",
     {.appid = 3, .version_num = 300, .usage = {.avg_ncpus = 1}},
     plain,                                                                               VERSION_OK,
     1e9,                                                                                                           1    },
};

START_TEST(own_versions)
{
    struct version_query q = query(NULL);
    struct version_choice got;

    own_spec[_i].given(&q);
    version_choose_own(&q, &own_spec[_i].own, 1, &got);
    ck_assert_msg(got.refusal == own_spec[_i].want &&
                      fabs(got.fpops_scale / own_spec[_i].scale - 1) < 1e-9,
                  "broken: %s (%d, %g)", own_spec[_i].promise, (int)got.refusal,
                  got.fpops_scale);
    if (got.index < 0)
        return;
    ck_assert_msg(got.anonymous && got.version_id == -2 &&
                      fabs(got.usage.projected_flops / own_spec[_i].flops - 1) <
                          1e-9,
                  "broken: %s", own_spec[_i].promise);
}
END_TEST

START_TEST(the_fastest_of_the_own)
{
    const struct version_own own[] = {
        OWN(.jobs_today = 0),
        {.appid = 3,
                           .version_num = 300,
                           .usage = {.type = PROC_NVIDIA,
                   .gpu_usage = 1,
                   .projected_flops = 1e11}},
        OWN(.hav = &fast),
    };
    const struct app old = {.id = 3, .min_version = 301};
    const struct app one = {.id = 3, .homogeneous_app_version = true};
    struct version_query q = query(NULL);
    struct version_choice got;

    version_choose_own(&q, own, 3, &got);
    ck_assert_int_eq(got.index, 1);
    ck_assert_int_eq(got.version_id, -3);
    q.asked[PROC_NVIDIA] = false;
    version_choose_own(&q, own, 3, &got);
    ck_assert_int_eq(got.index, 2);
    q.app = &old;
    version_choose_own(&q, own, 3, &got);
    ck_assert_int_eq(got.refusal, VERSION_ANONYMOUS);
    q.app = &one;
    version_choose_own(&q, own, 3, &got);
    ck_assert_int_eq(got.refusal, VERSION_OWN_PROGRAM);
    version_choose_own(&q, own, 0, &got);
    ck_assert_int_eq(got.index, -1);
}
END_TEST

static Suite *
version_limits_suite(void)
{
    Suite *s = suite_create("version_limits");
    TCase *tc = tcase_create("limits");

    tcase_add_loop_test(tc, one_reason, 0, ARRAY_LEN(refusal_spec));
    tcase_add_test(tc, the_numbers_of_a_refusal);
    tcase_add_test(tc, the_nearest_reason);
    tcase_add_loop_test(tc, quota, 0, ARRAY_LEN(quota_spec));
    tcase_add_loop_test(tc, address_space, 0, ARRAY_LEN(spaces));
    tcase_add_test(tc, names_of_64_bit_platforms);
    tcase_add_test(tc, pinned_to_a_version);
    tcase_add_loop_test(tc, own_versions, 0, ARRAY_LEN(own_spec));
    tcase_add_test(tc, the_fastest_of_the_own);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    SRunner *runner = srunner_create(version_limits_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
