/* db_set_aside.c - workunits that a program could not handle. */
#include "db_set_aside.h"

#include <stdbool.h>

#include "buf.h"
#include "db.h"
#include "db_many.h"

enum { ROWS_AT_ONCE = 128, IDS_AT_ONCE = 1024 };

/* ---- for the programs -----------------------------------------------------
 */

/* Padded by the last row, which changes nothing. */
static int
put_some(struct db *db, const char *program, const struct set_aside *row,
         size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = 0;

    buf_add(&sql, "INSERT INTO x_set_aside (wu_id, program, tries, next_try, "
                  "last_error) VALUES ");
    db_placeholder_rows(&sql, db_padded(n), 5);
    buf_add(&sql, " ON DUPLICATE KEY UPDATE tries = VALUES(tries), next_try = "
                  "VALUES(next_try), last_error = VALUES(last_error)");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = 0; rc == 0 && i < db_padded(n); i++) {
        const struct set_aside *r = &row[i < n ? i : n - 1];

        if (db_bind_i64(q, p++, r->wu_id) != 0 ||
            db_bind_text(q, p++, program) != 0 ||
            db_bind_i64(q, p++, r->tries) != 0 ||
            db_bind_i64(q, p++, r->next_try) != 0 ||
            db_bind_text(q, p++, r->error) != 0)
            rc = -1;
    }
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

int
db_set_aside_put(struct db *db, const char *program,
                 const struct set_aside *row, size_t n)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i += ROWS_AT_ONCE)
        rc = put_some(db, program, row + i,
                      n - i < ROWS_AT_ONCE ? n - i : (size_t)ROWS_AT_ONCE);
    return rc;
}

int
db_set_aside_clear(struct db *db, const char *program, const int64_t *wu_ids,
                   size_t n)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i += IDS_AT_ONCE) {
        size_t some = n - i < IDS_AT_ONCE ? n - i : (size_t)IDS_AT_ONCE;
        struct db_query *q = db_prepare_list(
            db, "DELETE FROM x_set_aside WHERE program = ? AND wu_id IN (",
            some, ")");
        unsigned p = 0;

        rc = -1;
        if (q != NULL && db_bind_text(q, p++, program) == 0 &&
            db_bind_list(q, &p, wu_ids + i, some) == 0)
            rc = db_step(q);
        db_finish(q);
    }
    return rc;
}

/* ---- for operators --------------------------------------------------------
 */

int
db_set_aside_list(struct db *db, int64_t after_id, const char *after_program,
                  struct set_aside_line *ret, size_t max, size_t *ret_n)
{
    struct db_query *q = db_prepare(
        db, "SELECT s.wu_id, s.program, s.tries, s.next_try, s.last_error, "
            "w.name FROM x_set_aside s LEFT JOIN workunit w ON w.id = s.wu_id "
            "WHERE s.wu_id > ? OR (s.wu_id = ? AND s.program > ?) "
            "ORDER BY s.wu_id, s.program LIMIT ?");
    int rc = -1;

    *ret_n = 0;
    if (q != NULL && db_bind_i64(q, 0, after_id) == 0 &&
        db_bind_i64(q, 1, after_id) == 0 &&
        db_bind_text(q, 2, after_program) == 0 &&
        db_bind_i64(q, 3, (int64_t)max) == 0)
        while ((rc = db_step(q)) == 0 && *ret_n < max) {
            struct set_aside_line *l = &ret[(*ret_n)++];

            l->row.wu_id = db_col_i64(q, 0);
            db_col_copy(q, 1, l->program, sizeof(l->program));
            l->row.tries = (int)db_col_i64(q, 2);
            l->row.next_try = db_col_i64(q, 3);
            db_col_copy(q, 4, l->row.error, sizeof(l->row.error));
            db_col_copy(q, 5, l->wu_name, sizeof(l->wu_name));
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

struct release {
    int64_t wu_id;
    const char *program;
    int64_t now, n;
};

static struct db_query *
prepare_release(struct db *db, const struct release *r, const char *head,
                const char *tail)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;

    buf_add(&sql, head);
    if (r->wu_id != 0)
        buf_add(&sql, " AND s.wu_id = ?");
    if (r->program != NULL)
        buf_add(&sql, " AND s.program = ?");
    buf_add(&sql, tail);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    return q;
}

static int
run_release(struct db *db, struct release *r, const char *head,
            const char *tail)
{
    struct db_query *q = prepare_release(db, r, head, tail);
    unsigned p = 0;
    int rc = -1;

    if (q != NULL && db_bind_i64(q, p++, r->now) == 0 &&
        (r->wu_id == 0 || db_bind_i64(q, p++, r->wu_id) == 0) &&
        (r->program == NULL || db_bind_text(q, p++, r->program) == 0))
        rc = db_step(q);
    if (rc == 0)
        r->n = db_affected(q);
    db_finish(q);
    return rc;
}

/* The transitioner looks at transition_time, the others at next_try. */
static int
release(struct db *db, void *arg)
{
    struct release *r = arg;
    int rc = run_release(db, r,
                         "UPDATE workunit w SET w.transition_time = "
                         "LEAST(w.transition_time, ?) WHERE w.id IN (SELECT "
                         "s.wu_id FROM x_set_aside s WHERE s.program = "
                         "'" SET_ASIDE_TRANSITIONER "'",
                         ")");

    if (rc == 0)
        rc = run_release(db, r,
                         "UPDATE x_set_aside s SET s.tries = 0, s.next_try = ? "
                         "WHERE s.wu_id > 0",
                         "");
    return rc;
}

int
db_set_aside_release(struct db *db, int64_t wu_id, const char *program,
                     int64_t now, int64_t *ret_n)
{
    struct release r = {.wu_id = wu_id, .program = program, .now = now};
    int rc = db_transaction(db, release, &r) == 0 ? 0 : -1;

    *ret_n = r.n;
    return rc;
}
