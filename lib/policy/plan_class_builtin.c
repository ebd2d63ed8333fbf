/* plan_class_builtin.c - the plan classes of a project without a
 * plan_class_spec.xml, by their names (dispatch §7.2).
 *
 * A name is a row's, or a row's with a version behind it (opencl_nvidia_102:
 * OpenCL 1.2), or vbox32/vbox64 with "_mt" and "_hwaccel". */
#include "plan_class_judge.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define VERSION_MAX 9999
#define FIRST_VBOX 30200 /* 3.2.0 */
#define MOST_THREADS 64

static void
set_defaults(struct plan_class_spec *spec, const char *name)
{
    size_t n = strlen(name);

    *spec = (struct plan_class_spec){PLAN_CLASS_DEFAULTS};
    if (n >= sizeof(spec->name))
        n = sizeof(spec->name) - 1;
    memcpy(spec->name, name, n);
}

/* ---- GPUs ---- */

enum interface { CUDA, CAL_ATI_LIBS, CAL_AMD_LIBS, CAL, OPENCL };

/* "_N" stands for a version behind the name: at least OpenCL N. */
/* clang-format off */
static const struct gpu_row {
    const char *name;
    enum proc_type type;
    enum interface interface;
    int min_compcap, max_compcap, min_cuda, min_driver;
    double min_ram_mb, cpu_frac, peak_scale;
} gpu_rows[] = {
    /*                                                   cc        CUDA  driver    MB   CPU   of peak */
    {"ati",                PROC_AMD,       CAL_AMD_LIBS, 0,   0,   0,    10000000, 256, 0.01, 0.20},
    {"ati13amd",           PROC_AMD,       CAL_AMD_LIBS, 0,   0,   0,    10030000, 256, 0.01, 0.21},
    {"ati13ati",           PROC_AMD,       CAL_ATI_LIBS, 0,   0,   0,    10030186, 256, 0.01, 0.22},
    {"ati14",              PROC_AMD,       CAL,          0,   0,   0,    10040000, 256, 0.01, 0.23},
    {"cuda",               PROC_NVIDIA,    CUDA,         100, 199, 0,    17700,    256, 0.01, 0.20},
    {"cuda23",             PROC_NVIDIA,    CUDA,         100, 199, 2030, 19038,    384, 0.01, 0.21},
    {"cuda_fermi",         PROC_NVIDIA,    CUDA,         200, 0,   3000, 19500,    384, 0.01, 0.22},
    {"opencl_nvidia_N",    PROC_NVIDIA,    OPENCL,       0,   0,   0,    0,        0,   0.01, 0.14},
    {"opencl_ati_N",       PROC_AMD,       OPENCL,       0,   0,   0,    0,        0,   0.01, 0.14},
    {"opencl_intel_gpu_N", PROC_INTEL_GPU, OPENCL,       0,   0,   0,    0,        0,   0.1,  0.2 },
    {"opencl_apple_gpu_N", PROC_APPLE_GPU, OPENCL,       0,   0,   0,    0,        0,   0.1,  0.2 },
};
/* clang-format on */

/* Is it the row's name?  Its N goes to *version, else 0. */
static bool
is_named(const char *name, const char *row, int *version)
{
    size_t n = strlen(row) - 1;

    *version = 0;
    if (row[n] != 'N')
        return strcmp(name, row) == 0;
    if (strncmp(name, row, n) != 0 || name[n] == '\0')
        return false;
    for (name += n; plan_class_is_digit(*name); name++)
        if (*version <= VERSION_MAX)
            *version = 10 * *version + (*name - '0');
    return *name == '\0' && *version <= VERSION_MAX;
}

static void
set_gpu(const struct gpu_row *row, int opencl_version,
        struct plan_class_spec *ret)
{
    ret->uses = PLAN_CLASS_GPU;
    ret->gpu_type = row->type;
    ret->cuda = row->interface == CUDA;
    ret->opencl = row->interface == OPENCL;
    ret->cal = row->type == PROC_AMD && !ret->opencl;
    ret->need_ati_libs = row->interface == CAL_ATI_LIBS;
    ret->need_amd_libs = row->interface == CAL_AMD_LIBS;
    ret->min_nvidia_compcap = row->min_compcap;
    ret->max_nvidia_compcap = row->max_compcap;
    ret->min_cuda_version = row->min_cuda;
    ret->min_driver_version = row->min_driver;
    ret->min_opencl_version = opencl_version;
    ret->min_gpu_ram_mb = row->min_ram_mb;
    ret->cpu_frac = row->cpu_frac;
    ret->gpu_peak_flops_scale = row->peak_scale;
}

/* ---- the others ---- */

static void
set_mt(struct plan_class_spec *ret)
{
    ret->min_ncpus = 2;
    ret->max_threads = MOST_THREADS;
    ret->nthreads_cmdline = true;
    ret->projected_flops_scale = 0.99;
}

static void
set_sse3(struct plan_class_spec *ret)
{
    memcpy(ret->cpu_feature[0], "pni", sizeof("pni"));
    ret->n_cpu_features = 1;
    ret->projected_flops_scale = 1.1;
}

/* Speed 1.01 times the host's though it takes a hundredth of a CPU. */
static void
set_nci(struct plan_class_spec *ret)
{
    ret->avg_ncpus = 0.01;
    ret->projected_flops_scale = 101;
}

static void
set_wsl(struct plan_class_spec *ret)
{
    ret->wsl = true;
}

static void
set_opencl_cpu_intel(struct plan_class_spec *ret)
{
    ret->opencl_cpu_intel = true;
}

static const struct {
    const char *name;
    void (*set)(struct plan_class_spec *);
} cpu_rows[] = {
    {"mt",               set_mt              },
    {"sse3",             set_sse3            },
    {"nci",              set_nci             },
    {"wsl",              set_wsl             },
    {"opencl_cpu_intel", set_opencl_cpu_intel},
};

/* vbox32, vbox64, then perhaps "_mt", then perhaps "_hwaccel". */
static bool
set_vbox(const char *name, struct plan_class_spec *ret)
{
    bool is64bit = strncmp(name, "vbox64", 6) == 0;
    const char *rest = name + 6;

    if (!is64bit && strncmp(name, "vbox32", 6) != 0)
        return false;
    ret->virtualbox = true;
    ret->is64bit = is64bit;
    ret->min_vbox_version = FIRST_VBOX;
    if (strncmp(rest, "_mt", 3) == 0) {
        ret->max_threads = MOST_THREADS;
        ret->nthreads_cmdline = true;
        rest += 3;
    }
    if (strcmp(rest, "_hwaccel") == 0) {
        ret->vm_accel_required = true;
        return true;
    }
    return *rest == '\0';
}

bool
plan_class_builtin(const char *name, struct plan_class_spec *ret)
{
    int version;

    set_defaults(ret, name);
    for (size_t i = 0; i < COUNT(cpu_rows); i++)
        if (strcmp(name, cpu_rows[i].name) == 0) {
            cpu_rows[i].set(ret);
            return true;
        }
    for (size_t i = 0; i < COUNT(gpu_rows); i++)
        if (is_named(name, gpu_rows[i].name, &version)) {
            set_gpu(&gpu_rows[i], version, ret);
            return true;
        }
    return set_vbox(name, ret);
}
