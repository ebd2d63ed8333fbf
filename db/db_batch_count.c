/* db_batch_count.c - keep the counters of batches while their jobs end.
 *
 * The batches' rows are locked, the new values computed here, and written by
 * two statements, however many batches a transaction touches.
 *
 * A batch without a row in x_batch is counted from its workunits.  That is
 * right although others may be about to commit: they hold no lock on the batch
 * yet, so their own changes are not in our count, and they will find the row in
 * x_batch and add them. */
#include <stdlib.h>

#include "buf.h"
#include "db.h"
#include "db_batch.h"
#include "db_many.h"
#include "log.h"

struct counted {
    int64_t id; /* first: sorted by it */
    /* what this transaction changes */
    int64_t added, more_errors, more_successes;
    double more_credit;
    /* the row */
    bool found, counted;
    int64_t njobs, nerror, nsuccess;
    double credit, fraction_done, completion_time;
    int64_t state;
};

enum job_end
job_end(int64_t canonical_resultid, unsigned error_mask)
{
    if (error_mask != 0)
        return JOB_FAILED;
    return canonical_resultid != 0 ? JOB_SUCCEEDED : JOB_OPEN;
}

/* ---- what this transaction changes ----------------------------------------
 */

static bool
counts(const struct batch_change *c)
{
    return c->batch != 0 &&
           (c->was != c->is || c->credit != 0 || c->added != 0);
}

static int
by_id(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static struct counted
of_change(const struct batch_change *c)
{
    return (struct counted){
        .id = c->batch,
        .added = c->added,
        .more_errors = (c->is == JOB_FAILED) - (c->was == JOB_FAILED),
        .more_successes = (c->is == JOB_SUCCEEDED) - (c->was == JOB_SUCCEEDED),
        .more_credit = c->credit,
    };
}

/* One element for each batch, by id.  How many. */
static size_t
sum_up(const struct batch_change *c, size_t n, struct counted *ret)
{
    size_t n_all = 0, n_sums = 0;

    for (size_t i = 0; i < n; i++)
        if (counts(&c[i]))
            ret[n_all++] = of_change(&c[i]);
    qsort(ret, n_all, sizeof(*ret), by_id);
    for (size_t i = 0; i < n_all; i++) {
        if (n_sums > 0 && ret[n_sums - 1].id == ret[i].id) {
            ret[n_sums - 1].added += ret[i].added;
            ret[n_sums - 1].more_errors += ret[i].more_errors;
            ret[n_sums - 1].more_successes += ret[i].more_successes;
            ret[n_sums - 1].more_credit += ret[i].more_credit;
        } else {
            ret[n_sums++] = ret[i];
        }
    }
    return n_sums;
}

/* ---- the rows -------------------------------------------------------------
 */

static int64_t *
list_ids(const struct counted *b, size_t n)
{
    int64_t *ids = xcalloc(n, sizeof(*ids));

    for (size_t i = 0; i < n; i++)
        ids[i] = b[i].id;
    return ids;
}

static void
row_of_batch(struct db_query *q, struct counted *b)
{
    b->found = true;
    b->njobs = db_col_i64(q, 1);
    b->nerror = db_col_i64(q, 2);
    b->credit = db_col_double(q, 3);
    b->state = db_col_i64(q, 4);
    b->completion_time = db_col_double(q, 5);
    b->counted = !db_col_is_null(q, 6);
    b->nsuccess = db_col_i64(q, 6);
}

static int
lock_rows(struct db *db, struct counted *b, size_t n, const int64_t *ids)
{
    struct db_query *q = db_prepare_list(
        db,
        "SELECT b.id, b.njobs, b.nerror_jobs, b.credit_canonical, b.state, "
        "b.completion_time, x.nsuccess_jobs FROM batch b LEFT JOIN x_batch x "
        "ON x.batch_id = b.id WHERE b.id IN (",
        n, ") ORDER BY b.id FOR UPDATE");
    unsigned p = 0;
    int rc = -1;

    for (size_t i = 0; i < n; i++)
        b[i].found = false;
    if (q != NULL && db_bind_list(q, &p, ids, n) == 0)
        for (size_t i = 0; (rc = db_step(q)) == 0; i++) {
            while (b[i].id != db_col_i64(q, 0))
                i++;
            row_of_batch(q, &b[i]);
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

/* Our own changes are in the count. */
static void
row_of_count(struct db_query *q, struct counted *b)
{
    if (b->njobs < db_col_i64(q, 1))
        b->njobs = db_col_i64(q, 1);
    b->nerror = db_col_i64(q, 2);
    b->nsuccess = db_col_i64(q, 3);
    b->credit = db_col_double(q, 4);
}

static int
count_jobs(struct db *db, struct counted *b, size_t n)
{
    int64_t *ids = xcalloc(n, sizeof(*ids));
    struct db_query *q = NULL;
    unsigned p = 0;
    size_t some = 0;
    int rc = DB_NONE;

    for (size_t i = 0; i < n; i++)
        if (b[i].found && !b[i].counted)
            ids[some++] = b[i].id;
    if (some > 0) {
        q = db_prepare_list(
            db,
            "SELECT batch, COUNT(*), COALESCE(SUM(error_mask <> 0), 0), "
            "COALESCE(SUM(error_mask = 0 AND canonical_resultid <> 0), 0), "
            "COALESCE(SUM(IF(canonical_resultid <> 0, canonical_credit, 0)), "
            "0) FROM workunit WHERE batch IN (",
            some, ") GROUP BY batch ORDER BY batch");
        rc = q != NULL ? db_bind_list(q, &p, ids, some) : -1;
        for (size_t i = 0; rc == 0 && (rc = db_step(q)) == 0; i++) {
            while (b[i].id != db_col_i64(q, 0))
                i++;
            row_of_count(q, &b[i]);
        }
        db_finish(q);
    }
    free(ids);
    return rc == DB_NONE ? 0 : -1;
}

/* An aborted or retired batch stays what it is. */
static void
settle(struct counted *b, int64_t now)
{
    int64_t ended;
    bool complete;

    if (b->counted) {
        b->njobs += b->added;
        b->nerror += b->more_errors;
        b->nsuccess += b->more_successes;
        b->credit += b->more_credit;
    }
    ended = b->nerror + b->nsuccess;
    complete = b->njobs > 0 && ended >= b->njobs;
    b->fraction_done = 0;
    if (b->njobs > 0)
        b->fraction_done = complete ? 1 : (double)ended / (double)b->njobs;
    if (b->state == BATCH_COMPLETE && !complete)
        b->completion_time = 0; /* more jobs came */
    else if (complete && b->completion_time == 0)
        b->completion_time = (double)now;
    if (b->state <= BATCH_COMPLETE && b->njobs > 0) {
        if (complete && b->state != BATCH_COMPLETE)
            log_normal("batch %" PRId64 " is complete: %" PRId64 " jobs, "
                       "%" PRId64 " failed",
                       b->id, b->njobs, b->nerror);
        b->state = complete ? BATCH_COMPLETE : BATCH_IN_PROGRESS;
    }
}

/* ---- writing --------------------------------------------------------------
 */

static int
bind_batch(struct db_query *q, unsigned *p, const struct counted *b)
{
    return db_bind_i64(q, (*p)++, b->id) != 0 ||
                   db_bind_i64(q, (*p)++, b->njobs) != 0 ||
                   db_bind_i64(q, (*p)++, b->nerror) != 0 ||
                   db_bind_double(q, (*p)++, b->fraction_done) != 0 ||
                   db_bind_i64(q, (*p)++, b->state) != 0 ||
                   db_bind_double(q, (*p)++, b->completion_time) != 0 ||
                   db_bind_double(q, (*p)++, b->credit) != 0
               ? -1
               : 0;
}

static int
write_batches(struct db *db, const struct counted *b, size_t n)
{
    static const struct db_value_column columns[] = {
        {"batch",   'i'},
        {"jobs",    'i'},
        {"errors",  'i'},
        {"done",    'd'},
        {"stage",   'i'},
        {"ended",   'd'},
        {"granted", 'd'},
    };
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = 0;

    buf_add(&sql, "UPDATE (");
    db_value_table(&sql, columns, ARRAY_LEN(columns), n);
    buf_add(&sql, ") v STRAIGHT_JOIN batch b ON b.id = v.batch SET "
                  "b.njobs = v.jobs, b.nerror_jobs = v.errors, "
                  "b.fraction_done = v.done, b.state = v.stage, "
                  "b.completion_time = v.ended, "
                  "b.credit_canonical = v.granted");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = bind_batch(q, &p, &b[i]);
    if (rc == 0)
        rc = db_bind_padding(q, &p, ARRAY_LEN(columns), n);
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

/* Padded by the last row, which changes nothing. */
static int
write_successes(struct db *db, const struct counted *b, size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = 0;

    buf_add(&sql, "INSERT INTO x_batch (batch_id, nsuccess_jobs) VALUES ");
    db_placeholder_rows(&sql, db_padded(n), 2);
    buf_add(&sql,
            " ON DUPLICATE KEY UPDATE nsuccess_jobs = VALUES(nsuccess_jobs)");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = 0; rc == 0 && i < db_padded(n); i++) {
        const struct counted *one = &b[i < n ? i : n - 1];

        rc = db_bind_i64(q, p++, one->id);
        if (rc == 0)
            rc = db_bind_i64(q, p++, one->nsuccess);
    }
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

int
db_batch_count(struct db *db, const struct batch_change *c, size_t n,
               int64_t now)
{
    struct counted *b = xcalloc(n + 1, sizeof(*b));
    int64_t *ids = NULL;
    size_t n_batches = sum_up(c, n, b), n_rows = 0;
    int rc = 0;

    if (n_batches > 0) {
        ids = list_ids(b, n_batches);
        rc = lock_rows(db, b, n_batches, ids);
    }
    if (rc == 0 && n_batches > 0)
        rc = count_jobs(db, b, n_batches);
    for (size_t i = 0; i < n_batches; i++)
        if (b[i].found) {
            settle(&b[i], now);
            b[n_rows++] = b[i];
        }
    if (rc == 0 && n_rows > 0)
        rc = write_batches(db, b, n_rows);
    if (rc == 0 && n_rows > 0)
        rc = write_successes(db, b, n_rows);
    free(ids);
    free(b);
    return rc;
}
