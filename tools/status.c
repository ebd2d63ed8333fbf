/* status.c - what runs of a project, on this host and in its queues. */
#include "status.h"

#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "cmdline.h"
#include "config.h"
#include "db.h"
#include "db_web.h"
#include "file.h"
#include "health.h"
#include "lockfile.h"
#include "log.h"
#include "path.h"
#include "runstate.h"
#include "segment.h"
#include "spawn.h"
#include "supervise.h"

struct daemon_row {
    struct runstate_daemon said; /* what the supervisor wrote */
    bool disabled;
    bool has_health;
    struct health health;
};

struct report {
    const struct config *cfg;
    bool enabled;
    pid_t supervisor; /* 0: none runs */
    int64_t started;
    struct daemon_row *daemon;
    size_t n_daemons;
    struct runstate state;
    const char *segment;
    bool has_queues;
    struct web_queues queues;
};

/* ---- finding out ----------------------------------------------------------
 */

static const struct runstate_daemon *
said_of(const struct runstate *rs, const struct config_program *prog)
{
    for (size_t i = 0; i < rs->n_daemons; i++)
        if (strcmp(rs->daemon[i].command, prog->cmd) == 0)
            return &rs->daemon[i];
    return NULL;
}

/* The heartbeat file of a process. */
static bool
find_health(const struct config *cfg, pid_t pid, struct health *ret)
{
    struct buf path = BUF_INIT;
    bool found = false;
    DIR *dir;

    buf_addf(&path, "%s/pid_%s", cfg->project_root, path_short_host());
    dir = opendir(buf_str(&path));
    for (struct dirent *e;
         dir != NULL && !found && (e = readdir(dir)) != NULL;) {
        const char *dot = strrchr(e->d_name, '.');
        size_t n = path.len;

        if (dot == NULL || strcmp(dot, ".health") != 0)
            continue;
        buf_addf(&path, "/%s", e->d_name);
        found = health_read(buf_str(&path), ret) == 0 && ret->pid == pid;
        buf_truncate(&path, n);
    }
    if (dir != NULL)
        closedir(dir);
    buf_free(&path);
    return found;
}

/* Whether a daemon runs is told by its lock, not by what a file says. */
static void
look_at(const struct report *r, const struct config_program *prog,
        struct daemon_row *row)
{
    const struct runstate_daemon *said = said_of(&r->state, prog);
    struct spawn_paths paths;

    if (said != NULL)
        row->said = *said;
    else
        str_copy(row->said.command, sizeof(row->said.command), prog->cmd);
    if (said == NULL)
        snprintf(row->said.name, sizeof(row->said.name), "%.*s",
                 (int)strcspn(prog->cmd, " "), prog->cmd);
    spawn_paths(r->cfg, prog, &paths);
    row->disabled = prog->disabled;
    row->said.pid = lockfile_owner(paths.lock);
    if (row->said.pid != 0)
        row->has_health = find_health(r->cfg, row->said.pid, &row->health);
    if (row->said.pid == 0 &&
        (r->supervisor == 0 || row->said.state[0] == '\0' ||
         strcmp(row->said.state, "up") == 0))
        str_copy(row->said.state, sizeof(row->said.state), "down");
    else if (row->said.pid != 0 && r->supervisor == 0)
        str_copy(row->said.state, sizeof(row->said.state), "orphan");
}

static const char *
segment_text(const struct config *cfg)
{
    static const char *const text[] = {
        [SEGMENT_OK] = "ok",       [SEGMENT_ABSENT] = "absent",
        [SEGMENT_STALE] = "stale", [SEGMENT_FOREIGN] = "other version",
        [SEGMENT_DOWN] = "empty",
    };
    enum segment_state state = SEGMENT_ABSENT;
    struct segment *segment;
    char name[32];

    segment_name(cfg->shmem_key, cfg->project_root, name);
    segment = segment_attach(name, &state);
    if (segment != NULL)
        segment_detach(segment);
    return text[state];
}

static void
collect(const struct config *cfg, struct report *r)
{
    char *lock = supervise_lock_path(cfg);
    struct db *db;

    memset(r, 0, sizeof(*r));
    r->cfg = cfg;
    r->supervisor = lockfile_owner(lock);
    runstate_read(cfg, &r->state);
    r->enabled = r->state.enabled;
    r->started = r->supervisor != 0 ? r->state.supervisor_started : 0;
    r->daemon = xcalloc(cfg->n_daemons + 1, sizeof(*r->daemon));
    for (size_t i = 0; i < cfg->n_daemons; i++)
        look_at(r, &cfg->daemon[i], &r->daemon[r->n_daemons++]);
    r->segment = segment_text(cfg);
    db = db_open(cfg, DB_ACCOUNT_READER);
    r->has_queues =
        db != NULL && db_web_queues(db, clock_now(), &r->queues) == 0;
    db_close(db);
    free(lock);
}

static bool
all_well(const struct report *r)
{
    bool well = r->supervisor != 0;

    for (size_t i = 0; i < r->n_daemons; i++)
        if (!r->daemon[i].disabled && r->daemon[i].said.pid == 0)
            well = false;
    return well;
}

/* ---- JSON -----------------------------------------------------------------
 */

static json_t *
json_of_daemon(const struct daemon_row *row, int64_t now)
{
    const struct runstate_daemon *d = &row->said;
    json_t *j = json_pack(
        "{s:s, s:s, s:s, s:b, s:I, s:I, s:I, s:s}", "name", d->name, "command",
        d->command, "state", d->state, "disabled", row->disabled ? 1 : 0, "pid",
        (json_int_t)d->pid, "restarts", (json_int_t)d->restarts, "started",
        (json_int_t)d->started, "last_end", d->last_end);

    if (row->has_health)
        json_object_update_new(
            j, json_pack("{s:I, s:I, s:I, s:I, s:I, s:s}", "last_pass",
                         (json_int_t)row->health.last_pass, "heartbeat_age",
                         (json_int_t)(now - row->health.last_pass), "passes",
                         (json_int_t)row->health.passes, "handled",
                         (json_int_t)row->health.handled, "errors",
                         (json_int_t)row->health.errors, "activity",
                         row->health.state));
    else
        json_object_update_new(
            j, json_pack("{s:n, s:n}", "last_pass", "heartbeat_age"));
    return j;
}

static json_t *
json_of_queues(const struct web_queues *q)
{
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "results_unsent",
        (json_int_t)q->results_unsent, "results_in_progress",
        (json_int_t)q->results_in_progress, "wus_need_validate",
        (json_int_t)q->wus_need_validate, "wus_need_assimilate",
        (json_int_t)q->wus_need_assimilate, "wus_need_file_delete",
        (json_int_t)q->wus_need_file_delete, "results_need_file_delete",
        (json_int_t)q->results_need_file_delete, "transition_backlog_seconds",
        (json_int_t)q->transition_backlog);
}

static void
show_json(const struct report *r)
{
    int64_t now = clock_now();
    json_t *daemons = json_array();
    json_t *tasks = json_array();
    json_t *all;

    for (size_t i = 0; i < r->n_daemons; i++)
        json_array_append_new(daemons, json_of_daemon(&r->daemon[i], now));
    for (size_t i = 0; i < r->cfg->n_tasks; i++) {
        const struct config_program *t = &r->cfg->task[i];

        json_array_append_new(
            tasks, json_pack("{s:s, s:I, s:I, s:b}", "command", t->cmd,
                             "period", (json_int_t)t->period, "last_run",
                             (json_int_t)runstate_lastrun(&r->state, t->cmd),
                             "disabled", t->disabled ? 1 : 0));
    }
    all = json_pack("{s:b, s:b, s:{s:I, s:I}, s:o, s:o, s:s, s:o}", "running",
                    all_well(r) ? 1 : 0, "enabled", r->enabled ? 1 : 0,
                    "supervisor", "pid", (json_int_t)r->supervisor, "started",
                    (json_int_t)r->started, "daemons", daemons, "tasks", tasks,
                    "segment", r->segment, "queues",
                    r->has_queues ? json_of_queues(&r->queues) : json_null());
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}

/* ---- for people -----------------------------------------------------------
 */

static void
show_daemons(const struct report *r, bool verbose)
{
    int64_t now = clock_now();

    printf("%-28s %-8s %8s %8s %10s  %s\n", "daemon", "state", "pid",
           "restarts", "last pass", verbose ? "command" : "");
    for (size_t i = 0; i < r->n_daemons; i++) {
        const struct daemon_row *row = &r->daemon[i];
        char age[32] = "-";

        if (row->has_health)
            snprintf(age, sizeof(age), "%" PRId64 " s",
                     now - row->health.last_pass);
        printf(
            "%-28s %-8s %8ld %8" PRId64 " %10s  %s%s%s\n", row->said.name,
            row->disabled ? "disabled" : row->said.state, (long)row->said.pid,
            row->said.restarts, age, verbose ? row->said.command : "",
            row->said.pid == 0 && row->said.last_end[0] != '\0' ? "last end: "
                                                                : "",
            row->said.pid == 0 ? row->said.last_end : "");
    }
}

static void
show_tasks(const struct report *r)
{
    int64_t now = clock_now();

    for (size_t i = 0; i < r->cfg->n_tasks; i++) {
        const struct config_program *t = &r->cfg->task[i];
        int64_t last = runstate_lastrun(&r->state, t->cmd);

        printf("task %s: every %" PRId64 " s, ", t->cmd, t->period);
        if (t->disabled)
            printf("disabled\n");
        else if (last == 0)
            printf("never ran\n");
        else
            printf("ran %" PRId64 " s ago\n", now - last);
    }
}

static void
show_queues(const struct report *r)
{
    const struct web_queues *q = &r->queues;

    printf("shared memory: %s\n", r->segment);
    if (!r->has_queues) {
        printf("queues: the database does not answer\n");
        return;
    }
    printf("results: %" PRId64 " unsent, %" PRId64 " in progress\n",
           q->results_unsent, q->results_in_progress);
    printf("workunits waiting: %" PRId64 " to validate, %" PRId64
           " to assimilate\n",
           q->wus_need_validate, q->wus_need_assimilate);
    printf("files to delete: of %" PRId64 " workunits, %" PRId64 " results\n",
           q->wus_need_file_delete, q->results_need_file_delete);
    printf("transitioner: %" PRId64 " s behind\n", q->transition_backlog);
}

static void
show_table(const struct report *r, bool verbose)
{
    printf("project is %s, ", r->enabled ? "enabled" : "disabled");
    if (r->supervisor != 0)
        printf("supervisor runs (pid %ld)\n", (long)r->supervisor);
    else
        printf("no supervisor runs\n");
    show_daemons(r, verbose);
    show_tasks(r);
    show_queues(r);
}

int
status_show(struct config *cfg, bool json, bool verbose)
{
    struct report r;
    int rc;

    collect(cfg, &r);
    if (json)
        show_json(&r);
    else
        show_table(&r, verbose);
    rc = all_well(&r) ? EXIT_OK : EXIT_NO;
    runstate_free(&r.state);
    free(r.daemon);
    config_free(cfg);
    return rc;
}
