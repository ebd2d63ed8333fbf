/* db_submit.c - new workunits, many at a time, each at most once.
 *
 * A transaction looks up which names are taken, inserts the others with few
 * multi-row statements, and reads their ids back by name: what ids a multi-row
 * INSERT got is nothing that all servers and replication modes promise.  If
 * somebody else takes one of the names meanwhile, the unique index says so and
 * everything is done again; then the look-up sees it. */
#include "db_submit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "buf.h"
#include "db.h"
#include "db_batch.h"
#include "log.h"

#define NAMES_PER_QUERY 256
#define ROWS_PER_INSERT 128
#define BYTES_PER_INSERT 900000 /* below the smallest max_allowed_packet */
#define MAX_TRIES 5

/* ---- names that are taken -------------------------------------------------
 */

/* The columns in the order same_job() reads them. */
#define COMPARED                                                               \
    "id, name, appid, xml_doc, batch, rsc_fpops_est, rsc_fpops_bound, "        \
    "rsc_memory_bound, rsc_disk_bound, rsc_bandwidth_bound, delay_bound, "     \
    "min_quorum, target_nresults, max_error_results, max_total_results, "      \
    "max_success_results, result_template_file, size_class, keywords, "        \
    "app_version_num"

/* Is the row the job as it was submitted?  What daemons or an operator change
 * later (priority, hr_class, a target raised by the validator) does not count.
 */
static bool
same_job(struct db_query *q, const struct workunit *wu)
{
    const double want[] = {wu->rsc_fpops_est, wu->rsc_fpops_bound,
                           wu->rsc_memory_bound, wu->rsc_disk_bound,
                           wu->rsc_bandwidth_bound};
    size_t len;
    const void *doc = db_col_blob(q, 3, &len);

    if (strcmp(db_col_text(q, 1), wu->name) != 0 ||
        db_col_i64(q, 2) != wu->appid || len != strlen(wu->xml_doc) ||
        memcmp(doc, wu->xml_doc, len) != 0 || db_col_i64(q, 4) != wu->batch)
        return false;
    for (unsigned i = 0; i < ARRAY_LEN(want); i++)
        if (fabs(db_col_double(q, 5 + i) - want[i]) > 1e-9 * fabs(want[i]))
            return false;
    return db_col_i64(q, 10) == wu->delay_bound &&
           db_col_i64(q, 11) == wu->min_quorum &&
           db_col_i64(q, 12) >= wu->target_nresults &&
           db_col_i64(q, 13) == wu->max_error_results &&
           db_col_i64(q, 14) == wu->max_total_results &&
           db_col_i64(q, 15) == wu->max_success_results &&
           strcmp(db_col_text(q, 16), wu->result_template_file) == 0 &&
           db_col_i64(q, 17) == wu->size_class &&
           strcmp(db_col_text(q, 18), wu->keywords) == 0 &&
           db_col_i64(q, 19) == wu->app_version_num;
}

/* Jobs by name, as the server compares names: without case. */
static int
compare_names(const void *a, const void *b)
{
    const struct submit_job *const *x = a;
    const struct submit_job *const *y = b;

    return strcasecmp((*x)->wu.name, (*y)->wu.name);
}

static struct submit_job *
find_by_name(struct submit_job **sorted, size_t n, const char *name)
{
    struct submit_job key;
    struct submit_job *key_pointer = &key;
    struct submit_job **found;

    str_copy(key.wu.name, sizeof(key.wu.name), name);
    found = bsearch(&key_pointer, sorted, n, sizeof(*sorted), compare_names);
    return found != NULL ? *found : NULL;
}

/* Query `columns` of the rows that have one of n names, and hand each row with
 * its job to fn. */
static int
for_names(struct db *db, const char *columns, struct submit_job **sorted,
          size_t n, void (*fn)(struct db_query *, struct submit_job *))
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = 0;

    buf_addf(&sql, "SELECT %s FROM workunit WHERE name IN (", columns);
    db_placeholders(&sql, n);
    buf_add(&sql, ")");
    q = db_prepare(db, buf_str(&sql));
    if (q == NULL)
        rc = -1;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = db_bind_text(q, (unsigned)i, sorted[i]->wu.name);
    while (rc == 0 && (rc = db_step(q)) == 0) {
        struct submit_job *job = find_by_name(sorted, n, db_col_text(q, 1));

        if (job != NULL)
            fn(q, job);
    }
    db_finish(q);
    buf_free(&sql);
    return rc == DB_NONE ? 0 : -1;
}

static void
note_holder(struct db_query *q, struct submit_job *job)
{
    job->wu.id = db_col_i64(q, 0);
    job->status = same_job(q, &job->wu) ? SUBMIT_REPEAT : SUBMIT_TAKEN;
}

static void
note_id(struct db_query *q, struct submit_job *job)
{
    job->wu.id = db_col_i64(q, 0);
}

/* ---- inserting ------------------------------------------------------------
 */

#define INSERT_COLUMNS                                                         \
    "create_time, appid, name, xml_doc, batch, rsc_fpops_est, "                \
    "rsc_fpops_bound, rsc_memory_bound, rsc_disk_bound, need_validate, "       \
    "canonical_resultid, canonical_credit, transition_time, delay_bound, "     \
    "error_mask, file_delete_state, assimilate_state, hr_class, opaque, "      \
    "min_quorum, target_nresults, max_error_results, max_total_results, "      \
    "max_success_results, result_template_file, priority, "                    \
    "rsc_bandwidth_bound, fileset_id, app_version_id, transitioner_flags, "    \
    "size_class, keywords, app_version_num"
/* What a row binds, in the order of bind_row(); the rest is the same for all
 * new workunits. */
#define ROW                                                                    \
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, 0, 0, 0, ?, ?, ?, ?, ?, ?, "   \
    "?, ?, ?, ?, 0, 0, ?, ?, ?, ?)"

static int
bind_ints(struct db_query *q, unsigned *i, const int64_t *value, size_t n)
{
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < n; k++)
        rc = db_bind_i64(q, (*i)++, value[k]);
    return rc;
}

static int
bind_row(struct db_query *q, unsigned *i, const struct workunit *wu)
{
    const int64_t times[] = {wu->transition_time, wu->delay_bound,
                             wu->hr_class};
    const int64_t limits[] = {wu->min_quorum, wu->target_nresults,
                              wu->max_error_results, wu->max_total_results,
                              wu->max_success_results};
    const double bounds[] = {wu->rsc_fpops_est, wu->rsc_fpops_bound,
                             wu->rsc_memory_bound, wu->rsc_disk_bound};

    if (db_bind_i64(q, (*i)++, wu->create_time) != 0 ||
        db_bind_i64(q, (*i)++, wu->appid) != 0 ||
        db_bind_text(q, (*i)++, wu->name) != 0 ||
        db_bind_blob(q, (*i)++, wu->xml_doc, strlen(wu->xml_doc)) != 0 ||
        db_bind_i64(q, (*i)++, wu->batch) != 0)
        return -1;
    for (size_t k = 0; k < ARRAY_LEN(bounds); k++)
        if (db_bind_double(q, (*i)++, bounds[k]) != 0)
            return -1;
    if (db_bind_double(q, (*i)++, wu->canonical_credit) != 0 ||
        bind_ints(q, i, times, ARRAY_LEN(times)) != 0 ||
        db_bind_double(q, (*i)++, wu->opaque) != 0 ||
        bind_ints(q, i, limits, ARRAY_LEN(limits)) != 0 ||
        db_bind_text(q, (*i)++, wu->result_template_file) != 0 ||
        db_bind_i64(q, (*i)++, wu->priority) != 0 ||
        db_bind_double(q, (*i)++, wu->rsc_bandwidth_bound) != 0 ||
        db_bind_i64(q, (*i)++, wu->transitioner_flags) != 0 ||
        db_bind_i64(q, (*i)++, wu->size_class) != 0 ||
        db_bind_text(q, (*i)++, wu->keywords) != 0 ||
        db_bind_i64(q, (*i)++, wu->app_version_num) != 0)
        return -1;
    return 0;
}

static int
insert_rows(struct db *db, struct submit_job **job, size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned at = 0;
    int rc = 0;

    buf_add(&sql, "INSERT INTO workunit (" INSERT_COLUMNS ") VALUES ");
    for (size_t i = 0; i < n; i++)
        buf_addf(&sql, "%s" ROW, i > 0 ? ", " : "");
    q = db_prepare(db, buf_str(&sql));
    if (q == NULL)
        rc = -1;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = bind_row(q, &at, &job[i]->wu);
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    buf_free(&sql);
    return rc;
}

/* How many jobs from here on fit into one statement; at least one. */
static size_t
fitting(struct submit_job **job, size_t n)
{
    size_t bytes = 0;
    size_t k = 0;

    while (k < n && k < ROWS_PER_INSERT) {
        bytes += 1024 + strlen(job[k]->wu.xml_doc);
        if (k > 0 && bytes > BYTES_PER_INSERT)
            break;
        k++;
    }
    return k;
}

static int
insert_all(struct db *db, struct submit_job **fresh, size_t n)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n;) {
        size_t k = fitting(fresh + i, n - i);

        rc = insert_rows(db, fresh + i, k);
        i += k;
    }
    return rc;
}

/* ---- assignments ----------------------------------------------------------
 */

static int
assign_rows(struct db *db, struct submit_job **job, size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned at = 0;
    int rc = 0;

    buf_add(&sql, "INSERT INTO assignment (create_time, target_id, "
                  "target_type, multi, workunitid, resultid) VALUES ");
    for (size_t i = 0; i < n; i++)
        buf_addf(&sql, "%s(?, ?, ?, ?, ?, 0)", i > 0 ? ", " : "");
    q = db_prepare(db, buf_str(&sql));
    if (q == NULL)
        rc = -1;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const int64_t value[] = {job[i]->wu.create_time, job[i]->target_id,
                                 job[i]->target, job[i]->broadcast ? 1 : 0,
                                 job[i]->wu.id};

        rc = bind_ints(q, &at, value, ARRAY_LEN(value));
    }
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    buf_free(&sql);
    return rc;
}

/* ---- all of it ------------------------------------------------------------
 */

struct submission {
    struct submit_job *job;
    size_t n;
    bool all;
    struct submit_job **sorted; /* by name */
    struct submit_job **some;   /* room for n */
};

/* The jobs that `test` picks, in the order of the ids they will get. */
static size_t
pick(struct submission *s, bool (*test)(const struct submit_job *))
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        if (test(&s->job[i]))
            s->some[n++] = &s->job[i];
    return n;
}

static bool
is_new(const struct submit_job *job)
{
    return job->status == SUBMIT_NEW;
}

static bool
is_taken(const struct submit_job *job)
{
    return job->status == SUBMIT_TAKEN;
}

static bool
is_new_and_assigned(const struct submit_job *job)
{
    return job->status == SUBMIT_NEW && job->assigned;
}

static int
look_up(struct db *db, struct submission *s)
{
    int rc = 0;

    for (size_t i = 0; i < s->n; i++) {
        s->job[i].status = SUBMIT_NEW;
        s->job[i].wu.id = 0;
    }
    for (size_t i = 0; rc == 0 && i < s->n; i += NAMES_PER_QUERY)
        rc = for_names(db, COMPARED, s->sorted + i,
                       s->n - i < NAMES_PER_QUERY ? s->n - i : NAMES_PER_QUERY,
                       note_holder);
    return rc;
}

static int
read_ids(struct db *db, struct submission *s, size_t n)
{
    int rc = 0;

    qsort(s->some, n, sizeof(*s->some), compare_names);
    for (size_t i = 0; rc == 0 && i < n; i += NAMES_PER_QUERY)
        rc = for_names(db, "id, name", s->some + i,
                       n - i < NAMES_PER_QUERY ? n - i : NAMES_PER_QUERY,
                       note_id);
    return rc;
}

/* The first n of s->some are new jobs of their batches. */
static int
count_new(struct db *db, const struct submission *s, size_t n)
{
    struct batch_change *c = xcalloc(n + 1, sizeof(*c));
    int rc;

    for (size_t i = 0; i < n; i++) {
        c[i].batch = s->some[i]->wu.batch;
        c[i].added = 1;
    }
    rc = db_batch_count(db, c, n, n > 0 ? s->some[0]->wu.create_time : 0);
    free(c);
    return rc;
}

static int
submit_all(struct db *db, void *arg)
{
    struct submission *s = arg;
    size_t n;
    int rc = look_up(db, s);

    if (rc == 0 && s->all && pick(s, is_taken) > 0)
        return DB_EXISTS;
    n = pick(s, is_new);
    if (rc == 0)
        rc = insert_all(db, s->some, n);
    if (rc == 0)
        rc = read_ids(db, s, n);
    if (rc == 0)
        rc = count_new(db, s, n);
    n = pick(s, is_new_and_assigned);
    for (size_t i = 0; rc == 0 && i < n; i += ROWS_PER_INSERT)
        rc = assign_rows(db, s->some + i,
                         n - i < ROWS_PER_INSERT ? n - i : ROWS_PER_INSERT);
    return rc;
}

int
db_submit(struct db *db, struct submit_job *job, size_t n, bool all)
{
    struct submission s = {.job = job, .n = n, .all = all};
    int rc = -1;

    s.sorted = xcalloc(n + 1, sizeof(*s.sorted));
    s.some = xcalloc(n + 1, sizeof(*s.some));
    for (size_t i = 0; i < n; i++)
        s.sorted[i] = &job[i];
    qsort(s.sorted, n, sizeof(*s.sorted), compare_names);
    for (int i = 0; i < MAX_TRIES; i++) {
        rc = db_transaction(db, submit_all, &s);
        /* else: a name was taken between look-up and insert */
        if (rc != DB_EXISTS || pick(&s, is_taken) > 0)
            break;
    }
    free(s.sorted);
    free(s.some);
    return rc;
}

int
db_submit_target(struct db *db, enum submit_target target, int64_t id)
{
    static const char *const sql[] = {
        [SUBMIT_ANYBODY] = NULL,
        [SUBMIT_HOST] = "SELECT id FROM host WHERE id = ?",
        [SUBMIT_USER] = "SELECT id FROM user WHERE id = ?",
        [SUBMIT_TEAM] = "SELECT id FROM team WHERE id = ?",
    };
    struct db_query *q;
    int rc = -1;

    if (sql[target] == NULL)
        return 0;
    q = db_prepare(db, sql[target]);
    if (q != NULL && db_bind_i64(q, 0, id) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}
