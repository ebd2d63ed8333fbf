/* score.h - in which order the jobs that no rule refused are sent (dispatch
 * §9.1, §9.2). */
#ifndef QUORATE_SCORE_H
#define QUORATE_SCORE_H

#include <stdbool.h>
#include <stdint.h>

struct offer;

struct score_facts {
    int32_t priority;
    bool accelerated;    /* batch_accel: for a fast host, and this is one */
    bool beta;           /* a test application that the user takes */
    bool not_preferred;  /* an app that the user did not select */
    bool was_infeasible; /* other hosts could not take it */
    bool need_reliable;  /* and the host is */
    bool has_file;       /* locality: the host has one of its sticky files */
    int job_size;        /* size class, -1 none */
    int host_size;       /* -1: sizes do not count */
    int keywords;        /* of the job that the user likes */
};

/* More is sent first. */
double score(const struct score_facts *);

/* The old order (sched_old): passes over the array, the highest pass first, in
 * a pass as the slots come. */
double score_of_pass(const struct score_facts *);

/* The size class of a host: the first quantile above its speed, else the
 * number of quantiles. */
int score_host_size(double speed, const double *quantile, int n);

/* The same for a job and the version chosen for it: among the hosts of its
 * app, by what the version gets out of this one in the part of the time that
 * the host may work.  -1: the app has no quantiles. */
int score_offer_size(const struct offer *);

#endif
