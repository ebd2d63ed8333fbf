/* file_deleter.c - delete input and output files that nobody needs any more.
 *
 * Output files first, then input files; a batch each per pass.  The files go
 * before the row says so, and deleting is repeatable: one that has gone already
 * counts as deleted.  Whatever fails (a folder that is not there, no
 * permission) puts the row in state ERROR, which is tried again at the start
 * and then every hour. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "config.h"
#include "daemon.h"
#include "db.h"
#include "db_cleanup.h"
#include "db_daemon.h"
#include "document_files.h"
#include "file.h"
#include "input_index.h"
#include "log.h"
#include "path.h"
#include "template.h"

enum {
    N_KINDS = 2,
    MAX_BATCH = 1500,
    RETRY_PERIOD = 3600, /* s */
};
static const int batch_size[N_KINDS] = {
    [CLEANUP_RESULTS] = MAX_BATCH,
    [CLEANUP_WORKUNITS] = 500,
};

struct options {
    char *app;
    int64_t appid;
    bool dont_retry_errors;
    bool preserve_result_files, preserve_wu_files;
    bool input_files_only, output_files_only;
    bool no_db_update;
    char *xml_doc_like;
    char *download_dir;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(app, CONF_STRING, NULL, 0, 0, 0, "NAME",
           "only files of this application"),
    OPTION(appid, CONF_INT, "0", 0, 2147483647, 0, "",
           "the same, by the application's id"),
    OPTION(dont_retry_errors, CONF_BOOL, NULL, 0, 0, 0, "",
           "do not try again what failed before"),
    OPTION(preserve_result_files, CONF_BOOL, NULL, 0, 0, 0, "",
           "keep output files, but record them as deleted"),
    OPTION(preserve_wu_files, CONF_BOOL, NULL, 0, 0, 0, "",
           "keep input files, but record them as deleted"),
    OPTION(input_files_only, CONF_BOOL, NULL, 0, 0, 0, "",
           "handle input files only"),
    OPTION(output_files_only, CONF_BOOL, NULL, 0, 0, 0, "",
           "handle output files only"),
    OPTION(no_db_update, CONF_BOOL, NULL, 0, 0, 0, "",
           "delete, but do not record it (for tests)"),
    OPTION(xml_doc_like, CONF_STRING, NULL, 0, 0, 0, "PATTERN",
           "only where the document is LIKE this (SQL)"),
    OPTION(download_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "where input files are, instead of download_dir of config.xml"),
};
#undef CONF_STRUCT

struct sweep { /* through the rows of one state, in order of id */
    enum file_delete_state from;
    int64_t after[N_KINDS];
};

struct deleter {
    struct daemon *d;
    const struct options *opt;
    const char *download_dir;
    struct cleanup_filter filter;
    struct input_index *index;
    struct sweep ready, errors;
    int64_t next_retry; /* Unix s; 0: at once */
    struct cleanup_item item[MAX_BATCH];
};

/* ---- one file ----------------------------------------------------------- */

enum gone { GONE, WAS_MISSING, NOT_GONE };

/* Delete dir/SUB/name+suffix.  That the file is not there is fine, that the
 * whole folder is not there is not: it may not be mounted. */
static enum gone
delete_file(const struct deleter *s, const char *dir, const char *name,
            const char *suffix)
{
    struct buf path = BUF_INIT;
    enum gone gone = GONE;

    path_hier(dir, name, (int)s->d->cfg->uldl_dir_fanout, false, &path);
    buf_add(&path, suffix);
    if (unlink(path.data) == 0) {
        log_debug("deleted %s", path.data);
    } else if (errno == ENOENT && file_is_dir(dir)) {
        gone = WAS_MISSING;
    } else {
        log_errno("delete %s", path.data);
        gone = NOT_GONE;
    }
    buf_free(&path);
    return gone;
}

/* A document may come from anywhere; its names never lead out of the tree. */
static bool
good_name(const struct cleanup_item *item, const char *name)
{
    if (path_good_name(name))
        return true;
    log_critical("[#%" PRId64 " %s] bad file name, not deleted: %s", item->id,
                 item->name, name);
    return false;
}

static bool
delete_output(const struct deleter *s, const struct cleanup_item *r,
              const struct output_file *file)
{
    if (file->no_delete)
        return true;
    if (!good_name(r, file->name))
        return false;
    /* what an interrupted upload left */
    if (delete_file(s, s->d->cfg->upload_dir, file->name, ".part") == NOT_GONE)
        return false;
    switch (delete_file(s, s->d->cfg->upload_dir, file->name, "")) {
    case GONE:
        return true;
    case WAS_MISSING:
        if (r->outcome == OUTCOME_SUCCESS && !file->optional)
            log_critical(TAG_RESULT "no output file %s to delete", r->id,
                         r->name, file->name);
        return true;
    case NOT_GONE:
        break;
    }
    return false;
}

/* 1, 0: not gone, -1: the database failed. */
static int
delete_input(struct deleter *s, const struct cleanup_item *wu,
             const struct document_file *file)
{
    int needed;

    if (file->no_delete || file->generated_locally)
        return 1;
    if (!good_name(wu, file->name))
        return 0;
    needed = input_index_needed(s->index, s->d->db, file->name, wu->id);
    if (needed < 0)
        return -1;
    if (needed > 0) {
        log_debug(TAG_WU "%s is kept: others need it", wu->id, wu->name,
                  file->name);
        return 1;
    }
    if (delete_file(s, s->download_dir, file->name, "") == NOT_GONE ||
        delete_file(s, s->download_dir, file->name, ".gz") == NOT_GONE)
        return 0;
    if (s->d->cfg->cache_md5_info &&
        delete_file(s, s->download_dir, file->name, ".md5") == NOT_GONE)
        return 0;
    return 1;
}

/* ---- one row ------------------------------------------------------------ */

static int
unreadable(struct cleanup_item *item)
{
    log_critical("[#%" PRId64 " %s] its document cannot be read: files are "
                 "not deleted",
                 item->id, item->name);
    item->state = FILES_ERROR;
    return 0;
}

/* Each sets the row's new state.  0, or -1 if the database failed. */
static int
clean_result(struct deleter *s, struct cleanup_item *r)
{
    struct output_file *file;
    int n = 0;

    r->state = FILES_DONE;
    if (s->opt->preserve_result_files)
        return 0;
    n = all_output_files(r->document, &file);
    for (int i = 0; i < n; i++)
        if (!delete_output(s, r, &file[i]))
            r->state = FILES_ERROR;
    free(file);
    return n < 0 ? unreadable(r) : 0;
}

static int
clean_workunit(struct deleter *s, struct cleanup_item *wu)
{
    struct document_file *file;
    int n, gone = 1;

    wu->state = FILES_DONE;
    if (s->opt->preserve_wu_files || strstr(wu->name, "nodelete") != NULL)
        return 0;
    n = all_input_files(wu->document, &file);
    for (int i = 0; i < n && gone >= 0; i++) {
        gone = delete_input(s, wu, &file[i]);
        if (gone == 0)
            wu->state = FILES_ERROR;
    }
    free(file);
    if (gone < 0)
        return -1;
    return n < 0 ? unreadable(wu) : 0;
}

static int (*const clean[N_KINDS])(struct deleter *, struct cleanup_item *) = {
    [CLEANUP_RESULTS] = clean_result,
    [CLEANUP_WORKUNITS] = clean_workunit,
};

/* ---- a batch ------------------------------------------------------------ */

static const char *const kind_name[N_KINDS] = {
    [CLEANUP_RESULTS] = "results",
    [CLEANUP_WORKUNITS] = "workunits",
};

static void
log_batch(const struct deleter *s, enum cleanup_kind kind, int n)
{
    int failed = 0;

    for (int i = 0; i < n; i++)
        failed += s->item[i].state == FILES_ERROR;
    log_normal("files of %d %s deleted, of %d not", n - failed, kind_name[kind],
               failed);
}

/* How many rows were handled, -1. */
static int
clean_batch(struct deleter *s, enum cleanup_kind kind, struct sweep *sweep)
{
    struct db *db = s->d->db;
    int n, done = 0, rc = 0;

    n = db_cleanup_due(db, kind, sweep->from, &s->filter, sweep->after[kind],
                       s->item, batch_size[kind]);
    if (n > 0 && kind == CLEANUP_WORKUNITS)
        rc = input_index_update(s->index, db);
    while (rc == 0 && done < n && !daemon_stopping()) {
        rc = clean[kind](s, &s->item[done]);
        done += rc == 0;
    }
    if (rc == 0 && done > 0) {
        sweep->after[kind] = s->item[done - 1].id;
        log_batch(s, kind, done);
        if (!s->opt->no_db_update &&
            db_cleanup_apply(db, kind, sweep->from, s->item, done) < 0)
            rc = -1;
    }
    if (n >= 0)
        cleanup_free(s->item, n);
    return n < 0 || rc != 0 ? -1 : done;
}

/* A step of a sweep; 0: it has ended, the next call begins another. */
static int
sweep_on(struct deleter *s, struct sweep *sweep)
{
    int total = 0;

    for (int kind = 0; kind < N_KINDS; kind++) {
        int n;

        if (kind == CLEANUP_RESULTS ? s->opt->input_files_only
                                    : s->opt->output_files_only)
            continue;
        n = clean_batch(s, (enum cleanup_kind)kind, sweep);
        if (n < 0)
            return -1;
        total += n;
    }
    if (total == 0)
        memset(sweep->after, 0, sizeof(sweep->after));
    return total;
}

static int
one_pass(struct daemon *d)
{
    struct deleter *s = d->state;
    int again = 0, n;

    if (!s->opt->dont_retry_errors && d->now >= s->next_retry) {
        again = sweep_on(s, &s->errors);
        if (again == 0)
            s->next_retry = d->now + RETRY_PERIOD;
    }
    n = again < 0 ? -1 : sweep_on(s, &s->ready);
    return n < 0 ? -1 : n + again;
}

/* ---- start and stop ----------------------------------------------------- */

static int
find_app(struct daemon *d, const struct options *opt, int64_t *ret_id)
{
    *ret_id = opt->appid;
    if (opt->app[0] == '\0')
        return 0;
    switch (db_app_id(d->db, opt->app, ret_id)) {
    case 0:
        return 0;
    case DB_NONE:
        log_critical("--app %s: the project has no such application", opt->app);
        return EXIT_USAGE;
    default:
        return -1;
    }
}

static int
start(struct daemon *d)
{
    const struct options *opt = d->options;
    int64_t appid;
    int rc = find_app(d, opt, &appid);
    struct deleter *s;

    if (rc != 0)
        return rc;
    d->state = s = xcalloc(1, sizeof(*s));
    s->d = d;
    s->opt = opt;
    s->download_dir =
        opt->download_dir[0] != '\0' ? opt->download_dir : d->cfg->download_dir;
    s->filter.appid = appid;
    s->filter.mod_n = d->mod_n;
    s->filter.mod_i = d->mod_i;
    s->filter.xml_doc_like =
        opt->xml_doc_like[0] != '\0' ? opt->xml_doc_like : NULL;
    s->ready.from = FILES_READY;
    s->errors.from = FILES_ERROR;
    s->index = input_index_new();
    return 0;
}

static void
stop(struct daemon *d)
{
    struct deleter *s = d->state;

    input_index_free(s->index);
    free(s);
}

int
main(int argc, char **argv)
{
    static const struct daemon_spec spec = {
        .name = "file_deleter",
        .summary = "delete input and output files that nobody needs any more",
        .description =
            "Deletes the output files of results and the input files of "
            "workunits that the transitioner has marked.  Input files stay "
            "if the workunit's name contains \"nodelete\", if their "
            "description has no_delete, or while another unfinished workunit "
            "names them.\n\nWhat cannot be deleted is marked and tried again "
            "every hour.",
        .account = DB_ACCOUNT_FILE_DELETER,
        .pass = one_pass,
        .start = start,
        .stop = stop,
        .idle_seconds = 5,
        .options = rows,
        .n_options = ARRAY_LEN(rows),
        .options_size = sizeof(struct options),
    };

    return daemon_main(argc, argv, &spec);
}
