/* plan_class_rows.c - the elements of a plan class as a table (dispatch §7.2),
 * and what must go together. */
#include "plan_class_rows.h"

#include <stdio.h>
#include <string.h>

#include "buf.h"

#define MOST 2147483647.0
#define MOST_ID 9007199254740992.0 /* doubles are exact up to here */
#define MOST_VERSION 999999999.0
#define MOST_MB 1e12
#define MOST_FLOPS 1e18

#define ROW(name, kind, min, max, needs, deflt, help)                          \
    {                                                                          \
#name, kind, offsetof(struct plan_class_spec, name), min, max, needs,  \
            deflt, help                                                        \
    }
#define BOOL(name, needs, help) ROW(name, ROW_BOOL, 0, 0, needs, NULL, help)
#define INT(name, max, needs, help)                                            \
    ROW(name, ROW_INT, 0, max, needs, NULL, help)
#define ID(name, help) ROW(name, ROW_I64, 0, MOST_ID, NULL, NULL, help)
#define WORD(name, needs, help) ROW(name, ROW_WORD, 0, 0, needs, NULL, help)
#define REGEX(name, needs, help) ROW(name, ROW_REGEX, 0, 0, needs, NULL, help)
#define REAL(name, min, max, needs, deflt, help)                               \
    ROW(name, ROW_REAL, min, max, needs, deflt, help)
#define GPU "gpu_type"

/* clang-format off */
const struct plan_class_row plan_class_rows[] = {
    WORD(name, NULL, "exact name of the class"),
    REAL(infeasible_random, 0, 1, NULL, NULL, "refuse with this probability"),
    ID(user_id, "only this user"),
    ID(min_wu_id, "workunits from this id on"),
    ID(max_wu_id, "workunits up to this id"),
    ID(min_batch, "batches from this id on"),
    ID(max_batch, "batches up to this id"),

    {"cpu_feature", ROW_FEATURE, 0, 0, 0, NULL, NULL,
     "word among the features of the CPU; may be repeated, all are needed"},
    REAL(min_ncpus, 0, 65536, NULL, NULL, "at least so many processors that may be used"),
    REGEX(os_regex, NULL, "matches the version of the operating system"),
    ROW(min_os_version, ROW_I64, 0, 1e15, NULL, NULL,
        "kernel a.b.c as 10000a + 100b + c; Windows a.b.c.d as 1e8a + 1e6b + 100c + d"),
    ROW(max_os_version, ROW_I64, 0, 1e15, NULL, NULL, "likewise"),
    INT(min_android_version, MOST_VERSION, NULL, "Android a.b.c as 10000a + 100b + c"),
    INT(max_android_version, MOST_VERSION, NULL, "likewise"),
    INT(min_libc_version, MOST_VERSION, NULL, "libc a.b as 100a + b; with wsl that of a distribution"),
    REGEX(cpu_vendor_regex, NULL, "matches the maker of the CPU"),
    REGEX(cpu_model_regex, NULL, "matches the model of the CPU"),
    INT(min_core_client_version, MOST_VERSION, NULL, "client a.b.c as 10000a + 100b + c"),
    INT(max_core_client_version, MOST_VERSION, NULL, "likewise"),

    BOOL(virtualbox, NULL, "needs VirtualBox (and client 7.0)"),
    BOOL(is64bit, "virtualbox", "for 64-bit systems; without it for 32-bit ones"),
    BOOL(vm_accel_required, "virtualbox", "needs hardware support for virtual machines"),
    INT(min_vbox_version, MOST_VERSION, "virtualbox", "VirtualBox a.b.c as 10000a + 100b + c"),
    INT(max_vbox_version, MOST_VERSION, "virtualbox", "likewise"),
    {"exclude_vbox_version", ROW_EXCLUDED, 0, 1, MOST_VERSION, "virtualbox", NULL,
     "not this VirtualBox; may be repeated"},
    BOOL(wsl, NULL, "needs a WSL distribution that the volunteer permits"),
    BOOL(docker, NULL, "needs Docker or Podman"),
    INT(min_boinc_wsl_distro_version, MOST, "docker",
        "least version of BOINC's own WSL distribution, which has Podman"),

    WORD(project_prefs_tag, "project_prefs_regex", "element of the user's project preferences"),
    REGEX(project_prefs_regex, "project_prefs_tag", "its value matches"),
    BOOL(project_prefs_default_true, "project_prefs_tag", "a user without the element is taken"),
    WORD(gpu_utilization_tag, GPU, "element of the project preferences that says which fraction of a GPU"),

    {"gpu_type", ROW_GPU_TYPE, 0, 0, 0, NULL, NULL,
     "nvidia, amd (or ati), intel, apple, or another type that clients name"},
    REGEX(gpu_type_regex, NULL, "instead of gpu_type: matches the type of another coprocessor"),
    BOOL(cuda, GPU, "needs CUDA"),
    BOOL(cal, GPU, "has no effect"),
    BOOL(opencl, GPU, "needs OpenCL"),
    BOOL(need_ati_libs, GPU, "AMD: needs the runtime libraries named ati"),
    BOOL(need_amd_libs, GPU, "AMD: needs the runtime libraries named amd"),
    BOOL(without_opencl, GPU, "only where there is no OpenCL"),
    INT(min_cal_target, MOST, GPU, "AMD: number of the GPU's generation"),
    INT(max_cal_target, MOST, GPU, "likewise"),
    INT(min_nvidia_compcap, MOST, GPU, "NVIDIA: compute capability a.b as 100a + b"),
    INT(max_nvidia_compcap, MOST, GPU, "likewise"),
    INT(min_cuda_version, MOST, "cuda", "CUDA a.b as 1000a + 10b"),
    INT(max_cuda_version, MOST, "cuda", "likewise"),
    INT(min_opencl_version, MOST, "opencl", "OpenCL a.b as 100a + b"),
    INT(max_opencl_version, MOST, "opencl", "likewise"),
    INT(min_opencl_driver_revision, MOST, "opencl", "revision of the OpenCL driver"),
    INT(max_opencl_driver_revision, MOST, "opencl", "likewise"),
    BOOL(double_precision_fp, GPU, "needs double precision"),
    INT(min_metal_support, MOST, GPU, "Apple: level of Metal"),
    REAL(min_gpu_ram_mb, 0, MOST_MB, GPU, NULL, "video memory, MB"),
    INT(min_driver_version, MOST, GPU, "NVIDIA driver a.b as 100a + b; AMD a.b.c as 1e7a + 1e4b + c"),
    INT(max_driver_version, MOST, GPU, "likewise"),
    REAL(min_gpu_peak_flops, 0, MOST_FLOPS, GPU, NULL, "peak speed of one GPU, FLOPS"),
    REAL(max_gpu_peak_flops, 0, MOST_FLOPS, GPU, NULL, "likewise"),

    REAL(gpu_ram_used_mb, 0, MOST_MB, GPU, "min_gpu_ram_mb", "video memory that a job uses, MB"),
    REAL(ngpus, -64, 64, GPU, "1", "GPUs that a job uses; below 0: by its share of video memory"),
    REAL(cpu_frac, 0, 1, GPU, "0.1", "fraction of the FLOPs that the CPU does"),
    REAL(gpu_peak_flops_scale, 1e-6, 1e6, GPU, "1", "fraction of its peak speed that the GPU reaches"),
    REAL(avg_ncpus, 0, 65536, NULL, "computed", "CPUs that a job uses"),
    REAL(max_threads, 1, 65536, NULL, "1", "CPUs that a job can use"),
    REAL(mem_usage_base_mb, 0, MOST_MB, NULL, NULL, "memory, MB, instead of the workunit's bound"),
    REAL(mem_usage_per_cpu_mb, 0, MOST_MB, NULL, NULL, "and for each CPU"),
    BOOL(nthreads_cmdline, NULL, "add --nthreads N to the command line"),
    REAL(projected_flops_scale, 1e-6, 1e6, NULL, "1", "times the expected speed"),
};
/* clang-format on */
const size_t n_plan_class_rows = ARRAY_LEN(plan_class_rows);

_Static_assert(ARRAY_LEN(plan_class_rows) <= PLAN_CLASS_MOST_ROWS,
               "PLAN_CLASS_MOST_ROWS");

size_t
plan_class_row_named(const char *name)
{
    size_t i = 0;

    while (i < n_plan_class_rows && strcmp(plan_class_rows[i].name, name) != 0)
        i++;
    return i;
}

/* ---- what must go together ---- */

static int
line_of(const int *lines, const char *name)
{
    return lines[plan_class_row_named(name)];
}

static bool
lacks_company(const int *lines, size_t i)
{
    const char *needs = plan_class_rows[i].needs;

    if (needs == NULL || line_of(lines, needs) != 0)
        return false;
    return strcmp(needs, GPU) != 0 || line_of(lines, "gpu_type_regex") == 0;
}

/* Elements that are about one maker's GPUs. */
static const struct {
    const char *element;
    enum proc_type type;
    const char *maker;
} makers[] = {
    {"cuda",               PROC_NVIDIA,    "NVIDIA"},
    {"min_nvidia_compcap", PROC_NVIDIA,    "NVIDIA"},
    {"max_nvidia_compcap", PROC_NVIDIA,    "NVIDIA"},
    {"cal",                PROC_AMD,       "AMD"   },
    {"need_ati_libs",      PROC_AMD,       "AMD"   },
    {"need_amd_libs",      PROC_AMD,       "AMD"   },
    {"min_cal_target",     PROC_AMD,       "AMD"   },
    {"max_cal_target",     PROC_AMD,       "AMD"   },
    {"min_metal_support",  PROC_APPLE_GPU, "Apple" },
};

static const char *
other_maker(const struct plan_class_spec *spec, const char *element)
{
    for (size_t i = 0; i < ARRAY_LEN(makers); i++)
        if (strcmp(makers[i].element, element) == 0 &&
            (spec->uses != PLAN_CLASS_GPU || spec->gpu_type != makers[i].type))
            return makers[i].maker;
    if (strstr(element, "_driver_version") != NULL &&
        (spec->uses != PLAN_CLASS_GPU ||
         (spec->gpu_type != PROC_NVIDIA && spec->gpu_type != PROC_AMD)))
        return "NVIDIA and AMD";
    return NULL;
}

static double
number(const struct plan_class_spec *spec, size_t i)
{
    const void *at = (const char *)spec + plan_class_rows[i].offset;

    switch (plan_class_rows[i].kind) {
    case ROW_INT:
        return *(const int *)at;
    case ROW_I64:
        return (double)*(const int64_t *)at;
    case ROW_REAL:
        return *(const double *)at;
    case ROW_BOOL:
    case ROW_WORD:
    case ROW_REGEX:
    case ROW_FEATURE:
    case ROW_EXCLUDED:
    case ROW_GPU_TYPE:
        break;
    }
    return 0;
}

/* Of a max_x: is it below min_x? */
static bool
is_below_least(const struct plan_class_spec *spec, size_t i, size_t *ret_least)
{
    char least[64];

    if (strncmp(plan_class_rows[i].name, "max_", 4) != 0)
        return false;
    (void)snprintf(least, sizeof(least), "min_%s", plan_class_rows[i].name + 4);
    *ret_least = plan_class_row_named(least);
    return *ret_least < n_plan_class_rows && number(spec, i) != 0 &&
           number(spec, i) < number(spec, *ret_least);
}

static bool
clashes(const struct plan_class_spec *spec, const int *lines, size_t i,
        char *text, size_t size)
{
    const char *name = plan_class_rows[i].name;
    size_t least;

    if (lacks_company(lines, i))
        (void)snprintf(text, size, "<%s> has no meaning without <%s>", name,
                       plan_class_rows[i].needs);
    else if (other_maker(spec, name) != NULL)
        (void)snprintf(text, size, "<%s> is for %s GPUs only", name,
                       other_maker(spec, name));
    else if (is_below_least(spec, i, &least))
        (void)snprintf(text, size, "<%s> is below <%s>, so nobody fits", name,
                       plan_class_rows[least].name);
    else if (strcmp(name, "gpu_type_regex") == 0 && line_of(lines, GPU) != 0)
        (void)snprintf(text, size, "<%s> and <%s> exclude each other", name,
                       GPU);
    else if (strcmp(name, "ngpus") == 0 && number(spec, i) == 0)
        (void)snprintf(text, size, "<%s> must not be 0", name);
    else
        return false;
    return true;
}

bool
plan_class_next_clash(const struct plan_class_spec *spec, const int *lines,
                      int *at, struct plan_class_clash *ret)
{
    while ((size_t)*at < n_plan_class_rows) {
        size_t i = (size_t)(*at)++;

        if (lines[i] != 0 &&
            clashes(spec, lines, i, ret->text, sizeof(ret->text))) {
            ret->line = lines[i];
            return true;
        }
    }
    return false;
}
