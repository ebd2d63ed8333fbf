/* site.c - the project around a program of the web server. */
#include "site.h"

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "config.h"
#include "file.h"
#include "log.h"
#include "path.h"

/* ---- root ---- */

static bool
holds_config(const char *folder)
{
    struct buf path = BUF_INIT;
    bool yes;

    buf_addf(&path, "%s/config.xml", folder);
    yes = file_exists(buf_str(&path));
    buf_free(&path);
    return yes;
}

/* The web server starts us anywhere, as PROJECT/cgi-bin/NAME. */
static char *
root_of_program(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    char *folder;

    if (n <= 0)
        return NULL;
    path[n] = '\0';
    folder = dirname(dirname(path));
    return holds_config(folder) ? realpath(folder, NULL) : NULL;
}

/* ---- configuration ---- */

static bool
config_changed(const struct site *s, struct timespec *ret)
{
    struct buf path = BUF_INIT;
    struct stat st;
    int rc;

    buf_addf(&path, "%s/config.xml", s->root);
    rc = stat(buf_str(&path), &st);
    buf_free(&path);
    if (rc != 0)
        return false; /* being replaced: keep what we have */
    *ret = st.st_mtim;
    return ret->tv_sec != s->config_time.tv_sec ||
           ret->tv_nsec != s->config_time.tv_nsec;
}

static bool
load_config(struct site *s, struct timespec mtime)
{
    struct buf err = BUF_INIT;
    struct config *cfg = config_load(s->root, &err);

    s->config_time = mtime;
    while (err.len > 0 && err.data[err.len - 1] == '\n')
        buf_truncate(&err, err.len - 1);
    if (cfg == NULL)
        log_critical("%s; %s", buf_str(&err),
                     s->cfg != NULL ? "the old configuration stays in force"
                                    : "no request can be handled");
    buf_free(&err);
    if (cfg == NULL)
        return false;
    if (s->cfg != NULL)
        config_free(s->cfg);
    s->cfg = cfg;
    return true;
}

/* ---- log ---- */

static void
open_log_file(struct site *s)
{
    struct buf path = BUF_INIT;

    buf_add(&path, s->cfg->log_dir);
    /* made by the supervisor; here only if the web server is first */
    if (file_mkdirs(buf_str(&path), 02775) != 0)
        log_errno("%s", buf_str(&path));
    buf_addf(&path, "/%s.log", s->program);
    if (log_to_file(buf_str(&path)) != 0)
        log_errno("%s", buf_str(&path));
    s->logs_to_file = true; /* once, or it would be tried at each request */
    buf_free(&path);
}

void
site_open(struct site *s, const char *program, bool log_to_stderr)
{
    *s = (struct site){.program = program, .keeps_stderr = log_to_stderr};
    log_open(program, LOG_LEVEL_NORMAL, true);
    s->root = path_project_root();
    if (s->root == NULL)
        s->root = root_of_program();
    if (s->root == NULL) {
        log_critical("no project: neither QUORATE_PROJECT_DIR nor the folder "
                     "above this program holds config.xml");
        return;
    }
    site_refresh(s);
}

bool
site_refresh(struct site *s)
{
    struct timespec mtime;
    bool changed = false;

    if (s->root != NULL && config_changed(s, &mtime))
        changed = load_config(s, mtime);
    if (s->cfg != NULL && !s->keeps_stderr && !s->logs_to_file)
        open_log_file(s);
    return changed;
}

void
site_close(struct site *s)
{
    if (s->cfg != NULL)
        config_free(s->cfg);
    free(s->root);
    *s = (struct site){0};
}
