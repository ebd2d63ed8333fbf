/* cmdline.h - the command line of every program, from one table: parsing,
 * --help, --man (the man page in roff, made at build time) and --version.
 *
 * "-x" and "--x" are the same, words are joined by underscores (--one_pass).
 * An unknown option, a missing or bad value: message with the nearest known
 * name and "try --help" on stderr, exit status EXIT_USAGE. */
#ifndef QUORATE_CMDLINE_H
#define QUORATE_CMDLINE_H

#include <stddef.h>

#include "conf.h"

/* Exit statuses of all programs (printed in help and man page). */
enum exit_status {
    EXIT_OK = 0,
    EXIT_NO = 1,         /* the answer is no; the work failed; see message */
    EXIT_USAGE = 100,    /* wrong command line or configuration: do not retry */
    EXIT_TEMPFAIL = 111, /* the world failed: trying again makes sense */
};

struct cmdline {
    const char *name;        /* program name */
    int section;             /* of the man page: 1 tools, 8 daemons */
    const char *summary;     /* one line: "keep the job array full" */
    const char *synopsis;    /* NULL: made from the table */
    const char *description; /* paragraphs, separated by an empty line */
    const struct conf_option *options;
    size_t n_options;
    const struct cmdline_exit { /* beyond 0, 100 and 111; may be NULL */
        int status;
        const char *meaning;
    } * exits;
    size_t n_exits;
};

/* Fill `object` with defaults and then the command line.  Handles -h/--help,
 * --man, -V/--version itself (prints, exits 0) and wrong usage (exits
 * EXIT_USAGE).  Returns the index of the first argument not consumed (== argc
 * when all were; positional rows consume arguments in order, a CONF_LIST
 * positional takes the rest). */
int cmdline_parse(const struct cmdline *, int argc, char **argv, void *object);

#endif
