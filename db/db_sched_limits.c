/* db_sched_limits.c - what the scheduler counts to end it: results that are
 * lost again and again, wrong account keys of an address. */
#include "db_sched.h"

#include <stdlib.h>

#include "buf.h"
#include "db_sched_list.h"

enum {
    CHUNK = 64,   /* results in one statement */
    HOUR = 3600,  /* s that failures are counted for */
    FORGET = 100, /* old rows deleted at once */
};

/* ---- results that are sent again ---- */

static int
read_resends(struct db *db, struct candidate *c, size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 0;
    int rc = -1;

    buf_add(&sql, "SELECT result_id, times FROM x_resend WHERE");
    db_list_in(&sql, "result_id", n);
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL && db_list_bind(q, &i, &c->result_id, sizeof(*c), n) == 0)
        while ((rc = db_step(q)) == 0)
            for (size_t k = 0; k < n; k++)
                if (c[k].result_id == db_col_i64(q, 0))
                    c[k].resends = (int)db_col_i64(q, 1);
    db_finish(q);
    buf_free(&sql);
    return rc == DB_NONE ? 0 : -1;
}

int
db_sched_resends(struct db *db, struct candidate *c, size_t n)
{
    for (size_t at = 0; at < n;) {
        size_t chunk = db_list_chunk(n - at, CHUNK);

        if (read_resends(db, c + at, chunk) != 0)
            return -1;
        at += chunk;
    }
    return 0;
}

/* A power of two of them: few statement texts. */
static int
count_resends(struct db *db, const struct candidate *c, size_t n, int64_t now)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 0;
    int rc = 0;

    buf_add(&sql, "INSERT INTO x_resend (result_id, workunitid, last_time,"
                  " times) VALUES ");
    for (size_t k = 0; k < n; k++)
        buf_addf(&sql, "%s(?, ?, ?, 1)", k > 0 ? ", " : "");
    buf_add(&sql, " ON DUPLICATE KEY UPDATE times = times + 1, last_time = ?");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t k = 0; k < n && rc == 0; k++)
        if (db_bind_i64(q, i++, c[k].result_id) != 0 ||
            db_bind_i64(q, i++, c[k].wu_id) != 0 ||
            db_bind_i64(q, i++, now) != 0)
            rc = -1;
    if (rc == 0)
        rc = db_bind_i64(q, i, now);
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

int
db_sched_count_resends(struct db *db, const struct candidate *c, size_t n,
                       int64_t now)
{
    int rc = 0;

    while (n > 0 && rc == 0) {
        size_t some = CHUNK;

        while (some > n)
            some /= 2;
        rc = count_resends(db, c, some, now);
        c += some;
        n -= some;
    }
    return rc;
}

/* ---- wrong account keys ---- */

int
db_sched_key_failures(struct db *db, const char *address, int64_t now,
                      int64_t *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT failures FROM x_key_failure"
                       " WHERE address = ? AND since > ? AND since <= ?");
    int rc = -1;

    *ret = 0;
    if (q != NULL && db_bind_text(q, 0, address) == 0 &&
        db_bind_i64(q, 1, now - HOUR) == 0 && db_bind_i64(q, 2, now) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret = db_col_i64(q, 0);
    db_finish(q);
    return rc < 0 ? -1 : 0;
}

struct failure {
    const char *address;
    int64_t now;
};

/* In the order of the assignments: "failures" sees the old "since". */
static int
add_failure(struct db *db, const struct failure *f)
{
    struct db_query *q = db_prepare(
        db, "INSERT INTO x_key_failure (address, since, failures)"
            " VALUES (?, ?, 1) ON DUPLICATE KEY UPDATE"
            " failures = IF(since > ? AND since <= ?, failures + 1, 1),"
            " since = IF(since > ? AND since <= ?, since, ?)");
    const int64_t value[] = {f->now,        f->now - HOUR, f->now,
                             f->now - HOUR, f->now,        f->now};
    int rc = q != NULL ? db_bind_text(q, 0, f->address) : -1;

    for (unsigned i = 0; rc == 0 && i < ARRAY_LEN(value); i++)
        rc = db_bind_i64(q, i + 1, value[i]);
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

static int
forget_old(struct db *db, int64_t now)
{
    struct db_query *q = db_prepare(
        db, "DELETE FROM x_key_failure WHERE since <= ? ORDER BY since"
            " LIMIT ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, now - HOUR) == 0 &&
        db_bind_i64(q, 1, FORGET) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

static int
count_failure(struct db *db, void *arg)
{
    const struct failure *f = arg;

    if (add_failure(db, f) != 0)
        return -1;
    return forget_old(db, f->now) == 0 ? 0 : -1;
}

int
db_sched_count_key_failure(struct db *db, const char *address, int64_t now)
{
    struct failure f = {address, now};

    return db_transaction(db, count_failure, &f) == 0 ? 0 : -1;
}
