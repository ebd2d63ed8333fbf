/* rules.c - may this job go to this host? (dispatch §6, §8)
 *
 * The rules stand in the order of their cost and of their weight: first what
 * ends the search, then what no job of the application can mend, then the job's
 * own needs, and last what had to be asked of the database.  The job that comes
 * furthest down the table is the one that nearly went out, so where it failed
 * is what the volunteer can most likely do something about.
 *
 * Why there is no version is found by version.c; its reasons are rows here, in
 * its order. */
#include "rules.h"

#include <stdio.h>

#include "amount.h"
#include "edf.h"
#include "plan_class.h"
#include "refused.h"
#include "version.h"

/* ---- the host has enough ---- */

static bool
has_room_in_reply(const struct offer *o)
{
    return o->host->jobs_in_reply < o->host->max_jobs;
}

static void
reply_numbers(const struct offer *o, double *needs, double *has)
{
    *needs = o->host->jobs_in_reply + 1.0;
    *has = o->host->max_jobs;
}

static bool
takes_jobs_of_others(const struct offer *o)
{
    return o->targeted || !o->host->only_own_jobs;
}

/* What it lost is not sent for the first time. */
static bool
within_day_quota(const struct offer *o)
{
    return o->resend || o->host->day_left > 0;
}

static void
day_numbers(const struct offer *o, double *needs, double *has)
{
    *needs = (double)o->host->day_quota - o->host->day_left + 1;
    *has = o->host->day_quota;
}

static bool
within_users_limit(const struct offer *o)
{
    return o->resend || o->host->user_room > 0;
}

static void
users_numbers(const struct offer *o, double *needs, double *has)
{
    *needs = (double)o->host->user_limit - o->host->user_room + 1;
    *has = o->host->user_limit;
}

/* Is there a type of processor that asks, and has not reached the project's
 * limit? */
static bool
within_projects_limit(const struct offer *o)
{
    const struct offer_host *h = o->host;

    if (o->resend || !offer_host_wants_any(h))
        return true;
    for (int t = 0; t < N_PROC_TYPES; t++)
        if (offer_host_wants(h, (enum proc_type)t) &&
            !offer_host_at_limit(h, NULL, (enum proc_type)t))
            return true;
    return false;
}

/* A job that hardly needs a processor is not asked for; one that was lost has
 * been asked for before. */
static bool
wants_more_work(const struct offer *o)
{
    return (o->app != NULL && o->app->non_cpu_intensive) || o->targeted ||
           o->resend || offer_host_wants_any(o->host);
}

/* ---- the application ---- */

static bool
has_live_app(const struct offer *o)
{
    return o->app != NULL && !o->app->deprecated;
}

static bool
is_of_a_wanted_app(const struct offer *o)
{
    return o->targeted || o->wish == APP_SELECTED ||
           (o->wish == APP_NOT_PREFERRED && o->takes_not_preferred);
}

static bool
is_first_of_its_app(const struct offer *o)
{
    return !o->host_has_app_job;
}

/* ---- the version ---- */

static bool
has_version(const struct offer *o)
{
    return o->choice != NULL && o->choice->index >= 0;
}

/* Why is there no version? */
static enum version_refusal
version_refusal(const struct offer *o)
{
    if (has_version(o))
        return VERSION_OK;
    if (o->choice == NULL || o->choice->refusal == VERSION_OK)
        return VERSION_NO_PLATFORM;
    return o->choice->refusal;
}

static bool
has_version_for_platform(const struct offer *o)
{
    return version_refusal(o) != VERSION_NO_PLATFORM;
}

static bool
has_version_of_64_bits(const struct offer *o)
{
    return version_refusal(o) != VERSION_NOT_64_BIT;
}

static bool
has_version_new_enough(const struct offer *o)
{
    return version_refusal(o) != VERSION_TOO_OLD;
}

static void
min_version_detail(const struct offer *o, char *ret, size_t size)
{
    if (o->app != NULL)
        snprintf(ret, size, "the application's min_version is %d",
                 o->app->min_version);
}

static bool
has_version_for_old_client(const struct offer *o)
{
    return version_refusal(o) != VERSION_CLIENT_TOO_OLD;
}

static bool
has_version_for_new_client(const struct offer *o)
{
    return version_refusal(o) != VERSION_CLIENT_TOO_NEW;
}

static bool
has_version_for_computer(const struct offer *o)
{
    return version_refusal(o) != VERSION_PLAN_CLASS ||
           o->choice->verdict == NULL;
}

static void
plan_class_detail(const struct offer *o, char *ret, size_t size)
{
    if (o->choice != NULL && o->choice->verdict != NULL)
        snprintf(ret, size, "%s", o->choice->verdict->why);
}

static bool
has_version_for_job(const struct offer *o)
{
    return version_refusal(o) != VERSION_PLAN_CLASS ||
           o->choice->verdict != NULL;
}

static bool
has_version_that_is_no_test(const struct offer *o)
{
    return version_refusal(o) != VERSION_BETA;
}

static bool
has_version_for_wanted_processor(const struct offer *o)
{
    return version_refusal(o) != VERSION_EXCLUDED;
}

static bool
has_version_it_proved_with(const struct offer *o)
{
    return version_refusal(o) != VERSION_UNRELIABLE;
}

static bool
has_version_within_quota(const struct offer *o)
{
    return version_refusal(o) != VERSION_QUOTA;
}

static void
quota_numbers(const struct offer *o, double *needs, double *has)
{
    *has = o->choice != NULL ? o->choice->quota : 0;
    *needs = *has + 1;
}

static bool
has_version_within_limit(const struct offer *o)
{
    return version_refusal(o) != VERSION_IN_PROGRESS;
}

static bool
has_version_for_idle_processor(const struct offer *o)
{
    return version_refusal(o) != VERSION_NOT_ASKED;
}

static bool
has_version_beside_own(const struct offer *o)
{
    return version_refusal(o) != VERSION_OWN_PROGRAM;
}

static bool
has_version_in_app_info(const struct offer *o)
{
    return version_refusal(o) != VERSION_ANONYMOUS;
}

/* The choice may be older than the last job of this reply. */
static bool
wants_type(const struct offer *o)
{
    return !has_version(o) || o->targeted || o->resend ||
           (o->app != NULL && o->app->non_cpu_intensive) ||
           offer_host_wants(o->host, o->type);
}

static bool
within_limits_of_type(const struct offer *o)
{
    return !has_version(o) || o->resend ||
           !offer_host_at_limit(o->host, o->app_room, o->type);
}

/* ---- numerically equal hosts ---- */

static int
hr_class_of_host(const struct offer *o)
{
    return o->hr_type > 0 && o->hr_type < 4 ? o->host->hr_class[o->hr_type] : 0;
}

static bool
has_hr_class(const struct offer *o)
{
    return o->hr_type == 0 || hr_class_of_host(o) != 0;
}

/* Once one result of a workunit went to a class of hosts, the others must go
 * to the same class, or their outputs could differ in the last digits. */
static bool
is_of_hr_class(const struct offer *o)
{
    return o->hr_type == 0 ||
           (!o->other_class &&
            (o->job->hr_class == 0 || o->job->hr_class == hr_class_of_host(o)));
}

static void
hr_detail(const struct offer *o, char *ret, size_t size)
{
    if (o->hr_type != 0)
        snprintf(ret, size, "(type %d: workunit's class %d, host's %d)",
                 o->hr_type, o->job->hr_class, hr_class_of_host(o));
}

/* The same for versions, where the application asks for it. */
static bool
is_of_same_version(const struct offer *o)
{
    if (o->app == NULL || !o->app->homogeneous_app_version || !has_version(o))
        return true;
    return !o->other_version &&
           (o->job->app_version_id == 0 ||
            o->job->app_version_id == o->choice->version_id);
}

/* ---- which job ---- */

/* Two results of one workunit in one reply would be two of one host. */
static bool
is_new_to_reply(const struct offer *o)
{
    return !o->in_this_reply ||
           !(o->one_result_per_user_per_wu || o->one_result_per_host_per_wu);
}

static bool
is_wanted_by_keywords(const struct offer *o)
{
    return o->targeted || !o->keyword_refused;
}

/* Hosts that never finished anything do not get what is hard. */
static bool
is_easy_or_host_proved(const struct offer *o)
{
    return o->app == NULL || o->app->weight != -1 || o->host->has_credit;
}

static bool
is_in_no_hurry(const struct offer *o)
{
    return !o->needs_fast_host;
}

/* ---- what it needs ---- */

static double
memory_need(const struct offer *o)
{
    return o->mem_usage > 0 ? o->mem_usage : o->job->rsc_memory_bound;
}

static bool
fits_memory(const struct offer *o)
{
    return memory_need(o) <= o->host->usable_ram;
}

static void
memory_numbers(const struct offer *o, double *needs, double *has)
{
    *needs = memory_need(o);
    *has = o->host->usable_ram;
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
disk_numbers(const struct offer *o, double *needs, double *has)
{
    *needs = o->job->rsc_disk_bound;
    *has = o->host->disk_left;
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

static void
bandwidth_numbers(const struct offer *o, double *needs, double *has)
{
    *needs = o->job->rsc_bandwidth_bound;
    *has = o->host->n_bwdown;
}

/* ---- in time? ---- */

/* Nobody waits for a job that hardly computes.  A host without any work may, if
 * the project wishes, get one that it will not finish in time; never one of a
 * hard app. */
static bool
has_no_deadline(const struct offer *o)
{
    if (o->host->ignore_delay_bound ||
        (o->app != NULL && o->app->non_cpu_intensive))
        return true;
    return o->host->idle_host_skips_deadline &&
           o->host->estimated_delay[o->type] == 0 &&
           !(o->app != NULL && o->app->weight == -1);
}

/* The job runs in the time that the computer is on and allowed to work. */
static bool
runs_in_time(const struct offer *o)
{
    return has_no_deadline(o) ||
           offer_duration(o) <= (double)o->job->delay_bound;
}

static void
run_numbers(const struct offer *o, double *needs, double *has)
{
    *needs = offer_duration(o);
    *has = (double)o->job->delay_bound;
}

static void
run_detail(const struct offer *o, char *ret, size_t size)
{
    if (!has_version(o))
        snprintf(ret, size, "(speed unknown without a version)");
    else
        snprintf(ret, size, "= %.3g FLOP / (%.3g FLOPS x %.0f %% of the time)",
                 o->job->rsc_fpops_est, o->flops,
                 100 * (o->type == PROC_CPU ? o->host->available_frac
                                            : o->host->gpu_available_frac));
}

/* Before it runs, it waits for those that are there. */
static bool
ends_in_time(const struct offer *o)
{
    return has_no_deadline(o) ||
           o->host->estimated_delay[o->type] + offer_duration(o) <=
               (double)o->job->delay_bound;
}

static void
end_numbers(const struct offer *o, double *needs, double *has)
{
    *needs = o->host->estimated_delay[o->type] + offer_duration(o);
    *has = (double)o->job->delay_bound;
}

static void
end_detail(const struct offer *o, char *ret, size_t size)
{
    char wait[AMOUNT_SIZE], run[AMOUNT_SIZE];

    snprintf(ret, size, "(waits %s, runs %s)",
             amount_seconds(o->host->estimated_delay[o->type], wait),
             amount_seconds(offer_duration(o), run));
}

/* The simulation knows CPUs only. */
static bool
fits_among_jobs(const struct offer *o)
{
    return o->host->queue == NULL || o->type != PROC_CPU ||
           has_no_deadline(o) ||
           edf_allows(o->host->queue, offer_duration(o),
                      (double)o->job->delay_bound - o->host->queue->margin);
}

/* ---- other results of the workunit ---- */

/* Replication is worth nothing if one person is both witnesses. */
static bool
is_new_to_user(const struct offer *o)
{
    return o->resend || !(o->one_result_per_user_per_wu && o->user_has_result);
}

static bool
is_new_to_host(const struct offer *o)
{
    return o->resend || !(o->one_result_per_host_per_wu && o->host_has_result);
}

/* ---- the table ---- */

/* clang-format off */
const struct dispatch_rule dispatch_rules[] = {
    {"job-limit", REFUSAL_STOP, has_room_in_reply,
     "One contact brings no more than {has} tasks.",
     UNIT_COUNT, reply_numbers, NULL},
    {"own-jobs", REFUSAL_STOP, takes_jobs_of_others,
     "Your account gets only tasks that are meant for it, and there are none.",
     UNIT_NONE, NULL, NULL},
    {"day-quota", REFUSAL_STOP, within_day_quota,
     "This computer has reached its limit of {has} tasks a day.",
     UNIT_COUNT, day_numbers, NULL},
    {"user-limit", REFUSAL_STOP, within_users_limit,
     "This computer has reached the limit of {has} tasks that is set in your "
     "preferences for this project.",
     UNIT_COUNT, users_numbers, NULL},
    {"project-limit", REFUSAL_STOP, within_projects_limit,
     "This computer has reached a limit on tasks in progress.",
     UNIT_NONE, NULL, NULL},
    {"work-filled", REFUSAL_STOP, wants_more_work, NULL, UNIT_NONE, NULL, NULL},

    {"app", REFUSAL_OTHER, has_live_app,
     "The tasks waiting belong to an application that the project no longer "
     "runs.",
     UNIT_NONE, NULL, NULL},
    {"app-choice", REFUSAL_OTHER, is_of_a_wanted_app,
     "There are tasks, but none of the applications that you have selected in "
     "your preferences for this project.",
     UNIT_NONE, NULL, NULL},
    {"app-has-job", REFUSAL_OTHER, is_first_of_its_app, NULL,
     UNIT_NONE, NULL, NULL},

    {"platform", REFUSAL_PLATFORM, has_version_for_platform,
     "There are tasks, but {app} is not available for this kind of computer.",
     UNIT_NONE, NULL, NULL},
    {"64-bit", REFUSAL_PLATFORM, has_version_of_64_bits,
     "There are tasks, but they need so much memory that {app} would have to be "
     "a 64-bit program, and there is none for this kind of computer.",
     UNIT_NONE, NULL, NULL},
    {"min-version", REFUSAL_PLATFORM, has_version_new_enough,
     "There are tasks, but {app} for this kind of computer has not been brought "
     "up to date yet.",
     UNIT_NONE, NULL, min_version_detail},
    {"client-version", REFUSAL_PLATFORM, has_version_for_old_client,
     "There are tasks, but {app} does not run under your version of BOINC: it "
     "needs a newer one.",
     UNIT_NONE, NULL, NULL},
    {"client-too-new", REFUSAL_PLATFORM, has_version_for_new_client,
     "There are tasks, but {app} does not run under your version of BOINC: it "
     "needs an older one.",
     UNIT_NONE, NULL, NULL},
    {"plan-class", REFUSAL_PLATFORM, has_version_for_computer,
     "There are tasks, but {app} does not run on this computer: {why}.",
     UNIT_NONE, NULL, plan_class_detail},
    {"class-job", REFUSAL_OTHER, has_version_for_job,
     "There are tasks of {app}, but not for the program that suits this "
     "computer.",
     UNIT_NONE, NULL, NULL},
    {"beta", REFUSAL_OTHER, has_version_that_is_no_test,
     "There are tasks of the test application {app}, but your preferences do "
     "not allow such.",
     UNIT_NONE, NULL, NULL},
    {"excluded", REFUSAL_OTHER, has_version_for_wanted_processor,
     "There are tasks of {app}, but for a kind of processor that your "
     "preferences exclude.",
     UNIT_NONE, NULL, NULL},
    {"unreliable", REFUSAL_OTHER, has_version_it_proved_with,
     "There are tasks in a hurry, which go to computers that have returned many "
     "valid results soon.",
     UNIT_NONE, NULL, NULL},
    {"quota", REFUSAL_OTHER, has_version_within_quota,
     "This computer has reached its limit of {has} tasks of {app} a day. The "
     "limit falls with tasks that fail and rises with valid ones.",
     UNIT_COUNT, quota_numbers, NULL},
    {"app-limit", REFUSAL_OTHER, has_version_within_limit,
     "This computer has reached a limit on tasks of {app} in progress.",
     UNIT_NONE, NULL, NULL},
    {"processor", REFUSAL_OTHER, has_version_for_idle_processor, NULL,
     UNIT_NONE, NULL, NULL},
    {"app-info", REFUSAL_OTHER, has_version_in_app_info,
     "There are tasks, but your app_info.xml has no usable version of {app}.",
     UNIT_NONE, NULL, NULL},
    {"own-program", REFUSAL_OTHER, has_version_beside_own,
     "There are tasks, but {app} must be the project's own program, not one of "
     "an app_info.xml: its results are compared with each other.",
     UNIT_NONE, NULL, NULL},
    {"type-filled", REFUSAL_OTHER, wants_type, NULL, UNIT_NONE, NULL, NULL},
    {"type-limit", REFUSAL_OTHER, within_limits_of_type,
     "This computer has reached a limit on tasks of {app} in progress.",
     UNIT_NONE, NULL, NULL},

    {"hr-unknown", REFUSAL_PLATFORM, has_hr_class,
     "There are tasks, but they go to computers of equal kinds, and the "
     "project does not know yours.",
     UNIT_NONE, NULL, hr_detail},
    {"hr-class", REFUSAL_OTHER, is_of_hr_class,
     "There are tasks, but they are committed to other kinds of computers.",
     UNIT_NONE, NULL, hr_detail},
    {"same-version", REFUSAL_OTHER, is_of_same_version,
     "There are tasks, but they are committed to another version of {app}.",
     UNIT_NONE, NULL, NULL},

    {"in-reply", REFUSAL_OTHER, is_new_to_reply,
     "Each task is checked by different computers; those waiting are copies of "
     "tasks that you are getting now.",
     UNIT_NONE, NULL, NULL},
    {"keywords", REFUSAL_OTHER, is_wanted_by_keywords,
     "There are tasks, but your keyword preferences exclude them.",
     UNIT_NONE, NULL, NULL},
    {"hard-app", REFUSAL_OTHER, is_easy_or_host_proved,
     "There are hard tasks, which go to computers that have earned credit.",
     UNIT_NONE, NULL, NULL},
    {"accelerated", REFUSAL_OTHER, is_in_no_hurry,
     "There are tasks in a hurry, which go to computers that return results "
     "fast.",
     UNIT_NONE, NULL, NULL},

    {"memory", REFUSAL_RESOURCE, fits_memory,
     "There are tasks, but they need more memory: {app} needs {needs}, and "
     "BOINC may use {has} on this computer.",
     UNIT_BYTES, memory_numbers, memory_detail},
    {"disk", REFUSAL_RESOURCE, fits_disk,
     "There are tasks, but they need more disk space: {app} needs {needs}, and "
     "BOINC may use {has} more on this computer.",
     UNIT_BYTES, disk_numbers, disk_detail},
    {"bandwidth", REFUSAL_RESOURCE, fits_bandwidth,
     "There are tasks, but they need a faster internet connection: {needs} "
     "instead of {has}.",
     UNIT_BYTES_PER_SECOND, bandwidth_numbers, NULL},
    {"deadline", REFUSAL_RESOURCE, runs_in_time,
     "There are tasks, but this computer would not finish one before its "
     "deadline: it would take {needs} and may take {has}.",
     UNIT_SECONDS, run_numbers, run_detail},
    {"queue", REFUSAL_OTHER, ends_in_time,
     "There are tasks, but behind the work that this computer has, one would "
     "not be finished before its deadline: after {needs}, not {has}.",
     UNIT_SECONDS, end_numbers, end_detail},
    {"workload", REFUSAL_OTHER, fits_among_jobs,
     "There are tasks, but with one more, this computer would miss a deadline.",
     UNIT_NONE, NULL, NULL},

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

/* Of those that stand for kinds of computers. */
static const struct {
    bool (*allows)(const struct offer *);
    enum refused_for reason;
} counted[] = {
    {has_version_for_platform,   REFUSED_NO_VERSION },
    {has_version_of_64_bits,     REFUSED_NO_VERSION },
    {has_version_new_enough,     REFUSED_VERSION_OLD},
    {has_version_for_old_client, REFUSED_CLIENT     },
    {has_version_for_new_client, REFUSED_CLIENT     },
    {has_version_for_computer,   REFUSED_PLAN_CLASS },
    {has_hr_class,               REFUSED_HR_UNKNOWN },
    {fits_memory,                REFUSED_MEMORY     },
    {fits_disk,                  REFUSED_DISK       },
    {fits_bandwidth,             REFUSED_BANDWIDTH  },
    {runs_in_time,               REFUSED_DEADLINE   },
};

/* A plan class may refuse for what the user, the operator or a draw chose. */
static bool
speaks_of_computer(const struct offer *o)
{
    if (o->choice == NULL || o->choice->verdict == NULL)
        return false;
    switch (o->choice->verdict->refusal) {
    case PLAN_CLASS_CLIENT:
    case PLAN_CLASS_DRIVER:
    case PLAN_CLASS_HOST:
        return true;
    case PLAN_CLASS_OK:
    case PLAN_CLASS_UNKNOWN:
    case PLAN_CLASS_CHANCE:
    case PLAN_CLASS_USER:
    case PLAN_CLASS_JOB:
        break;
    }
    return false;
}

int
dispatch_counts_as(const struct dispatch_rule *rule, const struct offer *o)
{
    if (rule->allows == has_version_for_computer && !speaks_of_computer(o))
        return 0;
    for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
        if (counted[i].allows == rule->allows)
            return (int)counted[i].reason;
    return 0;
}

bool
dispatch_waits_for_day(const struct dispatch_rule *rule)
{
    return rule->allows == within_day_quota ||
           rule->allows == has_version_within_quota;
}

bool
dispatch_is_conflict(const struct dispatch_rule *rule)
{
    return rule->allows == is_of_hr_class || rule->allows == is_of_same_version;
}

const struct dispatch_rule *
dispatch_refusal(const struct offer *o)
{
    for (size_t i = 0; i < n_dispatch_rules; i++)
        if (!dispatch_rules[i].allows(o))
            return &dispatch_rules[i];
    return NULL;
}

const struct dispatch_rule *
dispatch_reason(const unsigned *counts)
{
    for (size_t i = n_dispatch_rules; i > 0; i--)
        if (counts[i - 1] > 0)
            return &dispatch_rules[i - 1];
    return NULL;
}
