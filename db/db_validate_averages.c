/* db_validate_averages.c - what the verdicts mean for the averages of hosts
 * with their versions, and of the versions.
 *
 * Credit is computed from the averages as they are before the comparison.  The
 * samples go into them as they are under our lock, in the transaction that
 * stores the verdicts: no sample is lost, none counts twice. */
#include <stdlib.h>
#include <string.h>

#include "average.h"
#include "buf.h"
#include "credit.h"
#include "db.h"
#include "db_hav.h"
#include "db_many.h"
#include "db_validate_private.h"
#include "quota.h"
#include "trust.h"

enum { ROWS_AT_ONCE = 256 };

/* ---- hosts ----------------------------------------------------------------
 */

enum mark_kind { MARK_VALID, MARK_INVALID, MARK_HOPELESS };

struct mark {
    struct host_app_version hav; /* first: compared as such */
    int64_t result;
    enum mark_kind kind;
    bool unconfirmed;
    const struct validate_change *c;
};

static int
by_host_and_result(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    int order = db_hav_compare(a, b);

    return order != 0 ? order
                      : (x->result > y->result) - (x->result < y->result);
}

/* The key of the statistics of a result; false: it has none. */
static bool
has_key(const struct result *r, struct host_app_version *ret)
{
    int64_t key = quota_version_key(r->appid, r->app_version_id);

    *ret =
        (struct host_app_version){.host_id = r->hostid, .app_version_id = key};
    return r->hostid != 0 && key != 0;
}

static size_t
list_marks(const struct store *s, const struct judged *judged, size_t n,
           struct mark *ret)
{
    size_t n_marks = 0;

    for (size_t i = 0; i < n; i++) {
        enum validate_state v = judged[i].c->validate_state;
        struct mark *m = &ret[n_marks];

        if ((v != VALIDATE_VALID && v != VALIDATE_INVALID) ||
            !has_key(judged[i].r, &m->hav))
            continue;
        m->result = judged[i].r->id;
        m->kind = v == VALIDATE_VALID ? MARK_VALID : MARK_INVALID;
        m->unconfirmed =
            trust_unconfirmed(s->terms->app_target_nresults,
                              s->b->wu[judged[i].wu].wu.target_nresults);
        m->c = judged[i].c;
        n_marks++;
    }
    return n_marks;
}

/* Failed results whose hosts are to blame (--check_punitive). */
static size_t
list_hopeless(const struct store *s, struct mark *ret)
{
    size_t n_marks = 0;

    for (size_t i = 0; i < s->b->n_failed; i++) {
        const struct validate_failed *f = &s->b->failed[i];
        struct mark *m = &ret[n_marks];

        if (!f->hopeless || !s->locked[f->wu].good ||
            !has_key(&f->result, &m->hav))
            continue;
        m->result = f->result.id;
        m->kind = MARK_HOPELESS;
        n_marks++;
    }
    return n_marks;
}

static void
add_samples(struct host_app_version *h, const struct pfc *p)
{
    average_add(&average_of_host, p->host_pfc, &h->pfc_n, &h->pfc_avg);
    average_add_spread(&average_of_host, p->host_et, &h->et_n, &h->et_avg,
                       &h->et_var, &h->et_q);
    average_add_spread(&average_of_host, p->turnaround, &h->turnaround_n,
                       &h->turnaround_avg, &h->turnaround_var,
                       &h->turnaround_q);
}

static void
apply(struct host_app_version *h, const struct mark *m, int daily_result_quota)
{
    switch (m->kind) {
    case MARK_VALID:
        quota_valid(h, daily_result_quota, !m->unconfirmed);
        if (m->c->measured)
            add_samples(h, &m->c->pfc);
        break;
    case MARK_INVALID:
        quota_invalid(h, daily_result_quota);
        break;
    case MARK_HOPELESS:
        quota_hopeless(h);
        break;
    }
}

int
db_validate_mark_hosts(struct db *db, const struct store *s,
                       const struct judged *judged, size_t n)
{
    size_t room = n + s->b->n_failed + 1, rows = 0;
    struct mark *mark = xcalloc(room, sizeof(*mark));
    struct host_app_version *hav = xcalloc(room, sizeof(*hav));
    size_t n_marks = list_marks(s, judged, n, mark);
    int rc = 0;

    n_marks += list_hopeless(s, mark + n_marks);
    qsort(mark, n_marks, sizeof(*mark), by_host_and_result);
    for (size_t i = 0; i < n_marks; i++)
        if (i == 0 || db_hav_compare(&mark[i - 1].hav, &mark[i].hav) != 0)
            hav[rows++] = mark[i].hav;
    if (rows > 0)
        rc = db_hav_lock(db, hav, rows);
    for (size_t i = 0, row = 0; i < n_marks && rc == 0; i++) {
        while (db_hav_compare(&hav[row], &mark[i].hav) != 0)
            row++;
        apply(&hav[row], &mark[i], s->terms->daily_result_quota);
    }
    if (rows > 0 && rc == 0)
        rc = db_hav_store(db, hav, rows);
    free(hav);
    free(mark);
    return rc;
}

/* ---- versions -------------------------------------------------------------
 */

static int
by_version(const void *a, const void *b)
{
    const struct app_version *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

/* Those that this batch has samples for, each once, by id. */
static size_t
list_versions(const struct judged *judged, size_t n, struct app_version *ret)
{
    size_t all = 0, kept = 0;

    for (size_t i = 0; i < n; i++)
        if (judged[i].c->measured && judged[i].r->app_version_id > 0)
            ret[all++].id = judged[i].r->app_version_id;
    qsort(ret, all, sizeof(*ret), by_version);
    for (size_t i = 0; i < all; i++)
        if (kept == 0 || ret[kept - 1].id != ret[i].id)
            ret[kept++] = ret[i];
    return kept;
}

static void
version_from_row(struct db_query *q, struct app_version *v)
{
    v->id = db_col_i64(q, 0);
    v->appid = db_col_i64(q, 1);
    v->pfc_n = db_col_double(q, 2);
    v->pfc_avg = db_col_double(q, 3);
    v->pfc_scale = db_col_double(q, 4);
    v->expavg_credit = db_col_double(q, 5);
    v->expavg_time = db_col_double(q, 6);
}

/* The versions that are there move to the front; how many in *n. */
static int
lock_versions(struct db *db, struct app_version *v, size_t *n)
{
    int64_t ids[ROWS_AT_ONCE];
    struct db_query *q;
    unsigned p = 0;
    size_t found = 0;
    int rc = -1;

    for (size_t i = 0; i < *n; i++)
        ids[i] = v[i].id;
    q = db_prepare_list(db,
                        "SELECT id, appid, pfc_n, pfc_avg, pfc_scale, "
                        "expavg_credit, expavg_time FROM app_version "
                        "WHERE id IN (",
                        *n, ") ORDER BY id FOR UPDATE");
    if (q != NULL && db_bind_list(q, &p, ids, *n) == 0)
        while ((rc = db_step(q)) == 0)
            version_from_row(q, &v[found++]);
    db_finish(q);
    *n = found;
    return rc == DB_NONE ? 0 : -1;
}

static void
add_version_samples(const struct store *s, const struct judged *j,
                    struct app_version *v, size_t n)
{
    struct app_version key = {.id = j->r->app_version_id}, *found;

    if (!j->c->measured || n == 0)
        return;
    found = bsearch(&key, v, n, sizeof(*v), by_version);
    if (found == NULL)
        return;
    average_add(&average_of_version, j->c->pfc.version_pfc, &found->pfc_n,
                &found->pfc_avg);
    if (j->c->version_credit > 0)
        credit_update_average((double)s->terms->now, (double)j->r->sent_time,
                              j->c->version_credit, CREDIT_HALF_LIFE,
                              &found->expavg_credit, &found->expavg_time);
}

static int
store_versions(struct db *db, const struct app_version *v, size_t n)
{
    static const struct db_value_column columns[] = {
        {"version",      'i'},
        {"samples",      'd'},
        {"average",      'd'},
        {"credit",       'd'},
        {"average_time", 'd'},
    };
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    buf_add(&sql, "UPDATE (");
    db_value_table(&sql, columns, ARRAY_LEN(columns), n);
    buf_add(&sql, ") v STRAIGHT_JOIN app_version a ON a.id = v.version SET "
                  "a.pfc_n = v.samples, a.pfc_avg = v.average, "
                  "a.expavg_credit = v.credit, a.expavg_time = v.average_time");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (db_bind_i64(q, p++, v[i].id) != 0 ||
            db_bind_double(q, p++, v[i].pfc_n) != 0 ||
            db_bind_double(q, p++, v[i].pfc_avg) != 0 ||
            db_bind_double(q, p++, v[i].expavg_credit) != 0 ||
            db_bind_double(q, p++, v[i].expavg_time) != 0)
            goto out;
    if (db_bind_padding(q, &p, ARRAY_LEN(columns), n) == 0)
        rc = db_step(q);
out:
    db_finish(q);
    return rc;
}

int
db_validate_mark_versions(struct db *db, const struct store *s,
                          const struct judged *judged, size_t n)
{
    struct app_version *v = xcalloc(n + 1, sizeof(*v));
    size_t all = list_versions(judged, n, v);
    int rc = 0;

    for (size_t at = 0; at < all && rc == 0; at += ROWS_AT_ONCE) {
        size_t part = all - at < ROWS_AT_ONCE ? all - at : ROWS_AT_ONCE;

        rc = lock_versions(db, v + at, &part);
        for (size_t i = 0; i < n && rc == 0; i++)
            add_version_samples(s, &judged[i], v + at, part);
        if (rc == 0 && part > 0)
            rc = store_versions(db, v + at, part);
    }
    free(v);
    return rc;
}

/* ---- as they are before the comparison ------------------------------------
 */

static size_t
list_keys(const struct validate_batch *b, struct host_app_version *ret)
{
    size_t all = 0, kept = 0;

    for (size_t i = 0; i < b->n_results; i++)
        if (has_key(&b->result[i], &ret[all]))
            all++;
    qsort(ret, all, sizeof(*ret), db_hav_compare);
    for (size_t i = 0; i < all; i++)
        if (kept == 0 || db_hav_compare(&ret[kept - 1], &ret[i]) != 0)
            ret[kept++] = ret[i];
    return kept;
}

static int
read_versions(struct db *db, struct validate_batch *b)
{
    struct db_query *q = db_prepare(
        db, "SELECT id, appid, pfc_n, pfc_avg, pfc_scale, expavg_credit, "
            "expavg_time FROM app_version WHERE appid = ? ORDER BY id");
    size_t room = 0;
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, b->wu[0].wu.appid) == 0)
        while ((rc = db_step(q)) == 0) {
            if (b->n_versions == room) {
                room = room == 0 ? 16 : 2 * room;
                b->version = xrealloc(b->version, room * sizeof(*b->version));
            }
            memset(&b->version[b->n_versions], 0, sizeof(*b->version));
            version_from_row(q, &b->version[b->n_versions++]);
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

int
db_validate_read_averages(struct db *db, struct validate_batch *b)
{
    bool *there;
    int rc = 0;

    if (b->n_results == 0)
        return 0;
    b->hav = xcalloc(b->n_results, sizeof(*b->hav));
    b->n_hav = list_keys(b, b->hav);
    there = xcalloc(b->n_hav + 1, sizeof(*there));
    if (b->n_hav > 0)
        rc = db_hav_read(db, b->hav, there, b->n_hav);
    free(there); /* one that is not there is empty, as it will be made */
    return rc == 0 ? read_versions(db, b) : -1;
}

const struct host_app_version *
validate_hav(const struct validate_batch *b, const struct result *r)
{
    struct host_app_version key;

    return b->n_hav > 0 && has_key(r, &key)
               ? bsearch(&key, b->hav, b->n_hav, sizeof(*b->hav),
                         db_hav_compare)
               : NULL;
}

const struct app_version *
validate_version(const struct validate_batch *b, const struct result *r)
{
    struct app_version key = {.id = r->app_version_id};

    return b->n_versions > 0 ? bsearch(&key, b->version, b->n_versions,
                                       sizeof(*b->version), by_version)
                             : NULL;
}
