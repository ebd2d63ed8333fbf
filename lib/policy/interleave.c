/* interleave.c - which stream of jobs gets the next slot of the job array, and
 * which jobs are alike. */
#include "interleave.h"

#include <math.h>

#define HARD_APP (-1.0)

static double
usable_weight(double weight)
{
    if (weight == HARD_APP)
        return 1;
    return isfinite(weight) && weight > 0 ? weight : 0;
}

void
interleave_begin(struct share *share, size_t n)
{
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        share[i] = (struct share){.weight = usable_weight(share[i].weight)};
        any = any || share[i].weight > 0;
    }
    for (size_t i = 0; i < n && !any; i++)
        share[i].weight = 1;
}

void
interleave_holds(struct share *share, size_t jobs)
{
    if (share->weight > 0)
        share->x -= (double)jobs / share->weight;
}

ptrdiff_t
interleave_next(struct share *share, size_t n)
{
    ptrdiff_t best = -1;

    for (size_t i = 0; i < n; i++)
        if (share[i].weight > 0 && !share[i].dry &&
            (best < 0 || share[i].x > share[best].x))
            best = (ptrdiff_t)i;
    if (best < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (share[i].dry && share[i].x > share[best].x)
            share[i].x = share[best].x;
    share[best].x -= 1 / share[best].weight;
    return best;
}

void
interleave_hr(const double *credit, size_t n, size_t slots, size_t *ret)
{
    size_t committed = slots / 2;
    double sum = 0;

    ret[0] = slots - committed;
    for (size_t i = 0; i < n; i++)
        sum += fmax(0, credit[i]);
    for (size_t i = 0; i < n; i++) {
        double part = sum > 0 ? fmax(0, credit[i]) / sum : 0;

        ret[i + 1] = (size_t)(part * (double)committed);
        if (ret[i + 1] == 0)
            ret[i + 1] = 1;
    }
}

/* ---- classes of jobs ------------------------------------------------------
 */

static uint32_t
mix(uint32_t hash, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        hash ^= (uint32_t)(value & 0xff);
        hash *= 16777619u; /* FNV-1a */
        value >>= 8;
    }
    return hash;
}

/* Values within a factor of 2 to the power of `step` have the same band. */
static uint64_t
band(double value, int step)
{
    int exponent = 0;

    if (!isfinite(value) || value < 1)
        return 0;
    (void)frexp(value, &exponent);
    return (uint64_t)(exponent / step) + 1;
}

uint32_t
feasibility_class(const struct sendable *job)
{
    double seconds = job->delay_bound > 0 ? (double)job->delay_bound : 1;
    uint32_t hash = 2166136261u;

    hash = mix(hash, (uint64_t)job->appid);
    hash = mix(hash, (uint64_t)job->size_class);
    hash = mix(hash, (uint64_t)job->hr_class);
    hash = mix(hash, (uint64_t)job->app_version_id);
    hash = mix(hash, (uint64_t)job->app_version_num);
    hash = mix(hash, band(job->rsc_memory_bound, 1));
    hash = mix(hash, band(job->rsc_disk_bound, 1));
    hash = mix(hash, band(job->rsc_fpops_est / seconds, 2));
    return hash;
}
