/* scan.c - one request's look at the job array.
 *
 * Most jobs that a host is not sent are refused by a rule, and a rule needs the
 * job's numbers only.  So all slots are looked at first without claiming any:
 * a look is a copy of some 250 bytes that leaves no trace.  What the rules
 * allow is put in order, and only that is claimed, one by one, until the
 * request is filled. */
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

enum { LOOK_AHEAD = 256 }; /* places asked for in one statement */

void
scan_begin(struct scan *scan, struct rpc *rpc)
{
    size_t n_slots = jobarray_n_slots(rpc->jobs);

    *scan = (struct scan){0};
    scan->start = n_slots > 0 ? (size_t)random_below(n_slots) : 0;
    scan->reason = xcalloc(n_dispatch_rules, sizeof(*scan->reason));
}

void
scan_end(struct scan *scan)
{
    for (size_t i = 0; i < n_dispatch_rules; i++)
        free(scan->reason[i].text);
    free(scan->reason);
    free(scan->place);
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
score_of(struct rpc *rpc, const struct job_slot *slot, const struct offer *o)
{
    const struct score_facts facts = {
        .priority = o->job->priority,
        .accelerated = rpc->cfg->batch_accel && o->job->priority > 0,
        .beta = o->app->beta,
        .not_preferred = o->wish == APP_NOT_PREFERRED,
        .was_infeasible =
            atomic_load_explicit(&slot->infeasible, memory_order_relaxed) > 0,
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

static void
add_place(struct scan *scan, const struct scan_place *place)
{
    if (scan->n == scan->room) {
        scan->room = scan->room > 0 ? 2 * scan->room : 64;
        scan->place = xrealloc(scan->place, scan->room * sizeof(*scan->place));
    }
    scan->place[scan->n++] = *place;
}

static bool
is_of_idle_app(const struct rpc *rpc, const struct sendable *job)
{
    for (size_t i = 0; i < rpc->work.n_apps; i++)
        if (rpc->work.app[i].id == job->appid)
            return rpc->work.app[i].non_cpu_intensive;
    return false;
}

/* Judge the job of one slot; it gets a place if it may be sent. */
static void
look_at(struct scan *scan, struct rpc *rpc, struct job_slot *slot,
        uint32_t rank)
{
    const struct dispatch_rule *rule;
    struct version_choice choice;
    struct sendable job;
    struct offer offer;

    if (!jobarray_peek(slot, &job))
        return;
    if (scan->idle_apps_only && !is_of_idle_app(rpc, &job))
        return;
    rpc->tally.scanned++;
    rule = scan_judge(scan, rpc, &job, &choice, &offer);
    if (rule != NULL) {
        scan_refuse(scan, rpc, rule, &offer, slot);
        return;
    }
    add_place(scan, &(struct scan_place){
                        .slot = slot,
                        .result_id = job.result_id,
                        .wu_id = job.wu_id,
                        .score = score_of(rpc, slot, &offer),
                        .rank = rank,
                    });
}

void
scan_survey(struct scan *scan, struct rpc *rpc)
{
    size_t n_slots = jobarray_n_slots(rpc->jobs);
    bool equal = true;

    scan->n = scan->next = scan->asked = 0;
    scan->stopped = false;
    if (scan->ready == 0)
        scan->ready = jobarray_count(rpc->jobs, SLOT_READY);
    for (size_t i = 0; i < n_slots && !scan->stopped; i++)
        look_at(scan, rpc,
                jobarray_slot(rpc->jobs, (scan->start + i) % n_slots),
                (uint32_t)i);
    for (size_t i = 1; i < scan->n && equal; i++)
        equal = scan->place[i].score == scan->place[0].score;
    if (!equal)
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
        wu[n++] = scan->place[i].wu_id;
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
