/* supervise.c - the supervisor's loop: keeps a project's daemons of this host
 * running and runs its tasks when they are due.
 *
 * One process, no threads: it sleeps in sigtimedwait() until a child ends, a
 * signal or the next thing to do, at most a second.  What to do with a program
 * is in supervise_table.c; here it is done.
 *
 * Its programs are its children, so their pids cannot be used again before we
 * waited for them.  If the supervisor itself is killed, the kernel sends them
 * SIGTERM; each holds a lock until it has ended, and a new supervisor waits for
 * that lock before it starts the program anew. */
#include "supervise.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "cmdline.h"
#include "config.h"
#include "file.h"
#include "lockfile.h"
#include "log.h"
#include "path.h"
#include "runstate.h"
#include "spawn.h"
#include "supervise_table.h"
#include "unit.h"

#define HANGUP_PATIENCE 5 /* s from SIGHUP to SIGTERM */
#define LOOP_CRASHES 5    /* so many in a row are worth an alarm */

struct supervisor {
    struct config *cfg;
    struct unit *unit;
    size_t n;
    int64_t started;
    bool ending;
    bool changed; /* the state file is old */
    struct unit_watch watch;
};

/* ---- doing what the table says --------------------------------------------
 */

static int64_t
seconds_now(void)
{
    return (int64_t)clock_monotonic();
}

static void
signal_unit(const struct unit *u, int sig)
{
    /* its own session: the whole group, a shell's children included */
    if (u->pid > 0 && kill(-u->pid, sig) != 0 && kill(u->pid, sig) != 0)
        log_errno("signal %d to %s", sig, u->name);
}

static void
start_unit(struct supervisor *s, struct unit *u)
{
    pid_t pid;

    if (u->is_task) {
        u->last_run = clock_now(); /* before it runs: a crash counts */
        unit_write_state(s->cfg, s->unit, s->n, s->started);
    }
    pid = spawn_program(s->cfg, &u->prog, &u->paths);
    u->pid = pid > 0 ? pid : 0;
    if (pid > 0) {
        u->started = clock_now();
        u->began = seconds_now();
        return;
    }
    if (pid == 0) {
        log_warning("%s: an earlier one still runs (pid %ld); asked it to end",
                    u->name, (long)lockfile_owner(u->paths.lock));
        lockfile_signal(u->paths.lock, SIGTERM);
    } else {
        u->failures++;
    }
    u->state = UNIT_WAIT;
    u->due = seconds_now() + unit_backoff(u->failures);
}

static void
back_off(struct unit *u)
{
    if (u->is_task) {
        log_normal("%s: %s", u->name, u->last_end);
        return; /* due again when its period is over */
    }
    if (seconds_now() - u->began >= UNIT_GOOD_RUN)
        u->failures = 0;
    u->failures++;
    u->restarts++;
    u->due = seconds_now() + unit_backoff(u->failures);
    if (u->failures >= LOOP_CRASHES)
        log_critical("%s ended %" PRId64 " times in a row, last: %s; see %s",
                     u->name, u->failures, u->last_end, u->paths.output);
    else
        log_warning("%s: %s; starting it again in %" PRId64 " s", u->name,
                    u->last_end, unit_backoff(u->failures));
}

static void
act(struct supervisor *s, struct unit *u, enum unit_event event)
{
    struct unit_step step = unit_decide(u->state, event);

    if (step.next != u->state || step.action != UNIT_NOTHING)
        s->changed = true;
    u->state = step.next;
    switch (step.action) {
    case UNIT_NOTHING:
        break;
    case UNIT_SPAWN:
        start_unit(s, u);
        break;
    case UNIT_BACK_OFF:
        back_off(u);
        break;
    case UNIT_COMPLAIN:
        log_critical("%s: %s: not started again until bin/start; see %s",
                     u->name, u->last_end, u->paths.output);
        break;
    case UNIT_HANGUP:
        signal_unit(u, SIGHUP);
        u->due = seconds_now() + HANGUP_PATIENCE;
        break;
    case UNIT_TERMINATE:
        signal_unit(u, SIGTERM);
        u->due = INT64_MAX;
        break;
    case UNIT_KILL:
        log_warning("%s: killed by force", u->name);
        signal_unit(u, SIGKILL);
        u->due = INT64_MAX;
        break;
    case UNIT_FORGET:
        log_normal("%s: ended (%s)", u->name, u->last_end);
        if (!s->ending && unit_is_wanted(u)) /* it came back to config.xml */
            act(s, u, UNIT_START);
        break;
    }
}

static void
act_all(struct supervisor *s, enum unit_event event)
{
    for (size_t i = 0; i < s->n; i++)
        if (event != UNIT_START || unit_is_wanted(&s->unit[i]))
            act(s, &s->unit[i], event);
}

/* ---- events ---------------------------------------------------------------
 */

static void
describe_end(struct unit *u, int status)
{
    if (WIFSIGNALED(status))
        snprintf(u->last_end, sizeof(u->last_end), "killed by signal %d",
                 WTERMSIG(status));
    else
        snprintf(u->last_end, sizeof(u->last_end), "exit status %d",
                 WEXITSTATUS(status));
}

static void
reap(struct supervisor *s)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (size_t i = 0; i < s->n; i++) {
            struct unit *u = &s->unit[i];
            bool refused =
                WIFEXITED(status) && WEXITSTATUS(status) == EXIT_USAGE;

            if (u->pid != pid)
                continue;
            describe_end(u, status);
            u->pid = 0;
            unlink(u->paths.pid); /* "" harms nothing */
            act(s, u, refused && !u->is_task ? UNIT_REFUSED : UNIT_DIED);
        }
    }
}

static void
end_all(struct supervisor *s, const char *why)
{
    if (s->ending)
        return;
    log_normal("%s: ending all programs", why);
    s->ending = true;
    act_all(s, UNIT_STOP);
}

/* config.xml was changed: what is in both goes on, what is new is started,
 * what is gone ends. */
static void
reload(struct supervisor *s)
{
    struct buf err = BUF_INIT;
    struct config *cfg = config_load(s->cfg->project_root, &err);

    if (cfg == NULL) {
        log_critical("config.xml is not used, the old one stays: %s",
                     buf_str(&err));
    } else {
        unit_merge(cfg, &s->unit, &s->n);
        config_free(s->cfg);
        s->cfg = cfg;
        for (size_t i = 0; i < s->n; i++)
            if (!unit_is_wanted(&s->unit[i]) && !s->unit[i].is_task)
                act(s, &s->unit[i], UNIT_STOP);
        log_normal("config.xml was read again");
    }
    if (!s->ending)
        act_all(s, UNIT_START);
    buf_free(&err);
}

static void
tick(struct supervisor *s)
{
    int64_t now = seconds_now();

    for (size_t i = 0; i < s->n; i++) {
        struct unit *u = &s->unit[i];

        if (u->is_task && !s->ending && unit_task_is_due(u, clock_now()))
            act(s, u, UNIT_START);
        else if (u->due <= now && (u->state == UNIT_ENDING ||
                                   (u->state == UNIT_WAIT && !u->is_task)))
            act(s, u, UNIT_TIME);
    }
}

static bool
stop_file_exists(const struct supervisor *s)
{
    struct buf path = BUF_INIT;
    bool yes;

    buf_addf(&path, "%s/stop_daemons", s->cfg->project_root);
    yes = file_exists(buf_str(&path));
    buf_free(&path);
    return yes;
}

static bool
all_down(const struct supervisor *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->unit[i].pid != 0)
            return false;
    return true;
}

/* ---- the loop -------------------------------------------------------------
 */

static void
handle_signal(struct supervisor *s, int sig)
{
    switch (sig) {
    case SIGTERM:
    case SIGINT:
        end_all(s, sig == SIGTERM ? "SIGTERM" : "SIGINT");
        break;
    case SIGQUIT:
        end_all(s, "SIGQUIT");
        act_all(s, UNIT_FORCE);
        break;
    case SIGHUP:
        if (!s->ending)
            reload(s);
        break;
    case SIGUSR2:
        log_reopen();
        break;
    default: /* SIGCHLD: reap() is called anyway */
        break;
    }
}

static void
our_signals(sigset_t *set)
{
    static const int ours[] = {SIGCHLD, SIGTERM, SIGINT, SIGQUIT,
                               SIGHUP,  SIGUSR2, SIGPIPE};

    sigemptyset(set);
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        sigaddset(set, ours[i]);
}

static void
loop(struct supervisor *s, const sigset_t *set)
{
    while (!(s->ending && all_down(s))) {
        struct timespec wait = {.tv_nsec = 50L * 1000 * 1000};
        int sig;

        if (s->watch.fd < 0 && !s->ending)
            wait = (struct timespec){.tv_sec = 1};
        sig = sigtimedwait(set, NULL, &wait);
        if (sig > 0)
            handle_signal(s, sig);
        reap(s);
        if (!s->ending && stop_file_exists(s))
            end_all(s, "the file stop_daemons");
        tick(s);
        unit_watch_step(&s->watch, s->cfg, s->unit, s->n);
        if (s->changed)
            unit_write_state(s->cfg, s->unit, s->n, s->started);
        s->changed = false;
    }
}

char *
supervise_lock_path(const struct config *cfg)
{
    struct buf path = BUF_INIT;

    buf_addf(&path, "%s/pid_%s/supervisor.lock", cfg->project_root,
             path_short_host());
    return buf_take(&path);
}

char *
supervise_log_path(const struct config *cfg)
{
    struct buf path = BUF_INIT;

    buf_addf(&path, "%s/supervisor.log", cfg->log_dir);
    return buf_take(&path);
}

int
supervise(struct config *cfg, int report_fd)
{
    struct supervisor s = {
        .cfg = cfg, .started = clock_now(), .watch = {.fd = report_fd}};
    struct runstate old;
    sigset_t set;

    our_signals(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    spawn_environment(cfg);
    runstate_read(cfg, &old);
    unit_merge(cfg, &s.unit, &s.n);
    unit_take_lastrun(s.unit, s.n, &old);
    runstate_free(&old);
    log_normal("supervisor started, pid %ld", (long)getpid());
    s.watch.began = seconds_now();
    act_all(&s, UNIT_START);
    unit_write_state(cfg, s.unit, s.n, s.started);
    loop(&s, &set);
    unit_write_state(s.cfg, s.unit, s.n, 0);
    log_normal("supervisor ended");
    if (s.watch.fd >= 0)
        close(s.watch.fd);
    unit_free(s.unit, s.n);
    config_free(s.cfg);
    return EXIT_OK;
}
