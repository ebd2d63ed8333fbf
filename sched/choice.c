/* choice.c - which version of an application a job would run on the host of
 * this request. */
#include "choice.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "catalog.h"
#include "config.h"
#include "digest.h"
#include "log.h"
#include "plan_class.h"
#include "prefs.h"
#include "quota.h"
#include "rpc.h"
#include "sitefiles.h"

enum { TOLD_MAX = 5 }; /* notices about unknown applications */

/* ---- random numbers ------------------------------------------------------ */

/* 0 <= x < 1. */
static double
uniform(void)
{
    return (double)random_u31() / 2147483648.0;
}

/* Mean 0, standard deviation 1 (Box and Muller). */
static double
normal(void)
{
    double radius = sqrt(-2 * log(1 - uniform()));

    return radius * cos(2 * 3.14159265358979323846 * uniform());
}

/* ---- plan classes -------------------------------------------------------- */

static struct choice_class *
find_class(struct choices *c, const char *name)
{
    for (size_t i = 0; i < c->n_classes; i++)
        if (strcmp(c->class[i] -> name, name) == 0)
            return c->class[i];
    return NULL;
}

static struct choice_class *
add_class(struct rpc *rpc, const struct plan_class_host *host, const char *name)
{
    struct choices *c = &rpc->work.choices;
    struct choice_class *ret = xcalloc(1, sizeof(*ret));

    ret->name = name;
    ret->spec = plan_class_find(&rpc->files->plan_classes, name, &ret->scratch);
    plan_class_check(ret->spec, host, &ret->verdict);
    if (ret->verdict.refusal == PLAN_CLASS_UNKNOWN)
        log_critical("plan class %s: %s", name, ret->verdict.why);
    else if (rpc->cfg->debug_version_select)
        log_normal(TAG_HOST "plan class %s: %s", rpc->host.id, name,
                   ret->verdict.refusal == PLAN_CLASS_OK ? "may be used"
                                                         : ret->verdict.why);
    c->class = xrealloc(c->class, (c->n_classes + 1) * sizeof(*c->class));
    c->class[c->n_classes++] = ret;
    return ret;
}

static struct plan_class_host
describe_host(const struct rpc *rpc)
{
    const struct host_speeds speeds = catalog_speeds(rpc->catalog);
    const struct work *w = &rpc->work;

    return (struct plan_class_host){
        .host = &rpc->host,
        .ability = &rpc->req->ability,
        .prefs = &w->prefs,
        .primary_platform = rpc->req->platform_name,
        .client_version = rpc->req->client_version,
        .ncpus = w->whole.count[PROC_CPU],
        .usable_ram = w->whole.usable_ram,
        .flops_per_cpu = plan_class_host_flops(rpc->host.p_fpops, speeds.median,
                                               speeds.percentile95),
        .draw = uniform(),
    };
}

/* ---- versions of the catalog --------------------------------------------- */

static const struct host_app_version *
statistics(struct rpc *rpc, int64_t appid, int64_t version_id, int *ret_today)
{
    const struct host_app_version *hav =
        standing_find(rpc, quota_version_key(appid, version_id));
    struct choices *c = &rpc->work.choices;

    *ret_today = 0;
    if (hav == NULL)
        return NULL;
    c->hav[c->n_havs] = *hav;
    *ret_today = hav->n_jobs_today;
    return &c->hav[c->n_havs++];
}

static bool
is_for_client(const struct work *w, const struct app_version *v)
{
    for (size_t i = 0; i < w->n_platforms; i++)
        if (w->platform[i].id == v->platformid)
            return true;
    return false;
}

static void
gather_versions(struct rpc *rpc)
{
    const struct plan_class_host host = describe_host(rpc);
    struct work *w = &rpc->work;
    struct choices *c = &w->choices;

    c->hav = xcalloc(w->n_versions + 1, sizeof(*c->hav));
    c->on_host = xcalloc(w->n_versions + 1, sizeof(*c->on_host));
    c->class_of = xcalloc(w->n_versions + 1, sizeof(*c->class_of));
    for (size_t i = 0; i < w->n_versions; i++) {
        const struct app_version *v = &w->version[i];
        struct version_on_host *on = &c->on_host[i];

        if (!is_for_client(w, v))
            continue;
        on->uniform = uniform();
        on->normal = normal();
        on->hav = statistics(rpc, v->appid, v->id, &on->jobs_today);
        if (v->plan_class[0] == '\0')
            continue;
        c->class_of[i] = find_class(c, v->plan_class);
        if (c->class_of[i] == NULL)
            c->class_of[i] = add_class(rpc, &host, v->plan_class);
        on->verdict = &c->class_of[i]->verdict;
    }
}

/* ---- the client's own versions (§7.1) ------------------------------------ */

static const struct app *
app_by_name(const struct work *w, const char *name)
{
    for (size_t i = 0; i < w->n_apps; i++)
        if (strcmp(w->app[i].name, name) == 0)
            return &w->app[i];
    return NULL;
}

static struct host_usage
own_usage(const struct rpc *rpc, const struct client_app_version *av)
{
    int gpu = av->coproc[0] != '\0' && av->coproc_count > 0
                  ? proc_type_by_name(av->coproc)
                  : -1;
    struct host_usage ret = {
        .type = gpu > 0 ? (enum proc_type)gpu : PROC_CPU,
        .avg_ncpus = av->avg_ncpus,
        .gpu_usage = gpu > 0 ? av->coproc_count : 0,
        .gpu_ram = gpu > 0 ? av->gpu_ram : 0,
        .projected_flops = av->flops,
    };

    if (ret.avg_ncpus <= 0 && ret.gpu_usage <= 0)
        ret.avg_ncpus = 1;
    ret.peak_flops = ret.avg_ncpus * rpc->work.flops_per_cpu +
                     ret.gpu_usage * rpc->req->ability.gpu[ret.type].peak_flops;
    return ret;
}

static void
gather_own(struct rpc *rpc)
{
    const struct sched_request *req = rpc->req;
    struct choices *c = &rpc->work.choices;

    c->hav = xcalloc(req->n_app_versions + 1, sizeof(*c->hav));
    c->own = xcalloc(req->n_app_versions + 1, sizeof(*c->own));
    c->own_version = xcalloc(req->n_app_versions + 1, sizeof(*c->own_version));
    c->n_own = req->n_app_versions;
    for (size_t i = 0; i < c->n_own; i++) {
        const struct client_app_version *av = &req->app_version[i];
        const struct app *app = app_by_name(&rpc->work, av->app_name);
        struct version_own *own = &c->own[i];

        if (app == NULL)
            continue;
        *own = (struct version_own){
            .appid = app->id,
            .version_num = av->version_num,
            .is_64bit = version_platform_is_64bit(av->platform),
            .usage = own_usage(rpc, av),
        };
        c->own_version[i] = (struct app_version){
            .id = -2 - (int64_t)own->usage.type,
            .appid = app->id,
            .version_num = av->version_num,
        };
        str_copy(c->own_version[i].plan_class,
                 sizeof(c->own_version[i].plan_class), av->plan_class);
        own->hav =
            statistics(rpc, app->id, c->own_version[i].id, &own->jobs_today);
    }
}

static bool
named_before(const struct sched_request *req, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(req->app_version[k].app_name,
                   req->app_version[i].app_name) == 0)
            return true;
    return false;
}

static void
tell_unknown(struct rpc *rpc)
{
    const struct sched_request *req = rpc->req;
    int told = 0;

    for (size_t i = 0; i < req->n_app_versions && told < TOLD_MAX; i++) {
        const char *name = req->app_version[i].app_name;

        if (rpc->work.choices.own[i].appid != 0 || named_before(req, i))
            continue;
        told++;
        if (name[0] != '\0')
            reply_message(&rpc->reply, MESSAGE_NOTICE,
                          "Your app_info.xml file names the application %s, "
                          "which this project does not have.",
                          name);
        else
            reply_message(&rpc->reply, MESSAGE_NOTICE,
                          "A version in your app_info.xml file does not name "
                          "its application.");
    }
}

/* ---- versions for certain jobs ------------------------------------------- */

/* Classes that are for certain workunits or batches. */
static bool
class_is_by_job(const struct choice_class *class)
{
    return class != NULL && class->spec != NULL &&
           plan_class_limits_jobs(class->spec);
}

static void
find_by_job(struct rpc *rpc)
{
    struct work *w = &rpc->work;
    struct choices *c = &w->choices;

    for (size_t i = 0; i < w->n_versions; i++) {
        ptrdiff_t app =
            class_is_by_job(c->class_of[i])
                ? catalog_find_app(rpc->catalog, w->version[i].appid)
                : -1;

        if (app >= 0)
            c->by_job[app] = true;
    }
}

bool
choice_is_by_job(const struct rpc *rpc, int64_t appid)
{
    ptrdiff_t app = catalog_find_app(rpc->catalog, appid);

    return app >= 0 && rpc->work.choices.by_job != NULL &&
           rpc->work.choices.by_job[app];
}

/* ---- set-up -------------------------------------------------------------- */

static void
prepare_query(const struct rpc *rpc, struct version_query *ret)
{
    const struct config *cfg = rpc->cfg;
    const struct work *w = &rpc->work;

    *ret = (struct version_query){
        .platforms = w->version_platform,
        .n_platforms = w->n_platforms,
        .on_host = w->choices.on_host,
        .client_version = rpc->req->client_version,
        .cap_plan_class = rpc->req->client_cap_plan_class,
        .flops_per_cpu = w->flops_per_cpu,
        .beta_allowed = w->prefs.allow_beta_work,
        .any_type = w->whole.any_type,
        .daily_result_quota = (int)cfg->daily_result_quota,
        .ncpus = rpc->host.p_ncpus,
        .gpu_multiplier = cfg->gpu_multiplier,
        .reliable =
            {
                       .max_avg_turnaround = (double)cfg->reliable_max_avg_turnaround,
                       .daily_result_quota = (int)cfg->daily_result_quota,
                       .turnaround_factor = trust_turnaround_factor(&rpc->host),
                       },
        .prefer_primary_platform = cfg->prefer_primary_platform,
        .rte_no_stats = cfg->rte_no_stats,
        .estimate_flops_from_hav_pfc = cfg->estimate_flops_from_hav_pfc,
        .random_factor = cfg->version_select_random_factor,
    };
    for (int t = 0; t < N_PROC_TYPES; t++) {
        ret->excluded[t] = w->prefs.excluded[t];
        ret->ngpus[t] = rpc->req->ability.gpu[t].count;
    }
}

int
choice_setup(struct rpc *rpc)
{
    struct work *w = &rpc->work;
    struct choices *c = &w->choices;

    if (!rpc_wants_work(rpc))
        return 0;
    if (standing_load(rpc) != 0)
        return -1;
    c->anonymous = strcmp(rpc->req->platform_name, "anonymous") == 0;
    c->memo = xcalloc(w->n_apps + 1, sizeof(*c->memo));
    c->next_memo = xcalloc(w->n_apps + 1, sizeof(*c->next_memo));
    c->by_job = xcalloc(w->n_apps + 1, sizeof(*c->by_job));
    if (c->anonymous) {
        gather_own(rpc);
        tell_unknown(rpc);
    } else {
        gather_versions(rpc);
        find_by_job(rpc);
    }
    prepare_query(rpc, &c->query);
    return 0;
}

void
choice_free(struct choices *c)
{
    for (size_t i = 0; i < c->n_classes; i++)
        free(c->class[i]);
    free(c->class);
    free(c->class_of);
    free(c->hav);
    free(c->on_host);
    free(c->own);
    free(c->own_version);
    free(c->memo);
    free(c->next_memo);
    free(c->by_job);
    *c = (struct choices){.n_classes = 0};
}

/* ---- one job ------------------------------------------------------------- */

/* Is the limit of jobs in progress reached? */
static bool
no_room(const struct job_room *room, enum proc_type type)
{
    return room->total <= 0 || room->type[type] <= 0;
}

/* With <distinct_beta_apps> a volunteer names the test applications that he
 * takes, one by one. */
static bool
takes_test_app(const struct rpc *rpc, int64_t appid)
{
    const struct project_prefs *prefs = &rpc->work.prefs;

    if (!rpc->cfg->distinct_beta_apps)
        return prefs->allow_beta_work;
    return prefs->n_app_ids > 0 && project_prefs_selects(prefs, appid);
}

static void
describe_question(const struct rpc *rpc, size_t app, const struct sendable *job,
                  const struct offer *offer, bool anyhow,
                  struct version_query *ret)
{
    *ret = rpc->work.choices.query;
    ret->app = &rpc->work.app[app];
    ret->anyhow = anyhow;
    ret->needs_64bit =
        version_needs_64bit(job->rsc_memory_bound, rpc->host.os_name);
    ret->reliable_only = job->need_reliable && !ret->app->beta;
    ret->test_app_allowed = takes_test_app(rpc, ret->app->id);
    ret->app_version_num = job->app_version_num;
    ret->app_version_id =
        ret->app->homogeneous_app_version ? job->app_version_id : 0;
    for (enum proc_type t = 0; t < N_PROC_TYPES; t++) {
        ret->asked[t] = offer_host_wants(offer->host, t);
        ret->at_limit[t] =
            no_room(&offer->host->room, t) ||
            (offer->app_room != NULL && no_room(offer->app_room, t));
    }
}

static unsigned
bits(const bool *flag)
{
    unsigned ret = 0;

    for (unsigned t = 0; t < N_PROC_TYPES; t++)
        if (flag[t])
            ret |= 1U << t;
    return ret;
}

/* The same question has an answer already, or room for one is made. */
static struct choice_memo *
find_memo(struct choices *c, size_t app, const struct version_query *q)
{
    struct choice_memo *memo = c->memo[app];
    unsigned asked = bits(q->asked), at_limit = bits(q->at_limit);

    for (int i = 0; i < CHOICE_MEMOS; i++)
        if (memo[i].used && memo[i].needs_64bit == q->needs_64bit &&
            memo[i].reliable_only == q->reliable_only &&
            memo[i].anyhow == q->anyhow && memo[i].asked == asked &&
            memo[i].at_limit == at_limit &&
            memo[i].app_version_num == q->app_version_num &&
            memo[i].app_version_id == q->app_version_id)
            return &memo[i];
    memo += c->next_memo[app]++ % CHOICE_MEMOS;
    *memo = (struct choice_memo){
        .needs_64bit = q->needs_64bit,
        .reliable_only = q->reliable_only,
        .anyhow = q->anyhow,
        .asked = asked,
        .at_limit = at_limit,
        .app_version_num = q->app_version_num,
        .app_version_id = q->app_version_id,
    };
    return memo;
}

/* Which of the application's versions take this job? */
static void
mark_for_job(struct rpc *rpc, int64_t appid, const struct sendable *job)
{
    struct work *w = &rpc->work;
    struct choices *c = &w->choices;

    for (size_t i = 0; i < w->n_versions; i++)
        if (w->version[i].appid == appid && class_is_by_job(c->class_of[i]))
            c->on_host[i].not_for_job = !plan_class_takes_job(
                c->class_of[i]->spec, job->wu_id, job->batch);
}

static void
ask(const struct rpc *rpc, const struct version_query *q,
    struct version_choice *ret)
{
    const struct work *w = &rpc->work;

    if (w->choices.anonymous)
        version_choose_own(q, w->choices.own, w->choices.n_own, ret);
    else
        version_choose(q, w->version, w->n_versions, ret);
    if (rpc->cfg->debug_version_select && ret->index >= 0)
        log_normal(TAG_HOST "%s: version %" PRId64 ", %.3g FLOPS", rpc->host.id,
                   q->app->name, ret->version_id, ret->usage.projected_flops);
}

void
choice_make(struct rpc *rpc, size_t app, const struct sendable *job,
            const struct offer *offer, bool anyhow, struct version_choice *ret)
{
    struct choices *c = &rpc->work.choices;
    struct version_query q;
    struct choice_memo *memo;

    version_none(VERSION_NO_PLATFORM, ret);
    if (c->memo == NULL)
        return;
    describe_question(rpc, app, job, offer, anyhow, &q);
    if (c->by_job[app]) {
        mark_for_job(rpc, q.app->id, job);
        ask(rpc, &q, ret);
        return;
    }
    memo = find_memo(c, app, &q);
    if (!memo->used) {
        ask(rpc, &q, &memo->choice);
        memo->used = true;
    }
    *ret = memo->choice;
}

/* ---- jobs taken ---------------------------------------------------------- */

/* Counts have changed: what was found out about quotas is no longer true. */
static void
forget_memos(struct rpc *rpc)
{
    struct choices *c = &rpc->work.choices;

    if (rpc->cfg->daily_result_quota > 0 && c->memo != NULL)
        memset(c->memo, 0, rpc->work.n_apps * sizeof(*c->memo));
}

void
choice_take(struct rpc *rpc, const struct offer *offer)
{
    struct choices *c = &rpc->work.choices;
    const struct version_choice *choice = offer->choice;

    if (choice == NULL || choice->index < 0)
        return;
    if (choice->anonymous) { /* those of one kind of processor count as one */
        const struct version_own *taken = &c->own[choice->index];

        for (size_t i = 0; i < c->n_own; i++)
            if (c->own[i].appid == taken->appid &&
                c->own[i].usage.type == taken->usage.type)
                c->own[i].jobs_today++;
    } else {
        c->on_host[choice->index].jobs_today++;
    }
    forget_memos(rpc);
}

void
choice_take_nothing(struct rpc *rpc)
{
    struct work *w = &rpc->work;
    struct choices *c = &w->choices;

    for (size_t i = 0; i < w->n_versions && c->on_host != NULL; i++)
        c->on_host[i].jobs_today =
            c->on_host[i].hav != NULL ? c->on_host[i].hav->n_jobs_today : 0;
    for (size_t i = 0; i < c->n_own; i++)
        c->own[i].jobs_today =
            c->own[i].hav != NULL ? c->own[i].hav->n_jobs_today : 0;
    forget_memos(rpc);
}

const struct app_version *
choice_version(const struct rpc *rpc, const struct version_choice *choice)
{
    const struct work *w = &rpc->work;

    if (choice->index < 0)
        return NULL;
    return choice->anonymous ? &w->choices.own_version[choice->index]
                             : &w->version[choice->index];
}
