/* db_locality.c - jobs by the file they work on, and who holds which file.
 *
 * The names of the jobs of file F are those LIKE 'F__%': a range of the index,
 * as the value is known when the statement is executed.  A pattern is made
 * here, with "|" before what LIKE would take for more than itself. */
#include "db_locality.h"

#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "db_feed.h"
#include "db_many.h"
#include "db_sched_list.h"
#include "locality_choice.h"
#include "names.h"

#define PATTERN_SIZE (2 * NAME_SIZE + 8)

/* Sorts behind every character that a name can have, in the column's order. */
#define LAST_CHARACTER "\xe9\xbe\xa5" /* U+9FA5 */

enum {
    OVERDUE_SAMPLE = 100,
    FILES_CHUNK = 32, /* in one statement */
};

int
db_locality_prepare(struct db *db)
{
    int rc = db_exec_ddl(db, "CREATE INDEX x_res_state_name"
                             " ON result (server_state, name)");

    return rc == DB_EXISTS ? 0 : rc;
}

/* LIKE ? ESCAPE '|' */
static void
make_pattern(const struct locality_name *name, char ret[PATTERN_SIZE])
{
    size_t n = 0;

    for (const char *p = name->text; *p != '\0'; p++) {
        if (*p == '|' || *p == '%' || *p == '_')
            ret[n++] = '|';
        ret[n++] = *p;
    }
    memcpy(ret + n, name->no_file ? "" : "|_|_%", name->no_file ? 1 : 6);
}

/* ---- files ---- */

/* Where the names behind those of this file begin. */
static void
behind(const struct locality_name *name, char ret[PATTERN_SIZE])
{
    if (name->text[0] == '\0' || name->no_file)
        str_copy(ret, PATTERN_SIZE, name->text);
    else
        snprintf(ret, PATTERN_SIZE, "%s__%s", name->text, LAST_CHARACTER);
}

static void
name_from_job(const char *job_name, struct locality_name *ret)
{
    size_t n = locality_file_length(job_name);

    str_copy(ret->text, sizeof(ret->text), job_name);
    ret->no_file = n == 0;
    if (n > 0)
        ret->text[n] = '\0';
}

int
db_locality_files(struct db *db, const struct locality_name *after, size_t max,
                  struct locality_name *ret, size_t *ret_n)
{
    struct db_query *q =
        db_prepare(db, "SELECT name FROM result WHERE server_state = ?"
                       " AND name > ? ORDER BY name LIMIT 1");
    char from[PATTERN_SIZE];
    int rc = q != NULL ? db_bind_i64(q, 0, RESULT_UNSENT) : -1;

    *ret_n = 0;
    while (rc == 0 && *ret_n < max) {
        behind(*ret_n > 0 ? &ret[*ret_n - 1] : after, from);
        rc = db_bind_text(q, 1, from);
        if (rc == 0)
            rc = db_step(q);
        if (rc == 0)
            name_from_job(db_col_text(q, 0), &ret[(*ret_n)++]);
    }
    db_finish(q);
    return rc == DB_NONE ? 0 : rc;
}

#define OF_FILE " AND name LIKE ? ESCAPE '|'"

static void
waiting_statement(struct buf *sql, size_t n)
{
    for (size_t k = 0; k < db_padded(n); k++)
        buf_addf(sql,
                 "%sSELECT ?, (SELECT COUNT(*) FROM (SELECT 1 FROM result WHERE"
                 " server_state = ?" OF_FILE " LIMIT %d) AS a),"
                 " EXISTS (SELECT 1 FROM result WHERE server_state = ?" OF_FILE
                 "),"
                 " EXISTS (SELECT 1 FROM (SELECT create_time FROM result WHERE"
                 " server_state = ?" OF_FILE " LIMIT %d) AS b"
                 " WHERE create_time < ?)",
                 k > 0 ? " UNION ALL " : "", DB_LOCALITY_MANY, OVERDUE_SAMPLE);
}

static int
bind_waiting(struct db_query *q, size_t n, char (*pattern)[PATTERN_SIZE],
             int64_t overdue_before)
{
    static const int64_t state[] = {RESULT_UNSENT, RESULT_IN_PROGRESS,
                                    RESULT_UNSENT};
    unsigned i = 0;

    for (size_t k = 0; k < db_padded(n); k++) {
        if (db_bind_i64(q, i++, (int64_t)k) != 0)
            return -1;
        for (size_t s = 0; s < ARRAY_LEN(state); s++)
            if (db_bind_i64(q, i++, state[s]) != 0 ||
                db_bind_text(q, i++, pattern[db_list_row(k, n)]) != 0)
                return -1;
        if (db_bind_i64(q, i++, overdue_before) != 0)
            return -1;
    }
    return 0;
}

static int
waiting_of_chunk(struct db *db, const struct locality_name *name, size_t n,
                 int64_t overdue_before, struct locality_jobs *ret)
{
    char pattern[FILES_CHUNK][PATTERN_SIZE];
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    for (size_t k = 0; k < n; k++)
        make_pattern(&name[k], pattern[k]);
    waiting_statement(&sql, n);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q != NULL && bind_waiting(q, n, pattern, overdue_before) == 0)
        while ((rc = db_step(q)) == 0)
            if (db_col_i64(q, 0) < (int64_t)n)
                ret[db_col_i64(q, 0)] = (struct locality_jobs){
                    .unsent = db_col_i64(q, 1),
                    .in_progress = db_col_i64(q, 2) != 0,
                    .overdue = db_col_i64(q, 3) != 0,
                };
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

int
db_locality_waiting(struct db *db, const struct locality_name *name, size_t n,
                    int64_t overdue_before, struct locality_jobs *ret)
{
    for (size_t at = 0; at < n;) {
        size_t chunk = db_list_chunk(n - at, FILES_CHUNK);

        if (waiting_of_chunk(db, name + at, chunk, overdue_before, ret + at) !=
            0)
            return -1;
        at += chunk;
    }
    return 0;
}

/* ---- jobs ---- */

int
db_locality_jobs(struct db *db, const struct locality_name *name,
                 const char *after, size_t max, struct locality_job *ret,
                 size_t *ret_n)
{
    struct db_query *q =
        db_prepare(db, "SELECT " DB_FEED_COLUMNS ", r.name" DB_FEED_FROM
                       "WHERE r.server_state = ?"
                       " AND r.name LIKE ? ESCAPE '|' AND r.name > ?"
                       " AND w.transitioner_flags = 0 AND w.error_mask = 0"
                       " ORDER BY r.name LIMIT ?");
    char pattern[PATTERN_SIZE];
    int rc = -1;

    *ret_n = 0;
    make_pattern(name, pattern);
    if (q != NULL && db_bind_i64(q, 0, RESULT_UNSENT) == 0 &&
        db_bind_text(q, 1, pattern) == 0 && db_bind_text(q, 2, after) == 0 &&
        db_bind_i64(q, 3, (int64_t)max) == 0)
        while ((rc = db_step(q)) == 0) {
            struct locality_job *job = &ret[(*ret_n)++];
            db_feed_sendable(q, &job->job);
            db_col_copy(q, DB_FEED_N_COLUMNS, job->name, sizeof(job->name));
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

/* ---- who holds which file ---- */

int
db_locality_of_host(struct db *db, int64_t hostid, size_t max,
                    struct locality_holding *ret, size_t *ret_n)
{
    struct db_query *q =
        db_prepare(db, "SELECT file, time FROM x_locality WHERE hostid = ?"
                       " ORDER BY file LIMIT ?");
    int rc = -1;

    *ret_n = 0;
    if (q != NULL && db_bind_i64(q, 0, hostid) == 0 &&
        db_bind_i64(q, 1, (int64_t)max) == 0)
        while ((rc = db_step(q)) == 0) {
            struct locality_holding *h = &ret[(*ret_n)++];

            *h = (struct locality_holding){.time = db_col_i64(q, 1)};
            db_col_copy(q, 0, h->name.text, sizeof(h->name.text));
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static void
note_held(const struct locality_name *name, size_t n, struct db_query *q,
          struct locality_held *ret)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name[i].text, db_col_text(q, 0)) == 0) {
            ret[i].holders = db_col_i64(q, 1);
            ret[i].last_nth = db_col_i64(q, 2);
        }
}

int
db_locality_held(struct db *db, const struct locality_name *name, size_t n,
                 int64_t hostid, int64_t since, struct locality_held *ret)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 2;
    int rc;

    memset(ret, 0, n * sizeof(*ret));
    if (n == 0)
        return 0;
    buf_add(&sql, "SELECT file, CAST(SUM(hostid <> ? AND time >= ?) AS SIGNED),"
                  " MAX(nth) FROM x_locality WHERE");
    db_list_in(&sql, "file", n);
    buf_add(&sql, " GROUP BY file");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    rc = q != NULL && db_bind_i64(q, 0, hostid) == 0 &&
                 db_bind_i64(q, 1, since) == 0
             ? 0
             : -1;
    for (size_t k = 0; rc == 0 && k < db_padded(n); k++)
        rc = db_bind_text(q, i++, name[db_list_row(k, n)].text);
    while (rc == 0 && (rc = db_step(q)) == 0)
        note_held(name, n, q, ret);
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

int
db_locality_hold(struct db *db, const char *file, int64_t nth, int64_t hostid,
                 int64_t now)
{
    struct db_query *q =
        db_prepare(db, "INSERT INTO x_locality (file, nth, hostid, time)"
                       " VALUES (?, ?, ?, ?)");
    int rc = -1;

    if (q != NULL && db_bind_text(q, 0, file) == 0 &&
        db_bind_i64(q, 1, nth) == 0 && db_bind_i64(q, 2, hostid) == 0 &&
        db_bind_i64(q, 3, now) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

/* A statement with the parameters [time,] file, last.  *ret_rows: how many it
 * was about. */
static int
change(struct db *db, const char *sql, int64_t time, const char *file,
       int64_t last, int64_t *ret_rows)
{
    struct db_query *q = db_prepare(db, sql);
    unsigned i = 0;
    int rc = q != NULL ? 0 : -1;

    if (rc == 0 && time != 0)
        rc = db_bind_i64(q, i++, time);
    if (rc == 0)
        rc = db_bind_text(q, i++, file);
    if (rc == 0)
        rc = db_bind_i64(q, i, last);
    if (rc == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret_rows = db_affected(q);
    db_finish(q);
    return rc;
}

int
db_locality_touch(struct db *db, const char *file, int64_t hostid, int64_t now)
{
    struct locality_name name = {.no_file = false};
    struct locality_held held;
    int64_t rows;
    int rc = change(db,
                    "UPDATE x_locality SET time = ? WHERE file = ?"
                    " AND hostid = ?",
                    now, file, hostid, &rows);

    if (rc != 0 || rows > 0)
        return rc;
    /* It holds the file, but not from us: an older project, a forgotten row. */
    str_copy(name.text, sizeof(name.text), file);
    rc = db_locality_held(db, &name, 1, hostid, 0, &held);
    if (rc == 0)
        rc = db_locality_hold(db, file, held.last_nth + 1, hostid, now);
    return rc == DB_EXISTS ? 0 : rc; /* the next job will tell */
}

int
db_locality_release(struct db *db, const char *file, int64_t hostid)
{
    int64_t rows;

    return change(db, "DELETE FROM x_locality WHERE file = ? AND hostid = ?", 0,
                  file, hostid, &rows);
}

int
db_locality_forget(struct db *db, const char *file, int64_t since)
{
    int64_t rows;

    return change(db, "DELETE FROM x_locality WHERE file = ? AND time < ?", 0,
                  file, since, &rows);
}
