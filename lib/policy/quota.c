/* quota.c - what a good, bad or overdue result does to the statistics of its
 * host with that app version (lifecycle §3.4, 4.5, 5.2). */
#include "quota.h"

#include <math.h>

static const double mean_samples = 20; /* after these the average decays */
static const double late_weight = 0.01;
static const double largest_factor = 10; /* of one sample to the average */
static const int endless = 1000000000;   /* counters stay below INT_MAX */

int64_t
quota_version_key(int64_t appid, int64_t app_version_id)
{
    if (app_version_id < 0)
        return appid * 1000000 - app_version_id;
    return app_version_id;
}

void
quota_add_sample(double x, double *n, double *avg, double *var, double *q)
{
    double d, old = *avg;

    if (!isfinite(x) || x < 0)
        return;
    if (*n > 0 && old > 0 && x > largest_factor * old)
        x = largest_factor * old;
    *n += 1;
    d = x - old;
    if (*n < mean_samples) {
        *avg += d / *n;
        *q += d * (x - *avg);
        *var = *q / *n;
    } else {
        *avg += late_weight * d;
        *var += late_weight * (d * d - *var);
    }
}

/* The quota in force: a row that never had one has the whole. */
static int
quota_now(const struct host_app_version *hav, int daily_result_quota)
{
    if (hav->max_jobs_per_day <= 0 ||
        hav->max_jobs_per_day > daily_result_quota)
        return daily_result_quota;
    return hav->max_jobs_per_day;
}

void
quota_timed_out(struct host_app_version *hav, double delay_bound,
                int daily_result_quota)
{
    quota_add_sample(delay_bound, &hav->turnaround_n, &hav->turnaround_avg,
                     &hav->turnaround_var, &hav->turnaround_q);
    hav->consecutive_valid = 0;
    if (daily_result_quota > 0) {
        int quota = quota_now(hav, daily_result_quota) - 1;

        hav->max_jobs_per_day = quota < 1 ? 1 : quota;
    }
}

void
quota_valid(struct host_app_version *hav, int daily_result_quota,
            bool replicated)
{
    if (daily_result_quota > 0 && hav->max_jobs_per_day <= 0)
        hav->max_jobs_per_day = daily_result_quota;
    if (daily_result_quota > 0 && hav->max_jobs_per_day < endless)
        hav->max_jobs_per_day++;
    if (replicated && hav->consecutive_valid < endless)
        hav->consecutive_valid++;
}

void
quota_invalid(struct host_app_version *hav, int daily_result_quota)
{
    hav->consecutive_valid = 0;
    if (daily_result_quota > 0 && hav->max_jobs_per_day > daily_result_quota)
        hav->max_jobs_per_day--;
}

double
quota_turnaround(double old, double seconds)
{
    return old > 0 ? 0.7 * old + 0.3 * seconds : seconds;
}
