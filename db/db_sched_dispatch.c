/* db_sched_dispatch.c - may these results be sent, and send them.
 *
 * A claim in the job array is a hint.  What is sent is decided here, with the
 * workunits' rows locked: two hosts of one user that race for two results of
 * one workunit queue at its row, and the second sees what the first one got. */
#include "db_sched.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_many.h"
#include "db_sched_list.h"
#include "log.h"

enum {
    CHUNK = 64,         /* candidates in one statement */
    LOOKUP_CHUNK = 256, /* workunits in one look-up */
};

static int
by_result_id(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    return db_list_by_id(&x->result_id, &y->result_id);
}

void
candidate_free(struct candidate *c)
{
    if (c->wu != NULL)
        free(c->wu->xml_doc);
    free(c->wu);
    if (c->result != NULL)
        free(c->result->xml_doc_in);
    free(c->result);
    c->wu = NULL;
    c->result = NULL;
}

/* ---- workunits and results ---- */

/* Of rows w and r of workunit and result. */
#define WORKUNIT_COLUMNS                                                       \
    "w.id, w.appid, w.name, w.xml_doc, w.batch, w.rsc_fpops_est, "             \
    "w.rsc_fpops_bound, w.rsc_memory_bound, w.rsc_disk_bound, "                \
    "w.canonical_resultid, w.delay_bound, w.error_mask, w.hr_class, "          \
    "w.priority, w.app_version_id, w.app_version_num, w.keywords, "            \
    "w.rsc_bandwidth_bound, w.size_class, w.min_quorum, w.target_nresults, "   \
    "w.transition_time"
#define RESULT_COLUMNS                                                         \
    "r.id, r.workunitid, r.name, r.xml_doc_in, r.random, r.priority, "         \
    "r.appid, r.sent_time, r.report_deadline"
enum { N_WORKUNIT_COLUMNS = 22 };

static struct workunit *
read_workunit(struct db_query *q)
{
    struct workunit *wu = xcalloc(1, sizeof(*wu));

    wu->id = db_col_i64(q, 0);
    wu->appid = db_col_i64(q, 1);
    db_col_copy(q, 2, wu->name, sizeof(wu->name));
    wu->xml_doc = db_col_dup(q, 3);
    wu->batch = db_col_i64(q, 4);
    wu->rsc_fpops_est = db_col_double(q, 5);
    wu->rsc_fpops_bound = db_col_double(q, 6);
    wu->rsc_memory_bound = db_col_double(q, 7);
    wu->rsc_disk_bound = db_col_double(q, 8);
    wu->canonical_resultid = db_col_i64(q, 9);
    wu->delay_bound = db_col_i64(q, 10);
    wu->error_mask = (unsigned)db_col_i64(q, 11);
    wu->hr_class = (int)db_col_i64(q, 12);
    wu->priority = (int)db_col_i64(q, 13);
    wu->app_version_id = db_col_i64(q, 14);
    wu->app_version_num = (int)db_col_i64(q, 15);
    db_col_copy(q, 16, wu->keywords, sizeof(wu->keywords));
    wu->rsc_bandwidth_bound = db_col_double(q, 17);
    wu->size_class = (int)db_col_i64(q, 18);
    wu->min_quorum = (int)db_col_i64(q, 19);
    wu->target_nresults = (int)db_col_i64(q, 20);
    wu->transition_time = db_col_i64(q, 21);
    return wu;
}

static struct result *
read_result(struct db_query *q)
{
    struct result *r = xcalloc(1, sizeof(*r));
    unsigned first = N_WORKUNIT_COLUMNS;

    r->id = db_col_i64(q, first);
    r->workunitid = db_col_i64(q, first + 1);
    db_col_copy(q, first + 2, r->name, sizeof(r->name));
    r->xml_doc_in = db_col_dup(q, first + 3);
    r->random = db_col_i64(q, first + 4);
    r->priority = (int)db_col_i64(q, first + 5);
    r->appid = db_col_i64(q, first + 6);
    r->sent_time = db_col_i64(q, first + 7);
    r->report_deadline = db_col_i64(q, first + 8);
    return r;
}

static struct candidate *
candidate_of(struct candidate *c, size_t n, int64_t result_id)
{
    struct candidate key = {.result_id = result_id};

    return bsearch(&key, c, n, sizeof(*c), by_result_id);
}

/* "… FROM workunit w, result r" that are still to be sent: the workunits first,
 * for their rows are the keys to their results. */
static void
add_unsent(struct buf *sql, size_t n, const struct send_to *to)
{
    buf_add(sql, " FROM workunit w STRAIGHT_JOIN result r FORCE INDEX (PRIMARY)"
                 " ON r.workunitid = w.id WHERE");
    db_list_in(sql, "w.id", n);
    buf_add(sql, " AND");
    db_list_in(sql, "r.id", n);
    buf_addf(sql, " AND r.server_state = ?%s",
             to->resend ? " AND r.hostid = ?" : "");
}

static int
bind_unsent(struct db_query *q, const struct candidate *c, size_t n,
            const struct send_to *to)
{
    unsigned i = 0;

    if (db_list_bind(q, &i, &c->wu_id, sizeof(*c), n) != 0 ||
        db_list_bind(q, &i, &c->result_id, sizeof(*c), n) != 0 ||
        db_bind_i64(q, i++, to->resend ? RESULT_IN_PROGRESS : RESULT_UNSENT) !=
            0)
        return -1;
    return to->resend ? db_bind_i64(q, i, to->hostid) : 0;
}

/* Each candidate gets a workunit of its own, even if two are of the same. */
static int
lock_rows(struct db *db, struct candidate *c, size_t n,
          const struct send_to *to)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    buf_add(&sql, "SELECT " WORKUNIT_COLUMNS ", " RESULT_COLUMNS);
    add_unsent(&sql, n, to);
    buf_add(&sql, " ORDER BY w.id FOR UPDATE");
    if (db_has_skip_locked(db))
        buf_add(&sql, " SKIP LOCKED");
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL && bind_unsent(q, c, n, to) == 0)
        while ((rc = db_step(q)) == 0) {
            struct candidate *found =
                candidate_of(c, n, db_col_i64(q, N_WORKUNIT_COLUMNS));

            if (found == NULL || found->wu != NULL)
                continue;
            found->wu = read_workunit(q);
            found->result = read_result(q);
        }
    db_finish(q);
    buf_free(&sql);
    return rc == DB_NONE ? 0 : -1;
}

/* ---- one result per user, per host ---- */

/* Mark the candidates whose workunit has a result of the user (host). */
static int
mark_taken(struct db *db, struct candidate *c, size_t n,
           const struct send_to *to, bool by_host)
{
    int64_t wu[CHUNK] = {0}, taken[CHUNK];
    struct send_to asked = *to;
    size_t n_taken;

    asked.one_per_host = by_host;
    for (size_t i = 0; i < n; i++)
        wu[i] = c[i].wu_id;
    if (db_sched_workunits_of(db, wu, n, &asked, taken, &n_taken) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (c[i].state == CANDIDATE_OK &&
            bsearch(&c[i].wu_id, taken, n_taken, sizeof(*taken),
                    db_list_by_id) != NULL)
            c[i].state = by_host ? CANDIDATE_HOST_HAS : CANDIDATE_USER_HAS;
    return 0;
}

static int
workunits_of_chunk(struct db *db, const int64_t *wu_ids, size_t n,
                   const struct send_to *to, int64_t *ret, size_t *ret_n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 0;
    int rc = -1;

    buf_add(&sql, "SELECT DISTINCT workunitid FROM result WHERE");
    db_list_in(&sql, "workunitid", n);
    buf_add(&sql, to->one_per_host ? " AND hostid = ?" : " AND userid = ?");
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL && db_list_bind(q, &i, wu_ids, sizeof(*wu_ids), n) == 0 &&
        db_bind_i64(q, i, to->one_per_host ? to->hostid : to->userid) == 0)
        while ((rc = db_step(q)) == 0)
            ret[(*ret_n)++] = db_col_i64(q, 0);
    db_finish(q);
    buf_free(&sql);
    return rc == DB_NONE ? 0 : -1;
}

int
db_sched_workunits_of(struct db *db, const int64_t *wu_ids, size_t n,
                      const struct send_to *to, int64_t *ret, size_t *ret_n)
{
    size_t n_unique = 0;
    int64_t *ids = xmalloc((n > 0 ? n : 1) * sizeof(*ids));
    int rc = 0;

    *ret_n = 0;
    for (size_t i = 0; i < n; i++)
        ids[i] = wu_ids[i];
    qsort(ids, n, sizeof(*ids), db_list_by_id);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || ids[i] != ids[i - 1])
            ids[n_unique++] = ids[i];
    for (size_t at = 0; rc == 0 && at < n_unique;) {
        size_t chunk = db_list_chunk(n_unique - at, LOOKUP_CHUNK);

        rc = workunits_of_chunk(db, ids + at, chunk, to, ret, ret_n);
        at += chunk;
    }
    free(ids);
    qsort(ret, *ret_n, sizeof(*ret), db_list_by_id);
    return rc;
}

/* ---- may they be sent? ---- */

static void
judge(struct candidate *c)
{
    if (c->wu == NULL || c->result == NULL ||
        c->result->workunitid != c->wu_id || c->wu->error_mask != 0 ||
        c->wu->canonical_resultid != 0)
        c->state = CANDIDATE_NOT_NEEDED;
    else if (c->hr_class != 0 && c->wu->hr_class != 0 &&
             c->wu->hr_class != c->hr_class)
        c->state = CANDIDATE_OTHER_CLASS;
    else if (c->one_version && c->wu->app_version_id != 0 &&
             c->wu->app_version_id != c->app_version_id)
        c->state = CANDIDATE_OTHER_VERSION;
}

/* What was passed over although it is still to be sent is locked by another. */
static int
find_busy(struct db *db, struct candidate *c, size_t n,
          const struct send_to *to)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    buf_add(&sql, "SELECT r.id");
    add_unsent(&sql, n, to);
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL && bind_unsent(q, c, n, to) == 0)
        while ((rc = db_step(q)) == 0) {
            struct candidate *found = candidate_of(c, n, db_col_i64(q, 0));

            if (found != NULL && found->wu == NULL)
                found->state = CANDIDATE_BUSY;
        }
    db_finish(q);
    buf_free(&sql);
    return rc == DB_NONE ? 0 : -1;
}

static bool
all_workunits_found(const struct candidate *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c[i].wu == NULL)
            return false;
    return true;
}

static int
lock_chunk(struct db *db, struct candidate *c, size_t n,
           const struct send_to *to)
{
    if (lock_rows(db, c, n, to) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        judge(&c[i]);
    if (!all_workunits_found(c, n) && find_busy(db, c, n, to) != 0)
        return -1;
    if (to->resend)
        return 0;
    if (to->one_per_user && mark_taken(db, c, n, to, false) != 0)
        return -1;
    if (!to->one_per_user && to->one_per_host &&
        mark_taken(db, c, n, to, true) != 0)
        return -1;
    return 0;
}

int
db_sched_lock_candidates(struct db *db, struct candidate *c, size_t n,
                         const struct send_to *to)
{
    qsort(c, n, sizeof(*c), by_result_id);
    for (size_t i = 0; i < n; i++) {
        candidate_free(&c[i]);
        c[i].state = CANDIDATE_OK;
    }
    for (size_t at = 0; at < n;) {
        size_t chunk = db_list_chunk(n - at, CHUNK);

        if (lock_chunk(db, c + at, chunk, to) != 0)
            return -1;
        at += chunk;
    }
    return 0;
}

/* ---- send ---- */

/* The candidates that are OK, at most CHUNK from *at on. */
static size_t
take_ok(const struct candidate *c, size_t n, size_t *at,
        struct candidate ret[CHUNK])
{
    size_t k = 0;

    for (; *at < n && k < CHUNK; (*at)++)
        if (c[*at].state == CANDIDATE_OK)
            ret[k++] = c[*at];
    return k;
}

static void
send_statement(struct buf *sql, size_t n, const struct send_to *to)
{
    buf_add(sql, "UPDATE result SET");
    db_list_case(sql, "report_deadline", n);
    buf_add(sql, ",");
    db_list_case(sql, "app_version_id", n);
    buf_add(sql, ",");
    db_list_case(sql, "flops_estimate", n);
    buf_add(sql, ", server_state = ?, hostid = ?, userid = ?, sent_time = ?"
                 " WHERE");
    db_list_in(sql, "id", n);
    buf_addf(sql, " AND server_state = ?%s ORDER BY id",
             to->resend ? " AND hostid = ?" : "");
}

static int
bind_send(struct db_query *q, const struct candidate *c, size_t n,
          const struct send_to *to)
{
    const int64_t set[] = {RESULT_IN_PROGRESS, to->hostid, to->userid, to->now};
    size_t size = db_padded(n);
    unsigned i = 0;

    for (int column = 0; column < 3; column++)
        for (size_t k = 0; k < size; k++) {
            const struct candidate *row = &c[db_list_row(k, n)];
            int rc = db_bind_i64(q, i++, row->result_id);

            if (rc == 0 && column == 0)
                rc = db_bind_i64(q, i++, row->deadline);
            else if (rc == 0 && column == 1)
                rc = db_bind_i64(q, i++, row->app_version_id);
            else if (rc == 0)
                rc = db_bind_double(q, i++, row->flops_estimate);
            if (rc != 0)
                return -1;
        }
    for (size_t k = 0; k < ARRAY_LEN(set); k++)
        if (db_bind_i64(q, i++, set[k]) != 0)
            return -1;
    if (db_list_bind(q, &i, &c->result_id, sizeof(*c), n) != 0 ||
        db_bind_i64(q, i++, to->resend ? RESULT_IN_PROGRESS : RESULT_UNSENT) !=
            0)
        return -1;
    return to->resend ? db_bind_i64(q, i, to->hostid) : 0;
}

static int
send_results(struct db *db, const struct candidate *c, size_t n,
             const struct send_to *to)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    send_statement(&sql, n, to);
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL && bind_send(q, c, n, to) == 0)
        rc = db_step(q);
    if (rc == 0 && db_affected(q) != (int64_t)n) {
        log_critical(TAG_HOST "%" PRId64 " of %zu results could be sent though"
                              " all were locked",
                     to->hostid, db_affected(q), n);
        rc = -1;
    }
    db_finish(q);
    buf_free(&sql);
    return rc;
}

/* The transitioner must look when the first deadline passes.  Most workunits of
 * which a result has been sent before are looked at earlier anyway. */
static int
limit_transition_times(struct db *db, const struct candidate *all, size_t n_all)
{
    struct candidate c[CHUNK];
    size_t n = 0;
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 0;
    int rc;

    for (size_t k = 0; k < n_all; k++)
        if (all[k].wu->transition_time > all[k].deadline)
            c[n++] = all[k];
    if (n == 0)
        return 0;
    buf_add(&sql, "UPDATE workunit SET transition_time ="
                  " LEAST(transition_time, CASE id");
    for (size_t k = 0; k < db_padded(n); k++)
        buf_add(&sql, " WHEN ? THEN ?");
    buf_add(&sql, " END) WHERE");
    db_list_in(&sql, "id", n);
    buf_add(&sql, " ORDER BY id");
    q = db_prepare(db, buf_str(&sql));
    rc = q == NULL ? -1 : 0;
    for (size_t k = 0; rc == 0 && k < db_padded(n); k++) {
        rc = db_bind_i64(q, i++, c[db_list_row(k, n)].wu_id);
        if (rc == 0)
            rc = db_bind_i64(q, i++, c[db_list_row(k, n)].deadline);
    }
    if (rc == 0)
        rc = db_list_bind(q, &i, &c->wu_id, sizeof(*c), n);
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    buf_free(&sql);
    return rc;
}

/* ---- what a workunit is committed to ---- */

/* The candidates that commit their workunit, one of each: from nothing to this
 * class (or version). */
static size_t
take_committing(const struct candidate *c, size_t n, bool version,
                struct candidate ret[CHUNK])
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        bool commits = version
                           ? c[i].one_version && c[i].wu->app_version_id == 0
                           : c[i].hr_class != 0 && c[i].wu->hr_class == 0;

        for (size_t j = 0; commits && j < k; j++)
            commits = ret[j].wu_id != c[i].wu_id;
        if (commits)
            ret[k++] = c[i];
    }
    return k;
}

/* Guarded by the old value: who comes second changes nothing, and says so. */
static int
commit_column(struct db *db, const struct candidate *c, size_t n, bool version)
{
    const char *column = version ? "app_version_id" : "hr_class";
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 0;
    int rc;

    buf_add(&sql, "UPDATE workunit SET");
    db_list_case(&sql, column, n);
    buf_add(&sql, " WHERE");
    db_list_in(&sql, "id", n);
    buf_addf(&sql, " AND %s = 0 ORDER BY id", column);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    rc = q == NULL ? -1 : 0;
    for (size_t k = 0; rc == 0 && k < db_padded(n); k++) {
        const struct candidate *row = &c[db_list_row(k, n)];

        rc = db_bind_i64(q, i++, row->wu_id);
        if (rc == 0)
            rc = db_bind_i64(q, i++,
                             version ? row->app_version_id : row->hr_class);
    }
    if (rc == 0)
        rc = db_list_bind(q, &i, &c->wu_id, sizeof(*c), n);
    if (rc == 0)
        rc = db_step(q);
    if (rc == 0 && db_affected(q) != (int64_t)n) {
        log_critical("%s of %" PRId64 " workunits instead of %zu could be set "
                     "though all were locked",
                     column, db_affected(q), n);
        rc = -1;
    }
    db_finish(q);
    return rc;
}

static int
commit_workunits(struct db *db, const struct candidate *c, size_t n)
{
    struct candidate some[CHUNK];
    size_t k = take_committing(c, n, false, some);

    if (k > 0 && commit_column(db, some, k, false) != 0)
        return -1;
    k = take_committing(c, n, true, some);
    return k > 0 ? commit_column(db, some, k, true) : 0;
}

/* ---- adaptive replication ---- */

/* "column = GREATEST(column, CASE id WHEN ? THEN ? … END)". */
static void
raise_column(struct buf *sql, const char *column, size_t n)
{
    buf_addf(sql, " %s = GREATEST(%s, CASE id", column, column);
    for (size_t k = 0; k < db_padded(n); k++)
        buf_add(sql, " WHEN ? THEN ?");
    buf_add(sql, " END)");
}

static int
bind_raise(struct db_query *q, unsigned *i, const struct candidate *c, size_t n)
{
    for (size_t k = 0; k < db_padded(n); k++)
        if (db_bind_i64(q, (*i)++, c[db_list_row(k, n)].wu_id) != 0 ||
            db_bind_i64(q, (*i)++, c[db_list_row(k, n)].replicate_to) != 0)
            return -1;
    return 0;
}

/* The host is not trusted: others must confirm its result. */
static int
replicate(struct db *db, const struct candidate *c, size_t n,
          const struct send_to *to)
{
    struct candidate some[CHUNK] = {0};
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 0;
    size_t k = 0;
    int rc = -1;

    for (size_t j = 0; j < n; j++)
        if (c[j].replicate_to > 0)
            some[k++] = c[j];
    if (k == 0)
        return 0;
    buf_add(&sql, "UPDATE workunit SET");
    raise_column(&sql, "target_nresults", k);
    buf_add(&sql, ",");
    raise_column(&sql, "min_quorum", k);
    buf_add(&sql, ", transition_time = LEAST(transition_time, ?) WHERE");
    db_list_in(&sql, "id", k);
    buf_add(&sql, " ORDER BY id");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q != NULL && bind_raise(q, &i, some, k) == 0 &&
        bind_raise(q, &i, some, k) == 0 && db_bind_i64(q, i++, to->now) == 0 &&
        db_list_bind(q, &i, &some->wu_id, sizeof(*some), k) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

int
db_sched_send(struct db *db, const struct candidate *c, size_t n,
              const struct send_to *to)
{
    struct candidate ok[CHUNK];
    size_t at = 0, k;

    while ((k = take_ok(c, n, &at, ok)) > 0)
        if (commit_workunits(db, ok, k) != 0 ||
            limit_transition_times(db, ok, k) != 0 ||
            replicate(db, ok, k, to) != 0 || send_results(db, ok, k, to) != 0)
            return -1;
    return 0;
}

/* ---- lost for good ---- */

static int
expire_results(struct db *db, const struct candidate *c, size_t n,
               const struct send_to *to)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 2;
    int rc = -1;

    buf_add(&sql, "UPDATE result SET server_state = ?, outcome = ? WHERE");
    db_list_in(&sql, "id", n);
    buf_add(&sql, " AND server_state = ? AND hostid = ? ORDER BY id");
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL && db_bind_i64(q, 0, RESULT_OVER) == 0 &&
        db_bind_i64(q, 1, OUTCOME_NO_REPLY) == 0 &&
        db_list_bind(q, &i, &c->result_id, sizeof(*c), n) == 0 &&
        db_bind_i64(q, i, RESULT_IN_PROGRESS) == 0 &&
        db_bind_i64(q, i + 1, to->hostid) == 0)
        rc = db_step(q);
    db_finish(q);
    buf_free(&sql);
    return rc;
}

int
db_sched_expire(struct db *db, const struct candidate *c, size_t n,
                const struct send_to *to)
{
    struct candidate ok[CHUNK];
    int64_t wu[CHUNK];

    for (size_t at = 0; at < n;) {
        size_t k = db_list_chunk(n - at, CHUNK);

        for (size_t i = 0; i < k; i++) {
            ok[i] = c[at + i];
            wu[i] = ok[i].wu_id;
        }
        if (db_sched_touch_workunits(db, wu, k, to->now) != 0 ||
            expire_results(db, ok, k, to) != 0)
            return -1;
        at += k;
    }
    return 0;
}

/* ---- upload handler ---- */

int
db_sched_upload_document(struct db *db, const char *result_name,
                         char **ret_xml_doc_in)
{
    struct db_query *q = db_prepare(
        db, "SELECT name, xml_doc_in FROM result WHERE name = ? AND"
            " received_time = 0 AND (server_state = ? OR server_state = ?"
            " AND outcome = ?)");
    int rc = -1;

    *ret_xml_doc_in = NULL;
    if (q != NULL && db_bind_text(q, 0, result_name) == 0 &&
        db_bind_i64(q, 1, RESULT_IN_PROGRESS) == 0 &&
        db_bind_i64(q, 2, RESULT_OVER) == 0 &&
        db_bind_i64(q, 3, OUTCOME_NO_REPLY) == 0)
        rc = db_step(q);
    if (rc == 0 && strcmp(db_col_text(q, 0), result_name) != 0)
        rc = DB_NONE; /* names are compared without case by the database */
    if (rc == 0)
        *ret_xml_doc_in = db_col_dup(q, 1);
    db_finish(q);
    return rc;
}
