/* plan_class_usage.c - CPUs, memory and speeds that a plan class works out to
 * on a host (dispatch §7.2).
 *
 * With a GPU the job's FLOPs are split: a fraction f on the CPU at speed s1,
 * the rest on the GPU at s2.  Of each FLOP f/s1 + (1-f)/s2 seconds, so the
 * speed is s1·s2 / (f·s2 + (1-f)·s1), and the CPU is busy f·s2 / (the same) of
 * it. */
#include "plan_class_judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FLOPS_UNKNOWN 1e9      /* of a CPU */
#define GPU_FLOPS_UNKNOWN 1e11 /* of a GPU that says nothing, or nonsense */
#define GPU_FLOPS_MAX 1e15
#define ABOVE_MOST 1.1

double
plan_class_host_flops(double p_fpops, double median, double p95)
{
    if (!(p_fpops > 0))
        p_fpops = median;
    if (p95 > 0 && p_fpops > ABOVE_MOST * p95)
        p_fpops = p95;
    return p_fpops > 0 ? p_fpops : FLOPS_UNKNOWN;
}

double
plan_class_gpu_flops(const struct gpu *gpu)
{
    return gpu->peak_flops > 0 && gpu->peak_flops <= GPU_FLOPS_MAX
               ? gpu->peak_flops
               : GPU_FLOPS_UNKNOWN;
}

/* ---- CPUs and memory ---- */

/* CPUs that the class may take, memory aside. */
static double
most_ncpus(const struct judge *j)
{
    const struct plan_class_spec *spec = j->spec;
    bool one = spec->virtualbox && !plan_class_has_vm_accel(j->host->ability);

    if (spec->avg_ncpus > 0)
        return spec->avg_ncpus;
    if (spec->uses != PLAN_CLASS_CPU || one)
        return 1;
    return fmax(1, fmin(spec->max_threads, j->host->ncpus));
}

static double
memory_mb(const struct plan_class_spec *spec, double ncpus)
{
    return spec->mem_usage_base_mb + spec->mem_usage_per_cpu_mb * ncpus;
}

/* Reduce *ncpus until memory suffices, but not below what the class needs. */
static bool
fits_memory(struct judge *j, double *ncpus)
{
    const struct plan_class_spec *spec = j->spec;
    double usable = j->host->usable_ram / PLAN_CLASS_MEGA;
    double least = fmax(1, spec->min_ncpus), wants = memory_mb(spec, least);

    if (wants > usable)
        return plan_class_refuse(j, PLAN_CLASS_HOST,
                                 spec->mem_usage_base_mb > 0
                                     ? "mem_usage_base_mb"
                                     : "mem_usage_per_cpu_mb",
                                 "needs %.0f MB of memory, %.0f MB may be used",
                                 ceil(wants), floor(usable));
    if (*ncpus > least && memory_mb(spec, *ncpus) > usable)
        *ncpus = fmax(least, floor((usable - spec->mem_usage_base_mb) /
                                   spec->mem_usage_per_cpu_mb));
    return true;
}

/* ---- command line ---- */

static void
add_argument(struct host_usage *u, const char *name, double value)
{
    size_t n = strlen(u->cmdline);

    snprintf(u->cmdline + n, sizeof(u->cmdline) - n, "%s%s %.0f",
             n > 0 ? " " : "", name, value);
}

static void
describe(const struct judge *j, double ncpus)
{
    const struct plan_class_spec *spec = j->spec;
    struct host_usage *u = &j->verdict->usage;
    double mb = ceil(memory_mb(spec, fmax(1, ncpus)));

    if (spec->nthreads_cmdline)
        add_argument(u, "--nthreads", fmax(1, floor(ncpus)));
    if (mb > 0) {
        u->mem_usage = mb * PLAN_CLASS_MEGA;
        add_argument(u, "--memory_size_mb", mb);
    }
}

/* ---- GPUs ---- */

/* "0.5" -> 0.5; what is no fraction within 0 … 1: 1. */
static double
fraction(const char *text)
{
    double value = 0, place = 1;
    bool behind_dot = false;

    for (; plan_class_is_digit(*text) || (*text == '.' && !behind_dot);
         text++) {
        if (*text == '.') {
            behind_dot = true;
        } else if (behind_dot) {
            place /= 10;
            value += place * (*text - '0');
        } else {
            value = 10 * value + (*text - '0');
        }
    }
    return *text == '\0' && value > 0 && value <= 1 ? value : 1;
}

static double
gpu_utilization(const struct judge *j)
{
    const char *tag = j->spec->gpu_utilization_tag;
    const char *value = tag[0] != '\0' ? plan_class_pref(j, tag) : NULL;

    return value != NULL ? fraction(value) : 1;
}

/* Negative ngpus: as many as fit into the memory of one GPU share it, and what
 * they take of the memory is what they take of the GPU. */
static double
gpu_usage(const struct judge *j, double gpu_ram_used)
{
    double ram = plan_class_gpu_ram(j), n;

    if (j->spec->ngpus > 0)
        return j->spec->ngpus * gpu_utilization(j);
    if (gpu_ram_used <= 0 || ram <= 0)
        return 1;
    n = floor(ram / gpu_ram_used);
    return n >= 1 ? n * gpu_ram_used / ram : 1;
}

static bool
use_gpu(struct judge *j)
{
    const struct plan_class_spec *spec = j->spec;
    struct host_usage *u = &j->verdict->usage;
    double used_mb = spec->gpu_ram_used_mb > 0 ? spec->gpu_ram_used_mb
                                               : spec->min_gpu_ram_mb;
    double s1 = j->host->flops_per_cpu, s2, y, f = spec->cpu_frac;

    u->gpu_ram = used_mb * PLAN_CLASS_MEGA;
    u->gpu_usage = gpu_usage(j, u->gpu_ram);
    if (u->gpu_usage > j->gpu->count)
        return plan_class_refuse(j, PLAN_CLASS_HOST, "ngpus",
                                 "needs %g GPUs, this computer has %d",
                                 u->gpu_usage, j->gpu->count);
    s2 = spec->gpu_peak_flops_scale * u->gpu_usage *
         plan_class_gpu_flops(j->gpu);
    y = f * s2 + (1 - f) * s1;
    u->projected_flops = s1 * s2 / y * spec->projected_flops_scale;
    u->avg_ncpus = spec->avg_ncpus > 0 ? spec->avg_ncpus : f * s2 / y;
    u->peak_flops = s2 + u->avg_ncpus * s1;
    return true;
}

static void
name_coproc(const struct judge *j)
{
    const struct ability *a = j->host->ability;
    struct host_usage *u = &j->verdict->usage;

    for (int i = 0; i < a->n_coprocs; i++)
        if (j->gpu == &a->coproc[i].gpu)
            snprintf(u->other_coproc, sizeof(u->other_coproc), "%s",
                     a->coproc[i].type);
}

/* ---- all ---- */

static void
use_cpu(struct judge *j, double ncpus)
{
    struct host_usage *u = &j->verdict->usage;

    u->avg_ncpus = ncpus;
    u->peak_flops = j->host->flops_per_cpu * ncpus;
    u->projected_flops = u->peak_flops * j->spec->projected_flops_scale;
}

bool
plan_class_usage(struct judge *j)
{
    double ncpus = most_ncpus(j);

    if (!fits_memory(j, &ncpus))
        return false;
    describe(j, ncpus);
    if (j->spec->uses == PLAN_CLASS_CPU) {
        use_cpu(j, ncpus);
        return true;
    }
    if (j->spec->uses == PLAN_CLASS_GPU)
        j->verdict->usage.type = j->spec->gpu_type;
    name_coproc(j);
    return use_gpu(j);
}
