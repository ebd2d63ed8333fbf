/* db_hav.c - host_app_version: what is known about a host with one app version.
 *
 * Rows are locked as they are read.  Those that are not there yet are inserted,
 * then all are read again; to insert first would lock gaps between rows, in
 * which two programs could wait for each other. */
#include "db_hav.h"

#include <stddef.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "db_many.h"

enum { ROWS_AT_ONCE = 256 };

static const char FOR_UPDATE[] = " FOR UPDATE";

int
db_hav_compare(const void *a, const void *b)
{
    const struct host_app_version *x = a, *y = b;

    if (x->host_id != y->host_id)
        return x->host_id < y->host_id ? -1 : 1;
    if (x->app_version_id != y->app_version_id)
        return x->app_version_id < y->app_version_id ? -1 : 1;
    return 0;
}

static int
bind_keys(struct db_query *q, const struct host_app_version *hav, size_t n)
{
    unsigned p = 0;

    for (size_t k = 0; k < db_padded(n); k++) {
        const struct host_app_version *h = &hav[k < n ? k : n - 1];

        if (db_bind_i64(q, p++, h->host_id) != 0 ||
            db_bind_i64(q, p++, h->app_version_id) != 0)
            return -1;
    }
    return 0;
}

/* The keys that `there` does not mark go to ret; how many. */
static size_t
missing_rows(const struct host_app_version *hav, const bool *there, size_t n,
             struct host_app_version *ret)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if (!there[i])
            ret[k++] = hav[i];
    return k;
}

/* Every column but the key. */
static const struct hav_column {
    const char *name;
    char type; /* as in struct db_value_column */
    size_t offset;
} hav_columns[] = {
#define COLUMN(field, type)                                                    \
    {                                                                          \
#field, type, offsetof(struct host_app_version, field)                 \
    }
    /* clang-format off */
    COLUMN(pfc_n, 'd'),
    COLUMN(pfc_avg, 'd'),
    COLUMN(et_n, 'd'),
    COLUMN(et_avg, 'd'),
    COLUMN(et_var, 'd'),
    COLUMN(et_q, 'd'),
    COLUMN(max_jobs_per_day, 'i'),
    COLUMN(n_jobs_today, 'i'),
    COLUMN(turnaround_n, 'd'),
    COLUMN(turnaround_avg, 'd'),
    COLUMN(turnaround_var, 'd'),
    COLUMN(turnaround_q, 'd'),
    COLUMN(consecutive_valid, 'i'),
/* clang-format on */
#undef COLUMN
};

enum { N_COLUMNS = sizeof(hav_columns) / sizeof(hav_columns[0]) };

/* Append each column's name between these two texts. */
static void
add_columns(struct buf *sql, const char *before, const char *after)
{
    for (size_t c = 0; c < N_COLUMNS; c++)
        buf_addf(sql, "%s%s%s", before, hav_columns[c].name, after);
}

static void
add_key_table(struct buf *sql, size_t n)
{
    static const struct db_value_column key[] = {
        {"host",    'i'},
        {"version", 'i'},
    };

    db_value_table(sql, key, ARRAY_LEN(key), n);
}

/* A host that gets a new version of a program it knows is no beginner: the row
 * begins as a copy of the one with the newest other version for the same app,
 * platform and plan class.  (A copy: jobs of the other version may still be
 * out.)  Keys of the padding are 0. */
static int
make_missing(struct db *db, const struct host_app_version *hav, size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    buf_add(&sql, "INSERT INTO host_app_version (host_id, app_version_id");
    add_columns(&sql, ", ", "");
    buf_add(&sql, ") SELECT v.host, v.version");
    add_columns(&sql, ", COALESCE(p.", ", 0)");
    buf_add(&sql, " FROM (");
    add_key_table(&sql, n);
    buf_add(&sql,
            ") v LEFT JOIN host_app_version p ON p.host_id = v.host AND "
            "p.app_version_id = (SELECT o.id FROM app_version a "
            "JOIN app_version o ON o.appid = a.appid AND "
            "o.platformid = a.platformid AND o.plan_class = a.plan_class AND "
            "o.id <> a.id JOIN host_app_version h ON h.host_id = v.host AND "
            "h.app_version_id = o.id WHERE a.id = v.version "
            "ORDER BY o.version_num DESC, o.id DESC LIMIT 1) "
            "WHERE v.host <> 0 ON DUPLICATE KEY UPDATE "
            "host_app_version.host_id = host_app_version.host_id");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t k = 0; k < n; k++)
        if (db_bind_i64(q, p++, hav[k].host_id) != 0 ||
            db_bind_i64(q, p++, hav[k].app_version_id) != 0)
            goto out;
    if (db_bind_padding(q, &p, 2, n) == 0)
        rc = db_step(q);
out:
    db_finish(q);
    return rc;
}

/* From the columns behind the key. */
static void
fill(struct host_app_version *h, struct db_query *q)
{
    h->host_id = db_col_i64(q, 0);
    h->app_version_id = db_col_i64(q, 1);
    for (unsigned c = 0; c < N_COLUMNS; c++) {
        void *field = (char *)h + hav_columns[c].offset;

        if (hav_columns[c].type == 'd')
            *(double *)field = db_col_double(q, c + 2);
        else
            *(int *)field = (int)db_col_i64(q, c + 2);
    }
}

static void
add_select(struct buf *sql)
{
    buf_add(sql, "SELECT host_id, app_version_id");
    add_columns(sql, ", ", "");
    buf_add(sql, " FROM host_app_version WHERE ");
}

/* Read, and lock; there[i] says whether row i is there. */
static int
read_rows(struct db *db, struct host_app_version *hav, bool *there, size_t n,
          const char *lock)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    memset(there, 0, n * sizeof(*there));
    add_select(&sql);
    buf_add(&sql, "(host_id, app_version_id) IN (");
    db_placeholder_rows(&sql, db_padded(n), 2);
    buf_addf(&sql, ") ORDER BY host_id, app_version_id%s", lock);
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL && bind_keys(q, hav, n) == 0)
        for (size_t i = 0; (rc = db_step(q)) == 0;) {
            struct host_app_version key = {.host_id = db_col_i64(q, 0),
                                           .app_version_id = db_col_i64(q, 1)};

            while (i < n && db_hav_compare(&hav[i], &key) < 0)
                i++;
            if (i < n && db_hav_compare(&hav[i], &key) == 0) {
                fill(&hav[i], q);
                there[i] = true;
            }
        }
    db_finish(q);
    buf_free(&sql);
    return rc == DB_NONE ? 0 : -1;
}

static int
lock_part(struct db *db, struct host_app_version *hav, size_t n)
{
    struct host_app_version missing[ROWS_AT_ONCE];
    bool there[ROWS_AT_ONCE];
    size_t n_missing;

    if (read_rows(db, hav, there, n, FOR_UPDATE) != 0)
        return -1;
    n_missing = missing_rows(hav, there, n, missing);
    if (n_missing == 0)
        return 0;
    if (make_missing(db, missing, n_missing) != 0)
        return -1;
    return read_rows(db, hav, there, n, FOR_UPDATE);
}

int
db_hav_lock(struct db *db, struct host_app_version *hav, size_t n)
{
    for (size_t i = 0; i < n; i += ROWS_AT_ONCE) {
        size_t part = n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE;

        if (lock_part(db, hav + i, part) != 0)
            return -1;
    }
    return 0;
}

int
db_hav_read(struct db *db, struct host_app_version *hav, bool *there, size_t n)
{
    for (size_t i = 0; i < n; i += ROWS_AT_ONCE) {
        size_t part = n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE;

        if (read_rows(db, hav + i, there + i, part, "") != 0)
            return -1;
    }
    return 0;
}

/* All rows whose host is in a condition with these values. */
static int
rows_of_hosts(struct db *db, const char *condition, const int64_t *value,
              unsigned n_values, struct host_app_version **ret, size_t *ret_n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    size_t room = 0;
    int rc = -1;

    *ret = NULL;
    *ret_n = 0;
    add_select(&sql);
    buf_add(&sql, condition);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q != NULL)
        rc = 0;
    for (unsigned i = 0; rc == 0 && i < n_values; i++)
        rc = db_bind_i64(q, i, value[i]);
    if (rc == 0)
        while ((rc = db_step(q)) == 0) {
            if (*ret_n == room) {
                room = room > 0 ? 2 * room : 8;
                *ret = xrealloc(*ret, room * sizeof(**ret));
            }
            fill(&(*ret)[(*ret_n)++], q);
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

int
db_hav_of_host(struct db *db, int64_t host_id, struct host_app_version **ret,
               size_t *ret_n)
{
    return rows_of_hosts(db, "host_id = ? ORDER BY app_version_id", &host_id, 1,
                         ret, ret_n);
}

int
db_hav_lock_of_host(struct db *db, int64_t host_id,
                    struct host_app_version **ret, size_t *ret_n)
{
    return rows_of_hosts(db, "host_id = ? ORDER BY app_version_id FOR UPDATE",
                         &host_id, 1, ret, ret_n);
}

int
db_hav_of_hosts(struct db *db, int64_t above, int64_t upto,
                struct host_app_version **ret, size_t *ret_n)
{
    const int64_t value[] = {above, upto};

    return rows_of_hosts(
        db, "host_id > ? AND host_id <= ? ORDER BY host_id, app_version_id",
        value, 2, ret, ret_n);
}

static int
bind_columns(struct db_query *q, unsigned *p, const struct host_app_version *h)
{
    for (size_t c = 0; c < N_COLUMNS; c++) {
        const void *field = (const char *)h + hav_columns[c].offset;
        int rc = hav_columns[c].type == 'd'
                     ? db_bind_double(q, (*p)++, *(const double *)field)
                     : db_bind_i64(q, (*p)++, *(const int *)field);

        if (rc != 0)
            return -1;
    }
    return 0;
}

static int
bind_row(struct db_query *q, unsigned *p, const struct host_app_version *h)
{
    if (db_bind_i64(q, (*p)++, h->host_id) != 0 ||
        db_bind_i64(q, (*p)++, h->app_version_id) != 0)
        return -1;
    return bind_columns(q, p, h);
}

/* One alone needs no table of values: half the time. */
static int
store_row(struct db *db, const struct host_app_version *h)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    buf_add(&sql, "UPDATE host_app_version SET ");
    for (size_t c = 0; c < N_COLUMNS; c++)
        buf_addf(&sql, "%s%s = ?", c == 0 ? "" : ", ", hav_columns[c].name);
    buf_add(&sql, " WHERE host_id = ? AND app_version_id = ?");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q != NULL && bind_columns(q, &p, h) == 0 &&
        db_bind_i64(q, p, h->host_id) == 0 &&
        db_bind_i64(q, p + 1, h->app_version_id) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

static int
store_rows(struct db *db, const struct host_app_version *hav, size_t n)
{
    struct db_value_column columns[N_COLUMNS + 2] = {
        {"host",    'i'},
        {"version", 'i'},
    };
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    for (size_t c = 0; c < N_COLUMNS; c++)
        columns[c + 2] =
            (struct db_value_column){hav_columns[c].name, hav_columns[c].type};
    buf_add(&sql, "UPDATE (");
    db_value_table(&sql, columns, ARRAY_LEN(columns), n);
    buf_add(&sql, ") v STRAIGHT_JOIN host_app_version h ON "
                  "h.host_id = v.host AND h.app_version_id = v.version SET ");
    for (size_t c = 0; c < N_COLUMNS; c++)
        buf_addf(&sql, "%sh.%s = v.%s", c == 0 ? "" : ", ", hav_columns[c].name,
                 hav_columns[c].name);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t k = 0; k < n; k++)
        if (bind_row(q, &p, &hav[k]) != 0)
            goto out;
    if (db_bind_padding(q, &p, ARRAY_LEN(columns), n) == 0)
        rc = db_step(q);
out:
    db_finish(q);
    return rc;
}

int
db_hav_store(struct db *db, const struct host_app_version *hav, size_t n)
{
    for (size_t i = 0; i < n; i += ROWS_AT_ONCE) {
        size_t part = n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE;

        if ((part == 1 ? store_row(db, hav + i)
                       : store_rows(db, hav + i, part)) != 0)
            return -1;
    }
    return 0;
}
