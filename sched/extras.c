/* extras.c - what a reply carries beside account, reports and jobs. */
#include "extras.h"

#include <inttypes.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "gui_urls.h"
#include "log.h"
#include "plan_class.h"
#include "rpc.h"
#include "sitefiles.h"
#include "timelog.h"

/* ---- files ---- */

static void
add_deletions(struct rpc *rpc)
{
    const struct sched_request *req = rpc->req;

    for (size_t i = 0; i < req->n_files; i++) {
        bool gone = sitefiles_deletes(rpc->files, req->file[i].name);

        if (gone)
            reply_delete_file(&rpc->reply, req->file[i].name);
        if (rpc->cfg->debug_client_files)
            log_normal(TAG_HOST "has file %s, %.0f bytes%s", rpc->host.id,
                       req->file[i].name, req->file[i].nbytes,
                       gone ? ": is to delete it" : "");
    }
}

static void
add_links(struct rpc *rpc)
{
    const struct gui_url_values values = {
        .master_url = rpc->cfg->master_url,
        .project_name = rpc->cfg->long_name,
        .user = &rpc->user,
        .host = &rpc->host,
        .team = rpc->reply.team,
    };

    if (rpc->files->gui_urls == NULL)
        return;
    gui_urls_expand(rpc->files->gui_urls, &values, &rpc->gui_urls);
    rpc->reply.gui_urls = buf_str(&rpc->gui_urls);
}

/* ---- what need not be asked for ---- */

static void
add_no_apps(struct rpc *rpc)
{
    bool has_apps[N_PROC_TYPES] = {false}, host[N_PROC_TYPES] = {false};
    const struct work *w = &rpc->work;

    if (strcmp(rpc->req->platform_name, "anonymous") == 0)
        return; /* it has its own */
    for (size_t i = 0; i < w->n_versions; i++)
        has_apps[plan_class_name_type(w->version[i].plan_class)] = true;
    host[PROC_CPU] = true;
    for (int t = PROC_CPU + 1; t < N_PROC_TYPES; t++)
        host[t] = rpc->req->ability.gpu[t].count > 0;
    reply_no_apps(&rpc->reply, has_apps, host);
}

void
extras_add(struct rpc *rpc)
{
    struct sched_reply *reply = &rpc->reply;

    if (reply->minimal)
        return;
    reply->symstore = rpc->cfg->symstore;
    reply->project_files = rpc->files->project_files;
    reply->mirrors = rpc->files->mirrors;
    reply->send_full_workload = rpc->cfg->workload_sim;
    if (rpc->cfg->request_time_stats_log && rpc->explain == NULL)
        reply->time_stats_log = timelog_keep(
            rpc->cfg, rpc->host.id, rpc->req->time_stats_log, rpc->now);
    add_deletions(rpc);
    add_links(rpc);
    add_no_apps(rpc);
}
