/* version.c - the best app version of a job for a host (dispatch §7, §8.3).
 *
 * Each version that may be sent has a speed: what its plan class promises
 * counts as one sample, each job that the host has done as another, so promise
 * gives way to experience.  To find out that a version has become faster it
 * must be tried now and then: speeds are multiplied by a random factor that
 * is the wider, the fewer samples there are.  The speed that is told to the
 * client, and that deadlines are reckoned with, has no random in it. */
#include "version.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define FLOPS_UNKNOWN 1e9       /* FLOPS, of a host without benchmarks (§7) */
#define MIN_HOST_SAMPLES 10     /* of elapsed time, to believe in them */
#define MIN_VERSION_SAMPLES 100 /* of pfc, over all hosts */
#define MAX_SPEEDUP 250         /* over what the plan class promises */
#define GPU_WORTH 10            /* CPUs, as long as nothing is known */
#define LEAST_RANDOM 0.1
#define HOPELESS 0.01     /* the speed of a version that never worked … */
#define SECOND_CHANCE .01 /* … but with this probability */
#define GIGA 1073741824.0 /* bytes */

static bool
is_known(double x)
{
    return isfinite(x) && x > 0;
}

static double
cpu_flops(const struct version_query *q)
{
    return is_known(q->flops_per_cpu) ? q->flops_per_cpu : FLOPS_UNKNOWN;
}

/* ---- 64 bits ---- */

bool
version_platform_is_64bit(const char *name)
{
    return strstr(name, "64") != NULL;
}

bool
version_needs_64bit(double rsc_memory_bound, const char *os_name)
{
    static const struct {
        const char *os;
        double space; /* bytes that a program may address */
    } known[] = {
        {"Windows", 2 * GIGA},
        {"Linux",   3 * GIGA},
        {"Darwin",  4 * GIGA},
        {"SunOS",   4 * GIGA},
        {"Solaris", 4 * GIGA},
    };
    double space = 2 * GIGA;

    /* asked for each job that is looked at: most are small */
    if (rsc_memory_bound <= 2 * GIGA)
        return false;
    if (rsc_memory_bound > 4 * GIGA)
        return true;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strstr(os_name, known[i].os) != NULL)
            space = known[i].space;
    return rsc_memory_bound > space;
}

/* ---- speed ---- */

/* Of one who would know nothing: a GPU is worth ten CPUs. */
static double
conservative_flops(const struct version_query *q,
                   const struct host_usage *usage)
{
    return cpu_flops(q) * (usage->avg_ncpus + GPU_WORTH * usage->gpu_usage);
}

/* What the host got out of it; 0 unknown.  pfc is the inverse of efficiency. */
static double
flops_by_host(const struct version_query *q, const struct host_usage *usage,
              const struct host_app_version *hav)
{
    double flops;

    if (hav == NULL || !(hav->et_n > MIN_HOST_SAMPLES))
        return 0;
    flops = q->estimate_flops_from_hav_pfc ? usage->peak_flops / hav->pfc_avg
                                           : 1 / hav->et_avg;
    return is_known(flops) ? fmin(flops, MAX_SPEEDUP * usage->projected_flops)
                           : 0;
}

/* What all hosts together got out of it; 0 unknown. */
static double
flops_by_version(const struct app_version *v, const struct host_usage *usage)
{
    double flops = usage->peak_flops / v->pfc_avg;

    return v->pfc_n > MIN_VERSION_SAMPLES && is_known(flops) ? flops : 0;
}

double
version_flops(const struct version_query *q, const struct app_version *v,
              const struct host_usage *usage,
              const struct host_app_version *hav)
{
    double flops = 0;

    if (!q->rte_no_stats) {
        flops = flops_by_host(q, usage, hav);
        if (flops <= 0)
            flops = flops_by_version(v, usage);
    }
    if (flops <= 0)
        flops = conservative_flops(q, usage);
    return is_known(flops) ? flops : cpu_flops(q);
}

/* One job a day is all it gets, because it has never done one right. */
static bool
never_worked(const struct host_app_version *hav)
{
    return hav->pfc_n <= 0 && hav->max_jobs_per_day == 1 &&
           hav->consecutive_valid == 0;
}

/* The speed by which versions are compared. */
static double
speed(const struct version_query *q, const struct app_version *v,
      const struct version_on_host *on, const struct host_usage *usage)
{
    double n = on->hav != NULL ? fmax(1, on->hav->pfc_n) : 1;
    double known = version_flops(q, v, usage, on->hav);
    double ret = (known * (n - 1) + usage->projected_flops) / n;

    if (on->hav != NULL && never_worked(on->hav) &&
        on->uniform >= SECOND_CHANCE)
        ret *= HOPELESS;
    return ret * fmax(LEAST_RANDOM, 1 + q->random_factor * on->normal / n);
}

/* ---- quota ---- */

int
version_quota(const struct version_query *q, enum proc_type type,
              int max_jobs_per_day)
{
    double jobs =
        max_jobs_per_day > 0 ? max_jobs_per_day : q->daily_result_quota;
    double processors = type == PROC_CPU
                            ? q->ncpus
                            : q->ngpus[type] * fmax(1, q->gpu_multiplier);

    if (q->daily_result_quota <= 0)
        return 0;
    if (jobs <= 1)
        return 1; /* it fails: one at a time is enough to see it recover */
    return (int)fmax(1, fmin(INT_MAX, jobs * fmax(1, processors)));
}

/* The limit if it is reached, else 0. */
static int
quota_reached(const struct version_query *q, enum proc_type type,
              const struct host_app_version *hav, int jobs_today)
{
    int max = hav != NULL ? hav->max_jobs_per_day : 0;
    int quota = version_quota(q, type, max);

    return quota > 0 && jobs_today >= quota ? quota : 0;
}

/* ---- may it be sent? ---- */

/* What holds for our versions and for the client's own, nearest last. */
static enum version_refusal
use_refusal(const struct version_query *q, const struct host_usage *usage,
            const struct host_app_version *hav, int jobs_today)
{
    if (q->excluded[usage->type])
        return VERSION_EXCLUDED;
    if (q->anyhow)
        return VERSION_OK;
    if (q->reliable_only && (hav == NULL || !trust_reliable(hav, &q->reliable)))
        return VERSION_UNRELIABLE;
    if (quota_reached(q, usage->type, hav, jobs_today) > 0)
        return VERSION_QUOTA;
    if (q->at_limit[usage->type])
        return VERSION_IN_PROGRESS;
    if (!q->any_type && !q->asked[usage->type])
        return VERSION_NOT_ASKED;
    return VERSION_OK;
}

/* Old notation: 612 is client 6.12.0. */
static int
core_version(int version)
{
    return version >= 1 && version <= 9999 ? version * 100 : version;
}

static enum version_refusal
client_refusal(const struct version_query *q, const struct app_version *v)
{
    int least = core_version(v->min_core_version);
    int most = core_version(v->max_core_version);

    if (least != 0 && q->client_version < least)
        return VERSION_CLIENT_TOO_OLD;
    if (v->plan_class[0] != '\0' && !q->cap_plan_class)
        return VERSION_CLIENT_TOO_OLD;
    if (most != 0 && q->client_version > most)
        return VERSION_CLIENT_TOO_NEW;
    return VERSION_OK;
}

/* A workunit that is pinned takes that version, superseded or not. */
static bool
is_offered(const struct version_query *q, const struct app_version *v)
{
    if (q->app->homogeneous_app_version && q->app_version_id != 0)
        return v->id == q->app_version_id;
    if (q->app_version_num != 0)
        return v->version_num == q->app_version_num;
    return !v->deprecated;
}

/* A version without a class uses one CPU. */
static const struct host_usage *
usage_of(const struct version_query *q, const struct version_on_host *on,
         struct host_usage *one_cpu)
{
    if (on->verdict != NULL)
        return &on->verdict->usage;
    *one_cpu = (struct host_usage){.type = PROC_CPU,
                                   .avg_ncpus = 1,
                                   .projected_flops = cpu_flops(q),
                                   .peak_flops = cpu_flops(q)};
    return one_cpu;
}

static bool
class_allows(const struct app_version *v, const struct version_on_host *on)
{
    if (v->plan_class[0] == '\0')
        return true;
    return on->verdict != NULL && on->verdict->refusal == PLAN_CLASS_OK &&
           !on->not_for_job;
}

static bool
is_unwanted_test(const struct version_query *q)
{
    return q->app->beta && !q->test_app_allowed;
}

static enum version_refusal
version_refusal(const struct version_query *q,
                const struct version_platform *platform,
                const struct app_version *v, const struct version_on_host *on)
{
    enum version_refusal no;
    struct host_usage one_cpu;

    if (v->appid != q->app->id || v->platformid != platform->id ||
        !is_offered(q, v))
        return VERSION_NO_PLATFORM;
    if (q->needs_64bit && !platform->is_64bit)
        return VERSION_NOT_64_BIT;
    if (v->version_num < q->app->min_version)
        return VERSION_TOO_OLD;
    no = client_refusal(q, v);
    if (no != VERSION_OK)
        return no;
    if (!class_allows(v, on))
        return VERSION_PLAN_CLASS;
    if ((v->beta && !q->beta_allowed) || is_unwanted_test(q))
        return VERSION_BETA;
    return use_refusal(q, usage_of(q, on, &one_cpu), on->hav, on->jobs_today);
}

/* ---- the choice ---- */

void
version_none(enum version_refusal refusal, struct version_choice *ret)
{
    *ret = (struct version_choice){
        .index = -1,
        .fpops_scale = 1,
        .refusal = refusal,
    };
}

static const struct version_on_host *
on_host(const struct version_query *q, size_t i)
{
    static const struct version_on_host nothing_known = {.jobs_today = 0};

    return q->on_host != NULL ? &q->on_host[i] : &nothing_known;
}

/* Of what stood in the way, keep what was nearest to being sent. */
static void
note_refusal(const struct version_query *q, enum version_refusal no,
             const struct version_on_host *on, struct version_choice *ret)
{
    struct host_usage one_cpu;

    if (no <= ret->refusal)
        return;
    ret->refusal = no;
    ret->verdict =
        no == VERSION_PLAN_CLASS && !on->not_for_job ? on->verdict : NULL;
    if (no == VERSION_QUOTA)
        ret->quota = quota_reached(q, usage_of(q, on, &one_cpu)->type, on->hav,
                                   on->jobs_today);
}

/* The same program, but older? */
static bool
is_outdated_by(const struct app_version *v, const struct app_version *other)
{
    return other->appid == v->appid && other->platformid == v->platformid &&
           other->version_num > v->version_num &&
           strcmp(other->plan_class, v->plan_class) == 0;
}

static bool
is_outdated(const struct version_query *q,
            const struct version_platform *platform,
            const struct app_version *versions, size_t n, size_t i)
{
    for (size_t k = 0; k < n; k++)
        if (is_outdated_by(&versions[i], &versions[k]) &&
            version_refusal(q, platform, &versions[k], on_host(q, k)) ==
                VERSION_OK)
            return true;
    return false;
}

static void
look_at_platform(const struct version_query *q,
                 const struct version_platform *platform,
                 const struct app_version *versions, size_t n, double *best,
                 struct version_choice *ret)
{
    for (size_t i = 0; i < n; i++) {
        const struct app_version *v = &versions[i];
        const struct version_on_host *on = on_host(q, i);
        enum version_refusal no = version_refusal(q, platform, v, on);
        struct host_usage one_cpu;
        double s;

        if (no != VERSION_OK) {
            note_refusal(q, no, on, ret);
            continue;
        }
        s = speed(q, v, on, usage_of(q, on, &one_cpu));
        if ((ret->index < 0 || s > *best) &&
            !is_outdated(q, platform, versions, n, i)) {
            ret->index = (ptrdiff_t)i;
            *best = s;
        }
    }
}

void
version_choose(const struct version_query *q,
               const struct app_version *versions, size_t n,
               struct version_choice *ret)
{
    const struct app_version *v;
    const struct version_on_host *on;
    double best = 0;

    version_none(VERSION_NO_PLATFORM, ret);
    for (size_t p = 0; p < q->n_platforms; p++) {
        if (ret->index >= 0 && q->prefer_primary_platform)
            break;
        look_at_platform(q, &q->platforms[p], versions, n, &best, ret);
    }
    if (ret->index < 0)
        return;
    v = &versions[ret->index];
    on = on_host(q, (size_t)ret->index);
    ret->refusal = VERSION_OK;
    ret->verdict = NULL;
    ret->quota = 0;
    ret->version_id = v->id;
    ret->usage = *usage_of(q, on, &ret->usage);
    ret->usage.projected_flops = version_flops(q, v, &ret->usage, on->hav);
}

/* ---- the client's own versions (§7.1) ---- */

static enum version_refusal
own_refusal(const struct version_query *q, const struct version_own *own)
{
    if (own->appid != q->app->id || (q->needs_64bit && !own->is_64bit) ||
        own->version_num < q->app->min_version ||
        (q->app_version_num != 0 && own->version_num != q->app_version_num))
        return VERSION_ANONYMOUS; /* app_info.xml lacks a usable one */
    if (is_unwanted_test(q))
        return VERSION_BETA;
    return use_refusal(q, &own->usage, own->hav, own->jobs_today);
}

/* The client's word for its speed, but experience if there is some. */
static double
own_flops(const struct version_query *q, const struct version_own *own)
{
    double said = is_known(own->usage.projected_flops)
                      ? own->usage.projected_flops
                      : cpu_flops(q);
    double known = 0;

    if (own->hav != NULL && own->hav->et_n > MIN_HOST_SAMPLES)
        known = fmin(1 / own->hav->et_avg, MAX_SPEEDUP * said);
    return is_known(known) ? known : said;
}

static void
take_own(const struct version_query *q, const struct version_own *own,
         struct version_choice *ret)
{
    double said = own->usage.projected_flops;

    ret->anonymous = true;
    ret->version_id = -2 - (int64_t)own->usage.type;
    ret->usage = own->usage;
    ret->usage.projected_flops = own_flops(q, own);
    /* The client reckons with its own number: the job is described so that its
     * result is right. */
    if (is_known(said))
        ret->fpops_scale = said / ret->usage.projected_flops;
    ret->refusal = VERSION_OK;
    ret->quota = 0;
}

void
version_choose_own(const struct version_query *q, const struct version_own *own,
                   size_t n, struct version_choice *ret)
{
    enum version_refusal nearest = VERSION_OK;
    double best = 0;

    version_none(VERSION_ANONYMOUS, ret);
    /* nobody knows whether the client's program computes the same digits */
    if (q->app->homogeneous_app_version) {
        ret->refusal = VERSION_OWN_PROGRAM;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        enum version_refusal no = own_refusal(q, &own[i]);
        double flops = own_flops(q, &own[i]);

        if (no == VERSION_OK && (ret->index < 0 || flops > best)) {
            ret->index = (ptrdiff_t)i;
            best = flops;
        }
        if (no == VERSION_OK || no == VERSION_ANONYMOUS || no <= nearest)
            continue;
        nearest = no;
        ret->quota =
            quota_reached(q, own[i].usage.type, own[i].hav, own[i].jobs_today);
    }
    if (ret->index >= 0)
        take_own(q, &own[ret->index], ret);
    else if (nearest != VERSION_OK)
        ret->refusal = nearest;
}
