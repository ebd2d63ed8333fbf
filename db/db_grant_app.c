/* db_grant_app.c - credit by application: credit_user and credit_team.
 *
 * As in db_grant.c the rows are locked, read, computed and written.  A row that
 * is not there is made first. */
#include "db_grant.h"

#include <stdbool.h>
#include <stdlib.h>

#include "buf.h"
#include "credit.h"
#include "db.h"
#include "db_many.h"

enum { ROWS_AT_ONCE = 256 };

/* credit_type 0: for computing. */
static const struct {
    const char *select, *insert, *update;
} statements[] = {
    [GRANT_USER] = {"SELECT userid, appid, expavg, expavg_time FROM "
                    "credit_user WHERE credit_type = 0 AND (userid, appid) IN "
                    "(", "INSERT INTO credit_user (userid, appid, njobs, total, "
                    "expavg, expavg_time, credit_type) VALUES ", "credit_user o ON o.userid = v.owner"},
    [GRANT_TEAM] = {"SELECT teamid, appid, expavg, expavg_time FROM "
                    "credit_team WHERE credit_type = 0 AND (teamid, appid) IN "
                    "(", "INSERT INTO credit_team (teamid, appid, njobs, total, "
                    "expavg, expavg_time, credit_type) VALUES ", "credit_team o ON o.teamid = v.owner"},
};

/* A row of one of the two tables, and what it gets. */
struct app_owner {
    int64_t owner, appid;
    bool found;
    double avg, avg_time;
    int64_t jobs;
    double added;
};

static int
by_key(int64_t owner, int64_t appid, int64_t owner2, int64_t appid2)
{
    if (owner != owner2)
        return owner < owner2 ? -1 : 1;
    return (appid > appid2) - (appid < appid2);
}

static int
by_owner(const void *a, const void *b)
{
    const struct app_grant *x = a, *y = b;

    return by_key(x->owner, x->appid, y->owner, y->appid);
}

static int
bind_keys(struct db_query *q, const struct app_owner *o, size_t n)
{
    unsigned p = 0;

    for (size_t i = 0; i < db_padded(n); i++)
        if (db_bind_i64(q, p++, o[i < n ? i : n - 1].owner) != 0 ||
            db_bind_i64(q, p++, o[i < n ? i : n - 1].appid) != 0)
            return -1;
    return 0;
}

static int
lock_rows(struct db *db, enum grant_kind kind, struct app_owner *o, size_t n,
          size_t *ret_found)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    *ret_found = 0;
    buf_add(&sql, statements[kind].select);
    db_placeholder_rows(&sql, db_padded(n), 2);
    buf_add(&sql, ") ORDER BY 1, 2 FOR UPDATE");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q != NULL && bind_keys(q, o, n) == 0)
        for (size_t i = 0; (rc = db_step(q)) == 0; i++) {
            while (by_key(o[i].owner, o[i].appid, db_col_i64(q, 0),
                          db_col_i64(q, 1)) != 0)
                i++;
            o[i].found = true;
            o[i].avg = db_col_double(q, 2);
            o[i].avg_time = db_col_double(q, 3);
            (*ret_found)++;
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static int
make_rows(struct db *db, enum grant_kind kind, const struct app_owner *o,
          size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    buf_add(&sql, statements[kind].insert);
    for (size_t i = 0; i < db_padded(n); i++)
        buf_addf(&sql, "%s(?, ?, 0, 0, 0, 0, 0)", i == 0 ? "" : ", ");
    buf_add(&sql, " ON DUPLICATE KEY UPDATE appid = VALUES(appid)");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q != NULL && bind_keys(q, o, n) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

static int
store_rows(struct db *db, enum grant_kind kind, const struct app_owner *o,
           size_t n)
{
    static const struct db_value_column columns[] = {
        {"owner",        'i'},
        {"app",          'i'},
        {"jobs",         'i'},
        {"added",        'd'},
        {"average",      'd'},
        {"average_time", 'd'},
    };
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    buf_add(&sql, "UPDATE (");
    db_value_table(&sql, columns, ARRAY_LEN(columns), n);
    buf_addf(&sql,
             ") v STRAIGHT_JOIN %s AND o.appid = v.app AND o.credit_type = 0 "
             "SET o.njobs = o.njobs + v.jobs, o.total = o.total + v.added, "
             "o.expavg = v.average, o.expavg_time = v.average_time",
             statements[kind].update);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (db_bind_i64(q, p++, o[i].owner) != 0 ||
            db_bind_i64(q, p++, o[i].appid) != 0 ||
            db_bind_i64(q, p++, o[i].jobs) != 0 ||
            db_bind_double(q, p++, o[i].added) != 0 ||
            db_bind_double(q, p++, o[i].avg) != 0 ||
            db_bind_double(q, p++, o[i].avg_time) != 0)
            goto out;
    if (db_bind_padding(q, &p, ARRAY_LEN(columns), n) == 0)
        rc = db_step(q);
out:
    db_finish(q);
    return rc;
}

/* All grants of these n owners, and no others, are g[0 … n_grants - 1]. */
static int
grant_part(struct db *db, enum grant_kind kind, struct app_owner *o, size_t n,
           const struct app_grant *g, size_t n_grants, int64_t now)
{
    size_t found;

    if (lock_rows(db, kind, o, n, &found) != 0)
        return -1;
    if (found < n && (make_rows(db, kind, o, n) != 0 ||
                      lock_rows(db, kind, o, n, &found) != 0))
        return -1;
    for (size_t i = 0, row = 0; i < n_grants; i++) {
        while (by_key(o[row].owner, o[row].appid, g[i].owner, g[i].appid) != 0)
            row++;
        o[row].jobs++;
        o[row].added += g[i].credit;
        credit_update_average((double)now, (double)g[i].start, g[i].credit,
                              CREDIT_HALF_LIFE, &o[row].avg, &o[row].avg_time);
    }
    return store_rows(db, kind, o, n);
}

int
db_grant_by_app(struct db *db, enum grant_kind kind, struct app_grant *g,
                size_t n, int64_t now)
{
    struct app_owner o[ROWS_AT_ONCE];

    qsort(g, n, sizeof(*g), by_owner);
    for (size_t i = 0, from; i < n;) {
        size_t rows = 0;

        for (from = i; i < n; i++) {
            if (rows == 0 || by_owner(&g[i - 1], &g[i]) != 0) {
                if (rows == ROWS_AT_ONCE)
                    break;
                o[rows++] = (struct app_owner){.owner = g[i].owner,
                                               .appid = g[i].appid};
            }
        }
        if (grant_part(db, kind, o, rows, g + from, i - from, now) != 0)
            return -1;
    }
    return 0;
}
