/* db_feed.c - results ready to be sent, page by page.
 *
 * An index that begins with server_state (and appid) and goes on with (priority
 * DESC, workunitid), which has the result's id behind it as all InnoDB indexes
 * do, is walked from where the last page ended; the query stops after `limit`
 * rows, however many results are unsent.  Two things keep it so.  The keyset is
 * written out as an OR of three ranges of the index's columns, which the server
 * recognizes.  And the apps are a list of ids, read just before: with table app
 * in a join the server would rather read all of that small table at once, and
 * sort all unsent results afterwards. */
#include "db_feed.h"

#include <inttypes.h>
#include <stdlib.h>

#include "buf.h"
#include "db.h"
#include "db_feed_files.h"
#include "db_many.h"
#include "interleave.h"
#include "log.h"
#include "names.h"

#define FEED_WHERE "WHERE w.transitioner_flags = 0 AND w.appid IN ("

struct id_list {
    int64_t *id;
    size_t n;
};

static void
add_id(struct id_list *list, int64_t id)
{
    /* a power of two is full when n reaches it */
    if ((list->n & (list->n - 1)) == 0)
        list->id = xrealloc(list->id, (list->n == 0 ? 1 : 2 * list->n) *
                                          sizeof(*list->id));
    list->id[list->n++] = id;
}

/* The apps that may send, and those of them whose jobs go by their files.  0 or
 * -1; the ids of both are to be freed. */
static int
read_apps(struct db *db, struct id_list *list, struct id_list *by_file)
{
    struct db_query *q =
        db_prepare(db, "SELECT id, locality_scheduling FROM app WHERE "
                       "deprecated = 0 ORDER BY id");
    int rc = -1;

    while (q != NULL && (rc = db_step(q)) == 0) {
        add_id(list, db_col_i64(q, 0));
        if (by_file != NULL && db_col_i64(q, 1) == 1)
            add_id(by_file, db_col_i64(q, 0));
    }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

/* "1 17 3": what is not a number ends the list. */
static void
read_keywords(const char *text, int32_t ret[SENDABLE_KEYWORDS])
{
    for (size_t n = 0; n < SENDABLE_KEYWORDS; n++) {
        char *end;
        long id = strtol(text, &end, 10);

        if (end == text || id <= 0 || id > INT32_MAX)
            return;
        ret[n] = (int32_t)id;
        text = end;
    }
}

void
db_feed_sendable(struct db_query *q, struct sendable *s)
{
    *s = (struct sendable){
        .result_id = db_col_i64(q, 0),
        .wu_id = db_col_i64(q, 1),
        .appid = db_col_i64(q, 2),
        .batch = db_col_i64(q, 3),
        .priority = (int32_t)db_col_i64(q, 4),
        .size_class = (int32_t)db_col_i64(q, 5),
        .app_version_id = db_col_i64(q, 6),
        .delay_bound = db_col_i64(q, 7),
        .rsc_fpops_est = db_col_double(q, 8),
        .rsc_fpops_bound = db_col_double(q, 9),
        .rsc_memory_bound = db_col_double(q, 10),
        .rsc_disk_bound = db_col_double(q, 11),
        .rsc_bandwidth_bound = db_col_double(q, 12),
        .hr_class = (int32_t)db_col_i64(q, 13),
        .app_version_num = (int32_t)db_col_i64(q, 14),
        .create_time = db_col_i64(q, 16),
        .user_id = db_col_i64(q, 19),
    };
    read_keywords(db_col_text(q, 18), s->keyword);
    s->feasibility = feasibility_class(s);
}

/* ---- one page -------------------------------------------------------------
 */

/* Where a page begins, and how it goes on. */
static const struct {
    const char *after; /* of what the keyset has */
    const char *order;
} orders[] = {
    [FEED_BEST] = {" AND (r.priority < ? OR (r.priority = ? "
                   "AND r.workunitid > ?) OR (r.priority = ? "
                   "AND r.workunitid = ? AND r.id > ?))",  " ORDER BY r.priority DESC, r.workunitid, r.id LIMIT ?"},
    [FEED_WORST] = {" AND (r.priority > ? OR (r.priority = ? "
                    "AND r.workunitid < ?) OR (r.priority = ? "
                    "AND r.workunitid = ? AND r.id < ?))", " ORDER BY r.priority, r.workunitid DESC, r.id DESC "
                    "LIMIT ?"                           },
    [FEED_RANDOM] = {" AND (r.random > ? OR (r.random = ? AND r.id > ?))",
                   " ORDER BY r.random, r.id LIMIT ?"                                                                                },
    [FEED_SHUFFLE] = {"",                                                        " ORDER BY RAND() LIMIT ?"                             },
};

/* The text depends only on which conditions apply and on the padded number of
 * apps, so there are few. */
static struct db_query *
prepare_page(struct db *db, const struct feed_query *f, size_t n_apps)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;

    buf_add(&sql, "SELECT " DB_FEED_COLUMNS DB_FEED_FROM FEED_WHERE);
    db_placeholders(&sql, db_padded(n_apps));
    buf_add(&sql, ") AND r.server_state = ?");
    if (f->appid != 0)
        buf_add(&sql, " AND r.appid = ?");
    if (f->user_id != 0)
        buf_add(&sql, " AND r.batch IN (SELECT id FROM batch WHERE "
                      "user_id = ?)");
    if (f->one_batch)
        buf_add(&sql, " AND r.batch = ?");
    if (f->mod_n > 0)
        buf_add(&sql, f->mod_of_wu ? " AND r.workunitid % ? = ?"
                                   : " AND r.id % ? = ?");
    if (f->above)
        buf_add(&sql, " AND r.priority > ?");
    if (f->started)
        buf_add(&sql, orders[f->order].after);
    buf_add(&sql, orders[f->order].order);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    return q;
}

struct values {
    int64_t v[16];
    unsigned n;
};

static void
add_value(struct values *v, int64_t value)
{
    v->v[v->n++] = value;
}

static void
add_keyset(struct values *v, const struct feed_query *f)
{
    switch (f->order) {
    case FEED_BEST:
    case FEED_WORST:
        add_value(v, f->priority);
        add_value(v, f->priority);
        add_value(v, f->wu_id);
        add_value(v, f->priority);
        add_value(v, f->wu_id);
        add_value(v, f->result_id);
        break;
    case FEED_RANDOM:
        add_value(v, f->random);
        add_value(v, f->random);
        add_value(v, f->result_id);
        break;
    case FEED_SHUFFLE:
        break;
    }
}

static int
bind_page(struct db_query *q, const struct feed_query *f,
          const struct id_list *apps, size_t limit)
{
    struct values v = {.n = 0};
    unsigned first = 0;

    add_value(&v, RESULT_UNSENT);
    if (f->appid != 0)
        add_value(&v, f->appid);
    if (f->user_id != 0)
        add_value(&v, f->user_id);
    if (f->one_batch)
        add_value(&v, f->batch);
    if (f->mod_n > 0) {
        add_value(&v, f->mod_n);
        add_value(&v, f->mod_i);
    }
    if (f->above)
        add_value(&v, f->above_priority);
    if (f->started)
        add_keyset(&v, f);
    add_value(&v, (int64_t)limit);
    if (db_bind_list(q, &first, apps->id, apps->n) != 0)
        return -1;
    for (unsigned i = 0; i < v.n; i++)
        if (db_bind_i64(q, first + i, v.v[i]) != 0)
            return -1;
    return 0;
}

/* Results of workunits that have failed go to `unneeded`: they leave the queue.
 */
static int
read_page(struct db_query *q, struct feed_query *f, struct sendable *ret,
          size_t *ret_rows, size_t *ret_n, struct id_list *unneeded)
{
    int rc;

    while ((rc = db_step(q)) == 0) {
        struct sendable *s = &ret[*ret_n];

        db_feed_sendable(q, s);
        (*ret_rows)++;
        f->started = true;
        f->priority = s->priority;
        f->wu_id = s->wu_id;
        f->result_id = s->result_id;
        f->random = db_col_i64(q, 17);
        if (db_col_i64(q, 15) != 0)
            add_id(unneeded, s->result_id);
        else
            (*ret_n)++;
    }
    return rc == DB_NONE ? 0 : -1;
}

static int
end_unneeded(struct db *db, const struct id_list *u)
{
    struct db_query *q = db_prepare_list(
        db,
        "UPDATE result FORCE INDEX (PRIMARY) SET server_state = ?, outcome = ?"
        " WHERE id IN (",
        u->n, ") AND server_state = ?");
    unsigned i = 2;
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, RESULT_OVER) == 0 &&
        db_bind_i64(q, 1, OUTCOME_DIDNT_NEED) == 0 &&
        db_bind_list(q, &i, u->id, u->n) == 0 &&
        db_bind_i64(q, i, RESULT_UNSENT) == 0)
        rc = db_step(q);
    if (rc == 0)
        log_normal("%" PRId64 " unsent results of failed workunits are not "
                   "needed",
                   db_affected(q));
    db_finish(q);
    /* A lock held by another is no failure: they come again with the next
     * round. */
    return rc == -1 ? -1 : 0;
}

int
db_feed_page(struct db *db, struct feed_query *f, struct sendable *ret,
             size_t limit, size_t *ret_n)
{
    struct id_list apps = {.n = 0}, by_file = {.n = 0}, unneeded = {.n = 0};
    struct db_query *q = NULL;
    size_t rows = 0;
    int rc = read_apps(db, &apps, &by_file);

    *ret_n = 0;
    if (rc == 0 && apps.n > 0) {
        q = prepare_page(db, f, apps.n);
        rc = q != NULL ? bind_page(q, f, &apps, limit) : -1;
        if (rc == 0)
            rc = read_page(q, f, ret, &rows, ret_n, &unneeded);
        db_finish(q);
    }
    if (rc == 0 && by_file.n > 0)
        rc = db_feed_files(db, by_file.id, by_file.n, ret, *ret_n);
    if (rc == 0 && unneeded.n > 0)
        rc = end_unneeded(db, &unneeded);
    free(unneeded.id);
    free(by_file.id);
    free(apps.id);
    if (rc != 0)
        return -1;
    return rows < limit || f->order == FEED_SHUFFLE ? DB_NONE : 0;
}

/* ---- streams --------------------------------------------------------------
 */

int
db_feed_batches(struct db *db, int64_t *ret, size_t max, size_t *ret_n)
{
    struct db_query *q = db_prepare(db, "SELECT DISTINCT batch FROM result "
                                        "WHERE server_state = ? LIMIT ?");
    int rc = -1;

    *ret_n = 0;
    if (q != NULL && db_bind_i64(q, 0, RESULT_UNSENT) == 0 &&
        db_bind_i64(q, 1, (int64_t)max) == 0)
        while ((rc = db_step(q)) == 0 && *ret_n < max)
            ret[(*ret_n)++] = db_col_i64(q, 0);
    db_finish(q);
    return rc < 0 ? -1 : 0;
}

int
db_feed_submitters(struct db *db, struct submitter *ret, size_t max,
                   size_t *ret_n)
{
    struct db_query *q =
        db_prepare(db, "SELECT user_id, quota FROM user_submit WHERE quota > 0 "
                       "ORDER BY user_id LIMIT ?");
    int rc = -1;

    *ret_n = 0;
    if (q != NULL && db_bind_i64(q, 0, (int64_t)max) == 0)
        while ((rc = db_step(q)) == 0 && *ret_n < max)
            ret[(*ret_n)++] = (struct submitter){
                .user_id = db_col_i64(q, 0),
                .quota = db_col_double(q, 1),
            };
    db_finish(q);
    return rc < 0 ? -1 : 0;
}

/* ---- what is in the array -------------------------------------------------
 */

struct found {
    int64_t id; /* first: sorted by it */
    int32_t priority;
};

static int
compare_ids(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static struct db_query *
prepare_still_unsent(struct db *db, size_t n_apps, size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;

    buf_add(&sql, "SELECT r.id, r.priority FROM result r STRAIGHT_JOIN "
                  "workunit w ON w.id = r.workunitid " FEED_WHERE);
    db_placeholders(&sql, db_padded(n_apps));
    buf_add(&sql,
            ") AND r.server_state = ? AND w.error_mask = 0 AND r.id IN (");
    db_placeholders(&sql, db_padded(n));
    buf_add(&sql, ")");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    return q;
}

/* Fills ret, room for n, with *ret_n rows sorted by id. */
static int
read_still_unsent(struct db *db, const struct id_list *apps, const int64_t *ids,
                  size_t n, struct found *ret, size_t *ret_n)
{
    struct db_query *q = prepare_still_unsent(db, apps->n, n);
    unsigned i = 0;
    int rc = -1;

    if (q != NULL && db_bind_list(q, &i, apps->id, apps->n) == 0 &&
        db_bind_i64(q, i++, RESULT_UNSENT) == 0 &&
        db_bind_list(q, &i, ids, n) == 0)
        while ((rc = db_step(q)) == 0 && *ret_n < n)
            ret[(*ret_n)++] = (struct found){
                .id = db_col_i64(q, 0),
                .priority = (int32_t)db_col_i64(q, 1),
            };
    db_finish(q);
    qsort(ret, *ret_n, sizeof(*ret), compare_ids);
    return rc == DB_NONE ? 0 : -1;
}

int
db_feed_still_unsent(struct db *db, const int64_t *ids, const int32_t *priority,
                     size_t n, bool *ret)
{
    struct id_list apps = {.n = 0};
    struct found *found = xcalloc(n + 1, sizeof(*found));
    size_t n_found = 0;
    int rc = read_apps(db, &apps, NULL);

    if (rc == 0 && n > 0 && apps.n > 0)
        rc = read_still_unsent(db, &apps, ids, n, found, &n_found);
    for (size_t k = 0; k < n && rc == 0; k++) {
        const struct found *f =
            bsearch(&ids[k], found, n_found, sizeof(*found), compare_ids);

        ret[k] = f != NULL && (priority == NULL || f->priority == priority[k]);
    }
    free(found);
    free(apps.id);
    return rc;
}
