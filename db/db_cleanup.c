/* db_cleanup.c - the file deleter's questions. */
#include "db_cleanup.h"

#include <stdlib.h>

#include "buf.h"
#include "db.h"
#include "db_many.h"

/* The columns in the order read_item() wants them. */
#define WORKUNIT_COLUMNS "id, name, xml_doc, 0, id"
#define RESULT_COLUMNS "id, name, xml_doc_in, outcome, workunitid"

static void
read_item(struct db_query *q, enum file_delete_state state,
          struct cleanup_item *ret)
{
    *ret = (struct cleanup_item){
        .id = db_col_i64(q, 0),
        .wu_id = db_col_i64(q, 4),
        .document = db_col_dup(q, 2),
        .outcome = (enum outcome)db_col_i64(q, 3),
        .state = state,
    };
    db_col_copy(q, 1, ret->name, sizeof(ret->name));
}

/* Reads to the end; finishes q.  How many, -1. */
static int
read_items(struct db_query *q, enum file_delete_state state,
           struct cleanup_item *items, int max)
{
    int n = 0, rc;

    while ((rc = db_step(q)) == 0 && n < max)
        read_item(q, state, &items[n++]);
    db_finish(q);
    if (rc == 0 || rc == DB_NONE)
        return n;
    cleanup_free(items, n);
    return -1;
}

int
db_cleanup_oldest(struct db *db, int64_t *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT MIN(create_time) FROM workunit WHERE name NOT "
                       "LIKE '%nodelete%'");
    int rc = q != NULL ? db_step(q) : -1;

    if (rc == 0 && db_col_is_null(q, 0))
        rc = DB_NONE;
    if (rc == 0)
        *ret = db_col_i64(q, 0);
    db_finish(q);
    return rc;
}

void
cleanup_free(struct cleanup_item *items, int n)
{
    for (int i = 0; i < n; i++) {
        free(items[i].document);
        items[i].document = NULL;
    }
}

static const char *const due_from[] = {
    [CLEANUP_RESULTS] = "SELECT " RESULT_COLUMNS " FROM result",
    [CLEANUP_WORKUNITS] = "SELECT " WORKUNIT_COLUMNS " FROM workunit",
};
static const char *const document_column[] = {
    [CLEANUP_RESULTS] = "xml_doc_in",
    [CLEANUP_WORKUNITS] = "xml_doc",
};

static int
bind_filter(struct db_query *q, unsigned i, const struct cleanup_filter *f)
{
    if (f->mod_n > 0 && (db_bind_i64(q, i, f->mod_n) != 0 ||
                         db_bind_i64(q, i + 1, f->mod_i) != 0))
        return -1;
    i += f->mod_n > 0 ? 2 : 0;
    if (f->appid != 0 && db_bind_i64(q, i++, f->appid) != 0)
        return -1;
    if (f->xml_doc_like != NULL && db_bind_text(q, i, f->xml_doc_like) != 0)
        return -1;
    return 0;
}

int
db_cleanup_due(struct db *db, enum cleanup_kind kind,
               enum file_delete_state state, const struct cleanup_filter *f,
               int64_t after_id, struct cleanup_item *items, int max)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;

    buf_addf(&sql, "%s WHERE file_delete_state = ? AND id > ?", due_from[kind]);
    if (f->mod_n > 0)
        buf_add(&sql, " AND id % ? = ?");
    if (f->appid != 0)
        buf_add(&sql, " AND appid = ?");
    if (f->xml_doc_like != NULL)
        buf_addf(&sql, " AND %s LIKE ?", document_column[kind]);
    buf_addf(&sql, " ORDER BY id LIMIT %d", max);
    q = db_prepare(db, sql.data);
    buf_free(&sql);
    if (q == NULL || db_bind_i64(q, 0, state) != 0 ||
        db_bind_i64(q, 1, after_id) != 0 || bind_filter(q, 2, f) != 0) {
        db_finish(q);
        return -1;
    }
    return read_items(q, state, items, max);
}

int
db_cleanup_unfinished(struct db *db, int64_t after_id,
                      struct cleanup_item *items, int max)
{
    struct db_query *q =
        db_prepare(db, "SELECT " WORKUNIT_COLUMNS " FROM workunit"
                       " WHERE id > ? AND file_delete_state = 0"
                       " ORDER BY id LIMIT ?");

    if (q == NULL || db_bind_i64(q, 0, after_id) != 0 ||
        db_bind_i64(q, 1, max) != 0) {
        db_finish(q);
        return -1;
    }
    return read_items(q, FILES_INIT, items, max);
}

int
db_cleanup_count_unfinished(struct db *db, const int64_t *ids, int n)
{
    struct db_query *q =
        db_prepare_list(db, "SELECT COUNT(*) FROM workunit WHERE id IN (",
                        (size_t)n, ") AND file_delete_state = 0");
    unsigned i = 0;
    int count = -1;

    if (q != NULL && db_bind_list(q, &i, ids, (size_t)n) == 0 &&
        db_step(q) == 0)
        count = (int)db_col_i64(q, 0);
    db_finish(q);
    return count;
}

/* ---- what became of them ------------------------------------------------ */

struct apply {
    enum cleanup_kind kind;
    enum file_delete_state from;
    const struct cleanup_item *items;
    int n;
    int64_t *ids;
    int stored;
};

static const char *const apply_update[] = {
    [CLEANUP_RESULTS] = "UPDATE result FORCE INDEX (PRIMARY)"
                        " SET file_delete_state = ?"
                        " WHERE file_delete_state = ? AND id IN (",
    [CLEANUP_WORKUNITS] = "UPDATE workunit FORCE INDEX (PRIMARY)"
                          " SET file_delete_state = ?"
                          " WHERE file_delete_state = ? AND id IN (",
};

static int
store_state(struct db *db, struct apply *a, enum file_delete_state to)
{
    struct db_query *q;
    size_t n = 0;
    unsigned i = 2;
    int rc = -1;

    for (int k = 0; k < a->n; k++)
        if (a->items[k].state == to)
            a->ids[n++] = a->items[k].id;
    if (n == 0)
        return 0;
    q = db_prepare_list(db, apply_update[a->kind], n, ")");
    if (q != NULL && db_bind_i64(q, 0, to) == 0 &&
        db_bind_i64(q, 1, a->from) == 0 && db_bind_list(q, &i, a->ids, n) == 0)
        rc = db_step(q);
    if (rc == 0)
        a->stored += (int)db_affected(q);
    db_finish(q);
    return rc;
}

static int
lock_workunits(struct db *db, struct apply *a)
{
    struct db_query *q =
        db_prepare_list(db, "SELECT id FROM workunit WHERE id IN (",
                        (size_t)a->n, ") ORDER BY id FOR UPDATE");
    unsigned i = 0;
    int rc = -1;

    for (int k = 0; k < a->n; k++)
        a->ids[k] = a->items[k].wu_id;
    if (q != NULL && db_bind_list(q, &i, a->ids, (size_t)a->n) == 0)
        while ((rc = db_step(q)) == 0)
            ;
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static int
apply_all(struct db *db, void *arg)
{
    struct apply *a = arg;

    a->stored = 0;
    if (a->n > 0 && lock_workunits(db, a) != 0)
        return -1;
    if (store_state(db, a, FILES_DONE) != 0 ||
        store_state(db, a, FILES_ERROR) != 0)
        return -1;
    return 0;
}

int
db_cleanup_apply(struct db *db, enum cleanup_kind kind,
                 enum file_delete_state from, const struct cleanup_item *items,
                 int n)
{
    struct apply a = {.kind = kind, .from = from, .items = items, .n = n};
    int rc;

    a.ids = xcalloc((size_t)n + 1, sizeof(*a.ids));
    rc = db_transaction(db, apply_all, &a);
    free(a.ids);
    return rc == 0 ? a.stored : -1;
}
