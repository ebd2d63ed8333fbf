/* daemon.c - the shared main loop of the long-running programs.
 *
 * Order of a start: command line, project, config.xml, what the daemon itself
 * checks of its options, database, app, the daemon's start(), heartbeat file.
 * Nothing is left behind by a start that fails.
 *
 * Signal handlers only set flags.  System calls are not restarted after a
 * signal, so every wait ends early, and waits are cut into pieces of at most a
 * second: a signal that comes just before a wait costs a second, no more. */
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "command.h"
#include "config.h"
#include "db.h"
#include "db_daemon.h"
#include "file.h"
#include "health.h"
#include "log.h"
#include "path.h"

#define MAX_BACKOFF 60.0 /* s */
#define CLOCK_STEP 30.0  /* s, a smaller one is not worth a line */

static volatile sig_atomic_t stop_signal; /* its number, 0: none came */
static volatile sig_atomic_t reopen_wanted;
static char stop_file[PATH_MAX]; /* "": not looked at */
static char log_path[PATH_MAX];  /* the file that stderr went to at the start */

/* ---- signals, stop file, log ----------------------------------------------
 */

static void
on_stop(int sig)
{
    stop_signal = sig;
}

static void
on_reopen(int sig)
{
    (void)sig;
    reopen_wanted = 1;
}

static void
catch_signals(void)
{
    static const int stoppers[] = {SIGHUP, SIGTERM, SIGINT};
    struct sigaction sa = {.sa_handler = on_stop};

    sigemptyset(&sa.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(stoppers); i++)
        sigaction(stoppers[i], &sa, NULL);
    sa.sa_handler = on_reopen;
    sigaction(SIGUSR2, &sa, NULL);
    sa.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &sa, NULL);
}

/* Whoever started us sent stderr to a file: remember its name now, for after a
 * rotation the descriptor leads to the renamed file. */
static void
remember_log(void)
{
    ssize_t n = readlink("/proc/self/fd/2", log_path, sizeof(log_path) - 1);

    log_path[n > 0 ? n : 0] = '\0';
    if (log_path[0] != '/' || strncmp(log_path, "/dev/", 5) == 0)
        log_path[0] = '\0';
}

static void
reopen_log(void)
{
    int fd;

    reopen_wanted = 0;
    log_reopen();
    if (log_path[0] == '\0')
        return;
    fd = open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0664);
    if (fd < 0) {
        log_errno("open log %s", log_path);
        return;
    }
    dup2(fd, STDERR_FILENO);
    close(fd);
}

bool
daemon_stopping(void)
{
    static uint32_t last_look;
    uint32_t now;

    if (reopen_wanted)
        reopen_log();
    if (stop_signal != 0)
        return true;
    now = clock_monotonic();
    if (stop_file[0] == '\0' || now == last_look)
        return false;
    last_look = now;
    if (file_exists(stop_file))
        stop_signal = -1;
    return stop_signal != 0;
}

static void
wait_seconds(struct daemon *d, double seconds)
{
    while (seconds > 0 && !daemon_stopping()) {
        double piece = seconds < 1 ? seconds : 1;

        if (d->spec->beat != NULL)
            d->spec->beat(d);
        clock_sleep(piece);
        seconds -= piece;
    }
}

/* ---- heartbeat file -------------------------------------------------------
 */

static bool
is_alive(const char *health_path)
{
    struct health other;

    return health_read(health_path, &other) == 0 && other.pid != getpid() &&
           (kill(other.pid, 0) == 0 || errno == EPERM);
}

static int
open_health(struct health *h, const struct daemon *d, const char *program)
{
    struct buf path = BUF_INIT;
    size_t stem;

    buf_addf(&path, "%s/pid_%s", d->cfg->project_root, path_short_host());
    if (file_mkdirs(buf_str(&path), 0775) != 0) {
        log_errno("make folder %s", buf_str(&path));
        buf_free(&path);
        return -1;
    }
    buf_addf(&path, "/%s", program);
    if (d->app != NULL)
        buf_addf(&path, "-%s", d->app);
    if (d->mod_n > 0)
        buf_addf(&path, "-mod_%d_%d", d->mod_n, d->mod_i);
    stem = path.len;
    buf_add(&path, ".health");
    for (int k = 2; k < 100 && is_alive(buf_str(&path)); k++) {
        buf_truncate(&path, stem);
        buf_addf(&path, "-%d.health", k);
    }
    health_open(h, buf_str(&path));
    buf_free(&path);
    return 0;
}

/* ---- start ----------------------------------------------------------------
 */

static void
log_lines(struct buf *text)
{
    char *rest = text->data;

    for (char *line; rest != NULL && (line = strsep(&rest, "\n")) != NULL;)
        if (line[0] != '\0')
            log_critical("%s", line);
}

static struct config *
load_config(void)
{
    struct buf err = BUF_INIT;
    struct config *cfg = NULL;
    char *root = path_project_root();

    if (root == NULL)
        log_critical("no project here: neither QUORATE_PROJECT_DIR, nor this "
                     "folder, nor the one above holds a config.xml");
    else
        cfg = config_load(root, &err);
    log_lines(&err);
    buf_free(&err);
    free(root);
    return cfg;
}

static int
print_config(const struct config *cfg)
{
    struct buf out = BUF_INIT;

    conf_print(config_options, n_config_options, cfg, &out);
    fputs(buf_str(&out), stdout);
    buf_free(&out);
    return fflush(stdout) == 0 ? EXIT_OK : EXIT_TEMPFAIL;
}

static int
find_app(struct daemon *d)
{
    if (d->app == NULL)
        return EXIT_OK;
    switch (db_app_id(d->db, d->app, &d->appid)) {
    case 0:
        return EXIT_OK;
    case DB_NONE:
        log_critical("--app %s: the project has no such application", d->app);
        return EXIT_USAGE;
    default:
        return EXIT_TEMPFAIL;
    }
}

static int
open_database(struct daemon *d)
{
    d->db = db_open(d->cfg, d->spec->account);
    return d->db != NULL ? find_app(d) : EXIT_TEMPFAIL;
}

/* ---- the clock ------------------------------------------------------------
 */

/* What is due, and since when, goes by the time of day.  If that is set while
 * we run, much may become due at once, or nothing for long: whoever wonders
 * finds the reason in the log.  Waits and heartbeats go by the monotonic clock.
 */
static void
watch_clock(double *offset)
{
    double now = clock_now_fine() - clock_monotonic_fine();
    double step = now - *offset;

    if (step > CLOCK_STEP || step < -CLOCK_STEP)
        log_warning("the clock was put %s by %.0f s",
                    step > 0 ? "forward" : "back", step > 0 ? step : -step);
    *offset = now;
}

/* ---- the loop -------------------------------------------------------------
 */

static void
idle(struct daemon *d)
{
    if (d->spec->wait != NULL)
        d->spec->wait(d, d->sleep_interval);
    else
        wait_seconds(d, d->sleep_interval);
}

/* A pass failed.  A lost database is waited for; any other failure only
 * delays the next pass.  `*backoff` doubles up to a minute. */
static void
recover(struct daemon *d, struct health *health, double *backoff)
{
    bool lost = db_is_lost(d->db);

    health_beat(health, -1, lost ? "database-lost" : "running");
    do {
        wait_seconds(d, *backoff);
        *backoff = *backoff * 2 < MAX_BACKOFF ? *backoff * 2 : MAX_BACKOFF;
    } while (lost && !daemon_stopping() &&
             db_reconnect(d->db, &stop_signal, 1) != 0);
    if (lost && !daemon_stopping())
        log_normal("connected to the database again");
}

static int
loop(struct daemon *d, struct health *health)
{
    double backoff = 1;
    double offset = clock_now_fine() - clock_monotonic_fine();

    while (!daemon_stopping()) {
        int n;

        watch_clock(&offset);
        d->now = clock_now();
        n = d->spec->pass(d);
        if (n < 0 && d->one_pass)
            return EXIT_TEMPFAIL;
        if (n < 0) {
            recover(d, health, &backoff);
            continue;
        }
        backoff = 1;
        health_beat(health, n, n > 0 ? "running" : "idle");
        if (n == 0 && d->one_pass)
            return EXIT_OK;
        if (n == 0)
            idle(d);
    }
    if (stop_signal == -1)
        log_normal("the file stop_daemons is there: stopping");
    else
        log_normal("signal %d: stopping", (int)stop_signal);
    return EXIT_OK;
}

static int
run(struct daemon *d, const char *program)
{
    struct health health = {.path = ""};
    int rc = d->spec->start != NULL ? d->spec->start(d) : 0;

    if (rc != 0)
        return rc > 0 ? rc : EXIT_TEMPFAIL;
    if (d->one_pass) {
        health_open(&health, "");
    } else {
        if (open_health(&health, d, program) != 0)
            return EXIT_TEMPFAIL;
        snprintf(stop_file, sizeof(stop_file), "%s/stop_daemons",
                 d->cfg->project_root);
        log_normal("started, pid %ld", (long)getpid());
    }
    rc = loop(d, &health);
    if (d->spec->stop != NULL)
        d->spec->stop(d);
    health_close(&health);
    return rc;
}

int
daemon_main(int argc, char **argv, const struct daemon_spec *spec)
{
    struct daemon d = {.spec = spec};
    struct command command = {.rows = NULL};
    struct config *cfg;
    int rc = EXIT_USAGE;

    log_open(command_program(argv[0]), LOG_LEVEL_NORMAL, false);
    command_parse(spec, argc, argv, &command);
    remember_log();
    catch_signals();
    cfg = load_config();
    d.cfg = cfg;
    if (cfg == NULL || command_apply(&command, &d) != 0)
        goto out;
    if (command.loop->show_config) {
        rc = print_config(cfg);
        goto out;
    }
    d.now = clock_now();
    rc = open_database(&d);
    if (rc == EXIT_OK)
        rc = run(&d, command_program(argv[0]));
out:
    db_close(d.db);
    config_free(cfg);
    command_free(&command);
    return rc;
}
