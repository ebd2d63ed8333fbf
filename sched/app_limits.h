/* app_limits.h - what limits, preferences and homogeneous redundancy say of
 * each application in this request (dispatch §6, §8.4). */
#ifndef QUORATE_APP_LIMITS_H
#define QUORATE_APP_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "edf.h"
#include "rules.h"

struct rpc;

struct app_terms {
    enum app_wish wish;
    int hr_type;
    struct job_room room,
        whole; /* now, and before the first job of this reply */
    int jobs;  /* in progress on the host */
    int taken; /* … and in this reply */
};

struct limits {
    struct app_terms *app; /* as in work.app */
    size_t n;
    bool takes_not_preferred; /* nothing of the selected apps is left */
    struct edf_queue queue;   /* workload_sim: the jobs on the host's CPUs */
    struct edf_job *queued; /* … as they were before the first of this reply */
    size_t n_queued;
};

/* Complete the host's offer: jobs in progress, room within the limits.  After
 * work_setup().  0, -1. */
int limits_setup(struct rpc *);

/* The application's part of an offer. */
void limits_offer(struct rpc *, size_t app, struct offer *);

/* Keywords of the job that the user likes. */
int limits_liked_keywords(const struct rpc *, const struct sendable *);

/* A job of an offer is taken; none is, after all. */
void limits_take(struct rpc *, const struct offer *);
void limits_take_nothing(struct rpc *);

void limits_free(struct limits *);

#endif
