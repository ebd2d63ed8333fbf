/* test_estimate.c - what a host has to offer and how long a job runs on it:
 * dispatch §6, §6.1, §6.2. */
#include "estimate.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define GIB 1073741824.0

static bool
is_near(double got, double want)
{
    return fabs(got - want) <= 1e-9 * fmax(1, fabs(want));
}

static const struct {
    const char *promise;
    int p_ncpus;
    double pct;
    int max_ncpus, want;
} ncpus_spec[] = {
    {"all processors",                 8,    0,   64,   8   },
    {"100 % is all",                   8,    100, 64,   8   },
    {"more than 100 % is all",         8,    150, 64,   8   },
    {"half of them",                   8,    50,  64,   4   },
    {"half of three is one",           3,    50,  64,   1   },
    {"10 x 70 % is 7",                 10,   70,  64,   7   },
    {"never less than one",            1,    10,  64,   1   },
    {"none reported: one",             0,    100, 64,   1   },
    {"a negative number: one",         -4,   100, 64,   1   },
    {"a negative preference is none",  8,    -50, 64,   8   },
    {"just below the project's limit", 63,   100, 64,   63  },
    {"exactly the limit",              64,   100, 64,   64  },
    {"above it",                       65,   100, 64,   64  },
    {"without a limit, 4096 is one",   9000, 100, 0,    4096},
    {"a larger limit does not matter", 9000, 100, 8000, 4096},
};

START_TEST(processors)
{
    const struct host host = {.p_ncpus = ncpus_spec[_i].p_ncpus};
    const struct global_prefs prefs = {.max_ncpus_pct = ncpus_spec[_i].pct};
    int got = estimate_ncpus(&host, &prefs, ncpus_spec[_i].max_ncpus);

    ck_assert_msg(got == ncpus_spec[_i].want, "broken: %s (%d)",
                  ncpus_spec[_i].promise, got);
}
END_TEST

static const struct {
    const char *promise;
    double m_nbytes, busy, idle, want;
} ram_spec[] = {
    {"the larger of both preferences",      8e9, 50,  90,  7.2e9},
    {"whichever it is",                     8e9, 60,  20,  4.8e9},
    {"never more than there is",            8e9, 50,  120, 8e9  },
    {"only one preference: it is not used", 8e9, 0,   90,  8e9  },
    {"no preferences",                      8e9, 0,   0,   8e9  },
    {"size unknown: 64e6",                  0,   50,  50,  32e6 },
    {"a negative size is unknown",          -1,  100, 100, 64e6 },
    {"a size that is no number too",        NAN, 100, 100, 64e6 },
};

START_TEST(memory)
{
    const struct host host = {.m_nbytes = ram_spec[_i].m_nbytes};
    const struct global_prefs prefs = {
        .ram_max_used_busy_pct = ram_spec[_i].busy,
        .ram_max_used_idle_pct = ram_spec[_i].idle,
    };
    double got = estimate_usable_ram(&host, &prefs);

    ck_assert_msg(is_near(got, ram_spec[_i].want), "broken: %s (%g)",
                  ram_spec[_i].promise, got);
}
END_TEST

static const struct {
    const char *promise;
    double on, active, efficiency, want;
} frac_spec[] = {
    {"on half, active half of that",      0.5, 0.5, 0,   0.25},
    {"always",                            1,   1,   0,   1   },
    {"more than always is always",        1.2, 1,   0,   1   },
    {"never less than a tenth",           0.2, 0.3, 0,   0.1 },
    {"exactly a tenth",                   0.1, 1,   0,   0.1 },
    {"unknown: a tenth",                  0,   0,   0,   0.1 },
    {"no number: a tenth",                NAN, 1,   0,   0.1 },
    {"old clients: times the efficiency", 1,   0.8, 0.5, 0.4 },
    {"… not below a tenth",             0.3, 1,   0.2, 0.1 },
    {"… a negative one is none",        1,   0.8, -1,  0.8 },
    {"… one that is no number too",     1,   0.8, NAN, 0.8 },
};

START_TEST(available_fraction)
{
    const struct host host = {
        .on_frac = frac_spec[_i].on,
        .active_frac = frac_spec[_i].active,
    };
    double got = estimate_available_frac(&host, frac_spec[_i].efficiency);

    ck_assert_msg(is_near(got, frac_spec[_i].want), "broken: %s (%g)",
                  frac_spec[_i].promise, got);
}
END_TEST

/* All in GiB. */
static const struct {
    const char *promise;
    double total, free, used;
    double max_gb, max_pct, min_free, default_min_free;
    double want;
} disk_spec[] = {
    {"free less the reserve",              100, 50,       0,  0,  0,  0,   1, 49},
    {"the volunteer's larger reserve",     100, 50,       0,  0,  0,  5,   1, 45},
    {"the volunteer's smaller one is not", 100, 50,       0,  0,  0,  0.5, 1, 49},
    {"a share of the whole, less ours",    100, 50,       10, 0,  30, 0,   1, 20},
    {"a maximum, less ours",               100, 50,       10, 15, 0,  0,   1, 5 },
    {"the least of the three: free",       100, 5,        10, 15, 30, 0,   1, 4 },
    {"the least of the three: share",      100, 50,       10, 45, 30, 0,   1, 20},
    {"the least of the three: maximum",    100, 50,       10, 15, 30, 0,   1, 5 },
    {"our use unknown: only what is free", 100, 50,       0,  15, 30, 0,   1, 49},
    {"exactly used up",                    100, 50,       15, 15, 0,  0,   1, 0 },
    {"more than used up is nothing",       100, 50,       20, 15, 0,  0,   1, 0 },
    {"less free than the reserve",         100, 0.5,      0,  0,  0,  0,   1, 0 },
    {"free space unknown: nothing",        100, 0,        0,  0,  0,  0,   0, 0 },
    {"size of the disk unknown: nothing",  0,   50,       0,  0,  0,  0,   1, 0 },
    {"no number: nothing",                 100, NAN,      0,  0,  0,  0,   1, 0 },
    {"without end: nothing",               100, INFINITY, 0,  0,  0,  0,   1, 0 },
};

START_TEST(disk)
{
    const struct host host = {
        .d_total = disk_spec[_i].total * GIB,
        .d_free = disk_spec[_i].free * GIB,
        .d_boinc_used_total = disk_spec[_i].used * GIB,
    };
    const struct global_prefs prefs = {
        .disk_max_used_gb = disk_spec[_i].max_gb,
        .disk_max_used_pct = disk_spec[_i].max_pct,
        .disk_min_free_gb = disk_spec[_i].min_free,
    };
    double got =
        estimate_disk_available(&host, &prefs, disk_spec[_i].default_min_free);

    ck_assert_msg(is_near(got, disk_spec[_i].want * GIB), "broken: %s (%g)",
                  disk_spec[_i].promise, got / GIB);
}
END_TEST

static const struct {
    const char *promise;
    double given, want;
} flops_spec[] = {
    {"as measured",       3.5e9,    3.5e9},
    {"not measured: 1e9", 0,        1e9  },
    {"negative: 1e9",     -2e9,     1e9  },
    {"no number: 1e9",    NAN,      1e9  },
    {"without end: 1e9",  INFINITY, 1e9  },
};

START_TEST(speed)
{
    const struct host host = {.p_fpops = flops_spec[_i].given};

    ck_assert_msg(is_near(estimate_flops_per_cpu(&host), flops_spec[_i].want),
                  "broken: %s", flops_spec[_i].promise);
}
END_TEST

static const struct {
    const char *promise;
    double fpops, flops, frac, want;
} duration_spec[] = {
    {"3.6e12 FLOP at 1 GFLOPS: an hour",  3.6e12, 1e9, 1,    3600 },
    {"on a quarter of the time: four",    3.6e12, 1e9, 0.25, 14400},
    {"twice as fast: half",               3.6e12, 2e9, 1,    1800 },
    {"no estimate: 1e12",                 0,      1e9, 1,    1000 },
    {"a negative estimate too",           -1,     1e9, 1,    1000 },
    {"an estimate that is no number too", NAN,    1e9, 1,    1000 },
    {"no speed: 1e9",                     3.6e12, 0,   1,    3600 },
    {"no fraction: a tenth",              3.6e12, 1e9, 0,    36000},
};

START_TEST(duration)
{
    double got =
        estimate_duration(duration_spec[_i].fpops, duration_spec[_i].flops,
                          duration_spec[_i].frac);

    ck_assert_msg(is_near(got, duration_spec[_i].want), "broken: %s (%g)",
                  duration_spec[_i].promise, got);
}
END_TEST

static Suite *
estimate_suite(void)
{
    Suite *s = suite_create("estimate");
    TCase *tc = tcase_create("host");

    tcase_add_loop_test(tc, processors, 0, ARRAY_LEN(ncpus_spec));
    tcase_add_loop_test(tc, memory, 0, ARRAY_LEN(ram_spec));
    tcase_add_loop_test(tc, available_fraction, 0, ARRAY_LEN(frac_spec));
    tcase_add_loop_test(tc, disk, 0, ARRAY_LEN(disk_spec));
    tcase_add_loop_test(tc, speed, 0, ARRAY_LEN(flops_spec));
    tcase_add_loop_test(tc, duration, 0, ARRAY_LEN(duration_spec));
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    SRunner *runner = srunner_create(estimate_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
