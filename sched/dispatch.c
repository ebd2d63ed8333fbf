/* dispatch.c - look through the job array, claim what the rules allow, send in
 * the database, answer.
 *
 * Pass by pass (applications that hardly need a processor, each kind of
 * processor that asks for work, applications that the user did not select): all
 * slots are judged, then the best jobs are claimed until the request is filled;
 * their workunits and results are locked, which settles what may be sent; what
 * was lost (another scheduler was faster, the workunit is decided or went to
 * another class of hosts, the user has a result of it) is replaced in the next
 * round.  Claims stay with the request until it has ended: if the database asks
 * for a repetition, they are judged again and the walk goes on from there. */
#include "dispatch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "config.h"
#include "digest.h"
#include "jobarray.h"
#include "locality.h"
#include "log.h"
#include "quota.h"
#include "scan.h"
#include "segment.h"

enum {
    ROUNDS = 10,
    DAY_JITTER = 600,      /* s */
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

static void
add_candidate(struct scan *scan, struct batch *b, const struct offer *o)
{
    const struct offer_host *h = o->host;

    if ((b->n & (b->n - 1)) == 0) /* 0 or a power of two: full */
        b->c = xrealloc(b->c, (b->n > 0 ? 2 * b->n : 1) * sizeof(*b->c));
    b->c[b->n++] = (struct candidate){
        .result_id = o->job->result_id,
        .wu_id = o->job->wu_id,
        .app_version_id = o->choice->version_id,
        .hr_class = o->hr_type != 0 ? h->hr_class[o->hr_type] : 0,
        .one_version = o->app->homogeneous_app_version,
        .delay_bound = offer_delay_bound(o),
        .flops_estimate = o->choice->usage.peak_flops,
        .choice = *o->choice,
    };
    b->n_new++;
    scan_note_sent(scan, o->job->wu_id, o->choice->version_id);
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
            scan_judge(scan, rpc, &claim->job, &choice, &offer);

        claim->fate = CLAIM_BACK;
        if (rule != NULL) {
            scan_refuse(scan, rpc, rule, &offer, NULL);
            continue;
        }
        add_candidate(scan, b, &offer);
        work_take(rpc, &offer);
    }
}

/* Has the request this result already, from the database itself? */
static bool
is_noted(const struct rpc *rpc, const struct job_slot *slot)
{
    int64_t result_id =
        atomic_load_explicit(&slot->result_id, memory_order_relaxed);

    for (size_t i = 0; rpc->locality->on && i < rpc->claims.n; i++)
        if (rpc->claims.claim[i].slot == NULL &&
            rpc->claims.claim[i].job.result_id == result_id)
            return true;
    return false;
}

/* Is the request filled?  Seen by the job that would be next, so that it need
 * not be claimed and given back, by each request. */
static bool
is_filled(struct rpc *rpc, struct scan *scan, const struct job_slot *slot)
{
    const struct dispatch_rule *rule;
    struct version_choice choice;
    struct sendable job;
    struct offer offer;

    if (!jobarray_peek(rpc->jobs, slot, &job))
        return false;
    rule = scan_judge(scan, rpc, &job, &choice, &offer);
    if (rule == NULL || rule->kind != REFUSAL_STOP)
        return false;
    scan_refuse(scan, rpc, rule, &offer, NULL);
    return true;
}

/* True: claimed and taken. */
static bool
claim_place(struct rpc *rpc, struct scan *scan, struct batch *b,
            struct job_slot *slot)
{
    int pid = segment_shares_pids(rpc->segment) ? (int)getpid() : 0;
    const struct dispatch_rule *rule;
    struct version_choice choice;
    struct claim *claim;
    struct offer offer;

    if (is_noted(rpc, slot) || (b->n > 0 && is_filled(rpc, scan, slot)))
        return false;
    claim = claims_take(&rpc->claims, rpc->jobs, slot, pid);
    if (claim == NULL)
        return false;
    rule = scan_judge(scan, rpc, &claim->job, &choice, &offer);
    if (rule == NULL) {
        add_candidate(scan, b, &offer);
        work_take(rpc, &offer);
        return true;
    }
    scan_refuse(scan, rpc, rule, &offer, slot);
    claims_drop_last(&rpc->claims);
    return false;
}

/* Claim the best jobs, from where the scan stands. */
static int
pick_places(struct rpc *rpc, struct scan *scan, struct batch *b)
{
    for (; scan->next < scan->n; scan->next++) {
        if (scan_look_ahead(scan, rpc) != 0)
            return -1;
        if (!claim_place(rpc, scan, b,
                         scan_slot(scan, rpc, &scan->place[scan->next])) &&
            scan->stopped)
            break; /* the next round begins with this one */
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
           const struct sendable *job, struct job_slot *slot)
{
    const struct dispatch_rule *rule;
    struct offer offer;

    work_offer_chosen(rpc, job, &c->choice, &offer);
    offer.host = &rpc->work.whole;
    offer.app_room = NULL; /* it may have taken the last of it */
    offer.takes_not_preferred = true;
    offer.user_has_result = c->state == CANDIDATE_USER_HAS;
    offer.host_has_result = c->state == CANDIDATE_HOST_HAS;
    offer.other_class = c->state == CANDIDATE_OTHER_CLASS;
    offer.other_version = c->state == CANDIDATE_OTHER_VERSION;
    rule = dispatch_refusal(&offer);
    if (rule != NULL)
        scan_refuse(scan, rpc, rule, &offer, slot);
    scan->stopped = false;
}

/* The host's offer anew, from what is left in the batch. */
static void
take_again(struct rpc *rpc, struct scan *scan, const struct batch *b)
{
    work_take_nothing(rpc);
    scan_forget_sent(scan);
    for (size_t i = 0; i < b->n; i++) {
        struct offer offer;
        struct claim *claim;

        if (b->c[i].state != CANDIDATE_OK)
            continue;
        claim = claim_of(rpc, &b->c[i]);
        work_offer_chosen(rpc, &claim->job, &b->c[i].choice, &offer);
        scan_note_sent(scan, b->c[i].wu_id, b->c[i].app_version_id);
        work_take(rpc, &offer);
    }
}

/* ---- jobs for the files that the host has (locality.h) ---- */

/* One of them.  0, or -1. */
static int
consider_near(struct rpc *rpc, struct scan *scan, struct batch *b,
              const struct sendable *job, bool taken)
{
    const struct candidate key = {.result_id = job->result_id};
    const struct dispatch_rule *rule;
    struct version_choice choice;
    struct offer offer;
    int rc;

    if (claim_of(rpc, &key) != NULL)
        return 0; /* from the job array */
    if (taken)
        scan_note_taken(scan, job->wu_id);
    rpc->tally.scanned++;
    rule = scan_judge(scan, rpc, job, &choice, &offer);
    if (rule != NULL) {
        scan_refuse(scan, rpc, rule, &offer, NULL);
        return 0;
    }
    rc = locality_take(rpc->locality, rpc);
    if (rc == 0) {
        claims_note(&rpc->claims, job);
        add_candidate(scan, b, &offer);
        work_take(rpc, &offer);
    }
    return rc == -1 ? -1 : 0; /* DB_EXISTS: another host was faster */
}

/* Jobs whose files the host holds, then those of new files. */
static int
pick_near(struct rpc *rpc, struct scan *scan, struct batch *b)
{
    int rc = 0;

    while (!scan->stopped && rc == 0) {
        struct sendable job;
        bool taken;

        rc = locality_next(rpc->locality, rpc, &job, &taken);
        if (rc == 0)
            rc = consider_near(rpc, scan, b, &job, taken);
        if (rc == 0 && scan->stopped)
            locality_put_back(rpc->locality); /* for the next round */
    }
    return rc == -1 ? -1 : 0;
}

/* Note who holds the files of what was sent. */
static int
note_files(struct rpc *rpc, const struct batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->c[i].state == CANDIDATE_OK &&
            locality_sent(rpc->locality, rpc, b->c[i].result->name) != 0)
            return -1;
    return 0;
}

/* ---- what is lost ---- */

/* Stored.  The bound chosen for the host is never more than the workunit's. */
static int64_t
deadline_of(const struct rpc *rpc, const struct candidate *c)
{
    int64_t bound = c->delay_bound;

    if (c->wu == NULL)
        return 0;
    if (bound > c->wu->delay_bound)
        bound = c->wu->delay_bound;
    return dispatch_stored_deadline(rpc, dispatch_deadline(rpc->now, bound));
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

        c[i].deadline = deadline_of(rpc, &c[i]);
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
        count_lost(rpc, scan, &c[i], &claim->job, claim->slot);
        if (c[i].state == CANDIDATE_USER_HAS ||
            c[i].state == CANDIDATE_HOST_HAS)
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
    const struct app_version *version = choice_version(rpc, choice);
    const struct reply_job job = {
        .app = app,
        .version = version,
        .own_version = choice->anonymous,
        .platform = choice->anonymous
                        ? rpc->req->app_version[choice->index].platform
                        : work_platform_name(&rpc->work, version->platformid),
        .usage = choice->usage,
        .fpops_scale = choice->fpops_scale,
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

/* The host need not ask again before its day ends; those that all wait for the
 * same do not come at once. */
static void
wait_for_day(struct rpc *rpc)
{
    int64_t seconds = quota_next_day(rpc->host.id, rpc->now);

    reply_delay(&rpc->reply,
                (double)(seconds + (int64_t)random_below(DAY_JITTER)));
}

/* Say the one true reason why nothing is sent. */
static void
explain(struct rpc *rpc, const struct scan *scan)
{
    const char *text;
    const struct dispatch_rule *rule = scan_reason(scan, &text);

    if (text != NULL)
        reply_message(&rpc->reply, MESSAGE_LOW, "No tasks sent. %s", text);
    else if (scan->busy > 0)
        reply_message(&rpc->reply, MESSAGE_LOW,
                      "No tasks sent. The server is at work on those that "
                      "would fit; your computer will ask again.");
    else if (rule != NULL)
        reply_message(&rpc->reply, MESSAGE_LOW,
                      "No tasks sent. This project has none for the kind of "
                      "processor that was asked for.");
    else if (rpc->locality->kept)
        reply_message(
            &rpc->reply, MESSAGE_LOW,
            "No tasks sent. Those that are left need large files that "
            "other computers have already.");
    else
        reply_message(&rpc->reply, MESSAGE_LOW,
                      "No tasks sent. The project has none at the moment.");
    locality_make_room(rpc->locality, rpc, rule);
    if (rule != NULL && dispatch_waits_for_day(rule))
        wait_for_day(rpc);
}

/* For the request's line in the log. */
static void
note_walk(struct rpc *rpc, const struct scan *scan)
{
    rpc->tally.ready = (unsigned)scan->ready;
    for (size_t i = 0; i < n_dispatch_rules; i++)
        if (scan->reason[i].count > 0)
            buf_addf(&rpc->refused, " %s %u", dispatch_rules[i].name,
                     scan->reason[i].count);
    if (scan->busy > 0)
        buf_addf(&rpc->refused, " busy %u", scan->busy);
}

/* ---- the passes ---- */

typedef int pick_fn(struct rpc *, struct scan *, struct batch *);

/* Claim and lock, until nothing is lost any more. */
static int
fill(struct rpc *rpc, struct scan *scan, struct batch *b,
     const struct send_to *to, pick_fn *pick)
{
    int64_t lost = 1;

    for (int round = 0; round < ROUNDS && lost > 0; round++) {
        scan->stopped = false;
        if (pick(rpc, scan, b) != 0)
            return -1;
        if (b->n_new == 0)
            return 0;
        lost = confirm(rpc, scan, b, to);
        if (lost < 0)
            return -1;
        if (lost > 0)
            take_again(rpc, scan, b);
    }
    return 0;
}

/* Jobs for one type of processor (0: any, else 1 + type). */
static int
run_pass(struct rpc *rpc, struct scan *scan, struct batch *b,
         const struct send_to *to, int only_type)
{
    rpc->work.offer.only_type = rpc->work.whole.only_type = only_type;
    scan_survey(scan, rpc);
    return fill(rpc, scan, b, to, pick_places);
}

/* Coprocessors first: a job for them may leave the request for CPUs as it is,
 * and the other way round nothing is left of the choice of versions. */
static int
run_passes(struct rpc *rpc, struct scan *scan, struct batch *b,
           const struct send_to *to)
{
    bool none = true;

    if (!rpc->work.whole.any_type)
        for (int t = N_PROC_TYPES - 1; t >= 0; t--) {
            rpc->work.offer.only_type = 0;
            if (!offer_host_wants(&rpc->work.offer, (enum proc_type)t))
                continue;
            none = false;
            if (run_pass(rpc, scan, b, to, 1 + t) != 0)
                return -1;
        }
    return none ? run_pass(rpc, scan, b, to, 0) : 0;
}

static bool
has_some_to_send(const struct batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->c[i].state == CANDIDATE_OK)
            return true;
    return false;
}

/* Is there an application that the user has not selected, but takes? */
static bool
may_take_not_preferred(const struct rpc *rpc, const struct batch *b)
{
    if (rpc->cfg->sched_old && has_some_to_send(b))
        return false;
    for (size_t i = 0; i < rpc->limits.n; i++)
        if (rpc->limits.app[i].wish == APP_NOT_PREFERRED)
            return true;
    return false;
}

static int
search_array(struct rpc *rpc, struct scan *scan, struct batch *b,
             const struct send_to *to)
{
    if (work_has_idle_app(&rpc->work)) {
        scan->idle_apps_only = true;
        if (run_pass(rpc, scan, b, to, 0) != 0)
            return -1;
        scan->idle_apps_only = false;
    }
    if (!request_wants_work(rpc->req))
        return 0;
    if (run_passes(rpc, scan, b, to) != 0)
        return -1;
    if (!may_take_not_preferred(rpc, b))
        return 0;
    rpc->limits.takes_not_preferred = true;
    return run_passes(rpc, scan, b, to);
}

static int
search_near(struct rpc *rpc, struct scan *scan, struct batch *b,
            const struct send_to *to)
{
    rpc->work.offer.only_type = rpc->work.whole.only_type = 0;
    return request_wants_work(rpc->req) ? fill(rpc, scan, b, to, pick_near) : 0;
}

/* In the job array, or by file (locality.h), or both. */
static int
search(struct rpc *rpc, struct scan *scan, struct batch *b,
       const struct send_to *to)
{
    const struct locality *near = rpc->locality;

    judge_claims_again(rpc, scan, b);
    if (fill(rpc, scan, b, to, pick_places) != 0)
        return -1;
    if (near->on && near->first && search_near(rpc, scan, b, to) != 0)
        return -1;
    if (near->array_too && search_array(rpc, scan, b, to) != 0)
        return -1;
    return near->on && !near->first ? search_near(rpc, scan, b, to) : 0;
}

/* ---- the step ---- */

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
    struct locality near;
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
    claims_forget_noted(&rpc->claims);
    rpc->locality = &near;
    scan_begin(&scan, rpc);
    rc = locality_begin(&near, rpc);
    if (rc == 0)
        rc = search(rpc, &scan, &b, &to);
    if (rc == 0)
        rc = standing_dispatch(rpc, b.c, b.n);
    if (rc == 0)
        rc = db_sched_send(rpc->db, b.c, b.n, &to);
    if (rc == 0)
        rc = note_files(rpc, &b);
    if (rc == 0) {
        reply_batch(rpc, &b);
        if (rpc->tally.sent == 0 && request_wants_work(rpc->req))
            explain(rpc, &scan);
        note_walk(rpc, &scan);
        rpc->looked_for_work = true;
    }
    free_batch(&b);
    scan_end(&scan);
    locality_free(&near);
    rpc->locality = NULL;
    return rc == 0 ? STEP_NEXT : STEP_FAILED;
}
