/* db_refused.c - hosts that could not take a result, and results that too many
 * could not take. */
#include "db_refused.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "db_many.h"
#include "names.h"

enum { ROWS_AT_ONCE = 256, IDS_AT_ONCE = 256 };

/* ---- notes ----------------------------------------------------------------
 */

/* Padded by the last row, which is there already then. */
static int
save_some(struct db *db, const struct refused_row *row, size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = 0;

    buf_add(&sql, "INSERT IGNORE INTO x_refused_host (resultid, hostid, "
                  "reason) VALUES ");
    db_placeholder_rows(&sql, db_padded(n), 3);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = 0; rc == 0 && i < db_padded(n); i++) {
        const struct refused_row *r = &row[i < n ? i : n - 1];

        if (db_bind_i64(q, p++, r->result_id) != 0 ||
            db_bind_i64(q, p++, r->host.hostid) != 0 ||
            db_bind_i64(q, p++, (int64_t)r->host.reason) != 0)
            rc = -1;
    }
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    /* Another feeder that notes the same host holds the lock: good enough. */
    return rc < 0 ? -1 : 0;
}

int
db_refused_save(struct db *db, const struct refused_row *row, size_t n)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i += ROWS_AT_ONCE)
        rc = save_some(db, row + i,
                       n - i < ROWS_AT_ONCE ? n - i : (size_t)ROWS_AT_ONCE);
    return rc;
}

struct rows {
    struct refused_row *row;
    size_t n;
};

static void
add_row(struct rows *rows, struct db_query *q)
{
    /* a power of two is full when n reaches it */
    if ((rows->n & (rows->n - 1)) == 0)
        rows->row = xrealloc(rows->row, (rows->n == 0 ? 1 : 2 * rows->n) *
                                            sizeof(*rows->row));
    rows->row[rows->n++] = (struct refused_row){
        .result_id = db_col_i64(q, 0),
        .host = {.hostid = db_col_i64(q, 1),
                 .reason = (enum refused_for)db_col_i64(q, 2)},
    };
}

static int
load_some(struct db *db, const int64_t *ids, size_t n, struct rows *rows)
{
    struct db_query *q =
        db_prepare_list(db,
                        "SELECT resultid, hostid, reason FROM x_refused_host "
                        "WHERE resultid IN (",
                        n, ") ORDER BY resultid, hostid");
    unsigned p = 0;
    int rc = -1;

    if (q != NULL && db_bind_list(q, &p, ids, n) == 0)
        while ((rc = db_step(q)) == 0)
            add_row(rows, q);
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

int
db_refused_load(struct db *db, const int64_t *result_ids, size_t n,
                struct refused_row **ret, size_t *ret_n)
{
    struct rows rows = {.n = 0};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i += IDS_AT_ONCE)
        rc =
            load_some(db, result_ids + i,
                      n - i < IDS_AT_ONCE ? n - i : (size_t)IDS_AT_ONCE, &rows);
    if (rc != 0) {
        free(rows.row);
        return -1;
    }
    *ret = rows.row;
    *ret_n = rows.n;
    return 0;
}

/* Results with notes, and whether they are still unsent. */
static int
find_settled(struct db *db, int64_t *from, size_t limit, int64_t *ret,
             size_t *ret_n)
{
    struct db_query *q = db_prepare(
        db, "SELECT x.resultid, r.id FROM (SELECT DISTINCT resultid "
            "FROM x_refused_host WHERE resultid > ? ORDER BY resultid LIMIT ?) "
            "x LEFT JOIN result r ON r.id = x.resultid AND r.server_state = ? "
            "ORDER BY x.resultid");
    size_t n = 0;
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, *from) == 0 &&
        db_bind_i64(q, 1, (int64_t)limit) == 0 &&
        db_bind_i64(q, 2, RESULT_UNSENT) == 0)
        while ((rc = db_step(q)) == 0) {
            *from = db_col_i64(q, 0);
            if (db_col_is_null(q, 1))
                ret[(*ret_n)++] = *from;
            n++;
        }
    db_finish(q);
    if (n < limit)
        *from = 0;
    return rc == DB_NONE ? 0 : -1;
}

static int
forget(struct db *db, const int64_t *ids, size_t n)
{
    struct db_query *q = db_prepare_list(
        db, "DELETE FROM x_refused_host WHERE resultid IN (", n, ")");
    unsigned p = 0;
    int rc = -1;

    if (q != NULL && db_bind_list(q, &p, ids, n) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

int
db_refused_clean(struct db *db, int64_t *from, size_t limit)
{
    int64_t *ids = xcalloc(limit, sizeof(*ids));
    size_t n = 0;
    int rc = find_settled(db, from, limit, ids, &n);

    if (rc == 0 && n > 0)
        rc = forget(db, ids, n);
    free(ids);
    return rc < 0 ? -1 : 0; /* busy: with the next round */
}

/* ---- the end --------------------------------------------------------------
 */

struct endings {
    struct hopeless *h;
    size_t n;
    int64_t now;
};

static int
lock_ids(struct db *db, const char *select, const int64_t *ids, size_t n,
         const char *after)
{
    struct db_query *q = db_prepare_list(db, select, n, after);
    unsigned p = 0;
    int rc = -1;

    if (q != NULL && db_bind_list(q, &p, ids, n) == 0)
        while ((rc = db_step(q)) == 0)
            ;
    db_finish(q);
    return rc == DB_NONE ? 0 : rc;
}

static struct hopeless *
find_hopeless(const struct endings *e, int64_t result_id)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->h[i].result_id == result_id)
            return &e->h[i];
    return NULL;
}

/* Which of them are still unsent? */
static int
lock_unsent(struct db *db, const struct endings *e, const int64_t *ids)
{
    struct db_query *q =
        db_prepare_list(db, "SELECT id FROM result WHERE id IN (", e->n,
                        ") AND server_state = ? ORDER BY id FOR UPDATE");
    unsigned p = 0;
    int rc = -1;

    if (q != NULL && db_bind_list(q, &p, ids, e->n) == 0 &&
        db_bind_i64(q, p, RESULT_UNSENT) == 0)
        while ((rc = db_step(q)) == 0) {
            struct hopeless *h = find_hopeless(e, db_col_i64(q, 0));

            if (h != NULL)
                h->ended = true;
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : rc;
}

static int
end_results(struct db *db, const int64_t *ids, size_t n)
{
    struct db_query *q = db_prepare_list(
        db,
        "UPDATE result FORCE INDEX (PRIMARY) SET server_state = ?, outcome = ?"
        " WHERE id IN (",
        n, ") AND server_state = ?");
    unsigned p = 2;
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, RESULT_OVER) == 0 &&
        db_bind_i64(q, 1, OUTCOME_COULDNT_SEND) == 0 &&
        db_bind_list(q, &p, ids, n) == 0 &&
        db_bind_i64(q, p, RESULT_UNSENT) == 0)
        rc = db_step(q);
    if (rc == 0 && db_affected(q) != (int64_t)n)
        rc = DB_BUSY; /* cannot be: they are locked */
    db_finish(q);
    return rc;
}

static int
wake_workunits(struct db *db, const int64_t *ids, size_t n, int64_t now)
{
    struct db_query *q = db_prepare_list(
        db,
        "UPDATE workunit FORCE INDEX (PRIMARY) SET transition_time = "
        "LEAST(transition_time, ?) WHERE id IN (",
        n, ")");
    unsigned p = 1;
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, now) == 0 &&
        db_bind_list(q, &p, ids, n) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

static int
keep_breakdowns(struct db *db, const struct endings *e, size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = 0;

    buf_add(&sql, "INSERT IGNORE INTO x_could_not_send (resultid, workunitid, "
                  "time, hosts, breakdown) VALUES ");
    db_placeholder_rows(&sql, n, 5);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = 0; i < e->n && rc == 0; i++) {
        const struct hopeless *h = &e->h[i];

        if (h->ended && (db_bind_i64(q, p++, h->result_id) != 0 ||
                         db_bind_i64(q, p++, h->wu_id) != 0 ||
                         db_bind_i64(q, p++, e->now) != 0 ||
                         db_bind_i64(q, p++, (int64_t)h->hosts) != 0 ||
                         db_bind_text(q, p++, h->breakdown) != 0))
            rc = -1;
    }
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

static int
end_hopeless(struct db *db, void *arg)
{
    struct endings *e = arg;
    int64_t *result = xcalloc(e->n, sizeof(*result));
    int64_t *wu = xcalloc(e->n, sizeof(*wu));
    size_t ended = 0;
    int rc;

    for (size_t i = 0; i < e->n; i++) {
        e->h[i].ended = false;
        result[i] = e->h[i].result_id;
        wu[i] = e->h[i].wu_id;
    }
    rc = lock_ids(db, "SELECT id FROM workunit WHERE id IN (", wu, e->n,
                  ") ORDER BY id FOR UPDATE");
    if (rc == 0)
        rc = lock_unsent(db, e, result);
    for (size_t i = 0; i < e->n; i++)
        if (e->h[i].ended) {
            result[ended] = e->h[i].result_id;
            wu[ended++] = e->h[i].wu_id;
        }
    if (rc == 0 && ended > 0 && (rc = end_results(db, result, ended)) == 0 &&
        (rc = wake_workunits(db, wu, ended, e->now)) == 0 &&
        (rc = forget(db, result, ended)) == 0)
        rc = keep_breakdowns(db, e, ended);
    free(result);
    free(wu);
    return rc;
}

int
db_could_not_send(struct db *db, struct hopeless *h, size_t n, int64_t now)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i += IDS_AT_ONCE) {
        struct endings e = {
            .h = h + i,
            .n = n - i < IDS_AT_ONCE ? n - i : (size_t)IDS_AT_ONCE,
            .now = now,
        };

        rc = db_transaction(db, end_hopeless, &e);
        for (size_t k = 0; rc != 0 && k < e.n; k++)
            e.h[k].ended = false;
    }
    return rc;
}

int
db_could_not_send_list(struct db *db, struct could_not_send *ret, size_t max,
                       size_t *ret_n)
{
    struct db_query *q = db_prepare(
        db, "SELECT x.resultid, x.workunitid, x.time, w.name, x.hosts, "
            "x.breakdown FROM x_could_not_send x "
            "LEFT JOIN workunit w ON w.id = x.workunitid "
            "ORDER BY x.resultid DESC LIMIT ?");
    int rc = -1;

    *ret_n = 0;
    if (q != NULL && db_bind_i64(q, 0, (int64_t)max) == 0)
        while ((rc = db_step(q)) == 0 && *ret_n < max) {
            struct could_not_send *c = &ret[(*ret_n)++];

            c->result_id = db_col_i64(q, 0);
            c->wu_id = db_col_i64(q, 1);
            c->time = db_col_i64(q, 2);
            db_col_copy(q, 3, c->wu_name, sizeof(c->wu_name));
            c->hosts = (int)db_col_i64(q, 4);
            db_col_copy(q, 5, c->breakdown, sizeof(c->breakdown));
        }
    db_finish(q);
    return rc < 0 ? -1 : 0;
}

/* ---- homogeneous redundancy -----------------------------------------------
 */

struct release {
    const int64_t *id;
    size_t n;
    int64_t now;
    size_t released;
};

static int
uncommit_some(struct db *db, void *arg)
{
    struct release *r = arg;
    struct db_query *q = NULL;
    unsigned p = 1;
    int rc = lock_ids(db, "SELECT id FROM workunit WHERE id IN (", r->id, r->n,
                      ") ORDER BY id FOR UPDATE");

    r->released = 0;
    if (rc != 0)
        return rc;
    rc = -1;
    q = db_prepare_list(
        db,
        "UPDATE workunit w FORCE INDEX (PRIMARY) SET w.hr_class = 0, "
        "w.target_nresults = "
        "GREATEST(w.target_nresults, LEAST(w.target_nresults + 1, "
        "w.max_total_results)), "
        "w.transition_time = LEAST(w.transition_time, ?) WHERE w.id IN (",
        r->n,
        ") AND w.hr_class <> 0 AND NOT EXISTS (SELECT 1 FROM result r "
        "WHERE r.workunitid = w.id AND (r.server_state = ? "
        "OR r.server_state = ? AND r.outcome = ?))");
    if (q != NULL && db_bind_i64(q, 0, r->now) == 0 &&
        db_bind_list(q, &p, r->id, r->n) == 0 &&
        db_bind_i64(q, p, RESULT_IN_PROGRESS) == 0 &&
        db_bind_i64(q, p + 1, RESULT_OVER) == 0 &&
        db_bind_i64(q, p + 2, OUTCOME_SUCCESS) == 0)
        rc = db_step(q);
    if (rc == 0)
        r->released = (size_t)db_affected(q);
    db_finish(q);
    return rc;
}

int
db_feed_uncommit(struct db *db, const int64_t *wu_ids, size_t n, int64_t now,
                 size_t *ret_n)
{
    int rc = 0;

    *ret_n = 0;
    for (size_t i = 0; rc == 0 && i < n; i += IDS_AT_ONCE) {
        struct release r = {
            .id = wu_ids + i,
            .n = n - i < IDS_AT_ONCE ? n - i : (size_t)IDS_AT_ONCE,
            .now = now,
        };

        rc = db_transaction(db, uncommit_some, &r);
        *ret_n += r.released;
    }
    return rc;
}
