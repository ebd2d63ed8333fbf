/* plan_class_data.h - what the tests of plan classes share: a computer. */
#ifndef QUORATE_PLAN_CLASS_DATA_H
#define QUORATE_PLAN_CLASS_DATA_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_class.h"

#define GIGA 1e9
#define MB 1048576.0
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Text into an array. */
#define put(to, text) ((void)snprintf(to, sizeof(to), "%s", text))

/* A desktop of eight CPUs at 4 GFLOPS, and what goes with asking. */
struct computer {
    struct host host;
    struct ability ability;
    struct project_prefs prefs;
    struct project_pref pref[4];
    struct plan_class_host asks;
};

static inline void
build_computer(struct computer *c)
{
    *c = (struct computer){
        .host = {.userid = 5,
                 .p_ncpus = 8,
                 .p_vendor = "GenuineExample",
                 .p_model = "Example(R) CPU 1000",
                 .os_name = "Linux Debian",
                 .os_version = "Debian GNU/Linux 12 (bookworm) "
                               "[6.1.27-1-amd64|libc 2.36]"},
        .ability = {.features = " fpu vmx pni avx2 "},
    };
    c->asks = (struct plan_class_host){
        .primary_platform = "x86_64-pc-linux-gnu",
        .client_version = 72005,
        .ncpus = 8,
        .usable_ram = 1000 * MB,
        .flops_per_cpu = 4 * GIGA,
    };
}

/* The pointers, after a copy or a change. */
static inline const struct plan_class_host *
asking(struct computer *c)
{
    c->asks.host = &c->host;
    c->asks.ability = &c->ability;
    c->prefs.pref = c->pref;
    c->asks.prefs = &c->prefs;
    return &c->asks;
}

/* The main() of these tests, which link nothing but policy and Check. */
static inline int
run_tests(const char *name, void (*add_tests)(TCase *))
{
    Suite *suite = suite_create(name);
    TCase *tests = tcase_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    add_tests(tests);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
