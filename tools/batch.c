/* batch.c - jobs submitted together: make a batch, look at it, end it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "buf.h"
#include "clock.h"
#include "cmdline.h"
#include "config.h"
#include "db.h"
#include "db_daemon.h"
#include "db_audit.h"
#include "db_batch.h"
#include "file.h"
#include "jobs.h"
#include "tool.h"

enum { AT_ONCE = 100, ANY_STATE = -1 };

struct options {
    char *command;
    int64_t id;
    char *name, *description, *app;
    int64_t user;
    int64_t expire_in; /* s */
    bool dry_run;
    char *project_dir;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(command, CONF_STRING, NULL, 0, 0, CONF_POSITIONAL | CONF_REQUIRED,
           "", "create, list, show, abort, retire or expire"),
    OPTION(id, CONF_INT, "0", 0, 2147483647, CONF_POSITIONAL, "",
           "of the batch, for show, abort and retire"),
    OPTION(name, CONF_STRING, NULL, 0, 0, 0, "TEXT", "create: its name"),
    OPTION(description, CONF_STRING, NULL, 0, 0, 0, "TEXT",
           "create: what it is"),
    OPTION(app, CONF_STRING, NULL, 0, 0, 0, "NAME", "create: its application"),
    OPTION(user, CONF_INT, "0", 0, 2147483647, 0, "ID",
           "create: the user whose batch it is; list: batches of this user"),
    OPTION(expire_in, CONF_SECONDS, "0", 0, 3e9, 0, "s",
           "create: time after which expire ends it (0: never)"),
    OPTION(dry_run, CONF_BOOL, NULL, 0, 0, 0, "",
           "abort, retire, expire: say what would be done"),
    OPTION(project_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "root of the project (default: this folder or the one above)"),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "batch",
    .section = 1,
    .summary = "jobs submitted together: make a batch, look at it, end it",
    .synopsis = "{create | list | show ID | abort ID | retire ID | expire} "
                "[OPTION...]",
    .description =
        "create prints the number of a new batch, to be given to "
        "create_work --batch.  The server counts its jobs while they end; "
        "list and show print how far it is.\n\n"
        "abort cancels the jobs that have neither an agreed result nor an "
        "error (see cancel_jobs).  retire does the same, deletes the folder "
        "results/ID of the project, and lets files and rows of the batch be "
        "deleted: until then db_purge keeps them.  expire aborts and retires "
        "the batches whose time is over; run it as a periodic task.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

/* ---- create ---------------------------------------------------------------
 */

static int
create(const struct config *cfg, struct db *db, const struct options *o)
{
    int64_t now = clock_now();
    struct batch b = {.create_time = now, .user_id = o->user};
    int rc;

    (void)cfg;
    str_copy(b.name, sizeof(b.name), o->name);
    str_copy(b.description, sizeof(b.description), o->description);
    if (o->expire_in > 0)
        b.expire_time = (double)(now + o->expire_in);
    if (o->app[0] != '\0') {
        rc = db_app_id(db, o->app, &b.app_id);
        if (rc == DB_NONE)
            tool_error("the project has no application %s", o->app);
        if (rc != 0)
            return rc == DB_NONE ? EXIT_NO : EXIT_TEMPFAIL;
    }
    if (db_batch_create(db, &b) != 0)
        return EXIT_TEMPFAIL;
    printf("%" PRId64 "\n", b.id);
    return EXIT_OK;
}

/* ---- look -----------------------------------------------------------------
 */

static int
list(const struct config *cfg, struct db *db, const struct options *o)
{
    struct batch *b = xcalloc(AT_ONCE, sizeof(*b));
    struct batch_query want = {.user_id = o->user, .state = ANY_STATE};
    size_t n;
    int rc;

    (void)cfg;
    do {
        rc = db_batch_list(db, &want, b, AT_ONCE, &n);
        for (size_t i = 0; rc == 0 && i < n; i++)
            printf("%" PRId64 "\t%s\t%.1f %%\t%" PRId64 " jobs\t%" PRId64
                   " failed\t%s\n",
                   b[i].id, batch_state_name((int)b[i].state),
                   100 * b[i].fraction_done, b[i].njobs, b[i].nerror_jobs,
                   b[i].name);
        if (n > 0)
            want.after_id = b[n - 1].id;
    } while (rc == 0 && n == AT_ONCE);
    free(b);
    return rc == 0 ? EXIT_OK : EXIT_TEMPFAIL;
}

static void
print_time(const char *what, double t)
{
    time_t seconds = (time_t)t;
    struct tm tm;
    char text[64];

    if (t > 0 && gmtime_r(&seconds, &tm) != NULL &&
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm) > 0)
        printf("%s: %s\n", what, text);
}

static int
find(struct db *db, const struct options *o, struct batch *ret)
{
    int rc = db_batch_by_id(db, o->id, ret);

    if (rc == DB_NONE)
        tool_error("there is no batch %" PRId64, o->id);
    return rc == 0 ? EXIT_OK : rc == DB_NONE ? EXIT_NO : EXIT_TEMPFAIL;
}

static int
show(const struct config *cfg, struct db *db, const struct options *o)
{
    struct batch b;
    int rc = find(db, o, &b);

    (void)cfg;
    if (rc != EXIT_OK)
        return rc;
    printf("id: %" PRId64 "\nname: %s\ndescription: %s\nuser: %" PRId64
           "\napp: %" PRId64 "\nstate: %s\njobs: %" PRId64 "\nfailed: %" PRId64
           "\ndone: %.1f %%\ncredit: %.6g\n",
           b.id, b.name, b.description, b.user_id, b.app_id,
           batch_state_name((int)b.state), b.njobs, b.nerror_jobs,
           100 * b.fraction_done, b.credit_canonical);
    print_time("created", (double)b.create_time);
    print_time("ended", b.completion_time);
    print_time("expires", b.expire_time);
    return EXIT_OK;
}

/* ---- end ------------------------------------------------------------------
 */

/* The files that were collected for it. */
static int
remove_results(const struct config *cfg, int64_t id)
{
    struct buf path = BUF_INIT;
    int rc;

    buf_addf(&path, "%s/results/%" PRId64, cfg->project_root, id);
    rc = file_remove_tree(buf_str(&path));
    if (rc != 0)
        tool_error("cannot remove %s", buf_str(&path));
    buf_free(&path);
    return rc;
}

/* What was begun before and then broken off is finished. */
static int
cancel_open_jobs(const struct config *cfg, struct db *db, const char *action,
                 int64_t id)
{
    const struct job_selection which = {.batch = id, .open_only = true};
    struct buf object = BUF_INIT;
    struct audit_line audit = {
        .time = clock_now(),
        .actor = jobs_actor(),
        .action = action,
    };
    struct job_work w = {
        .action = JOBS_CANCEL,
        .which = &which,
        .audit = &audit,
    };
    int rc;

    buf_addf(&object, "batch %" PRId64, id);
    audit.object = buf_str(&object);
    audit.detail = "";
    rc = db_audit(db, &audit) == 0 ? jobs_run(cfg, db, &w, false, "cancelled")
                                   : EXIT_TEMPFAIL;
    buf_free(&object);
    return rc == EXIT_NO ? EXIT_OK : rc; /* none were open */
}

static int
end(const struct config *cfg, struct db *db, const struct batch *b,
    enum batch_state state, bool dry_run)
{
    bool retire = state == BATCH_RETIRED;
    int rc;

    if (dry_run) {
        printf("batch %" PRId64 " would be %s; %" PRId64 " jobs are open\n",
               b->id, retire ? "retired" : "aborted",
               db_batch_open_jobs(db, b->id));
        return EXIT_OK;
    }
    if (!retire && b->state == BATCH_RETIRED) {
        tool_error("batch %" PRId64 " is retired", b->id);
        return EXIT_NO;
    }
    if (db_batch_end(db, b->id, state, clock_now()) < 0)
        return EXIT_TEMPFAIL;
    rc = cancel_open_jobs(cfg, db, retire ? "batch retire" : "batch abort",
                          b->id);
    if (rc == EXIT_OK && retire && remove_results(cfg, b->id) != 0)
        rc = EXIT_TEMPFAIL;
    return rc;
}

static int
end_one(const struct config *cfg, struct db *db, const struct options *o,
        enum batch_state state)
{
    struct batch b;
    int rc = find(db, o, &b);

    return rc == EXIT_OK ? end(cfg, db, &b, state, o->dry_run) : rc;
}

static int
abort_one(const struct config *cfg, struct db *db, const struct options *o)
{
    return end_one(cfg, db, o, BATCH_ABORTED);
}

static int
retire_one(const struct config *cfg, struct db *db, const struct options *o)
{
    return end_one(cfg, db, o, BATCH_RETIRED);
}

static int
expire(const struct config *cfg, struct db *db, const struct options *o)
{
    struct batch *b = xcalloc(AT_ONCE, sizeof(*b));
    struct batch_query want = {.state = ANY_STATE, .expired_at = clock_now()};
    size_t n;
    int rc = EXIT_OK;

    do {
        if (db_batch_list(db, &want, b, AT_ONCE, &n) != 0)
            rc = EXIT_TEMPFAIL;
        for (size_t i = 0; rc == EXIT_OK && i < n; i++)
            rc = end(cfg, db, &b[i], BATCH_RETIRED, o->dry_run);
        if (n > 0)
            want.after_id = b[n - 1].id;
    } while (rc == EXIT_OK && n == AT_ONCE);
    free(b);
    return rc;
}

/* ---- main -----------------------------------------------------------------
 */

/* To add a command: a function above, a row here, a word of the synopsis. */
static const struct command {
    const char *name;
    int (*run)(const struct config *, struct db *, const struct options *);
    bool needs_id;
} commands[] = {
    {"create", create,     false},
    {"list",   list,       false},
    {"show",   show,       true },
    {"abort",  abort_one,  true },
    {"retire", retire_one, true },
    {"expire", expire,     false},
};

struct call {
    const struct command *command;
    const struct options *o;
};

static int
run(const struct config *cfg, struct db *db, void *arg)
{
    const struct call *c = arg;

    return c->command->run(cfg, db, c->o);
}

int
main(int argc, char **argv)
{
    struct options o = {.command = NULL};
    struct call call = {.o = &o};
    int rc = EXIT_USAGE;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (strcmp(o.command, commands[i].name) == 0)
            call.command = &commands[i];
    if (call.command == NULL)
        tool_error("no command %s; try --help", o.command);
    else if (call.command->needs_id && o.id == 0)
        tool_error("which batch?  Give its number");
    else if (!call.command->needs_id && o.id != 0)
        tool_error("%s takes no number", o.command);
    else
        rc = jobs_main(o.project_dir, argv[0], run, &call);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}
