/* testproject.h - a project's folder for tests of daemons: config.xml that
 * leads to the test's database, download/, upload/ and archives/, all fresh. */
#ifndef QUORATE_TESTPROJECT_H
#define QUORATE_TESTPROJECT_H

#include <stdbool.h>
#include <sys/types.h>

enum { TESTPROJECT_FANOUT = 16 };

/* Make it and set QUORATE_PROJECT_DIR; `options` are further elements of
 * config.xml. */
void testproject_new(const char *options);
void testproject_remove(void);

/* "ROOT/rest" and "ROOT/dir/SUB/name"; valid until the next but three calls. */
const char *testproject_path(const char *rest);
const char *testproject_hier(const char *dir, const char *name);

/* A file of the download or upload hierarchy; is it there? */
void testproject_put(const char *dir, const char *name, const char *text);
bool testproject_has(const char *dir, const char *name);

/* Run a daemon with --one_pass and these arguments (NULL at the end); exit
 * status.  start: in the background, without --one_pass. */
int testproject_run(const char *daemon, ...) __attribute__((sentinel));
pid_t testproject_start(const char *daemon, ...) __attribute__((sentinel));

/* SIGTERM, wait: exit status, or 128 + signal. */
int testproject_end(pid_t);

#endif
