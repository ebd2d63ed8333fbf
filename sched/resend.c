/* resend.c - results that the client lost.
 *
 * A result is lost if it is in progress on the host by the database, and the
 * client neither has nor reports it: a reply did not arrive.  It is sent again,
 * with a deadline that is put off only if less than half of its time is left:
 * new = max(old, now + (old - sent) / 2), so that the extensions of a result
 * that is lost again and again add up to no more than its first time, and it
 * ends.  One that cannot be sent again (not needed, or the host would not
 * finish), or was lost too often, is over at once, without reply: nobody waits
 * for its deadline. */
#include "resend.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "dispatch.h"
#include "log.h"

enum {
    LOST_MAX = 1000, /* looked for in one request */
    TOLD_MAX = 20,   /* messages to the volunteer */
};

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All names that the client has spoken of, sorted; malloc'ed. */
static const char **
named_results(const struct sched_request *req, size_t *ret_n)
{
    size_t n = 0;
    const char **name =
        xmalloc((req->n_other_results + req->n_results + 1) * sizeof(*name));

    for (size_t i = 0; i < req->n_other_results; i++)
        name[n++] = req->other_result[i].name;
    for (size_t i = 0; i < req->n_results; i++)
        name[n++] = req->result[i].name;
    qsort(name, n, sizeof(*name), by_text);
    *ret_n = n;
    return name;
}

/* Results in progress that are not among the names. */
static int
find_lost(struct rpc *rpc, struct candidate **ret, size_t *ret_n)
{
    struct known_result *row;
    const char **name;
    size_t n_rows, n_names;

    *ret = NULL;
    *ret_n = 0;
    if (db_sched_in_progress(rpc->db, rpc->host.id, LOST_MAX, &row, &n_rows) !=
        0)
        return -1;
    name = named_results(rpc->req, &n_names);
    *ret = xcalloc(n_rows + 1, sizeof(**ret));
    for (size_t i = 0; i < n_rows; i++) {
        const char *key = row[i].name;

        if (bsearch(&key, name, n_names, sizeof(*name), by_text) != NULL)
            continue;
        (*ret)[*ret_n].result_id = row[i].id;
        (*ret)[(*ret_n)++].wu_id = row[i].workunitid;
    }
    free(name);
    free(row);
    return 0;
}

static int64_t
new_deadline(const struct rpc *rpc, const struct candidate *c)
{
    int64_t old = c->result->report_deadline;
    int64_t half = rpc->now + (old - c->result->sent_time) / 2;
    int64_t most = dispatch_stored_deadline(
        rpc, dispatch_deadline(rpc->now, c->wu->delay_bound));
    int64_t stored = old > half ? old : half;

    return stored < most ? stored : most;
}

static void
describe_job(const struct rpc *rpc, const struct candidate *c,
             struct sendable *ret)
{
    const struct workunit *wu = c->wu;

    *ret = (struct sendable){
        .result_id = c->result_id,
        .wu_id = wu->id,
        .appid = wu->appid,
        .batch = wu->batch,
        .app_version_id = wu->app_version_id,
        .delay_bound = c->deadline - rpc->cfg->report_grace_period - rpc->now,
        .rsc_fpops_est = wu->rsc_fpops_est,
        .rsc_fpops_bound = wu->rsc_fpops_bound,
        .rsc_memory_bound = wu->rsc_memory_bound,
        .rsc_disk_bound = wu->rsc_disk_bound,
        .rsc_bandwidth_bound = wu->rsc_bandwidth_bound,
        .hr_class = wu->hr_class,
        .app_version_num = wu->app_version_num,
        .size_class = wu->size_class,
    };
}

enum fate { FATE_SEND, FATE_EXPIRE, FATE_LATER };

/* What these rules refuse now may be sent at another contact.  What the others
 * refuse has no hope on this host. */
static bool
is_for_now(const struct dispatch_rule *rule)
{
    static const char *const names[] = {
        "quota",      "app-limit",   "processor", "type-filled", "type-limit",
        "unreliable", "accelerated", "queue",     "workload",    "in-reply",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(rule->name, names[i]) == 0)
            return true;
    return rule->kind == REFUSAL_STOP;
}

/* Say why this one is over. */
static enum fate
expire(struct rpc *rpc, const struct candidate *c, const char *why)
{
    if (rpc->reply.n_messages < TOLD_MAX)
        reply_message(&rpc->reply, MESSAGE_LOW,
                      "Lost task %s is not sent again. %s", c->result->name,
                      why);
    log_normal(TAG_RESULT "lost by host %" PRId64 ", not sent again: %s",
               c->result_id, c->result->name, rpc->host.id, why);
    return FATE_EXPIRE;
}

static enum fate
expire_by_rule(struct rpc *rpc, const struct candidate *c,
               const struct dispatch_rule *rule, const struct offer *offer)
{
    char message[RULE_MESSAGE_SIZE];

    dispatch_message(rule, offer, message);
    return expire(rpc, c,
                  message[0] != '\0' ? message
                                     : "Your computer cannot take it now.");
}

/* Judge one lost job; FATE_SEND has taken it from the host's offer. */
static enum fate
judge(struct rpc *rpc, struct candidate *c)
{
    int64_t most = rpc->cfg->max_resends;
    const struct dispatch_rule *rule;
    struct sendable job;
    struct offer offer;

    if (c->result == NULL || c->state == CANDIDATE_BUSY)
        return FATE_LATER; /* no longer in progress, or at work on it */
    if (c->state != CANDIDATE_OK || !reply_documents_whole(c->wu, c->result))
        return expire(rpc, c, "It is not needed any more.");
    if (most > 0 && c->resends >= most)
        return expire(rpc, c, "It was lost too often.");
    c->deadline = new_deadline(rpc, c);
    describe_job(rpc, c, &job);
    work_offer_anyhow(rpc, &job, &offer, &c->choice);
    offer.resend = true;
    rule = dispatch_refusal(&offer);
    if (rule != NULL && rpc->cfg->debug_resend)
        log_normal(TAG_RESULT "lost by host %" PRId64 ", refused by %s",
                   c->result_id, c->result->name, rpc->host.id, rule->name);
    if (rule != NULL)
        return is_for_now(rule) ? FATE_LATER
                                : expire_by_rule(rpc, c, rule, &offer);
    work_take(rpc, &offer);
    c->app_version_id = c->choice.version_id;
    c->flops_estimate = c->choice.usage.peak_flops;
    return FATE_SEND;
}

static void
reply_resent(struct rpc *rpc, struct candidate *c)
{
    struct sendable job;
    struct offer offer;

    describe_job(rpc, c, &job);
    work_offer_chosen(rpc, &job, &c->choice, &offer);
    if (rpc->tally.resent < TOLD_MAX)
        reply_message(&rpc->reply, MESSAGE_LOW, "Sent lost task %s again.",
                      c->result->name);
    log_normal(TAG_RESULT "lost by host %" PRId64 ", sent again", c->result_id,
               c->result->name, rpc->host.id);
    dispatch_reply(rpc, c, &c->choice, offer.app);
    rpc->tally.resent++;
}

/* Move the candidates of this fate to the front; returns how many. */
static size_t
gather(struct candidate *c, enum fate *fate, size_t n, enum fate wanted)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if (fate[i] == wanted) {
            struct candidate swapped = c[k];
            enum fate swapped_fate = fate[k];

            c[k] = c[i];
            fate[k] = fate[i];
            c[i] = swapped;
            fate[i] = swapped_fate;
            k++;
        }
    return k;
}

static int
settle(struct rpc *rpc, struct candidate *c, size_t n, const struct send_to *to)
{
    enum fate *fate = xcalloc(n, sizeof(*fate));
    size_t k;
    int rc;

    for (size_t i = 0; i < n; i++)
        fate[i] = judge(rpc, &c[i]);
    k = gather(c, fate, n, FATE_EXPIRE);
    rc = db_sched_expire(rpc->db, c, k, to);
    k = gather(c, fate, n, FATE_SEND);
    if (rc == 0)
        rc = db_sched_send(rpc->db, c, k, to);
    if (rc == 0)
        rc = db_sched_count_resends(rpc->db, c, k, rpc->now);
    for (size_t i = 0; rc == 0 && i < k; i++)
        reply_resent(rpc, &c[i]);
    free(fate);
    return rc;
}

enum step_result
resend_step(struct rpc *rpc)
{
    const struct sched_request *req = rpc->req;
    const struct send_to to = {
        .userid = rpc->user.id,
        .hostid = rpc->host.id,
        .resend = true,
        .now = rpc->now,
    };
    struct candidate *c;
    size_t n;
    int rc;

    if (!rpc_wants_work(rpc) || rpc->new_host || !req->has_other_results ||
        !(rpc->cfg->resend_lost_results || rpc->report_lost) ||
        rpc->tally.reported < (int64_t)req->n_results)
        return STEP_NEXT;
    if (find_lost(rpc, &c, &n) != 0)
        return STEP_FAILED;
    rc = 0;
    rpc->report_lost = rpc->report_lost || n > 0;
    if (n > 0)
        rc = db_sched_lock_candidates(rpc->db, c, n, &to);
    if (rc == 0 && n > 0)
        rc = db_sched_resends(rpc->db, c, n);
    if (rc == 0 && n > 0)
        rc = settle(rpc, c, n, &to);
    for (size_t i = 0; i < n; i++)
        candidate_free(&c[i]);
    free(c);
    return rc == 0 ? STEP_NEXT : STEP_FAILED;
}
