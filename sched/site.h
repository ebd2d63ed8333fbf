/* site.h - the project around a program of the web server: its root, its
 * configuration (read again when config.xml changes), its log. */
#ifndef QUORATE_SITE_H
#define QUORATE_SITE_H

#include <stdbool.h>
#include <time.h>

struct config;

struct site {
    const char *program;
    char *root;         /* NULL: no project found */
    struct config *cfg; /* NULL: never readable so far */
    struct timespec config_time;
    bool keeps_stderr, logs_to_file;
};

/* Find the project: QUORATE_PROJECT_DIR or the like, the current folder, or the
 * folder above the program's (cgi-bin/..).  Open the log `program`.log in
 * log_HOST (cgi.c opens it anew after SIGUSR2). */
void site_open(struct site *, const char *program, bool log_to_stderr);

/* Before each request: follow config.xml.  A configuration that cannot be read
 * is logged and the old one kept.  True if it is another one now. */
bool site_refresh(struct site *);

void site_close(struct site *);

#endif
