/* db_feed_files.c - which input files have these jobs?
 *
 * The names stand in the workunits' documents.  These are read by a statement
 * of its own, and only for apps that want it: a column in the feeder's query
 * would make the server fetch the documents of all. */
#include "db_feed_files.h"

#include "db.h"
#include "db_many.h"
#include "held_files.h"
#include "template.h"

enum {
    CHUNK = 128,    /* jobs in one statement */
    FILES_MAX = 64, /* of one document */
};

struct chunk { /* jobs of the apps that want it */
    struct sendable *job[CHUNK];
    int64_t wu_id[CHUNK];
    size_t n;
};

static void
add_names(const struct document_file *file, int n, bool sticky,
          uint64_t ret[SENDABLE_FILES], size_t *ret_n)
{
    for (int i = 0; i < n && *ret_n < SENDABLE_FILES; i++)
        if (file[i].sticky == sticky)
            ret[(*ret_n)++] = held_file_hash(file[i].name);
}

static void
note_document(const struct chunk *c, int64_t wu_id, const char *xml_doc)
{
    struct document_file file[FILES_MAX];
    uint64_t hash[SENDABLE_FILES] = {0};
    int n = workunit_document_files(xml_doc, file, FILES_MAX);
    size_t n_hashes = 0;

    if (n > FILES_MAX)
        n = FILES_MAX;
    add_names(file, n, true, hash, &n_hashes);
    add_names(file, n, false, hash, &n_hashes);
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < n_hashes && c->wu_id[i] == wu_id; k++)
            c->job[i]->file[k] = hash[k];
}

static int
read_documents(struct db *db, const struct chunk *c)
{
    struct db_query *q = db_prepare_list(
        db, "SELECT id, xml_doc FROM workunit WHERE id IN (", c->n, ")");
    unsigned i = 0;
    int rc = -1;

    if (q != NULL && db_bind_list(q, &i, c->wu_id, c->n) == 0)
        while ((rc = db_step(q)) == 0)
            note_document(c, db_col_i64(q, 0), db_col_text(q, 1));
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static bool
is_among(int64_t id, const int64_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

int
db_feed_files(struct db *db, const int64_t *apps, size_t n_apps,
              struct sendable *job, size_t n)
{
    struct chunk c = {.n = 0};

    for (size_t i = 0; i < n; i++) {
        if (is_among(job[i].appid, apps, n_apps)) {
            c.job[c.n] = &job[i];
            c.wu_id[c.n++] = job[i].wu_id;
        }
        if (c.n > 0 && (c.n == CHUNK || i + 1 == n)) {
            if (read_documents(db, &c) != 0)
                return -1;
            c.n = 0;
        }
    }
    return 0;
}
