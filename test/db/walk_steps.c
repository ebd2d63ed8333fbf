/* walk_steps.c - the steps of the walk on a database. */
#include "walk_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "buf.h"
#include "db.h"
#include "db_archive.h"
#include "db_audit.h"
#include "db_cleanup.h"
#include "db_feed.h"
#include "db_jobs.h"
#include "db_sched.h"
#include "digest.h"
#include "log.h"
#include "walk_rows.h"

enum { LIMIT = 100, QUOTA = 10, CREDIT = 10, PAGE = 32, REPLICATED = 3 };

/* ---- schedulers -----------------------------------------------------------
 */

static int
send(struct db *db, const struct walk_order *o, bool resend)
{
    struct candidate c = {
        .result_id = o->result,
        .wu_id = o->wu,
        .app_version_id = 3,
        .flops_estimate = 1e9,
        .deadline = o->now + o->amount,
        .replicate_to = o->event == WALK_SEND_UNTRUSTED ? REPLICATED : 0,
    };
    const struct send_to to = {
        .userid = o->host,
        .hostid = o->host,
        .resend = resend,
        .now = o->now,
    };
    int rc = db_sched_lock_candidates(db, &c, 1, &to);

    if (rc == 0 && c.state == CANDIDATE_OK)
        rc = o->event == WALK_EXPIRE ? db_sched_expire(db, &c, 1, &to)
                                     : db_sched_send(db, &c, 1, &to);
    candidate_free(&c);
    return rc;
}

static int
report(struct db *db, const struct walk_order *o, const struct host *host)
{
    bool good = o->event != WALK_FAILED && o->event != WALK_USER_ABORT;
    const struct user user = {.id = o->host, .teamid = 1};
    char output[32];
    int64_t wu = o->wu;
    size_t stored;
    struct result_report r = {
        .id = o->result,
        .outcome = good ? OUTCOME_SUCCESS : OUTCOME_CLIENT_ERROR,
        .validate_state = good ? VALIDATE_INIT : VALIDATE_INVALID,
        .client_state = good ? CLIENT_FILES_UPLOADED : CLIENT_COMPUTE_ERROR,
        .exit_status = good                          ? 0
                       : o->event == WALK_USER_ABORT ? EXIT_ABORTED_VIA_GUI
                                                     : 1,
        .app_version_num = 100,
        .cpu_time = 100,
        .elapsed_time = 100,
        .stderr_out = output,
        .xml_doc_out = "",
    };

    rows_write_output(output, sizeof(output), o->read, o->answer);
    if (db_sched_touch_workunits(db, &wu, 1, o->now) != 0)
        return -1;
    return db_sched_store_reports(db, &r, 1, host, &user, o->now, &stored);
}

/* An RPC: its host's row is locked first. */
static int
rpc(struct db *db, void *arg)
{
    const struct walk_order *o = arg;
    struct host host;
    int rc = db_sched_lock_host(db, o->host, &host);

    if (rc != 0)
        return rc;
    switch (o->event) {
    case WALK_SEND:
    case WALK_SEND_UNTRUSTED:
        return send(db, o, false);
    case WALK_RESEND:
    case WALK_EXPIRE:
        return send(db, o, true);
    case WALK_DETACH:
        return db_sched_detach(db, o->host, o->now);
    default:
        return report(db, o, &host);
    }
}

/* ---- operators ------------------------------------------------------------
 */

static int
change(struct db *db, const char *sql, int64_t a, int64_t b)
{
    struct db_query *q = db_prepare(db, sql);
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, a) == 0 && db_bind_i64(q, 1, b) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

static int
do_job(struct db *db, const struct walk_order *o)
{
    const struct job_selection which = {.min_id = o->wu, .max_id = o->wu};
    struct audit_line audit = {.time = o->now,
                               .actor = "walk",
                               .action = "walk",
                               .object = "",
                               .detail = ""};
    struct job_work w = {
        .action = o->event == WALK_CANCEL ? JOBS_CANCEL : JOBS_PRIORITY,
        .which = &which,
        .priority = (int)o->amount,
        .audit = &audit,
    };

    return db_jobs_piece(db, &w, o->now);
}

static int
set_output(struct db *db, const struct walk_order *o)
{
    struct db_query *q = db_prepare(
        db, "UPDATE result SET stderr_out = ? WHERE id = ? AND outcome = 1");
    char output[32];
    int rc = -1;

    rows_write_output(output, sizeof(output), o->read, o->answer);
    if (q != NULL && db_bind_text(q, 0, output) == 0 &&
        db_bind_i64(q, 1, o->result) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

static int
operate(struct db *db, void *arg)
{
    const struct walk_order *o = arg;

    switch (o->event) {
    case WALK_EXTEND:
        return change(db,
                      "UPDATE result SET report_deadline = report_deadline + "
                      "? WHERE id = ? AND server_state = 4",
                      o->amount, o->result);
    case WALK_ACTIVATE:
        return change(db,
                      "UPDATE result SET server_state = ? WHERE id = ? AND "
                      "server_state = 1",
                      RESULT_UNSENT, o->result);
    default:
        return set_output(db, o);
    }
}

int
steps_obey(struct db *db, const struct walk_order *given)
{
    struct walk_order o = *given;
    int rc;

    switch (o.event) {
    case WALK_CANCEL:
    case WALK_PRIORITY:
        rc = do_job(db, &o);
        break;
    case WALK_EXTEND:
    case WALK_ACTIVATE:
    case WALK_DISK_LOST:
    case WALK_DISK_BACK:
        rc = db_transaction(db, operate, &o);
        break;
    default:
        rc = db_transaction(db, rpc, &o);
    }
    return rc < 0 ? -1 : 0;
}

/* ---- transitioner ---------------------------------------------------------
 */

static void
add_new_results(struct transition_batch *b, size_t i)
{
    for (int k = 0; k < b->todo[i].new_results; k++) {
        struct new_result *r = transition_batch_add(b, i);
        struct buf doc = BUF_INIT;

        snprintf(r->name, sizeof(r->name), "%.200s_%d", b->wu[i].wu.name,
                 b->todo[i].first_suffix + k);
        r->random = random_u31();
        buf_addf(&doc,
                 "<file_info><name>%s_r%" PRId64 "_0</name><generated_locally/>"
                 "<upload_when_present/><max_nbytes>1000</max_nbytes>"
                 "</file_info><result><file_ref><file_name>%s_r%" PRId64
                 "_0</file_name><open_name>out</open_name></file_ref></result>",
                 r->name, r->random, r->name, r->random);
        r->xml_doc_in = buf_take(&doc);
    }
}

struct pass {
    struct steps *s;
    int64_t now;
};

static int
transition(struct db *db, void *arg)
{
    struct pass *p = arg;
    struct transition_batch *b = &p->s->transition;
    const struct due_query want = {.now = p->now, .limit = LIMIT};

    if (db_transition_due(db, &want, b) != 0)
        return -1;
    for (size_t i = 0; i < b->n; i++) {
        size_t first = b->wu[i].first;

        transition_decide(
            &b->wu[i].wu, b->wu[i].n > 0 ? &b->result[first] : NULL, b->wu[i].n,
            &p->s->cfg, p->now, b->wu[i].n > 0 ? &b->change[first] : NULL,
            &b->todo[i]);
        add_new_results(b, i);
    }
    return db_transition_apply(db, b, p->now, QUOTA);
}

/* ---- validator ------------------------------------------------------------
 */

/* The rows of a batch as the struct that life_compare() judges. */
static void
life_of(const struct validate_batch *b, size_t i, struct life *l)
{
    const struct validate_wu *w = &b->wu[i];

    *l = (struct life){.wu = w->wu, .n = w->n < LIFE_MAX ? w->n : LIFE_MAX};
    for (size_t k = 0; k < l->n; k++) {
        const struct result *r = &b->result[w->first + k];

        l->r[k].row.id = r->id;
        l->r[k].row.server_state = RESULT_OVER;
        l->r[k].row.outcome = OUTCOME_SUCCESS;
        l->r[k].row.validate_state = r->validate_state;
        l->r[k].row.file_delete_state = r->file_delete_state;
        rows_read_output(r->stderr_out != NULL ? r->stderr_out : "",
                         &l->r[k].read, &l->r[k].answer);
    }
}

static void
fill_change(struct validate_change *c, const struct result *r,
            enum quorum_status to, bool too_late, double credit)
{
    c->outcome =
        to == QUORUM_VALIDATE_ERROR ? OUTCOME_VALIDATE_ERROR : OUTCOME_SUCCESS;
    switch (to) {
    case QUORUM_KEEP:
        c->validate_state = r->validate_state;
        break;
    case QUORUM_VALID:
        c->validate_state = VALIDATE_VALID;
        c->credit = credit;
        break;
    case QUORUM_INCONCLUSIVE:
        c->validate_state = VALIDATE_INCONCLUSIVE;
        break;
    case QUORUM_INVALID:
    case QUORUM_VALIDATE_ERROR:
        c->validate_state = VALIDATE_INVALID;
        break;
    }
    if (too_late)
        c->validate_state = VALIDATE_TOO_LATE;
    c->write = c->validate_state != r->validate_state;
}

/* Late results get what the canonical one got. */
static double
credit_of(const struct validate_batch *b, size_t i)
{
    const struct validate_wu *w = &b->wu[i];

    for (size_t k = w->first; k < w->first + w->n; k++)
        if (b->result[k].id == w->wu.canonical_resultid)
            return b->result[k].granted_credit;
    return CREDIT;
}

static void
decide(struct validate_batch *b, size_t i, int app_target)
{
    const struct validate_wu *w = &b->wu[i];
    struct life_verdict v;
    struct life l;

    life_of(b, i, &l);
    life_compare(&l, app_target, &v);
    b->verdict[i] = (struct validate_verdict){
        .canonical_resultid = v.canonical_resultid,
        .canonical_credit =
            w->wu.canonical_resultid != 0 ? w->wu.canonical_credit : CREDIT,
        .new_errors = v.new_errors,
        .min_quorum = v.min_quorum,
        .target_nresults = v.target_nresults,
        .transition_now = v.transition_now,
        .retry = v.retry,
    };
    for (size_t k = 0; k < v.n; k++) {
        size_t at = w->first + v.viable[k].index;

        if (v.viable[k].write)
            fill_change(&b->change[at], &b->result[at], v.viable[k].to,
                        v.viable[k].too_late, credit_of(b, i));
    }
}

static int
compare(struct db *db, struct steps *s)
{
    const struct validate_query want = {.appid = 1, .limit = LIMIT};

    if (db_validate_due(db, &want, &s->compared) != 0)
        return -1;
    for (size_t i = 0; i < s->compared.n; i++)
        decide(&s->compared, i, s->app_target);
    return 0;
}

static int
store_verdicts(struct db *db, struct steps *s, int64_t now)
{
    const struct validate_terms terms = {
        .now = now,
        .daily_result_quota = QUOTA,
        .app_target_nresults = s->app_target,
    };
    int rc = db_validate_store(db, &s->compared, &terms);

    s->compared.n = 0; /* they are not stored a second time */
    return rc;
}

/* ---- assimilator, deleter, purge, feeder ----------------------------------
 */

static int
hand_over(struct db *db, struct steps *s, enum walk_event event, int64_t now)
{
    const struct assimilate_query want = {
        .appid = 1,
        .now = now,
        .limit = LIMIT,
    };

    if (db_assimilate_due(db, &want, &s->handled) != 0)
        return -1;
    for (size_t i = 0; i < s->handled.n; i++)
        s->handled.wu[i].ending =
            event == WALK_DEFER && walk_one_in(s->chance, 2) ? ENDING_DEFER
            : event == WALK_ASSIMILATE_FAILS && walk_one_in(s->chance, 2)
                ? ENDING_FAILED
                : ENDING_DONE;
    for (size_t i = 0; i < s->handled.n; i++)
        if (s->handled.wu[i].ending == ENDING_FAILED) {
            s->handled.wu[i].aside.tries++;
            s->handled.wu[i].aside.next_try = now + 60;
        }
    return 0;
}

static int
delete_some(struct db *db, struct steps *s, enum cleanup_kind kind,
            enum file_delete_state from, bool works)
{
    const struct cleanup_filter all = {.mod_n = 0};
    struct cleanup_item item[PAGE];
    int n = db_cleanup_due(db, kind, from, &all, 0, item, PAGE), rc;

    if (n <= 0)
        return n;
    for (int i = 0; i < n; i++)
        item[i].state =
            works || walk_one_in(s->chance, 2) ? FILES_DONE : FILES_ERROR;
    rc = db_cleanup_apply(db, kind, from, item, n);
    cleanup_free(item, n);
    return rc < 0 ? -1 : 0;
}

static int
delete_files(struct db *db, struct steps *s, bool works)
{
    static const enum cleanup_kind kinds[] = {CLEANUP_RESULTS,
                                              CLEANUP_WORKUNITS};

    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        if (delete_some(db, s, kinds[k], FILES_READY, works) != 0 ||
            delete_some(db, s, kinds[k], FILES_ERROR, works) != 0)
            return -1;
    return 0;
}

static int
purge(struct db *db, void *arg)
{
    const struct archive_filter all = {.not_after = TRANSITION_NEVER};
    struct archive_key from = {0, 0};
    int64_t ids[PAGE], locked[PAGE];
    int n = db_archive_candidates(db, &all, &from, ids, PAGE);

    (void)arg;
    if (n > 0)
        n = db_archive_lock(db, ids, n, locked);
    return n > 0 ? db_archive_delete(db, locked, n, false) : n;
}

static int
feed(struct db *db)
{
    struct feed_query q = {.mod_n = 0};
    struct sendable page[PAGE];
    size_t n;
    int rc;

    while ((rc = db_feed_page(db, &q, page, PAGE, &n)) == 0)
        ;
    return rc == DB_NONE ? 0 : -1;
}

int
steps_pass(struct db *db, struct steps *s, enum walk_event event, int64_t now)
{
    struct pass p = {s, now};
    int rc = 0;

    switch (event) {
    case WALK_TRANSITION:
        rc = db_transaction(db, transition, &p);
        break;
    case WALK_VALIDATE:
        rc = compare(db, s) == 0 ? store_verdicts(db, s, now) : -1;
        break;
    case WALK_COMPARE:
        rc = compare(db, s);
        break;
    case WALK_VERDICT:
        rc = store_verdicts(db, s, now);
        break;
    case WALK_ASSIMILATE:
    case WALK_DEFER:
    case WALK_ASSIMILATE_FAILS:
        /* stores what the last pass has handled: others were at work since */
        rc = db_assimilate_store(db, &s->handled, now);
        if (rc == 0)
            rc = hand_over(db, s, event, now);
        break;
    case WALK_DELETE:
    case WALK_DELETE_FAILS:
        rc = delete_files(db, s, event == WALK_DELETE);
        break;
    case WALK_PURGE:
        rc = db_transaction(db, purge, NULL);
        break;
    default:
        rc = feed(db);
    }
    return rc < 0 ? -1 : 0;
}

void
steps_free(struct steps *s)
{
    transition_batch_free(&s->transition);
    validate_batch_free(&s->compared);
    assimilate_batch_free(&s->handled);
}
