/* edf.h - would this job, or one of those that the host has, miss its deadline?
 * (dispatch §8.5, workload_sim)
 *
 * The host is taken to work by earliest deadline first: the job with the next
 * deadline goes to the processor that is free first. */
#ifndef QUORATE_EDF_H
#define QUORATE_EDF_H

#include <stdbool.h>
#include <stddef.h>

struct edf_job {
    double duration; /* s of wall time on one processor */
    double deadline; /* s from now */

    /* filled in by edf_begin() and edf_take() */
    double finish; /* s from now */
};

struct edf_queue {
    struct edf_job *job; /* the caller's, room for one job more than n */
    size_t n;
    double *free_at; /* the caller's, room for n_processors */
    size_t n_processors;
    double margin; /* s; for callers: the deadlines given here are so much
                      earlier than what the host was told */

    /* The easiest job that was refused: what is no easier need not be tried.
     * It stays true when a job is taken, for then less fits. */
    bool refused;
    double least_duration, most_bound;
};

/* Sort the jobs and note when each would end as things are. */
void edf_begin(struct edf_queue *);

/* May a job be added?  Not if it would end after its deadline, nor if another
 * would do so that did not before, nor if one that is late anyway would be
 * later. */
bool edf_allows(struct edf_queue *, double duration, double deadline);

/* Add it (there must be room). */
void edf_take(struct edf_queue *, double duration, double deadline);

#endif
