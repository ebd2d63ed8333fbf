/* db_jobs.c - cancel many jobs, or give them another priority. */
#include "db_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "db_audit.h"
#include "db_batch.h"
#include "db_many.h"

enum { PIECE = 512 }; /* workunits in a transaction */

/* ---- which ----------------------------------------------------------------
 */

static const char *
may_change(enum job_action action)
{
    return action == JOBS_CANCEL
               ? " w.assimilate_state <> 2 AND (w.error_mask & 16) = 0"
               : " w.assimilate_state <> 2 AND w.error_mask = 0";
}

static void
add_selection(struct buf *sql, const struct job_selection *s)
{
    if (s->min_id != 0)
        buf_add(sql, " AND w.id >= ?");
    if (s->max_id != 0)
        buf_add(sql, " AND w.id <= ?");
    if (s->name != NULL)
        buf_add(sql, " AND w.name = ?");
    if (s->batch != 0)
        buf_add(sql, " AND w.batch = ?");
    if (s->appid != 0)
        buf_add(sql, " AND w.appid = ?");
    if (s->open_only)
        buf_add(sql, " AND w.canonical_resultid = 0 AND w.error_mask = 0");
    if (s->app_version_id != 0)
        buf_add(sql,
                " AND (w.app_version_id = ? OR EXISTS (SELECT 1 FROM "
                "app_version v WHERE v.id = ? AND v.appid = w.appid AND "
                "v.version_num = w.app_version_num) OR EXISTS (SELECT 1 FROM "
                "result r WHERE r.workunitid = w.id AND r.server_state = 4 AND "
                "r.app_version_id = ?))");
}

static int
bind_selection(struct db_query *q, unsigned *p, const struct job_selection *s)
{
    const int64_t before[] = {s->min_id, s->max_id};
    const int64_t after[] = {s->batch, s->appid, s->app_version_id,
                             s->app_version_id, s->app_version_id};

    for (size_t i = 0; i < ARRAY_LEN(before); i++)
        if (before[i] != 0 && db_bind_i64(q, (*p)++, before[i]) != 0)
            return -1;
    if (s->name != NULL && db_bind_text(q, (*p)++, s->name) != 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(after); i++)
        if (after[i] != 0 && db_bind_i64(q, (*p)++, after[i]) != 0)
            return -1;
    return 0;
}

static int
one_count(struct db *db, const struct job_work *w, const char *head,
          int64_t *ret)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    buf_add(&sql, head);
    buf_add(&sql, may_change(w->action));
    add_selection(&sql, w->which);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q != NULL && bind_selection(q, &p, w->which) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret = db_col_i64(q, 0);
    db_finish(q);
    return rc;
}

int
db_jobs_count(struct db *db, const struct job_work *w, int64_t *ret_workunits,
              int64_t *ret_in_progress)
{
    return one_count(db, w, "SELECT COUNT(*) FROM workunit w WHERE",
                     ret_workunits) == 0 &&
                   one_count(db, w,
                             "SELECT COUNT(*) FROM workunit w STRAIGHT_JOIN "
                             "result i ON i.workunitid = w.id AND "
                             "i.server_state = 4 WHERE",
                             ret_in_progress) == 0
               ? 0
               : -1;
}

/* The ids of the next piece, without a lock.  How many, or -1. */
static int
next_ids(struct db *db, const struct job_work *w, int64_t ids[PIECE])
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int n = 0, rc = -1;

    buf_add(&sql, "SELECT w.id FROM workunit w WHERE w.id > ? AND");
    buf_add(&sql, may_change(w->action));
    add_selection(&sql, w->which);
    buf_add(&sql, " ORDER BY w.id LIMIT ?");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q != NULL && db_bind_i64(q, p++, w->after_id) == 0 &&
        bind_selection(q, &p, w->which) == 0 && db_bind_i64(q, p, PIECE) == 0)
        while ((rc = db_step(q)) == 0 && n < PIECE)
            ids[n++] = db_col_i64(q, 0);
    db_finish(q);
    return rc == DB_NONE ? n : -1;
}

/* ---- a piece --------------------------------------------------------------
 */

struct piece {
    struct job_work *w;
    int64_t now;
    int64_t id[PIECE]; /* selected */
    size_t n;
    /* set anew by each try: */
    int64_t locked[PIECE]; /* those that still may change */
    struct batch_change change[PIECE];
    size_t n_locked;
    int64_t n_results;
    struct audit_line audit;
};

/* What has changed since the ids were read is left alone. */
static int
lock_workunits(struct db *db, struct piece *p)
{
    struct buf tail = BUF_INIT;
    struct db_query *q;
    unsigned i = 0;
    int rc = -1;

    buf_addf(&tail, ") AND%s ORDER BY w.id FOR UPDATE",
             may_change(p->w->action));
    q = db_prepare_list(db,
                        "SELECT w.id, w.batch, w.canonical_resultid, "
                        "w.error_mask FROM workunit w WHERE w.id IN (",
                        p->n, buf_str(&tail));
    buf_free(&tail);
    p->n_locked = 0;
    if (q != NULL && db_bind_list(q, &i, p->id, p->n) == 0)
        while ((rc = db_step(q)) == 0) {
            p->change[p->n_locked] = (struct batch_change){
                .batch = db_col_i64(q, 1),
                .was = job_end(db_col_i64(q, 2), (unsigned)db_col_i64(q, 3)),
                .is = JOB_FAILED,
            };
            p->locked[p->n_locked++] = db_col_i64(q, 0);
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

/* A statement with `n_values` values before the list of the workunits. */
static int
update_all(struct db *db, struct piece *p, const char *sql,
           const int64_t *value, size_t n_values, const char *tail,
           int64_t *ret_n)
{
    struct db_query *q = db_prepare_list(db, sql, p->n_locked, tail);
    unsigned i = 0;
    int rc = q != NULL ? 0 : -1;

    for (size_t k = 0; rc == 0 && k < n_values; k++)
        rc = db_bind_i64(q, i++, value[k]);
    if (rc == 0)
        rc = db_bind_list(q, &i, p->locked, p->n_locked);
    if (rc == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret_n = db_affected(q);
    db_finish(q);
    return rc;
}

/* By the index of the workunits: only their results are touched, whatever the
 * server thinks of how many are unsent. */
static int
cancel(struct db *db, struct piece *p)
{
    int64_t n;
    int rc = update_all(db, p,
                        "UPDATE result FORCE INDEX (res_wuid) SET "
                        "server_state = 5, outcome = 5 "
                        "WHERE server_state IN (1, 2) AND workunitid IN (",
                        NULL, 0, ")", &p->n_results);

    if (rc == 0)
        rc = update_all(db, p,
                        "UPDATE workunit SET error_mask = error_mask | 16, "
                        "transition_time = ? WHERE id IN (",
                        &p->now, 1, ")", &n);
    if (rc == 0)
        rc = db_batch_count(db, p->change, p->n_locked, p->now);
    return rc;
}

static int
set_priority(struct db *db, struct piece *p)
{
    int64_t priority = p->w->priority, n;
    int rc = update_all(db, p,
                        "UPDATE result FORCE INDEX (res_wuid) SET "
                        "priority = ? "
                        "WHERE server_state IN (1, 2) AND workunitid IN (",
                        &priority, 1, ")", &p->n_results);

    if (rc == 0)
        rc = update_all(db, p, "UPDATE workunit SET priority = ? WHERE id IN (",
                        &priority, 1, ")", &n);
    return rc;
}

static int
note(struct db *db, struct piece *p)
{
    const struct job_work *w = p->w;
    char detail[160], value[32] = "";

    if (w->action == JOBS_PRIORITY)
        snprintf(value, sizeof(value), "priority %d: ", w->priority);
    snprintf(detail, sizeof(detail),
             "%s%" PRId64 " workunits, %" PRId64 " results never sent", value,
             w->n_workunits + (int64_t)p->n_locked,
             w->n_results + p->n_results);
    p->audit = *w->audit;
    p->audit.detail = detail;
    return db_audit(db, &p->audit);
}

static int
do_piece(struct db *db, void *arg)
{
    struct piece *p = arg;
    int rc = lock_workunits(db, p);

    p->n_results = 0;
    if (rc != 0 || p->n_locked == 0)
        return rc;
    rc = p->w->action == JOBS_CANCEL ? cancel(db, p) : set_priority(db, p);
    return rc == 0 ? note(db, p) : rc;
}

int
db_jobs_piece(struct db *db, struct job_work *w, int64_t now)
{
    struct piece *p = xcalloc(1, sizeof(*p));
    int n = next_ids(db, w, p->id), rc;

    p->w = w;
    p->now = now;
    if (n > 0) {
        p->n = (size_t)n;
        rc = db_transaction(db, do_piece, p) == 0 ? 0 : -1;
    } else {
        rc = n == 0 ? DB_NONE : -1;
    }
    if (rc == 0) {
        w->n_workunits += (int64_t)p->n_locked;
        w->n_results += p->n_results;
        w->after_id = p->id[p->n - 1];
        if (p->n_locked > 0)
            w->audit->id = p->audit.id;
    }
    free(p);
    return rc;
}
