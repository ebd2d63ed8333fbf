/* db_check_files.c - which files must be there, and which must not: the
 * database's part of it. */
#include "db_check.h"

#include "buf.h"
#include "db.h"
#include "db_many.h"

static const struct {
    enum audit_table table;
    const char *select; /* id, label, document */
    const char *where;
} documents[] = {
  /* clang-format off */
    [AUDIT_OUTPUT_NEEDED] = {
        AUDIT_RESULT,
        "SELECT r.id, r.name, r.xml_doc_in FROM result AS r",
        "r.server_state = 5 AND r.outcome = 1 AND r.file_delete_state = 0"
        " AND EXISTS (SELECT 1 FROM workunit AS w WHERE w.id = r.workunitid"
        "  AND w.error_mask = 0 AND (r.validate_state IN (0, 4)"
        "   OR w.canonical_resultid = r.id AND w.assimilate_state < 2))",
    },
    [AUDIT_OUTPUT_DELETED] = {
        AUDIT_RESULT,
        "SELECT r.id, r.name, r.xml_doc_in FROM result AS r",
        "r.file_delete_state = 2",
    },
    [AUDIT_INPUT_NEEDED] = {
        AUDIT_WORKUNIT,
        "SELECT w.id, w.name, w.xml_doc FROM workunit AS w",
        "w.file_delete_state = 0 AND w.error_mask = 0"
        " AND w.canonical_resultid = 0",
    },
    [AUDIT_INPUT_DELETED] = {
        AUDIT_WORKUNIT,
        "SELECT w.id, w.name, w.xml_doc FROM workunit AS w",
        "w.file_delete_state = 2 AND w.name NOT LIKE '%nodelete%'",
    },
    [AUDIT_VERSION] = {
        AUDIT_APP_VERSION,
        "SELECT v.id, CONCAT(v.version_num, ' ', v.plan_class), v.xml_doc"
        " FROM app_version AS v",
        "v.deprecated = 0",
    },
  /* clang-format on */
};

enum audit_table
db_check_document_table(enum audit_document which)
{
    return documents[which].table;
}

/* "r" of "FROM result AS r" */
static const char *
id_of(enum audit_document which)
{
    switch (documents[which].table) {
    case AUDIT_WORKUNIT:
        return "w.id";
    case AUDIT_RESULT:
        return "r.id";
    case AUDIT_APP_VERSION:
        return "v.id";
    case AUDIT_USER:
    case AUDIT_TEAM:
    case AUDIT_HOST:
    case AUDIT_BATCH:
    case AUDIT_ASSIGNMENT:
    case AUDIT_KEY:
    case N_AUDIT_TABLES:
        break;
    }
    return "";
}

int
db_check_documents(struct db *db, enum audit_document which,
                   const struct audit_page *page, audit_found_fn *fn, void *arg)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    buf_addf(&sql, "%s WHERE %s > ? AND %s <= ? AND %s ORDER BY %s",
             documents[which].select, id_of(which), id_of(which),
             documents[which].where, id_of(which));
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q != NULL && db_bind_i64(q, 0, page->after) == 0 &&
        db_bind_i64(q, 1, page->upto) == 0)
        while ((rc = db_step(q)) == 0)
            if (fn(arg, db_col_i64(q, 0), db_col_text(q, 1),
                   db_col_text(q, 2)) != 0) {
                rc = DB_NONE;
                break;
            }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

int
db_check_is_document(struct db *db, enum audit_document which, int64_t id)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    buf_addf(&sql, "%s WHERE %s = ? AND %s", documents[which].select,
             id_of(which), documents[which].where);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q != NULL && db_bind_i64(q, 0, id) == 0)
        rc = db_step(q);
    db_finish(q);
    if (rc == DB_NONE)
        return 0;
    return rc == 0 ? 1 : -1;
}

int
db_check_result_changed(struct db *db, int64_t id, int64_t t)
{
    struct db_query *q = db_prepare(db, "SELECT 1 FROM result WHERE id = ?"
                                        " AND mod_time >= FROM_UNIXTIME(?)");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, id) == 0 && db_bind_i64(q, 1, t) == 0)
        rc = db_step(q);
    db_finish(q);
    if (rc == DB_NONE)
        return 0;
    return rc == 0 ? 1 : -1;
}

int
db_check_known_results(struct db *db, const char *const *names, size_t n,
                       bool *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT 1 FROM result WHERE name = ? LIMIT 1");
    int rc = q != NULL ? 0 : -1;

    for (size_t i = 0; i < n && rc == 0; i++) {
        if (db_bind_text(q, 0, names[i]) != 0 || (rc = db_step(q)) < 0) {
            rc = -1;
            break;
        }
        ret[i] = rc == 0;
        rc = 0;
    }
    db_finish(q);
    return rc;
}

int
db_check_input_is_named(struct db *db, const char *file)
{
    struct buf tag = BUF_INIT;
    struct db_query *q =
        db_prepare(db, "SELECT 1 FROM workunit WHERE file_delete_state <> 2"
                       " AND INSTR(xml_doc, ?) > 0 LIMIT 1");
    int rc = -1;

    buf_addf(&tag, ">%s<", file);
    if (q != NULL && db_bind_text(q, 0, buf_str(&tag)) == 0)
        rc = db_step(q);
    db_finish(q);
    buf_free(&tag);
    if (rc == DB_NONE)
        return 0;
    return rc == 0 ? 1 : -1;
}
