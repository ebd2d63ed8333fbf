/* assign.c - jobs for this host, its user or its team; jobs for every host.
 *
 *   list the jobs that are meant -> judge each by the rules -> make the
 *   documents -> lock, and look who still wants a result -> make, send
 *
 * The rules that protect a project's statistics (one result for a user) do not
 * hold: who targets a user wants that user.  What a computer cannot do is
 * refused as ever. */
#include "assign.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "db_assign.h"
#include "digest.h"
#include "dispatch.h"
#include "log.h"
#include "outdoc.h"

enum {
    LISTED_MAX = 256, /* looked at in one request */
    MADE_MAX = 64,    /* sent */
};

struct batch {
    struct assigned *job;
    size_t n;
    struct version_choice *choice; /* one for each job */
};

/* ---- judging ---- */

static void
describe(const struct workunit *wu, struct sendable *ret)
{
    *ret = (struct sendable){
        .wu_id = wu->id,
        .appid = wu->appid,
        .batch = wu->batch,
        .app_version_id = wu->app_version_id,
        .delay_bound = wu->delay_bound,
        .rsc_fpops_est = wu->rsc_fpops_est,
        .rsc_fpops_bound = wu->rsc_fpops_bound,
        .rsc_memory_bound = wu->rsc_memory_bound,
        .rsc_disk_bound = wu->rsc_disk_bound,
        .rsc_bandwidth_bound = wu->rsc_bandwidth_bound,
        .priority = wu->priority,
        .hr_class = wu->hr_class,
        .app_version_num = wu->app_version_num,
        .size_class = wu->size_class,
    };
}

/* True: allowed, and the host's offer has shrunk by it. */
static bool
judge(struct rpc *rpc, const struct workunit *wu, struct version_choice *choice,
      bool *stop)
{
    const struct dispatch_rule *rule;
    struct sendable job;
    struct offer offer;

    describe(wu, &job);
    work_offer_anyhow(rpc, &job, &offer, choice);
    offer.targeted = true;
    rule = dispatch_refusal(&offer);
    if (rule == NULL) {
        work_take(rpc, &offer);
        return true;
    }
    *stop = rule->kind == REFUSAL_STOP;
    if (rpc->cfg->debug_assignment)
        log_normal(TAG_WU "meant for host %" PRId64 ", refused by %s", wu->id,
                   wu->name, rpc->host.id, rule->name);
    return false;
}

/* Keep what the rules allow; forget assignments that lead nowhere. */
static int
judge_all(struct rpc *rpc, struct batch *b)
{
    int64_t *gone = xcalloc(b->n + 1, sizeof(*gone));
    size_t kept = 0, n_gone = 0;
    bool stop = false;
    int rc;

    for (size_t i = 0; i < b->n; i++) {
        if (b->job[i].wu.id == 0)
            gone[n_gone++] = b->job[i].assignment_id;
        else if (!stop && kept < MADE_MAX &&
                 judge(rpc, &b->job[i].wu, &b->choice[kept], &stop))
            b->job[kept++] = b->job[i];
    }
    b->n = kept;
    if (n_gone > 0)
        log_normal("%zu assignments of workunits that are gone", n_gone);
    rc = db_assign_delete(rpc->db, gone, n_gone);
    free(gone);
    return rc;
}

/* Some are not to be had any more: the host's offer anew, by those that are. */
static void
judge_again(struct rpc *rpc, struct batch *b)
{
    bool stop = false;
    size_t kept = 0;

    work_take_nothing(rpc);
    for (size_t i = 0; i < b->n; i++)
        if (judge(rpc, &b->job[i].wu, &b->choice[kept], &stop))
            b->job[kept++] = b->job[i];
        else
            free(b->job[i].xml_doc_in);
    b->n = kept;
}

/* ---- documents ---- */

/* Templates and the key are read once by a worker. */
static struct outdoc *
documents(struct rpc *rpc)
{
    if (*rpc->outdoc == NULL)
        *rpc->outdoc = outdoc_open(rpc->cfg);
    return *rpc->outdoc;
}

/* The document of each result; leaves out what cannot be made (logged). */
static void
make_documents(struct rpc *rpc, struct batch *b)
{
    struct outdoc *outdoc = documents(rpc);
    size_t kept = 0;

    for (size_t i = 0; i < b->n && outdoc != NULL; i++) {
        struct assigned *a = &b->job[i];
        struct buf doc = BUF_INIT, err = BUF_INIT;

        if (outdoc_make(outdoc, a->wu.result_template_file, a->result_name,
                        random_u31(), &doc, &err) == 0) {
            a->random = random_u31();
            a->xml_doc_in = buf_take(&doc);
            b->choice[kept] = b->choice[i];
            b->job[kept++] = *a;
        } else {
            log_critical(TAG_WU "no result can be made: %s", a->wu.id,
                         a->wu.name, buf_str(&err));
        }
        buf_free(&doc);
        buf_free(&err);
    }
    b->n = kept;
}

/* ---- sending ---- */

/* Of an application for equal hosts it binds its workunit as any job does. */
static struct candidate
candidate_of(struct rpc *rpc, const struct assigned *a,
             const struct version_choice *choice)
{
    struct sendable job;
    struct offer offer;

    describe(&a->wu, &job);
    work_offer_chosen(rpc, &job, choice, &offer);
    return (struct candidate){
        .result_id = a->result_id,
        .wu_id = a->wu.id,
        .app_version_id = choice->version_id,
        .hr_class =
            offer.hr_type != 0 ? offer.host->hr_class[offer.hr_type] : 0,
        .one_version = offer.app->homogeneous_app_version,
        .delay_bound = a->wu.delay_bound,
        .flops_estimate = choice->usage.peak_flops,
        .choice = *choice,
        .deadline = dispatch_stored_deadline(
            rpc, dispatch_deadline(rpc->now, a->wu.delay_bound)),
    };
}

/* All rows were locked by us, so all can be sent.  If not, something is wrong,
 * and no result may be left behind that nobody gets. */
static bool
all_ok(const struct candidate *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c[i].state != CANDIDATE_OK ||
            !reply_documents_whole(c[i].wu, c[i].result)) {
            log_critical("result %" PRId64 " was made and cannot be sent",
                         c[i].result_id);
            return false;
        }
    return true;
}

static void
put_into_reply(struct rpc *rpc, struct candidate *c)
{
    struct sendable job;
    struct offer offer;

    describe(c->wu, &job);
    work_offer_chosen(rpc, &job, &c->choice, &offer);
    log_normal(TAG_RESULT "made for host %" PRId64 " and sent", c->result_id,
               c->result->name, rpc->host.id);
    dispatch_reply(rpc, c, &c->choice, offer.app);
    rpc->tally.sent++;
}

static int
send_batch(struct rpc *rpc, const struct batch *b, const struct send_to *to)
{
    struct candidate *c = xcalloc(b->n + 1, sizeof(*c));
    size_t n = b->n;
    int rc;

    for (size_t i = 0; i < n; i++)
        c[i] = candidate_of(rpc, &b->job[i], &b->choice[i]);
    rc = db_sched_lock_candidates(rpc->db, c, n, to);
    if (rc == 0 && !all_ok(c, n))
        rc = -1;
    if (rc == 0)
        rc = standing_dispatch(rpc, c, n);
    for (size_t i = 0; i < n; i++)
        c[i].replicate_to = 0; /* others are not meant */
    if (rc == 0)
        rc = db_sched_send(rpc->db, c, n, to);
    for (size_t i = 0; rc == 0 && i < n; i++)
        put_into_reply(rpc, &c[i]);
    for (size_t i = 0; i < n; i++)
        candidate_free(&c[i]);
    free(c);
    return rc;
}

/* One kind of them: list, judge, make, send. */
static int
send_assigned(struct rpc *rpc, bool broadcast)
{
    const struct assign_target who = {
        .userid = rpc->user.id,
        .hostid = rpc->host.id,
        .teamid = rpc->user.teamid,
        .now = rpc->now,
    };
    const struct send_to to = {
        .userid = rpc->user.id,
        .hostid = rpc->host.id,
        .now = rpc->now,
    };
    struct batch b = {0};
    int rc = db_assign_list(rpc->db, &who, broadcast, LISTED_MAX, &b.job, &b.n);

    if (rpc->cfg->debug_assignment)
        log_normal(TAG_HOST "%zu %s jobs are meant for it", rpc->host.id, b.n,
                   broadcast ? "broadcast" : "targeted");
    b.choice = xcalloc(b.n + 1, sizeof(*b.choice));
    if (rc == 0 && b.n > 0)
        rc = judge_all(rpc, &b);
    if (rc == 0 && b.n > 0)
        rc = db_assign_lock(rpc->db, &who, broadcast, b.job, &b.n);
    if (rc == 0 && b.n > 0)
        judge_again(rpc, &b);
    if (rc == 0 && b.n > 0)
        make_documents(rpc, &b);
    if (rc == 0 && b.n > 0)
        rc = db_assign_make(rpc->db, b.job, b.n, rpc->now);
    if (rc == 0 && b.n > 0)
        rc = send_batch(rpc, &b, &to);
    rpc->work.whole = rpc->work.offer; /* what is left for other jobs */
    db_assign_free(b.job, b.n);
    free(b.choice);
    return rc;
}

enum step_result
assign_step(struct rpc *rpc)
{
    if (!rpc_wants_work(rpc) || rpc->tally.resent > 0 ||
        rpc->cfg->dont_send_jobs)
        return STEP_NEXT;
    if (rpc->cfg->enable_assignment && send_assigned(rpc, false) != 0)
        return STEP_FAILED;
    rpc->assigned = rpc->tally.sent > 0;
    if (rpc->assigned || rpc->user.only_own_jobs ||
        !rpc->cfg->enable_assignment_multi)
        return STEP_NEXT;
    return send_assigned(rpc, true) == 0 ? STEP_NEXT : STEP_FAILED;
}
