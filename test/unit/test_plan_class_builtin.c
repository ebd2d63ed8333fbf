/* test_plan_class_builtin.c - the plan classes of a project without a file
 * (dispatch §7.2): each by the computer that just suits it. */
#include "plan_class_data.h"

#include <math.h>
#include <stdio.h>

static const struct plan_class_set no_file = {.from_file = false};
static struct computer computer; /* 8 CPUs at 4 GFLOPS */
static struct plan_class_verdict verdict;

static void
ask(const char *name)
{
    struct plan_class_spec scratch;

    plan_class_check(plan_class_find(&no_file, name, &scratch),
                     asking(&computer), &verdict);
}

static const struct host_usage *
fits(const char *name)
{
    ask(name);
    ck_assert_msg(verdict.refusal == PLAN_CLASS_OK, "%s: %s: %s", name,
                  verdict.element, verdict.why);
    return &verdict.usage;
}

static void
refused(const char *name, const char *element)
{
    ask(name);
    ck_assert_msg(verdict.refusal != PLAN_CLASS_OK, "%s suits", name);
    ck_assert_str_eq(verdict.element, element);
}

#define ck_near(a, b) ck_assert_double_eq_tol(a, b, 1e-9 * fabs(b))

/* ---- CPUs ---- */

START_TEST(mt)
{
    build_computer(&computer);
    ck_assert_double_eq(fits("mt")->avg_ncpus, 8);
    ck_near(verdict.usage.peak_flops, 32 * GIGA);
    ck_near(verdict.usage.projected_flops, 0.99 * 32 * GIGA);
    ck_assert_str_eq(verdict.usage.cmdline, "--nthreads 8");
    computer.asks.ncpus = 100;
    ck_assert_double_eq(fits("mt")->avg_ncpus, 64);
    computer.asks.ncpus = 2;
    ck_assert_double_eq(fits("mt")->avg_ncpus, 2);
    computer.asks.ncpus = 1;
    refused("mt", "min_ncpus");
    ck_assert_str_eq(verdict.why, "needs 2 processors, 1 may be used");
}
END_TEST

START_TEST(sse3)
{
    build_computer(&computer);
    ck_near(fits("sse3")->projected_flops, 4.4 * GIGA);
    ck_assert_double_eq(verdict.usage.avg_ncpus, 1);
    put(computer.ability.features, " sse sse2 ssse3 ");
    refused("sse3", "cpu_feature");
}
END_TEST

START_TEST(nci)
{
    build_computer(&computer);
    ck_assert_double_eq(fits("nci")->avg_ncpus, 0.01);
    ck_near(verdict.usage.projected_flops, 4.04 * GIGA);
}
END_TEST

START_TEST(opencl_cpu_intel)
{
    build_computer(&computer);
    refused("opencl_cpu_intel", "opencl");
    computer.ability.n_opencl_cpus = 1;
    put(computer.ability.opencl_cpu[0].platform_vendor, "Intel(R) Corporation");
    ck_assert_double_eq(fits("opencl_cpu_intel")->avg_ncpus, 1);
}
END_TEST

START_TEST(wsl)
{
    build_computer(&computer);
    refused("wsl", "wsl");
    computer.ability.n_distros = 1;
    fits("wsl");
}
END_TEST

/* ---- VirtualBox ---- */

static const struct {
    const char *name;
    bool is64bit, many, accel;
} boxes[] = {
    {"vbox32",            false, false, false},
    {"vbox32_mt",         false, true,  false},
    {"vbox32_hwaccel",    false, false, true },
    {"vbox32_mt_hwaccel", false, true,  true },
    {"vbox64",            true,  false, false},
    {"vbox64_mt",         true,  true,  false},
    {"vbox64_hwaccel",    true,  false, true },
    {"vbox64_mt_hwaccel", true,  true,  true },
};

START_TEST(vbox)
{
    const char *name = boxes[_i].name;

    build_computer(&computer);
    computer.asks.primary_platform =
        boxes[_i].is64bit ? "windows_x86_64" : "windows_intelx86";
    put(computer.ability.virtualbox_version, "3.2.0");
    ck_assert_double_eq(fits(name)->avg_ncpus, boxes[_i].many ? 8 : 1);
    put(computer.ability.virtualbox_version, "3.1.9");
    refused(name, "min_vbox_version");
    put(computer.ability.virtualbox_version, "3.2.0");
    computer.ability.features[0] = '\0';
    if (boxes[_i].accel)
        refused(name, "vm_accel_required");
    else
        ck_assert_double_eq(fits(name)->avg_ncpus, 1);
    build_computer(&computer);
    put(computer.ability.virtualbox_version, "3.2.0");
    computer.asks.primary_platform =
        boxes[_i].is64bit ? "windows_intelx86" : "windows_x86_64";
    refused(name, "is64bit");
}
END_TEST

/* ---- GPUs ---- */

/* clang-format off */
/* A GPU that is exactly what the class needs, at 1000 GFLOPS. */
static const struct {
    const char *name;
    enum proc_type type;
    int compcap, cuda, driver; /* exactly enough */
    double ram_mb;
    bool atirt, amdrt;
    int opencl;
    double cpu_frac, scale;
} gpus[] = {
    {"ati",                  PROC_AMD,       0,   0,    10000000, 256, false, true,  0,   0.01, 0.20},
    {"ati13amd",             PROC_AMD,       0,   0,    10030000, 256, false, true,  0,   0.01, 0.21},
    {"ati13ati",             PROC_AMD,       0,   0,    10030186, 256, true,  false, 0,   0.01, 0.22},
    {"ati14",                PROC_AMD,       0,   0,    10040000, 256, false, false, 0,   0.01, 0.23},
    {"cuda",                 PROC_NVIDIA,    100, 0,    17700,    256, false, false, 0,   0.01, 0.20},
    {"cuda23",               PROC_NVIDIA,    100, 2030, 19038,    384, false, false, 0,   0.01, 0.21},
    {"cuda_fermi",           PROC_NVIDIA,    200, 3000, 19500,    384, false, false, 0,   0.01, 0.22},
    {"opencl_nvidia_101",    PROC_NVIDIA,    0,   0,    0,        0,   false, false, 101, 0.01, 0.14},
    {"opencl_ati_102",       PROC_AMD,       0,   0,    0,        0,   false, false, 102, 0.01, 0.14},
    {"opencl_intel_gpu_102", PROC_INTEL_GPU, 0,   0,    0,        0,   false, false, 102, 0.1,  0.2 },
    {"opencl_apple_gpu_102", PROC_APPLE_GPU, 0,   0,    0,        0,   false, false, 102, 0.1,  0.2 },
};
/* clang-format on */

static struct gpu *
build_gpu(int i)
{
    struct gpu *gpu = &computer.ability.gpu[gpus[i].type];

    build_computer(&computer);
    *gpu = (struct gpu){
        .count = 1,
        .peak_flops = 1000 * GIGA,
        .has_cuda = true,
        .compute_capability = gpus[i].compcap,
        .cuda_version = gpus[i].cuda,
        .ram = gpus[i].ram_mb * MB,
        .atirt = gpus[i].atirt,
        .amdrt = gpus[i].amdrt,
        .opencl = {.has = gpus[i].opencl != 0,
                   .device_version = gpus[i].opencl},
    };
    if (gpus[i].type == PROC_AMD)
        gpu->cal_version = gpus[i].driver;
    else
        gpu->driver_version = gpus[i].driver;
    return gpu;
}

/* s1 = 4, s2 = scale x 1000, y = f s2 + (1 - f) s1. */
START_TEST(gpu_fits_exactly)
{
    double f = gpus[_i].cpu_frac, s2 = gpus[_i].scale * 1000;
    double y = f * s2 + (1 - f) * 4;
    const struct host_usage *u;

    build_gpu(_i);
    u = fits(gpus[_i].name);
    ck_assert_int_eq(u->type, gpus[_i].type);
    ck_assert_double_eq(u->gpu_usage, 1);
    ck_assert_double_eq(u->gpu_ram, gpus[_i].ram_mb * MB);
    ck_near(u->projected_flops, 4 * s2 / y * GIGA);
    ck_near(u->avg_ncpus, f * s2 / y);
}
END_TEST

START_TEST(gpu_just_short)
{
    const char *name = gpus[_i].name;

    if (gpus[_i].compcap != 0) {
        build_gpu(_i)->compute_capability--;
        refused(name, "min_nvidia_compcap");
    }
    if (gpus[_i].cuda != 0) {
        build_gpu(_i)->cuda_version--;
        refused(name, "min_cuda_version");
    }
    if (gpus[_i].driver != 0) {
        struct gpu *gpu = build_gpu(_i);

        gpu->driver_version--;
        gpu->cal_version--;
        refused(name, "min_driver_version");
    }
    if (gpus[_i].ram_mb > 0) {
        build_gpu(_i)->ram--;
        refused(name, "min_gpu_ram_mb");
    }
    if (gpus[_i].opencl != 0) {
        build_gpu(_i)->opencl.device_version--;
        refused(name, "min_opencl_version");
    }
    if (gpus[_i].atirt) {
        build_gpu(_i)->atirt = false;
        refused(name, "need_ati_libs");
    }
    if (gpus[_i].amdrt) {
        build_gpu(_i)->amdrt = false;
        refused(name, "need_amd_libs");
    }
    build_gpu(_i)->count = 0;
    refused(name, "gpu_type");
}
END_TEST

/* The two old CUDA classes end below compute capability 2.0. */
START_TEST(old_cuda_ends_where_fermi_begins)
{
    build_gpu(6)->compute_capability = 199;
    computer.ability.gpu[PROC_NVIDIA].driver_version = 60000;
    fits("cuda");
    fits("cuda23");
    refused("cuda_fermi", "min_nvidia_compcap");
    computer.ability.gpu[PROC_NVIDIA].compute_capability = 200;
    refused("cuda", "max_nvidia_compcap");
    refused("cuda23", "max_nvidia_compcap");
    fits("cuda_fermi");
}
END_TEST

static const char *const strangers[] = {
    "",
    "mt ",
    "MT",
    "vbox",
    "vbox64_",
    "vbox64_hwaccel_mt",
    "opencl_nvidia",
    "opencl_nvidia_",
    "opencl_nvidia_1x",
    "opencl_nvidia_N",
    "opencl_amd_101",
    "cuda24",
    "a_name_of_more_than_sixty-three_bytes_which_is_what_clients_have",
};

START_TEST(knows_no_other_name)
{
    struct plan_class_spec scratch;

    ck_assert_ptr_null(plan_class_find(&no_file, strangers[_i], &scratch));
    ask(strangers[_i]);
    ck_assert_int_eq(verdict.refusal, PLAN_CLASS_UNKNOWN);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_add_test(tc, mt);
    tcase_add_test(tc, sse3);
    tcase_add_test(tc, nci);
    tcase_add_test(tc, opencl_cpu_intel);
    tcase_add_test(tc, wsl);
    tcase_add_loop_test(tc, vbox, 0, ARRAY_LEN(boxes));
    tcase_add_loop_test(tc, gpu_fits_exactly, 0, ARRAY_LEN(gpus));
    tcase_add_loop_test(tc, gpu_just_short, 0, ARRAY_LEN(gpus));
    tcase_add_test(tc, old_cuda_ends_where_fermi_begins);
    tcase_add_loop_test(tc, knows_no_other_name, 0, ARRAY_LEN(strangers));
}

int
main(void)
{
    return run_tests("plan_class_builtin", fill);
}
