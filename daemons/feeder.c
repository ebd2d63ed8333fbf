/* feeder.c - keep the job array full.
 *
 * Publishes platforms, applications and versions as a new generation at the
 * start and whenever it is asked to; filler.c puts results into its slots.
 *
 * Schedulers wake us when few jobs are left.  If the database has none, each
 * volunteer who asks would make us ask it again; filler_ask_again() says when
 * that makes sense. */
#include "daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "catalog.h"
#include "clock.h"
#include "config.h"
#include "db.h"
#include "db_catalog.h"
#include "db_locality.h"
#include "db_scale.h"
#include "file.h"
#include "filler.h"
#include "jobarray.h"
#include "log.h"
#include "path.h"
#include "segment.h"
#include "size_census.h"
#include "streams.h"

#define SCALE_INTERVAL 600 /* s */

struct feeder {
    struct segment *segment;
    struct filler *filler; /* of the published generation */

    char *trigger;               /* path of reread_db */
    bool trigger_stuck;          /* it could not be removed … */
    struct timespec stuck_mtime; /* … when it was of this age */
    bool reload_due;
    double scale_time; /* when the versions are scaled again */
};

static volatile sig_atomic_t reload_signal;

static void
on_reload(int sig)
{
    (void)sig;
    reload_signal = 1;
}

/* ---- generations ----------------------------------------------------------
 */

static void
use_generation(struct feeder *f, const struct daemon *d)
{
    const struct catalog *catalog = segment_catalog(f->segment);

    filler_free(f->filler);
    f->filler = filler_new(f->segment, d);
    log_normal("generation %" PRIu64 ": %zu platforms, %zu apps, %zu versions, "
               "%zu slots",
               segment_generation(f->segment), catalog_n_platforms(catalog),
               catalog_n_apps(catalog), catalog_n_versions(catalog),
               jobarray_n_slots(segment_jobarray(f->segment)));
    if (catalog_n_versions(catalog) == 0)
        log_warning("no version of any application can be used; after adding "
                    "one, create the file reread_db");
}

/* Read the tables and publish them with an empty array. */
static int
publish(struct feeder *f, const struct daemon *d)
{
    struct db_catalog rows;
    struct catalog_source src;
    int rc;

    if (db_catalog_load(d->db, &rows) != 0)
        return -1;
    size_census_read(d->cfg->project_root, rows.app, rows.n_apps);
    src = db_catalog_source(&rows);
    rc = segment_build(f->segment, &src, (size_t)d->cfg->shmem_work_items,
                       (size_t)d->cfg->could_not_send_hosts);
    if (rc == 0)
        rc = filler_save(f->filler);
    if (rc == 0)
        rc = segment_publish(f->segment);
    db_catalog_free(&rows);
    if (rc == 0)
        use_generation(f, d);
    return rc;
}

static bool
same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Is there a trigger file that we have not answered?  It is removed first: one
 * that is made while we reload counts again. */
static bool
trigger_pulled(struct feeder *f)
{
    struct stat st;

    if (stat(f->trigger, &st) != 0)
        return false;
    if (f->trigger_stuck && same_time(f->stuck_mtime, st.st_mtim))
        return false;
    f->trigger_stuck = unlink(f->trigger) != 0 && errno != ENOENT;
    f->stuck_mtime = st.st_mtim;
    if (f->trigger_stuck)
        log_warning("cannot remove %s: %s; touch it to reload again",
                    f->trigger, strerror(errno));
    return true;
}

static int
reload_if_asked(struct feeder *f, const struct daemon *d)
{
    if (reload_signal != 0 || trigger_pulled(f) ||
        segment_was_removed(f->segment)) {
        reload_signal = 0;
        f->reload_due = true;
        log_normal("reading applications and versions again");
    }
    /* Kept if it fails: tried again when the database is back. */
    if (f->reload_due && publish(f, d) != 0)
        return -1;
    f->reload_due = false;
    return 0;
}

/* Of several feeders, the one of share 0. */
static bool
is_main(const struct daemon *d)
{
    const struct feeder_options *o = d->options;

    return d->mod_i == 0 &&
           (o->wmod.n < 2 || strcmp(o->wmod.item[1], "0") == 0);
}

/* What versions usually claim changes slowly; one feeder alone looks at it. A
 * failure that leaves the database alive can wait. */
static int
scale_versions(struct feeder *f, const struct daemon *d)
{
    size_t changed;

    if (!is_main(d) || filler_clock() < f->scale_time)
        return 0;
    f->scale_time = filler_clock() + SCALE_INTERVAL;
    if (db_scale_versions(d->db, &changed) != 0)
        return db_is_lost(d->db) ? -1 : 0;
    if (changed > 0)
        log_normal("scales of credit: %zu rows changed", changed);
    return 0;
}

/* ---- the daemon -----------------------------------------------------------
 */

static int
feeder_pass(struct daemon *d)
{
    struct feeder *f = d->state;
    size_t freed;

    segment_heartbeat(f->segment);
    if (reload_if_asked(f, d) != 0)
        return -1;
    freed = jobarray_sweep(segment_jobarray(f->segment), clock_monotonic(),
                           CLAIM_LEASE, segment_shares_pids(f->segment));
    if (freed > 0)
        log_warning("%zu slots freed whose schedulers are gone", freed);
    if (filler_check(f->filler) != 0 || scale_versions(f, d) != 0)
        return -1;
    return d->cfg->dont_send_jobs ? 0 : filler_fill(f->filler);
}

static void
feeder_beat(struct daemon *d)
{
    const struct feeder *f = d->state;

    segment_heartbeat(f->segment);
}

/* Schedulers end the wait; when the database had nothing, not before it may be
 * asked again. */
static void
feeder_wait(struct daemon *d, double seconds)
{
    struct feeder *f = d->state;
    double until = filler_clock() + seconds;
    bool called = false;

    for (;;) {
        double t = filler_clock();
        double ask_again = filler_ask_again(f->filler);
        double end = called && ask_again < until ? ask_again : until;

        if (t >= end || daemon_stopping() || reload_signal != 0 ||
            (!f->trigger_stuck && file_exists(f->trigger)))
            return;
        called |= segment_wait(f->segment, end - t < 1 ? end - t : 1);
        segment_heartbeat(f->segment);
    }
}

static struct segment *
create_segment(const struct daemon *d)
{
    struct buf lock = BUF_INIT;
    struct segment *s = NULL;
    char name[32];

    segment_name(d->cfg->shmem_key, d->cfg->project_root, name);
    buf_addf(&lock, "%s/pid_%s", d->cfg->project_root, path_short_host());
    if (file_mkdirs(buf_str(&lock), 0775) != 0) {
        log_errno("make folder %s", buf_str(&lock));
    } else {
        buf_add(&lock, "/feeder.lock");
        s = segment_create(name, buf_str(&lock));
    }
    buf_free(&lock);
    return s;
}

static void
free_feeder(struct feeder *f)
{
    filler_free(f->filler);
    free(f->trigger);
    free(f);
}

static void
feeder_stop(struct daemon *d)
{
    struct feeder *f = d->state;

    if (filler_save(f->filler) != 0)
        log_warning("it is not noted which hosts could not take jobs");
    segment_destroy(f->segment);
    free_feeder(f);
    d->state = NULL;
}

/* Its index is not for other projects: every result would pay for it. */
static int
prepare_locality(const struct daemon *d)
{
    if (!d->cfg->locality_scheduling || d->mod_i != 0)
        return 0;
    return db_locality_prepare(d->db);
}

static int
feeder_start(struct daemon *d)
{
    struct feeder *f = xcalloc(1, sizeof(*f));
    struct sigaction reload = {.sa_handler = on_reload};
    struct buf trigger = BUF_INIT;
    int wrong = feeder_options_check(d->options, d);

    if (wrong != 0) {
        free(f);
        return wrong;
    }
    d->state = f;
    buf_addf(&trigger, "%s/reread_db", d->cfg->project_root);
    f->trigger = buf_take(&trigger);
    sigemptyset(&reload.sa_mask);
    sigaction(SIGUSR1, &reload, NULL);
    trigger_pulled(f); /* of a time before this start */
    if (prepare_locality(d) == 0)
        f->segment = create_segment(d);
    if (f->segment == NULL || db_set_lock_wait(d->db, 0) != 0 ||
        publish(f, d) != 0) {
        feeder_stop(d);
        return -1;
    }
    if (d->cfg->dont_send_jobs)
        log_normal("<dont_send_jobs> is set: the job array stays empty");
    return 0;
}

#define CONF_STRUCT struct feeder_options
static const struct conf_option rows[] = {
    OPTION(allapps, CONF_BOOL, NULL, 0, 0, 0, "",
           "divide the slots among the applications by their weight; one "
           "without jobs lends its slots, one of weight 0 gets none"),
    OPTION(appids, CONF_STRING, NULL, 0, 0, 0, "IDS",
           "only these applications: ids with commas between"),
    OPTION(wmod, CONF_LIST, NULL, 0, 0, CONF_TAKES_2, "n i",
           "only results with workunit id mod n = i (--mod: result id); the "
           "feeder with i = 0 is the main one"),
    OPTION(priority_order, CONF_BOOL, NULL, 0, 0, 0, "",
           "high priority first, then old workunits (the default)"),
    OPTION(priority_order_create_time, CONF_BOOL, NULL, 0, 0, 0, "",
           "the same"),
    OPTION(batch_accel, CONF_BOOL, NULL, 0, 0, 0, "",
           "the same, for projects with <batch_accel>"),
    OPTION(priority_asc, CONF_BOOL, NULL, 0, 0, 0, "", "low priority first"),
    OPTION(random_order, CONF_BOOL, NULL, 0, 0, 0, "",
           "by the random number that each result has"),
    OPTION(random_order_db, CONF_BOOL, NULL, 0, 0, 0, "",
           "in an order that the database draws each time"),
    OPTION(by_batch, CONF_BOOL, NULL, 0, 0, 0, "",
           "one job of each batch in turn"),
    OPTION(
        by_submitter, CONF_BOOL, NULL, 0, 0, 0, "",
        "divide jobs among those who submitted batches, by user_submit.quota"),
    OPTION(user, CONF_LIST, NULL, 0, 0, 0, "ID",
           "only jobs of this submitter, by --by_submitter; may be repeated"),
    OPTION(purge_stale, CONF_INT, "0", 0, 1000000, 0, "min",
           "take jobs out that nobody took for so long, and release workunits "
           "from a class of equal hosts if no host is bound by it"),
};
#undef CONF_STRUCT

int
main(int argc, char **argv)
{
    static const struct daemon_spec spec = {
        .name = "feeder",
        .summary = "keep the job array full",
        .description =
            "Reads results that are ready to be sent from the database, "
            "those of high priority first, and keeps them in shared memory, "
            "where the schedulers find them.  Publishes platforms, "
            "applications and versions there as well; after a change of "
            "these, create the file reread_db in the project's folder or "
            "send SIGUSR1.\n\n"
            "Every ten minutes it compares what the versions of an "
            "application usually claim, for adaptive credit.\n\n"
            "A quarter of the slots may go to jobs of kinds that are not in "
            "the array, and jobs that several hosts could not take make room "
            "for others, so that no block of jobs starves the rest.  A result "
            "that <could_not_send_hosts> hosts could not take for what they "
            "are ends as \"could not send\" when it is as old as "
            "<could_not_send_min_age>; the log says why, and so does "
            "show_shmem --unsendable.\n\n"
            "There is one feeder on each machine that runs schedulers; with "
            "several, give each its share by --mod n i or --wmod n i.",
        .account = DB_ACCOUNT_FEEDER,
        .pass = feeder_pass,
        .start = feeder_start,
        .stop = feeder_stop,
        .wait = feeder_wait,
        .beat = feeder_beat,
        .idle_seconds = 5,
        .options = rows,
        .n_options = ARRAY_LEN(rows),
        .options_size = sizeof(struct feeder_options),
    };

    return daemon_main(argc, argv, &spec);
}
