/* scan.c - one request's look at the job array.
 *
 * Most jobs that a host is not sent are refused by a rule, and a rule needs the
 * job's numbers only.  So all slots are looked at first without claiming any:
 * a look leaves no trace.  What the rules allow is put in order, and only that
 * is claimed, one by one, until the request is filled.
 *
 * Most jobs are like others.  The array says which are (slot.kind), and during
 * one survey nothing changes that a rule sees; so of each kind one job is
 * copied and judged, and the verdict serves for the others, for the price of a
 * look at their cache line.  A job that has something of its own beside its
 * kind (a twin in the reply, or with the user; a version for certain workunits
 * only) is judged by itself. */
#include "scan.h"

#include <stdlib.h>

#include "buf.h"
#include "config.h"
#include "digest.h"
#include "held_files.h"
#include "jobarray.h"
#include "log.h"
#include "rpc.h"
#include "score.h"

enum {
    LOOK_AHEAD = 256, /* places asked for in one statement */
    MEMOS = 512,      /* kinds remembered; a power of two */
    SCORES = 64,      /* different scores that are sorted by counting */
};

struct scan_memo {
    uint64_t kind;
    uint32_t survey;           /* the one that this is of */
    unsigned refused, allowed; /* jobs after the first */
    bool skip;                 /* not of an application that is looked for */
    bool conflict;
    int reason;     /* enum refused_for; 0: it never counts */
    uint64_t noted; /* up to this stamp the host is in the slots' sets */
    const struct dispatch_rule *rule; /* NULL: it may be sent */
    double score[2];                  /* if it was infeasible for others */
};

void
scan_begin(struct scan *scan, struct rpc *rpc)
{
    size_t n_slots = jobarray_n_slots(rpc->jobs);

    *scan = (struct scan){0};
    scan->start = n_slots > 0 ? (size_t)random_below(n_slots) : 0;
    scan->reason = xcalloc(n_dispatch_rules, sizeof(*scan->reason));
    scan->memo = xcalloc(MEMOS, sizeof(*scan->memo));
    scan->memo_off = rpc->cfg->debug_send_job; /* says a line for each */
}

void
scan_end(struct scan *scan)
{
    for (size_t i = 0; i < n_dispatch_rules; i++)
        free(scan->reason[i].text);
    free(scan->reason);
    free(scan->place);
    free(scan->memo);
    free(scan->sent);
    free(scan->taken);
    *scan = (struct scan){0};
}

/* ---- what is in the reply ---- */

void
scan_note_sent(struct scan *scan, int64_t wu_id, int64_t version_id)
{
    size_t n = scan->n_sent;

    if ((n & (n - 1)) == 0) /* 0 or a power of two: full */
        scan->sent =
            xrealloc(scan->sent, (n > 0 ? 2 * n : 1) * sizeof(*scan->sent));
    scan->sent[scan->n_sent++] = (struct scan_sent){wu_id, version_id};
}

void
scan_forget_sent(struct scan *scan)
{
    scan->n_sent = 0;
    scan->sent = xrealloc(scan->sent, sizeof(*scan->sent));
}

static void
mark_twins(const struct scan *scan, const struct version_choice *choice,
           struct offer *o)
{
    for (size_t i = 0; i < scan->n_sent; i++)
        if (scan->sent[i].wu_id == o->job->wu_id) {
            o->in_this_reply = true;
            if (scan->sent[i].version_id != choice->version_id)
                o->other_version = true;
        }
}

/* ---- judging ---- */

static int
by_id(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static bool
is_taken(const struct scan *scan, int64_t wu_id)
{
    return scan->n_taken > 0 && bsearch(&wu_id, scan->taken, scan->n_taken,
                                        sizeof(*scan->taken), by_id) != NULL;
}

const struct dispatch_rule *
scan_judge(const struct scan *scan, struct rpc *rpc, const struct sendable *job,
           struct version_choice *ret_choice, struct offer *ret_offer)
{
    work_offer(rpc, job, ret_offer, ret_choice);
    mark_twins(scan, ret_choice, ret_offer);
    if (is_taken(scan, job->wu_id)) {
        ret_offer->user_has_result = rpc->cfg->one_result_per_user_per_wu;
        ret_offer->host_has_result = true;
    }
    return dispatch_refusal(ret_offer);
}

/* Of several jobs that a rule refuses, the volunteer hears of the one that
 * needs the least. */
static void
note_text(struct scan_reason *reason, const struct dispatch_rule *rule,
          const struct offer *offer)
{
    char text[RULE_MESSAGE_SIZE];
    double needs = 0, has;

    if (rule->message == NULL)
        return;
    if (rule->numbers != NULL)
        rule->numbers(offer, &needs, &has);
    if (reason->text != NULL && !(needs < reason->least))
        return;
    dispatch_message(rule, offer, text);
    free(reason->text);
    reason->text = xstrdup(text);
    reason->least = needs;
}

/* Enough hosts of kinds that cannot do a job end its result. */
static void
note_in_slot(struct rpc *rpc, const struct dispatch_rule *rule,
             const struct offer *offer, struct job_slot *slot)
{
    int reason = dispatch_counts_as(rule, offer);

    if (reason != 0)
        jobarray_refuse(rpc->jobs, slot, offer->job->result_id, rpc->host.id,
                        (enum refused_for)reason);
    if (dispatch_is_conflict(rule))
        jobarray_infeasible(slot);
}

void
scan_refuse(struct scan *scan, struct rpc *rpc,
            const struct dispatch_rule *rule, const struct offer *offer,
            struct job_slot *slot)
{
    struct scan_reason *reason = &scan->reason[rule - dispatch_rules];

    reason->count++;
    note_text(reason, rule, offer);
    if (rule->kind == REFUSAL_STOP)
        scan->stopped = true;
    if (slot != NULL)
        note_in_slot(rpc, rule, offer, slot);
    if (rpc->cfg->debug_send_job)
        log_normal(TAG_HOST "result %" PRId64 " refused by %s", rpc->host.id,
                   offer->job->result_id, rule->name);
}

const struct dispatch_rule *
scan_reason(const struct scan *scan, const char **ret_text)
{
    unsigned *count = xcalloc(n_dispatch_rules, sizeof(*count));
    const struct dispatch_rule *rule;

    /* A job for a processor that needs no work says nothing of one for the
     * processor that does. */
    for (size_t i = 0; i < n_dispatch_rules; i++)
        if (dispatch_rules[i].message != NULL)
            count[i] = scan->reason[i].count;
    rule = dispatch_reason(count);
    for (size_t i = 0; rule == NULL && i < n_dispatch_rules; i++)
        count[i] = scan->reason[i].count;
    if (rule == NULL)
        rule = dispatch_reason(count);
    free(count);
    *ret_text = rule != NULL ? scan->reason[rule - dispatch_rules].text : NULL;
    return rule;
}

/* ---- the order ---- */

static double
score_of(struct rpc *rpc, bool was_infeasible, const struct offer *o)
{
    const struct score_facts facts = {
        .priority = o->job->priority,
        .accelerated = rpc->cfg->batch_accel && o->job->priority > 0,
        .beta = o->app->beta,
        .not_preferred = o->wish == APP_NOT_PREFERRED,
        .was_infeasible = was_infeasible,
        .need_reliable = o->job->need_reliable,
        .has_file =
            held_files_any(o->job, rpc->work.held_file, rpc->work.n_held_files),
        .job_size = o->job->size_class,
        .host_size = rpc->cfg->size_classes ? score_offer_size(o) : -1,
        .keywords = limits_liked_keywords(rpc, o->job),
    };

    return rpc->cfg->sched_old ? score_of_pass(&facts) : score(&facts);
}

static int
by_score(const void *a, const void *b)
{
    const struct scan_place *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Places come in the order of their ranks.  So with few different scores it is
 * enough to count them. */
static bool
sort_by_counting(struct scan *scan)
{
    double score[SCORES];
    size_t count[SCORES] = {0}, n = 0, k;
    struct scan_place *sorted;

    for (size_t i = 0; i < scan->n; i++) {
        double x = scan->place[i].score;

        for (k = 0; k < n && score[k] > x;)
            k++;
        if (k == n || score[k] != x) {
            if (n == SCORES)
                return false;
            for (size_t m = n++; m > k; m--) {
                score[m] = score[m - 1];
                count[m] = count[m - 1];
            }
            score[k] = x;
            count[k] = 0;
        }
        count[k]++;
    }
    if (n < 2)
        return true;
    for (size_t at = 0, i = 0; i < n; i++) { /* counts become places */
        size_t these = count[i];

        count[i] = at;
        at += these;
    }
    sorted = xcalloc(scan->room, sizeof(*sorted));
    for (size_t i = 0; i < scan->n; i++) {
        for (k = 0; score[k] != scan->place[i].score;)
            k++;
        sorted[count[k]++] = scan->place[i];
    }
    free(scan->place);
    scan->place = sorted;
    return true;
}

static void
add_place(struct scan *scan, double score, uint32_t rank)
{
    if (scan->n == scan->room) {
        scan->room = scan->room > 0 ? 2 * scan->room : 64;
        scan->place = xrealloc(scan->place, scan->room * sizeof(*scan->place));
    }
    scan->place[scan->n++] = (struct scan_place){score, rank};
}

/* ---- the survey ---- */

struct job_slot *
scan_slot(const struct scan *scan, const struct rpc *rpc,
          const struct scan_place *place)
{
    return jobarray_slot(rpc->jobs, (scan->start + place->rank) %
                                        jobarray_n_slots(rpc->jobs));
}

static bool
is_of_idle_app(const struct rpc *rpc, const struct sendable *job)
{
    for (size_t i = 0; i < rpc->work.n_apps; i++)
        if (rpc->work.app[i].id == job->appid)
            return rpc->work.app[i].non_cpu_intensive;
    return false;
}

/* Has the job's workunit something of its own? */
static bool
is_special(const struct scan *scan, int64_t wu_id)
{
    if (scan->n_sent == 0 && scan->n_taken == 0)
        return false;
    for (size_t i = 0; i < scan->n_sent; i++)
        if (scan->sent[i].wu_id == wu_id)
            return true;
    return is_taken(scan, wu_id);
}

/* Count what a memo has saved. */
static void
count_memo(struct scan *scan, struct rpc *rpc, struct scan_memo *m)
{
    rpc->tally.scanned += m->refused + m->allowed;
    if (m->rule != NULL)
        scan->reason[m->rule - dispatch_rules].count += m->refused;
    m->refused = m->allowed = 0;
}

/* Note up to where the host is in the sets of this kind. */
static void
settle_memo(struct scan *scan, struct rpc *rpc, struct scan_memo *m)
{
    if (m->survey != scan->survey)
        return;
    count_memo(scan, rpc, m);
    if (m->reason != 0 && !scan->partial && !scan->stopped &&
        m->noted < scan->newest && rpc->host.id > 0)
        jobarray_note(rpc->jobs, rpc->host.id, m->kind, scan->newest);
}

static struct scan_memo *
memo_of(const struct scan *scan, uint64_t kind)
{
    return &scan->memo[kind & (MEMOS - 1)];
}

/* What was found for one job of the kind serves for the others; without an
 * offer it was not judged. */
static void
remember(struct scan *scan, struct rpc *rpc, uint64_t kind,
         const struct dispatch_rule *rule, const struct offer *offer)
{
    struct scan_memo *m = memo_of(scan, kind);

    /* one that makes room has not seen all of its jobs: nothing is noted */
    if (m->survey == scan->survey)
        count_memo(scan, rpc, m);
    *m = (struct scan_memo){
        .kind = kind,
        .survey = scan->survey,
        .rule = rule,
        .skip = offer == NULL,
    };
    if (m->skip)
        return;
    if (rule == NULL) {
        m->score[0] = score_of(rpc, false, offer);
        m->score[1] = score_of(rpc, true, offer);
        return;
    }
    m->conflict = dispatch_is_conflict(rule);
    m->reason = dispatch_counts_as(rule, offer);
    if (m->reason != 0)
        m->noted = jobarray_noted(rpc->jobs, rpc->host.id, kind);
}

/* Another job of a kind that was refused. */
static void
refuse_like(struct rpc *rpc, struct scan_memo *m, struct job_slot *slot,
            const struct job_hint *hint)
{
    m->refused++;
    if (m->reason != 0 && hint->stamp > m->noted)
        jobarray_refuse(rpc->jobs, slot, hint->result_id, rpc->host.id,
                        (enum refused_for)m->reason);
    if (m->conflict)
        jobarray_infeasible(slot);
}

/* Judge the job of one slot by itself; it gets a place if it may be sent. */
static void
judge_slot(struct scan *scan, struct rpc *rpc, struct job_slot *slot,
           uint32_t rank, const struct job_hint *hint, bool alone)
{
    const struct dispatch_rule *rule;
    struct version_choice choice;
    struct sendable job;
    struct offer offer;

    if (!jobarray_peek(rpc->jobs, slot, &job))
        return;
    /* another job by now: nothing is known of its kind */
    alone = alone || scan->memo_off || job.result_id != hint->result_id ||
            choice_is_by_job(rpc, job.appid);
    if (scan->idle_apps_only && !is_of_idle_app(rpc, &job)) {
        if (!alone)
            remember(scan, rpc, hint->kind, NULL, NULL);
        return;
    }
    rpc->tally.scanned++;
    rule = scan_judge(scan, rpc, &job, &choice, &offer);
    scan->partial = scan->partial || alone;
    if (!alone)
        remember(scan, rpc, hint->kind, rule, &offer);
    if (rule != NULL)
        scan_refuse(scan, rpc, rule, &offer, slot);
    else
        add_place(scan, score_of(rpc, hint->infeasible > 0, &offer), rank);
}

/* … of one that was allowed. */
static void
add_like(struct scan *scan, struct scan_memo *m, uint32_t rank,
         bool was_infeasible)
{
    m->allowed++;
    add_place(scan, m->score[was_infeasible], rank);
}

static void
look_at(struct scan *scan, struct rpc *rpc, struct job_slot *slot,
        uint32_t rank)
{
    struct scan_memo *m;
    struct job_hint hint;
    bool special;

    if (!jobarray_glance(slot, &hint))
        return;
    scan->ready++;
    if (scan->stopped)
        return;
    m = memo_of(scan, hint.kind);
    special = is_special(scan, hint.wu_id);
    if (special || m->kind != hint.kind || m->survey != scan->survey)
        judge_slot(scan, rpc, slot, rank, &hint, special);
    else if (m->rule != NULL)
        refuse_like(rpc, m, slot, &hint);
    else if (!m->skip)
        add_like(scan, m, rank, hint.infeasible > 0);
}

void
scan_survey(struct scan *scan, struct rpc *rpc)
{
    size_t n_slots = jobarray_n_slots(rpc->jobs);
    size_t before = scan->survey > 0 ? scan->ready : 0;
    struct job_slot *slot = n_slots > 0 ? jobarray_slot(rpc->jobs, 0) : NULL;

    scan->n = scan->next = scan->asked = 0;
    scan->stopped = scan->partial = false;
    scan->survey++;
    scan->ready = 0;
    scan->newest = jobarray_newest(rpc->jobs);
    /* they lie side by side */
    for (size_t i = 0, at = scan->start; i < n_slots; i++) {
        look_at(scan, rpc, &slot[at], (uint32_t)i);
        if (++at == n_slots)
            at = 0;
    }
    if (scan->survey > 1)
        scan->ready = before;
    for (size_t i = 0; i < MEMOS; i++)
        settle_memo(scan, rpc, &scan->memo[i]);
    if (!sort_by_counting(scan))
        qsort(scan->place, scan->n, sizeof(*scan->place), by_score);
    scan->stopped = false;
}

/* ---- looking ahead ---- */

int
scan_look_ahead(struct scan *scan, struct rpc *rpc)
{
    const struct send_to to = {
        .userid = rpc->user.id,
        .hostid = rpc->host.id,
        .one_per_host = !rpc->cfg->one_result_per_user_per_wu,
    };
    int64_t wu[LOOK_AHEAD];
    size_t n = 0, found;

    if (!scan->looks_ahead || scan->next < scan->asked)
        return 0;
    for (size_t i = scan->next; i < scan->n && n < LOOK_AHEAD; i++)
        wu[n++] = atomic_load_explicit(
            &scan_slot(scan, rpc, &scan->place[i])->wu_id,
            memory_order_relaxed); /* another one by now: asked in vain */
    scan->asked = scan->next + n;
    scan->taken =
        xrealloc(scan->taken, (scan->n_taken + n + 1) * sizeof(*scan->taken));
    if (db_sched_workunits_of(rpc->db, wu, n, &to, scan->taken + scan->n_taken,
                              &found) != 0)
        return -1;
    scan->n_taken += found;
    qsort(scan->taken, scan->n_taken, sizeof(*scan->taken), by_id);
    return 0;
}

void
scan_note_taken(struct scan *scan, int64_t wu_id)
{
    scan->taken =
        xrealloc(scan->taken, (scan->n_taken + 1) * sizeof(*scan->taken));
    scan->taken[scan->n_taken++] = wu_id;
    qsort(scan->taken, scan->n_taken, sizeof(*scan->taken), by_id);
}
