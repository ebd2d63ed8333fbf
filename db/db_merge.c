/* db_merge.c - make one record of two hosts.
 *
 * Locks in everybody's order (db.h): workunits by id, their results, the hosts.
 * Between the first and the last of these the scheduler could send a result to
 * the record that goes away: then all is rolled back. */
#include "db_merge.h"

#include <inttypes.h>
#include <stdlib.h>

#include "buf.h"
#include "credit.h"
#include "db.h"
#include "db_audit.h"
#include "db_many.h"
#include "log.h"

enum { CHUNK = 1024 }; /* workunits locked by one statement */

#define HOST_COLUMNS                                                           \
    "id, create_time, userid, rpc_time, total_credit, expavg_credit, "         \
    "expavg_time, p_vendor, p_model, os_name, domain_name"

static void
read_host(struct db_query *q, struct host *ret)
{
    *ret = (struct host){
        .id = db_col_i64(q, 0),
        .create_time = db_col_i64(q, 1),
        .userid = db_col_i64(q, 2),
        .rpc_time = db_col_i64(q, 3),
        .total_credit = db_col_double(q, 4),
        .expavg_credit = db_col_double(q, 5),
        .expavg_time = db_col_double(q, 6),
    };
    db_col_copy(q, 7, ret->p_vendor, sizeof(ret->p_vendor));
    db_col_copy(q, 8, ret->p_model, sizeof(ret->p_model));
    db_col_copy(q, 9, ret->os_name, sizeof(ret->os_name));
    db_col_copy(q, 10, ret->domain_name, sizeof(ret->domain_name));
}

/* A statement with integers for its parameters.  0, DB_NONE or a row; -1. */
static int
run(struct db *db, const char *sql, const int64_t *value, size_t n,
    int64_t *ret_affected)
{
    struct db_query *q = db_prepare(db, sql);
    int rc = q != NULL ? 0 : -1;

    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc = db_bind_i64(q, i, value[i]);
    if (rc == 0)
        rc = db_step(q);
    if (rc == 0 && ret_affected != NULL)
        *ret_affected = db_affected(q);
    db_finish(q);
    return rc;
}

static int
count_results(struct db *db, int64_t hostid, int64_t *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT COUNT(*) FROM result WHERE hostid = ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, hostid) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret = db_col_i64(q, 0);
    db_finish(q);
    return rc == 0 ? 0 : -1;
}

int
db_merge_read(struct db *db, int64_t id, struct merge_side *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT " HOST_COLUMNS " FROM host WHERE id = ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, id) == 0)
        rc = db_step(q);
    if (rc == 0)
        read_host(q, &ret->host);
    db_finish(q);
    if (rc == 0)
        rc = count_results(db, id, &ret->n_results);
    return rc;
}

/* ---- workunits ---- */

/* The next ones with results on the host, above `after`; *ret_n of them. */
static int
next_workunits(struct db *db, int64_t hostid, int64_t after, int64_t ret[CHUNK],
               size_t *ret_n)
{
    struct db_query *q =
        db_prepare(db, "SELECT DISTINCT workunitid FROM result WHERE hostid = ?"
                       " AND workunitid > ? ORDER BY workunitid LIMIT ?");
    int rc = -1;

    *ret_n = 0;
    if (q != NULL && db_bind_i64(q, 0, hostid) == 0 &&
        db_bind_i64(q, 1, after) == 0 && db_bind_i64(q, 2, CHUNK) == 0)
        while (*ret_n < CHUNK && (rc = db_step(q)) == 0)
            ret[(*ret_n)++] = db_col_i64(q, 0);
    db_finish(q);
    return rc == 0 || rc == DB_NONE ? 0 : -1;
}

static int
lock_chunk(struct db *db, const int64_t *ids, size_t n)
{
    struct db_query *q =
        db_prepare_list(db, "SELECT id FROM workunit WHERE id IN (", n,
                        ") ORDER BY id FOR UPDATE");
    unsigned i = 0;
    int rc = -1;

    if (q != NULL && db_bind_list(q, &i, ids, n) == 0)
        while ((rc = db_step(q)) == 0)
            ;
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static int
lock_workunits(struct db *db, int64_t hostid)
{
    int64_t *ids = xmalloc(CHUNK * sizeof(*ids));
    int64_t after = -1;
    size_t n = CHUNK;
    int rc = 0;

    while (rc == 0 && n == CHUNK) {
        rc = next_workunits(db, hostid, after, ids, &n);
        if (rc == 0 && n > 0) {
            after = ids[n - 1];
            rc = lock_chunk(db, ids, n);
        }
    }
    free(ids);
    return rc;
}

/* ---- hosts ---- */

/* Both, locked.  DB_BUSY: they are no longer of one user. */
static int
lock_hosts(struct db *db, const struct merge *m, struct host *from,
           struct host *into)
{
    struct db_query *q =
        db_prepare(db, "SELECT " HOST_COLUMNS
                       " FROM host WHERE id IN (?, ?) ORDER BY id FOR UPDATE");
    int n = 0, rc = -1;

    if (q != NULL && db_bind_i64(q, 0, m->from) == 0 &&
        db_bind_i64(q, 1, m->into) == 0)
        while ((rc = db_step(q)) == 0) {
            read_host(q, db_col_i64(q, 0) == m->from ? from : into);
            n++;
        }
    db_finish(q);
    if (rc != DB_NONE)
        return -1;
    if (n != 2 || from->userid == 0 || from->userid != into->userid)
        return DB_BUSY;
    return 0;
}

/* The averages at one moment add up. */
static int
store_hosts(struct db *db, const struct merge *m, struct host *from,
            struct host *into)
{
    const int64_t successor[] = {m->into, m->from};
    double now = (double)m->now;
    struct db_query *q;
    int rc = -1;

    credit_update_average(now, now, 0, CREDIT_HALF_LIFE, &from->expavg_credit,
                          &from->expavg_time);
    credit_update_average(now, now, 0, CREDIT_HALF_LIFE, &into->expavg_credit,
                          &into->expavg_time);
    q = db_prepare(db, "UPDATE host SET total_credit = ?, expavg_credit = ?,"
                       " expavg_time = ? WHERE id = ? AND userid <> 0");
    if (q != NULL &&
        db_bind_double(q, 0, into->total_credit + from->total_credit) == 0 &&
        db_bind_double(q, 1, into->expavg_credit + from->expavg_credit) == 0 &&
        db_bind_double(q, 2, now) == 0 && db_bind_i64(q, 3, m->into) == 0)
        rc = db_step(q);
    db_finish(q);
    if (rc != 0)
        return -1;
    return run(db,
               "UPDATE host SET userid = 0, rpc_seqno = ?, total_credit = 0,"
               " expavg_credit = 0 WHERE id = ? AND userid <> 0",
               successor, ARRAY_LEN(successor), NULL);
}

/* ---- what belongs to a host ---- */

static const char *const moves[] = {
    "UPDATE msg_to_host SET hostid = ? WHERE hostid = ? AND handled = 0",
    "UPDATE assignment SET target_id = ? WHERE target_id = ?"
    " AND target_type = 1",
    /* credit that no result stands for */
    "INSERT INTO x_credit_base (kind, id, credit) SELECT 2, ?, b.credit"
    " FROM x_credit_base AS b WHERE b.kind = 2 AND b.id = ?"
    " ON DUPLICATE KEY UPDATE credit = x_credit_base.credit + b.credit",
};

static int
move_rest(struct db *db, const struct merge *m)
{
    const int64_t ids[] = {m->into, m->from};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(moves); i++)
        rc = run(db, moves[i], ids, ARRAY_LEN(ids), NULL);
    if (rc == 0)
        rc = run(db, "DELETE FROM x_credit_base WHERE kind = 2 AND id = ?",
                 &m->from, 1, NULL);
    return rc;
}

static int
note(struct db *db, struct merge *m)
{
    struct buf object = BUF_INIT, detail = BUF_INIT;
    int rc;

    buf_addf(&object, "host %" PRId64 " into %" PRId64, m->from, m->into);
    buf_addf(&detail, "%" PRId64 " results, %g credits", m->n_results,
             m->credit);
    m->audit->id = 0;
    m->audit->object = buf_str(&object);
    m->audit->detail = buf_str(&detail);
    rc = db_audit(db, m->audit);
    m->audit->object = m->audit->detail = "";
    buf_free(&object);
    buf_free(&detail);
    return rc;
}

static int
merge(struct db *db, void *arg)
{
    struct merge *m = arg;
    const int64_t ids[] = {m->into, m->from};
    struct host from, into;
    int64_t left;
    int rc = lock_workunits(db, m->from);

    if (rc == 0)
        rc = run(db, "UPDATE result SET hostid = ? WHERE hostid = ?", ids,
                 ARRAY_LEN(ids), &m->n_results);
    if (rc == 0)
        rc = lock_hosts(db, m, &from, &into);
    if (rc == 0)
        rc = count_results(db, m->from, &left);
    if (rc == 0 && left > 0)
        rc = DB_BUSY; /* the scheduler was faster */
    if (rc != 0)
        return rc;
    m->credit = from.total_credit;
    if (store_hosts(db, m, &from, &into) != 0 || move_rest(db, m) != 0)
        return -1;
    return note(db, m);
}

int
db_merge_hosts(struct db *db, struct merge *m)
{
    return db_transaction(db, merge, m);
}
