/* test_hr.c - classes of numerically equal hosts: dispatch §12, row by row. */
#include "hr.h"

#include <check.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* clang-format off */
static const struct {
    const char *os, *vendor, *model;
    int fine, coarse; /* 0: unknown */
} spec[] = {
    /* the operating system */
    {"Linux Debian",       "GenuineIntel", "Xeon",     256 + 11, 256 + 2},
    {"Microsoft Windows 7","GenuineIntel", "Xeon",     384 + 11, 384 + 2},
    {"Darwin",             "GenuineIntel", "Xeon",     512 + 11, 512 + 2},
    {"FreeBSD",            "GenuineIntel", "Xeon",     640 + 11, 0},
    {"Android",            "ARM",          "",         768 + 22, 0},
    {"SunOS",              "GenuineIntel", "Xeon",     0,        0},
    {"",                   "GenuineIntel", "Xeon",     0,        0},
    {"linux",              "genuineintel", "xeon",     256 + 11, 256 + 2},

    /* Intel */
    {"Linux", "GenuineIntel", "Intel(R) Xeon(R) CPU E5-2670",        256 + 11, 256 + 2},
    {"Linux", "GenuineIntel", "Intel(R) Celeron(R) M processor",     256 + 18, 256 + 2},
    {"Linux", "GenuineIntel", "Intel Celeron M 1.4",                 256 + 18, 256 + 2},
    {"Linux", "GenuineIntel", "Intel Celeron D 2.4",                 256 + 17, 256 + 2},
    {"Linux", "GenuineIntel", "Celeron III",                         256 + 15, 256 + 2},
    {"Linux", "GenuineIntel", "Intel Celeron CPU 2.40GHz",           256 + 12, 256 + 2},
    {"Linux", "GenuineIntel", "Intel(R) Core(TM)2 Duo CPU",          256 + 21, 256 + 2},
    {"Linux", "GenuineIntel", "Intel(R) Core(TM) i7-8700",           256 + 21, 256 + 2},
    {"Linux", "GenuineIntel", "Pentium III (Coppermine)",            256 + 15, 256 + 2},
    {"Linux", "GenuineIntel", "Pentium II (Deschutes)",              256 + 14, 256 + 2},
    {"Linux", "GenuineIntel", "Intel Pentium 4 CPU 3.00GHz",         256 + 16, 256 + 2},
    {"Linux", "GenuineIntel", "Intel Pentium D CPU 3.00GHz",         256 + 17, 256 + 2},
    {"Linux", "GenuineIntel", "Intel Pentium M processor",           256 + 18, 256 + 2},
    {"Linux", "GenuineIntel", "Pentium 75 - 200",                    256 + 13, 256 + 2},
    {"Linux", "GenuineIntel", "x86 Family 6 Model 6 Stepping 5",     256 + 12, 256 + 2},
    {"Linux", "GenuineIntel", "x86 Family 6 Model 9 Stepping 5",     256 + 18, 256 + 2},
    {"Linux", "GenuineIntel", "x86 Family 6 Model 10 Stepping 1",    256 + 11, 256 + 2},
    {"Linux", "GenuineIntel", "x86 Family 5 Model 1 Stepping 7",     256 + 13, 256 + 2},
    {"Linux", "GenuineIntel", "x86 Family 5 Model 2 Stepping 12",    256 + 13, 256 + 2},
    {"Linux", "GenuineIntel", "x86 Family 6 Model 1 Stepping 9",     256 + 13, 256 + 2},
    {"Linux", "GenuineIntel", "x86 Family 15 Model 1 Stepping 2",    256 + 16, 256 + 2},
    {"Linux", "GenuineIntel", "x86 Family 15 Model 2 Stepping 9",    256 + 16, 256 + 2},
    {"Linux", "GenuineIntel", "x86 Family 6 Model 7 Stepping 3",     256 + 15, 256 + 2},
    {"Linux", "GenuineIntel", "x86 Family 6 Model 8 Stepping 10",    256 + 15, 256 + 2},
    {"Linux", "GenuineIntel", "x86 Family 6 Model 3 Stepping 4",     256 + 14, 256 + 2},
    {"Linux", "GenuineIntel", "x86 Family 6 Model 5 Stepping 2",     256 + 14, 256 + 2},
    /* "Model 1" is in "Model 11", and is looked for first */
    {"Linux", "GenuineIntel", "x86 Family 6 Model 11 Stepping 1",    256 + 13, 256 + 2},
    {"Linux", "GenuineIntel", "x86 Family 6 Model 15 Stepping 6",    256 + 13, 256 + 2},
    {"Linux", "GenuineIntel", "x86 Family 15 Model 4 Stepping 1",    256 + 2,  256 + 2},
    {"Linux", "GenuineIntel", "Intel(R) Atom(TM) CPU N270",          256 + 2,  256 + 2},
    {"Linux", "GenuineIntel", "",                                    256 + 2,  256 + 2},

    /* AMD */
    {"Linux", "AuthenticAMD", "AMD Duron(tm) Processor",             256 + 6,  256 + 2},
    {"Linux", "AuthenticAMD", "AMD Opteron(tm) Processor 246",       256 + 8,  256 + 2},
    {"Linux", "AuthenticAMD", "AMD Sempron(tm) 2800+",               256 + 7,  256 + 2},
    {"Linux", "AuthenticAMD", "AMD Turion(tm) 64 Mobile",            256 + 20, 256 + 2},
    {"Linux", "AuthenticAMD", "AMD Athlon(tm) XP 2400+",             256 + 10, 256 + 2},
    {"Linux", "AuthenticAMD", "AMD Athlon(tm) MP 2800+",             256 + 19, 256 + 2},
    {"Linux", "AuthenticAMD", "AMD Athlon(tm) 64 X2",                256 + 9,  256 + 2},
    {"Linux", "AuthenticAMD", "AMD Athlon(tm) Processor",            256 + 5,  256 + 2},
    {"Linux", "AuthenticAMD", "AMD Ryzen 7 5800X",                   256 + 3,  256 + 2},

    /* others */
    {"Darwin",  "Power Macintosh", "PowerMac3,6",                    512 + 4,  512 + 4},
    {"Linux",   "Power Macintosh", "PowerMac3,6",                    256 + 4,  256 + 4},
    {"Linux",   "ARM",             "Cortex-A72",                     256 + 22, 256 + 22},
    {"Linux",   "",                "ARMv7 Processor rev 4",          0,        256 + 22},
    {"Linux",   "",                "armv7 processor rev 4",          0,        256 + 1},
    {"Linux",   "RISC-V",          "rv64",                           0,        256 + 1},
    {"Windows", "",                "",                               0,        384 + 1},
    /* a Mac with a processor of Apple's own is of no coarse class */
    {"Darwin",  "Apple",           "Apple M1",                       0,        0},
    {"Darwin",  "ARM",             "Apple M1",                       512 + 22, 0},
};
/* clang-format on */

START_TEST(classes_are_those_of_the_table)
{
    const struct hr_host host = {spec[_i].os, spec[_i].vendor, spec[_i].model,
                                 "", ""};

    ck_assert_int_eq(hr_class(HR_NONE, &host, NULL), 0);
    ck_assert_int_eq(hr_class(HR_FINE, &host, NULL), spec[_i].fine);
    ck_assert_int_eq(hr_class(HR_COARSE, &host, NULL), spec[_i].coarse);
}
END_TEST

/* ---- a project's own table ---- */

static struct hr_class_rule own_rules[] = {
    {.id = 1001,
     .os = "Linux",
     .vendor = "AMD",
     .feature = {"avx2", "fma"},
     .n_features = 2},
    {.id = 1002,      .os = "Linux",      .vendor = "AMD"      },
    {.id = 1003,     .os = "Darwin",.platform = "arm64"},
    {.id = 1004, .os = "Linux",  .model = "i7"        },
};
static const struct hr_table own = {own_rules, ARRAY_LEN(own_rules)};

/* clang-format off */
static const struct {
    const char *promise;
    struct hr_host host;
    int want;
} own_spec[] = {
    {"all features are there",
     {"Linux", "AuthenticAMD", "", "sse avx2 fma sha", ""},      1001},
    {"at the ends of the text too",
     {"Linux", "AuthenticAMD", "", "fma avx2", ""},              1001},
    {"one is missing: the next class that matches",
     {"Linux", "AuthenticAMD", "", "avx2", ""},                  1002},
    {"part of a word is no feature",
     {"Linux", "AuthenticAMD", "", "avx2_x fma", ""},            1002},
    {"case does not count",
     {"LINUX", "authenticamd", "", "AVX2 FMA", ""},              1001},
    {"by the name of the platform",
     {"Darwin", "Apple", "Apple M2", "", "arm64-apple-darwin"},  1003},
    {"by the model",
     {"Linux", "GenuineIntel", "Core i7-8700", "", ""},          1004},
    {"nothing matches: no class",
     {"Windows", "AuthenticAMD", "", "avx2 fma", ""},            0},
};
/* clang-format on */

START_TEST(a_table_of_the_project_counts)
{
    ck_assert_msg(hr_class(HR_TABLE, &own_spec[_i].host, &own) ==
                      own_spec[_i].want,
                  "broken: %s", own_spec[_i].promise);
}
END_TEST

START_TEST(without_a_table_nobody_has_a_class)
{
    const struct hr_table empty = {NULL, 0};

    ck_assert_int_eq(hr_class(HR_TABLE, &own_spec[0].host, &empty), 0);
    ck_assert_int_eq(hr_class(HR_TABLE, &own_spec[0].host, NULL), 0);
}
END_TEST

START_TEST(type_is_of_the_project_or_the_app)
{
    struct app app = {.homogeneous_redundancy = 2};

    ck_assert_int_eq(hr_type(&app, 0), HR_COARSE);
    ck_assert_int_eq(hr_type(&app, 1), HR_FINE);
    app.homogeneous_redundancy = 3;
    ck_assert_int_eq(hr_type(&app, 0), HR_TABLE);
    app.homogeneous_redundancy = 4;
    ck_assert_int_eq(hr_type(&app, 0), HR_NONE);
    app.homogeneous_redundancy = -1;
    ck_assert_int_eq(hr_type(&app, 0), HR_NONE);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("hr");
    TCase *tc = tcase_create("classes");
    SRunner *runner = srunner_create(s);
    int failed;

    tcase_add_loop_test(tc, classes_are_those_of_the_table, 0, ARRAY_LEN(spec));
    tcase_add_loop_test(tc, a_table_of_the_project_counts, 0,
                        ARRAY_LEN(own_spec));
    tcase_add_test(tc, without_a_table_nobody_has_a_class);
    tcase_add_test(tc, type_is_of_the_project_or_the_app);
    suite_add_tcase(s, tc);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
