/* work.c - what a host has to offer, and which version it would run. */
#include "work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "catalog.h"
#include "config.h"
#include "estimate.h"
#include "log.h"
#include "preferences.h"
#include "prefs.h"
#include "rpc.h"

enum {
    LAST_WITHOUT_ACTIVE_FRAC = 41900, /* client 4.19 */
    NO_LIMIT = 999999,
};

/* ---- platforms, applications ---- */

static void
add_platform(struct work *w, const struct catalog *catalog, const char *name)
{
    ptrdiff_t i = catalog_find_platform(catalog, name);

    if (i < 0 || w->n_platforms == WORK_MAX_PLATFORMS)
        return;
    catalog_platform(catalog, (size_t)i, &w->platform[w->n_platforms]);
    w->version_platform[w->n_platforms] = (struct version_platform){
        .id = w->platform[w->n_platforms].id,
        .is_64bit = version_platform_is_64bit(name),
    };
    w->n_platforms++;
}

static void
read_platforms(struct rpc *rpc)
{
    const struct sched_request *req = rpc->req;

    add_platform(&rpc->work, rpc->catalog, req->platform_name);
    if (strcmp(req->platform_name, "anonymous") == 0)
        return;
    for (size_t i = 0; i < req->n_alt_platforms; i++)
        add_platform(&rpc->work, rpc->catalog, req->alt_platform[i]);
}

static void
read_catalog(struct work *w, const struct catalog *catalog)
{
    w->n_apps = catalog_n_apps(catalog);
    w->n_versions = catalog_n_versions(catalog);
    w->app = xcalloc(w->n_apps + 1, sizeof(*w->app));
    w->version = xcalloc(w->n_versions + 1, sizeof(*w->version));
    for (size_t i = 0; i < w->n_apps; i++)
        catalog_app(catalog, i, &w->app[i]);
    for (size_t i = 0; i < w->n_versions; i++)
        catalog_version(catalog, i, &w->version[i]);
}

const char *
work_platform_name(const struct work *w, int64_t id)
{
    for (size_t i = 0; i < w->n_platforms; i++)
        if (w->platform[i].id == id)
            return w->platform[i].name;
    return "";
}

/* ---- the host's offer ---- */

static int
max_jobs(const struct rpc *rpc, int ncpus)
{
    int64_t per_cpu = rpc->cfg->max_wus_to_send;
    int64_t in_all = rpc->cfg->max_results_per_rpc;
    int64_t max = NO_LIMIT;

    if (per_cpu > 0 && per_cpu < NO_LIMIT / ncpus)
        max = per_cpu * ncpus;
    if (in_all > 0 && in_all < max)
        max = in_all;
    return (int)max;
}

static double
available_frac(const struct rpc *rpc)
{
    struct host host = rpc->host;

    if (rpc->req->client_version <= LAST_WITHOUT_ACTIVE_FRAC)
        host.active_frac = 1;
    return estimate_available_frac(&host, rpc->req->cpu_efficiency);
}

static void
describe_offer(const struct rpc *rpc, struct offer_host *ret)
{
    const struct sched_request *req = rpc->req;
    const struct work_request wanted = {
        .per_resource = req->cpu_req_secs > 0 || request_wants_coproc(req),
        .work_req_seconds = req->work_req_seconds,
        .req_secs[PROC_CPU] = req->cpu_req_secs,
        .req_instances[PROC_CPU] = req->cpu_req_instances,
    };
    struct global_prefs prefs;

    preferences_in_force(rpc, &prefs);
    *ret = (struct offer_host){
        .usable_ram = estimate_usable_ram(&rpc->host, &prefs),
        .disk_left = estimate_disk_available(
            &rpc->host, &prefs, rpc->cfg->default_disk_min_free_gb),
        .available_frac = available_frac(rpc),
        .gpu_available_frac = available_frac(rpc),
        .estimated_delay[PROC_CPU] = req->estimated_delay,
        .n_bwdown = rpc->host.n_bwdown,
        .count[PROC_CPU] =
            estimate_ncpus(&rpc->host, &prefs, (int)rpc->cfg->max_ncpus),
        .day_left = OFFER_NO_LIMIT,
        .user_room = OFFER_NO_LIMIT,
        .ignore_delay_bound = rpc->cfg->ignore_delay_bound,
        .m_nbytes = rpc->host.m_nbytes,
        .d_free = rpc->host.d_free,
    };
    ret->room.total = OFFER_NO_LIMIT;
    for (int t = 0; t < N_PROC_TYPES; t++)
        ret->room.type[t] = OFFER_NO_LIMIT;
    ret->max_jobs = max_jobs(rpc, ret->count[PROC_CPU]);
    offer_host_set_request(ret, &wanted);
}

int
work_setup(struct rpc *rpc)
{
    struct work *w = &rpc->work;

    if (project_prefs_parse(rpc->user.project_prefs, rpc->host.venue,
                            &w->prefs) != 0)
        log_warning("[USER#%" PRId64 "] project preferences cannot be read",
                    rpc->user.id);
    read_platforms(rpc);
    read_catalog(w, rpc->catalog);
    w->flops_per_cpu = estimate_flops_per_cpu(&rpc->host);
    describe_offer(rpc, &w->whole);
    w->offer = w->whole;
    return choice_setup(rpc);
}

void
work_free(struct work *w)
{
    free(w->app);
    choice_free(&w->choices);
    free(w->version);
    project_prefs_free(&w->prefs);
    *w = (struct work){0};
}

/* ---- one job ---- */

static void
describe_job(const struct rpc *rpc, const struct sendable *job, ptrdiff_t app,
             struct offer *ret)
{
    *ret = (struct offer){
        .job = job,
        .host = &rpc->work.offer,
        .app = app >= 0 ? &rpc->work.app[app] : NULL,
        .one_result_per_user_per_wu = rpc->cfg->one_result_per_user_per_wu,
        .one_result_per_host_per_wu = rpc->cfg->one_result_per_host_per_wu,
    };
}

static void
describe_choice(const struct rpc *rpc, const struct version_choice *choice,
                struct offer *ret)
{
    ret->choice = choice;
    ret->version = choice_version(rpc, choice);
    ret->type = choice->usage.type;
    ret->avg_ncpus = choice->usage.avg_ncpus;
    ret->gpu_usage = choice->usage.gpu_usage;
    ret->mem_usage = choice->usage.mem_usage;
    ret->flops = choice->usage.projected_flops;
}

void
work_offer_chosen(struct rpc *rpc, const struct sendable *job,
                  const struct version_choice *choice, struct offer *ret)
{
    ptrdiff_t app = catalog_find_app(rpc->catalog, job->appid);

    describe_job(rpc, job, app, ret);
    if (app >= 0)
        describe_choice(rpc, choice, ret);
}

static void
make_offer(struct rpc *rpc, const struct sendable *job, bool anyhow,
           struct offer *ret, struct version_choice *ret_choice)
{
    ptrdiff_t app = catalog_find_app(rpc->catalog, job->appid);

    version_none(VERSION_NO_PLATFORM, ret_choice);
    describe_job(rpc, job, app, ret);
    if (app < 0)
        return;
    choice_make(rpc, (size_t)app, job, ret, anyhow, ret_choice);
    describe_choice(rpc, ret_choice, ret);
}

void
work_offer(struct rpc *rpc, const struct sendable *job, struct offer *ret,
           struct version_choice *ret_choice)
{
    make_offer(rpc, job, false, ret, ret_choice);
}

void
work_offer_anyhow(struct rpc *rpc, const struct sendable *job,
                  struct offer *ret, struct version_choice *ret_choice)
{
    make_offer(rpc, job, true, ret, ret_choice);
}

void
work_take(struct rpc *rpc, const struct offer *offer)
{
    offer_host_take(&rpc->work.offer, offer);
    choice_take(rpc, offer);
}

void
work_take_nothing(struct rpc *rpc)
{
    rpc->work.offer = rpc->work.whole;
    choice_take_nothing(rpc);
}
