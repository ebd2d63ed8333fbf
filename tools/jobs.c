/* jobs.c - what the tools share that change many jobs. */
#include "jobs.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "cmdline.h"
#include "config.h"
#include "db.h"
#include "db_daemon.h"
#include "db_audit.h"
#include "segment.h"
#include "tool.h"

/* ---- which ----------------------------------------------------------------
 */

static int
check(const struct jobs_options *o)
{
    if ((o->min != 0) != (o->max != 0)) {
        tool_error("give MIN and MAX, or --wu_id for a single workunit");
        return EXIT_USAGE;
    }
    if (o->min < 0 || o->max < o->min || o->wu_id < 0 || o->app_version < 0) {
        tool_error("ids are numbers from 1 on, the smaller one first");
        return EXIT_USAGE;
    }
    if (o->min == 0 && o->wu_id == 0 && o->name[0] == '\0' && o->batch == 0 &&
        o->app[0] == '\0' && o->app_version == 0) {
        tool_error("which jobs?  Give MIN and MAX, --wu_id, --name, --batch, "
                   "--app or --app_version");
        return EXIT_USAGE;
    }
    if (o->min != 0 && o->wu_id != 0) {
        tool_error("give one of MIN MAX and --wu_id, not both");
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

static void
describe(const struct jobs_options *o, struct buf *ret)
{
    if (o->min != 0)
        buf_addf(ret, "workunits %" PRId64 " to %" PRId64 ", ", o->min, o->max);
    if (o->wu_id != 0)
        buf_addf(ret, "workunit %" PRId64 ", ", o->wu_id);
    if (o->name[0] != '\0')
        buf_addf(ret, "name %s, ", o->name);
    if (o->batch != 0)
        buf_addf(ret, "batch %" PRId64 ", ", o->batch);
    if (o->app[0] != '\0')
        buf_addf(ret, "app %s, ", o->app);
    if (o->app_version != 0)
        buf_addf(ret, "app version %" PRId64 ", ", o->app_version);
    buf_truncate(ret, ret->len - 2);
}

int
jobs_select(struct db *db, const struct jobs_options *o,
            struct job_selection *ret, struct buf *ret_text)
{
    int rc = check(o);

    if (rc != EXIT_OK)
        return rc;
    *ret = (struct job_selection){
        .min_id = o->wu_id != 0 ? o->wu_id : o->min,
        .max_id = o->wu_id != 0 ? o->wu_id : o->max,
        .name = o->name[0] != '\0' ? o->name : NULL,
        .batch = o->batch,
        .app_version_id = o->app_version,
    };
    if (o->app[0] != '\0') {
        rc = db_app_id(db, o->app, &ret->appid);
        if (rc == DB_NONE)
            tool_error("the project has no application %s", o->app);
        if (rc != 0)
            return rc == DB_NONE ? EXIT_NO : EXIT_TEMPFAIL;
    }
    describe(o, ret_text);
    return EXIT_OK;
}

/* ---- the work -------------------------------------------------------------
 */

/* On another machine the feeder finds out by itself, within some seconds. */
static void
tell_feeder(const struct config *cfg)
{
    enum segment_state state;
    struct segment *s;
    char name[32];

    segment_name(cfg->shmem_key, cfg->project_root, name);
    s = segment_attach(name, &state);
    if (s != NULL)
        segment_jobs_changed(s);
    segment_detach(s);
}

static int
say_how_many(struct db *db, const struct job_work *w, const char *done)
{
    int64_t workunits, in_progress;

    if (db_jobs_count(db, w, &workunits, &in_progress) != 0)
        return EXIT_TEMPFAIL;
    printf("%" PRId64 " workunits would be %s; %" PRId64 " results of them are "
           "in progress\n",
           workunits, done, in_progress);
    return workunits > 0 ? EXIT_OK : EXIT_NO;
}

int
jobs_run(const struct config *cfg, struct db *db, struct job_work *w,
         bool dry_run, const char *done)
{
    int rc;

    if (dry_run)
        return say_how_many(db, w, done);
    do {
        rc = db_jobs_piece(db, w, clock_now());
    } while (rc == 0);
    if (w->n_workunits > 0)
        tell_feeder(cfg);
    if (rc < 0) {
        tool_error("the database failed; %" PRId64 " workunits are %s, the "
                   "rest is as it was: run it again",
                   w->n_workunits, done);
        return EXIT_TEMPFAIL;
    }
    printf("%" PRId64 " workunits %s; %" PRId64 " results of them were not "
           "sent yet\n",
           w->n_workunits, done, w->n_results);
    return w->n_workunits > 0 ? EXIT_OK : EXIT_NO;
}

const char *
jobs_actor(void)
{
    const struct passwd *pw = getpwuid(getuid());

    return pw != NULL ? pw->pw_name : "unknown";
}

int
jobs_main(const char *project_dir, const char *argv0, jobs_program *run,
          void *arg)
{
    struct config *cfg = tool_config(project_dir, argv0);
    struct db *db = NULL;
    int rc = EXIT_USAGE;

    if (cfg != NULL) {
        db = db_open(cfg, DB_ACCOUNT_OPERATOR);
        rc = db != NULL ? run(cfg, db, arg) : EXIT_TEMPFAIL;
    }
    if (fflush(stdout) != 0 && rc == EXIT_OK)
        rc = EXIT_TEMPFAIL;
    db_close(db);
    config_free(cfg);
    return rc;
}
