/* daemon.h - the shared main loop of the long-running programs: options,
 * config, log, pid, database, signals, sleep, back-off.
 *
 * A daemon is one function and a table:
 *
 *     static int one_pass(struct daemon *d) { … return handled; }
 *     int main(int argc, char **argv) {
 *         static const struct daemon_spec spec = { .name = "transitioner",
 *             .pass = one_pass, .idle_seconds = 5, … };
 *         return daemon_main(argc, argv, &spec);
 *     }
 *
 * pass returns n > 0 (handled n: call again at once), 0 (nothing due: sleep
 * idle_seconds or until a signal), -1 (failed, logged: if the database is lost,
 * reconnect; back off 1, 2, 4 … 60 s).  One bad row never ends a pass: it is
 * logged, set aside, and the rest goes on.
 *
 * Come free: -d/--debug_level, --one_pass, --mod n i, --sleep_interval,
 * --app (if needs_app), --help, --man, --version, --show_config.  SIGHUP,
 * SIGTERM, SIGINT and the file stop_daemons ask it to end: looked at between
 * items (daemon_stopping()).  SIGUSR2 opens the log again; SIGUSR1 is left to
 * the daemon.  A failed start is a line on stderr and exit status 100 (wrong
 * use) or 111 (world).  --one_pass repeats the pass until nothing is due, then
 * exits 0 (111 if a pass failed); it does not look at stop_daemons.
 *
 * While it runs, pid_HOST/<instance>.health tells how it fares (health.h); the
 * instance is the program's name, then the app and the share of --mod:
 * "transitioner", "transitioner-mod_2_1", "bitwise_validator-uppercase"; a
 * second one of the same name gets "-2". */
#ifndef QUORATE_DAEMON_H
#define QUORATE_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmdline.h"
#include "db.h"

struct config;
struct daemon;

struct daemon_spec {
    const char *name;
    const char *summary;     /* one line for --help and the man page */
    const char *description; /* paragraphs */
    enum db_account account; /* whose rights its job needs */
    int (*pass)(struct daemon *);
    /* Optional; -1: failed start (logged), > 0: likewise, with this exit
     * status. */
    int (*start)(struct daemon *);
    void (*stop)(struct daemon *);                 /* optional */
    void (*wait)(struct daemon *, double seconds); /* optional: instead of
                                     sleeping (the feeder waits for a futex);
                                     returns early when a signal arrives */
    void (*beat)(struct daemon *); /* optional: called about once a second while
                                      the loop waits after a failed pass */
    double idle_seconds;           /* default of --sleep_interval */
    bool needs_app;                /* --app NAME is mandatory */
    /* Options of its own: rows with offsets into a struct of options_size
     * bytes, found at daemon->options. */
    const struct conf_option *options;
    size_t n_options;
    size_t options_size;
    /* Optional: gets the words of the command line that are in no table (hook
     * libraries: the scientist's own options), after argv[0], before the
     * database is opened.  Not 0: failed start, wrong use.  Without it an
     * unknown option is wrong use. */
    int (*extra_args)(int argc, char **argv);
};

struct daemon {
    const struct daemon_spec *spec;
    const struct config *cfg;
    struct db *db;
    int64_t now; /* Unix s, taken once per pass */
    bool one_pass;
    int mod_n, mod_i; /* rows with id % mod_n == mod_i; 0: all */
    double sleep_interval;
    const char *app; /* --app, or NULL */
    int64_t appid;   /* its id, or 0 */
    void *options;   /* spec's own */
    void *state;     /* start() may keep things here */
};

int daemon_main(int argc, char **argv, const struct daemon_spec *);

/* Asked to end?  Look at it between items. */
bool daemon_stopping(void);

#endif
