/* host_offer.c - what a host has to offer in this request (dispatch §6). */
#include "host_offer.h"

#include <math.h>

#include "config.h"
#include "estimate.h"
#include "hr.h"
#include "preferences.h"
#include "quota.h"
#include "rpc.h"
#include "rule_files.h"

enum {
    LAST_WITHOUT_ACTIVE_FRAC = 41900, /* client 4.19 */
    NO_LIMIT = 999999,
};

/* ---- how much ---- */

/* What limits for each processor are multiplied by. */
static double
multiplier(const struct rpc *rpc, const struct offer_host *h)
{
    double sum = h->count[PROC_CPU];

    if (rpc->cfg->non_cpu_intensive)
        return 1;
    for (int t = PROC_CPU + 1; t < N_PROC_TYPES; t++)
        sum += rpc->cfg->gpu_multiplier * h->count[t];
    return sum;
}

static int
max_jobs(const struct rpc *rpc, const struct offer_host *h)
{
    double per_processor = (double)rpc->cfg->max_wus_to_send;
    int64_t in_all = rpc->cfg->max_results_per_rpc;
    double max = NO_LIMIT;

    if (per_processor > 0)
        max = fmin(max, floor(per_processor * multiplier(rpc, h)));
    if (in_all > 0)
        max = fmin(max, (double)in_all);
    return (int)max;
}

static void
describe_request(const struct rpc *rpc, struct offer_host *ret)
{
    const struct sched_request *req = rpc->req;
    struct work_request wanted = {
        .per_resource = req->cpu_req_secs > 0 || request_wants_coproc(req),
        .work_req_seconds = req->work_req_seconds,
        .req_secs[PROC_CPU] = req->cpu_req_secs,
        .req_instances[PROC_CPU] = req->cpu_req_instances,
    };

    ret->estimated_delay[PROC_CPU] = req->estimated_delay;
    for (int t = PROC_CPU + 1; t < N_PROC_TYPES; t++) {
        const struct gpu *gpu = &req->ability.gpu[t];

        wanted.req_secs[t] = gpu->req_secs;
        wanted.req_instances[t] = gpu->req_instances;
        ret->estimated_delay[t] = gpu->estimated_delay;
        ret->count[t] = gpu->count < ABILITY_MAX_INSTANCES
                            ? gpu->count
                            : ABILITY_MAX_INSTANCES;
    }
    offer_host_set_request(ret, &wanted);
}

static void
describe_day(const struct rpc *rpc, struct offer_host *ret)
{
    int64_t quota = rpc->cfg->daily_result_quota_per_host;

    ret->day_quota = (int)quota;
    ret->day_left = OFFER_NO_LIMIT;
    if (quota > 0)
        ret->day_left = (int)quota - rpc->host.nresults_today;
}

/* ---- how fast, what kind ---- */

static double
available_frac(const struct rpc *rpc, bool gpu)
{
    struct host host = rpc->host;

    if (rpc->req->client_version <= LAST_WITHOUT_ACTIVE_FRAC)
        host.active_frac = 1;
    else if (gpu && host.gpu_active_frac > 0)
        host.active_frac = host.gpu_active_frac;
    return estimate_available_frac(&host, gpu ? 0 : rpc->req->cpu_efficiency);
}

static void
describe_classes(const struct rpc *rpc, struct offer_host *ret)
{
    const struct hr_host host = {
        .os_name = rpc->host.os_name,
        .p_vendor = rpc->host.p_vendor,
        .p_model = rpc->host.p_model,
        .p_features = rpc->req->ability.features,
        .platform = rpc->req->platform_name,
    };

    for (int t = HR_FINE; t < N_HR_TYPES; t++)
        ret->hr_class[t] =
            hr_class((enum hr_type)t, &host, &rpc->rule_files->hr);
}

static int
usable_cpus(const struct rpc *rpc, const struct global_prefs *prefs,
            const struct project_prefs *project)
{
    int n = estimate_ncpus(&rpc->host, prefs, (int)rpc->cfg->max_ncpus);

    return project->max_cpus > 0 && project->max_cpus < n ? project->max_cpus
                                                          : n;
}

void
host_offer_describe(const struct rpc *rpc, const struct project_prefs *project,
                    struct offer_host *ret)
{
    struct global_prefs prefs;

    preferences_in_force(rpc, &prefs);
    *ret = (struct offer_host){
        .usable_ram = estimate_usable_ram(&rpc->host, &prefs),
        .disk_left = estimate_disk_available(
            &rpc->host, &prefs, rpc->cfg->default_disk_min_free_gb),
        .available_frac = available_frac(rpc, false),
        .gpu_available_frac = available_frac(rpc, true),
        .n_bwdown = rpc->host.n_bwdown,
        .count[PROC_CPU] = usable_cpus(rpc, &prefs, project),
        .user_room = OFFER_NO_LIMIT,
        .has_credit = rpc->host.total_credit > 0,
        .only_own_jobs = rpc->user.only_own_jobs,
        .ignore_delay_bound = rpc->cfg->ignore_delay_bound,
        .idle_host_skips_deadline = rpc->cfg->idle_host_skips_deadline,
        .reliable_reduced_delay_bound = rpc->cfg->reliable_reduced_delay_bound,
        .m_nbytes = rpc->host.m_nbytes,
        .d_free = rpc->host.d_free,
    };
    ret->room.total = OFFER_NO_LIMIT;
    for (int t = 0; t < N_PROC_TYPES; t++)
        ret->room.type[t] = OFFER_NO_LIMIT;
    describe_request(rpc, ret);
    describe_day(rpc, ret);
    describe_classes(rpc, ret);
    ret->max_jobs = max_jobs(rpc, ret);
}
