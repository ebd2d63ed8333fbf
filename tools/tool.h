/* tool.h - what the command-line tools share: messages, the project they work
 * for, its configuration and database. */
#ifndef QUORATE_TOOL_H
#define QUORATE_TOOL_H

#include <stdbool.h>

struct buf;
struct config;

/* Begin: sets the name that messages start with (last component of argv0) and
 * opens the log on stderr. */
void tool_begin(const char *argv0);
const char *tool_name(void);

/* "NAME: text" on stderr. */
void tool_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Each line of `err`, as tool_error(); the buffer is emptied. */
void tool_error_lines(struct buf *err);

/* The project's root: `dir` if not "", else as path_project_root() says, else
 * the folder above the one that the program was called from (ROOT/bin/start).
 * malloc; NULL if there is no project (a message was printed). */
char *tool_root(const char *dir, const char *argv0);

/* Read the project's config.xml.  NULL: messages were printed. */
struct config *tool_config(const char *dir, const char *argv0);

#endif
