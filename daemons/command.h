/* command.h - the command line of a daemon: the options of the loop, those of
 * the daemon, and words for a scientist's hooks.  daemon.c alone uses it. */
#ifndef QUORATE_COMMAND_H
#define QUORATE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf.h"

struct daemon;
struct daemon_spec;

struct loop_options {
    int64_t debug_level;
    bool one_pass;
    struct conf_list mod;
    double sleep_interval;
    bool show_config;
    char *app;
};

/* One object holds the loop's options and behind them the daemon's own. */
struct command {
    struct conf_option *rows;
    size_t n_rows;
    char sleep_text[32];
    unsigned char *object;
    struct loop_options *loop;
    void *own;
};

/* The last part of argv[0]. */
const char *command_program(const char *argv0);

/* Read argv, set the log level, give extra words to spec->extra_args.  Wrong
 * use, --help and the like end the program here. */
void command_parse(const struct daemon_spec *, int argc, char **argv,
                   struct command *ret);

/* Fill the fields of *d that come from the command line; they live as long as
 * the command.  -1: wrong use (logged). */
int command_apply(const struct command *, struct daemon *d);

void command_free(struct command *);

#endif
