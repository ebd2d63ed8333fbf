/* db_scale.c - what the versions of an app usually claim, against each other.
 *
 * The averages are read without a lock: they are estimates, and move on. */
#include "db_scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "buf.h"
#include "db.h"
#include "db_many.h"
#include "pfc.h"

enum { ROWS_AT_ONCE = 256 };

#define UNCHANGED 1e-9 /* relative */

struct scales {
    struct app_version *version; /* by app, then id */
    double *old_min_avg_pfc;     /* of each version's app */
    size_t n;
    struct new_value {
        int64_t id;
        double value;
    } * of_version, *of_app; /* to be stored */
    size_t n_of_version, n_of_app;
};

static void
free_scales(struct scales *s)
{
    free(s->version);
    free(s->old_min_avg_pfc);
    free(s->of_version);
    free(s->of_app);
    *s = (struct scales){0};
}

static void
add_row(struct scales *s, struct db_query *q)
{
    struct app_version *v;

    if ((s->n & (s->n - 1)) == 0) { /* 0 or a power of two: full */
        size_t room = s->n > 0 ? 2 * s->n : 1;

        s->version = xrealloc(s->version, room * sizeof(*s->version));
        s->old_min_avg_pfc =
            xrealloc(s->old_min_avg_pfc, room * sizeof(*s->old_min_avg_pfc));
    }
    v = &s->version[s->n];
    memset(v, 0, sizeof(*v));
    v->id = db_col_i64(q, 0);
    v->appid = db_col_i64(q, 1);
    db_col_copy(q, 2, v->plan_class, sizeof(v->plan_class));
    v->pfc_n = db_col_double(q, 3);
    v->pfc_avg = db_col_double(q, 4);
    v->pfc_scale = db_col_double(q, 5);
    s->old_min_avg_pfc[s->n++] = db_col_double(q, 6);
}

static int
read_versions(struct db *db, struct scales *s)
{
    struct db_query *q = db_prepare(
        db, "SELECT v.id, v.appid, v.plan_class, v.pfc_n, v.pfc_avg, "
            "v.pfc_scale, a.min_avg_pfc FROM app_version v "
            "JOIN app a ON a.id = v.appid "
            "WHERE v.deprecated = 0 AND a.deprecated = 0 "
            "ORDER BY v.appid, v.id");
    int rc = -1;

    while (q != NULL && (rc = db_step(q)) == 0)
        add_row(s, q);
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static bool
differs(double x, double y)
{
    return fabs(x - y) > UNCHANGED * fmax(fabs(x), fabs(y));
}

/* Versions first … first + n - 1 are those of one app. */
static void
scale_app(struct scales *s, size_t first, size_t n)
{
    struct app_version *v = &s->version[first];
    double *old = xcalloc(n, sizeof(*old));
    double base;

    for (size_t i = 0; i < n; i++)
        old[i] = v[i].pfc_scale;
    if (pfc_scale_versions(v, n, &base)) {
        for (size_t i = 0; i < n; i++)
            if (differs(old[i], v[i].pfc_scale))
                s->of_version[s->n_of_version++] =
                    (struct new_value){v[i].id, v[i].pfc_scale};
        if (differs(s->old_min_avg_pfc[first], base))
            s->of_app[s->n_of_app++] = (struct new_value){v->appid, base};
    }
    free(old);
}

static void
scale_all(struct scales *s)
{
    s->of_version = xcalloc(s->n + 1, sizeof(*s->of_version));
    s->of_app = xcalloc(s->n + 1, sizeof(*s->of_app));
    for (size_t first = 0, next; first < s->n; first = next) {
        for (next = first;
             next < s->n && s->version[next].appid == s->version[first].appid;)
            next++;
        scale_app(s, first, next - first);
    }
}

static int
by_id(const void *a, const void *b)
{
    const struct new_value *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static int
store(struct db *db, const struct new_value *row, size_t n, const char *update)
{
    static const struct db_value_column columns[] = {
        {"row_id", 'i'},
        {"value",  'd'},
    };
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    buf_add(&sql, "UPDATE (");
    db_value_table(&sql, columns, ARRAY_LEN(columns), n);
    buf_add(&sql, update);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (db_bind_i64(q, p++, row[i].id) != 0 ||
            db_bind_double(q, p++, row[i].value) != 0)
            goto out;
    if (db_bind_padding(q, &p, ARRAY_LEN(columns), n) == 0)
        rc = db_step(q);
out:
    db_finish(q);
    return rc;
}

static int
store_all(struct db *db, void *arg)
{
    struct scales *s = arg;
    int rc = 0;

    qsort(s->of_version, s->n_of_version, sizeof(*s->of_version), by_id);
    for (size_t i = 0; i < s->n_of_version && rc == 0; i += ROWS_AT_ONCE)
        rc = store(db, s->of_version + i,
                   s->n_of_version - i < ROWS_AT_ONCE ? s->n_of_version - i
                                                      : (size_t)ROWS_AT_ONCE,
                   ") n STRAIGHT_JOIN app_version v ON v.id = n.row_id "
                   "SET v.pfc_scale = n.value");
    for (size_t i = 0; i < s->n_of_app && rc == 0; i += ROWS_AT_ONCE)
        rc = store(db, s->of_app + i,
                   s->n_of_app - i < ROWS_AT_ONCE ? s->n_of_app - i
                                                  : (size_t)ROWS_AT_ONCE,
                   ") n STRAIGHT_JOIN app a ON a.id = n.row_id "
                   "SET a.min_avg_pfc = n.value");
    return rc;
}

int
db_scale_versions(struct db *db, size_t *ret_changed)
{
    struct scales s = {0};
    int rc = read_versions(db, &s);

    *ret_changed = 0;
    if (rc == 0) {
        scale_all(&s);
        if (s.n_of_version + s.n_of_app > 0)
            rc = db_transaction(db, store_all, &s);
        if (rc == 0)
            *ret_changed = s.n_of_version + s.n_of_app;
    }
    free_scales(&s);
    return rc == 0 ? 0 : -1;
}
