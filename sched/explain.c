/* explain.c - the steps of a request without a trace, and every rule's verdict
 * on the way. */
#include "explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "catalog.h"
#include "clock.h"
#include "config.h"
#include "digest.h"
#include "explain_private.h"
#include "handle.h"
#include "jobarray.h"
#include "log.h"
#include "request.h"
#include "segment.h"
#include "steps.h"

enum { LAST_SEQNO = 2147483647 };

/* ---- one job ---- */

static void
add_version(const struct rpc *rpc, const struct offer *o, struct buf *text)
{
    const struct host_usage *usage = &o->choice->usage;
    const struct app_version *v = o->version;

    buf_addf(text, "  application %s, ",
             o->app != NULL ? o->app->name : "(unknown or deprecated)");
    if (v == NULL) {
        buf_add(text, "no version\n");
        return;
    }
    buf_addf(text, "version %d for %s%s%s: %.3g CPUs", v->version_num,
             work_platform_name(&rpc->work, v->platformid),
             v->plan_class[0] != '\0' ? ", plan class " : "", v->plan_class,
             usage->avg_ncpus);
    if (usage->type != PROC_CPU)
        buf_addf(text, " and %.3g %s", usage->gpu_usage,
                 proc_type_name((int)usage->type));
    buf_addf(text, ", %.3g FLOPS\n", usage->projected_flops);
}

static void
add_verdict(const struct dispatch_rule *rule, const struct offer *o, bool yes,
            struct buf *text)
{
    char numbers[RULE_NUMBERS_SIZE];

    dispatch_numbers(rule, o, numbers);
    if (numbers[0] != '\0')
        buf_addf(text, "    %-3s %-16s %s\n", yes ? "ok" : "NO", rule->name,
                 numbers);
    else
        buf_addf(text, "    %-3s %s\n", yes ? "ok" : "NO", rule->name);
}

const struct dispatch_rule *
explain_judge(struct rpc *rpc, const struct sendable *job, bool user_has,
              bool host_has, struct buf *text)
{
    const struct dispatch_rule *refusal = NULL;
    struct version_choice choice;
    struct offer offer;

    work_offer(rpc, job, &offer, &choice);
    offer.host = &rpc->work.whole;
    offer.takes_not_preferred = true; /* if nothing else is there */
    offer.user_has_result = user_has;
    offer.host_has_result = host_has;
    if (offer.choice == NULL)
        offer.choice = &choice;
    if (text == NULL)
        return dispatch_refusal(&offer);
    add_version(rpc, &offer, text);
    for (size_t i = 0; i < n_dispatch_rules; i++) {
        bool yes = dispatch_rules[i].allows(&offer);

        if (!yes && refusal == NULL)
            refusal = &dispatch_rules[i];
        add_verdict(&dispatch_rules[i], &offer, yes, text);
    }
    return refusal;
}

/* ---- the step ---- */

static void
forget_verdicts(struct explain *e)
{
    for (size_t i = 0; i < e->n; i++)
        free(e->verdict[i].text);
    free(e->verdict);
    e->verdict = NULL;
    e->n = 0;
}

/* The jobs of the private array; claimed to be read, and given back. */
static struct sendable *
read_jobs(struct rpc *rpc)
{
    struct explain *e = rpc->explain;
    size_t n_slots = jobarray_n_slots(rpc->jobs);
    struct sendable *job = xcalloc(n_slots + 1, sizeof(*job));

    e->verdict = xcalloc(n_slots + 1, sizeof(*e->verdict));
    for (size_t i = 0; i < n_slots; i++) {
        struct job_slot *slot = jobarray_slot(rpc->jobs, i);
        uint64_t word;

        if (!jobarray_claim(rpc->jobs, slot, 0, 0, &word, &job[e->n]))
            continue;
        jobarray_give_back(slot, word);
        e->verdict[e->n] = (struct explain_verdict){
            .slot = i,
            .result_id = job[e->n].result_id,
            .wu_id = job[e->n].wu_id,
        };
        e->n++;
    }
    return job;
}

static int
by_id(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static bool
is_in(int64_t id, const int64_t *sorted, size_t n)
{
    return bsearch(&id, sorted, n, sizeof(*sorted), by_id) != NULL;
}

static int
judge_jobs(struct rpc *rpc, const struct sendable *job, int64_t *wu,
           int64_t *user_has, int64_t *host_has)
{
    const struct send_to of_user = {.userid = rpc->user.id};
    const struct send_to of_host = {.hostid = rpc->host.id,
                                    .one_per_host = true};
    struct explain *e = rpc->explain;
    size_t n_user, n_host;

    for (size_t i = 0; i < e->n; i++)
        wu[i] = job[i].wu_id;
    if (db_sched_workunits_of(rpc->db, wu, e->n, &of_user, user_has, &n_user) !=
            0 ||
        db_sched_workunits_of(rpc->db, wu, e->n, &of_host, host_has, &n_host) !=
            0)
        return -1;
    for (size_t i = 0; i < e->n; i++) {
        struct buf text = BUF_INIT;

        e->verdict[i].refusal =
            explain_judge(rpc, &job[i], is_in(wu[i], user_has, n_user),
                          is_in(wu[i], host_has, n_host), &text);
        e->verdict[i].text = buf_take(&text);
    }
    return 0;
}

enum step_result
explain_step(struct rpc *rpc)
{
    struct explain *e = rpc->explain;
    struct sendable *job;
    int64_t *ids;
    int rc;

    if (e == NULL)
        return STEP_NEXT;
    forget_verdicts(e); /* of an attempt that is repeated */
    job = read_jobs(rpc);
    ids = xcalloc(3 * e->n + 1, sizeof(*ids));
    rc = judge_jobs(rpc, job, ids, ids + e->n, ids + 2 * e->n);
    e->reached = true;
    free(ids);
    free(job);
    return rc == 0 ? STEP_NEXT : STEP_FAILED;
}

/* ---- what is printed ---- */

static void
add_asked(const struct rpc *rpc, struct buf *out)
{
    const struct offer_host *asked = &rpc->work.whole;

    buf_add(out, "asks for:");
    for (int t = 0; t < N_PROC_TYPES; t++)
        if (asked->seconds_left[t] > 0 || asked->instances_left[t] > 0)
            buf_addf(out, " %s %.0f s, %.1f idle;", proc_type_name(t),
                     asked->seconds_left[t], asked->instances_left[t]);
    buf_addf(out, " has %d CPUs", asked->count[PROC_CPU]);
    for (int t = PROC_CPU + 1; t < N_PROC_TYPES; t++)
        if (asked->count[t] > 0)
            buf_addf(out, ", %d %s", asked->count[t], proc_type_name(t));
    buf_add(out, "\n");
}

static void
add_host(const struct rpc *rpc, struct buf *out)
{
    const struct sched_request *req = rpc->req;

    if (rpc->user.id == 0) {
        buf_add(out, "no account\n");
        return;
    }
    if (rpc->new_host)
        buf_add(out, "a new host");
    else
        buf_addf(out, "host %" PRId64, rpc->host.id);
    buf_addf(out, " (%s) of user %" PRId64 "; client %d.%d.%d; platforms %s",
             rpc->host.domain_name, rpc->user.id,
             req->core_client_major_version, req->core_client_minor_version,
             req->core_client_release, req->platform_name);
    for (size_t i = 0; i < req->n_alt_platforms; i++)
        buf_addf(out, ", %s", req->alt_platform[i]);
    buf_add(out, "\n");
    add_asked(rpc, out);
}

/* Equal verdicts stand together, in the order of the slots. */
static int
by_text(const void *a, const void *b)
{
    const struct explain_verdict *x = a, *y = b;
    int order = strcmp(x->text, y->text);

    return order != 0 ? order : (x->slot > y->slot) - (x->slot < y->slot);
}

static bool
is_sent(const struct rpc *rpc, int64_t result_id)
{
    for (size_t i = 0; i < rpc->reply.n_jobs; i++)
        if (rpc->reply.job[i].result->id == result_id)
            return true;
    return false;
}

static void
add_place(const struct rpc *rpc, const struct explain_verdict *v,
          struct buf *out)
{
    buf_add(out, "  ");
    if (rpc->explain->wu == NULL)
        buf_addf(out, "slot %zu: ", v->slot);
    buf_addf(out, "workunit %" PRId64 ", result %" PRId64 "%s\n", v->wu_id,
             v->result_id, is_sent(rpc, v->result_id) ? ": in this reply" : "");
}

static void
add_group(const struct rpc *rpc, const struct explain_verdict *v, size_t n,
          struct buf *out)
{
    buf_addf(out, "\n%zu job%s:\n", n, n == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++)
        add_place(rpc, &v[i], out);
    buf_add(out, v->text);
    if (v->refusal != NULL)
        buf_addf(out, "  => refused: %s\n", v->refusal->name);
    else
        buf_add(out, "  => can be sent\n");
}

static void
add_verdicts(const struct rpc *rpc, struct buf *out)
{
    struct explain *e = rpc->explain;
    size_t i = 0;

    qsort(e->verdict, e->n, sizeof(*e->verdict), by_text);
    while (i < e->n) {
        size_t n = 1;

        while (i + n < e->n &&
               strcmp(e->verdict[i].text, e->verdict[i + n].text) == 0)
            n++;
        add_group(rpc, e->verdict + i, n, out);
        i += n;
    }
}

static void
add_walk(const struct rpc *rpc, struct buf *out)
{
    const struct rpc_tally *t = &rpc->tally;

    buf_addf(out,
             "\nthe request: ready %u, scanned %u; refused:%s; resent %u, "
             "sent %u\n",
             t->ready, t->scanned,
             rpc->refused.len > 0 ? buf_str(&rpc->refused) : " none", t->resent,
             t->sent);
    for (size_t i = 0; i < rpc->reply.n_messages; i++)
        buf_addf(out, "the volunteer is told: %s\n",
                 rpc->reply.message[i].text);
    if (rpc->reply.request_delay > 0)
        buf_addf(out, "delay: %.0f s\n", rpc->reply.request_delay);
}

static enum exit_status
conclude(const struct rpc *rpc, struct buf *out)
{
    const struct explain *e = rpc->explain;
    size_t n = 0;

    for (size_t i = 0; i < e->n; i++)
        n += e->verdict[i].refusal == NULL;
    if (!e->reached) {
        buf_add(out,
                "=> nothing: the request ends before work is looked for\n");
        return EXIT_NO;
    }
    if (rpc->no_work || !request_wants_work(rpc->req)) {
        buf_addf(out,
                 "=> nothing: %s (by the rules %zu of %zu jobs could be "
                 "taken)\n",
                 rpc->no_work ? "see the message" : "no work is asked for", n,
                 e->n);
        return EXIT_NO;
    }
    buf_addf(out, "=> %zu of %zu jobs can be taken\n", n, e->n);
    return n > 0 ? EXIT_OK : EXIT_NO;
}

/* ---- the array ---- */

bool
explain_open(struct server *s)
{
    enum segment_state state;
    char name[32];

    segment_name(s->cfg->shmem_key, s->cfg->project_root, name);
    s->segment = segment_look(name, &state);
    if (s->segment == NULL)
        log_critical("no job array: %s", segment_state_text(state));
    else if (state != SEGMENT_OK)
        log_warning("the job array is old: %s", segment_state_text(state));
    if (s->db == NULL)
        s->db = db_open(s->cfg, DB_ACCOUNT_SCHEDULER);
    sitefiles_refresh(&s->files, s->cfg);
    if (!rule_files_refresh(&s->rule_files, s->cfg->project_root))
        log_warning("a file of rules cannot be read: no work is sent");
    return s->segment != NULL && s->db != NULL &&
           segment_catalog(s->segment) != NULL &&
           segment_jobarray(s->segment) != NULL;
}

/* malloc'ed. */
static struct jobarray *
private_array(const struct server *s, const struct explain_workunit *wu)
{
    const struct jobarray *shared = segment_jobarray(s->segment);
    size_t n = wu != NULL ? 1 : jobarray_n_slots(shared);
    void *where = aligned_alloc(64, jobarray_size(n, 0));
    struct jobarray *array = where;

    if (where == NULL)
        return NULL;
    if (wu == NULL)
        return jobarray_copy_ready(shared, where);
    jobarray_init(where, n, 0);
    jobarray_fill(array, jobarray_slot(array, 0), &wu->job, 0);
    return array;
}

int
explain_find_workunit(struct server *s, int64_t id,
                      struct explain_workunit *ret, struct buf *out)
{
    const struct jobarray *array = segment_jobarray(s->segment);
    bool in_array = false;
    int rc = db_explain_workunit(s->db, id, ret);

    if (rc == DB_NONE)
        buf_addf(out, "there is no workunit %" PRId64 "\n", id);
    if (rc != 0)
        return rc;
    ret->job.need_reliable = s->cfg->reliable_on_priority != 0 &&
                             ret->job.priority >= s->cfg->reliable_on_priority;
    for (size_t i = 0; i < jobarray_n_slots(array) && !in_array; i++)
        in_array =
            atomic_load(
                &jobarray_slot(segment_jobarray(s->segment), i)->wu_id) == id;
    buf_addf(out,
             "workunit %" PRId64 " (%s) of %s: results %d: unsent %d, in "
             "progress %d, over %d; %s the job array\n",
             id, ret->name, ret->app_name, ret->n_results, ret->n_unsent,
             ret->n_in_progress, ret->n_over, in_array ? "in" : "not in");
    if (ret->error_mask != 0 || ret->canonical_resultid != 0)
        buf_add(out, "  it is decided: no result of it is sent any more\n");
    if (ret->n_unsent == 0)
        buf_add(out, "  it has no unsent result: nothing to be sent now\n");
    if (ret->transitioner_flags != 0)
        buf_add(out, "  transitioner_flags keep it from being sent\n");
    if (ret->app_deprecated)
        buf_add(out, "  its application is deprecated\n");
    return 0;
}

/* ---- a request ---- */

/* Whatever happens, nothing is kept. */
static int
run_and_roll_back(struct db *db, void *rpc)
{
    int rc = steps_run(db, rpc);

    return rc == 0 ? 1 : rc;
}

static enum exit_status
explain_parsed(struct server *s, struct sched_request *req,
               const struct explain_workunit *wu, bool with_reply,
               struct buf *out)
{
    struct explain e = {.wu = wu};
    struct rpc rpc = {
        .cfg = s->cfg,
        .req = req,
        .peer = "",
        .now = clock_now(),
        .db = s->db,
        .segment = s->segment,
        .jobs = private_array(s, wu),
        .catalog = segment_catalog(s->segment),
        .files = &s->files,
        .outdoc = &s->outdoc,
        .rule_files = &s->rule_files,
        .explain = &e,
        .draw = (double)random_u31() / 2147483648.0,
    };
    enum exit_status status = EXIT_TEMPFAIL;

    /* a saved request is not the newest one */
    req->rpc_seqno = LAST_SEQNO;
    if (rpc.jobs != NULL &&
        db_transaction(s->db, run_and_roll_back, &rpc) >= 0) {
        add_host(&rpc, out);
        add_verdicts(&rpc, out);
        add_walk(&rpc, out);
        status = conclude(&rpc, out);
        if (with_reply) {
            buf_add(out, "\nthe reply:\n");
            steps_write_reply(&rpc, out);
        }
    }
    free(rpc.claims.claim);
    free(rpc.jobs);
    forget_verdicts(&e);
    steps_reset(&rpc);
    return status;
}

enum exit_status
explain_request(struct server *s, const void *bytes, size_t n, int64_t workunit,
                bool with_reply, struct buf *out)
{
    enum exit_status status = EXIT_TEMPFAIL;
    struct sched_request *req = NULL;
    struct buf err = BUF_INIT;
    struct explain_workunit wu;
    int rc = 0;

    if (request_parse(bytes, n, &req, &err) != 0) {
        buf_addf(out, "%s\n", buf_str(&err));
        status = EXIT_NO;
    } else if (s->segment != NULL || explain_open(s)) {
        if (workunit != 0)
            rc = explain_find_workunit(s, workunit, &wu, out);
        if (rc == 0)
            status = explain_parsed(s, req, workunit != 0 ? &wu : NULL,
                                    with_reply, out);
        else if (rc == DB_NONE)
            status = EXIT_NO;
    }
    request_free(req);
    buf_free(&err);
    return status;
}
