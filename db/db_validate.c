/* db_validate.c - the validator's questions: results to compare.  Verdicts and
 * credit are stored in db_validate_store.c. */
#include "db_validate.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "db_many.h"
#include "db_validate_private.h"

/* The columns in the order workunit_from_row() reads them. */
#define WU_COLUMNS                                                             \
    "id, appid, name, batch, rsc_fpops_est, rsc_fpops_bound, "                 \
    "canonical_resultid, canonical_credit, error_mask, min_quorum, "           \
    "target_nresults, max_success_results, assimilate_state, "                 \
    "transition_time, opaque"

static void
workunit_from_row(struct db_query *q, struct workunit *wu)
{
    unsigned c = 0;

    memset(wu, 0, sizeof(*wu));
    wu->id = db_col_i64(q, c++);
    wu->appid = db_col_i64(q, c++);
    db_col_copy(q, c++, wu->name, sizeof(wu->name));
    wu->batch = db_col_i64(q, c++);
    wu->rsc_fpops_est = db_col_double(q, c++);
    wu->rsc_fpops_bound = db_col_double(q, c++);
    wu->canonical_resultid = db_col_i64(q, c++);
    wu->canonical_credit = db_col_double(q, c++);
    wu->error_mask = (unsigned)db_col_i64(q, c++);
    wu->min_quorum = (int)db_col_i64(q, c++);
    wu->target_nresults = (int)db_col_i64(q, c++);
    wu->max_success_results = (int)db_col_i64(q, c++);
    wu->assimilate_state = (enum assimilate_state)db_col_i64(q, c++);
    wu->transition_time = db_col_i64(q, c++);
    wu->opaque = db_col_double(q, c++);
}

#define RESULT_COLUMNS                                                         \
    "workunitid, id, name, validate_state, file_delete_state, hostid, "        \
    "userid, appid, app_version_id, sent_time, received_time, cpu_time, "      \
    "elapsed_time, flops_estimate, exit_status, granted_credit, "              \
    "claimed_credit, runtime_outlier"

static void
result_from_row(struct db_query *q, enum outcome outcome, struct result *r)
{
    unsigned c = 0;

    memset(r, 0, sizeof(*r));
    r->server_state = RESULT_OVER;
    r->outcome = outcome;
    r->workunitid = db_col_i64(q, c++);
    r->id = db_col_i64(q, c++);
    db_col_copy(q, c++, r->name, sizeof(r->name));
    r->validate_state = (enum validate_state)db_col_i64(q, c++);
    r->file_delete_state = (enum file_delete_state)db_col_i64(q, c++);
    r->hostid = db_col_i64(q, c++);
    r->userid = db_col_i64(q, c++);
    r->appid = db_col_i64(q, c++);
    r->app_version_id = db_col_i64(q, c++);
    r->sent_time = db_col_i64(q, c++);
    r->received_time = db_col_i64(q, c++);
    r->cpu_time = db_col_double(q, c++);
    r->elapsed_time = db_col_double(q, c++);
    r->flops_estimate = db_col_double(q, c++);
    r->exit_status = (int)db_col_i64(q, c++);
    r->granted_credit = db_col_double(q, c++);
    r->claimed_credit = db_col_double(q, c++);
    r->runtime_outlier = db_col_i64(q, c++) != 0;
}

static void
forget_document(struct result *r)
{
    free(r->xml_doc_in);
    free(r->stderr_out);
    r->xml_doc_in = r->stderr_out = NULL;
}

static void
forget_documents(struct validate_batch *b)
{
    for (size_t i = 0; i < b->n_results; i++)
        forget_document(&b->result[i]);
    for (size_t i = 0; i < b->n_failed; i++)
        forget_document(&b->failed[i].result);
}

static void
forget(struct validate_batch *b)
{
    forget_documents(b);
    free(b->hav);
    free(b->version);
    b->hav = NULL;
    b->version = NULL;
    b->n = b->n_results = b->n_failed = b->n_hav = b->n_versions = 0;
}

void
validate_batch_free(struct validate_batch *b)
{
    forget(b);
    free(b->wu);
    free(b->verdict);
    free(b->result);
    free(b->change);
    free(b->failed);
    memset(b, 0, sizeof(*b));
}

static struct validate_wu *
add_wu(struct validate_batch *b)
{
    if (b->n == b->room_for_wu) {
        b->room_for_wu = b->room_for_wu == 0 ? 128 : 2 * b->room_for_wu;
        b->wu = xrealloc(b->wu, b->room_for_wu * sizeof(*b->wu));
        b->verdict = xrealloc(b->verdict, b->room_for_wu * sizeof(*b->verdict));
    }
    memset(&b->wu[b->n], 0, sizeof(*b->wu));
    memset(&b->verdict[b->n], 0, sizeof(*b->verdict));
    return &b->wu[b->n++];
}

static struct result *
add_result(struct validate_batch *b)
{
    if (b->n_results == b->room_for_results) {
        b->room_for_results =
            b->room_for_results == 0 ? 256 : 2 * b->room_for_results;
        b->result =
            xrealloc(b->result, b->room_for_results * sizeof(*b->result));
        b->change =
            xrealloc(b->change, b->room_for_results * sizeof(*b->change));
    }
    memset(&b->change[b->n_results], 0, sizeof(*b->change));
    return &b->result[b->n_results++];
}

static struct db_query *
prepare_pick(struct db *db, const struct validate_query *want)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;

    buf_add(&sql, "SELECT " WU_COLUMNS " FROM workunit WHERE appid = ?");
    if (want->wu_id != 0)
        buf_add(&sql, " AND id = ?");
    else
        buf_add(&sql, " AND need_validate = 1 AND id > ?");
    if (want->max_id > 0)
        buf_add(&sql, " AND id <= ?");
    if (want->mod_n > 0)
        buf_add(&sql, " AND id % ? = ?");
    buf_add(&sql, " ORDER BY id LIMIT ?");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    return q;
}

static int
pick(struct db *db, const struct validate_query *want, struct validate_batch *b)
{
    struct db_query *q = prepare_pick(db, want);
    unsigned p = 0;
    int rc = -1;

    if (q == NULL)
        return -1;
    if (db_bind_i64(q, p++, want->appid) != 0 ||
        db_bind_i64(q, p++, want->wu_id != 0 ? want->wu_id : want->after_id) !=
            0 ||
        (want->max_id > 0 && db_bind_i64(q, p++, want->max_id) != 0) ||
        (want->mod_n > 0 && (db_bind_i64(q, p++, want->mod_n) != 0 ||
                             db_bind_i64(q, p++, want->mod_i) != 0)) ||
        db_bind_i64(q, p++, want->limit) != 0)
        goto out;
    while ((rc = db_step(q)) == 0)
        workunit_from_row(q, &add_wu(b)->wu);
out:
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static void
take_success(struct validate_batch *b, size_t w, struct db_query *q)
{
    if (b->wu[w].n++ == 0)
        b->wu[w].first = b->n_results;
    result_from_row(q, OUTCOME_SUCCESS, add_result(b));
}

static void
take_failed(struct validate_batch *b, size_t w, struct db_query *q)
{
    struct validate_failed *f;

    if (b->wu[w].wu.canonical_resultid != 0)
        return;
    if (b->n_failed == b->room_for_failed) {
        b->room_for_failed =
            b->room_for_failed == 0 ? 64 : 2 * b->room_for_failed;
        b->failed =
            xrealloc(b->failed, b->room_for_failed * sizeof(*b->failed));
    }
    f = &b->failed[b->n_failed++];
    *f = (struct validate_failed){.wu = w};
    result_from_row(q, OUTCOME_CLIENT_ERROR, &f->result);
}

static int
read_results(struct db *db, struct validate_batch *b, const char *which,
             void (*take)(struct validate_batch *, size_t, struct db_query *))
{
    int64_t *ids = xcalloc(b->n, sizeof(*ids));
    struct db_query *q;
    unsigned p = 0;
    size_t w = 0;
    int rc = -1;

    for (size_t i = 0; i < b->n; i++)
        ids[i] = b->wu[i].wu.id;
    q = db_prepare_list(db, which, b->n, ") ORDER BY workunitid, id");
    if (q != NULL && db_bind_list(q, &p, ids, b->n) == 0)
        while ((rc = db_step(q)) == 0) {
            while (b->wu[w].wu.id != db_col_i64(q, 0))
                w++;
            take(b, w, q);
        }
    db_finish(q);
    free(ids);
    return rc == DB_NONE ? 0 : -1;
}

int
db_validate_due(struct db *db, const struct validate_query *want,
                struct validate_batch *b)
{
    forget(b);
    if (pick(db, want, b) != 0)
        return -1;
    if (b->n == 0)
        return 0;
    if (read_results(db, b,
                     want->judged_too
                         ? "SELECT " RESULT_COLUMNS " FROM result WHERE "
                           "server_state = 5 AND outcome IN (1, 6) AND "
                           "workunitid IN ("
                         : "SELECT " RESULT_COLUMNS " FROM result WHERE "
                           "server_state = 5 AND outcome = 1 AND "
                           "validate_state <> 2 AND workunitid IN (",
                     take_success) != 0)
        return -1;
    if (want->failed_too &&
        read_results(db, b,
                     "SELECT " RESULT_COLUMNS " FROM result WHERE "
                     "server_state = 5 AND outcome = 3 AND workunitid IN (",
                     take_failed) != 0)
        return -1;
    return db_validate_read_averages(db, b);
}

/* ---- documents ------------------------------------------------------------
 */

static int
by_result_id(const void *a, const void *b)
{
    const struct result *const *x = a, *const *y = b;

    return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

/* Pointers to the results of wu[from … to - 1], by id (malloc). */
static struct result **
list_results(struct validate_batch *b, size_t from, size_t to, size_t *ret_n)
{
    struct result **list =
        xcalloc(b->n_results + b->n_failed + 1, sizeof(struct result *));
    size_t n = 0;

    for (size_t i = from; i < to; i++)
        for (size_t k = 0; k < b->wu[i].n; k++)
            list[n++] = &b->result[b->wu[i].first + k];
    for (size_t f = 0; f < b->n_failed; f++)
        if (b->failed[f].wu >= from && b->failed[f].wu < to)
            list[n++] = &b->failed[f].result;
    qsort(list, n, sizeof(struct result *), by_result_id);
    *ret_n = n;
    return list;
}

/* The rows come by id, as the list is. */
static int
read_documents(struct db *db, struct result *const *list, size_t n)
{
    int64_t *ids = xcalloc(n, sizeof(*ids));
    struct db_query *q;
    unsigned p = 0;
    size_t i = 0;
    int rc = -1;

    for (size_t k = 0; k < n; k++)
        ids[k] = list[k]->id;
    q = db_prepare_list(db,
                        "SELECT id, xml_doc_in, stderr_out FROM result FORCE "
                        "INDEX (PRIMARY) WHERE id IN (",
                        n, ") ORDER BY id");
    if (q != NULL && db_bind_list(q, &p, ids, n) == 0)
        while ((rc = db_step(q)) == 0) {
            while (list[i]->id != db_col_i64(q, 0))
                i++;
            list[i]->xml_doc_in = db_col_dup(q, 1);
            list[i]->stderr_out = db_col_dup(q, 2);
        }
    db_finish(q);
    free(ids);
    return rc == DB_NONE ? 0 : -1;
}

int
db_validate_documents(struct db *db, struct validate_batch *b, size_t from,
                      size_t n)
{
    size_t to = n < b->n - from ? from + n : b->n, n_list;
    struct result **list = list_results(b, from, to, &n_list);
    int rc = 0;

    forget_documents(b);
    if (n_list > 0)
        rc = read_documents(db, list, n_list);
    free(list);
    return rc;
}

int
db_validate_app(struct db *db, int64_t appid, struct app *ret)
{
    struct db_query *q = db_prepare(
        db, "SELECT id, name, target_nresults, min_avg_pfc, host_scale_check "
            "FROM app WHERE id = ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, appid) == 0)
        rc = db_step(q);
    if (rc == 0) {
        memset(ret, 0, sizeof(*ret));
        ret->id = db_col_i64(q, 0);
        db_col_copy(q, 1, ret->name, sizeof(ret->name));
        ret->target_nresults = (int)db_col_i64(q, 2);
        ret->min_avg_pfc = db_col_double(q, 3);
        ret->host_scale_check = db_col_i64(q, 4) != 0;
    }
    db_finish(q);
    return rc;
}
