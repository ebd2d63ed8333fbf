/* edf.c - earliest deadline first, simulated (dispatch §8.5). */
#include "edf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
by_deadline(const void *a, const void *b)
{
    const struct edf_job *x = a, *y = b;

    return (x->deadline > y->deadline) - (x->deadline < y->deadline);
}

/* Run a job on the processor that is free first; when it ends. */
static double
run(struct edf_queue *q, double duration)
{
    size_t first = 0;

    for (size_t i = 1; i < q->n_processors; i++)
        if (q->free_at[i] < q->free_at[first])
            first = i;
    q->free_at[first] += fmax(0, duration);
    return q->free_at[first];
}

static void
clear(struct edf_queue *q)
{
    for (size_t i = 0; i < q->n_processors; i++)
        q->free_at[i] = 0;
}

void
edf_begin(struct edf_queue *q)
{
    if (q->n > 0)
        qsort(q->job, q->n, sizeof(*q->job), by_deadline);
    clear(q);
    for (size_t i = 0; i < q->n; i++)
        q->job[i].finish = run(q, q->job[i].duration);
    q->refused = false;
}

/* Is a job of the queue no worse off if it ends at `finish`? */
static bool
bears(const struct edf_job *job, double finish)
{
    return finish <= fmax(job->deadline, job->finish);
}

static bool
simulate(struct edf_queue *q, double duration, double deadline)
{
    bool placed = false;

    clear(q);
    for (size_t i = 0; i < q->n; i++) {
        if (!placed && deadline < q->job[i].deadline) {
            placed = true;
            if (!(run(q, duration) <= deadline))
                return false;
        }
        if (!bears(&q->job[i], run(q, q->job[i].duration)))
            return false;
    }
    return placed || run(q, duration) <= deadline;
}

bool
edf_allows(struct edf_queue *q, double duration, double deadline)
{
    if (q->refused && duration >= q->least_duration &&
        deadline <= q->most_bound)
        return false;
    if (simulate(q, duration, deadline))
        return true;
    /* One job stands for all that are no easier: keep it a job that was
     * refused, the easier one of two that can be compared. */
    if (!q->refused ||
        (duration <= q->least_duration && deadline >= q->most_bound)) {
        q->refused = true;
        q->least_duration = duration;
        q->most_bound = deadline;
    }
    return false;
}

void
edf_take(struct edf_queue *q, double duration, double deadline)
{
    double least = q->least_duration, most = q->most_bound;
    bool refused = q->refused;

    q->job[q->n++] =
        (struct edf_job){.duration = duration, .deadline = deadline};
    edf_begin(q);
    q->refused = refused; /* with one more in the queue it fits even less */
    q->least_duration = least;
    q->most_bound = most;
}
