/* db_batch.c - rows of batches, for operators and submitters. */
#include "db_batch.h"

#include "buf.h"
#include "db.h"
#include "log.h"

/* The columns in the order batch_from_row() reads them. */
#define BATCH_COLUMNS                                                          \
    "id, user_id, app_id, create_time, name, description, state, njobs, "      \
    "nerror_jobs, fraction_done, completion_time, credit_canonical, "          \
    "expire_time"

/* In expire_time BOINC's batch acceleration keeps a turnaround, in seconds;
 * what is smaller than this is no date. */
#define EARLIEST_DATE "1000000000"

static void
batch_from_row(struct db_query *q, struct batch *ret)
{
    unsigned c = 0;

    ret->id = db_col_i64(q, c++);
    ret->user_id = db_col_i64(q, c++);
    ret->app_id = db_col_i64(q, c++);
    ret->create_time = db_col_i64(q, c++);
    db_col_copy(q, c++, ret->name, sizeof(ret->name));
    db_col_copy(q, c++, ret->description, sizeof(ret->description));
    ret->state = (enum batch_state)db_col_i64(q, c++);
    ret->njobs = db_col_i64(q, c++);
    ret->nerror_jobs = db_col_i64(q, c++);
    ret->fraction_done = db_col_double(q, c++);
    ret->completion_time = db_col_double(q, c++);
    ret->credit_canonical = db_col_double(q, c++);
    ret->expire_time = db_col_double(q, c++);
}

/* ---- create ---------------------------------------------------------------
 */

static int
insert_batch(struct db *db, struct batch *b)
{
    struct db_query *q = db_prepare(
        db, "INSERT INTO batch (user_id, create_time, logical_start_time, "
            "logical_end_time, est_completion_time, njobs, fraction_done, "
            "nerror_jobs, state, completion_time, credit_estimate, "
            "credit_canonical, credit_total, name, app_id, project_state, "
            "description, expire_time) VALUES "
            "(?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ?, ?, 0, ?, ?)");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, b->user_id) == 0 &&
        db_bind_i64(q, 1, b->create_time) == 0 &&
        db_bind_text(q, 2, b->name) == 0 && db_bind_i64(q, 3, b->app_id) == 0 &&
        db_bind_text(q, 4, b->description) == 0 &&
        db_bind_double(q, 5, b->expire_time) == 0)
        rc = db_step(q);
    if (rc == 0)
        b->id = db_insert_id(q);
    db_finish(q);
    return rc;
}

/* Counted from its first job on. */
static int
create(struct db *db, void *arg)
{
    struct batch *b = arg;
    struct db_query *q;
    int rc = insert_batch(db, b);

    if (rc != 0)
        return rc;
    q = db_prepare(db, "INSERT INTO x_batch (batch_id, nsuccess_jobs) VALUES "
                       "(?, 0) ON DUPLICATE KEY UPDATE nsuccess_jobs = 0");
    rc = q != NULL && db_bind_i64(q, 0, b->id) == 0 ? db_step(q) : -1;
    db_finish(q);
    return rc;
}

int
db_batch_create(struct db *db, struct batch *b)
{
    return db_transaction(db, create, b) == 0 ? 0 : -1;
}

/* ---- read -----------------------------------------------------------------
 */

int
db_batch_by_id(struct db *db, int64_t id, struct batch *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT " BATCH_COLUMNS " FROM batch WHERE id = ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, id) == 0)
        rc = db_step(q);
    if (rc == 0)
        batch_from_row(q, ret);
    db_finish(q);
    return rc;
}

static struct db_query *
prepare_list(struct db *db, const struct batch_query *want)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;

    buf_add(&sql, "SELECT " BATCH_COLUMNS " FROM batch WHERE id > ?");
    if (want->user_id != 0)
        buf_add(&sql, " AND user_id = ?");
    if (want->state >= 0)
        buf_add(&sql, " AND state = ?");
    if (want->expired_at != 0)
        buf_add(&sql, " AND state <> 4 AND expire_time >= " EARLIEST_DATE
                      " AND expire_time < ?");
    buf_add(&sql, " ORDER BY id LIMIT ?");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    return q;
}

int
db_batch_list(struct db *db, const struct batch_query *want, struct batch *ret,
              size_t max, size_t *ret_n)
{
    struct db_query *q = prepare_list(db, want);
    unsigned p = 0;
    int rc = -1;

    *ret_n = 0;
    if (q != NULL && db_bind_i64(q, p++, want->after_id) == 0 &&
        (want->user_id == 0 || db_bind_i64(q, p++, want->user_id) == 0) &&
        (want->state < 0 || db_bind_i64(q, p++, want->state) == 0) &&
        (want->expired_at == 0 || db_bind_i64(q, p++, want->expired_at) == 0) &&
        db_bind_i64(q, p, (int64_t)max) == 0)
        while ((rc = db_step(q)) == 0 && *ret_n < max)
            batch_from_row(q, &ret[(*ret_n)++]);
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

int64_t
db_batch_open_jobs(struct db *db, int64_t id)
{
    struct db_query *q =
        db_prepare(db, "SELECT COUNT(*) FROM workunit WHERE batch = ? AND "
                       "canonical_resultid = 0 AND error_mask = 0");
    int64_t n = -1;

    if (q != NULL && db_bind_i64(q, 0, id) == 0 && db_step(q) == 0)
        n = db_col_i64(q, 0);
    db_finish(q);
    return n;
}

/* ---- end ------------------------------------------------------------------
 */

int
db_batch_end(struct db *db, int64_t id, enum batch_state state, int64_t now)
{
    struct db_query *q =
        db_prepare(db, "UPDATE batch SET state = ?, completion_time = "
                       "IF(completion_time = 0, ?, completion_time) "
                       "WHERE id = ? AND state < ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, state) == 0 &&
        db_bind_i64(q, 1, now) == 0 && db_bind_i64(q, 2, id) == 0 &&
        db_bind_i64(q, 3, state) == 0)
        rc = db_step(q);
    if (rc == 0 && db_affected(q) == 0)
        rc = DB_NONE;
    db_finish(q);
    return rc;
}
