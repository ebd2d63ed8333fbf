/* runstate.c - what a host's supervisor last said of its programs: the file
 * run_state_HOST.xml in the project's root. */
#include "runstate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "file.h"
#include "log.h"
#include "path.h"
#include "xml.h"

static void
path_of(const struct config *cfg, struct buf *path)
{
    buf_addf(path, "%s/run_state_%s.xml", cfg->project_root, path_short_host());
}

static size_t
count(const struct xml_node *parent, const char *name)
{
    size_t n = 0;

    if (parent == NULL)
        return 0;
    for (const struct xml_node *c = xml_first(parent); c != NULL;
         c = xml_next(c))
        n += strcmp(xml_name(c), name) == 0;
    return n;
}

static void
read_daemon(const struct xml_node *node, struct runstate_daemon *d)
{
    int64_t pid = 0;

    xml_get_str(node, "name", d->name, sizeof(d->name));
    xml_get_str(node, "command", d->command, sizeof(d->command));
    xml_get_str(node, "state", d->state, sizeof(d->state));
    xml_get_str(node, "last_end", d->last_end, sizeof(d->last_end));
    xml_get_i64(node, "pid", &pid);
    xml_get_i64(node, "started", &d->started);
    xml_get_i64(node, "restarts", &d->restarts);
    d->pid = (pid_t)pid;
}

static void
read_root(const struct xml_node *root, struct runstate *ret)
{
    const struct xml_node *daemons = xml_child(root, "daemons");
    const struct xml_node *tasks = xml_child(root, "tasks");
    const struct xml_node *supervisor = xml_child(root, "supervisor");
    size_t n_daemons = count(daemons, "daemon");
    size_t n_tasks = count(tasks, "task");
    int64_t pid = 0;

    xml_get_bool(root, "enabled", &ret->enabled);
    xml_get_i64(supervisor, "pid", &pid);
    xml_get_i64(supervisor, "started", &ret->supervisor_started);
    ret->supervisor_pid = (pid_t)pid;
    ret->daemon = xcalloc(n_daemons + 1, sizeof(*ret->daemon));
    ret->task = xcalloc(n_tasks + 1, sizeof(*ret->task));
    for (const struct xml_node *c = n_daemons > 0 ? xml_first(daemons) : NULL;
         c != NULL; c = xml_next(c))
        if (strcmp(xml_name(c), "daemon") == 0)
            read_daemon(c, &ret->daemon[ret->n_daemons++]);
    for (const struct xml_node *c = n_tasks > 0 ? xml_first(tasks) : NULL;
         c != NULL; c = xml_next(c))
        if (strcmp(xml_name(c), "task") == 0) {
            struct runstate_task *t = &ret->task[ret->n_tasks++];

            xml_get_str(c, "command", t->command, sizeof(t->command));
            xml_get_i64(c, "lastrun", &t->lastrun);
        }
}

int
runstate_read(const struct config *cfg, struct runstate *ret)
{
    struct buf path = BUF_INIT;
    struct buf err = BUF_INIT;
    struct xml_doc *doc;
    int rc = 1;

    memset(ret, 0, sizeof(*ret));
    path_of(cfg, &path);
    if (!file_exists(buf_str(&path)))
        goto out;
    doc = xml_parse_file(buf_str(&path), &err);
    rc = doc != NULL ? 0 : -1;
    if (doc != NULL)
        read_root(xml_root(doc), ret);
    else
        log_warning("%s", buf_str(&err));
    xml_free(doc);
out:
    buf_free(&path);
    buf_free(&err);
    return rc;
}

static void
put_daemon(struct buf *b, const struct runstate_daemon *d)
{
    xml_open(b, "daemon");
    xml_put_str(b, "name", d->name);
    xml_put_str(b, "command", d->command);
    xml_put_str(b, "state", d->state);
    xml_put_i64(b, "pid", d->pid);
    xml_put_i64(b, "started", d->started);
    xml_put_i64(b, "restarts", d->restarts);
    xml_put_str(b, "last_end", d->last_end);
    xml_close(b, "daemon");
}

int
runstate_write(const struct config *cfg, const struct runstate *rs)
{
    struct buf path = BUF_INIT;
    struct buf b = BUF_INIT;
    int rc;

    xml_open(&b, "boinc");
    xml_put_i64(&b, "enabled", rs->enabled ? 1 : 0);
    xml_open(&b, "tasks");
    for (size_t i = 0; i < rs->n_tasks; i++) {
        xml_open(&b, "task");
        xml_put_str(&b, "command", rs->task[i].command);
        xml_put_i64(&b, "lastrun", rs->task[i].lastrun);
        xml_close(&b, "task");
    }
    xml_close(&b, "tasks");
    if (rs->supervisor_pid != 0) {
        xml_open(&b, "supervisor");
        xml_put_i64(&b, "pid", rs->supervisor_pid);
        xml_put_i64(&b, "started", rs->supervisor_started);
        xml_close(&b, "supervisor");
    }
    xml_open(&b, "daemons");
    for (size_t i = 0; i < rs->n_daemons; i++)
        put_daemon(&b, &rs->daemon[i]);
    xml_close(&b, "daemons");
    xml_close(&b, "boinc");
    path_of(cfg, &path);
    rc = file_write(buf_str(&path), buf_str(&b), b.len, 0664);
    if (rc != 0)
        log_errno("write %s", buf_str(&path));
    buf_free(&path);
    buf_free(&b);
    return rc;
}

void
runstate_free(struct runstate *rs)
{
    free(rs->daemon);
    free(rs->task);
    memset(rs, 0, sizeof(*rs));
}

int64_t
runstate_lastrun(const struct runstate *rs, const char *command)
{
    for (size_t i = 0; i < rs->n_tasks; i++)
        if (strcmp(rs->task[i].command, command) == 0)
            return rs->task[i].lastrun;
    return 0;
}
