/* trust.c - which hosts may do a job alone, or get one that is in a hurry
 * (lifecycle §6, dispatch §6). */
#include "trust.h"

#include <string.h>

#define MIN_SAMPLES 10
#define SLOW_FACTOR 1.8

bool
trust_alone(int consecutive_valid, double draw)
{
    return consecutive_valid >= TRUST_VALID && draw > 1.0 / consecutive_valid;
}

bool
trust_replicates(const struct app *app, int target_nresults, int min_quorum)
{
    return app->target_nresults > 1 &&
           (target_nresults < app->target_nresults ||
            min_quorum < app->target_nresults);
}

bool
trust_unconfirmed(int app_target_nresults, int target_nresults)
{
    return app_target_nresults > 1 && target_nresults == 1;
}

bool
trust_reliable(const struct host_app_version *hav,
               const struct trust_limits *limits)
{
    if (hav->turnaround_n > MIN_SAMPLES && limits->max_avg_turnaround > 0 &&
        !(hav->turnaround_avg <=
          limits->max_avg_turnaround * limits->turnaround_factor))
        return false;
    if (hav->consecutive_valid < TRUST_VALID)
        return false;
    return limits->daily_result_quota <= 0 ||
           hav->max_jobs_per_day >= limits->daily_result_quota;
}

double
trust_turnaround_factor(const struct host *host)
{
    if (strstr(host->os_name, "Windows") != NULL ||
        strstr(host->os_name, "Linux") != NULL)
        return 1;
    if (strstr(host->os_name, "Darwin") != NULL &&
        strstr(host->p_vendor, "Power Macintosh") == NULL)
        return 1;
    return SLOW_FACTOR;
}
