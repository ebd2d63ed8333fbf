/* audit_files.c - audit's comparison of rows with files: what will be read is
 * there, what is deleted is not, and versions are what was signed.
 *
 * Daemons go on meanwhile, so a file that seems wrong counts only if its row
 * still says the same afterwards. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit.h"
#include "buf.h"
#include "config.h"
#include "db.h"
#include "digest.h"
#include "file.h"
#include "path.h"
#include "sign.h"
#include "template.h"
#include "xml.h"

enum { LAST_NAMES = 256 };

int
audit_walk_documents(struct audit *a, enum audit_document which,
                     audit_found_fn *fn)
{
    enum audit_table table = db_check_document_table(which);
    struct audit_page page;
    int rc = db_check_begin(a->db, table, &a->scope, &page);

    while (rc == 0 &&
           (rc = db_check_next(a->db, table, AUDIT_PAGE, &page)) == 0)
        rc = db_check_documents(a->db, which, &page, fn, a);
    return rc == DB_NONE ? 0 : -1;
}

/* A row whose file is wrong: told if the row is what it was. */
static int
tell(struct audit *a, enum audit_document which, int64_t id, const char *label,
     const char *file, const char *what)
{
    struct buf detail = BUF_INIT;
    int still = db_check_is_document(a->db, which, id);

    if (still > 0) {
        buf_addf(&detail, "%s: %s", file, what);
        audit_report(a, db_check_table_name(db_check_document_table(which)), id,
                     label, buf_str(&detail));
    }
    buf_free(&detail);
    return still < 0;
}

static bool
is_there(const struct audit *a, const char *dir, const char *name)
{
    struct buf path = BUF_INIT;
    bool there;

    path_hier(dir, name, (int)a->cfg->uldl_dir_fanout, false, &path);
    there = file_exists(buf_str(&path));
    buf_free(&path);
    return there;
}

static bool
is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

/* ---- outputs --------------------------------------------------------------
 */

static struct output_file *
outputs_of(const char *xml_doc_in, int *n)
{
    struct output_file *file;

    *n = is_blank(xml_doc_in) ? 0 : result_document_files(xml_doc_in, NULL, 0);
    file = xcalloc((size_t)(*n > 0 ? *n : 0) + 1, sizeof(*file));
    if (*n > 0)
        *n = result_document_files(xml_doc_in, file, *n);
    return file;
}

static int
output_needed(void *arg, int64_t id, const char *label, const char *doc)
{
    struct audit *a = arg;
    int n, rc = 0;
    struct output_file *file = outputs_of(doc, &n);

    if (n < 0)
        rc = tell(a, AUDIT_OUTPUT_NEEDED, id, label, "xml_doc_in",
                  "cannot be read");
    for (int i = 0; i < n && rc == 0; i++)
        if (file[i].open_name[0] != '\0' && !file[i].optional &&
            !file[i].stays && !is_there(a, a->cfg->upload_dir, file[i].name))
            rc = tell(a, AUDIT_OUTPUT_NEEDED, id, label, file[i].name,
                      "is not there");
    free(file);
    return rc;
}

static int
outputs_needed(struct audit *a)
{
    return audit_walk_documents(a, AUDIT_OUTPUT_NEEDED, output_needed);
}

/* A client that goes back to a copy of its state files uploads again what has
 * been deleted.  When it reports that, it is deleted again; one that never does
 * leaves a file that is younger than the last change of the row.  1, 0, -1. */
static int
came_again(const struct audit *a, int64_t id, const char *name)
{
    struct buf path = BUF_INIT;
    struct stat st;
    int changed = 1;

    path_hier(a->cfg->upload_dir, name, (int)a->cfg->uldl_dir_fanout, false,
              &path);
    if (stat(buf_str(&path), &st) == 0 &&
        (int64_t)st.st_mtime >= a->scope.now - a->scope.age)
        changed = db_check_result_changed(a->db, id, (int64_t)st.st_mtime);
    buf_free(&path);
    return changed < 0 ? -1 : changed == 0;
}

static int
output_deleted(void *arg, int64_t id, const char *label, const char *doc)
{
    struct audit *a = arg;
    int n, rc = 0;
    struct output_file *file = outputs_of(doc, &n);

    for (int i = 0; i < n && rc == 0; i++) {
        if (file[i].no_delete || !is_there(a, a->cfg->upload_dir, file[i].name))
            continue;
        rc = came_again(a, id, file[i].name);
        if (rc == 0)
            rc = tell(a, AUDIT_OUTPUT_DELETED, id, label, file[i].name,
                      "is still there");
        else if (rc > 0)
            rc = 0;
    }
    free(file);
    return rc;
}

static int
outputs_deleted(struct audit *a)
{
    return audit_walk_documents(a, AUDIT_OUTPUT_DELETED, output_deleted);
}

/* ---- inputs ---------------------------------------------------------------
 */

static struct document_file *
inputs_of(const char *xml_doc, int *n)
{
    struct document_file *file;

    *n = is_blank(xml_doc) ? 0 : workunit_document_files(xml_doc, NULL, 0);
    file = xcalloc((size_t)(*n > 0 ? *n : 0) + 1, sizeof(*file));
    if (*n > 0)
        *n = workunit_document_files(xml_doc, file, *n);
    return file;
}

/* Do we serve it?  Others lie on servers elsewhere, or are made by the client.
 */
static bool
is_ours(const struct audit *a, const struct document_file *f)
{
    return !f->generated_locally && strncmp(f->url, a->cfg->download_url,
                                            strlen(a->cfg->download_url)) == 0;
}

static int
input_needed(void *arg, int64_t id, const char *label, const char *doc)
{
    struct audit *a = arg;
    int n, rc = 0;
    struct document_file *file = inputs_of(doc, &n);

    if (n < 0)
        rc =
            tell(a, AUDIT_INPUT_NEEDED, id, label, "xml_doc", "cannot be read");
    for (int i = 0; i < n && rc == 0; i++)
        if (is_ours(a, &file[i]) &&
            !is_there(a, a->cfg->download_dir, file[i].name))
            rc = tell(a, AUDIT_INPUT_NEEDED, id, label, file[i].name,
                      "is not there");
    free(file);
    return rc;
}

static int
inputs_needed(struct audit *a)
{
    return audit_walk_documents(a, AUDIT_INPUT_NEEDED, input_needed);
}

/* Many workunits may share a file that others still need: it is asked for once,
 * not for each of them. */
static bool
was_asked(const char *name)
{
    static char last[LAST_NAMES][NAME_SIZE];
    static size_t next;

    for (size_t i = 0; i < LAST_NAMES; i++)
        if (strcmp(last[i], name) == 0)
            return true;
    str_copy(last[next++ % LAST_NAMES], NAME_SIZE, name);
    return false;
}

static int
input_deleted(void *arg, int64_t id, const char *label, const char *doc)
{
    struct audit *a = arg;
    int n, rc = 0;
    struct document_file *file = inputs_of(doc, &n);

    for (int i = 0; i < n && rc == 0; i++) {
        int named = 1;

        if (!file[i].no_delete && is_ours(a, &file[i]) &&
            is_there(a, a->cfg->download_dir, file[i].name) &&
            !was_asked(file[i].name))
            named = db_check_input_is_named(a->db, file[i].name);
        if (named == 0)
            rc = tell(a, AUDIT_INPUT_DELETED, id, label, file[i].name,
                      "is still there, and no workunit needs it");
        else if (named < 0)
            rc = -1;
    }
    free(file);
    return rc;
}

static int
inputs_deleted(struct audit *a)
{
    return audit_walk_documents(a, AUDIT_INPUT_DELETED, input_deleted);
}

/* ---- application versions -------------------------------------------------
 */

struct version_row {
    struct audit *a;
    int64_t id;
    const char *label;
    const struct sign_key *key; /* NULL: signatures are not looked at */
};

/* Is the file at path what its description says?  NULL, or what is wrong. */
static const char *
wrong_content(const struct xml_node *info, const char *path)
{
    struct stat st;
    int64_t nbytes;

    if (stat(path, &st) != 0)
        return "is not there";
    if (xml_get_i64(info, "nbytes", &nbytes) && nbytes != st.st_size)
        return "has another size";
    return NULL;
}

static const char *
wrong_signature(const struct xml_node *info, const char *path,
                const struct sign_key *key)
{
    char block[1024], md5[MD5_HEX];
    bool executable = false;

    if (!xml_get_str(info, "file_signature", block, sizeof(block))) {
        xml_get_bool(info, "executable", &executable);
        return executable ? "is not signed" : NULL;
    }
    if (digest_md5_file(path, md5, NULL) != 0)
        return NULL; /* version-files tells that */
    return sign_verify_md5(key, md5, block) ? NULL
                                            : "has a signature of another key "
                                              "or file";
}

static int
version_file(const struct version_row *v, const struct xml_node *info)
{
    const struct config *cfg = v->a->cfg;
    char name[NAME_SIZE], url[512];
    struct buf path = BUF_INIT;
    const char *wrong = NULL;
    int rc = 0;

    if (!xml_get_str(info, "name", name, sizeof(name)) ||
        !path_good_name(name) || !xml_get_str(info, "url", url, sizeof(url)) ||
        strncmp(url, cfg->download_url, strlen(cfg->download_url)) != 0)
        return 0;
    buf_addf(&path, "%s/%s", cfg->download_dir, name);
    wrong = v->key != NULL ? wrong_signature(info, buf_str(&path), v->key)
                           : wrong_content(info, buf_str(&path));
    if (wrong != NULL)
        rc = tell(v->a, AUDIT_VERSION, v->id, v->label, name, wrong);
    buf_free(&path);
    return rc;
}

static int
version_document(const struct version_row *v, const char *text)
{
    struct buf whole = BUF_INIT, err = BUF_INIT;
    struct xml_doc *doc;
    int rc = 0;

    buf_addf(&whole, "<version>\n%s\n</version>\n", text);
    doc = xml_parse(buf_str(&whole), whole.len, "xml_doc", &err);
    if (doc == NULL)
        rc = tell(v->a, AUDIT_VERSION, v->id, v->label, "xml_doc",
                  "cannot be read");
    for (const struct xml_node *node = doc != NULL ? xml_first(xml_root(doc))
                                                   : NULL;
         node != NULL && rc == 0; node = xml_next(node))
        if (strcmp(xml_name(node), "file_info") == 0)
            rc = version_file(v, node);
    xml_free(doc);
    buf_free(&whole);
    buf_free(&err);
    return rc;
}

static int
version_files_of(void *arg, int64_t id, const char *label, const char *doc)
{
    const struct version_row v = {arg, id, label, NULL};

    return version_document(&v, doc);
}

static int
version_files(struct audit *a)
{
    return audit_walk_documents(a, AUDIT_VERSION, version_files_of);
}

/* The key is read for each version: there are few, and nothing is kept. */
static int
version_signed_of(void *arg, int64_t id, const char *label, const char *doc)
{
    struct audit *a = arg;
    struct buf path = BUF_INIT, err = BUF_INIT;
    struct sign_key *key;
    int rc;

    buf_addf(&path, "%s/code_sign_public", a->cfg->key_dir);
    key = sign_key_read(buf_str(&path), &err);
    if (key != NULL) {
        const struct version_row v = {a, id, label, key};

        rc = version_document(&v, doc);
    } else {
        rc = tell(a, AUDIT_VERSION, id, label, "code_sign_public",
                  buf_str(&err));
    }
    sign_key_free(key);
    buf_free(&path);
    buf_free(&err);
    return rc;
}

static int
version_signed(struct audit *a)
{
    return audit_walk_documents(a, AUDIT_VERSION, version_signed_of);
}

/* ---- the table ------------------------------------------------------------
 */

static const struct audit_check checks[] = {
    {"output-present",
     "output files that the validator or assimilator will read are there",    AUDIT_BREACH, NULL, outputs_needed },
    {"output-deleted",
     "output files of a result with file_delete_state DONE are gone",         AUDIT_BREACH, NULL, outputs_deleted},
    {"input-present",
     "input files of a workunit that may still be computed are there",        AUDIT_BREACH, NULL, inputs_needed  },
    {"input-deleted",
     "input files that only workunits with file_delete_state DONE name are "
     "gone",                                                                  AUDIT_BREACH, NULL, inputs_deleted },
    {"version-files",
     "files of application versions are in the download folder, of the size "
     "that clients are told",                                                 AUDIT_BREACH, NULL, version_files  },
    {"version-signed",
     "executables of application versions are signed with the project's key", AUDIT_BREACH, NULL, version_signed },
};

const struct audit_check *
audit_file_check(size_t i)
{
    return i < ARRAY_LEN(checks) ? &checks[i] : NULL;
}
