/* server_status.c - server_status.php: daemons, queues, volunteers (protocol
 * §9.4). */
#include <stdlib.h>
#include <string.h>

#include "cgi.h"
#include "clock.h"
#include "config.h"
#include "db.h"
#include "db_web.h"
#include "lockfile.h"
#include "pages.h"
#include "path.h"
#include "xml.h"

/* ---- daemons --------------------------------------------------------------
 */

/* A daemon holds its lock as long as it lives; files may lie. */
static const char *
status_of(const struct web *w, const struct config_program *prog)
{
    struct buf path = BUF_INIT;
    bool running;

    if (prog->disabled)
        return "disabled";
    buf_addf(&path, "%s/pid_%s/%s", w->root, path_short_host(),
             prog->lock_file);
    running = lockfile_owner(buf_str(&path)) != 0;
    buf_free(&path);
    return running ? "running" : "not running";
}

static void
put_daemon(struct buf *b, const char *host, const char *command,
           const char *status)
{
    xml_open(b, "daemon");
    xml_put_str(b, "host", host);
    xml_put_str(b, "command", command);
    xml_put_str(b, "status", status);
    xml_close(b, "daemon");
}

static void
put_daemons(const struct web *w, struct buf *b)
{
    const struct config *cfg = w->cfg;

    xml_open(b, "daemon_status");
    put_daemon(b, cfg->www_host[0] != '\0' ? cfg->www_host : cfg->host,
               "web server", "running");
    put_daemon(b, cfg->sched_host[0] != '\0' ? cfg->sched_host : cfg->host,
               "scheduler", web_flag(w, "stop_sched") ? "disabled" : "running");
    for (size_t i = 0; i < cfg->n_daemons; i++) {
        const struct config_program *prog = &cfg->daemon[i];
        struct buf name = BUF_INIT;

        /* options may hold what is nobody's business */
        buf_addn(&name, prog->cmd, strcspn(prog->cmd, " \t"));
        put_daemon(b, prog->host[0] != '\0' ? prog->host : cfg->host,
                   buf_str(&name), status_of(w, prog));
        buf_free(&name);
    }
    xml_close(b, "daemon_status");
}

/* ---- queues ---------------------------------------------------------------
 */

static void
put_queues(const struct web_queues *q, const struct web_counts *c,
           struct buf *b)
{
    xml_put_i64(b, "results_ready_to_send", q->results_unsent);
    xml_put_i64(b, "results_in_progress", q->results_in_progress);
    xml_put_i64(b, "workunits_waiting_for_validation", q->wus_need_validate);
    xml_put_i64(b, "workunits_waiting_for_assimilation",
                q->wus_need_assimilate);
    xml_put_i64(b, "workunits_waiting_for_deletion", q->wus_need_file_delete);
    xml_put_i64(b, "results_waiting_for_deletion", q->results_need_file_delete);
    xml_put_double(b, "transitioner_backlog_hours",
                   (double)q->transition_backlog / 3600);
    xml_put_i64(b, "users_with_recent_credit", c->users_recent);
    xml_put_i64(b, "users_with_credit", c->users_credit);
    xml_put_i64(b, "users_registered_in_past_24_hours", c->users_day);
    xml_put_i64(b, "hosts_with_recent_credit", c->hosts_recent);
    xml_put_i64(b, "hosts_with_credit", c->hosts_credit);
    xml_put_i64(b, "hosts_registered_in_past_24_hours", c->hosts_day);
    xml_put_double(b, "current_floating_point_speed", c->gflops);
}

static void
put_apps(const struct web_app *app, size_t n, struct buf *b)
{
    xml_open(b, "tasks_by_app");
    for (size_t i = 0; i < n; i++) {
        xml_open(b, "app");
        xml_put_i64(b, "id", app[i].id);
        xml_put_str(b, "name", app[i].name);
        xml_put_i64(b, "unsent", app[i].unsent);
        xml_put_i64(b, "in_progress", app[i].in_progress);
        xml_put_double(b, "avg_runtime", app[i].avg_hours);
        xml_put_double(b, "min_runtime", app[i].min_hours);
        xml_put_double(b, "max_runtime", app[i].max_hours);
        xml_put_i64(b, "users", app[i].users);
        xml_close(b, "app");
    }
    xml_close(b, "tasks_by_app");
}

/* Without a database the element is missing: zeros would be a lie. */
static void
put_database(struct web *w, struct buf *b)
{
    struct db *db = web_db(w);
    struct web_queues queues;
    struct web_counts counts;
    struct web_app *app;
    int64_t now = clock_now();
    size_t n;

    if (db == NULL || db_web_queues(db, now, &queues) != 0 ||
        db_web_counts(db, now, &counts) != 0 ||
        db_web_apps(db, now, &app, &n) != 0)
        return;
    xml_open(b, "database_file_states");
    put_queues(&queues, &counts, b);
    put_apps(app, n, b);
    xml_close(b, "database_file_states");
    free(app);
}

/* ---- ?counts=1 ------------------------------------------------------------
 */

static void
put_counts(struct web *w, struct reply *reply)
{
    struct db *db = web_db(w);
    struct buf *b = &reply->body;
    struct web_queues q;

    if (db == NULL || db_web_queues(db, clock_now(), &q) != 0) {
        rpc_fail(reply, RPC_NO_DATABASE, "The project's database is down");
        return;
    }
    reply->type = "text/xml";
    buf_add(b, "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n");
    xml_open(b, "job_counts");
    xml_put_i64(b, "results_ready_to_send", q.results_unsent);
    xml_put_i64(b, "results_in_progress", q.results_in_progress);
    xml_put_i64(b, "results_need_file_delete", q.results_need_file_delete);
    xml_put_i64(b, "wus_need_validate", q.wus_need_validate);
    xml_put_i64(b, "wus_need_assimilate", q.wus_need_assimilate);
    xml_put_i64(b, "wus_need_file_delete", q.wus_need_file_delete);
    xml_close(b, "job_counts");
}

void
page_server_status(struct web *w, const struct request *rq, struct reply *reply)
{
    struct buf format = BUF_INIT;
    struct buf xml = BUF_INIT;
    bool as_xml =
        web_arg_true(rq, "xml") || (cgi_arg(rq->query, "format", &format) &&
                                    strcmp(buf_str(&format), "xml") == 0);

    if (web_arg_true(rq, "counts")) {
        put_counts(w, reply);
    } else {
        xml_open(&xml, "server_status");
        put_daemons(w, &xml);
        put_database(w, &xml);
        xml_close(&xml, "server_status");
        if (as_xml) {
            reply->type = "text/xml";
            buf_add(&reply->body,
                    "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n");
            buf_addn(&reply->body, buf_str(&xml), xml.len);
        } else {
            web_page(w, "server_status.xsl", &xml, reply);
        }
    }
    buf_free(&format);
    buf_free(&xml);
}
