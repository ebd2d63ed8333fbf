/* db_assimilate.c - the assimilator's questions: finished workunits; mark them
 * done. */
#include "db_assimilate.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db.h"
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
    }
}

static struct db_query *
prepare_due(struct db *db, const struct assimilate_query *want)
{
    return db_prepare(
        db, want->mod_n > 0
                ? "SELECT w.id, w.name, w.batch, w.error_mask, "
                  "w.canonical_resultid, w.canonical_credit, r.id, r.name, "
                  "r.xml_doc_in, r.elapsed_time, r.cpu_time, r.received_time "
                  "FROM workunit w LEFT JOIN result r "
                  "ON r.id = w.canonical_resultid WHERE w.appid = ? "
                  "AND w.assimilate_state = 1 AND w.id > ? AND w.id % ? = ? "
                  "ORDER BY w.id LIMIT ?"
                : "SELECT w.id, w.name, w.batch, w.error_mask, "
                  "w.canonical_resultid, w.canonical_credit, r.id, r.name, "
                  "r.xml_doc_in, r.elapsed_time, r.cpu_time, r.received_time "
                  "FROM workunit w LEFT JOIN result r "
                  "ON r.id = w.canonical_resultid WHERE w.appid = ? "
                  "AND w.assimilate_state = 1 AND w.id > ? "
                  "ORDER BY w.id LIMIT ?");
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

struct store {
    const struct assimilate_batch *b;
    int64_t now;
};

/* The ids of those that `takes` says yes to go through one statement. */
static int
update_some(struct db *db, const struct store *s, const char *before,
            const char *after, bool takes(const struct assimilate_wu *))
{
    int64_t *ids = xcalloc(s->b->n + 1, sizeof(*ids));
    struct db_query *q = NULL;
    unsigned p = 0;
    size_t n = 0;
    int rc = 0;

    for (size_t i = 0; i < s->b->n; i++)
        if (takes(&s->b->wu[i]))
            ids[n++] = s->b->wu[i].wu.id;
    if (n > 0) {
        q = db_prepare_list(db, before, n, after);
        rc = q != NULL && db_bind_i64(q, p++, s->now) == 0 &&
                     db_bind_list(q, &p, ids, n) == 0
                 ? db_step(q)
                 : -1;
    }
    db_finish(q);
    free(ids);
    return rc;
}

static bool
lost_its_canonical(const struct assimilate_wu *w)
{
    return w->ending != ENDING_LEAVE && !w->has_canonical &&
           w->wu.error_mask == WU_NO_CANONICAL_RESULT;
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

/* In the order of ids, which the three kinds of endings together do not keep.
 */
static int
lock_all(struct db *db, const struct assimilate_batch *b)
{
    int64_t *ids = xcalloc(b->n, sizeof(*ids));
    struct db_query *q =
        db_prepare_list(db, "SELECT id FROM workunit WHERE id IN (", b->n,
                        ") ORDER BY id FOR UPDATE");
    unsigned p = 0;
    int rc = -1;

    for (size_t i = 0; i < b->n; i++)
        ids[i] = b->wu[i].wu.id;
    if (q != NULL && db_bind_list(q, &p, ids, b->n) == 0)
        while ((rc = db_step(q)) == 0)
            ;
    db_finish(q);
    free(ids);
    return rc == DB_NONE ? 0 : -1;
}

static int
store_endings(struct db *db, void *arg)
{
    const struct store *s = arg;
    int rc;

    if (lock_all(db, s->b) != 0)
        return -1;
    rc = update_some(db, s,
                     "UPDATE workunit SET transition_time = ?, "
                     "error_mask = error_mask | 32 "
                     "WHERE assimilate_state = 1 AND id IN (",
                     ")", lost_its_canonical);
    if (rc == 0)
        rc = update_some(db, s,
                         "UPDATE workunit SET transition_time = ?, "
                         "assimilate_state = 2 "
                         "WHERE assimilate_state = 1 AND id IN (",
                         ")", is_done);
    if (rc == 0)
        rc = update_some(db, s,
                         "UPDATE workunit SET transition_time = ?, "
                         "assimilate_state = 0 "
                         "WHERE assimilate_state = 1 AND id IN (",
                         ")", is_deferred);
    return rc;
}

int
db_assimilate_store(struct db *db, const struct assimilate_batch *b,
                    int64_t now)
{
    struct store s = {.b = b, .now = now};

    return b->n > 0 ? db_transaction(db, store_endings, &s) : 0;
}
