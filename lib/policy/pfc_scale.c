/* pfc_scale.c - what the versions of an app usually claim, against each other
 * (lifecycle §5.5).
 *
 * The version that claims least for a job is the most efficient one; what it
 * claims is what a job is worth.  A version for graphics processors claims far
 * more than it does, so where there is no other one, a tenth counts. */
#include "pfc.h"

#include <math.h>
#include <string.h>

#define GPU_ALONE 0.1

struct group { /* the versions for one kind of processor */
    size_t n;
    double samples, sum;
};

static bool
uses_gpu(const char *plan_class)
{
    static const char *const words[] = {"cuda", "nvidia",    "ati",
                                        "amd",  "intel_gpu", "apple_gpu"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(plan_class, words[i]) != NULL)
            return true;
    return false;
}

static bool
has_average(const struct app_version *v)
{
    return isfinite(v->pfc_n) && isfinite(v->pfc_avg) && v->pfc_avg > 0 &&
           v->pfc_n >= PFC_MIN_VERSION_SAMPLES;
}

static void
add(struct group *g, const struct app_version *v)
{
    g->n++;
    g->samples += v->pfc_n;
    g->sum += v->pfc_n * v->pfc_avg;
}

/* 0: not enough is known. */
static double
base_of(const struct group *cpu, const struct group *gpu)
{
    double base = 0;

    if (cpu->n > 0 && gpu->n > 0)
        base = fmin(cpu->sum / cpu->samples, gpu->sum / gpu->samples);
    else if (cpu->n >= 2)
        base = cpu->sum / cpu->samples;
    else if (gpu->n >= 1)
        base = GPU_ALONE * (gpu->sum / gpu->samples);
    return isfinite(base) ? base : 0;
}

bool
pfc_scale_versions(struct app_version *v, size_t n, double *ret_min_avg_pfc)
{
    struct group cpu = {0}, gpu = {0};
    double base;

    for (size_t i = 0; i < n; i++)
        if (has_average(&v[i]) && v[i].pfc_n > PFC_MIN_VERSION_SAMPLES)
            add(uses_gpu(v[i].plan_class) ? &gpu : &cpu, &v[i]);
    base = base_of(&cpu, &gpu);
    if (!(base > 0))
        return false;
    for (size_t i = 0; i < n; i++)
        if (has_average(&v[i]) && isfinite(base / v[i].pfc_avg))
            v[i].pfc_scale = base / v[i].pfc_avg;
    *ret_min_avg_pfc = base;
    return true;
}
