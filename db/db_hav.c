/* db_hav.c - host_app_version: what the transitioner and the validator learn
 * about a host with one app version.
 *
 * Rows are locked as they are read.  Those that are not there yet are inserted,
 * then all are read again; to insert first would lock gaps between rows, in
 * which two programs could wait for each other. */
#include "db_hav.h"

#include <stdbool.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "db_many.h"

enum { ROWS_AT_ONCE = 256 };

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

static int
make_missing(struct db *db, const struct host_app_version *hav, size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    buf_add(&sql, "INSERT INTO host_app_version (host_id, app_version_id, "
                  "pfc_n, pfc_avg, et_n, et_avg, et_var, et_q, "
                  "max_jobs_per_day, n_jobs_today, turnaround_n, "
                  "turnaround_avg, turnaround_var, turnaround_q, "
                  "consecutive_valid) VALUES ");
    for (size_t k = 0; k < db_padded(n); k++)
        buf_addf(&sql, "%s(?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
                 k == 0 ? "" : ", ");
    buf_add(&sql, " ON DUPLICATE KEY UPDATE host_id = host_id");
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL && bind_keys(q, hav, n) == 0)
        rc = db_step(q);
    db_finish(q);
    buf_free(&sql);
    return rc;
}

static void
fill(struct host_app_version *h, struct db_query *q)
{
    h->pfc_n = db_col_double(q, 2);
    h->pfc_avg = db_col_double(q, 3);
    h->et_n = db_col_double(q, 4);
    h->et_avg = db_col_double(q, 5);
    h->et_var = db_col_double(q, 6);
    h->et_q = db_col_double(q, 7);
    h->max_jobs_per_day = (int)db_col_i64(q, 8);
    h->n_jobs_today = (int)db_col_i64(q, 9);
    h->turnaround_n = db_col_double(q, 10);
    h->turnaround_avg = db_col_double(q, 11);
    h->turnaround_var = db_col_double(q, 12);
    h->turnaround_q = db_col_double(q, 13);
    h->consecutive_valid = (int)db_col_i64(q, 14);
}

/* Lock and read; there[i] says whether row i is there. */
static int
read_rows(struct db *db, struct host_app_version *hav, bool *there, size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    memset(there, 0, n * sizeof(*there));
    buf_add(&sql,
            "SELECT host_id, app_version_id, pfc_n, pfc_avg, et_n, et_avg, "
            "et_var, et_q, max_jobs_per_day, n_jobs_today, turnaround_n, "
            "turnaround_avg, turnaround_var, turnaround_q, consecutive_valid "
            "FROM host_app_version WHERE (host_id, app_version_id) IN (");
    db_placeholder_rows(&sql, db_padded(n), 2);
    buf_add(&sql, ") ORDER BY host_id, app_version_id FOR UPDATE");
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

    if (read_rows(db, hav, there, n) != 0)
        return -1;
    n_missing = missing_rows(hav, there, n, missing);
    if (n_missing == 0)
        return 0;
    if (make_missing(db, missing, n_missing) != 0)
        return -1;
    return read_rows(db, hav, there, n);
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

static int
store_rows(struct db *db, const struct host_app_version *hav, size_t n)
{
    static const struct db_value_column columns[] = {
        {"host",        'i'},
        {"version",     'i'},
        {"max_jobs",    'i'},
        {"consecutive", 'i'},
        {"t_n",         'd'},
        {"t_avg",       'd'},
        {"t_var",       'd'},
        {"t_q",         'd'},
    };
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    buf_add(&sql, "UPDATE (");
    db_value_table(&sql, columns, ARRAY_LEN(columns), n);
    buf_add(&sql,
            ") v STRAIGHT_JOIN host_app_version h ON h.host_id = v.host "
            "AND h.app_version_id = v.version SET "
            "h.max_jobs_per_day = v.max_jobs, "
            "h.consecutive_valid = v.consecutive, h.turnaround_n = v.t_n, "
            "h.turnaround_avg = v.t_avg, h.turnaround_var = v.t_var, "
            "h.turnaround_q = v.t_q");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t k = 0; k < n; k++) {
        const struct host_app_version *h = &hav[k];

        if (db_bind_i64(q, p++, h->host_id) != 0 ||
            db_bind_i64(q, p++, h->app_version_id) != 0 ||
            db_bind_i64(q, p++, h->max_jobs_per_day) != 0 ||
            db_bind_i64(q, p++, h->consecutive_valid) != 0 ||
            db_bind_double(q, p++, h->turnaround_n) != 0 ||
            db_bind_double(q, p++, h->turnaround_avg) != 0 ||
            db_bind_double(q, p++, h->turnaround_var) != 0 ||
            db_bind_double(q, p++, h->turnaround_q) != 0)
            goto out;
    }
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

        if (store_rows(db, hav + i, part) != 0)
            return -1;
    }
    return 0;
}
