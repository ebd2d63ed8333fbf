/* db_transition.c - the transitioner's questions: which workunits are due,
 * and with which results.  The changes are in db_transition_apply.c. */
#include "db_transition.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "db_many.h"

/* ---- reading --------------------------------------------------------------
 */

/* The columns in the order workunit_from_row() reads them. */
#define WU_COLUMNS                                                             \
    "id, appid, name, batch, need_validate, canonical_resultid, "              \
    "transition_time, delay_bound, error_mask, file_delete_state, "            \
    "assimilate_state, hr_class, min_quorum, target_nresults, "                \
    "max_error_results, max_total_results, max_success_results, "              \
    "result_template_file, priority, app_version_id, transitioner_flags, "     \
    "size_class, app_version_num"

static void
workunit_from_row(struct db_query *q, struct workunit *wu)
{
    unsigned c = 0;

    memset(wu, 0, sizeof(*wu));
    wu->id = db_col_i64(q, c++);
    wu->appid = db_col_i64(q, c++);
    db_col_copy(q, c++, wu->name, sizeof(wu->name));
    wu->batch = db_col_i64(q, c++);
    wu->need_validate = db_col_i64(q, c++) != 0;
    wu->canonical_resultid = db_col_i64(q, c++);
    wu->transition_time = db_col_i64(q, c++);
    wu->delay_bound = db_col_i64(q, c++);
    wu->error_mask = (unsigned)db_col_i64(q, c++);
    wu->file_delete_state = (enum file_delete_state)db_col_i64(q, c++);
    wu->assimilate_state = (enum assimilate_state)db_col_i64(q, c++);
    wu->hr_class = (int)db_col_i64(q, c++);
    wu->min_quorum = (int)db_col_i64(q, c++);
    wu->target_nresults = (int)db_col_i64(q, c++);
    wu->max_error_results = (int)db_col_i64(q, c++);
    wu->max_total_results = (int)db_col_i64(q, c++);
    wu->max_success_results = (int)db_col_i64(q, c++);
    db_col_copy(q, c++, wu->result_template_file,
                sizeof(wu->result_template_file));
    wu->priority = (int)db_col_i64(q, c++);
    wu->app_version_id = db_col_i64(q, c++);
    wu->transitioner_flags = (int)db_col_i64(q, c++);
    wu->size_class = (int)db_col_i64(q, c++);
    wu->app_version_num = (int)db_col_i64(q, c++);
}

#define RESULT_COLUMNS                                                         \
    "workunitid, id, server_state, outcome, validate_state, "                  \
    "file_delete_state, report_deadline, received_time, hostid, appid, "       \
    "app_version_id, sent_time, exit_status, name"

static void
result_from_row(struct db_query *q, struct transition_result *r)
{
    unsigned c = 1;

    r->id = db_col_i64(q, c++);
    r->server_state = (enum server_state)db_col_i64(q, c++);
    r->outcome = (enum outcome)db_col_i64(q, c++);
    r->validate_state = (enum validate_state)db_col_i64(q, c++);
    r->file_delete_state = (enum file_delete_state)db_col_i64(q, c++);
    r->report_deadline = db_col_i64(q, c++);
    r->received_time = db_col_i64(q, c++);
    r->hostid = db_col_i64(q, c++);
    r->appid = db_col_i64(q, c++);
    r->app_version_id = db_col_i64(q, c++);
    r->sent_time = db_col_i64(q, c++);
    r->exit_status = (int)db_col_i64(q, c++);
    r->suffix = transition_name_suffix(db_col_text(q, c++));
}

static void
forget(struct transition_batch *b)
{
    for (size_t i = 0; i < b->n_new; i++)
        free(b->new_result[i].xml_doc_in);
    b->n = b->n_results = b->n_new = 0;
}

void
transition_batch_free(struct transition_batch *b)
{
    forget(b);
    free(b->wu);
    free(b->result);
    free(b->todo);
    free(b->change);
    free(b->new_result);
    memset(b, 0, sizeof(*b));
}

static struct due_wu *
add_wu(struct transition_batch *b)
{
    if (b->n == b->room_for_wu) {
        b->room_for_wu = b->room_for_wu == 0 ? 128 : 2 * b->room_for_wu;
        b->wu = xrealloc(b->wu, b->room_for_wu * sizeof(*b->wu));
        b->todo = xrealloc(b->todo, b->room_for_wu * sizeof(*b->todo));
    }
    return &b->wu[b->n++];
}

static struct transition_result *
add_result(struct transition_batch *b)
{
    if (b->n_results == b->room_for_results) {
        b->room_for_results =
            b->room_for_results == 0 ? 256 : 2 * b->room_for_results;
        b->result =
            xrealloc(b->result, b->room_for_results * sizeof(*b->result));
        b->change =
            xrealloc(b->change, b->room_for_results * sizeof(*b->change));
    }
    return &b->result[b->n_results++];
}

struct new_result *
transition_batch_add(struct transition_batch *b, size_t wu)
{
    struct new_result *r;

    if (b->n_new == b->room_for_new) {
        b->room_for_new = b->room_for_new == 0 ? 128 : 2 * b->room_for_new;
        b->new_result =
            xrealloc(b->new_result, b->room_for_new * sizeof(*b->new_result));
    }
    r = &b->new_result[b->n_new++];
    memset(r, 0, sizeof(*r));
    r->wu = wu;
    return r;
}

static bool
goes_on(const struct due_query *want)
{
    return want->wu_id == 0 && (want->after_time != 0 || want->after_id != 0);
}

static struct db_query *
prepare_pick(struct db *db, const struct due_query *want)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;

    buf_add(&sql, "SELECT " WU_COLUMNS " FROM workunit WHERE "
                  "transitioner_flags <> 1");
    buf_add(&sql,
            want->wu_id != 0 ? " AND id = ?" : " AND transition_time <= ?");
    if (want->mod_n > 0)
        buf_add(&sql, " AND id % ? = ?");
    if (goes_on(want)) /* in this form, both are looked up in the index */
        buf_add(&sql, " AND (transition_time > ? OR (transition_time = ? AND "
                      "id > ?))");
    buf_add(&sql, " ORDER BY transition_time, id LIMIT ? FOR UPDATE");
    if (db_has_skip_locked(db) && want->wu_id == 0)
        buf_add(&sql, " SKIP LOCKED");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    return q;
}

static int
pick(struct db *db, const struct due_query *want, struct transition_batch *b)
{
    struct db_query *q = prepare_pick(db, want);
    unsigned p = 0;
    int rc = -1;

    if (q == NULL)
        return -1;
    if (db_bind_i64(q, p++, want->wu_id != 0 ? want->wu_id : want->now) != 0 ||
        (want->mod_n > 0 && (db_bind_i64(q, p++, want->mod_n) != 0 ||
                             db_bind_i64(q, p++, want->mod_i) != 0)) ||
        (goes_on(want) && (db_bind_i64(q, p++, want->after_time) != 0 ||
                           db_bind_i64(q, p++, want->after_time) != 0 ||
                           db_bind_i64(q, p++, want->after_id) != 0)) ||
        db_bind_i64(q, p++, want->limit) != 0)
        goto out;
    while ((rc = db_step(q)) == 0) {
        workunit_from_row(q, &add_wu(b)->wu);
        b->last_time = b->wu[b->n - 1].wu.transition_time;
        b->last_id = b->wu[b->n - 1].wu.id;
    }
out:
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static int
by_id(const void *a, const void *b)
{
    const struct due_wu *x = a, *y = b;

    return (x->wu.id > y->wu.id) - (x->wu.id < y->wu.id);
}

/* Results of the workunits, which are in id order: both lists advance. */
static int
read_results(struct db *db, struct transition_batch *b)
{
    int64_t *ids = xcalloc(b->n, sizeof(*ids));
    struct db_query *q;
    unsigned p = 0;
    size_t w = 0;
    int rc = -1;

    for (size_t i = 0; i < b->n; i++)
        ids[i] = b->wu[i].wu.id;
    q = db_prepare_list(
        db, "SELECT " RESULT_COLUMNS " FROM result WHERE workunitid IN (", b->n,
        ") ORDER BY workunitid, id FOR UPDATE");
    if (q != NULL && db_bind_list(q, &p, ids, b->n) == 0)
        while ((rc = db_step(q)) == 0) {
            while (b->wu[w].wu.id != db_col_i64(q, 0)) {
                w++;
                b->wu[w].first = b->n_results;
                b->wu[w].n = 0;
            }
            result_from_row(q, add_result(b));
            b->wu[w].n++;
        }
    db_finish(q);
    free(ids);
    return rc == DB_NONE ? 0 : -1;
}

int
db_transition_due(struct db *db, const struct due_query *want,
                  struct transition_batch *b)
{
    forget(b);
    if (pick(db, want, b) != 0)
        return -1;
    if (b->n == 0)
        return 0;
    qsort(b->wu, b->n, sizeof(*b->wu), by_id);
    for (size_t i = 0; i < b->n; i++)
        b->wu[i].first = b->wu[i].n = 0;
    return read_results(db, b);
}

int
db_transition_postpone(struct db *db, int64_t wu_id, int64_t when)
{
    struct db_query *q =
        db_prepare(db, "UPDATE workunit SET transition_time = ? WHERE id = ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, when) == 0 &&
        db_bind_i64(q, 1, wu_id) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}
