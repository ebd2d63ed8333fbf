/* estimate.c - how long a job runs on a host, and what a host has to offer
 * (dispatch §6). */
#include "estimate.h"

#include <math.h>

#define GIGA 1073741824.0 /* bytes; sizes of the protocol are powers of two */
#define MAX_NCPUS 4096
#define RAM_UNKNOWN 64e6   /* bytes */
#define FLOPS_UNKNOWN 1e9  /* FLOPS */
#define FPOPS_UNKNOWN 1e12 /* FLOP */
#define LEAST_AVAILABLE 0.1

static bool
is_known(double x)
{
    return isfinite(x) && x > 0;
}

int
estimate_ncpus(const struct host *host, const struct global_prefs *prefs,
               int max_ncpus)
{
    double pct = prefs->max_ncpus_pct;
    double n = host->p_ncpus;

    if (pct > 0 && pct < 100)
        n = floor(n * pct / 100);
    if (max_ncpus > 0)
        n = fmin(n, max_ncpus);
    return (int)fmax(1, fmin(n, MAX_NCPUS));
}

double
estimate_usable_ram(const struct host *host, const struct global_prefs *prefs)
{
    double ram = is_known(host->m_nbytes) ? host->m_nbytes : RAM_UNKNOWN;
    double busy = prefs->ram_max_used_busy_pct / 100;
    double idle = prefs->ram_max_used_idle_pct / 100;

    if (busy > 0 && idle > 0)
        ram *= fmin(1, fmax(busy, idle));
    return ram;
}

/* NaN counts as the least. */
static double
clamp_fraction(double x)
{
    return fmin(1, fmax(LEAST_AVAILABLE, x));
}

double
estimate_available_frac(const struct host *host, double cpu_efficiency)
{
    double frac = clamp_fraction(host->on_frac * host->active_frac);

    if (is_known(cpu_efficiency))
        frac = clamp_fraction(frac * cpu_efficiency);
    return frac;
}

double
estimate_disk_available(const struct host *host,
                        const struct global_prefs *prefs,
                        double default_min_free_gb)
{
    double min_free = fmax(prefs->disk_min_free_gb, default_min_free_gb) * GIGA;
    double used = host->d_boinc_used_total;
    double left = host->d_free - min_free;

    if (!is_known(host->d_total) || !is_known(host->d_free))
        return 0;
    if (is_known(used)) {
        if (prefs->disk_max_used_pct > 0)
            left = fmin(left,
                        host->d_total * prefs->disk_max_used_pct / 100 - used);
        if (prefs->disk_max_used_gb > 0)
            left = fmin(left, prefs->disk_max_used_gb * GIGA - used);
    }
    return is_known(left) ? left : 0;
}

double
estimate_flops_per_cpu(const struct host *host)
{
    return is_known(host->p_fpops) ? host->p_fpops : FLOPS_UNKNOWN;
}

double
estimate_duration(double rsc_fpops_est, double flops, double available_frac)
{
    double work = is_known(rsc_fpops_est) ? rsc_fpops_est : FPOPS_UNKNOWN;
    double speed = is_known(flops) ? flops : FLOPS_UNKNOWN;

    return work / speed / clamp_fraction(available_frac);
}
