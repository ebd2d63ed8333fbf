/* db_validate_store.c - store the validator's verdicts and the credit of a
 * batch in one transaction.
 *
 * Order of locks: workunits, results, batches, users, teams, hosts, credit by
 * application, host_app_version, app_version, each by key. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "db_batch.h"
#include "db_many.h"
#include "db_validate_private.h"
#include "log.h"

enum {
    RESULTS_AT_ONCE = 512,
    RETRY_AFTER = 6 * 3600, /* s */
};

/* ---- lock, and look whether it is still what was compared -----------------
 */

static int
lock_workunits(struct db *db, struct store *s, const int64_t *ids)
{
    struct db_query *q = db_prepare_list(
        db,
        "SELECT id, canonical_resultid, error_mask, min_quorum, "
        "target_nresults, assimilate_state, transition_time FROM workunit "
        "WHERE id IN (",
        s->b->n, ") ORDER BY id FOR UPDATE");
    unsigned p = 0;
    int rc = -1;

    if (q != NULL && db_bind_list(q, &p, ids, s->b->n) == 0)
        for (size_t i = 0; (rc = db_step(q)) == 0;) {
            const struct workunit *wu;

            while (s->b->wu[i].wu.id != db_col_i64(q, 0))
                i++;
            wu = &s->b->wu[i].wu;
            s->locked[i] = (struct locked_wu){
                .good = !s->b->verdict[i].undecided &&
                        db_col_i64(q, 1) == wu->canonical_resultid &&
                        db_col_i64(q, 2) == (int64_t)wu->error_mask &&
                        db_col_i64(q, 3) == wu->min_quorum &&
                        db_col_i64(q, 4) == wu->target_nresults,
                .error_mask = wu->error_mask,
                .assimilate_state = (enum assimilate_state)db_col_i64(q, 5),
                .transition_time = db_col_i64(q, 6),
            };
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

/* The next result of wu[i] under our lock: is it the one that was read? */
static void
check_result(struct store *s, size_t i, int64_t id,
             enum validate_state validate_state)
{
    const struct validate_wu *w = &s->b->wu[i];
    struct locked_wu *l = &s->locked[i];

    if (l->seen < w->n && s->b->result[w->first + l->seen].id == id &&
        s->b->result[w->first + l->seen].validate_state == validate_state)
        l->seen++;
    else
        l->good = false;
}

static void
note_unsent(struct store *s, size_t wu, int64_t id)
{
    if (s->n_unsent == s->room_for_unsent) {
        s->room_for_unsent =
            s->room_for_unsent == 0 ? 64 : 2 * s->room_for_unsent;
        s->unsent =
            xrealloc(s->unsent, s->room_for_unsent * sizeof(*s->unsent));
    }
    s->unsent[s->n_unsent++] = (struct unsent){id, wu};
}

/* All results are locked, also those that nobody has yet: a scheduler must not
 * send one while it is withdrawn. */
static int
lock_results(struct db *db, struct store *s, const int64_t *ids)
{
    struct db_query *q = db_prepare_list(
        db,
        "SELECT workunitid, id, server_state, outcome, validate_state "
        "FROM result WHERE workunitid IN (",
        s->b->n, ") ORDER BY workunitid, id FOR UPDATE");
    unsigned p = 0;
    int rc = -1;

    if (q != NULL && db_bind_list(q, &p, ids, s->b->n) == 0)
        for (size_t i = 0; (rc = db_step(q)) == 0;) {
            while (s->b->wu[i].wu.id != db_col_i64(q, 0))
                i++;
            if (db_col_i64(q, 2) == RESULT_OVER &&
                db_col_i64(q, 3) == OUTCOME_SUCCESS &&
                db_col_i64(q, 4) != VALIDATE_INVALID)
                check_result(s, i, db_col_i64(q, 1),
                             (enum validate_state)db_col_i64(q, 4));
            if (db_col_i64(q, 2) == RESULT_INACTIVE ||
                db_col_i64(q, 2) == RESULT_UNSENT)
                note_unsent(s, i, db_col_i64(q, 1));
        }
    db_finish(q);
    for (size_t i = 0; i < s->b->n; i++)
        if (s->locked[i].seen != s->b->wu[i].n)
            s->locked[i].good = false;
    return rc == DB_NONE ? 0 : -1;
}

static int
lock_all(struct db *db, struct store *s)
{
    int64_t *ids = xcalloc(s->b->n, sizeof(*ids));
    int rc;

    memset(s->locked, 0, s->b->n * sizeof(*s->locked));
    s->n_unsent = 0;
    for (size_t i = 0; i < s->b->n; i++)
        ids[i] = s->b->wu[i].wu.id;
    rc = lock_workunits(db, s, ids);
    if (rc == 0)
        rc = lock_results(db, s, ids);
    free(ids);
    return rc;
}

/* ---- results --------------------------------------------------------------
 */

static size_t
list_judged(const struct store *s, struct judged *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < s->b->n; i++)
        for (size_t k = 0; s->locked[i].good && k < s->b->wu[i].n; k++) {
            size_t at = s->b->wu[i].first + k;

            if (s->b->change[at].write)
                ret[n++] =
                    (struct judged){i, &s->b->result[at], &s->b->change[at]};
        }
    return n;
}

static int
bind_judged(struct db_query *q, unsigned *p, const struct judged *j)
{
    return db_bind_i64(q, (*p)++, j->r->id) != 0 ||
                   db_bind_i64(q, (*p)++, j->c->outcome) != 0 ||
                   db_bind_i64(q, (*p)++, j->c->validate_state) != 0 ||
                   db_bind_double(q, (*p)++, j->c->credit) != 0 ||
                   db_bind_double(q, (*p)++, j->c->claimed_credit) != 0 ||
                   db_bind_i64(q, (*p)++, j->c->outlier) != 0 ||
                   db_bind_i64(q, (*p)++, j->r->validate_state) != 0
               ? -1
               : 0;
}

static int
store_results(struct db *db, const struct judged *judged, size_t n)
{
    static const struct db_value_column columns[] = {
        {"result",  'i'},
        {"ending",  'i'},
        {"verdict", 'i'},
        {"credit",  'd'},
        {"claim",   'd'},
        {"outlier", 'i'},
        {"was",     'i'},
    };
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    buf_add(&sql, "UPDATE (");
    db_value_table(&sql, columns, ARRAY_LEN(columns), n);
    buf_add(&sql, ") v STRAIGHT_JOIN result r ON r.id = v.result SET "
                  "r.outcome = v.ending, r.validate_state = v.verdict, "
                  "r.granted_credit = v.credit, r.claimed_credit = v.claim, "
                  "r.runtime_outlier = v.outlier "
                  "WHERE r.server_state = 5 AND r.outcome = 1 AND "
                  "r.validate_state = v.was");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (bind_judged(q, &p, &judged[i]) != 0)
            goto out;
    if (db_bind_padding(q, &p, ARRAY_LEN(columns), n) == 0)
        rc = db_step(q);
    if (rc == 0 && db_affected(q) != (int64_t)n) {
        log_warning("results changed under the validator's lock");
        rc = DB_BUSY;
    }
out:
    db_finish(q);
    return rc;
}

static int
store_all_results(struct db *db, const struct judged *judged, size_t n)
{
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i += RESULTS_AT_ONCE)
        rc = store_results(db, judged + i,
                           n - i < RESULTS_AT_ONCE ? n - i
                                                   : (size_t)RESULTS_AT_ONCE);
    return rc;
}

/* A canonical result is there now: what was never sent is not needed. */
static int
withdraw_unsent(struct db *db, const struct store *s)
{
    int64_t *ids = xcalloc(s->n_unsent + 1, sizeof(*ids));
    struct db_query *q = NULL;
    unsigned p = 0;
    size_t n = 0;
    int rc = 0;

    for (size_t k = 0; k < s->n_unsent; k++) {
        size_t i = s->unsent[k].wu;

        if (s->locked[i].good && s->b->verdict[i].canonical_resultid != 0 &&
            s->b->wu[i].wu.canonical_resultid == 0)
            ids[n++] = s->unsent[k].id;
    }
    if (n > 0) {
        q = db_prepare_list(db,
                            "UPDATE result FORCE INDEX (PRIMARY) "
                            "SET server_state = 5, outcome = 5 "
                            "WHERE server_state IN (1, 2) AND id IN (",
                            n, ")");
        rc = q != NULL && db_bind_list(q, &p, ids, n) == 0 ? db_step(q) : -1;
    }
    db_finish(q);
    free(ids);
    return rc;
}

/* ---- workunits ------------------------------------------------------------
 */

/* With a new canonical result the assimilator comes next, and asks for the
 * transition after it. */
static int64_t
next_transition(const struct store *s, size_t i)
{
    const struct validate_verdict *v = &s->b->verdict[i];
    int64_t as_it_is = s->locked[i].transition_time;

    if (v->canonical_resultid != s->b->wu[i].wu.canonical_resultid &&
        s->locked[i].assimilate_state == ASSIMILATE_INIT)
        return TRANSITION_NEVER;
    if (v->transition_now ||
        v->canonical_resultid != s->b->wu[i].wu.canonical_resultid)
        return s->terms->now;
    if (v->retry && s->terms->now + RETRY_AFTER < as_it_is)
        return s->terms->now + RETRY_AFTER;
    return as_it_is;
}

static int
bind_workunit(struct db_query *q, unsigned *p, const struct store *s, size_t i)
{
    const struct validate_verdict *v = &s->b->verdict[i];
    enum assimilate_state assimilate = s->locked[i].assimilate_state;

    if (v->canonical_resultid != s->b->wu[i].wu.canonical_resultid &&
        assimilate == ASSIMILATE_INIT)
        assimilate = ASSIMILATE_READY;
    return db_bind_i64(q, (*p)++, s->b->wu[i].wu.id) != 0 ||
                   db_bind_i64(q, (*p)++, v->canonical_resultid) != 0 ||
                   db_bind_double(q, (*p)++, v->canonical_credit) != 0 ||
                   db_bind_i64(q, (*p)++, assimilate) != 0 ||
                   db_bind_i64(q, (*p)++,
                               s->locked[i].error_mask | v->new_errors) != 0 ||
                   db_bind_i64(q, (*p)++, v->min_quorum) != 0 ||
                   db_bind_i64(q, (*p)++, v->target_nresults) != 0 ||
                   db_bind_i64(q, (*p)++, next_transition(s, i)) != 0
               ? -1
               : 0;
}

static int
store_workunits(struct db *db, const struct store *s)
{
    static const struct db_value_column columns[] = {
        {"wu",        'i'},
        {"canonical", 'i'},
        {"credit",    'd'},
        {"assim",     'i'},
        {"mask",      'i'},
        {"quorum",    'i'},
        {"target",    'i'},
        {"due",       'i'},
    };
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    size_t n = 0;
    int rc = -1;

    for (size_t i = 0; i < s->b->n; i++)
        n += s->locked[i].good;
    if (n == 0)
        return 0;
    buf_add(&sql, "UPDATE (");
    db_value_table(&sql, columns, ARRAY_LEN(columns), n);
    buf_add(&sql, ") v STRAIGHT_JOIN workunit w ON w.id = v.wu SET "
                  "w.need_validate = 0, w.canonical_resultid = v.canonical, "
                  "w.canonical_credit = v.credit, "
                  "w.assimilate_state = v.assim, w.error_mask = v.mask, "
                  "w.min_quorum = v.quorum, w.target_nresults = v.target, "
                  "w.transition_time = v.due");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = 0; i < s->b->n; i++)
        if (s->locked[i].good && bind_workunit(q, &p, s, i) != 0)
            goto out;
    if (db_bind_padding(q, &p, ARRAY_LEN(columns), n) == 0)
        rc = db_step(q);
out:
    db_finish(q);
    return rc;
}

/* ---- batches --------------------------------------------------------------
 */

static int
count_ended(struct db *db, const struct store *s)
{
    struct batch_change *c = xcalloc(s->b->n, sizeof(*c));
    int rc;

    for (size_t i = 0; i < s->b->n; i++) {
        const struct workunit *wu = &s->b->wu[i].wu;
        const struct validate_verdict *v = &s->b->verdict[i];

        if (!s->locked[i].good)
            continue;
        c[i].batch = wu->batch;
        c[i].was = job_end(wu->canonical_resultid, s->locked[i].error_mask);
        c[i].is = job_end(v->canonical_resultid,
                          s->locked[i].error_mask | v->new_errors);
        if (wu->canonical_resultid == 0 && v->canonical_resultid != 0)
            c[i].credit = v->canonical_credit;
    }
    rc = db_batch_count(db, c, s->b->n, s->terms->now);
    free(c);
    return rc;
}

/* ---- together -------------------------------------------------------------
 */

static int
store_batch(struct db *db, void *arg)
{
    struct store *s = arg;
    struct judged *judged = xcalloc(s->b->n_results + 1, sizeof(*judged));
    int rc = lock_all(db, s);
    size_t n = list_judged(s, judged);

    if (rc == 0)
        rc = store_all_results(db, judged, n);
    if (rc == 0)
        rc = withdraw_unsent(db, s);
    if (rc == 0)
        rc = store_workunits(db, s);
    if (rc == 0)
        rc = count_ended(db, s);
    if (rc == 0)
        rc = db_validate_grant(db, s, judged, n);
    if (rc == 0)
        rc = db_validate_mark_hosts(db, s, judged, n);
    if (rc == 0)
        rc = db_validate_mark_versions(db, s, judged, n);
    free(judged);
    return rc;
}

int
db_validate_store(struct db *db, struct validate_batch *b,
                  const struct validate_terms *terms)
{
    struct store s = {
        .b = b,
        .locked = xcalloc(b->n + 1, sizeof(*s.locked)),
        .terms = terms,
    };
    int rc = b->n > 0 ? db_transaction(db, store_batch, &s) : 0;

    for (size_t i = 0; i < b->n; i++)
        if (rc != 0 || !s.locked[i].good)
            b->verdict[i].undecided = true;
    free(s.locked);
    free(s.unsent);
    return rc < 0 ? -1 : 0;
}
