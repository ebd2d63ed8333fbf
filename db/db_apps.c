/* db_apps.c - platforms, applications and their versions: what xadd and
 * update_versions ask and write. */
#include "db_apps.h"

#include <string.h>

#include "buf.h"
#include "db.h"

const struct db_app_column db_app_columns[] = {
    {"min_version",             DB_COLUMN_INT,    0,  2147483647},
    {"deprecated",              DB_COLUMN_INT,    0,  1         },
    {"user_friendly_name",      DB_COLUMN_TEXT,   0,  0         },
    {"homogeneous_redundancy",  DB_COLUMN_INT,    0,  3         },
    {"weight",                  DB_COLUMN_DOUBLE, -1, 1e9       },
    {"beta",                    DB_COLUMN_INT,    0,  1         },
    {"target_nresults",         DB_COLUMN_INT,    0,  32767     },
    {"host_scale_check",        DB_COLUMN_INT,    0,  1         },
    {"homogeneous_app_version", DB_COLUMN_INT,    0,  1         },
    {"non_cpu_intensive",       DB_COLUMN_INT,    0,  1         },
    {"locality_scheduling",     DB_COLUMN_INT,    0,  1         },
    {"n_size_classes",          DB_COLUMN_INT,    0,  100       },
    {"fraction_done_exact",     DB_COLUMN_INT,    0,  1         },
};
const size_t n_db_app_columns = ARRAY_LEN(db_app_columns);

/* One statement with text parameters that returns no rows. */
static int
run_texts(struct db *db, const char *sql, const char *const *text, size_t n,
          int64_t *ret_affected)
{
    struct db_query *q = db_prepare(db, sql);
    int rc = q != NULL ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = db_bind_text(q, (unsigned)i, text[i]);
    if (rc == 0)
        rc = db_step(q);
    if (rc == 0 && ret_affected != NULL)
        *ret_affected = db_affected(q);
    db_finish(q);
    return rc;
}

/* Insert a row that has create_time, name and user_friendly_name. */
static int
insert_named(struct db *db, const char *sql, const char *name,
             const char *friendly, int64_t now)
{
    struct db_query *q = db_prepare(db, sql);
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, now) == 0 &&
        db_bind_text(q, 1, name) == 0 && db_bind_text(q, 2, friendly) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

int
db_platform_put(struct db *db, const char *name, const char *user_friendly_name,
                int64_t now, enum db_put *ret)
{
    const char *const text[] = {user_friendly_name, name, user_friendly_name};
    struct platform old;
    int64_t changed = 0;
    int rc = db_platform_by_name(db, name, &old);

    *ret = DB_PUT_SAME;
    if (rc == DB_NONE) {
        *ret = DB_PUT_ADDED;
        rc = insert_named(db,
                          "INSERT INTO platform (create_time, name, "
                          "user_friendly_name, deprecated) VALUES (?, ?, ?, 0)",
                          name, user_friendly_name, now);
        return rc == DB_EXISTS ? -1 : rc;
    }
    if (rc != 0)
        return rc;
    rc = run_texts(db,
                   "UPDATE platform SET user_friendly_name = ? "
                   "WHERE name = ? AND BINARY user_friendly_name <> ?",
                   text, 3, &changed);
    if (changed > 0)
        *ret = DB_PUT_CHANGED;
    return rc;
}

static int
bind_values(struct db_query *q, unsigned at, const struct db_app_value *v,
            size_t n)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++, at++) {
        switch (v[i].column->kind) {
        case DB_COLUMN_TEXT:
            rc = db_bind_text(q, at, v[i].text);
            break;
        case DB_COLUMN_INT:
            rc = db_bind_i64(q, at, (int64_t)v[i].number);
            break;
        case DB_COLUMN_DOUBLE:
            rc = db_bind_double(q, at, v[i].number);
            break;
        }
    }
    return rc;
}

/* Set the given columns; *ret_changed says whether one of them differed. */
static int
update_app(struct db *db, const char *name, const struct db_app_value *v,
           size_t n, bool *ret_changed)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    *ret_changed = false;
    if (n == 0)
        return 0;
    buf_add(&sql, "UPDATE app SET ");
    for (size_t i = 0; i < n; i++)
        buf_addf(&sql, "%s%s = ?", i > 0 ? ", " : "", v[i].column->name);
    buf_add(&sql, " WHERE name = ? AND NOT (");
    for (size_t i = 0; i < n; i++)
        buf_addf(&sql, "%s%s%s = ?", i > 0 ? " AND " : "",
                 v[i].column->kind == DB_COLUMN_TEXT ? "BINARY " : "",
                 v[i].column->name);
    buf_add(&sql, ")");
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL && bind_values(q, 0, v, n) == 0 &&
        db_bind_text(q, (unsigned)n, name) == 0 &&
        bind_values(q, (unsigned)n + 1, v, n) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret_changed = db_affected(q) > 0;
    db_finish(q);
    buf_free(&sql);
    return rc;
}

int
db_app_put(struct db *db, const char *name, const struct db_app_value *v,
           size_t n, int64_t now, enum db_put *ret)
{
    struct app old;
    bool changed;
    int rc = db_app_by_name(db, name, &old);

    *ret = DB_PUT_SAME;
    if (rc == DB_NONE) {
        *ret = DB_PUT_ADDED;
        rc = insert_named(db,
                          "INSERT INTO app (create_time, name, "
                          "user_friendly_name) VALUES (?, ?, ?)",
                          name, name, now);
        if (rc == DB_EXISTS)
            rc = -1;
    }
    if (rc == 0)
        rc = update_app(db, name, v, n, &changed);
    if (rc == 0 && changed && *ret == DB_PUT_SAME)
        *ret = DB_PUT_CHANGED;
    return rc;
}

int
db_app_by_name(struct db *db, const char *name, struct app *ret)
{
    struct db_query *q = db_prepare(
        db, "SELECT id, name, user_friendly_name, min_version, deprecated, "
            "weight, beta, n_size_classes FROM app WHERE name = ?");
    int rc = -1;

    if (q != NULL && db_bind_text(q, 0, name) == 0)
        rc = db_step(q);
    if (rc == 0) {
        memset(ret, 0, sizeof(*ret));
        ret->id = db_col_i64(q, 0);
        db_col_copy(q, 1, ret->name, sizeof(ret->name));
        db_col_copy(q, 2, ret->user_friendly_name,
                    sizeof(ret->user_friendly_name));
        ret->min_version = (int)db_col_i64(q, 3);
        ret->deprecated = db_col_i64(q, 4) != 0;
        ret->weight = db_col_double(q, 5);
        ret->beta = db_col_i64(q, 6) != 0;
        ret->n_size_classes = (int)db_col_i64(q, 7);
    }
    db_finish(q);
    return rc;
}

int
db_platform_by_name(struct db *db, const char *name, struct platform *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT id, name, user_friendly_name, deprecated "
                       "FROM platform WHERE name = ?");
    int rc = -1;

    if (q != NULL && db_bind_text(q, 0, name) == 0)
        rc = db_step(q);
    if (rc == 0) {
        memset(ret, 0, sizeof(*ret));
        ret->id = db_col_i64(q, 0);
        db_col_copy(q, 1, ret->name, sizeof(ret->name));
        db_col_copy(q, 2, ret->user_friendly_name,
                    sizeof(ret->user_friendly_name));
        ret->deprecated = db_col_i64(q, 3) != 0;
    }
    db_finish(q);
    return rc;
}

int
db_app_version_find(struct db *db, const struct app_version *av,
                    int64_t *ret_id)
{
    struct db_query *q =
        db_prepare(db, "SELECT id FROM app_version WHERE appid = ? AND "
                       "version_num = ? AND platformid = ? AND plan_class = ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, av->appid) == 0 &&
        db_bind_i64(q, 1, av->version_num) == 0 &&
        db_bind_i64(q, 2, av->platformid) == 0 &&
        db_bind_text(q, 3, av->plan_class) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret_id = db_col_i64(q, 0);
    db_finish(q);
    return rc;
}

int
db_app_version_add(struct db *db, const struct app_version *av, int64_t now,
                   int64_t *ret_id)
{
    struct db_query *q = db_prepare(
        db, "INSERT INTO app_version (create_time, appid, version_num, "
            "platformid, xml_doc, min_core_version, max_core_version, "
            "deprecated, plan_class, beta) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?)");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, now) == 0 &&
        db_bind_i64(q, 1, av->appid) == 0 &&
        db_bind_i64(q, 2, av->version_num) == 0 &&
        db_bind_i64(q, 3, av->platformid) == 0 &&
        db_bind_blob(q, 4, av->xml_doc, strlen(av->xml_doc)) == 0 &&
        db_bind_i64(q, 5, av->min_core_version) == 0 &&
        db_bind_i64(q, 6, av->max_core_version) == 0 &&
        db_bind_text(q, 7, av->plan_class) == 0 &&
        db_bind_i64(q, 8, av->beta ? 1 : 0) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret_id = db_insert_id(q);
    db_finish(q);
    return rc;
}
