/* db_size.c - how fast and how many the hosts are, and jobs of a size class. */
#include "db_size.h"

#include <stdlib.h>

#include "buf.h"
#include "census.h"
#include "db.h"
#include "db_many.h"
#include "names.h"

/* ---- hosts ----------------------------------------------------------------
 */

int
db_census_hosts(struct db *db, void (*fn)(void *, const struct census_host *),
                void *arg)
{
    struct db_query *q =
        db_prepare(db, "SELECT os_name, p_vendor, p_model, expavg_credit "
                       "FROM host WHERE expavg_credit > ?");
    int rc = -1;

    if (q != NULL && db_bind_double(q, 0, CENSUS_MIN_CREDIT) == 0)
        while ((rc = db_step(q)) == 0) {
            struct census_host h = {.credit = db_col_double(q, 3)};

            db_col_copy(q, 0, h.os_name, sizeof(h.os_name));
            db_col_copy(q, 1, h.p_vendor, sizeof(h.p_vendor));
            db_col_copy(q, 2, h.p_model, sizeof(h.p_model));
            fn(arg, &h);
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

int
db_census_speeds(struct db *db, int64_t appid, double **ret, size_t *ret_n)
{
    struct db_query *q = db_prepare(
        db, "SELECT h.on_frac * h.active_frac / x.et_avg FROM app_version v "
            "JOIN host_app_version x ON x.app_version_id = v.id "
            "JOIN host h ON h.id = x.host_id "
            "WHERE v.appid = ? AND x.et_avg > 0 AND h.expavg_credit > ?");
    double *speed = NULL;
    size_t n = 0;
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, appid) == 0 &&
        db_bind_double(q, 1, CENSUS_MIN_CREDIT) == 0)
        while ((rc = db_step(q)) == 0) {
            /* a power of two is full when n reaches it */
            if ((n & (n - 1)) == 0)
                speed = xrealloc(speed, (n == 0 ? 1 : 2 * n) * sizeof(*speed));
            speed[n++] = db_col_double(q, 0);
        }
    db_finish(q);
    if (rc != DB_NONE) {
        free(speed);
        return -1;
    }
    *ret = speed;
    *ret_n = n;
    return 0;
}

int
db_sized_apps(struct db *db, struct sized_app **ret, size_t *ret_n)
{
    struct db_query *q =
        db_prepare(db, "SELECT id, name, n_size_classes FROM app "
                       "WHERE deprecated = 0 AND n_size_classes > 1 "
                       "ORDER BY id");
    struct sized_app *app = NULL;
    size_t n = 0;
    int rc = -1;

    while (q != NULL && (rc = db_step(q)) == 0) {
        app = xrealloc(app, (n + 1) * sizeof(*app));
        app[n].id = db_col_i64(q, 0);
        db_col_copy(q, 1, app[n].name, sizeof(app[n].name));
        app[n++].n_size_classes = (int)db_col_i64(q, 2);
    }
    db_finish(q);
    if (rc != DB_NONE) {
        free(app);
        return -1;
    }
    *ret = app;
    *ret_n = n;
    return 0;
}

/* ---- jobs -----------------------------------------------------------------
 */

int
db_size_classes(struct db *db, int64_t appid, int *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT n_size_classes FROM app WHERE id = ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, appid) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret = (int)db_col_i64(q, 0);
    db_finish(q);
    return rc;
}

int
db_size_count(struct db *db, int64_t appid, int size_class, int64_t limit,
              int64_t *ret)
{
    struct db_query *q = db_prepare(
        db, "SELECT COUNT(*) FROM (SELECT id FROM result WHERE appid = ? "
            "AND server_state = ? AND size_class = ? LIMIT ?) x");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, appid) == 0 &&
        db_bind_i64(q, 1, RESULT_UNSENT) == 0 &&
        db_bind_i64(q, 2, size_class) == 0 && db_bind_i64(q, 3, limit) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret = db_col_i64(q, 0);
    db_finish(q);
    return rc == 0 ? 0 : -1;
}

static const char *const orders[] = {
    [SIZE_BY_ID] = "r.id",
    [SIZE_RANDOM] = "r.random",
    [SIZE_BEST] = "r.priority DESC, r.workunitid",
    [SIZE_WORST] = "r.priority, r.workunitid DESC",
};

struct release {
    int64_t appid;
    int size_class;
    enum size_order order;
    size_t max;

    int64_t *result, *wu;
    size_t n, released;
};

static int
find_inactive(struct db *db, struct release *r)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    buf_addf(&sql,
             "SELECT r.id, r.workunitid FROM result r JOIN workunit w "
             "ON w.id = r.workunitid WHERE r.appid = ? AND r.server_state = ? "
             "AND r.size_class = ? AND w.error_mask = 0 ORDER BY %s LIMIT ?",
             orders[r->order]);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    r->n = 0;
    if (q != NULL && db_bind_i64(q, 0, r->appid) == 0 &&
        db_bind_i64(q, 1, RESULT_INACTIVE) == 0 &&
        db_bind_i64(q, 2, r->size_class) == 0 &&
        db_bind_i64(q, 3, (int64_t)r->max) == 0)
        while ((rc = db_step(q)) == 0 && r->n < r->max) {
            r->result[r->n] = db_col_i64(q, 0);
            r->wu[r->n++] = db_col_i64(q, 1);
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static int
lock_workunits(struct db *db, const struct release *r)
{
    struct db_query *q =
        db_prepare_list(db, "SELECT id FROM workunit WHERE id IN (", r->n,
                        ") ORDER BY id FOR UPDATE");
    unsigned p = 0;
    int rc = -1;

    if (q != NULL && db_bind_list(q, &p, r->wu, r->n) == 0)
        while ((rc = db_step(q)) == 0)
            ;
    db_finish(q);
    return rc == DB_NONE ? 0 : rc;
}

static int
release_some(struct db *db, void *arg)
{
    struct release *r = arg;
    struct db_query *q = NULL;
    unsigned p = 1;
    int rc = find_inactive(db, r);

    r->released = 0;
    if (rc != 0 || r->n == 0)
        return rc;
    rc = lock_workunits(db, r);
    if (rc != 0)
        return rc;
    q = db_prepare_list(
        db,
        "UPDATE result r FORCE INDEX (PRIMARY) JOIN workunit w "
        "ON w.id = r.workunitid SET r.server_state = ? WHERE r.id IN (",
        r->n, ") AND r.server_state = ? AND w.error_mask = 0");
    rc = -1;
    if (q != NULL && db_bind_i64(q, 0, RESULT_UNSENT) == 0 &&
        db_bind_list(q, &p, r->result, r->n) == 0 &&
        db_bind_i64(q, p, RESULT_INACTIVE) == 0)
        rc = db_step(q);
    if (rc == 0)
        r->released = (size_t)db_affected(q);
    db_finish(q);
    return rc;
}

int
db_size_release(struct db *db, int64_t appid, int size_class,
                enum size_order order, size_t max, size_t *ret_n)
{
    struct release r = {
        .appid = appid,
        .size_class = size_class,
        .order = order,
        .max = max,
        .result = xcalloc(max + 1, sizeof(int64_t)),
        .wu = xcalloc(max + 1, sizeof(int64_t)),
    };
    int rc = db_transaction(db, release_some, &r);

    *ret_n = rc == 0 ? r.released : 0;
    free(r.result);
    free(r.wu);
    return rc;
}
