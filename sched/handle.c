/* handle.c - one scheduler request. */
#include "handle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "abort.h"
#include "advise.h"
#include "assign.h"
#include "auth.h"
#include "buf.h"
#include "client.h"
#include "clock.h"
#include "config.h"
#include "db_explain.h"
#include "digest.h"
#include "dispatch.h"
#include "explain.h"
#include "extras.h"
#include "file.h"
#include "host_misc.h"
#include "jobarray.h"
#include "keep.h"
#include "log.h"
#include "names.h"
#include "outdoc.h"
#include "preferences.h"
#include "report.h"
#include "resend.h"
#include "rpc.h"
#include "segment.h"
#include "steps.h"
#include "many.h"

enum {
    DEFAULT_MAINTENANCE_DELAY = 3600, /* s, without a configuration */
    UNREADABLE_DELAY = 60,
};

bool
rpc_wants_work(const struct rpc *rpc)
{
    if (rpc->no_work || rpc->req->dont_send_work)
        return false;
    return request_wants_work(rpc->req) || work_has_idle_app(&rpc->work);
}

/* ---- small steps ---- */

static enum step_result
work_step(struct rpc *rpc)
{
    return work_setup(rpc) == 0 ? STEP_NEXT : STEP_FAILED;
}

/* Clients do not acknowledge messages.  But a lost reply shows in the next
 * request: it repeats what the reply acknowledged, or misses the jobs that were
 * in it.  A message counts as delivered when the next request shows no loss. */
static int
deliver_messages(struct rpc *rpc)
{
    struct sched_reply *reply = &rpc->reply;

    return db_sched_take_messages(rpc->db, rpc->host.id, rpc->now,
                                  rpc->report_lost, &reply->to_host,
                                  &reply->n_to_host);
}

static enum step_result
messages_step(struct rpc *rpc)
{
    const struct sched_request *req = rpc->req;
    size_t again;

    if (req->n_trickles > 0) {
        if (db_sched_store_trickles(rpc->db, rpc->host.id, rpc->now,
                                    req->trickle, req->n_trickles, &again) != 0)
            return STEP_FAILED;
        rpc->report_lost = rpc->report_lost || again > 0;
        rpc->reply.message_ack = true;
    }
    if (rpc->cfg->msg_to_host && deliver_messages(rpc) != 0)
        return STEP_FAILED;
    return STEP_NEXT;
}

/* A number in 0 … 1. */
static double
random_draw(void)
{
    return (double)random_u31() / 2147483648.0;
}

static enum step_result
remember_step(struct rpc *rpc)
{
    const struct sched_request *req = rpc->req;

    if (standing_store(rpc) != 0)
        return STEP_FAILED;
    /* nothing of this while the computer is as it was */
    if (req->facts_hash != rpc->old_host.request_hash) {
        if (db_explain_store_request(rpc->db, rpc->host.id, req->facts_hash,
                                     req->facts, rpc->now) != 0)
            return STEP_FAILED;
        host_misc(req, &rpc->misc);
        rpc->host.misc = buf_str(&rpc->misc);
    }
    rpc->host.nresults_today += (int)rpc->tally.sent;
    return db_sched_update_host(rpc->db, &rpc->old_host, &rpc->host) == 0
               ? STEP_NEXT
               : STEP_FAILED;
}

/* In the order of the locks: user and host, workunits, results.  To add a step:
 * a function, a row here. */
static const struct {
    const char *name;
    enum step_result (*run)(struct rpc *);
} steps[] = {
    {"authenticate", auth_step       },
    {"report",       report_step     },
    {"abort",        abort_step      },
    {"preferences",  preferences_step},
    {"work",         work_step       },
    {"advise",       advise_step     },
    {"explain",      explain_step    },
    {"resend",       resend_step     },
    {"assign",       assign_step     },
    {"dispatch",     dispatch_step   },
    {"many",         many_step       },
    {"messages",     messages_step   },
    {"remember",     remember_step   },
};

/* ---- the transaction ---- */

static void
begin_reply(const struct config *cfg, struct sched_reply *reply)
{
    reply_init(reply);
    reply->master_url = cfg->master_url;
    reply->project_name = cfg->long_name;
    reply->ended = cfg->ended;
}

/* Forget what an attempt made; the claims stay. */
void
steps_reset(struct rpc *rpc)
{
    reply_free(&rpc->reply);
    work_free(&rpc->work);
    limits_free(&rpc->limits);
    standing_free(&rpc->standing);
    db_sched_user_free(&rpc->user);
    free(rpc->code_sign_key);
    free(rpc->code_sign_key_signature);
    buf_free(&rpc->gui_urls);
    buf_free(&rpc->misc);
    rpc->code_sign_key = NULL;
    rpc->code_sign_key_signature = NULL;
    memset(&rpc->user, 0, sizeof(rpc->user));
    memset(&rpc->team, 0, sizeof(rpc->team));
    memset(&rpc->host, 0, sizeof(rpc->host));
    memset(&rpc->old_host, 0, sizeof(rpc->old_host));
    rpc->new_host = rpc->weak_key = rpc->no_work = rpc->report_lost = false;
    rpc->wrong_key = rpc->assigned = false;
    rpc->committing = false;
    rpc->tally = (struct rpc_tally){0};
    buf_free(&rpc->refused);
}

/* Called again after a deadlock: everything is made anew. */
int
steps_run(struct db *db, void *arg)
{
    struct rpc *rpc = arg;

    steps_reset(rpc);
    rpc->db = db;
    begin_reply(rpc->cfg, &rpc->reply);
    rpc->reply.client_version = rpc->req->client_version;
    rpc->reply.strict_memory_bound = rpc->cfg->strict_memory_bound;
    rpc->reply.verify_files_on_app_start = rpc->cfg->verify_files_on_app_start;
    rpc->reply.non_cpu_intensive = rpc->cfg->non_cpu_intensive;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        switch (steps[i].run(rpc)) {
        case STEP_NEXT:
            break;
        case STEP_END:
            log_debug("request ended by step %s", steps[i].name);
            return 1;
        case STEP_FAILED:
            log_warning("request failed in step %s", steps[i].name);
            return -1;
        }
    }
    rpc->committing = true;
    return 0;
}

/* A connection that idled too long, or a server that was restarted, is found
 * out by the first statement: connect and run again.  Not if it went away
 * during COMMIT: then the work may have been done. */
static int
run_transaction(struct server *s, struct rpc *rpc)
{
    int rc;

    db_set_time(s->db, (double)s->cfg->max_rpc_time);
    rc = db_transaction(s->db, steps_run, rpc);
    if (rc == -1 && db_is_lost(s->db) && !db_is_late(s->db) &&
        !rpc->committing && db_reconnect(s->db, NULL, 1) == 0)
        rc = db_transaction(s->db, steps_run, rpc);
    return rc;
}

/* ---- replies without a transaction ---- */

/* Spread the clients that come back. */
static double
with_jitter(double delay)
{
    return delay + (double)random_below((uint64_t)(delay / 5) + 1);
}

void
handle_refusal(const struct config *cfg, double delay, const char *why,
               struct buf *out)
{
    struct sched_reply reply;

    begin_reply(cfg, &reply);
    reply.minimal = true;
    reply_message(&reply, MESSAGE_LOW, "%s", why);
    reply_delay(&reply, delay);
    reply_write(&reply, out);
    reply_free(&reply);
}

void
handle_maintenance(const struct config *cfg, const char *why, struct buf *out)
{
    double delay = DEFAULT_MAINTENANCE_DELAY;
    struct sched_reply reply;

    reply_init(&reply);
    if (cfg != NULL) {
        begin_reply(cfg, &reply);
        if (cfg->maintenance_delay > 0)
            delay = (double)cfg->maintenance_delay;
    }
    reply.minimal = true;
    reply.project_is_down = true;
    reply_message(&reply, MESSAGE_LOW, "%s", why);
    reply_delay(&reply, with_jitter(delay));
    reply_write(&reply, out);
    reply_free(&reply);
}

void
handle_overload(const struct config *cfg, struct buf *out)
{
    double least = (double)cfg->overload_delay;

    handle_refusal(cfg, least + (double)random_below((uint64_t)least + 1),
                   "The project's server is busy. Your computer will ask again "
                   "later.",
                   out);
}

/* ---- is the project there? ---- */

static enum segment_state
find_jobs(struct server *s)
{
    enum segment_state state;
    char name[32];

    if (s->segment != NULL)
        return segment_refresh(s->segment);
    segment_name(s->cfg->shmem_key, s->cfg->project_root, name);
    s->segment = segment_attach(name, &state);
    return state;
}

static bool
is_stopped(const struct config *cfg)
{
    struct buf path = BUF_INIT;
    bool stopped;

    buf_addf(&path, "%s/stop_sched", cfg->project_root);
    stopped = file_exists(buf_str(&path));
    buf_free(&path);
    return stopped;
}

static bool
try_to_connect(struct server *s)
{
    if (s->db != NULL)
        return db_reconnect(s->db, NULL, 1) == 0;
    s->db = db_open(s->cfg, DB_ACCOUNT_SCHEDULER);
    /* see db_sched.h */
    return s->db != NULL && db_set_lock_wait(s->db, 0) == 0 &&
           db_set_implicit_begin(s->db) == 0;
}

/* A server that refuses says so at once and is asked by every request.  One
 * that does not answer, or whose name is looked up in vain, costs seconds each
 * time: then it is left alone for twice as long as that took, so that most
 * clients do not wait for it. */
static bool
connect_db(struct server *s)
{
    double begin = clock_monotonic_fine(), end;

    if (s->db != NULL && !db_is_lost(s->db))
        return true;
    if (begin < s->db_again)
        return false;
    if (try_to_connect(s))
        return true;
    end = clock_monotonic_fine();
    s->db_again = end + 2 * (end - begin);
    return false;
}

/* NULL, or the text for the volunteer. */
static const char *
why_down(struct server *s)
{
    enum segment_state state;

    if (is_stopped(s->cfg))
        return "The project is shut down for maintenance.";
    if (!rule_files_refresh(&s->rule_files, s->cfg->project_root))
        return "The project's configuration cannot be read.";
    state = find_jobs(s);
    if (state != SEGMENT_OK) {
        log_warning("no job array: %s", segment_state_text(state));
        return "The project's server is not ready: its job cache is missing.";
    }
    return NULL;
}

/* ---- is there anything to do? ---- */

static bool
brings_something(const struct sched_request *req)
{
    return req->n_results > 0 || req->n_trickles > 0;
}

/* A client that brings nothing and cannot get anything is answered without the
 * database: one that is not served, or, with nowork_skip, one whose host is
 * known while there is no job.  True: `out` is the answer. */
static bool
is_nothing_to_do(struct server *s, const struct sched_request *req,
                 struct buf *out)
{
    const struct config *cfg = s->cfg;
    struct jobarray *jobs = segment_jobarray(s->segment);
    struct sched_reply reply;
    bool nothing;

    if (brings_something(req))
        return false;
    begin_reply(cfg, &reply);
    reply.minimal = true;
    reply.client_version = req->client_version;
    nothing = client_judge(cfg, req, clock_now(), &reply) == CLIENT_REFUSED;
    if (!nothing && cfg->nowork_skip && !cfg->msg_to_host &&
        !cfg->enable_assignment && !cfg->enable_assignment_multi &&
        !cfg->locality_scheduling && req->hostid > 0 &&
        request_wants_work(req) && jobarray_count(jobs, SLOT_READY) == 0) {
        reply_message(&reply, MESSAGE_LOW,
                      "No tasks sent. The project has none at the moment.");
        advise_interval(cfg, &reply);
        segment_wake_feeder(s->segment);
        nothing = true;
    }
    if (nothing) {
        log_normal(TAG_HOST "answered without the database; delay %.0f",
                   req->hostid, reply.request_delay);
        reply_write(&reply, out);
    }
    reply_free(&reply);
    return nothing;
}

/* ---- one request ---- */

/* What the request asks for, as far as it got: "CPU 3600 s 0.5 idle". */
static void
add_asked(const struct rpc *rpc, struct buf *line)
{
    const struct offer_host *asked = &rpc->work.whole;
    size_t before = line->len;

    for (int t = 0; t < N_PROC_TYPES; t++) {
        if (asked->seconds_left[t] <= 0 && asked->instances_left[t] <= 0)
            continue;
        buf_addf(line, "%s %s %.0f s", line->len > before ? "," : "",
                 proc_type_name(t), asked->seconds_left[t]);
        if (asked->instances_left[t] > 0)
            buf_addf(line, " %.1f idle", asked->instances_left[t]);
    }
    if (line->len == before)
        buf_add(line, " nothing");
}

/* One line for each request, whatever the debug flags. */
static void
log_request(const struct rpc *rpc, double seconds, double db_time,
            uint64_t statements)
{
    const struct rpc_tally *t = &rpc->tally;
    const struct sched_request *req = rpc->req;
    struct buf line = BUF_INIT;

    buf_addf(&line,
             "user %" PRId64 ", from %s, client %d.%d.%d: "
             "reported %" PRId64 ", stored %" PRId64 "; asked",
             rpc->user.id, rpc->peer[0] != '\0' ? rpc->peer : "-",
             req->core_client_major_version, req->core_client_minor_version,
             req->core_client_release, t->reported, t->stored);
    add_asked(rpc, &line);
    buf_addf(&line,
             "; ready %u, scanned %u; refused:%s; resent %u, sent %u, "
             "aborted %u; delay %.0f; database %.4f s, %" PRIu64
             " statements; %.4f s",
             t->ready, t->scanned,
             rpc->refused.len > 0 ? buf_str(&rpc->refused) : " none", t->resent,
             t->sent, t->aborted, rpc->reply.request_delay, db_time, statements,
             seconds);
    log_normal(TAG_HOST "%s", rpc->host.id, buf_str(&line));
    buf_free(&line);
}

/* 10 slots of 100 left: do not wait for the feeder's next look. */
static void
wake_feeder(const struct rpc *rpc)
{
    const struct rpc_tally *t = &rpc->tally;
    size_t left = t->ready > t->sent ? t->ready - t->sent : 0;

    if (rpc->looked_for_work && left * 4 < jobarray_n_slots(rpc->jobs))
        segment_wake_feeder(rpc->segment);
}

void
steps_write_reply(struct rpc *rpc, struct buf *out)
{
    const struct sched_reply *reply = &rpc->reply;

    extras_add(rpc);
    for (size_t i = 0; i < reply->n_messages && rpc->cfg->debug_user_messages;
         i++)
        log_normal(TAG_HOST "is told: %s", rpc->host.id,
                   reply->message[i].text);
    reply_write(reply, out);
}

static void
answer(struct server *s, const char *peer, const struct sched_request *req,
       struct buf *out)
{
    double start = clock_now_fine(), db_start = db_seconds(s->db);
    uint64_t statements = db_statements(s->db);
    struct rpc rpc = {
        .cfg = s->cfg,
        .req = req,
        .peer = peer,
        .now = clock_now(),
        .db = s->db,
        .segment = s->segment,
        .jobs = segment_jobarray(s->segment),
        .catalog = segment_catalog(s->segment),
        .files = &s->files,
        .outdoc = &s->outdoc,
        .rule_files = &s->rule_files,
        .draw = random_draw(),
        .any_seqno = s->any_seqno,
        .mark_jobs_done = s->mark_jobs_done,
    };
    int rc = run_transaction(s, &rpc);

    claims_settle(&rpc.claims, rc == 0);
    wake_feeder(&rpc);
    if (rpc.wrong_key)
        auth_count_failure(&rpc);
    if (rc < 0 && db_is_late(s->db))
        handle_overload(s->cfg, out);
    else if (rc < 0)
        handle_maintenance(s->cfg,
                           "The project's database could not handle the "
                           "request.",
                           out);
    else
        steps_write_reply(&rpc, out);
    log_request(&rpc, clock_now_fine() - start, db_seconds(s->db) - db_start,
                db_statements(s->db) - statements);
    steps_reset(&rpc);
}

/* What the client says of itself, and asks for. */
static void
log_details(const struct sched_request *req)
{
    const struct host *h = &req->host;

    log_normal(TAG_HOST "sequence %" PRId64 ", platform %s; %d CPUs %s, %s, "
                        "%.3g FLOPS, %.3g B; OS %s %s",
               req->hostid, req->rpc_seqno, req->platform_name, h->p_ncpus,
               h->p_vendor, h->p_model, h->p_fpops, h->m_nbytes, h->os_name,
               h->os_version);
    log_normal(TAG_HOST "asks %.0f s, CPU %.0f s %.2f instances, delay %.0f s; "
                        "reports %zu, has %zu jobs, %zu files, %zu trickles",
               req->hostid, req->work_req_seconds, req->cpu_req_secs,
               req->cpu_req_instances, req->estimated_delay, req->n_results,
               req->n_other_results, req->n_files, req->n_trickles);
}

static void
handle_parsed(struct server *s, const char *peer,
              const struct sched_request *req, struct buf *out)
{
    const char *down = why_down(s);

    if (s->cfg->debug_request_details)
        log_details(req);
    if (down != NULL) {
        handle_maintenance(s->cfg, down, out);
    } else if (!is_nothing_to_do(s, req, out)) {
        if (connect_db(s))
            answer(s, peer, req, out);
        else
            handle_maintenance(s->cfg,
                               "The project's database is not available.", out);
    }
}

void
handle_request(struct server *s, const char *peer, const void *bytes, size_t n,
               struct buf *out)
{
    struct sched_request *req = NULL;
    struct buf err = BUF_INIT;
    struct keep keep;

    keep_begin(&keep, s->cfg, bytes, n);
    sitefiles_refresh(&s->files, s->cfg);
    if (request_parse(bytes, n, &req, &err) != 0) {
        log_normal("unreadable request of %zu bytes from %s: %s", n,
                   peer[0] != '\0' ? peer : "-", buf_str(&err));
        handle_refusal(s->cfg, UNREADABLE_DELAY, buf_str(&err), out);
    } else {
        handle_parsed(s, peer, req, out);
    }
    keep_end(&keep, out);
    request_free(req);
    buf_free(&err);
}

void
handle_close(struct server *s)
{
    if (s->segment != NULL)
        segment_detach(s->segment);
    if (s->db != NULL)
        db_close(s->db);
    sitefiles_free(&s->files);
    outdoc_close(s->outdoc);
    s->outdoc = NULL;
    rule_files_free(&s->rule_files);
    s->segment = NULL;
    s->db = NULL;
}
