/* quota.h - what a good, bad or overdue result does to the statistics of its
 * host with that app version (lifecycle §3.4, 4.5, 5.2). */
#ifndef QUORATE_QUOTA_H
#define QUORATE_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "host.h"

/* The key of host_app_version for a result: app_version_id itself, or for an
 * anonymous platform (-2 … -6) appid · 1000000 + 2 … 6.  0: none (a result
 * that never had a version). */
int64_t quota_version_key(int64_t appid, int64_t app_version_id);

/* Average of `x` with its variance (§5.2): the mean of the first 20 samples,
 * then 1 % of each new one; a sample counts at most ten times the average.
 * Samples below 0 are ignored. */
void quota_add_sample(double x, double *n, double *avg, double *var, double *q);

/* In all three, daily_result_quota (config) of 0 means that nobody counts: the
 * jobs a day are left as they are. */

/* Deadline passed: a turnaround of `delay_bound` seconds, one job a day less
 * but at least one, no longer trusted. */
void quota_timed_out(struct host_app_version *, double delay_bound,
                     int daily_result_quota);

/* Reported as failed: one job a day less but at least one, no longer trusted.
 * (Not for those that the project itself aborted: exit status 202.) */
void quota_reported_error(struct host_app_version *, int daily_result_quota);

/* Reported as done: what was lost of the quota comes back by doubling. */
void quota_reported_success(struct host_app_version *, int daily_result_quota);

/* One more was sent today. */
void quota_sent(struct host_app_version *);

/* It will go on failing (--check_punitive): one result a day, and none more
 * today. */
void quota_hopeless(struct host_app_version *);

/* Has the host's day ended between two contacts?  Days begin at another second
 * for each host, so that not all come at midnight. */
bool quota_is_new_day(int64_t host_id, int64_t last, int64_t now);

/* Seconds from now until the host's next day begins, 1 … 86400. */
int64_t quota_next_day(int64_t host_id, int64_t now);

/* Judged valid: one job a day more; trusted a step further if another host has
 * confirmed it (`replicated`). */
void quota_valid(struct host_app_version *, int daily_result_quota,
                 bool replicated);

/* Judged invalid, or unreadable: trust is gone, and what was earned above the
 * quota shrinks by one job a day. */
void quota_invalid(struct host_app_version *, int daily_result_quota);

/* host.avg_turnaround (§4.5): 0.7 of the old, 0.3 of the new; the first is
 * taken as it is. */
double quota_turnaround(double old, double seconds);

#endif
