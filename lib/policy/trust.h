/* trust.h - which hosts may do a job alone, or get one that is in a hurry
 * (lifecycle §6, dispatch §6). */
#ifndef QUORATE_TRUST_H
#define QUORATE_TRUST_H

#include <stdbool.h>

#include "app.h"
#include "host.h"

/* Valid results in a row, each confirmed by another host, before a host is
 * trusted with a version. */
#define TRUST_VALID 10

/* May a result of this version go to the host alone?  `draw` is a random number
 * in 0 … 1, one for each request: even a good host is checked with the
 * probability 1 / consecutive_valid, without knowing when. */
bool trust_alone(int consecutive_valid, double draw);

/* Adaptive replication: must a workunit with these limits get the
 * application's full number of instances, now that an untrusted host gets a
 * result of it? */
bool trust_replicates(const struct app *, int target_nresults, int min_quorum);

/* Has this app adaptive replication, and is this workunit still done by one
 * host alone?  Then a valid result is no proof: nobody has confirmed it. */
bool trust_unconfirmed(int app_target_nresults, int target_nresults);

struct trust_limits {
    double max_avg_turnaround; /* s; reliable_max_avg_turnaround, 0: any */
    int daily_result_quota;    /* 0: none */
    double turnaround_factor;  /* trust_turnaround_factor() */
};

/* Will the host, with this version, return a result soon and right? */
bool trust_reliable(const struct host_app_version *,
                    const struct trust_limits *);

/* Slow kinds of computers are given more time: 1, or 1.8. */
double trust_turnaround_factor(const struct host *);

#endif
