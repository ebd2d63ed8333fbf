/* plan_class_gpu.c - what plan classes ask of coprocessors. */
#include "plan_class_judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define CLIENT_FOR_CUDA_ON_DARWIN 61028
#define DOUBLE_PRECISION_COMPCAP 103 /* CUDA: compute capability 1.3 */
#define GIGAFLOPS 1e9

/* ---- versions as people write them ---- */

static const char *
thousands(int64_t n, char ret[PLAN_CLASS_TEXT_SIZE]) /* CUDA: 12020 = 12.2 */
{
    snprintf(ret, PLAN_CLASS_TEXT_SIZE, "%d.%d", (int)(n / 1000),
             (int)(n % 1000 / 10));
    return ret;
}

static const char *
nvidia_driver(int64_t n, char ret[PLAN_CLASS_TEXT_SIZE]) /* 53512 = 535.12 */
{
    snprintf(ret, PLAN_CLASS_TEXT_SIZE, "%d.%02d", (int)(n / 100),
             (int)(n % 100));
    return ret;
}

static const char *
amd_driver(int64_t n, char ret[PLAN_CLASS_TEXT_SIZE]) /* 10041848 = 1.4.1848 */
{
    snprintf(ret, PLAN_CLASS_TEXT_SIZE, "%d.%d.%d", (int)(n / 10000000),
             (int)(n / 10000 % 1000), (int)(n % 10000));
    return ret;
}

/* ---- which coprocessor ---- */

static const struct gpu *
find_other(const struct judge *j)
{
    const struct plan_class_spec *spec = j->spec;
    const struct ability *a = j->host->ability;

    for (int i = 0; i < a->n_coprocs; i++)
        if (spec->gpu_type_regex.text[0] != '\0'
                ? plan_class_matches(&spec->gpu_type_regex, a->coproc[i].type)
                : strcasecmp(spec->gpu_other, a->coproc[i].type) == 0)
            return &a->coproc[i].gpu;
    return NULL;
}

static bool
has_gpu(struct judge *j)
{
    static const char *const names[N_PROC_TYPES] = {
        [PROC_NVIDIA] = "NVIDIA GPU",
        [PROC_AMD] = "AMD GPU",
        [PROC_INTEL_GPU] = "Intel GPU",
        [PROC_APPLE_GPU] = "Apple GPU",
    };
    const struct plan_class_spec *spec = j->spec;

    if (spec->uses == PLAN_CLASS_OTHER) {
        j->gpu = find_other(j);
        j->gpu_name = spec->gpu_type_regex.text[0] != '\0'
                          ? spec->gpu_type_regex.text
                          : spec->gpu_other;
    } else {
        j->gpu = &j->host->ability->gpu[spec->gpu_type];
        j->gpu_name = names[spec->gpu_type];
    }
    if (j->gpu != NULL && j->gpu->count > 0)
        return true;
    return plan_class_refuse(
        j, PLAN_CLASS_HOST,
        spec->gpu_type_regex.text[0] != '\0' ? "gpu_type_regex" : "gpu_type",
        "needs a coprocessor of type %.50s, this computer has none",
        j->gpu_name);
}

/* ---- its interfaces ---- */

static bool
lacks(struct judge *j, const char *element, const char *what)
{
    return plan_class_refuse(j, PLAN_CLASS_DRIVER, element,
                             "needs %s for the %s, which your driver does not "
                             "offer",
                             what, j->gpu_name);
}

static bool
has_interfaces(struct judge *j)
{
    const struct plan_class_spec *spec = j->spec;
    bool on_mac = strcasestr(j->host->host->os_name, "Darwin") != NULL;

    if (spec->cuda && on_mac &&
        j->host->client_version < CLIENT_FOR_CUDA_ON_DARWIN)
        return plan_class_refuse(j, PLAN_CLASS_CLIENT, "cuda",
                                 "needs client 6.10.28 or later on a Mac");
    if (spec->cuda && !j->gpu->has_cuda)
        return lacks(j, "cuda", "CUDA");
    if (spec->opencl && !j->gpu->opencl.has)
        return lacks(j, "opencl", "OpenCL");
    if (spec->without_opencl && j->gpu->opencl.has)
        return plan_class_refuse(j, PLAN_CLASS_HOST, "without_opencl",
                                 "is for the %s without OpenCL", j->gpu_name);
    if (spec->need_ati_libs && !j->gpu->atirt)
        return lacks(j, "need_ati_libs", "the ATI libraries");
    if (spec->need_amd_libs && !j->gpu->amdrt)
        return lacks(j, "need_amd_libs", "the AMD libraries");
    return true;
}

static bool
has_double_precision(struct judge *j)
{
    const struct gpu *gpu = j->gpu;
    bool has = j->spec->opencl
                   ? gpu->opencl.double_precision
                   : gpu->double_precision ||
                         gpu->compute_capability >= DOUBLE_PRECISION_COMPCAP;

    return !j->spec->double_precision_fp || has ||
           plan_class_refuse(j, PLAN_CLASS_HOST, "double_precision_fp",
                             "needs double precision, which the %s lacks",
                             j->gpu_name);
}

static bool
generation_suits(struct judge *j)
{
    const struct plan_class_range target = {
        "GPU target",
        "min_cal_target",
        "max_cal_target",
        j->spec->min_cal_target,
        j->spec->max_cal_target,
        PLAN_CLASS_HOST,
        plan_class_number,
    };
    const struct plan_class_range compcap = {
        "compute capability",
        "min_nvidia_compcap",
        "max_nvidia_compcap",
        j->spec->min_nvidia_compcap,
        j->spec->max_nvidia_compcap,
        PLAN_CLASS_HOST,
        plan_class_pair,
    };
    const struct plan_class_range metal = {
        "Metal",         "min_metal_support", "", j->spec->min_metal_support, 0,
        PLAN_CLASS_HOST, plan_class_number,
    };

    return plan_class_in_range(j, &target, j->gpu->cal_target) &&
           plan_class_in_range(j, &compcap, j->gpu->compute_capability) &&
           plan_class_in_range(j, &metal, j->gpu->metal_support);
}

static bool
cuda_version_suits(struct judge *j)
{
    const struct plan_class_range range = {
        "CUDA",
        "min_cuda_version",
        "max_cuda_version",
        j->spec->min_cuda_version,
        j->spec->max_cuda_version,
        PLAN_CLASS_DRIVER,
        thousands,
    };

    return !j->spec->cuda ||
           plan_class_in_range(j, &range, j->gpu->cuda_version);
}

static bool
opencl_version_suits(struct judge *j)
{
    const struct plan_class_range version = {
        "OpenCL",
        "min_opencl_version",
        "max_opencl_version",
        j->spec->min_opencl_version,
        j->spec->max_opencl_version,
        PLAN_CLASS_DRIVER,
        plan_class_pair,
    };
    const struct plan_class_range revision = {
        "OpenCL driver revision",
        "min_opencl_driver_revision",
        "max_opencl_driver_revision",
        j->spec->min_opencl_driver_revision,
        j->spec->max_opencl_driver_revision,
        PLAN_CLASS_DRIVER,
        plan_class_number,
    };

    return !j->spec->opencl ||
           (plan_class_in_range(j, &version, j->gpu->opencl.device_version) &&
            plan_class_in_range(j, &revision, j->gpu->opencl.driver_revision));
}

/* ---- its size ---- */

double
plan_class_gpu_ram(const struct judge *j)
{
    const struct gpu *gpu = j->gpu;

    return j->spec->opencl && gpu->opencl.global_mem_size > 0
               ? gpu->opencl.global_mem_size
               : gpu->ram;
}

static bool
fits_gpu_ram(struct judge *j)
{
    double wants = j->spec->min_gpu_ram_mb;
    double has = plan_class_gpu_ram(j) / PLAN_CLASS_MEGA;

    return has >= wants ||
           plan_class_refuse(j, PLAN_CLASS_HOST, "min_gpu_ram_mb",
                             "needs %.0f MB of video memory, the %s has %.0f "
                             "MB",
                             ceil(wants), j->gpu_name, floor(has));
}

static bool
driver_suits(struct judge *j)
{
    bool amd = j->spec->gpu_type == PROC_AMD;
    const struct plan_class_range range = {
        amd ? "AMD driver" : "NVIDIA driver",
        "min_driver_version",
        "max_driver_version",
        j->spec->min_driver_version,
        j->spec->max_driver_version,
        PLAN_CLASS_DRIVER,
        amd ? amd_driver : nvidia_driver,
    };

    return plan_class_in_range(
        j, &range, amd ? j->gpu->cal_version : j->gpu->driver_version);
}

static bool
speed_suits(struct judge *j)
{
    double least = j->spec->min_gpu_peak_flops;
    double most = j->spec->max_gpu_peak_flops;
    double has = plan_class_gpu_flops(j->gpu);

    if (least > 0 && has < least)
        return plan_class_refuse(j, PLAN_CLASS_HOST, "min_gpu_peak_flops",
                                 "needs a GPU of %.0f GFLOPS, this has %.0f",
                                 least / GIGAFLOPS, has / GIGAFLOPS);
    if (most > 0 && has > most)
        return plan_class_refuse(j, PLAN_CLASS_HOST, "max_gpu_peak_flops",
                                 "is for GPUs of at most %.0f GFLOPS, this has "
                                 "%.0f",
                                 most / GIGAFLOPS, has / GIGAFLOPS);
    return true;
}

bool
plan_class_gpu_fits(struct judge *j)
{
    static plan_class_claim *const claims[] = {
        has_gpu,
        has_interfaces,
        generation_suits,
        cuda_version_suits,
        opencl_version_suits,
        has_double_precision,
        fits_gpu_ram,
        driver_suits,
        speed_suits,
    };

    return j->spec->uses == PLAN_CLASS_CPU ||
           plan_class_all(j, claims, COUNT(claims));
}
