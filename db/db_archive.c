/* db_archive.c - db_purge's questions. */
#include "db_archive.h"

#include "buf.h"
#include "db.h"
#include "db_credit_base.h"
#include "db_many.h"
#include "log.h"

enum { CHUNK = 100 }; /* workunits whose rows are in memory at a time */

/* Output files are marked for deletion only of successes and client errors, and
 * not of workunits that the transitioner never touches (flag 1); of others
 * the state stays 0. */
#define MAY_GO                                                                 \
    "w.file_delete_state = 2"                                                  \
    " AND w.name NOT LIKE '%nodelete%'"                                        \
    " AND NOT EXISTS (SELECT 1 FROM batch AS b"                                \
    "  WHERE b.id = w.batch AND b.state <> 4)"                                 \
    " AND NOT EXISTS (SELECT 1 FROM result AS r WHERE r.workunitid = w.id"     \
    "  AND (r.server_state <> 5 OR r.file_delete_state IN (1, 3)"              \
    "  OR (r.file_delete_state = 0 AND r.outcome IN (1, 3)"                    \
    "   AND w.transitioner_flags <> 1)))"

static struct db_query *
prepare_candidates(struct db *db, const struct archive_filter *f, int max)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;

    buf_add(&sql, "SELECT w.id, UNIX_TIMESTAMP(w.mod_time) FROM workunit AS w"
                  " WHERE w.mod_time <= FROM_UNIXTIME(?)"
                  " AND w.mod_time >= FROM_UNIXTIME(?)"
                  " AND (w.mod_time > FROM_UNIXTIME(?) OR w.id > ?)"
                  " AND " MAY_GO);
    if (f->appid != 0)
        buf_add(&sql, " AND w.appid = ?");
    if (f->mod_n > 0)
        buf_add(&sql, " AND w.id % ? = ?");
    buf_addf(&sql, " ORDER BY w.mod_time, w.id LIMIT %d", max);
    q = db_prepare(db, sql.data);
    buf_free(&sql);
    return q;
}

static int
bind_candidates(struct db_query *q, const struct archive_filter *f,
                const struct archive_key *key)
{
    unsigned i = 4;

    if (db_bind_i64(q, 0, f->not_after) != 0 ||
        db_bind_i64(q, 1, key->mod_time) != 0 ||
        db_bind_i64(q, 2, key->mod_time) != 0 ||
        db_bind_i64(q, 3, key->id) != 0)
        return -1;
    if (f->appid != 0 && db_bind_i64(q, i++, f->appid) != 0)
        return -1;
    if (f->mod_n > 0 && (db_bind_i64(q, i, f->mod_n) != 0 ||
                         db_bind_i64(q, i + 1, f->mod_i) != 0))
        return -1;
    return 0;
}

int
db_archive_candidates(struct db *db, const struct archive_filter *f,
                      struct archive_key *key, int64_t *ret_ids, int max)
{
    struct db_query *q = prepare_candidates(db, f, max);
    int n = 0, rc = -1;

    if (q != NULL && bind_candidates(q, f, key) == 0)
        while ((rc = db_step(q)) == 0 && n < max) {
            ret_ids[n++] = db_col_i64(q, 0);
            key->id = db_col_i64(q, 0);
            key->mod_time = db_col_i64(q, 1);
        }
    db_finish(q);
    return rc == DB_NONE ? n : -1;
}

/* ---- lock --------------------------------------------------------------- */

/* Execute "… IN (ids) …"; the first columns go to ret_ids if it is not NULL
 * (they are at most n then).  How many rows, -1. */
static int
list_query(struct db *db, const char *before, const int64_t *ids, int n,
           const char *after, int64_t *ret_ids)
{
    struct db_query *q = db_prepare_list(db, before, (size_t)n, after);
    unsigned i = 0;
    int rows = 0, rc = -1;

    if (q != NULL && db_bind_list(q, &i, ids, (size_t)n) == 0)
        while ((rc = db_step(q)) == 0) {
            if (ret_ids != NULL)
                ret_ids[rows] = db_col_i64(q, 0);
            rows++;
        }
    db_finish(q);
    return rc == DB_NONE ? rows : -1;
}

int
db_archive_lock(struct db *db, const int64_t *ids, int n, int64_t *ret_ids)
{
    if (list_query(db, "SELECT id FROM workunit WHERE id IN (", ids, n,
                   ") ORDER BY id FOR UPDATE", NULL) < 0 ||
        list_query(db, "SELECT id FROM result WHERE workunitid IN (", ids, n,
                   ") FOR UPDATE", NULL) < 0)
        return -1;
    return list_query(
        db, "SELECT w.id FROM workunit AS w WHERE " MAY_GO " AND w.id IN (",
        ids, n, ") ORDER BY w.id", ret_ids);
}

/* ---- rows --------------------------------------------------------------- */

struct archive_column {
    const char *name;
    enum archive_form form;
};

/* The order is that of BOINC's archives; behind mod_time what those lack. */
static const struct archive_column workunit_columns[] = {
    {"id",                   ARCHIVE_PLAIN},
    {"create_time",          ARCHIVE_PLAIN},
    {"appid",                ARCHIVE_PLAIN},
    {"name",                 ARCHIVE_TEXT },
    {"xml_doc",              ARCHIVE_XML  },
    {"batch",                ARCHIVE_PLAIN},
    {"rsc_fpops_est",        ARCHIVE_PLAIN},
    {"rsc_fpops_bound",      ARCHIVE_PLAIN},
    {"rsc_memory_bound",     ARCHIVE_PLAIN},
    {"rsc_disk_bound",       ARCHIVE_PLAIN},
    {"need_validate",        ARCHIVE_PLAIN},
    {"canonical_resultid",   ARCHIVE_PLAIN},
    {"canonical_credit",     ARCHIVE_PLAIN},
    {"transition_time",      ARCHIVE_PLAIN},
    {"delay_bound",          ARCHIVE_PLAIN},
    {"error_mask",           ARCHIVE_PLAIN},
    {"file_delete_state",    ARCHIVE_PLAIN},
    {"assimilate_state",     ARCHIVE_PLAIN},
    {"hr_class",             ARCHIVE_PLAIN},
    {"opaque",               ARCHIVE_PLAIN},
    {"min_quorum",           ARCHIVE_PLAIN},
    {"target_nresults",      ARCHIVE_PLAIN},
    {"max_error_results",    ARCHIVE_PLAIN},
    {"max_total_results",    ARCHIVE_PLAIN},
    {"max_success_results",  ARCHIVE_PLAIN},
    {"result_template_file", ARCHIVE_TEXT },
    {"priority",             ARCHIVE_PLAIN},
    {"mod_time",             ARCHIVE_PLAIN},
    {"rsc_bandwidth_bound",  ARCHIVE_PLAIN},
    {"app_version_id",       ARCHIVE_PLAIN},
    {"transitioner_flags",   ARCHIVE_PLAIN},
    {"size_class",           ARCHIVE_PLAIN},
    {"keywords",             ARCHIVE_TEXT },
    {"app_version_num",      ARCHIVE_PLAIN},
};
static const struct archive_column result_columns[] = {
    {"id",                    ARCHIVE_PLAIN},
    {"create_time",           ARCHIVE_PLAIN},
    {"workunitid",            ARCHIVE_PLAIN},
    {"server_state",          ARCHIVE_PLAIN},
    {"outcome",               ARCHIVE_PLAIN},
    {"client_state",          ARCHIVE_PLAIN},
    {"hostid",                ARCHIVE_PLAIN},
    {"userid",                ARCHIVE_PLAIN},
    {"report_deadline",       ARCHIVE_PLAIN},
    {"sent_time",             ARCHIVE_PLAIN},
    {"received_time",         ARCHIVE_PLAIN},
    {"name",                  ARCHIVE_TEXT },
    {"cpu_time",              ARCHIVE_PLAIN},
    {"xml_doc_in",            ARCHIVE_XML  },
    {"xml_doc_out",           ARCHIVE_XML  },
    {"stderr_out",            ARCHIVE_TEXT },
    {"batch",                 ARCHIVE_PLAIN},
    {"file_delete_state",     ARCHIVE_PLAIN},
    {"validate_state",        ARCHIVE_PLAIN},
    {"claimed_credit",        ARCHIVE_PLAIN},
    {"granted_credit",        ARCHIVE_PLAIN},
    {"opaque",                ARCHIVE_PLAIN},
    {"random",                ARCHIVE_PLAIN},
    {"app_version_num",       ARCHIVE_PLAIN},
    {"app_version_id",        ARCHIVE_PLAIN},
    {"appid",                 ARCHIVE_PLAIN},
    {"exit_status",           ARCHIVE_PLAIN},
    {"teamid",                ARCHIVE_PLAIN},
    {"priority",              ARCHIVE_PLAIN},
    {"mod_time",              ARCHIVE_PLAIN},
    {"elapsed_time",          ARCHIVE_PLAIN},
    {"flops_estimate",        ARCHIVE_PLAIN},
    {"runtime_outlier",       ARCHIVE_PLAIN},
    {"size_class",            ARCHIVE_PLAIN},
    {"peak_working_set_size", ARCHIVE_PLAIN},
    {"peak_swap_size",        ARCHIVE_PLAIN},
    {"peak_disk_usage",       ARCHIVE_PLAIN},
};

enum { MAX_COLUMNS = ARRAY_LEN(result_columns) };

static const struct archive_table {
    const char *from; /* and which ids are given */
    const char *order;
    const struct archive_column *column;
    int n_columns, name; /* the column `name` */
} tables[] = {
    [ARCHIVE_WORKUNITS] = {" FROM workunit WHERE id IN (",       ") ORDER BY id",
                           workunit_columns,                                                      ARRAY_LEN(workunit_columns), 3 },
    [ARCHIVE_RESULTS] = {" FROM result WHERE workunitid IN (",
                           ") ORDER BY workunitid, id",                           result_columns,
                           ARRAY_LEN(result_columns),                                                                          11},
};

static struct db_query *
prepare_rows(struct db *db, const struct archive_table *t, int n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;

    buf_add(&sql, "SELECT ");
    for (int i = 0; i < t->n_columns; i++)
        buf_addf(&sql, "%s%s", i == 0 ? "" : ", ", t->column[i].name);
    buf_add(&sql, t->from);
    q = db_prepare_list(db, buf_str(&sql), (size_t)n, t->order);
    buf_free(&sql);
    return q;
}

static int
hand_out(struct db_query *q, const struct archive_table *t, archive_row_fn *fn,
         void *arg)
{
    struct archive_field field[MAX_COLUMNS];

    for (int i = 0; i < t->n_columns; i++)
        field[i] = (struct archive_field){
            .name = t->column[i].name,
            .form = t->column[i].form,
            .text = db_col_text(q, (unsigned)i),
        };
    return fn(arg, db_col_i64(q, 0), field[t->name].text, field, t->n_columns);
}

static int
chunk_of_rows(struct db *db, const struct archive_table *t, const int64_t *ids,
              int n, archive_row_fn *fn, void *arg)
{
    struct db_query *q = prepare_rows(db, t, n);
    unsigned i = 0;
    int rc = -1;

    if (q != NULL && db_bind_list(q, &i, ids, (size_t)n) == 0)
        while ((rc = db_step(q)) == 0 && (rc = hand_out(q, t, fn, arg)) == 0)
            ;
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

int
db_archive_rows(struct db *db, enum archive_kind kind, const int64_t *ids,
                int n, archive_row_fn *fn, void *arg)
{
    for (int i = 0; i < n; i += CHUNK) {
        int some = n - i < CHUNK ? n - i : CHUNK;

        if (chunk_of_rows(db, &tables[kind], ids + i, some, fn, arg) != 0)
            return -1;
    }
    return 0;
}

/* ---- delete ------------------------------------------------------------- */

static int64_t
delete_list(struct db *db, const char *before, const int64_t *ids, int n,
            const char *after)
{
    struct db_query *q = db_prepare_list(db, before, (size_t)n, after);
    unsigned i = 0;
    int64_t gone = -1;

    if (q != NULL && db_bind_list(q, &i, ids, (size_t)n) == 0 &&
        db_step(q) == 0)
        gone = db_affected(q);
    db_finish(q);
    return gone;
}

int
db_archive_delete(struct db *db, const int64_t *ids, int n, bool assignments)
{
    int64_t gone;

    if (db_credit_base_keep(db, ids, (size_t)n) != 0)
        return -1;
    if (delete_list(db, "DELETE FROM result WHERE workunitid IN (", ids, n,
                    ")") < 0)
        return -1;
    if (delete_list(db, "DELETE FROM x_could_not_send WHERE workunitid IN (",
                    ids, n, ")") < 0)
        return -1;
    if (delete_list(db, "DELETE FROM x_resend WHERE workunitid IN (", ids, n,
                    ")") < 0)
        return -1;
    if (assignments &&
        delete_list(db, "DELETE FROM assignment WHERE workunitid IN (", ids, n,
                    ")") < 0)
        return -1;
    gone = delete_list(db, "DELETE FROM workunit WHERE id IN (", ids, n,
                       ") AND file_delete_state = 2");
    if (gone >= 0 && gone != n)
        log_critical("%d locked workunits were to go, only %d were there", n,
                     (int)gone);
    return gone == n ? 0 : -1;
}
