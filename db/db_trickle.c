/* db_trickle.c - the trickle handlers' questions: messages that jobs sent; what
 * follows from them. */
#include "db_trickle.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "db_credit_base.h"
#include "db_grant.h"
#include "db_many.h"

/* ---- a batch --------------------------------------------------------------
 */

static void
forget(struct trickle_batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        for (size_t k = 0; k < b->row[i].n_answers; k++)
            free(b->row[i].answer[k]);
        free(b->row[i].answer);
        free(b->row[i].extension);
        free(b->row[i].xml);
    }
    b->n = 0;
}

void
trickle_batch_free(struct trickle_batch *b)
{
    forget(b);
    free(b->row);
    memset(b, 0, sizeof(*b));
}

static struct trickle_row *
add(struct trickle_batch *b)
{
    if (b->n == b->room) {
        b->room = b->room == 0 ? 128 : 2 * b->room;
        b->row = xrealloc(b->row, b->room * sizeof(*b->row));
    }
    memset(&b->row[b->n], 0, sizeof(*b->row));
    return &b->row[b->n++];
}

static void
from_row(struct db_query *q, struct trickle_row *t)
{
    t->id = db_col_i64(q, 0);
    t->create_time = db_col_i64(q, 1);
    t->hostid = db_col_i64(q, 2);
    db_col_copy(q, 3, t->variety, sizeof(t->variety));
    t->xml = db_col_dup(q, 4);
    t->userid = db_col_i64(q, 5);
    t->p_fpops = db_col_double(q, 6);
    t->tries = (int)db_col_i64(q, 7);
}

int
db_trickle_due(struct db *db, const struct trickle_query *want,
               struct trickle_batch *b)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    forget(b);
    buf_add(&sql,
            "SELECT m.id, m.create_time, m.hostid, m.variety, m.xml, h.userid, "
            "h.p_fpops, COALESCE(x.tries, 0) FROM msg_from_host m "
            "LEFT JOIN host h ON h.id = m.hostid "
            "LEFT JOIN x_trickle x ON x.msg_id = m.id "
            "WHERE m.handled = 0 AND m.id > ? "
            "AND (x.next_try IS NULL OR x.next_try <= ?)");
    if (want->variety != NULL)
        buf_add(&sql, " AND m.variety = ?");
    if (want->mod_n > 0)
        buf_add(&sql, " AND m.id % ? = ?");
    buf_add(&sql, " ORDER BY m.id LIMIT ?");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    if (db_bind_i64(q, p++, want->after_id) == 0 &&
        db_bind_i64(q, p++, want->now) == 0 &&
        (want->variety == NULL || db_bind_text(q, p++, want->variety) == 0) &&
        (want->mod_n == 0 || (db_bind_i64(q, p++, want->mod_n) == 0 &&
                              db_bind_i64(q, p++, want->mod_i) == 0)) &&
        db_bind_i64(q, p++, want->limit) == 0)
        while ((rc = db_step(q)) == 0)
            from_row(q, add(b));
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

/* One statement with some integers; 0 or -1. */
static int
run(struct db *db, const char *sql, const int64_t *value, unsigned n)
{
    struct db_query *q = db_prepare(db, sql);
    int rc = q != NULL ? 0 : -1;

    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc = db_bind_i64(q, i, value[i]);
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

int
db_trickle_count_try(struct db *db, int64_t id, int64_t next_try)
{
    const int64_t value[] = {id, next_try};

    return run(db,
               "INSERT INTO x_trickle (msg_id, tries, next_try) "
               "VALUES (?, 1, ?) ON DUPLICATE KEY UPDATE tries = tries + 1, "
               "next_try = VALUES(next_try)",
               value, 2);
}

/* ---- storing --------------------------------------------------------------
 */

struct store {
    const struct trickle_batch *b;
    int64_t now;
    bool *mine; /* still unhandled, and locked */
};

/* Lock the messages that something is decided about. */
static int
lock_messages(struct db *db, const struct store *s)
{
    int64_t *ids = xcalloc(s->b->n + 1, sizeof(*ids));
    struct db_query *q;
    unsigned p = 0;
    size_t n = 0, at = 0;
    int rc = 0;

    memset(s->mine, 0, s->b->n * sizeof(*s->mine));
    for (size_t i = 0; i < s->b->n; i++)
        if (s->b->row[i].ending != TRICKLE_LEAVE)
            ids[n++] = s->b->row[i].id;
    if (n > 0) {
        q = db_prepare_list(db, "SELECT id FROM msg_from_host WHERE id IN (", n,
                            ") AND handled = 0 ORDER BY id FOR UPDATE");
        rc = q != NULL ? db_bind_list(q, &p, ids, n) : -1;
        while (rc == 0 && (rc = db_step(q)) == 0) {
            while (s->b->row[at].id != db_col_i64(q, 0))
                at++;
            s->mine[at] = true;
        }
        rc = rc == DB_NONE ? 0 : -1;
        db_finish(q);
    }
    free(ids);
    return rc;
}

/* The transition waited for this deadline: let it wait for the next one. */
static int
move_transition(struct db *db, int64_t wu_id, int64_t old_deadline)
{
    const int64_t value[] = {wu_id, wu_id, old_deadline};

    return run(
        db,
        "UPDATE workunit SET transition_time = (SELECT "
        "COALESCE(MIN(r.report_deadline), transition_time) FROM result r "
        "WHERE r.workunitid = ? AND r.server_state = 4) "
        "WHERE id = ? AND transition_time = ?",
        value, 3);
}

/* The result's workunit and deadline, if it is one of the host's in progress.
 * 0, DB_NONE, -1. */
static int
find_result(struct db *db, const char *name, int64_t hostid, int64_t *ret_id,
            int64_t *ret_wu_id, int64_t *ret_deadline)
{
    struct db_query *q =
        db_prepare(db, "SELECT id, workunitid, report_deadline FROM result "
                       "WHERE name = ? AND hostid = ? AND server_state = 4");
    int rc = -1;

    if (q != NULL && db_bind_text(q, 0, name) == 0 &&
        db_bind_i64(q, 1, hostid) == 0)
        rc = db_step(q);
    if (rc == 0) {
        *ret_id = db_col_i64(q, 0);
        *ret_wu_id = db_col_i64(q, 1);
        *ret_deadline = db_col_i64(q, 2);
    }
    db_finish(q);
    return rc;
}

static int
lock_workunit(struct db *db, int64_t id)
{
    struct db_query *q =
        db_prepare(db, "SELECT id FROM workunit WHERE id = ? FOR UPDATE");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, id) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc == DB_NONE ? 0 : rc;
}

static int
extend(struct db *db, const struct trickle_row *t,
       const struct trickle_extension *e, int64_t now)
{
    int64_t id, wu_id, deadline;
    int rc = find_result(db, e->result_name, t->hostid, &id, &wu_id, &deadline);

    if (rc == DB_NONE ||
        (rc == 0 && (deadline <= now || deadline > now + e->within)))
        return 0;
    if (rc == 0)
        rc = lock_workunit(db, wu_id);
    if (rc == 0) {
        const int64_t value[] = {e->seconds, id, deadline};

        rc = run(db,
                 "UPDATE result SET report_deadline = report_deadline + ? "
                 "WHERE id = ? AND server_state = 4 AND report_deadline = ?",
                 value, 3);
    }
    return rc == 0 ? move_transition(db, wu_id, deadline) : -1;
}

static int
extend_all(struct db *db, const struct store *s)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->b->n; i++)
        for (size_t k = 0;
             rc == 0 && s->mine[i] && k < s->b->row[i].n_extensions; k++)
            rc = extend(db, &s->b->row[i], &s->b->row[i].extension[k], s->now);
    return rc;
}

/* No result stands for this credit: the books of audit must know.  The user's
 * row is locked by the grant, so the team is the one that got it. */
static int
keep_books(struct db *db, const struct grant *g)
{
    struct db_query *q = db_prepare(db, "SELECT teamid FROM user WHERE id = ?");
    int64_t teamid = 0;
    int rc = q != NULL && db_bind_i64(q, 0, g->userid) == 0 ? db_step(q) : -1;

    if (rc == 0)
        teamid = db_col_i64(q, 0);
    db_finish(q);
    if (rc == -1 ||
        (rc == 0 &&
         db_credit_base_add(db, CREDIT_USER, g->userid, g->credit) != 0) ||
        db_credit_base_add(db, CREDIT_TEAM, teamid, g->credit) != 0)
        return -1;
    return db_credit_base_add(db, CREDIT_HOST, g->hostid, g->credit);
}

static int
grant_all(struct db *db, const struct store *s)
{
    struct grant *g = xcalloc(s->b->n + 1, sizeof(*g));
    size_t n = 0;
    int rc = 0;

    for (size_t i = 0; i < s->b->n; i++) {
        const struct trickle_row *t = &s->b->row[i];

        if (s->mine[i] && t->ending == TRICKLE_END && t->credit > 0)
            g[n++] = (struct grant){.hostid = t->hostid,
                                    .userid = t->userid,
                                    .credit = t->credit,
                                    .start = t->start,
                                    .turnaround = -1};
    }
    if (n > 0)
        rc = db_grant(db, g, n, s->now);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = keep_books(db, &g[i]);
    free(g);
    return rc;
}

static int
answer(struct db *db, const struct trickle_row *t, const char *xml, int64_t now)
{
    struct db_query *q = db_prepare(
        db, "INSERT INTO msg_to_host (create_time, hostid, variety, handled, "
            "xml) VALUES (?, ?, ?, 0, ?)");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, now) == 0 &&
        db_bind_i64(q, 1, t->hostid) == 0 &&
        db_bind_text(q, 2, t->variety) == 0 && db_bind_text(q, 3, xml) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

/* One statement for each answer: they may be long, and are few. */
static int
answer_all(struct db *db, const struct store *s)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->b->n; i++)
        for (size_t k = 0; rc == 0 && s->mine[i] && k < s->b->row[i].n_answers;
             k++)
            rc = answer(db, &s->b->row[i], s->b->row[i].answer[k], s->now);
    return rc;
}

static int
note_failure(struct db *db, const struct trickle_row *t)
{
    const int64_t value[] = {t->next_try, t->id};

    if (!t->counted)
        return db_trickle_count_try(db, t->id, t->next_try);
    return run(db, "UPDATE x_trickle SET next_try = ? WHERE msg_id = ?", value,
               2);
}

/* Failed ones are rare: a statement for each. */
static int
note_failures(struct db *db, const struct store *s)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->b->n; i++)
        if (s->mine[i] && s->b->row[i].ending == TRICKLE_AGAIN)
            rc = note_failure(db, &s->b->row[i]);
    return rc;
}

/* All that end with the state of row `first`, which is the first of them. */
static int
mark_state(struct db *db, const struct store *s, size_t first)
{
    const int state = s->b->row[first].state;
    int64_t *ids = xcalloc(s->b->n + 1, sizeof(*ids));
    struct db_query *q;
    unsigned p = 0;
    size_t n = 0;
    int rc = -1;

    for (size_t i = first; i < s->b->n; i++)
        if (s->mine[i] && s->b->row[i].ending == TRICKLE_END &&
            s->b->row[i].state == state)
            ids[n++] = s->b->row[i].id;
    q = db_prepare_list(db,
                        "UPDATE msg_from_host SET handled = ? "
                        "WHERE handled = 0 AND id IN (",
                        n, ")");
    if (q != NULL && db_bind_i64(q, p++, state) == 0 &&
        db_bind_list(q, &p, ids, n) == 0)
        rc = db_step(q);
    db_finish(q);
    p = 0;
    if (rc == 0) {
        q = db_prepare_list(db, "DELETE FROM x_trickle WHERE msg_id IN (", n,
                            ")");
        rc = q != NULL ? db_bind_list(q, &p, ids, n) : -1;
        if (rc == 0)
            rc = db_step(q);
        db_finish(q);
    }
    free(ids);
    return rc;
}

/* A statement for each state that occurs; there are two or three. */
static int
mark_all(struct db *db, const struct store *s)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->b->n; i++) {
        bool seen = !s->mine[i] || s->b->row[i].ending != TRICKLE_END;

        for (size_t k = 0; !seen && k < i; k++)
            seen = s->mine[k] && s->b->row[k].ending == TRICKLE_END &&
                   s->b->row[k].state == s->b->row[i].state;
        if (!seen)
            rc = mark_state(db, s, i);
    }
    return rc;
}

static int
store(struct db *db, void *arg)
{
    const struct store *s = arg;
    int rc = lock_messages(db, s);

    if (rc == 0)
        rc = extend_all(db, s);
    if (rc == 0)
        rc = grant_all(db, s);
    if (rc == 0)
        rc = answer_all(db, s);
    if (rc == 0)
        rc = note_failures(db, s);
    return rc == 0 ? mark_all(db, s) : -1;
}

int
db_trickle_store(struct db *db, const struct trickle_batch *b, int64_t now)
{
    struct store s = {.b = b, .now = now};
    int rc;

    if (b->n == 0)
        return 0;
    s.mine = xcalloc(b->n, sizeof(*s.mine));
    rc = db_transaction(db, store, &s);
    free(s.mine);
    return rc;
}

/* ---- speeds of hosts; old messages ----------------------------------------
 */

static int
speed_at(struct db *db, int64_t place, double *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT p_fpops FROM host WHERE expavg_credit > 10 "
                       "ORDER BY p_fpops, id LIMIT 1 OFFSET ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, place) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret = db_col_double(q, 0);
    db_finish(q);
    return rc == DB_NONE ? 0 : rc;
}

int
db_trickle_speeds(struct db *db, double *ret_50, double *ret_95)
{
    struct db_query *q =
        db_prepare(db, "SELECT COUNT(*) FROM host WHERE expavg_credit > 10");
    int64_t n = 0;
    int rc = q != NULL ? db_step(q) : -1;

    if (rc == 0)
        n = db_col_i64(q, 0);
    db_finish(q);
    *ret_50 = *ret_95 = 3.3e9;
    if (rc != 0 || n < 10)
        return rc == 0 ? 0 : -1;
    rc = speed_at(db, n / 2, ret_50);
    return rc == 0 ? speed_at(db, n * 95 / 100, ret_95) : -1;
}

static int64_t
purge_one(struct db *db, const char *sql, int64_t before, int limit)
{
    struct db_query *q = db_prepare(db, sql);
    int64_t n = -1;

    if (q != NULL && db_bind_i64(q, 0, before) == 0 &&
        db_bind_i64(q, 1, limit) == 0 && db_step(q) == 0)
        n = db_affected(q);
    db_finish(q);
    return n;
}

int64_t
db_trickle_purge(struct db *db, int64_t before, int limit)
{
    int64_t from = purge_one(db,
                             "DELETE FROM msg_from_host WHERE handled <> 0 "
                             "AND create_time < ? ORDER BY id LIMIT ?",
                             before, limit);
    int64_t to = from < 0 ? -1
                          : purge_one(db,
                                      "DELETE FROM msg_to_host WHERE handled "
                                      "<> 0 AND create_time < ? ORDER BY id "
                                      "LIMIT ?",
                                      before, limit);

    return to < 0 ? -1 : from + to;
}
