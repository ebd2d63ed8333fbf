/* db_assimilate.c - the assimilator's questions: finished workunits; mark them
 * done. */
#include "db_assimilate.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "db_batch.h"
#include "db_many.h"

static void
forget(struct assimilate_batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        free(b->wu[i].canonical.xml_doc_in);
    b->n = 0;
}

void
assimilate_batch_free(struct assimilate_batch *b)
{
    forget(b);
    free(b->wu);
    memset(b, 0, sizeof(*b));
}

static struct assimilate_wu *
add(struct assimilate_batch *b)
{
    if (b->n == b->room) {
        b->room = b->room == 0 ? 128 : 2 * b->room;
        b->wu = xrealloc(b->wu, b->room * sizeof(*b->wu));
    }
    memset(&b->wu[b->n], 0, sizeof(*b->wu));
    return &b->wu[b->n++];
}

static void
from_row(struct db_query *q, struct assimilate_wu *w)
{
    w->wu.id = db_col_i64(q, 0);
    db_col_copy(q, 1, w->wu.name, sizeof(w->wu.name));
    w->wu.batch = db_col_i64(q, 2);
    w->wu.error_mask = (unsigned)db_col_i64(q, 3);
    w->wu.canonical_resultid = db_col_i64(q, 4);
    w->wu.canonical_credit = db_col_double(q, 5);
    w->has_canonical = !db_col_is_null(q, 6);
    if (w->has_canonical) {
        w->canonical.id = db_col_i64(q, 6);
        db_col_copy(q, 7, w->canonical.name, sizeof(w->canonical.name));
        w->canonical.xml_doc_in = db_col_dup(q, 8);
        w->canonical.elapsed_time = db_col_double(q, 9);
        w->canonical.cpu_time = db_col_double(q, 10);
        w->canonical.received_time = db_col_i64(q, 11);
    } else if (w->wu.error_mask == 0) {
        w->wu.error_mask = WU_NO_CANONICAL_RESULT;
        w->no_canonical = true;
    }
    w->aside.wu_id = w->wu.id;
    w->was_aside = !db_col_is_null(q, 12);
    w->aside.tries = (int)db_col_i64(q, 12);
    w->is_open = db_col_i64(q, 13) != 0;
}

static struct db_query *
prepare_due(struct db *db, const struct assimilate_query *want)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;

    buf_add(&sql, "SELECT w.id, w.name, w.batch, w.error_mask, "
                  "w.canonical_resultid, w.canonical_credit, r.id, r.name, "
                  "r.xml_doc_in, r.elapsed_time, r.cpu_time, r.received_time, "
                  "s.tries, EXISTS (SELECT 1 FROM result o WHERE "
                  "o.workunitid = w.id AND (o.server_state <> 5 OR "
                  "o.outcome = 1 AND o.validate_state IN (0, 4))) "
                  "FROM workunit w LEFT JOIN result r "
                  "ON r.id = w.canonical_resultid LEFT JOIN x_set_aside s "
                  "ON s.wu_id = w.id AND s.program = '" SET_ASIDE_ASSIMILATOR
                  "' WHERE w.appid = ? AND w.assimilate_state = 1 "
                  "AND w.id > ? AND (s.next_try IS NULL OR s.next_try <= ?)");
    if (want->mod_n > 0)
        buf_add(&sql, " AND w.id % ? = ?");
    buf_add(&sql, " ORDER BY w.id LIMIT ?");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    return q;
}

int
db_assimilate_due(struct db *db, const struct assimilate_query *want,
                  struct assimilate_batch *b)
{
    struct db_query *q = prepare_due(db, want);
    unsigned p = 0;
    int rc = -1;

    forget(b);
    if (q == NULL)
        return -1;
    if (db_bind_i64(q, p++, want->appid) != 0 ||
        db_bind_i64(q, p++, want->after_id) != 0 ||
        db_bind_i64(q, p++, want->now) != 0 ||
        (want->mod_n > 0 && (db_bind_i64(q, p++, want->mod_n) != 0 ||
                             db_bind_i64(q, p++, want->mod_i) != 0)) ||
        db_bind_i64(q, p++, want->limit) != 0)
        goto out;
    while ((rc = db_step(q)) == 0)
        from_row(q, add(b));
out:
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

/* ---- endings --------------------------------------------------------------
 */

struct store {
    const struct assimilate_batch *b;
    bool *good;   /* for each: still as it was handed over */
    int64_t *ids; /* room for all */
    int64_t now;
};

/* The ids of those that are good and that `takes` says yes to. */
static size_t
pick(const struct store *s, bool takes(const struct assimilate_wu *))
{
    size_t n = 0;

    for (size_t i = 0; i < s->b->n; i++)
        if (s->good[i] && takes(&s->b->wu[i]))
            s->ids[n++] = s->b->wu[i].wu.id;
    return n;
}

static bool
has_ending(const struct assimilate_wu *w)
{
    return w->ending != ENDING_LEAVE;
}

static bool
lost_its_canonical(const struct assimilate_wu *w)
{
    return has_ending(w) && w->ending != ENDING_FAILED && w->no_canonical;
}

static bool
is_done(const struct assimilate_wu *w)
{
    return w->ending == ENDING_DONE;
}

static bool
is_deferred(const struct assimilate_wu *w)
{
    return w->ending == ENDING_DEFER;
}

static bool
works_again(const struct assimilate_wu *w)
{
    return w->was_aside && (is_done(w) || is_deferred(w));
}

static int
lock_workunits(struct db *db, const struct store *s)
{
    struct db_query *q;
    unsigned p = 0;
    size_t n;
    int rc = -1;

    for (size_t i = 0; i < s->b->n; i++)
        s->good[i] = true;
    n = pick(s, has_ending);
    for (size_t i = 0; i < s->b->n; i++)
        s->good[i] = false;
    if (n == 0)
        return 0;
    q = db_prepare_list(db,
                        "SELECT id, error_mask FROM workunit WHERE "
                        "assimilate_state = 1 AND id IN (",
                        n, ") ORDER BY id FOR UPDATE");
    if (q != NULL && db_bind_list(q, &p, s->ids, n) == 0)
        for (size_t i = 0; (rc = db_step(q)) == 0; i++) {
            const struct assimilate_wu *w;

            while (s->b->wu[i].wu.id != db_col_i64(q, 0))
                i++;
            w = &s->b->wu[i];
            s->good[i] = db_col_i64(q, 1) ==
                         (w->no_canonical ? 0 : (int64_t)w->wu.error_mask);
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

/* Those that `takes` says yes to go through one statement. */
static int
update_some(struct db *db, const struct store *s, const char *before,
            bool takes(const struct assimilate_wu *))
{
    size_t n = pick(s, takes);
    struct db_query *q;
    unsigned p = 0;
    int rc;

    if (n == 0)
        return 0;
    q = db_prepare_list(db, before, n, ")");
    rc = q != NULL && db_bind_i64(q, p++, s->now) == 0 &&
                 db_bind_list(q, &p, s->ids, n) == 0
             ? db_step(q)
             : -1;
    db_finish(q);
    return rc;
}

static int
set_some_aside(struct db *db, const struct store *s)
{
    struct set_aside *row = xcalloc(s->b->n, sizeof(*row));
    size_t n = 0;
    int rc;

    for (size_t i = 0; i < s->b->n; i++)
        if (s->good[i] && s->b->wu[i].ending == ENDING_FAILED)
            row[n++] = s->b->wu[i].aside;
    rc = db_set_aside_put(db, SET_ASIDE_ASSIMILATOR, row, n);
    free(row);
    if (rc == 0)
        rc = db_set_aside_clear(db, SET_ASIDE_ASSIMILATOR, s->ids,
                                pick(s, works_again));
    return rc;
}

/* One whose canonical result is missing has failed, for its batch. */
static int
count_ended(struct db *db, const struct store *s)
{
    struct batch_change *c = xcalloc(s->b->n, sizeof(*c));
    int rc;

    for (size_t i = 0; i < s->b->n; i++) {
        const struct assimilate_wu *w = &s->b->wu[i];

        if (!s->good[i] || !lost_its_canonical(w))
            continue;
        c[i].batch = w->wu.batch;
        c[i].was = job_end(w->wu.canonical_resultid, 0);
        c[i].is = JOB_FAILED;
    }
    rc = db_batch_count(db, c, s->b->n, s->now);
    free(c);
    return rc;
}

static int
store_endings(struct db *db, void *arg)
{
    const struct store *s = arg;
    int rc = lock_workunits(db, s);

    if (rc == 0)
        rc = update_some(db, s,
                         "UPDATE workunit SET transition_time = ?, "
                         "error_mask = error_mask | 32 "
                         "WHERE assimilate_state = 1 AND id IN (",
                         lost_its_canonical);
    if (rc == 0)
        rc = update_some(db, s,
                         "UPDATE workunit SET transition_time = ?, "
                         "assimilate_state = 2 "
                         "WHERE assimilate_state = 1 AND id IN (",
                         is_done);
    if (rc == 0)
        rc = update_some(db, s,
                         "UPDATE workunit SET transition_time = ?, "
                         "assimilate_state = 0 "
                         "WHERE assimilate_state = 1 AND id IN (",
                         is_deferred);
    if (rc == 0)
        rc = count_ended(db, s);
    return rc == 0 ? set_some_aside(db, s) : rc;
}

int
db_assimilate_store(struct db *db, struct assimilate_batch *b, int64_t now)
{
    struct store s = {.b = b, .now = now};
    int rc;

    if (b->n == 0)
        return 0;
    s.good = xcalloc(b->n, sizeof(*s.good));
    s.ids = xcalloc(b->n, sizeof(*s.ids));
    rc = db_transaction(db, store_endings, &s);
    for (size_t i = 0; i < b->n; i++)
        if (!s.good[i])
            b->wu[i].ending = ENDING_LEAVE;
    free(s.good);
    free(s.ids);
    return rc;
}
