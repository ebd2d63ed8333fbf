/* work.c - what a host has to offer, and which version it would run. */
#include "work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "catalog.h"
#include "config.h"
#include "estimate.h"
#include "held_files.h"
#include "host_offer.h"
#include "app_limits.h"
#include "log.h"
#include "prefs.h"
#include "quota.h"
#include "rpc.h"

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

static bool
goes_by_files(const struct work *w)
{
    for (size_t i = 0; i < w->n_apps; i++)
        if (w->app[i].locality_scheduling == 1)
            return true;
    return false;
}

static void
read_held_files(struct work *w, const struct sched_request *req)
{
    if (!goes_by_files(w))
        return;
    w->held_file = xcalloc(req->n_files + 1, sizeof(*w->held_file));
    for (size_t i = 0; i < req->n_files; i++)
        w->held_file[w->n_held_files++] = held_file_hash(req->file[i].name);
    held_files_sort(w->held_file, w->n_held_files);
}

const char *
work_platform_name(const struct work *w, int64_t id)
{
    for (size_t i = 0; i < w->n_platforms; i++)
        if (w->platform[i].id == id)
            return w->platform[i].name;
    return "";
}

int
work_setup(struct rpc *rpc)
{
    struct work *w = &rpc->work;

    if (project_prefs_parse(rpc->user.project_prefs, rpc->host.venue,
                            &w->prefs) != 0) {
        log_warning("[USER#%" PRId64 "] project preferences are not XML",
                    rpc->user.id);
        /* nor could the client read a reply that holds them */
        free(rpc->user.project_prefs);
        rpc->user.project_prefs = NULL;
    }
    read_platforms(rpc);
    read_catalog(w, rpc->catalog);
    read_held_files(w, rpc->req);
    w->flops_per_cpu = estimate_flops_per_cpu(&rpc->host);
    if (!rpc->new_host &&
        quota_is_new_day(rpc->host.id, rpc->old_host.rpc_time, rpc->now))
        rpc->host.nresults_today = 0;
    host_offer_describe(rpc, &w->prefs, &w->whole);
    if (limits_setup(rpc) != 0)
        return -1;
    return choice_setup(rpc);
}

void
work_free(struct work *w)
{
    free(w->app);
    choice_free(&w->choices);
    free(w->version);
    free(w->held_file);
    project_prefs_free(&w->prefs);
    *w = (struct work){0};
}

bool
work_has_idle_app(const struct work *w)
{
    for (size_t i = 0; i < w->n_apps; i++)
        if (w->app[i].non_cpu_intensive && !w->app[i].deprecated)
            return true;
    return false;
}

/* ---- one job ---- */

static void
describe_job(struct rpc *rpc, const struct sendable *job, ptrdiff_t app,
             struct offer *ret)
{
    *ret = (struct offer){
        .job = job,
        .host = &rpc->work.offer,
        .app = app >= 0 ? &rpc->work.app[app] : NULL,
        .one_result_per_user_per_wu = rpc->cfg->one_result_per_user_per_wu,
        .one_result_per_host_per_wu = rpc->cfg->one_result_per_host_per_wu,
    };
    if (app >= 0)
        limits_offer(rpc, (size_t)app, ret);
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
    limits_take(rpc, offer);
    choice_take(rpc, offer);
}

void
work_take_nothing(struct rpc *rpc)
{
    rpc->work.offer = rpc->work.whole;
    limits_take_nothing(rpc);
    choice_take_nothing(rpc);
}
