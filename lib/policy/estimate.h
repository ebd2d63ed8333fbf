/* estimate.h - how long a job runs on a host, and what a host has to offer
 * (dispatch §6). */
#ifndef QUORATE_ESTIMATE_H
#define QUORATE_ESTIMATE_H

#include "account.h"
#include "host.h"

/* Processors that may compute: p_ncpus × max_ncpus_pct, at least 1, at most
 * `max_ncpus` (config) and 4096. */
int estimate_ncpus(const struct host *, const struct global_prefs *,
                   int max_ncpus);

/* Bytes of memory a job may use (§6: m_nbytes <= 0 counts as 64e6). */
double estimate_usable_ram(const struct host *, const struct global_prefs *);

/* Fraction of wall time that a CPU job runs: on_frac × active_frac, and × the
 * old clients' cpu_efficiency if > 0; within 0.1 … 1 (§6). */
double estimate_available_frac(const struct host *, double cpu_efficiency);

/* Bytes of disk the project may still use (§6.1); 0 if sizes are unknown. */
double estimate_disk_available(const struct host *, const struct global_prefs *,
                               double default_min_free_gb);

/* FLOPS of one CPU; <= 0 counts as 1e9. */
double estimate_flops_per_cpu(const struct host *);

/* Seconds of wall time on the host: rsc_fpops_est (<= 0: 1e12) / flops /
 * available fraction (§6.2). */
double estimate_duration(double rsc_fpops_est, double flops,
                         double available_frac);

#endif
