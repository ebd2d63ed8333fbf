/* db_transition_apply.c - make the changes that the transitioner decided.
 *
 * A batch costs a fixed number of statements: one to pick, one for the results,
 * one for each kind of change of a result (there are about ten), one for the
 * workunits, one for each 128 new results, three for hosts that were late. */
#include "db_transition.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "db_batch.h"
#include "db_hav.h"
#include "db_many.h"
#include "log.h"
#include "quota.h"

enum {
    IDS_AT_ONCE = 1024,
    NEW_AT_ONCE = 128,
    MAX_STATEMENT = 4 << 20, /* bytes of documents in one INSERT */
};

/* ---- changes of results ---------------------------------------------------
 */

enum { N_STATES = 4 };

struct flat_change {
    int64_t id;
    unsigned to[N_STATES]; /* server_state, outcome, validate_state, files */
    unsigned from[N_STATES];
};

/* Changes of the same kind go into one statement. */
static int
by_kind(const struct flat_change *x, const struct flat_change *y)
{
    for (size_t i = 0; i < N_STATES; i++) {
        if (x->from[i] != y->from[i])
            return x->from[i] < y->from[i] ? -1 : 1;
        if (x->to[i] != y->to[i])
            return x->to[i] < y->to[i] ? -1 : 1;
    }
    return 0;
}

static int
by_kind_and_id(const void *a, const void *b)
{
    const struct flat_change *x = a, *y = b;
    int rc = by_kind(x, y);

    return rc != 0 ? rc : (x->id > y->id) - (x->id < y->id);
}

/* n changes of one kind. */
static int
change_kind(struct db *db, const struct flat_change *c, size_t n)
{
    int64_t ids[IDS_AT_ONCE];
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    for (size_t i = 0; i < n; i++)
        ids[i] = c[i].id;
    q = db_prepare_list(
        db,
        "UPDATE result FORCE INDEX (PRIMARY) SET "
        "server_state = ?, outcome = ?, validate_state = ?, "
        "file_delete_state = ? WHERE server_state = ? AND outcome = ? AND "
        "validate_state = ? AND file_delete_state = ? AND id IN (",
        n, ")");
    if (q == NULL)
        return -1;
    for (size_t i = 0; i < N_STATES; i++)
        if (db_bind_i64(q, p++, c->to[i]) != 0)
            goto out;
    for (size_t i = 0; i < N_STATES; i++)
        if (db_bind_i64(q, p++, c->from[i]) != 0)
            goto out;
    if (db_bind_list(q, &p, ids, n) != 0)
        goto out;
    rc = db_step(q);
    if (rc == 0 && db_affected(q) != (int64_t)n) {
        log_warning("%" PRId64 " of %zu results changed under our lock",
                    (int64_t)n - db_affected(q), n);
        rc = DB_EXISTS;
    }
out:
    db_finish(q);
    return rc;
}

static size_t
flatten(const struct transition_batch *b, struct flat_change *flat)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < b->todo[i].n_changes; k++) {
            const struct result_change *c = &b->change[b->wu[i].first + k];
            const struct transition_result *r =
                &b->result[b->wu[i].first + c->index];

            flat[n++] = (struct flat_change){
                r->id,
                {c->server_state, c->outcome, c->validate_state,
                      c->file_delete_state},
                {r->server_state, r->outcome, r->validate_state,
                      r->file_delete_state},
            };
        }
    return n;
}

static int
change_results(struct db *db, const struct transition_batch *b)
{
    struct flat_change *flat = xcalloc(b->n_results + 1, sizeof(*flat));
    size_t n = flatten(b, flat), end;
    int rc = 0;

    qsort(flat, n, sizeof(*flat), by_kind_and_id);
    for (size_t i = 0; i < n && rc == 0; i = end) {
        for (end = i + 1; end < n && end - i < IDS_AT_ONCE &&
                          by_kind(&flat[i], &flat[end]) == 0;)
            end++;
        rc = change_kind(db, &flat[i], end - i);
    }
    free(flat);
    return rc;
}

/* ---- hosts that were late -------------------------------------------------
 */

struct late {
    struct host_app_version hav; /* first: sorted as such */
    int64_t delay_bound;         /* s */
};

static size_t
find_late(const struct transition_batch *b, struct late *late)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < b->todo[i].n_changes; k++) {
            const struct result_change *c = &b->change[b->wu[i].first + k];
            const struct transition_result *r =
                &b->result[b->wu[i].first + c->index];
            int64_t key = quota_version_key(r->appid, r->app_version_id);

            if (!c->penalise || r->hostid == 0 || key == 0)
                continue;
            late[n].hav.host_id = r->hostid;
            late[n].hav.app_version_id = key;
            late[n++].delay_bound = b->wu[i].wu.delay_bound;
        }
    return n;
}

static int
penalise(struct db *db, const struct transition_batch *b,
         int daily_result_quota)
{
    struct late *late = xcalloc(b->n_results + 1, sizeof(*late));
    size_t n = find_late(b, late), rows = 0;
    struct host_app_version *hav = xcalloc(n + 1, sizeof(*hav));
    int rc = 0;

    qsort(late, n, sizeof(*late), db_hav_compare);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || db_hav_compare(&late[i - 1].hav, &late[i].hav) != 0)
            hav[rows++] = late[i].hav;
    if (rows > 0)
        rc = db_hav_lock(db, hav, rows);
    for (size_t i = 0, row = 0; i < n && rc == 0; i++) {
        while (db_hav_compare(&hav[row], &late[i].hav) != 0)
            row++;
        quota_timed_out(&hav[row], (double)late[i].delay_bound,
                        daily_result_quota);
    }
    if (rows > 0 && rc == 0)
        rc = db_hav_store(db, hav, rows);
    free(hav);
    free(late);
    return rc;
}

/* ---- new results ----------------------------------------------------------
 */

static int
insert_results(struct db *db, const struct transition_batch *b, size_t from,
               size_t n, int64_t now)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    buf_add(&sql,
            "INSERT INTO result (create_time, workunitid, server_state, "
            "name, xml_doc_in, batch, random, appid, priority, size_class, "
            "outcome, client_state, hostid, userid, report_deadline, "
            "sent_time, received_time, cpu_time, xml_doc_out, stderr_out, "
            "file_delete_state, validate_state, claimed_credit, "
            "granted_credit, opaque, app_version_num, exit_status, teamid, "
            "elapsed_time, flops_estimate, app_version_id, runtime_outlier, "
            "peak_working_set_size, peak_swap_size, peak_disk_usage) VALUES ");
    for (size_t i = 0; i < n; i++)
        buf_addf(&sql,
                 "%s(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0, "
                 "'', '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
                 i == 0 ? "" : ", ");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = from; i < from + n; i++) {
        const struct new_result *r = &b->new_result[i];
        const struct workunit *wu = &b->wu[r->wu].wu;
        enum server_state state =
            wu->size_class >= 0 ? RESULT_INACTIVE : RESULT_UNSENT;

        if (db_bind_i64(q, p++, now) != 0 || db_bind_i64(q, p++, wu->id) != 0 ||
            db_bind_i64(q, p++, state) != 0 ||
            db_bind_text(q, p++, r->name) != 0 ||
            db_bind_blob(q, p++, r->xml_doc_in, strlen(r->xml_doc_in)) != 0 ||
            db_bind_i64(q, p++, wu->batch) != 0 ||
            db_bind_i64(q, p++, r->random) != 0 ||
            db_bind_i64(q, p++, wu->appid) != 0 ||
            db_bind_i64(q, p++, b->todo[r->wu].new_priority) != 0 ||
            db_bind_i64(q, p++, wu->size_class) != 0)
            goto out;
    }
    rc = db_step(q);
    if (rc == DB_EXISTS)
        log_warning("the name of a new result is taken");
out:
    db_finish(q);
    return rc;
}

/* Rows of one INSERT: a power of two (few statement texts), not too many
 * bytes. */
static size_t
rows_that_fit(const struct transition_batch *b, size_t from)
{
    size_t left = b->n_new - from, n = 1, bytes = 0, i = from;

    while (n * 2 <= left && n * 2 <= NEW_AT_ONCE) {
        for (; i < from + n * 2; i++)
            bytes += strlen(b->new_result[i].xml_doc_in);
        if (bytes > MAX_STATEMENT)
            break;
        n *= 2;
    }
    return n;
}

static int
create_results(struct db *db, const struct transition_batch *b, int64_t now)
{
    int rc = 0;

    for (size_t i = 0, n; i < b->n_new && rc == 0; i += n) {
        n = rows_that_fit(b, i);
        rc = insert_results(db, b, i, n, now);
    }
    return rc;
}

/* ---- workunits ------------------------------------------------------------
 */

static int
bind_workunit(struct db_query *q, unsigned *p, const struct workunit *wu,
              const struct transition *t)
{
    const int64_t value[] = {
        wu->id,
        t->need_validate,
        t->error_mask,
        t->assimilate_state,
        t->file_delete_state,
        t->hr_class,
        t->app_version_id,
        t->transition_time,
    };

    for (size_t i = 0; i < ARRAY_LEN(value); i++)
        if (db_bind_i64(q, (*p)++, value[i]) != 0)
            return -1;
    return 0;
}

static int
change_workunits(struct db *db, const struct transition_batch *b)
{
    static const struct db_value_column columns[] = {
        {"wu",       'i'},
        {"validate", 'i'},
        {"mask",     'i'},
        {"assim",    'i'},
        {"files",    'i'},
        {"hr",       'i'},
        {"version",  'i'},
        {"due",      'i'},
    };
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    buf_add(&sql, "UPDATE (");
    db_value_table(&sql, columns, ARRAY_LEN(columns), b->n);
    buf_add(&sql, ") v STRAIGHT_JOIN workunit w ON w.id = v.wu SET "
                  "w.need_validate = v.validate, w.error_mask = v.mask, "
                  "w.assimilate_state = v.assim, "
                  "w.file_delete_state = v.files, w.hr_class = v.hr, "
                  "w.app_version_id = v.version, w.transition_time = v.due");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = 0; i < b->n; i++)
        if (bind_workunit(q, &p, &b->wu[i].wu, &b->todo[i]) != 0)
            goto out;
    if (db_bind_padding(q, &p, ARRAY_LEN(columns), b->n) == 0)
        rc = db_step(q);
out:
    db_finish(q);
    return rc;
}

/* Jobs that fail here have ended, for their batches. */
static int
count_ended(struct db *db, const struct transition_batch *b, int64_t now)
{
    struct batch_change *c = xcalloc(b->n, sizeof(*c));
    int rc;

    for (size_t i = 0; i < b->n; i++) {
        const struct workunit *wu = &b->wu[i].wu;

        c[i].batch = wu->batch;
        c[i].was = job_end(wu->canonical_resultid, wu->error_mask);
        c[i].is = job_end(wu->canonical_resultid, b->todo[i].error_mask);
    }
    rc = db_batch_count(db, c, b->n, now);
    free(c);
    return rc;
}

int
db_transition_apply(struct db *db, const struct transition_batch *b,
                    int64_t now, int daily_result_quota)
{
    int rc;

    if (b->n == 0)
        return 0;
    rc = change_results(db, b);
    if (rc == 0)
        rc = create_results(db, b, now);
    if (rc == 0)
        rc = change_workunits(db, b);
    if (rc == 0)
        rc = count_ended(db, b, now);
    if (rc == 0)
        rc = penalise(db, b, daily_result_quota);
    return rc;
}
