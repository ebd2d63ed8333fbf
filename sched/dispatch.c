/* dispatch.c - walk the job array: claim, judge with policy, send in the
 * database, answer.
 *
 * Round by round: claim jobs that the rules allow until the request is filled;
 * lock their workunits and results, which settles what may be sent; what was
 * lost (another scheduler was faster, the workunit is decided, the user has a
 * result of it) is replaced in the next round.  Claims stay with the request
 * until it has ended: if the database asks for a repetition, they are judged
 * again and the walk goes on from there. */
#include "dispatch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "config.h"
#include "jobarray.h"
#include "log.h"
#include "scan.h"
#include "segment.h"

enum {
    ROUNDS = 10,
    MAX_TIME = 2147483647, /* columns are int */
};

struct batch { /* what is to be sent; the last n_new were not looked up yet */
    struct candidate *c;
    size_t n, n_new;
};

int64_t
dispatch_deadline(int64_t now, int64_t delay_bound)
{
    int64_t told = now + (delay_bound > 0 ? delay_bound : 0);

    return told < MAX_TIME ? told : MAX_TIME;
}

int64_t
dispatch_stored_deadline(const struct rpc *rpc, int64_t told)
{
    return dispatch_deadline(told, rpc->cfg->report_grace_period);
}

/* ---- judging ---- */

static bool
in_batch(const struct batch *b, int64_t wu_id)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->c[i].state == CANDIDATE_OK && b->c[i].wu_id == wu_id)
            return true;
    return false;
}

/* NULL: allowed, and the host's offer has shrunk by the job. */
static const struct dispatch_rule *
judge(struct rpc *rpc, const struct scan *scan, const struct batch *b,
      const struct sendable *job, struct version_choice *ret_choice,
      struct offer *ret_offer)
{
    const struct dispatch_rule *rule;

    work_offer(rpc, job, ret_offer, ret_choice);
    ret_offer->in_this_reply = in_batch(b, job->wu_id);
    if (scan_is_taken(scan, job->wu_id)) {
        ret_offer->user_has_result = rpc->cfg->one_result_per_user_per_wu;
        ret_offer->host_has_result = true;
    }
    rule = dispatch_refusal(ret_offer);
    if (rule == NULL)
        work_take(rpc, ret_offer);
    return rule;
}

static void
add_candidate(struct batch *b, const struct sendable *job,
              const struct version_choice *choice)
{
    if ((b->n & (b->n - 1)) == 0) /* 0 or a power of two: full */
        b->c = xrealloc(b->c, (b->n > 0 ? 2 * b->n : 1) * sizeof(*b->c));
    b->c[b->n++] = (struct candidate){
        .result_id = job->result_id,
        .wu_id = job->wu_id,
        .app_version_id = choice->version_id,
        .flops_estimate = choice->usage.peak_flops,
        .choice = *choice,
    };
    b->n_new++;
}

/* Enough hosts of kinds that cannot do a job end its result. */
static void
note_refusal(struct rpc *rpc, struct scan *scan,
             const struct dispatch_rule *rule, const struct offer *offer,
             struct job_slot *slot)
{
    int reason = dispatch_counts_as(rule, offer);

    scan_count(scan, rule);
    if (reason != 0)
        jobarray_refuse(rpc->jobs, slot, offer->job->result_id, rpc->host.id,
                        (enum refused_for)reason);
}

/* The jobs claimed before the database asked for a repetition. */
static void
judge_claims_again(struct rpc *rpc, struct scan *scan, struct batch *b)
{
    for (size_t i = 0; i < rpc->claims.n; i++) {
        struct claim *claim = &rpc->claims.claim[i];
        struct version_choice choice;
        struct offer offer;
        const struct dispatch_rule *rule =
            judge(rpc, scan, b, &claim->job, &choice, &offer);

        claim->fate = CLAIM_BACK;
        if (rule == NULL)
            add_candidate(b, &claim->job, &choice);
        else
            scan_count(scan, rule);
    }
}

/* Claim what the rules allow, from where the scan stands. */
static int
pick(struct rpc *rpc, struct scan *scan, struct batch *b)
{
    int pid = segment_shares_pids(rpc->segment) ? (int)getpid() : 0;

    for (; scan->next < scan->n && !scan->stopped; scan->next++) {
        struct job_slot *slot = scan->place[scan->next].slot;
        const struct dispatch_rule *rule;
        struct version_choice choice;
        struct offer offer;
        struct claim *claim;

        if (scan_look_ahead(scan, rpc) != 0)
            return -1;
        claim = claims_take(&rpc->claims, slot, pid);
        if (claim == NULL)
            continue;
        rpc->tally.scanned++;
        rule = judge(rpc, scan, b, &claim->job, &choice, &offer);
        if (rule == NULL) {
            add_candidate(b, &claim->job, &choice);
        } else {
            note_refusal(rpc, scan, rule, &offer, slot);
            claims_drop_last(&rpc->claims);
            if (scan->stopped)
                break; /* the next round begins with this one */
        }
    }
    return 0;
}

/* ---- what the database says ---- */

static struct claim *
claim_of(struct rpc *rpc, const struct candidate *c)
{
    for (size_t i = 0; i < rpc->claims.n; i++)
        if (rpc->claims.claim[i].job.result_id == c->result_id)
            return &rpc->claims.claim[i];
    return NULL;
}

/* Which rule says what the database found? */
static void
count_lost(struct rpc *rpc, struct scan *scan, const struct candidate *c,
           const struct sendable *job)
{
    const struct dispatch_rule *rule;
    struct offer offer;

    work_offer_chosen(rpc, job, &c->choice, &offer);
    offer.host = &rpc->work.whole;
    offer.user_has_result = c->state == CANDIDATE_USER_HAS;
    offer.host_has_result = c->state == CANDIDATE_HOST_HAS;
    rule = dispatch_refusal(&offer);
    if (rule != NULL)
        scan_count(scan, rule);
}

/* The host's offer anew, from what is left in the batch. */
static void
take_again(struct rpc *rpc, const struct batch *b)
{
    work_take_nothing(rpc);
    for (size_t i = 0; i < b->n; i++) {
        struct offer offer;
        struct claim *claim;

        if (b->c[i].state != CANDIDATE_OK)
            continue;
        claim = claim_of(rpc, &b->c[i]);
        work_offer_chosen(rpc, &claim->job, &b->c[i].choice, &offer);
        work_take(rpc, &offer);
    }
}

/* Lock the new candidates.  Returns how many were lost; -1 failed. */
static int64_t
confirm(struct rpc *rpc, struct scan *scan, struct batch *b,
        const struct send_to *to)
{
    struct candidate *c = b->c + (b->n - b->n_new);
    int64_t lost = 0;

    if (db_sched_lock_candidates(rpc->db, c, b->n_new, to) != 0)
        return -1;
    for (size_t i = 0; i < b->n_new; i++) {
        struct claim *claim = claim_of(rpc, &c[i]);

        c[i].deadline =
            c[i].wu == NULL
                ? 0
                : dispatch_stored_deadline(
                      rpc, dispatch_deadline(rpc->now, c[i].wu->delay_bound));
        claim->fate = CLAIM_DONE; /* sent, or not needed */
        if (c[i].state == CANDIDATE_OK &&
            !reply_documents_whole(c[i].wu, c[i].result))
            c[i].state =
                CANDIDATE_NOT_NEEDED; /* the client would get nothing */
        if (c[i].state == CANDIDATE_OK)
            continue;
        lost++;
        if (c[i].state == CANDIDATE_NOT_NEEDED)
            continue;
        claim->fate = CLAIM_BACK;
        if (c[i].state == CANDIDATE_BUSY) {
            scan->busy++;
            continue;
        }
        count_lost(rpc, scan, &c[i], &claim->job);
        scan->looks_ahead = true;
    }
    b->n_new = 0;
    return lost;
}

/* ---- the reply ---- */

void
dispatch_reply(struct rpc *rpc, struct candidate *c,
               const struct version_choice *choice, const struct app *app)
{
    const struct app_version *version = &rpc->work.version[choice->index];
    const struct reply_job job = {
        .app = app,
        .version = version,
        .platform = work_platform_name(&rpc->work, version->platformid),
        .avg_ncpus = choice->usage.avg_ncpus,
        .flops = choice->usage.projected_flops,
        .wu = c->wu,
        .result = c->result,
        .report_deadline = c->deadline - rpc->cfg->report_grace_period,
    };

    if (rpc->cfg->debug_send)
        log_normal(TAG_RESULT "sent to host %" PRId64 ", version %d, deadline "
                              "%" PRId64,
                   c->result_id, c->result->name, rpc->host.id,
                   version->version_num, job.report_deadline);
    reply_job(&rpc->reply, &job);
    c->wu = NULL;
    c->result = NULL;
}

static void
reply_batch(struct rpc *rpc, struct batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct sendable *job;
        struct offer offer;

        if (b->c[i].state != CANDIDATE_OK)
            continue;
        job = &claim_of(rpc, &b->c[i])->job;
        work_offer_chosen(rpc, job, &b->c[i].choice, &offer);
        dispatch_reply(rpc, &b->c[i], &b->c[i].choice, offer.app);
        rpc->tally.sent++;
    }
}

static void
free_batch(struct batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        candidate_free(&b->c[i]);
    free(b->c);
}

/* Say the one true reason why nothing is sent. */
static void
explain(struct rpc *rpc, const struct scan *scan)
{
    const struct dispatch_rule *rule = dispatch_reason(scan->refused);

    if (rule != NULL && rule->message != NULL)
        reply_message(&rpc->reply, MESSAGE_LOW, "No tasks sent. %s",
                      rule->message);
    else if (scan->busy > 0)
        reply_message(&rpc->reply, MESSAGE_LOW,
                      "No tasks sent. The server is at work on those that "
                      "would fit; your computer will ask again.");
    else if (rule != NULL)
        reply_message(&rpc->reply, MESSAGE_LOW,
                      "No tasks sent. This project has none for the kind of "
                      "processor that was asked for.");
    else
        reply_message(&rpc->reply, MESSAGE_LOW,
                      "No tasks sent. The project has none at the moment.");
}

/* For the request's line in the log. */
static void
note_walk(struct rpc *rpc, const struct scan *scan)
{
    rpc->tally.ready = (unsigned)scan->n;
    for (size_t i = 0; i < n_dispatch_rules; i++)
        if (scan->refused[i] > 0)
            buf_addf(&rpc->refused, " %s %u", dispatch_rules[i].name,
                     scan->refused[i]);
    if (scan->busy > 0)
        buf_addf(&rpc->refused, " busy %u", scan->busy);
}

/* ---- the step ---- */

static int
fill(struct rpc *rpc, struct scan *scan, struct batch *b,
     const struct send_to *to)
{
    int64_t lost = 1;

    judge_claims_again(rpc, scan, b);
    for (int round = 0; round < ROUNDS && lost > 0; round++) {
        if (pick(rpc, scan, b) != 0)
            return -1;
        if (b->n_new == 0)
            return 0;
        lost = confirm(rpc, scan, b, to);
        if (lost < 0)
            return -1;
        if (lost > 0) {
            take_again(rpc, b);
            scan->stopped = false;
        }
    }
    return 0;
}

enum step_result
dispatch_step(struct rpc *rpc)
{
    const struct send_to to = {
        .userid = rpc->user.id,
        .hostid = rpc->host.id,
        .one_per_user = rpc->cfg->one_result_per_user_per_wu,
        .one_per_host = rpc->cfg->one_result_per_host_per_wu,
        .now = rpc->now,
    };
    struct batch b = {0};
    struct scan scan;
    int rc;

    if (!rpc_wants_work(rpc) || rpc->tally.resent > 0 || rpc->assigned)
        return STEP_NEXT;
    if (rpc->cfg->dont_send_jobs) {
        reply_message(&rpc->reply, MESSAGE_LOW,
                      "No tasks sent. The project sends none at the moment.");
        return STEP_NEXT;
    }
    scan_begin(&scan, rpc);
    rc = fill(rpc, &scan, &b, &to);
    if (rc == 0)
        rc = standing_dispatch(rpc, b.c, b.n);
    if (rc == 0)
        rc = db_sched_send(rpc->db, b.c, b.n, &to);
    if (rc == 0) {
        reply_batch(rpc, &b);
        if (rpc->tally.sent == 0)
            explain(rpc, &scan);
        note_walk(rpc, &scan);
        rpc->looked_for_work = true;
    }
    free_batch(&b);
    scan_end(&scan);
    return rc == 0 ? STEP_NEXT : STEP_FAILED;
}
