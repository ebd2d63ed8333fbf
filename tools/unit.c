/* unit.c - a program that the supervisor minds: a daemon or a task of
 * config.xml and what became of it. */
#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "file.h"
#include "health.h"
#include "path.h"
#include "runstate.h"

#define WATCH_LIMIT 5 /* s: longer than that nobody waits at a prompt */
#define WATCH_ALIVE                                                            \
    2 /* s: a program without heartbeat is taken for started                   \
       */
#define LOG_TAIL 4096

/* ---- the list -------------------------------------------------------------
 */

static void
name_of(const struct config_program *prog, char *ret, size_t size)
{
    const char *slash = strrchr(prog->output, '/');
    const char *base = slash != NULL ? slash + 1 : prog->output;
    const char *dot = strrchr(base, '.');
    int n = (int)strlen(base);

    if (dot != NULL && dot != base &&
        (strcmp(dot, ".log") == 0 || strcmp(dot, ".out") == 0))
        n = (int)(dot - base);
    snprintf(ret, size, "%.*s", n, base);
}

static void
copy_program(struct config_program *to, const struct config_program *from)
{
    *to = *from;
    to->cmd = xstrdup(from->cmd);
    to->host = xstrdup(from->host);
    to->output = xstrdup(from->output);
    to->pid_file = xstrdup(from->pid_file);
    to->lock_file = xstrdup(from->lock_file);
}

static void
free_program(struct config_program *prog)
{
    free(prog->cmd);
    free(prog->host);
    free(prog->output);
    free(prog->pid_file);
    free(prog->lock_file);
}

static bool
on_this_host(const struct config *cfg, const struct config_program *prog)
{
    const char *host = prog->host[0] != '\0' ? prog->host : cfg->host;
    size_t n = strcspn(host, ".");
    const char *here = path_short_host();

    return host[0] == '\0' || strcmp(host, "localhost") == 0 ||
           (strlen(here) == n && strncmp(host, here, n) == 0);
}

static struct unit *
find_unit(struct unit *unit, size_t n, const struct config_program *prog,
          bool is_task)
{
    for (size_t i = 0; i < n; i++)
        if (unit[i].is_task == is_task &&
            strcmp(unit[i].prog.cmd, prog->cmd) == 0 &&
            strcmp(unit[i].prog.output, prog->output) == 0)
            return &unit[i];
    return NULL;
}

static void
merge_one(const struct config *cfg, struct unit **unit, size_t *n,
          const struct config_program *prog, bool is_task)
{
    struct unit *u;

    if (!on_this_host(cfg, prog))
        return;
    u = find_unit(*unit, *n, prog, is_task);
    if (u == NULL) {
        *unit = xrealloc(*unit, (*n + 1) * sizeof(**unit));
        u = &(*unit)[(*n)++];
        memset(u, 0, sizeof(*u));
        u->is_task = is_task;
        copy_program(&u->prog, prog);
        name_of(prog, u->name, sizeof(u->name));
        spawn_paths(cfg, prog, &u->paths);
    }
    u->configured = true;
    u->prog.disabled = prog->disabled;
    u->prog.period = prog->period;
}

void
unit_merge(const struct config *cfg, struct unit **unit, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        (*unit)[i].configured = false;
    for (size_t i = 0; i < cfg->n_daemons; i++)
        merge_one(cfg, unit, n, &cfg->daemon[i], false);
    for (size_t i = 0; i < cfg->n_tasks; i++)
        merge_one(cfg, unit, n, &cfg->task[i], true);
}

void
unit_free(struct unit *unit, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free_program(&unit[i].prog);
    free(unit);
}

bool
unit_is_wanted(const struct unit *u)
{
    return !u->is_task && u->configured && !u->prog.disabled;
}

void
unit_take_lastrun(struct unit *unit, size_t n, const struct runstate *rs)
{
    for (size_t i = 0; i < n; i++)
        if (unit[i].is_task)
            unit[i].last_run = runstate_lastrun(rs, unit[i].prog.cmd);
}

bool
unit_task_is_due(const struct unit *u, int64_t now)
{
    return u->is_task && u->configured && !u->prog.disabled &&
           (u->state == UNIT_DOWN || u->state == UNIT_WAIT) &&
           u->prog.period > 0 && now - u->last_run >= u->prog.period;
}

/* ---- the state file -------------------------------------------------------
 */

void
unit_write_state(const struct config *cfg, const struct unit *unit, size_t n,
                 int64_t supervisor_started)
{
    struct runstate rs = {
        .enabled = true, /* a supervisor runs only while daemons are wanted */
        .supervisor_pid = supervisor_started != 0 ? getpid() : 0,
        .supervisor_started = supervisor_started,
    };

    rs.daemon = xcalloc(n + 1, sizeof(*rs.daemon));
    rs.task = xcalloc(n + 1, sizeof(*rs.task));
    for (size_t i = 0; i < n; i++) {
        const struct unit *u = &unit[i];

        if (u->is_task) {
            struct runstate_task *t = &rs.task[rs.n_tasks++];

            str_copy(t->command, sizeof(t->command), u->prog.cmd);
            t->lastrun = u->last_run;
        } else if (u->configured || u->pid != 0) {
            struct runstate_daemon *d = &rs.daemon[rs.n_daemons++];

            str_copy(d->name, sizeof(d->name), u->name);
            str_copy(d->command, sizeof(d->command), u->prog.cmd);
            str_copy(d->state, sizeof(d->state), unit_state_name(u->state));
            str_copy(d->last_end, sizeof(d->last_end), u->last_end);
            d->pid = u->pid;
            d->started = u->pid != 0 ? u->started : 0;
            d->restarts = u->restarts;
        }
    }
    runstate_write(cfg, &rs);
    runstate_free(&rs);
}

/* ---- honest start-up ------------------------------------------------------
 */

/* Has the process a heartbeat file?  Then its start is behind it. */
static bool
has_heartbeat(const struct config *cfg, pid_t pid)
{
    struct buf path = BUF_INIT;
    struct health health;
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
        found = health_read(buf_str(&path), &health) == 0 && health.pid == pid;
        buf_truncate(&path, n);
    }
    if (dir != NULL)
        closedir(dir);
    buf_free(&path);
    return found;
}

static bool
is_settled(const struct config *cfg, const struct unit *u, int64_t now)
{
    if (!unit_is_wanted(u))
        return true;
    if (u->pid == 0) /* unless it waits for an earlier one to end */
        return u->state != UNIT_WAIT || u->failures > 0;
    return now - u->began >= WATCH_ALIVE || has_heartbeat(cfg, u->pid);
}

/* The last line that the program wrote. */
static void
last_line(const char *path, struct buf *ret)
{
    char tail[LOG_TAIL + 1];
    FILE *f = fopen(path, "re");
    size_t n = 0;
    char *line;

    if (f == NULL)
        return;
    if (fseek(f, -LOG_TAIL, SEEK_END) != 0)
        rewind(f);
    n = fread(tail, 1, LOG_TAIL, f);
    fclose(f);
    while (n > 0 && tail[n - 1] == '\n')
        n--;
    tail[n] = '\0';
    line = strrchr(tail, '\n');
    buf_add(ret, line != NULL ? line + 1 : tail);
}

static void
tell(const struct unit *u, struct buf *b)
{
    if (!unit_is_wanted(u))
        return;
    if (u->pid != 0 && u->failures == 0) {
        buf_addf(b, "ok %s pid %ld\n", u->name, (long)u->pid);
        return;
    }
    buf_addf(b, "failed %s: %s: ", u->name,
             u->last_end[0] != '\0' ? u->last_end : "could not be started");
    last_line(u->paths.output, b);
    buf_add(b, "\n");
}

void
unit_watch_step(struct unit_watch *w, const struct config *cfg,
                const struct unit *unit, size_t n)
{
    struct buf b = BUF_INIT;
    int64_t now = (int64_t)clock_monotonic();

    if (w->fd < 0)
        return;
    for (size_t i = 0; i < n; i++)
        if (now - w->began < WATCH_LIMIT && !is_settled(cfg, &unit[i], now))
            return;
    for (size_t i = 0; i < n; i++)
        tell(&unit[i], &b);
    buf_add(&b, "end\n");
    file_write_all(w->fd, buf_str(&b), b.len); /* nobody may be there */
    close(w->fd);
    w->fd = -1;
    buf_free(&b);
}
