/* test_version.c - the best app version of a job for a host: dispatch §7. */
#include "version.h"

#include <check.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MAX_VERSIONS 4
#define LINUX64 11
#define LINUX32 12
#define WINDOWS 13
#define CLIENT 72005 /* 7.20.5 */
#define NONE (-1)
#define GIGA 1e9

#define V(platform, num, ...)                                                  \
    {                                                                          \
        .appid = 3, .platformid = (platform), .version_num = (num),            \
        __VA_ARGS__                                                            \
    }

/* A 64-bit Linux client, which also runs 32-bit programs. */
static const struct version_platform platforms[] = {
    {LINUX64, true },
    {LINUX32, false}
};

/* clang-format off */
static const struct {
    const char *promise;
    int min_version, pin;
    size_t n;
    struct app_version given[MAX_VERSIONS];
    ptrdiff_t want;
    bool version_too_old, client_too_old;
} spec[] = {
    {"no version at all", 0, 0, 0, {V(0, 0, .id = 0)}, NONE, false, false},
    {"the only one", 0, 0, 1, {V(LINUX64, 100, .id = 1)}, 0, false, false},
    {"another platform's is none", 0, 0, 1, {V(WINDOWS, 100, .id = 1)}, NONE, false, false},
    {"another app's is none", 0, 0, 1, {{.appid = 4, .platformid = LINUX64, .version_num = 100}}, NONE, false, false},
    {"the newest", 0, 0, 3,
     {V(LINUX64, 100, .id = 1), V(LINUX64, 102, .id = 2), V(LINUX64, 101, .id = 3)}, 1, false, false},
    {"of two alike the first", 0, 0, 2,
     {V(LINUX64, 100, .id = 1), V(LINUX64, 100, .id = 2)}, 0, false, false},
    {"the client's first platform before a newer one", 0, 0, 2,
     {V(LINUX32, 105, .id = 1), V(LINUX64, 100, .id = 2)}, 1, false, false},
    {"the second platform if the first has none", 0, 0, 2,
     {V(WINDOWS, 105, .id = 1), V(LINUX32, 100, .id = 2)}, 1, false, false},

    {"a deprecated one is not used", 0, 0, 2,
     {V(LINUX64, 102, .deprecated = true), V(LINUX64, 101, .id = 2)}, 1, false, false},
    {"all deprecated", 0, 0, 1, {V(LINUX64, 102, .deprecated = true)}, NONE, false, false},
    {"a plan class is not for us yet", 0, 0, 2,
     {V(LINUX64, 102, .plan_class = "mt"), V(LINUX64, 101, .id = 2)}, 1, false, false},
    {"only plan classes, and a client that knows none", 0, 0, 1, {V(LINUX64, 102, .plan_class = "mt")}, NONE, false, true},

    {"below min_version", 101, 0, 1, {V(LINUX64, 100, .id = 1)}, NONE, true, false},
    {"exactly min_version", 101, 0, 1, {V(LINUX64, 101, .id = 1)}, 0, false, false},
    {"above min_version", 101, 0, 1, {V(LINUX64, 102, .id = 1)}, 0, false, false},
    {"too old here, new enough on the second platform", 101, 0, 2,
     {V(LINUX64, 100, .id = 1), V(LINUX32, 101, .id = 2)}, 1, false, false},

    {"pinned: that one, though there is a newer", 0, 101, 2,
     {V(LINUX64, 102, .id = 1), V(LINUX64, 101, .id = 2)}, 1, false, false},
    {"pinned: deprecated or not", 0, 101, 2,
     {V(LINUX64, 102, .id = 1), V(LINUX64, 101, .deprecated = true)}, 1, false, false},
    {"pinned to one that is not there", 0, 103, 1, {V(LINUX64, 102, .id = 1)}, NONE, false, false},
    {"pinned on the second platform", 0, 101, 2,
     {V(LINUX64, 102, .id = 1), V(LINUX32, 101, .id = 2)}, 1, false, false},
    {"pinned below min_version", 102, 101, 1, {V(LINUX64, 101, .id = 1)}, NONE, true, false},

    {"client just below the least", 0, 0, 1, {V(LINUX64, 1, .min_core_version = 72006)}, NONE, false, true},
    {"client exactly the least", 0, 0, 1, {V(LINUX64, 1, .min_core_version = 72005)}, 0, false, false},
    {"client just above the least", 0, 0, 1, {V(LINUX64, 1, .min_core_version = 72004)}, 0, false, false},
    {"client just below the most", 0, 0, 1, {V(LINUX64, 1, .max_core_version = 72006)}, 0, false, false},
    {"client exactly the most", 0, 0, 1, {V(LINUX64, 1, .max_core_version = 72005)}, 0, false, false},
    {"client just above the most", 0, 0, 1, {V(LINUX64, 1, .max_core_version = 72004)}, NONE, false, true},
    {"old notation 720 is 7.20.0", 0, 0, 1, {V(LINUX64, 1, .min_core_version = 720)}, 0, false, false},
    {"old notation 721 is 7.21.0", 0, 0, 1, {V(LINUX64, 1, .min_core_version = 721)}, NONE, false, true},
    {"old notation, the most", 0, 0, 1, {V(LINUX64, 1, .max_core_version = 720)}, NONE, false, true},
    {"9999 is old notation", 0, 0, 1, {V(LINUX64, 1, .min_core_version = 9999)}, NONE, false, true},
    {"10000 is 1.0.0", 0, 0, 1, {V(LINUX64, 1, .min_core_version = 10000)}, 0, false, false},
    {"an older one for this client", 0, 0, 2,
     {V(LINUX64, 102, .min_core_version = 80000), V(LINUX64, 101, .id = 2)}, 1, false, false},
    {"one too old, one for newer clients: the client is what is missing", 101, 0, 2,
     {V(LINUX64, 100, .id = 1), V(LINUX64, 102, .min_core_version = 80000)}, NONE, false, true},
    {"too old and for newer clients: too old", 101, 0, 1,
     {V(LINUX64, 100, .min_core_version = 80000)}, NONE, true, false},
};
/* clang-format on */

START_TEST(choice)
{
    const struct app app = {.id = 3, .min_version = spec[_i].min_version};
    const struct version_query query = {
        .app = &app,
        .platforms = platforms,
        .n_platforms = ARRAY_LEN(platforms),
        .client_version = CLIENT,
        .any_type = true,
        .app_version_num = spec[_i].pin,
        .flops_per_cpu = 2.5 * GIGA,
    };
    struct version_choice got;

    version_choose(&query, spec[_i].given, spec[_i].n, &got);
    ck_assert_msg(got.index == spec[_i].want, "broken: %s (%td)",
                  spec[_i].promise, got.index);
    ck_assert_msg(
        (got.refusal == VERSION_TOO_OLD) == spec[_i].version_too_old &&
            (got.refusal == VERSION_CLIENT_TOO_OLD ||
             got.refusal == VERSION_CLIENT_TOO_NEW) == spec[_i].client_too_old,
        "broken: %s (why)", spec[_i].promise);
}
END_TEST

static const struct {
    const char *promise;
    double given, want;
} speed_spec[] = {
    {"one processor at its speed", 2.5e9, 2.5e9},
    {"not measured: 1e9",          0,     1e9  },
    {"negative: 1e9",              -1,    1e9  },
};

START_TEST(speed)
{
    const struct app app = {.id = 3};
    const struct app_version version = V(LINUX32, 100, .id = 1);
    const struct version_query query = {
        .app = &app,
        .platforms = platforms,
        .n_platforms = ARRAY_LEN(platforms),
        .client_version = CLIENT,
        .any_type = true,
        .flops_per_cpu = speed_spec[_i].given,
    };
    struct version_choice got;

    version_choose(&query, &version, 1, &got);
    ck_assert(got.index == 0);
    ck_assert_msg(got.usage.projected_flops == speed_spec[_i].want &&
                      got.usage.peak_flops == speed_spec[_i].want &&
                      got.usage.avg_ncpus == 1,
                  "broken: %s", speed_spec[_i].promise);
}
END_TEST

START_TEST(client_without_platforms_gets_nothing)
{
    const struct app app = {.id = 3};
    const struct app_version version = V(LINUX64, 100, .id = 1);
    const struct version_query query = {
        .app = &app, .client_version = CLIENT, .any_type = true};
    struct version_choice got;

    version_choose(&query, &version, 1, &got);
    ck_assert(got.index == NONE);
}
END_TEST

static Suite *
version_suite(void)
{
    Suite *s = suite_create("version");
    TCase *tc = tcase_create("choice");

    tcase_add_loop_test(tc, choice, 0, ARRAY_LEN(spec));
    tcase_add_loop_test(tc, speed, 0, ARRAY_LEN(speed_spec));
    tcase_add_test(tc, client_without_platforms_gets_nothing);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    SRunner *runner = srunner_create(version_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
