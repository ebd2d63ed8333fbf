/* db_explain.c - what the scheduler keeps, and asks, to explain its decisions.
 */
#include "db_explain.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "names.h"

/* ---- facts of requests ---- */

int
db_explain_store_request(struct db *db, int64_t hostid, int64_t hash,
                         const char *facts, int64_t now)
{
    struct db_query *q = db_prepare(
        db, "INSERT INTO x_host_request (host_id, hash, update_time, facts)"
            " VALUES (?, ?, ?, COMPRESS(?)) ON DUPLICATE KEY UPDATE"
            " hash = VALUES(hash), update_time = VALUES(update_time),"
            " facts = VALUES(facts)");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, hostid) == 0 &&
        db_bind_i64(q, 1, hash) == 0 && db_bind_i64(q, 2, now) == 0 &&
        db_bind_text(q, 3, facts) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

int
db_explain_request(struct db *db, int64_t hostid, char **ret_facts,
                   int64_t *ret_time)
{
    struct db_query *q =
        db_prepare(db, "SELECT UNCOMPRESS(facts), update_time"
                       " FROM x_host_request WHERE host_id = ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, hostid) == 0)
        rc = db_step(q);
    if (rc == 0) {
        *ret_facts = db_col_dup(q, 0);
        *ret_time = db_col_i64(q, 1);
    }
    db_finish(q);
    return rc;
}

/* ---- one workunit ---- */

static int
count_results(struct db *db, int64_t id, struct explain_workunit *ret)
{
    struct db_query *q = db_prepare(
        db, "SELECT server_state, COUNT(*), MIN(id), MAX(priority) FROM result"
            " WHERE workunitid = ? GROUP BY server_state");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, id) == 0)
        while ((rc = db_step(q)) == 0) {
            int n = (int)db_col_i64(q, 1);

            ret->n_results += n;
            switch (db_col_i64(q, 0)) {
            case RESULT_UNSENT:
                ret->n_unsent = n;
                ret->job.result_id = db_col_i64(q, 2);
                ret->job.priority = (int32_t)db_col_i64(q, 3);
                break;
            case RESULT_IN_PROGRESS:
                ret->n_in_progress = n;
                break;
            case RESULT_OVER:
                ret->n_over = n;
                break;
            }
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

#define WORKUNIT_COLUMNS                                                       \
    "w.id, w.appid, w.batch, w.app_version_id, w.delay_bound, "                \
    "w.rsc_fpops_est, w.rsc_fpops_bound, w.rsc_memory_bound, "                 \
    "w.rsc_disk_bound, w.rsc_bandwidth_bound, w.priority, w.hr_class, "        \
    "w.app_version_num, w.size_class, w.name, w.error_mask, "                  \
    "w.canonical_resultid, w.transitioner_flags, a.name, a.deprecated"

static void
workunit_from_row(struct db_query *q, struct explain_workunit *ret)
{
    *ret = (struct explain_workunit){
        .job =
            {
                  .wu_id = db_col_i64(q, 0),
                  .appid = db_col_i64(q, 1),
                  .batch = db_col_i64(q, 2),
                  .app_version_id = db_col_i64(q, 3),
                  .delay_bound = db_col_i64(q, 4),
                  .rsc_fpops_est = db_col_double(q, 5),
                  .rsc_fpops_bound = db_col_double(q, 6),
                  .rsc_memory_bound = db_col_double(q, 7),
                  .rsc_disk_bound = db_col_double(q, 8),
                  .rsc_bandwidth_bound = db_col_double(q, 9),
                  .priority = (int32_t)db_col_i64(q, 10),
                  .hr_class = (int32_t)db_col_i64(q, 11),
                  .app_version_num = (int32_t)db_col_i64(q, 12),
                  .size_class = (int32_t)db_col_i64(q, 13),
                  },
        .error_mask = (unsigned)db_col_i64(q, 15),
        .canonical_resultid = db_col_i64(q, 16),
        .transitioner_flags = (int)db_col_i64(q, 17),
        .app_deprecated = db_col_i64(q, 19) != 0,
    };
    db_col_copy(q, 14, ret->name, sizeof(ret->name));
    db_col_copy(q, 18, ret->app_name, sizeof(ret->app_name));
}

int
db_explain_workunit(struct db *db, int64_t id, struct explain_workunit *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT " WORKUNIT_COLUMNS " FROM workunit w LEFT JOIN"
                       " app a ON a.id = w.appid WHERE w.id = ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, id) == 0)
        rc = db_step(q);
    if (rc == 0)
        workunit_from_row(q, ret);
    db_finish(q);
    return rc == 0 ? count_results(db, id, ret) : rc;
}

/* Room for one more. */
static void *
grow(void *list, size_t n, size_t size)
{
    if ((n & (n - 1)) != 0) /* a power of two is full */
        return list;
    return xrealloc(list, (n == 0 ? 1 : 2 * n) * size);
}

int
db_explain_owners(struct db *db, int64_t wu_id, struct explain_owner **ret,
                  size_t *ret_n)
{
    struct db_query *q =
        db_prepare(db, "SELECT DISTINCT userid, hostid FROM result"
                       " WHERE workunitid = ? AND hostid <> 0");
    int rc = -1;

    *ret = NULL;
    *ret_n = 0;
    if (q != NULL && db_bind_i64(q, 0, wu_id) == 0)
        while ((rc = db_step(q)) == 0) {
            *ret = grow(*ret, *ret_n, sizeof(**ret));
            (*ret)[(*ret_n)++] =
                (struct explain_owner){db_col_i64(q, 0), db_col_i64(q, 1)};
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

/* ---- one host ---- */

int
db_explain_jobs(struct db *db, int64_t hostid, size_t max,
                struct explain_job **ret, size_t *ret_n)
{
    struct db_query *q = db_prepare(
        db, "SELECT name, appid, app_version_id FROM result WHERE hostid = ?"
            " AND server_state = ? ORDER BY id LIMIT ?");
    int rc = -1;

    *ret = NULL;
    *ret_n = 0;
    if (q != NULL && db_bind_i64(q, 0, hostid) == 0 &&
        db_bind_i64(q, 1, RESULT_IN_PROGRESS) == 0 &&
        db_bind_i64(q, 2, (int64_t)max) == 0)
        while ((rc = db_step(q)) == 0) {
            struct explain_job *job;

            *ret = grow(*ret, *ret_n, sizeof(**ret));
            job = &(*ret)[(*ret_n)++];
            db_col_copy(q, 0, job->name, sizeof(job->name));
            job->appid = db_col_i64(q, 1);
            job->app_version_id = db_col_i64(q, 2);
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

/* ---- many hosts ---- */

void
explain_host_free(struct explain_host *h)
{
    free(h->facts);
    free(h->user.global_prefs);
    free(h->user.project_prefs);
    *h = (struct explain_host){.facts = NULL};
}

static char *
text_or_null(struct db_query *q, unsigned i)
{
    return db_col_is_null(q, i) ? NULL : db_col_dup(q, i);
}

static void
host_from_row(struct db_query *q, struct explain_host *ret)
{
    unsigned i;

    memset(ret, 0, sizeof(*ret));
    i = db_host_from_row(q, &ret->host);
    ret->host.id = db_col_i64(q, i);
    ret->user.id = ret->host.userid;
    ret->facts = text_or_null(q, i + 1);
    ret->user.global_prefs = text_or_null(q, i + 2);
    ret->user.project_prefs = text_or_null(q, i + 3);
    ret->user.only_own_jobs = db_col_i64(q, i + 4) != 0;
    ret->user.teamid = db_col_i64(q, i + 5);
}

/* Walked by the primary key: an index on rpc_time would mean a sort for each
 * page. */
int
db_explain_hosts(struct db *db, int64_t above, int64_t since, size_t limit,
                 struct explain_host *ret, size_t *ret_n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    *ret_n = 0;
    buf_add(&sql, "SELECT ");
    db_host_columns(&sql, "h");
    buf_add(&sql, ", h.id, UNCOMPRESS(x.facts), u.global_prefs,"
                  " u.project_prefs, u.seti_id, u.teamid"
                  " FROM host h FORCE INDEX (PRIMARY)"
                  " LEFT JOIN x_host_request x ON x.host_id = h.id"
                  " LEFT JOIN user u ON u.id = h.userid"
                  " WHERE h.id > ? AND h.rpc_time >= ? AND h.userid <> 0"
                  " ORDER BY h.id LIMIT ?");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q != NULL && db_bind_i64(q, 0, above) == 0 &&
        db_bind_i64(q, 1, since) == 0 && db_bind_i64(q, 2, (int64_t)limit) == 0)
        while ((rc = db_step(q)) == 0)
            host_from_row(q, &ret[(*ret_n)++]);
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}
