/* test_plan_class_usage.c - CPUs, memory, arguments and speeds that a plan
 * class works out to (dispatch §7.2), by arithmetic. */
#include "plan_class_data.h"

#include <math.h>
#include <stdio.h>

static struct computer computer; /* 8 CPUs at 4 GFLOPS, 1000 MB */
static struct plan_class_spec spec;
static struct plan_class_verdict verdict;

static void
begin(void)
{
    build_computer(&computer);
    spec = (struct plan_class_spec){PLAN_CLASS_DEFAULTS, .name = "c"};
}

static const struct host_usage *
usage(void)
{
    plan_class_check(&spec, asking(&computer), &verdict);
    ck_assert_msg(verdict.refusal == PLAN_CLASS_OK, "%s: %s", verdict.element,
                  verdict.why);
    return &verdict.usage;
}

#define ck_near(a, b) ck_assert_double_eq_tol(a, b, 1e-9 * fabs(b))

/* ---- CPUs ---- */

/* clang-format off */
static const struct {
    const char *promise;
    double max_threads, avg_ncpus;
    int host_ncpus;
    double base_mb, per_cpu_mb, usable_mb;
    double ncpus, mem_mb;
    const char *cmdline; /* nthreads_cmdline is set */
} cpus[] = {
    {"one CPU by default",                1,  0,    8,  0,   0,   1000, 1,    0,    "--nthreads 1"},
    {"as many as it can use",             4,  0,    8,  0,   0,   1000, 4,    0,    "--nthreads 4"},
    {"as many as there are",              16, 0,    8,  0,   0,   1000, 8,    0,    "--nthreads 8"},
    {"what it says",                      16, 2.5,  8,  0,   0,   1000, 2.5,  0,    "--nthreads 2"},
    {"a part of one",                     1,  0.01, 8,  0,   0,   1000, 0.01, 0,    "--nthreads 1"},
    {"memory for itself",                 1,  0,    8,  300, 0,   1000, 1,    300,  "--nthreads 1 --memory_size_mb 300"},
    {"memory for each CPU, just enough",  4,  0,    8,  200, 200, 1000, 4,    1000, "--nthreads 4 --memory_size_mb 1000"},
    {"a MB less: one CPU less",           4,  0,    8,  200, 200, 999,  3,    800,  "--nthreads 3 --memory_size_mb 800"},
    {"as few as one",                     4,  0,    8,  200, 200, 400,  1,    400,  "--nthreads 1 --memory_size_mb 400"},
    {"fractions of a MB are rounded up",  2,  0,    8,  0.5, 100, 1000, 2,    201,  "--nthreads 2 --memory_size_mb 201"},
};
/* clang-format on */

START_TEST(takes_cpus_and_memory)
{
    const struct host_usage *u;

    begin();
    spec.max_threads = cpus[_i].max_threads;
    spec.avg_ncpus = cpus[_i].avg_ncpus;
    spec.mem_usage_base_mb = cpus[_i].base_mb;
    spec.mem_usage_per_cpu_mb = cpus[_i].per_cpu_mb;
    spec.nthreads_cmdline = true;
    spec.projected_flops_scale = 0.5;
    computer.asks.ncpus = cpus[_i].host_ncpus;
    computer.asks.usable_ram = cpus[_i].usable_mb * MB;
    u = usage();
    ck_assert_msg(u->avg_ncpus == cpus[_i].ncpus, "broken: %s: %g CPUs",
                  cpus[_i].promise, u->avg_ncpus);
    ck_assert_double_eq(u->mem_usage, cpus[_i].mem_mb * MB);
    ck_assert_str_eq(u->cmdline, cpus[_i].cmdline);
    ck_near(u->peak_flops, cpus[_i].ncpus * 4 * GIGA);
    ck_near(u->projected_flops, cpus[_i].ncpus * 2 * GIGA);
    ck_assert_int_eq(u->type, PROC_CPU);
    ck_assert_double_eq(u->gpu_usage, 0);
    ck_assert_double_eq(u->gpu_ram, 0);
}
END_TEST

/* 2 CPUs are needed: 200 + 2 x 200 MB, and not a byte less. */
START_TEST(memory_is_never_short_of_what_it_needs)
{
    begin();
    spec.min_ncpus = 2;
    spec.max_threads = 8;
    spec.mem_usage_base_mb = 200;
    spec.mem_usage_per_cpu_mb = 200;
    computer.asks.usable_ram = 600 * MB;
    ck_assert_double_eq(usage()->avg_ncpus, 2);
    computer.asks.usable_ram = 600 * MB - 1;
    plan_class_check(&spec, asking(&computer), &verdict);
    ck_assert_int_eq(verdict.refusal, PLAN_CLASS_HOST);
    ck_assert_str_eq(verdict.why, "needs 600 MB of memory, 599 MB may be used");
}
END_TEST

START_TEST(checking_changes_nothing)
{
    struct plan_class_spec before;

    begin();
    spec.mem_usage_per_cpu_mb = 100;
    spec.max_threads = 4;
    before = spec;
    usage();
    ck_assert(memcmp(&before, &spec, sizeof(spec)) == 0);
}
END_TEST

/* ---- GPUs ---- */

static struct gpu *
with_gpu(void)
{
    struct gpu *gpu = &computer.ability.gpu[PROC_NVIDIA];

    begin();
    spec.uses = PLAN_CLASS_GPU;
    spec.gpu_type = PROC_NVIDIA;
    *gpu =
        (struct gpu){.count = 2, .ram = 1000 * MB, .peak_flops = 1000 * GIGA};
    return gpu;
}

/* s1 = 4, s2 = 0.2 x 1000 = 200, f = 0.01: y = 0.01 x 200 + 0.99 x 4 = 5.96;
 * speed 800 / 5.96, CPU 2 / 5.96. */
START_TEST(shares_the_work_with_the_cpu)
{
    const struct host_usage *u;

    with_gpu();
    spec.cpu_frac = 0.01;
    spec.gpu_peak_flops_scale = 0.2;
    spec.projected_flops_scale = 0.5;
    u = usage();
    ck_assert_int_eq(u->type, PROC_NVIDIA);
    ck_assert_double_eq(u->gpu_usage, 1);
    ck_near(u->projected_flops, 0.5 * 800 / 5.96 * GIGA);
    ck_near(u->avg_ncpus, 2 / 5.96);
    ck_near(u->peak_flops, (200 + 4 * 2 / 5.96) * GIGA);
    ck_assert_str_eq(u->cmdline, "");
}
END_TEST

START_TEST(cpus_as_said)
{
    const struct host_usage *u;

    with_gpu();
    spec.avg_ncpus = 0.5;
    u = usage();
    ck_assert_double_eq(u->avg_ncpus, 0.5);
    ck_near(u->peak_flops, 1002 * GIGA);
}
END_TEST

/* All on the GPU, all on the CPU. */
START_TEST(ends_of_cpu_frac)
{
    with_gpu();
    spec.cpu_frac = 0;
    ck_near(usage()->projected_flops, 1000 * GIGA);
    ck_assert_double_eq(verdict.usage.avg_ncpus, 0);
    spec.cpu_frac = 1;
    ck_near(usage()->projected_flops, 4 * GIGA);
    ck_assert_double_eq(verdict.usage.avg_ncpus, 1);
}
END_TEST

static const struct {
    double sent, used;
} peaks[] = {
    {0,      100 * GIGA},
    {-5,     100 * GIGA},
    {1e15,   1e15      },
    {1.1e15, 100 * GIGA},
    {1e9,    1e9       },
};

START_TEST(believes_no_absurd_gpu)
{
    with_gpu()->peak_flops = peaks[_i].sent;
    spec.cpu_frac = 0;
    ck_near(usage()->projected_flops, peaks[_i].used);
}
END_TEST

/* clang-format off */
static const struct {
    const char *promise;
    double ngpus, used_mb, min_mb;
    const char *pref; /* of gpu_part, NULL none */
    double usage, ram_mb;
} shares[] = {
    {"one",                                      1,   0,   0,    NULL,   1,    0},
    {"a part",                                   0.5, 0,   0,    NULL,   0.5,  0},
    {"two",                                      2,   0,   0,    NULL,   2,    0},
    {"what the user prefers",                    1,   0,   0,    "0.25", 0.25, 0},
    {"of what the class says",                   0.5, 0,   0,    "0.5",  0.25, 0},
    {"all of it",                                1,   0,   0,    "1",    1,    0},
    {"a preference that is none",                1,   0,   0,    "0",    1,    0},
    {"nor this",                                 1,   0,   0,    "-1",   1,    0},
    {"nor this",                                 1,   0,   0,    "7",    1,    0},
    {"nor this",                                 1,   0,   0,    "half", 1,    0},
    {"nor this",                                 1,   0,   0,    "",     1,    0},
    {"by memory: 3 fit, and use 900 of 1000 MB", -1,  300, 0,    NULL,   0.9,  300},
    {"by memory: 1 fits",                        -1,  600, 0,    NULL,   0.6,  600},
    {"by memory: exactly 2 fit",                 -1,  500, 0,    NULL,   1,    500},
    {"by memory it cannot use",                  -1,  2000, 0,   NULL,   1,    2000},
    {"by memory, which is not said",             -1,  0,   0,    NULL,   1,    0},
    {"the memory needed is that used",           1,   0,   256,  NULL,   1,    256},
    {"unless it says so",                        1,   100, 256,  NULL,   1,    100},
};
/* clang-format on */

START_TEST(takes_a_share_of_gpus)
{
    const struct host_usage *u;

    with_gpu();
    spec.ngpus = shares[_i].ngpus;
    spec.gpu_ram_used_mb = shares[_i].used_mb;
    spec.min_gpu_ram_mb = shares[_i].min_mb;
    put(spec.gpu_utilization_tag, "gpu_part");
    if (shares[_i].pref != NULL) {
        computer.prefs.n_prefs = 1;
        put(computer.pref[0].tag, "gpu_part");
        put(computer.pref[0].value, shares[_i].pref);
    }
    u = usage();
    ck_assert_msg(fabs(u->gpu_usage - shares[_i].usage) < 1e-12,
                  "broken: %s: %g", shares[_i].promise, u->gpu_usage);
    ck_assert_double_eq(u->gpu_ram, shares[_i].ram_mb * MB);
}
END_TEST

/* ---- speed of the host ---- */

/* Median 2.2, 95 of 100 below 3.3 GFLOPS: 1.1 x 3.3 = 3.63. */
static const struct {
    double p_fpops, reckoned;
} speeds[] = {
    {0,     2.2 * GIGA},
    {-1,    2.2 * GIGA},
    {1e9,   1 * GIGA  },
    {3.6e9, 3.6 * GIGA},
    {3.7e9, 3.3 * GIGA},
    {1e30,  3.3 * GIGA},
};

START_TEST(believes_no_absurd_cpu)
{
    ck_near(plan_class_host_flops(speeds[_i].p_fpops, 2.2 * GIGA, 3.3 * GIGA),
            speeds[_i].reckoned);
}
END_TEST

START_TEST(without_statistics)
{
    ck_near(plan_class_host_flops(5 * GIGA, 0, 0), 5 * GIGA);
    ck_near(plan_class_host_flops(0, 0, 0), GIGA);
    ck_near(plan_class_host_flops(NAN, 0, 0), GIGA);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_add_loop_test(tc, takes_cpus_and_memory, 0, ARRAY_LEN(cpus));
    tcase_add_test(tc, memory_is_never_short_of_what_it_needs);
    tcase_add_test(tc, checking_changes_nothing);
    tcase_add_test(tc, shares_the_work_with_the_cpu);
    tcase_add_test(tc, cpus_as_said);
    tcase_add_test(tc, ends_of_cpu_frac);
    tcase_add_loop_test(tc, believes_no_absurd_gpu, 0, ARRAY_LEN(peaks));
    tcase_add_loop_test(tc, takes_a_share_of_gpus, 0, ARRAY_LEN(shares));
    tcase_add_loop_test(tc, believes_no_absurd_cpu, 0, ARRAY_LEN(speeds));
    tcase_add_test(tc, without_statistics);
}

int
main(void)
{
    return run_tests("plan_class_usage", fill);
}
