/* offer.c - what a host has to offer in one RPC, and how it shrinks with each
 * job sent (dispatch §6, §8.5, §8.7). */
#include "rules.h"

#include <math.h>

#include "edf.h"
#include "estimate.h"

#define MAX_WORK_REQUEST (28 * 86400.0) /* s */
#define HARD_FACTOR 1.3                 /* a hard job may take so much longer */
#define LEAST_REDUCTION                                                        \
    0.01 /* of the delay bound; below it is no reduction                       \
          */

/* ---- the request ---- */

/* NaN counts as nothing. */
static double
clamp(double x, double max)
{
    return fmin(max, fmax(0, x));
}

void
offer_host_set_request(struct offer_host *host,
                       const struct work_request *request)
{
    host->any_type = !request->per_resource;
    for (int t = 0; t < N_PROC_TYPES; t++) {
        host->seconds_left[t] = 0;
        host->instances_left[t] = 0;
        if (host->count[t] == 0 || !request->per_resource)
            continue;
        host->seconds_left[t] = clamp(request->req_secs[t], MAX_WORK_REQUEST);
        host->instances_left[t] =
            clamp(request->req_instances[t], host->count[t]);
    }
    if (!request->per_resource)
        host->seconds_left[PROC_CPU] =
            clamp(request->work_req_seconds, MAX_WORK_REQUEST) *
            host->count[PROC_CPU];
}

bool
offer_host_wants(const struct offer_host *host, enum proc_type type)
{
    enum proc_type asked = host->any_type ? PROC_CPU : type;

    if (host->only_type != 0 && host->only_type != 1 + (int)type)
        return false;
    return host->count[type] > 0 &&
           (host->seconds_left[asked] > 0 || host->instances_left[asked] > 0);
}

bool
offer_host_wants_any(const struct offer_host *host)
{
    for (int t = 0; t < N_PROC_TYPES; t++)
        if (offer_host_wants(host, (enum proc_type)t))
            return true;
    return false;
}

/* ---- limits on jobs in progress ---- */

static bool
has_room(const struct job_room *room, enum proc_type type)
{
    return room->total > 0 && room->type[type] > 0;
}

bool
offer_host_at_limit(const struct offer_host *host, const struct job_room *app,
                    enum proc_type type)
{
    return !has_room(&host->room, type) ||
           (app != NULL && !has_room(app, type));
}

static void
one_less(int *room)
{
    if (*room != OFFER_NO_LIMIT)
        (*room)--;
}

static void
take_room(struct job_room *room, enum proc_type type)
{
    one_less(&room->total);
    one_less(&room->type[type]);
}

/* ---- how long, until when ---- */

double
offer_duration(const struct offer *o)
{
    double duration =
        estimate_duration(o->job->rsc_fpops_est, o->flops,
                          o->type == PROC_CPU ? o->host->available_frac
                                              : o->host->gpu_available_frac);

    return o->app != NULL && o->app->weight == -1 ? duration * HARD_FACTOR
                                                  : duration;
}

int64_t
offer_delay_bound(const struct offer *o)
{
    double bound = (double)o->job->delay_bound, twice, reduced;

    if (!o->job->need_reliable || o->resend ||
        !(o->host->reliable_reduced_delay_bound > LEAST_REDUCTION))
        return o->job->delay_bound;
    twice = 2 * offer_duration(o);
    reduced = bound * o->host->reliable_reduced_delay_bound;
    if (twice > reduced && twice < bound && twice < 2 * reduced)
        reduced = twice;
    return o->host->estimated_delay[o->type] + twice / 2 <= reduced
               ? (int64_t)reduced
               : o->job->delay_bound;
}

/* ---- a job is sent ---- */

/* Processors of its type that the job keeps busy.  The old form of request
 * counts processors of every type alike. */
static double
usage(const struct offer_host *host, const struct offer *o)
{
    if (o->app != NULL && o->app->non_cpu_intensive)
        return 0;
    if (o->type == PROC_CPU)
        return o->avg_ncpus;
    return host->any_type ? fmax(o->avg_ncpus, o->gpu_usage) : o->gpu_usage;
}

void
offer_host_take(struct offer_host *host, const struct offer *o)
{
    enum proc_type asked = host->any_type ? PROC_CPU : o->type;
    double duration = offer_duration(o), busy = usage(host, o);

    host->jobs_in_reply++;
    host->seconds_left[asked] -= duration * busy;
    host->instances_left[asked] -= busy;
    host->disk_left -= o->job->rsc_disk_bound;
    if (host->queue != NULL && o->type == PROC_CPU)
        edf_take(host->queue, duration,
                 (double)o->job->delay_bound - host->queue->margin);
    if (host->count[o->type] > 0)
        host->estimated_delay[o->type] +=
            duration * busy / host->count[o->type];
    if (o->resend)
        return; /* it is counted already */
    one_less(&host->user_room);
    one_less(&host->day_left);
    take_room(&host->room, o->type);
    if (o->app_room != NULL)
        take_room(o->app_room, o->type);
}
