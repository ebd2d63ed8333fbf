/* quota.c - what a good, bad or overdue result does to the statistics of its
 * host with that app version (lifecycle §3.4, 4.5, 5.2). */
#include "quota.h"

#include "average.h"

#define DAY 86400

static const int endless = 1000000000; /* counters stay below INT_MAX */

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
    average_add_spread(&average_of_host, x, n, avg, var, q);
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

static void
one_less(struct host_app_version *hav, int daily_result_quota)
{
    if (daily_result_quota > 0) {
        int quota = quota_now(hav, daily_result_quota) - 1;

        hav->max_jobs_per_day = quota < 1 ? 1 : quota;
    }
}

void
quota_timed_out(struct host_app_version *hav, double delay_bound,
                int daily_result_quota)
{
    quota_add_sample(delay_bound, &hav->turnaround_n, &hav->turnaround_avg,
                     &hav->turnaround_var, &hav->turnaround_q);
    hav->consecutive_valid = 0;
    one_less(hav, daily_result_quota);
}

void
quota_reported_error(struct host_app_version *hav, int daily_result_quota)
{
    hav->consecutive_valid = 0;
    one_less(hav, daily_result_quota);
}

void
quota_reported_success(struct host_app_version *hav, int daily_result_quota)
{
    if (daily_result_quota <= 0)
        return;
    if (hav->max_jobs_per_day <= 0)
        hav->max_jobs_per_day = daily_result_quota;
    else if (hav->max_jobs_per_day <= daily_result_quota / 2)
        hav->max_jobs_per_day *= 2;
    else if (hav->max_jobs_per_day < daily_result_quota)
        hav->max_jobs_per_day = daily_result_quota;
}

void
quota_sent(struct host_app_version *hav)
{
    if (hav->n_jobs_today < 0)
        hav->n_jobs_today = 0;
    if (hav->n_jobs_today < endless)
        hav->n_jobs_today++;
}

void
quota_hopeless(struct host_app_version *hav)
{
    hav->max_jobs_per_day = 1;
    hav->n_jobs_today = 1;
}

/* The second of the day (UTC) before midnight at which the host's day begins.
 * Fibonacci hashing: neighbours end up far apart. */
static int64_t
day_offset(int64_t host_id)
{
    uint64_t hash = (uint64_t)host_id * UINT64_C(11400714819323198485);

    return (int64_t)((hash >> 32) % DAY);
}

bool
quota_is_new_day(int64_t host_id, int64_t last, int64_t now)
{
    int64_t begin = day_offset(host_id);

    return (last + begin) / DAY != (now + begin) / DAY;
}

int64_t
quota_next_day(int64_t host_id, int64_t now)
{
    return DAY - (now + day_offset(host_id)) % DAY;
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
