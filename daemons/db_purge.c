/* db_purge.c - archive and remove the rows of jobs that are finished for good.
 *
 * A batch is one transaction: the workunits and their results are locked,
 * their records written and brought to the disk, then the rows deleted.  If the
 * program dies in between, the rows are still there and come again. */
#include <stdlib.h>

#include "archive.h"
#include "buf.h"
#include "config.h"
#include "daemon.h"
#include "db.h"
#include "db_archive.h"
#include "db_daemon.h"
#include "log.h"

enum { MAX_BATCH = 1000 };

struct options {
    double min_age_days;
    int64_t max;
    bool no_archive;
    bool gzip, zlib, zstd;
    bool daily_dir;
    int64_t max_wu_per_file;
    double sleep;
    bool dont_delete;
    char *app;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(min_age_days, CONF_DOUBLE, "0", 0, 36500, 0, "days",
           "purge workunits that have not changed for so long"),
    OPTION(max, CONF_INT, "0", 0, 9e15, 0, "",
           "end after this many workunits (0: no limit)"),
    OPTION(no_archive, CONF_BOOL, NULL, 0, 0, 0, "",
           "delete rows without writing them to archives"),
    OPTION(gzip, CONF_BOOL, NULL, 0, 0, 0, "",
           "compress archives; zcat reads them, also while they are written"),
    OPTION(zlib, CONF_BOOL, NULL, 0, 0, 0, "", "the same as --gzip"),
    OPTION(zstd, CONF_BOOL, NULL, 0, 0, 0, "",
           "compress archives with zstd: smaller, and faster"),
    OPTION(daily_dir, CONF_BOOL, NULL, 0, 0, 0, "",
           "write archives into a folder for each day (UTC)"),
    OPTION(max_wu_per_file, CONF_INT, "0", 0, 1e9, 0, "",
           "begin new archives after this many workunits (0: never)"),
    OPTION(sleep, CONF_DOUBLE, "0", 0, 86400, 0, "s",
           "the same as --sleep_interval"),
    OPTION(dont_delete, CONF_BOOL, NULL, 0, 0, 0, "",
           "write archives but delete nothing; makes one pass"),
    OPTION(app, CONF_STRING, NULL, 0, 0, 0, "NAME",
           "only workunits of this application"),
};
#undef CONF_STRUCT

struct purger {
    struct daemon *d;
    const struct options *opt;
    struct archive *archive; /* NULL: --no_archive */
    struct archive_filter filter;
    struct archive_key key;
    int64_t done; /* workunits, for --max */
    int n, n_purged;
    int64_t candidate[MAX_BATCH], id[MAX_BATCH];
};

/* ---- a batch ------------------------------------------------------------ */

static int
write_records(struct purger *p, struct db *db)
{
    struct archive *a = p->archive;

    if (a == NULL)
        return 0;
    archive_rollback(a); /* of a try that collided */
    if (db_archive_rows(db, ARCHIVE_WORKUNITS, p->id, p->n_purged,
                        archive_workunit, a) != 0 ||
        db_archive_rows(db, ARCHIVE_RESULTS, p->id, p->n_purged, archive_result,
                        a) != 0)
        return -1;
    return archive_sync(a);
}

static int
purge_batch(struct db *db, void *arg)
{
    struct purger *p = arg;

    p->n_purged = db_archive_lock(db, p->candidate, p->n, p->id);
    if (p->n_purged < 0)
        return -1;
    if (p->n_purged == 0)
        return DB_NONE;
    if (write_records(p, db) != 0)
        return -1;
    if (p->opt->dont_delete)
        return 0;
    return db_archive_delete(db, p->id, p->n_purged,
                             p->d->cfg->enable_assignment);
}

/* If the connection was lost, the rows may be gone: the records stay. */
static void
end_batch(struct purger *p, int rc)
{
    if (p->archive == NULL)
        return;
    if (rc == 0 || db_is_lost(p->d->db))
        archive_commit(p->archive);
    else
        archive_rollback(p->archive);
}

static int
batch_limit(const struct purger *p)
{
    const struct options *opt = p->opt;
    int64_t n = MAX_BATCH;

    if (opt->max > 0 && opt->max - p->done < n)
        n = opt->max - p->done;
    if (p->archive != NULL && opt->max_wu_per_file > 0 &&
        opt->max_wu_per_file - archive_workunits(p->archive) < n)
        n = opt->max_wu_per_file - archive_workunits(p->archive);
    return (int)n;
}

/* Full files are completed; with --max the program ends. */
static int
after_batch(struct purger *p)
{
    const struct options *opt = p->opt;

    if (p->archive != NULL && opt->max_wu_per_file > 0 &&
        archive_workunits(p->archive) >= opt->max_wu_per_file &&
        archive_close(p->archive) != 0)
        return -1;
    if (opt->max > 0 && p->done >= opt->max) {
        p->d->one_pass = true; /* and none of it is left to do */
        return 0;
    }
    return p->n;
}

static int
one_pass(struct daemon *d)
{
    struct purger *p = d->state;
    int rc;

    p->filter.not_after = d->now - (int64_t)(p->opt->min_age_days * 86400.0);
    p->n = db_archive_candidates(d->db, &p->filter, &p->key, p->candidate,
                                 batch_limit(p));
    if (p->n <= 0) {
        p->key = (struct archive_key){0, 0};
        return p->n;
    }
    if (p->archive != NULL && archive_begin(p->archive, d->now) != 0)
        return -1;
    rc = db_transaction(d->db, purge_batch, p);
    end_batch(p, rc);
    if (rc == DB_NONE)
        return p->n; /* all have changed meanwhile */
    if (rc != 0)
        return -1;
    p->done += p->n_purged;
    log_normal("%s %d workunits", p->opt->dont_delete ? "archived" : "purged",
               p->n_purged);
    return after_batch(p);
}

/* ---- start and stop ----------------------------------------------------- */

static int
find_app(struct daemon *d, const char *name, int64_t *ret_id)
{
    *ret_id = 0;
    if (name[0] == '\0')
        return 0;
    switch (db_app_id(d->db, name, ret_id)) {
    case 0:
        return 0;
    case DB_NONE:
        log_critical("--app %s: the project has no such application", name);
        return EXIT_USAGE;
    default:
        return -1;
    }
}

static int
check_options(const struct daemon *d, const struct options *opt)
{
    if (d->mod_n > 0 && !opt->no_archive) {
        log_critical("--mod needs --no_archive: archives have one writer");
        return -1;
    }
    if (opt->zstd && (opt->gzip || opt->zlib)) {
        log_critical("give one of --gzip and --zstd, not both");
        return -1;
    }
    if (opt->no_archive && (opt->zstd || opt->gzip || opt->zlib)) {
        log_critical("--no_archive leaves nothing to compress");
        return -1;
    }
    if (opt->dont_delete && opt->no_archive) {
        log_critical("--dont_delete with --no_archive would do nothing");
        return -1;
    }
    return 0;
}

static enum archive_format
format_of(const struct options *opt)
{
    if (opt->gzip || opt->zlib)
        return ARCHIVE_GZIP;
    return opt->zstd ? ARCHIVE_ZSTD : ARCHIVE_AS_TEXT;
}

static int
start(struct daemon *d)
{
    const struct options *opt = d->options;
    struct archive_filter filter = {.mod_n = d->mod_n, .mod_i = d->mod_i};
    struct archive *archive = NULL;
    struct buf dir = BUF_INIT;
    struct purger *p;
    int rc = check_options(d, opt) != 0 ? EXIT_USAGE : 0;

    if (rc == 0)
        rc = find_app(d, opt->app, &filter.appid);
    if (rc != 0)
        return rc;
    buf_addf(&dir, "%s/archives", d->cfg->project_root);
    if (!opt->no_archive)
        archive = archive_new(dir.data, opt->daily_dir, format_of(opt));
    buf_free(&dir);
    if (!opt->no_archive && archive == NULL)
        return -1;
    if (opt->sleep > 0)
        d->sleep_interval = opt->sleep;
    if (opt->dont_delete)
        d->one_pass = true; /* another would find the same rows */
    d->state = p = xcalloc(1, sizeof(*p));
    p->d = d;
    p->opt = opt;
    p->filter = filter;
    p->archive = archive;
    return 0;
}

static void
stop(struct daemon *d)
{
    struct purger *p = d->state;

    archive_free(p->archive);
    free(p);
}

int
main(int argc, char **argv)
{
    static const struct daemon_spec spec = {
        .name = "db_purge",
        .summary = "archive and remove the rows of finished jobs",
        .description =
            "Removes workunits whose input files are deleted, with their "
            "results, once all results are over and their output files are "
            "deleted too.  The rows are written to XML files in the "
            "project's folder archives first.  Kept are workunits with "
            "\"nodelete\" in their name, and those of a batch that is not "
            "retired.",
        .account = DB_ACCOUNT_PURGE,
        .pass = one_pass,
        .start = start,
        .stop = stop,
        .idle_seconds = 300,
        .options = rows,
        .n_options = ARRAY_LEN(rows),
        .options_size = sizeof(struct options),
    };

    return daemon_main(argc, argv, &spec);
}
