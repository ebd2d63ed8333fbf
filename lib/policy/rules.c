/* rules.c - may this job go to this host? (dispatch §6, §8)
 *
 * The rules stand in the order of their cost and of their weight: first what
 * ends the search, then what no job of the application can mend, then the job's
 * own needs, and last what had to be asked of the database.  The job that comes
 * furthest down the table is the one that nearly went out, so where it failed
 * is what the volunteer can most likely do something about. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "amount.h"
#include "estimate.h"

#define MAX_WORK_REQUEST (28 * 86400.0) /* s */

static bool
has_room_in_reply(const struct offer *o)
{
    return o->host->jobs_in_reply < o->host->max_jobs;
}

static bool
wants_more_work(const struct offer *o)
{
    return offer_host_wants_any(o->host);
}

/* The version's processor: others may be all that is asked for. */
static bool
wants_type(const struct offer *o)
{
    return o->version == NULL || offer_host_wants(o->host, o->type);
}

static bool
has_live_app(const struct offer *o)
{
    return o->app != NULL && !o->app->deprecated;
}

/* Why there is no version is said by the next two rules, if they know. */
static bool
has_version_for_platform(const struct offer *o)
{
    return o->version != NULL || o->version_too_old || o->client_too_old;
}

static bool
has_version_new_enough(const struct offer *o)
{
    return o->version != NULL || !o->version_too_old;
}

static void
min_version_detail(const struct offer *o, char *ret, size_t size)
{
    if (o->app != NULL)
        snprintf(ret, size, "the application's min_version is %d",
                 o->app->min_version);
}

static bool
has_version_for_client(const struct offer *o)
{
    return o->version != NULL || !o->client_too_old;
}

/* Two results of one workunit in one reply would be two of one host. */
static bool
is_new_to_reply(const struct offer *o)
{
    return !o->in_this_reply ||
           !(o->one_result_per_user_per_wu || o->one_result_per_host_per_wu);
}

static bool
fits_memory(const struct offer *o)
{
    return o->job->rsc_memory_bound <= o->host->usable_ram;
}

static void
memory_detail(const struct offer *o, char *ret, size_t size)
{
    char all[AMOUNT_SIZE];
    double frac = o->host->usable_ram / o->host->m_nbytes;

    if (frac > 0 && frac <= 1) /* else the client did not say */
        snprintf(ret, size, "= %s x %.0f %%",
                 amount_bytes(o->host->m_nbytes, all), frac * 100);
}

static bool
fits_disk(const struct offer *o)
{
    return o->job->rsc_disk_bound <= o->host->disk_left;
}

static void
disk_detail(const struct offer *o, char *ret, size_t size)
{
    char all[AMOUNT_SIZE];

    snprintf(ret, size, "(%s are free; preferences, and jobs in this reply)",
             amount_bytes(o->host->d_free, all));
}

/* A client that has not measured its line yet gets the benefit of the doubt. */
static bool
fits_bandwidth(const struct offer *o)
{
    return o->host->n_bwdown == 0 ||
           o->job->rsc_bandwidth_bound <= o->host->n_bwdown;
}

static double
offer_duration(const struct offer_host *host, const struct offer *o)
{
    return estimate_duration(o->job->rsc_fpops_est, o->flops,
                             o->type == PROC_CPU ? host->available_frac
                                                 : host->gpu_available_frac);
}

/* The job waits for those that are there, and then runs in the time that the
 * computer is on and allowed to work. */
static bool
meets_deadline(const struct offer *o)
{
    return o->host->ignore_delay_bound ||
           o->host->estimated_delay[o->type] + offer_duration(o->host, o) <=
               (double)o->job->delay_bound;
}

static void
deadline_detail(const struct offer *o, char *ret, size_t size)
{
    char wait[AMOUNT_SIZE], run[AMOUNT_SIZE];

    if (o->version == NULL)
        snprintf(ret, size, "(speed unknown without a version)");
    else
        snprintf(
            ret, size,
            "(waits %s, runs %s = %.3g FLOP / (%.3g FLOPS x %.0f %% of the "
            "time))",
            amount_seconds(o->host->estimated_delay[o->type], wait),
            amount_seconds(offer_duration(o->host, o), run),
            o->job->rsc_fpops_est, o->flops,
            100 * (o->type == PROC_CPU ? o->host->available_frac
                                       : o->host->gpu_available_frac));
}

/* Replication is worth nothing if one person is both witnesses. */
static bool
is_new_to_user(const struct offer *o)
{
    return !(o->one_result_per_user_per_wu && o->user_has_result);
}

static bool
is_new_to_host(const struct offer *o)
{
    return !(o->one_result_per_host_per_wu && o->host_has_result);
}

/* clang-format off */
const struct dispatch_rule dispatch_rules[] = {
    {"job-limit", REFUSAL_STOP, has_room_in_reply,
     "This contact has brought as many tasks as one contact may.",
     UNIT_NONE, NULL, NULL},
    {"work-filled", REFUSAL_STOP, wants_more_work, NULL, UNIT_NONE, NULL, NULL},
    {"processor", REFUSAL_OTHER, wants_type, NULL, UNIT_NONE, NULL, NULL},
    {"app", REFUSAL_OTHER, has_live_app,
     "The tasks waiting belong to an application that the project no longer "
     "runs.",
     UNIT_NONE, NULL, NULL},
    {"platform", REFUSAL_PLATFORM, has_version_for_platform,
     "There are tasks, but the application is not available for this kind of "
     "computer.",
     UNIT_NONE, NULL, NULL},
    {"min-version", REFUSAL_PLATFORM, has_version_new_enough,
     "There are tasks, but the application for this kind of computer has not "
     "been brought up to date yet.",
     UNIT_NONE, NULL, min_version_detail},
    {"client-version", REFUSAL_PLATFORM, has_version_for_client,
     "There are tasks, but the application does not run under your version of "
     "BOINC.",
     UNIT_NONE, NULL, NULL},
    {"in-reply", REFUSAL_OTHER, is_new_to_reply,
     "Each task is checked by different computers; those waiting are copies of "
     "tasks that you are getting now.",
     UNIT_NONE, NULL, NULL},
    {"memory", REFUSAL_RESOURCE, fits_memory,
     "There are tasks, but they need more memory than BOINC may use on this "
     "computer.",
     UNIT_NONE, NULL, memory_detail},
    {"disk", REFUSAL_RESOURCE, fits_disk,
     "There are tasks, but they need more disk space than BOINC may use on "
     "this computer.",
     UNIT_NONE, NULL, disk_detail},
    {"bandwidth", REFUSAL_RESOURCE, fits_bandwidth,
     "There are tasks, but they need a faster internet connection.",
     UNIT_NONE, NULL, NULL},
    {"deadline", REFUSAL_RESOURCE, meets_deadline,
     "There are tasks, but this computer would probably not finish one before "
     "its deadline.",
     UNIT_NONE, NULL, deadline_detail},
    {"user-has-result", REFUSAL_OTHER, is_new_to_user,
     "Each task is checked by different people; you already have a copy of "
     "those that are waiting.",
     UNIT_NONE, NULL, NULL},
    {"host-has-result", REFUSAL_OTHER, is_new_to_host,
     "Each task is checked by different computers; this one already has a copy "
     "of those that are waiting.",
     UNIT_NONE, NULL, NULL},
};
/* clang-format on */

const size_t n_dispatch_rules =
    sizeof(dispatch_rules) / sizeof(dispatch_rules[0]);

const struct dispatch_rule *
dispatch_refusal(const struct offer *o)
{
    for (size_t i = 0; i < n_dispatch_rules; i++)
        if (!dispatch_rules[i].allows(o))
            return &dispatch_rules[i];
    return NULL;
}

static const char *
amount(enum rule_unit unit, double x, char ret[AMOUNT_SIZE])
{
    switch (unit) {
    case UNIT_NONE:
        ret[0] = '\0';
        break;
    case UNIT_BYTES:
        amount_bytes(x, ret);
        break;
    case UNIT_BYTES_PER_SECOND:
        amount_bytes(x, ret);
        snprintf(ret + strlen(ret), AMOUNT_SIZE - strlen(ret), "/s");
        break;
    case UNIT_SECONDS:
        amount_seconds(x, ret);
        break;
    case UNIT_COUNT:
        snprintf(ret, AMOUNT_SIZE, "%.10g", x);
        break;
    }
    return ret;
}

void
dispatch_numbers(const struct dispatch_rule *rule, const struct offer *o,
                 char ret[RULE_NUMBERS_SIZE])
{
    char a[AMOUNT_SIZE], b[AMOUNT_SIZE];
    double needs, has;
    size_t n = 0;

    ret[0] = '\0';
    if (rule->unit != UNIT_NONE && rule->numbers != NULL) {
        rule->numbers(o, &needs, &has);
        snprintf(ret, RULE_NUMBERS_SIZE, "needs %s, has %s",
                 amount(rule->unit, needs, a), amount(rule->unit, has, b));
        n = strlen(ret);
    }
    if (rule->detail == NULL)
        return;
    n += n > 0; /* leave room for a blank */
    ret[n] = '\0';
    rule->detail(o, ret + n, RULE_NUMBERS_SIZE - n);
    if (n > 0 && ret[n] != '\0')
        ret[n - 1] = ' ';
}

const struct dispatch_rule *
dispatch_reason(const unsigned *counts)
{
    for (size_t i = n_dispatch_rules; i > 0; i--)
        if (counts[i - 1] > 0)
            return &dispatch_rules[i - 1];
    return NULL;
}

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

    return host->seconds_left[asked] > 0 || host->instances_left[asked] > 0;
}

bool
offer_host_wants_any(const struct offer_host *host)
{
    for (int t = 0; t < N_PROC_TYPES; t++)
        if (offer_host_wants(host, (enum proc_type)t))
            return true;
    return false;
}

/* Processors of its type that the job keeps busy. */
static double
usage(const struct offer *o)
{
    return o->type == PROC_CPU ? o->avg_ncpus : o->gpu_usage;
}

void
offer_host_take(struct offer_host *host, const struct offer *o)
{
    enum proc_type asked = host->any_type ? PROC_CPU : o->type;
    double duration = offer_duration(host, o);

    host->jobs_in_reply++;
    host->seconds_left[asked] -= duration * usage(o);
    host->instances_left[asked] -= usage(o);
    host->disk_left -= o->job->rsc_disk_bound;
    if (host->count[o->type] > 0)
        host->estimated_delay[o->type] +=
            duration * usage(o) / host->count[o->type];
}
