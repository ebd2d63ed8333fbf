/* tool.c - what the command-line tools share: messages, the project they work
 * for, its configuration and database. */
#include "tool.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "file.h"
#include "log.h"
#include "path.h"

static const char *name = "quorate";

void
tool_begin(const char *argv0)
{
    const char *slash = strrchr(argv0, '/');

    name = slash != NULL ? slash + 1 : argv0;
    log_open(name, LOG_LEVEL_NORMAL, false);
}

const char *
tool_name(void)
{
    return name;
}

void
tool_error(const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(&text, fmt, ap);
    va_end(ap);
    fflush(stdout); /* keep the order of answers and complaints */
    fprintf(stderr, "%s: %s\n", name, buf_str(&text));
    buf_free(&text);
}

void
tool_error_lines(struct buf *err)
{
    char *rest = buf_take(err);
    char *all = rest;

    for (char *line; rest != NULL && (line = strsep(&rest, "\n")) != NULL;)
        if (line[0] != '\0')
            tool_error("%s", line);
    free(all);
}

static bool
is_project(const char *dir)
{
    struct buf path = BUF_INIT;
    bool yes;

    buf_addf(&path, "%s/config.xml", dir);
    yes = file_exists(buf_str(&path));
    buf_free(&path);
    return yes;
}

/* ROOT/bin/start -> ROOT.  Symbolic links are not followed: bin/start is one,
 * and leads to the installed program. */
static char *
root_of_program(const char *argv0)
{
    struct buf path = BUF_INIT;
    const char *slash = strrchr(argv0, '/');
    char *root = NULL;

    if (slash != NULL) {
        buf_addn(&path, argv0, (size_t)(slash - argv0));
        buf_add(&path, "/..");
        if (is_project(buf_str(&path)))
            root = realpath(buf_str(&path), NULL);
    }
    buf_free(&path);
    return root;
}

char *
tool_root(const char *dir, const char *argv0)
{
    char *root;

    if (dir != NULL && dir[0] != '\0') {
        root = is_project(dir) ? realpath(dir, NULL) : NULL;
        if (root == NULL)
            tool_error("%s is no project: it holds no config.xml", dir);
        return root;
    }
    root = path_project_root();
    if (root == NULL)
        root = root_of_program(argv0);
    if (root == NULL)
        tool_error("no project here: neither QUORATE_PROJECT_DIR, nor this "
                   "folder, nor the one above holds a config.xml");
    return root;
}

struct config *
tool_config(const char *dir, const char *argv0)
{
    struct buf err = BUF_INIT;
    struct config *cfg = NULL;
    char *root = tool_root(dir, argv0);

    if (root != NULL) {
        cfg = config_load(root, &err);
        tool_error_lines(&err);
    }
    buf_free(&err);
    free(root);
    return cfg;
}
