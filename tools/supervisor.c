/* supervisor.c - start, stop and status of a project's daemons on this host,
 * one program under three names.
 *
 *   start   makes sure that a supervisor runs, and tells how each daemon fared
 *   stop    asks it to end, waits until every program has ended
 *   status  what runs, for people and (--json) for programs
 *
 * start and stop exclude each other by a lock.  The supervisor itself is
 * supervise.c. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
#include "segment.h"
#include "spawn.h"
#include "status.h"
#include "supervise.h"
#include "tool.h"
#include "words.h"

#define LOCK_PATIENCE 5.0 /* s that start waits for another start or stop */
#define FORCE_PATIENCE 10 /* s until --force kills */

enum command { CMD_START, CMD_STOP, CMD_CRON, CMD_STATUS };

struct options {
    bool enable, start, disable, stop, k, cron, cron_tasks, status;
    bool json, force, foreground, quiet, verbose;
    int64_t timeout;
    char *project_dir;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    {"e|enable",  CONF_BOOL, offsetof(struct options, enable),  NULL, 0, 0, 0, "",
     "start the daemons (what bin/start does)"                                                                            },
    OPTION(start, CONF_BOOL, NULL, 0, 0, 0, "", "the same"),
    {"d|disable", CONF_BOOL, offsetof(struct options, disable), NULL, 0, 0, 0,
     "",                                                                           "stop the daemons (what bin/stop does)"},
    OPTION(stop, CONF_BOOL, NULL, 0, 0, 0, "", "the same"),
    OPTION(k, CONF_BOOL, NULL, 0, 0, 0, "", "the same"),
    {"c|cron",    CONF_BOOL, offsetof(struct options, cron),    NULL, 0, 0, 0, "",
     "if the project is enabled, make sure that its supervisor is alive"                                                  },
    OPTION(cron_tasks, CONF_BOOL, NULL, 0, 0, 0, "",
           "the same: the supervisor runs the tasks"),
    {"s|status",  CONF_BOOL, offsetof(struct options, status),  NULL, 0, 0, 0, "",
     "show what runs (what bin/status does)"                                                                              },
    OPTION(json, CONF_BOOL, NULL, 0, 0, 0, "", "status: as JSON"),
    OPTION(force, CONF_BOOL, NULL, 0, 0, 0, "",
           "stop: kill what has not ended after 10 s"),
    OPTION(timeout, CONF_SECONDS, "0", 0, 86400, 0, "s",
           "stop: give up waiting after this time; 0: wait for ever"),
    OPTION(foreground, CONF_BOOL, NULL, 0, 0, 0, "",
           "start: be the supervisor, for systemd and containers"),
    {"q|quiet",   CONF_BOOL, offsetof(struct options, quiet),   NULL, 0, 0, 0, "",
     "say nothing but errors"                                                                                             },
    {"v|verbose", CONF_BOOL, offsetof(struct options, verbose), NULL, 0, 0, 0,
     "",                                                                           "status: with each daemon's command"   },
    OPTION(project_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "root of the project (default: this folder or the one above)"),
};
#undef CONF_STRUCT

static const struct cmdline_exit exits[] = {
    {EXIT_NO, "start: a daemon failed; stop: something still runs; status: not "
              "everything runs"},
};

static const struct cmdline cmdline = {
    .name = "supervisor",
    .section = 8,
    .summary = "start, stop and watch the daemons of a project",
    .description =
        "In a project this program is bin/start, bin/stop and bin/status.\n\n"
        "start runs a supervisor that starts the daemons of config.xml for "
        "this host and starts a daemon that ended again after 1, 2, 4 ... 60 "
        "s; a daemon that ends with exit status 100 (wrong use) waits for the "
        "next start.  It tells at once if a daemon fails.  Called again it "
        "makes the running supervisor read config.xml again.\n\n"
        "stop lets the scheduler answer that the project is down, asks all "
        "daemons to end (SIGHUP, after 5 s SIGTERM) and returns when they "
        "have.\n\n"
        "A crontab line with \"bin/start --cron\" brings the supervisor back "
        "after a restart of the machine.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
    .exits = exits,
    .n_exits = ARRAY_LEN(exits),
};

static void say(const struct options *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void
say(const struct options *o, const char *fmt, ...)
{
    va_list ap;

    if (o->quiet)
        return;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
}

/* ---- small steps ----------------------------------------------------------
 */

static bool
root_has(const struct config *cfg, const char *name)
{
    struct buf path = BUF_INIT;
    bool yes;

    buf_addf(&path, "%s/%s", cfg->project_root, name);
    yes = file_exists(buf_str(&path));
    buf_free(&path);
    return yes;
}

/* Make or remove a trigger file of the project's root. */
static int
trigger(const struct config *cfg, const char *name, bool there)
{
    struct buf path = BUF_INIT;
    int rc = 0;

    buf_addf(&path, "%s/%s", cfg->project_root, name);
    if (there)
        rc = file_write(buf_str(&path), "", 0, 0664);
    else if (unlink(buf_str(&path)) != 0 && errno != ENOENT)
        rc = -1;
    if (rc != 0)
        tool_error("%s: %s", buf_str(&path), strerror(errno));
    buf_free(&path);
    return rc;
}

static int
set_enabled(const struct config *cfg, bool enabled)
{
    struct runstate rs;
    int rc;

    runstate_read(cfg, &rs);
    rs.enabled = enabled;
    if (!enabled) { /* nothing runs: what the file says of pids is history */
        rs.supervisor_pid = 0;
        for (size_t i = 0; i < rs.n_daemons; i++)
            rs.daemon[i].pid = 0;
    }
    rc = runstate_write(cfg, &rs);
    runstate_free(&rs);
    return rc;
}

static bool
is_enabled(const struct config *cfg)
{
    struct runstate rs;
    bool enabled;

    runstate_read(cfg, &rs);
    enabled = rs.enabled;
    runstate_free(&rs);
    return enabled;
}

static int
make_folder(const char *path)
{
    if (file_is_dir(path) || file_mkdirs(path, 02770) == 0)
        return 0;
    tool_error("make folder %s: %s", path, strerror(errno));
    return -1;
}

static int
make_host_folders(const struct config *cfg)
{
    static const char *const folder[] = {"pid", "tmp"};
    struct buf path = BUF_INIT;
    int rc = make_folder(cfg->log_dir);

    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(folder); i++) {
        buf_reset(&path);
        buf_addf(&path, "%s/%s_%s", cfg->project_root, folder[i],
                 path_short_host());
        rc = make_folder(buf_str(&path));
    }
    buf_free(&path);
    return rc;
}

/* Only the project's owner starts and stops: files of two owners would lock
 * each other out. */
static int
check_user(const struct config *cfg)
{
    const struct passwd *pw = getpwuid(geteuid());
    const char *wanted = cfg->project_user_name;

    if (wanted[0] == '\0' || (pw != NULL && strcmp(pw->pw_name, wanted) == 0))
        return 0;
    tool_error("the project belongs to %s (project_user_name), you are %s",
               wanted, pw != NULL ? pw->pw_name : "nobody known");
    return -1;
}

/* Commands that only a shell could run are refused before anything starts. */
static int
check_commands(const struct config_program *prog, size_t n)
{
    struct buf err = BUF_INIT;
    int rc = 0;

    for (size_t i = 0; i < n; i++) {
        char **words;

        if (prog[i].use_shell)
            continue;
        words = words_split(prog[i].cmd, WORDS_SHELL, &err);
        if (words == NULL) {
            tool_error("config.xml:%d: %s: %s", prog[i].line, prog[i].cmd,
                       buf_str(&err));
            buf_reset(&err);
            rc = -1;
        }
        words_free(words);
    }
    buf_free(&err);
    return rc;
}

/* The lock between start and stop.  Descriptor, or -1 (told unless quiet). */
static int
lock_commands(const struct config *cfg, double patience, bool tell)
{
    struct buf path = BUF_INIT;
    int fd;

    buf_addf(&path, "%s/pid_%s/start.lock.%s", cfg->project_root,
             path_short_host(), path_short_host());
    fd = lockfile_take(buf_str(&path), false);
    while (fd < 0 && errno == EAGAIN && patience > 0) {
        clock_sleep(0.1);
        patience -= 0.1;
        fd = lockfile_take(buf_str(&path), false);
    }
    if (fd < 0 && errno == EAGAIN && tell)
        tool_error("another start or stop is at work (pid %ld)",
                   (long)lockfile_owner(buf_str(&path)));
    else if (fd < 0 && errno != EAGAIN)
        tool_error("%s: %s", buf_str(&path), strerror(errno));
    buf_free(&path);
    return fd;
}

/* ---- start ----------------------------------------------------------------
 */

/* Be the supervisor.  Does not return before it ends. */
static int
be_supervisor(struct config *cfg, int report_fd, bool own_log)
{
    char *lock = supervise_lock_path(cfg);
    char *log = supervise_log_path(cfg);
    int fd = lockfile_take(lock, false);
    int rc = EXIT_NO;

    if (fd < 0) {
        tool_error("%s: %s", lock,
                   errno == EAGAIN ? "a supervisor runs already"
                                   : strerror(errno));
        config_free(cfg);
    } else {
        log_open("supervisor", LOG_LEVEL_NORMAL, false);
        if (own_log && log_to_file(log) != 0)
            tool_error("%s: %s", log, strerror(errno));
        rc = supervise(cfg, report_fd);
        close(fd);
    }
    free(lock);
    free(log);
    return rc;
}

static void
leave_terminal(const struct config *cfg)
{
    char *log = supervise_log_path(cfg);
    int in = open("/dev/null", O_RDONLY);
    int out = open(log, O_WRONLY | O_APPEND | O_CREAT, 0664);

    if (in >= 0)
        dup2(in, STDIN_FILENO);
    if (out >= 0) {
        dup2(out, STDOUT_FILENO);
        dup2(out, STDERR_FILENO);
    }
    if (in > STDERR_FILENO)
        close(in);
    if (out > STDERR_FILENO)
        close(out);
    free(log);
}

/* Fork twice: the supervisor leads no session, so it can never get a terminal,
 * and is no child of ours. */
static int
launch(struct config *cfg)
{
    int pipe_fd[2];
    pid_t pid;

    if (pipe2(pipe_fd, O_CLOEXEC) != 0)
        return -1;
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        close(pipe_fd[0]);
        leave_terminal(cfg);
        _exit(be_supervisor(cfg, pipe_fd[1], true));
    }
    close(pipe_fd[1]);
    if (pid < 0) {
        close(pipe_fd[0]);
        return -1;
    }
    return pipe_fd[0];
}

/* Show what the supervisor reports.  0 all well, -1 not. */
static int
read_report(const struct config *cfg, const struct options *o, int fd)
{
    FILE *f = fdopen(fd, "r");
    char line[4096];
    bool complete = false;
    int rc = 0;

    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "failed ", 7) == 0) {
            tool_error("%s", line + 7);
            rc = -1;
        } else if (strncmp(line, "ok ", 3) == 0) {
            say(o, "%s", line + 3);
        } else if (strcmp(line, "end") == 0) {
            complete = true;
        }
    }
    if (f != NULL)
        fclose(f);
    if (!complete) {
        char *log = supervise_log_path(cfg);

        tool_error("the supervisor ended at once; see %s", log);
        free(log);
        rc = -1;
    }
    return rc;
}

static bool
has_daemon_here(const struct config *cfg)
{
    for (size_t i = 0; i < cfg->n_daemons; i++)
        if (!cfg->daemon[i].disabled)
            return true;
    return false;
}

/* With the commands' lock held. */
static int
start_locked(struct config *cfg, const struct options *o)
{
    char *lock = supervise_lock_path(cfg);
    pid_t owner = lockfile_owner(lock);
    int rc = EXIT_OK;

    if (trigger(cfg, "stop_daemons", false) != 0) {
        rc = EXIT_NO;
    } else if (owner != 0) {
        say(o,
            "already running (supervisor pid %ld); it reads config.xml again",
            (long)owner);
        lockfile_signal(lock, SIGHUP);
    } else {
        int fd;

        if (!has_daemon_here(cfg))
            tool_error("config.xml names no daemon");
        set_enabled(cfg, true);
        fd = launch(cfg);
        if (fd < 0) {
            tool_error("start the supervisor: %s", strerror(errno));
            rc = EXIT_TEMPFAIL;
        } else if (read_report(cfg, o, fd) != 0) {
            rc = EXIT_NO;
        }
    }
    if (rc != EXIT_TEMPFAIL)
        trigger(cfg, "stop_sched", false);
    free(lock);
    return rc;
}

static int
start(struct config *cfg, const struct options *o)
{
    int fd = lock_commands(cfg, LOCK_PATIENCE, true);
    int rc;

    if (fd < 0)
        return EXIT_NO;
    if (o->foreground) {
        trigger(cfg, "stop_daemons", false);
        trigger(cfg, "stop_sched", false);
        set_enabled(cfg, true);
        close(fd);
        return be_supervisor(cfg, -1, false);
    }
    rc = start_locked(cfg, o);
    close(fd);
    config_free(cfg);
    return rc;
}

/* Silent: called every five minutes. */
static int
cron(struct config *cfg)
{
    static const struct options quiet = {.quiet = true};
    char *lock = supervise_lock_path(cfg);
    int fd = lock_commands(cfg, 0, false);
    int rc = EXIT_OK;

    if (fd >= 0 && is_enabled(cfg) && !root_has(cfg, "stop_daemons") &&
        lockfile_owner(lock) == 0)
        rc = start_locked(cfg, &quiet);
    if (fd >= 0)
        close(fd);
    free(lock);
    config_free(cfg);
    return rc;
}

/* ---- stop -----------------------------------------------------------------
 */

/* Programs of this host that still hold their locks; signals them if sig is
 * not 0.  Appends their names. */
static size_t
still_running(const struct config *cfg, int sig, struct buf *names)
{
    char *lock = supervise_lock_path(cfg);
    size_t n = 0;
    pid_t owner = lockfile_owner(lock);

    if (owner != 0) {
        buf_addf(names, " supervisor (pid %ld)", (long)owner);
        n++;
    }
    for (size_t i = 0; i < cfg->n_daemons + cfg->n_tasks; i++) {
        const struct config_program *prog =
            i < cfg->n_daemons ? &cfg->daemon[i]
                               : &cfg->task[i - cfg->n_daemons];
        struct spawn_paths paths;

        spawn_paths(cfg, prog, &paths);
        owner = lockfile_owner(paths.lock);
        if (owner == 0)
            continue;
        buf_addf(names, " %s (pid %ld)", prog->cmd, (long)owner);
        n++;
        if (sig != 0)
            lockfile_signal(paths.lock, sig);
    }
    free(lock);
    return n;
}

/* Wait for all of them.  0, or -1 when the time is over. */
static int
wait_for_all(const struct config *cfg, const struct options *o)
{
    char *lock = supervise_lock_path(cfg);
    struct buf names = BUF_INIT;
    int64_t begin = (int64_t)clock_monotonic();
    int64_t told = begin;
    bool forced = false;
    int rc = 0;

    while (still_running(cfg, 0, &names) > 0) {
        int64_t now = (int64_t)clock_monotonic();

        if (o->force && !forced && now - begin >= FORCE_PATIENCE) {
            struct buf ignored = BUF_INIT;

            /* the supervisor kills its own; alone, they are ours to kill */
            if (lockfile_signal(lock, SIGQUIT) != 0)
                still_running(cfg, SIGKILL, &ignored);
            buf_free(&ignored);
            forced = true;
        }
        if (o->timeout > 0 && now - begin >= o->timeout) {
            tool_error("still running:%s", buf_str(&names));
            rc = -1;
            break;
        }
        if (now - told >= 10) {
            say(o, "waiting for%s", buf_str(&names));
            told = now;
        }
        buf_reset(&names);
        clock_sleep(0.1);
    }
    buf_free(&names);
    free(lock);
    return rc;
}

/* The segment of a killed feeder.  One that is alive (run by hand) keeps
 * its own. */
static void
remove_segment(const struct config *cfg)
{
    enum segment_state state;
    struct segment *segment;
    pid_t feeder = 0;
    char name[32];

    segment_name(cfg->shmem_key, cfg->project_root, name);
    segment = segment_attach(name, &state);
    if (segment != NULL) {
        feeder = segment_anchor(segment)->feeder_pid;
        segment_detach(segment);
    }
    if (feeder <= 0 || (kill(feeder, 0) != 0 && errno == ESRCH))
        segment_unlink(name);
}

static int
stop(struct config *cfg, const struct options *o)
{
    struct buf names = BUF_INIT;
    char *lock;
    int fd = lock_commands(cfg, LOCK_PATIENCE, true);
    int rc = EXIT_NO;

    if (fd < 0) {
        config_free(cfg);
        return EXIT_NO;
    }
    lock = supervise_lock_path(cfg);
    if (trigger(cfg, "stop_sched", true) == 0 &&
        trigger(cfg, "stop_daemons", true) == 0) {
        if (lockfile_signal(lock, SIGTERM) == 1)
            still_running(cfg, SIGTERM, &names); /* nobody else tells them */
        if (wait_for_all(cfg, o) == 0) {
            set_enabled(cfg, false);
            remove_segment(cfg);
            say(o, "stopped");
            rc = EXIT_OK;
        }
    }
    free(lock);
    buf_free(&names);
    close(fd);
    config_free(cfg);
    return rc;
}

/* ---- main -----------------------------------------------------------------
 */

static enum command
which(const struct options *o)
{
    if (o->status || o->json)
        return CMD_STATUS;
    if (o->cron || o->cron_tasks)
        return CMD_CRON;
    if (o->disable || o->stop || o->k)
        return CMD_STOP;
    if (o->enable || o->start || o->foreground)
        return CMD_START;
    if (strcmp(tool_name(), "stop") == 0)
        return CMD_STOP;
    return strcmp(tool_name(), "start") == 0 ? CMD_START : CMD_STATUS;
}

static int
run(struct config *cfg, const struct options *o)
{
    enum command command = which(o);

    if (command == CMD_STATUS)
        return status_show(cfg, o->json, o->verbose);
    if (check_user(cfg) != 0 || make_host_folders(cfg) != 0 ||
        (command != CMD_STOP &&
         (check_commands(cfg->daemon, cfg->n_daemons) != 0 ||
          check_commands(cfg->task, cfg->n_tasks) != 0))) {
        config_free(cfg);
        return EXIT_USAGE;
    }
    if (command == CMD_CRON)
        return cron(cfg);
    return command == CMD_STOP ? stop(cfg, o) : start(cfg, o);
}

int
main(int argc, char **argv)
{
    struct options o = {.project_dir = NULL};
    struct config *cfg;
    int rc = EXIT_USAGE;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    umask(002);
    signal(SIGPIPE, SIG_IGN);
    cfg = tool_config(o.project_dir, argv[0]);
    if (cfg != NULL && chdir(cfg->project_root) == 0)
        rc = run(cfg, &o);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}
