/* db_sched_report.c - what a client reports: results.
 *
 * Thousands of results may come in one request, so all goes by lists.  A result
 * is written by one statement for up to REPORT_CHUNK of them, whose WHERE holds
 * the whole condition for accepting a report: a row that changed since it was
 * read is left alone, and the caller sees it by the count. */
#include "db_sched.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_many.h"
#include "db_sched_list.h"
#include "log.h"
#include "request.h"

enum {
    NAME_CHUNK = 256,    /* names in one SELECT */
    JOB_CHUNK = 4096,    /* the same: more jobs than a client has */
    ID_CHUNK = 512,      /* ids in one UPDATE of workunits */
    REPORT_CHUNK = 32,   /* results in one UPDATE, up to 128 KB each */
    DETACH_MAX = 100000, /* more than any host has in progress */
};

#define KNOWN_COLUMNS                                                          \
    "id, workunitid, hostid, userid, sent_time, received_time, "               \
    "report_deadline, server_state, outcome, name, appid, "                    \
    "app_version_id, file_delete_state"

static void
read_known(struct db_query *q, struct known_result *ret)
{
    ret->id = db_col_i64(q, 0);
    ret->workunitid = db_col_i64(q, 1);
    ret->hostid = db_col_i64(q, 2);
    ret->userid = db_col_i64(q, 3);
    ret->sent_time = db_col_i64(q, 4);
    ret->received_time = db_col_i64(q, 5);
    ret->report_deadline = db_col_i64(q, 6);
    ret->server_state = (enum server_state)db_col_i64(q, 7);
    ret->outcome = (enum outcome)db_col_i64(q, 8);
    db_col_copy(q, 9, ret->name, sizeof(ret->name));
    ret->appid = db_col_i64(q, 10);
    ret->app_version_id = db_col_i64(q, 11);
    ret->file_delete_state = (enum file_delete_state)db_col_i64(q, 12);
}

/* Append all rows of q to the array. */
static int
read_all_known(struct db_query *q, struct known_result **rows, size_t *n,
               size_t *room)
{
    int rc;

    while ((rc = db_step(q)) == 0) {
        if (*n == *room) {
            *room = *room > 0 ? *room * 2 : 16;
            *rows = xrealloc(*rows, *room * sizeof(**rows));
        }
        read_known(q, &(*rows)[(*n)++]);
    }
    return rc == DB_NONE ? 0 : -1;
}

static int
results_of_chunk(struct db *db, const char *const *names, size_t n,
                 struct known_result **rows, size_t *n_rows, size_t *room)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    buf_add(&sql, "SELECT " KNOWN_COLUMNS " FROM result WHERE");
    db_list_in(&sql, "name", n);
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL)
        rc = 0;
    for (size_t i = 0; rc == 0 && i < db_padded(n); i++)
        rc = db_bind_text(q, (unsigned)i, names[db_list_row(i, n)]);
    if (rc == 0)
        rc = read_all_known(q, rows, n_rows, room);
    db_finish(q);
    buf_free(&sql);
    return rc;
}

int
db_sched_results_by_name(struct db *db, const char *const *names, size_t n,
                         struct known_result **ret, size_t *ret_n)
{
    size_t room = 0;

    *ret = NULL;
    *ret_n = 0;
    while (n > 0) {
        size_t chunk = db_list_chunk(n, NAME_CHUNK);

        if (results_of_chunk(db, names, chunk, ret, ret_n, &room) != 0) {
            free(*ret);
            *ret = NULL;
            *ret_n = 0;
            return -1;
        }
        names += chunk;
        n -= chunk;
    }
    return 0;
}

static int
jobs_of_chunk(struct db *db, const char *const *names, size_t n,
              struct job_on_client *ret, size_t *ret_n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    size_t end = *ret_n + n;
    int rc = -1;

    buf_add(&sql, "SELECT r.hostid, r.server_state, r.outcome, w.error_mask, "
                  "w.assimilate_state, r.name FROM result r LEFT JOIN "
                  "workunit w ON w.id = r.workunitid WHERE");
    db_list_in(&sql, "r.name", n);
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL)
        rc = 0;
    for (size_t i = 0; rc == 0 && i < db_padded(n); i++)
        rc = db_bind_text(q, (unsigned)i, names[db_list_row(i, n)]);
    while (rc == 0 && *ret_n < end && (rc = db_step(q)) == 0) {
        struct job_on_client *j = &ret[(*ret_n)++];

        j->hostid = db_col_i64(q, 0);
        j->server_state = (enum server_state)db_col_i64(q, 1);
        j->outcome = (enum outcome)db_col_i64(q, 2);
        j->error_mask = (unsigned)db_col_i64(q, 3);
        j->assimilate_state = (enum assimilate_state)db_col_i64(q, 4);
        db_col_copy(q, 5, j->name, sizeof(j->name));
    }
    db_finish(q);
    buf_free(&sql);
    return rc < 0 ? -1 : 0;
}

int
db_sched_jobs_on_client(struct db *db, const char *const *names, size_t n,
                        struct job_on_client **ret, size_t *ret_n)
{
    int rc = 0;

    *ret = xcalloc(n + 1, sizeof(**ret));
    *ret_n = 0;
    for (size_t i = 0; rc == 0 && i < n; i += JOB_CHUNK)
        rc = jobs_of_chunk(db, names + i, db_list_chunk(n - i, JOB_CHUNK), *ret,
                           ret_n);
    return rc;
}

int
db_sched_in_progress(struct db *db, int64_t hostid, size_t max,
                     struct known_result **ret, size_t *ret_n)
{
    struct db_query *q = db_prepare(
        db, "SELECT " KNOWN_COLUMNS " FROM result"
            " WHERE hostid = ? AND server_state = ? ORDER BY id LIMIT ?");
    size_t room = 0;
    int rc = -1;

    *ret = NULL;
    *ret_n = 0;
    if (q != NULL && db_bind_i64(q, 0, hostid) == 0 &&
        db_bind_i64(q, 1, RESULT_IN_PROGRESS) == 0 &&
        db_bind_i64(q, 2, (int64_t)max) == 0)
        rc = read_all_known(q, ret, ret_n, &room);
    db_finish(q);
    return rc;
}

static int
touch_chunk(struct db *db, const int64_t *ids, size_t n, int64_t now)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 1;
    int rc = -1;

    buf_add(&sql, "UPDATE workunit SET"
                  " transition_time = LEAST(transition_time, ?) WHERE");
    db_list_in(&sql, "id", n);
    buf_add(&sql, " ORDER BY id");
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL && db_bind_i64(q, 0, now) == 0 &&
        db_list_bind(q, &i, ids, sizeof(*ids), n) == 0)
        rc = db_step(q);
    db_finish(q);
    buf_free(&sql);
    return rc;
}

int
db_sched_touch_workunits(struct db *db, int64_t *ids, size_t n, int64_t now)
{
    qsort(ids, n, sizeof(*ids), db_list_by_id);
    while (n > 0) {
        size_t chunk = db_list_chunk(n, ID_CHUNK);

        if (touch_chunk(db, ids, chunk, now) != 0)
            return -1;
        ids += chunk;
        n -= chunk;
    }
    return 0;
}

/* ---- reports ---- */

enum field { F_INT, F_DOUBLE, F_BLOB };

/* The columns whose value is another for each result. */
static const struct report_column {
    const char *name;
    enum field kind;
    size_t offset;
} report_columns[] = {
#define COLUMN(field, kind)                                                    \
    {                                                                          \
#field, kind, offsetof(struct result_report, field)                    \
    }
    /* clang-format off */
    COLUMN(outcome, F_INT),
    COLUMN(validate_state, F_INT),
    COLUMN(client_state, F_INT),
    COLUMN(exit_status, F_INT),
    COLUMN(app_version_num, F_INT),
    COLUMN(cpu_time, F_DOUBLE),
    COLUMN(elapsed_time, F_DOUBLE),
    COLUMN(peak_working_set_size, F_DOUBLE),
    COLUMN(peak_swap_size, F_DOUBLE),
    COLUMN(peak_disk_usage, F_DOUBLE),
    COLUMN(stderr_out, F_BLOB),
    COLUMN(xml_doc_out, F_BLOB),
/* clang-format on */
#undef COLUMN
};

static int
bind_field(struct db_query *q, unsigned i, const struct report_column *c,
           const struct result_report *r)
{
    const void *field = (const char *)r + c->offset;
    const char *text;

    switch (c->kind) {
    case F_INT:
        return db_bind_i64(q, i, *(const int *)field);
    case F_DOUBLE:
        return db_bind_double(q, i, *(const double *)field);
    case F_BLOB:
        text = *(const char *const *)field;
        return db_bind_blob(q, i, text, strlen(text));
    }
    return -1;
}

static void
report_statement(struct buf *sql, size_t n)
{
    buf_add(sql, "UPDATE result SET");
    for (size_t c = 0; c < ARRAY_LEN(report_columns); c++) {
        db_list_case(sql, report_columns[c].name, n);
        buf_add(sql, ",");
    }
    buf_add(sql, " server_state = ?, hostid = ?, teamid = ?, received_time = ?"
                 " WHERE");
    db_list_in(sql, "id", n);
    buf_add(sql, " AND userid = ? AND received_time = 0 AND (server_state = ?"
                 " OR server_state = ? AND outcome IN (?, ?)) ORDER BY id");
}

static int
bind_reports(struct db_query *q, const struct result_report *r, size_t n,
             const struct host *host, const struct user *user, int64_t now)
{
    const int64_t set[] = {RESULT_OVER, host->id, user->teamid, now};
    const int64_t guard[] = {user->id, RESULT_IN_PROGRESS, RESULT_OVER,
                             OUTCOME_NO_REPLY, OUTCOME_CLIENT_DETACHED};
    unsigned i = 0;

    for (size_t c = 0; c < ARRAY_LEN(report_columns); c++)
        for (size_t k = 0; k < db_padded(n); k++) {
            const struct result_report *row = &r[db_list_row(k, n)];

            if (db_bind_i64(q, i++, row->id) != 0 ||
                bind_field(q, i++, &report_columns[c], row) != 0)
                return -1;
        }
    for (size_t k = 0; k < ARRAY_LEN(set); k++)
        if (db_bind_i64(q, i++, set[k]) != 0)
            return -1;
    if (db_list_bind(q, &i, &r->id, sizeof(*r), n) != 0)
        return -1;
    for (size_t k = 0; k < ARRAY_LEN(guard); k++)
        if (db_bind_i64(q, i++, guard[k]) != 0)
            return -1;
    return 0;
}

int
db_sched_store_reports(struct db *db, const struct result_report *r, size_t n,
                       const struct host *host, const struct user *user,
                       int64_t now, size_t *ret_stored)
{
    int rc = 0;

    *ret_stored = 0;
    while (rc == 0 && n > 0) {
        size_t chunk = db_list_chunk(n, REPORT_CHUNK);
        struct buf sql = BUF_INIT;
        struct db_query *q;

        report_statement(&sql, chunk);
        q = db_prepare(db, buf_str(&sql));
        if (q == NULL || bind_reports(q, r, chunk, host, user, now) != 0)
            rc = -1;
        else
            rc = db_step(q);
        if (rc == 0)
            *ret_stored += (size_t)db_affected(q);
        db_finish(q);
        buf_free(&sql);
        r += chunk;
        n -= chunk;
    }
    return rc;
}

static int
came_again_chunk(struct db *db, const int64_t *ids, size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 2;
    int rc = -1;

    buf_add(&sql, "UPDATE result SET file_delete_state = ?"
                  " WHERE file_delete_state = ? AND");
    db_list_in(&sql, "id", n);
    buf_add(&sql, " ORDER BY id");
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL && db_bind_i64(q, 0, FILES_READY) == 0 &&
        db_bind_i64(q, 1, FILES_DONE) == 0 &&
        db_list_bind(q, &i, ids, sizeof(*ids), n) == 0)
        rc = db_step(q);
    db_finish(q);
    buf_free(&sql);
    return rc;
}

int
db_sched_files_came_again(struct db *db, int64_t *ids, size_t n)
{
    qsort(ids, n, sizeof(*ids), db_list_by_id);
    while (n > 0) {
        size_t chunk = db_list_chunk(n, ID_CHUNK);

        if (came_again_chunk(db, ids, chunk) != 0)
            return -1;
        ids += chunk;
        n -= chunk;
    }
    return 0;
}

/* ---- detached hosts ---- */

static int
detach_results(struct db *db, int64_t hostid, int64_t now)
{
    struct db_query *q = db_prepare(
        db, "UPDATE result SET outcome = ?, server_state = ?,"
            " received_time = ? WHERE hostid = ? AND server_state = ?"
            " ORDER BY id");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, OUTCOME_CLIENT_DETACHED) == 0 &&
        db_bind_i64(q, 1, RESULT_OVER) == 0 && db_bind_i64(q, 2, now) == 0 &&
        db_bind_i64(q, 3, hostid) == 0 &&
        db_bind_i64(q, 4, RESULT_IN_PROGRESS) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

int
db_sched_detach(struct db *db, int64_t hostid, int64_t now)
{
    struct known_result *row;
    int64_t *wu;
    size_t n;
    int rc;

    if (db_sched_in_progress(db, hostid, DETACH_MAX, &row, &n) != 0)
        return -1;
    if (n == 0) {
        free(row);
        return 0;
    }
    wu = xmalloc(n * sizeof(*wu));
    for (size_t i = 0; i < n; i++)
        wu[i] = row[i].workunitid;
    /* The host's row is locked, so nobody gives it more meanwhile. */
    rc = db_sched_touch_workunits(db, wu, n, now);
    if (rc == 0)
        rc = detach_results(db, hostid, now);
    if (rc == 0)
        log_normal(TAG_HOST "came back without its %zu jobs", hostid, n);
    free(wu);
    free(row);
    return rc;
}
