/* db_hav.h - host_app_version: what the transitioner and the validator learn
 * about a host with one app version.
 *
 * May write: host_app_version.max_jobs_per_day, consecutive_valid,
 * turnaround_n, turnaround_avg, turnaround_var, turnaround_q. */
#ifndef QUORATE_DB_HAV_H
#define QUORATE_DB_HAV_H

#include <stddef.h>

#include "host.h"

struct db;

/* Order of keys (host_id, app_version_id), for qsort(): rows are locked in it.
 */
int db_hav_compare(const void *, const void *);

/* Inside a transaction: lock the n rows whose keys are set in `hav` (sorted,
 * none twice) and fill them; a row that is not there yet is made.  0, -1. */
int db_hav_lock(struct db *, struct host_app_version *hav, size_t n);

/* Store the columns named above of the locked rows.  0, -1. */
int db_hav_store(struct db *, const struct host_app_version *hav, size_t n);

#endif
