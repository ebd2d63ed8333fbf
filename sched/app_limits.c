/* app_limits.c - what limits, preferences and homogeneous redundancy say of
 * each application in this request.
 *
 * Jobs in progress are counted in the database, not in what the client lists:
 * a client whose replies were lost knows nothing of jobs that are promised to
 * it, and would get more of them with each request. */
#include "app_limits.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "catalog.h"
#include "config.h"
#include "hr.h"
#include "plan_class.h"
#include "preferences.h"
#include "prefs.h"
#include "rpc.h"
#include "rule_files.h"

enum {
    IN_PROGRESS_MAX = 10000, /* counted in one request */
    SIMULATED_MAX = 1000,
    ANONYMOUS_CPU = -2, /* result.app_version_id: -2 CPU, -3 NVIDIA, … */
};

/* ---- limits ---- */

static int
limit_of(struct job_limit limit, int processors)
{
    int64_t jobs = limit.jobs;

    if (jobs == 0)
        return OFFER_NO_LIMIT;
    if (limit.per_proc)
        jobs *= processors;
    return jobs < OFFER_NO_LIMIT ? (int)jobs : OFFER_NO_LIMIT;
}

static struct job_room
room_of(const struct job_limit_set *set, const int count[N_PROC_TYPES])
{
    struct job_room room = {.total = limit_of(set->total, 1)};

    room.type[PROC_CPU] = limit_of(set->cpu, count[PROC_CPU]);
    for (int t = PROC_CPU + 1; t < N_PROC_TYPES; t++)
        room.type[t] = limit_of(set->gpu, count[t]);
    return room;
}

/* config_aux.xml, and the two old elements of config.xml. */
static struct job_room
room_of_project(const struct rpc *rpc, const int count[N_PROC_TYPES])
{
    struct job_limit_set set = rpc->rule_files->limits.project;

    if (set.cpu.jobs == 0)
        set.cpu = (struct job_limit){(int)rpc->cfg->max_wus_in_progress, true};
    if (set.gpu.jobs == 0)
        set.gpu =
            (struct job_limit){(int)rpc->cfg->max_wus_in_progress_gpu, true};
    return room_of(&set, count);
}

static struct job_room
room_of_app(const struct rpc *rpc, const char *name,
            const int count[N_PROC_TYPES])
{
    static const struct job_limit_set none;
    const struct job_limits *l = &rpc->rule_files->limits;

    for (size_t i = 0; i < l->n_apps; i++)
        if (strcmp(l->app[i].app_name, name) == 0)
            return room_of(&l->app[i].limit, count);
    return room_of(&none, count);
}

static bool
limits_anything(const struct job_room *room)
{
    for (int t = 0; t < N_PROC_TYPES; t++)
        if (room->type[t] != OFFER_NO_LIMIT)
            return true;
    return room->total != OFFER_NO_LIMIT;
}

/* ---- jobs in progress ---- */

static enum proc_type
type_of_version(const struct work *w, int64_t version_id)
{
    if (version_id <= ANONYMOUS_CPU &&
        version_id > ANONYMOUS_CPU - N_PROC_TYPES)
        return (enum proc_type)(ANONYMOUS_CPU - version_id);
    for (size_t i = 0; i < w->n_versions; i++)
        if (w->version[i].id == version_id)
            return plan_class_name_type(w->version[i].plan_class);
    return PROC_CPU;
}

static void
occupy(struct job_room *room, enum proc_type type)
{
    if (room->total != OFFER_NO_LIMIT)
        room->total--;
    if (room->type[type] != OFFER_NO_LIMIT)
        room->type[type]--;
}

static void
count_job(struct rpc *rpc, const struct known_result *row)
{
    struct offer_host *h = &rpc->work.whole;
    ptrdiff_t app = catalog_find_app(rpc->catalog, row->appid);
    enum proc_type type = type_of_version(&rpc->work, row->app_version_id);

    occupy(&h->room, type);
    if (h->user_room != OFFER_NO_LIMIT)
        h->user_room--;
    if (app < 0)
        return;
    occupy(&rpc->limits.app[app].whole, type);
    rpc->limits.app[app].jobs++;
}

static int
count_jobs(struct rpc *rpc)
{
    struct known_result *row;
    size_t n;

    if (db_sched_in_progress(rpc->db, rpc->host.id, IN_PROGRESS_MAX, &row,
                             &n) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        count_job(rpc, &row[i]);
    free(row);
    return 0;
}

/* ---- set up ---- */

static enum app_wish
wish_of(const struct project_prefs *prefs, int64_t appid)
{
    if (project_prefs_selects(prefs, appid))
        return APP_SELECTED;
    return prefs->allow_non_preferred_apps ? APP_NOT_PREFERRED : APP_EXCLUDED;
}

/* True: somebody wants to know what is in progress. */
static bool
describe_apps(struct rpc *rpc)
{
    const struct work *w = &rpc->work;
    struct limits *l = &rpc->limits;
    bool counts = false;

    l->app = xcalloc(w->n_apps + 1, sizeof(*l->app));
    l->n = w->n_apps;
    for (size_t i = 0; i < l->n; i++) {
        const struct app *app = &w->app[i];

        l->app[i] = (struct app_terms){
            .wish = wish_of(&w->prefs, app->id),
            .hr_type = (int)hr_type(app, (int)rpc->cfg->homogeneous_redundancy),
            .whole = room_of_app(rpc, app->name, w->whole.count),
        };
        counts = counts || app->non_cpu_intensive ||
                 limits_anything(&l->app[i].whole);
    }
    return counts;
}

/* ---- simulation ---- */

static void
reset_queue(struct limits *l)
{
    if (l->n_queued > 0)
        memcpy(l->queue.job, l->queued, l->n_queued * sizeof(*l->queued));
    l->queue.n = l->n_queued;
    edf_begin(&l->queue);
}

/* The client's jobs, of all its projects.  It keeps some work in reserve, so
 * the last job is begun so much later. */
static void
set_up_queue(struct rpc *rpc)
{
    const struct sched_request *req = rpc->req;
    struct offer_host *h = &rpc->work.whole;
    struct limits *l = &rpc->limits;
    struct global_prefs prefs;

    if (!rpc->cfg->workload_sim || !req->has_queue)
        return;
    if (h->max_jobs > SIMULATED_MAX)
        h->max_jobs = SIMULATED_MAX;
    preferences_in_force(rpc, &prefs);
    l->queue.margin = prefs.work_buf_min_days * 86400;
    l->queue.n_processors = (size_t)h->count[PROC_CPU];
    l->queue.free_at = xcalloc(l->queue.n_processors, sizeof(double));
    l->n_queued = req->n_queue;
    l->queued = xcalloc(l->n_queued + 1, sizeof(*l->queued));
    l->queue.job =
        xcalloc(l->n_queued + (size_t)h->max_jobs + 1, sizeof(*l->queued));
    for (size_t i = 0; i < l->n_queued; i++)
        l->queued[i] = (struct edf_job){
            .duration = req->queue[i].time_remaining,
            .deadline = req->queue[i].report_deadline - (double)rpc->now -
                        l->queue.margin,
        };
    reset_queue(l);
    h->queue = &l->queue;
}

int
limits_setup(struct rpc *rpc)
{
    struct work *w = &rpc->work;
    struct offer_host *h = &w->whole;
    bool counts = describe_apps(rpc);

    h->room = room_of_project(rpc, h->count);
    if (w->prefs.max_jobs > 0)
        h->user_limit = h->user_room = w->prefs.max_jobs;
    counts =
        counts || limits_anything(&h->room) || h->user_room != OFFER_NO_LIMIT;
    if (counts && !rpc->new_host && count_jobs(rpc) != 0)
        return -1;
    for (size_t i = 0; i < rpc->limits.n; i++)
        rpc->limits.app[i].room = rpc->limits.app[i].whole;
    set_up_queue(rpc);
    w->offer = w->whole;
    return 0;
}

void
limits_free(struct limits *l)
{
    free(l->app);
    free(l->queue.job);
    free(l->queue.free_at);
    free(l->queued);
    *l = (struct limits){0};
}

/* ---- offers ---- */

/* Keywords of the job among those that the user excludes. */
static bool
has_refused_keyword(const struct rpc *rpc, const struct sendable *job)
{
    const struct sched_request *req = rpc->req;

    if (!rpc->cfg->keyword_sched)
        return false;
    for (size_t k = 0; k < SENDABLE_KEYWORDS && job->keyword[k] != 0; k++)
        for (size_t i = 0; i < req->n_keywords; i++)
            if (!req->keyword[i].liked && req->keyword[i].id == job->keyword[k])
                return true;
    return false;
}

/* Fast enough for jobs that end a batch: what it returned came within half of
 * this job's time, or as fast as the project asks of reliable hosts. */
static bool
is_fast(const struct rpc *rpc, const struct sendable *job)
{
    double most = (double)rpc->cfg->reliable_max_avg_turnaround;

    if (most <= 0)
        most = (double)job->delay_bound / 2;
    return rpc->host.avg_turnaround > 0 && rpc->host.avg_turnaround <= most;
}

int
limits_liked_keywords(const struct rpc *rpc, const struct sendable *job)
{
    const struct sched_request *req = rpc->req;
    int n = 0;

    if (!rpc->cfg->keyword_sched)
        return 0;
    for (size_t k = 0; k < SENDABLE_KEYWORDS && job->keyword[k] != 0; k++)
        for (size_t i = 0; i < req->n_keywords; i++)
            n += req->keyword[i].liked && req->keyword[i].id == job->keyword[k];
    return n;
}

void
limits_offer(struct rpc *rpc, size_t app, struct offer *o)
{
    struct app_terms *t = &rpc->limits.app[app];

    o->app_room = &t->room;
    o->wish = t->wish;
    o->takes_not_preferred = rpc->limits.takes_not_preferred;
    o->hr_type = t->hr_type;
    o->host_has_app_job =
        rpc->work.app[app].non_cpu_intensive && t->jobs + t->taken > 0;
    o->keyword_refused = has_refused_keyword(rpc, o->job);
    o->needs_fast_host =
        rpc->cfg->batch_accel && o->job->priority > 0 && !is_fast(rpc, o->job);
}

void
limits_take(struct rpc *rpc, const struct offer *o)
{
    if (o->app != NULL)
        rpc->limits.app[o->app - rpc->work.app].taken++;
}

void
limits_take_nothing(struct rpc *rpc)
{
    for (size_t i = 0; i < rpc->limits.n; i++) {
        rpc->limits.app[i].room = rpc->limits.app[i].whole;
        rpc->limits.app[i].taken = 0;
    }
    if (rpc->work.whole.queue != NULL)
        reset_queue(&rpc->limits);
}
