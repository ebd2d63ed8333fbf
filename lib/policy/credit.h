/* credit.h - granted credit and decaying averages (lifecycle §5).  Every number
 * that leaves is finite and not negative. */
#ifndef QUORATE_CREDIT_H
#define QUORATE_CREDIT_H

#include <stdint.h>

/* Credits per FLOP: 200 for a day of 1 GFLOPS (protocol §9.2). */
#define COBBLESTONE_SCALE (200.0 / 86400e9)
#define CREDIT_HALF_LIFE 604800.0 /* s */
#define CREDIT_MAX_DEFAULT (200.0 * 1000 * 365)

/* The cap in force: `max`, 0 if it is negative, the default if it is no
 * number. */
double credit_max(double max);

/* Finite, not negative, at most credit_max(max). */
double credit_cap(double credit, double max);

/* --credit_from_wu: the workunit's preset canonical_credit, else its
 * rsc_fpops_est in credits (§5.1); capped to `max`. */
double credit_from_wu(double canonical_credit, double rsc_fpops_est,
                      double max);

/* --credit_from_runtime: of one result, before averaging (§5.1); 0: not used.
 */
double credit_from_runtime(double flops_estimate, double elapsed,
                           double rsc_fpops_bound, double max);

/* Σ x(S−x) / ((n−1)·S), S = Σx; n = 1: x; n = 0 or S = 0: 0 (§5.1). */
double credit_low_average(const double *x, int n);

/* expavg: credit per day, half-life one week (§5.8).  Grants `credit` for work
 * begun at `start`; updates *avg and *avg_time. */
void credit_update_average(double now, double start, double credit,
                           double half_life, double *avg, double *avg_time);

#endif
