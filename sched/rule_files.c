/* rule_files.c - config_aux.xml and hr_classes.xml, read when they change. */
#include "rule_files.h"

#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "log.h"

/* Has the file changed since *seen?  Then *seen is its new time. */
static bool
has_changed(const char *root, const char *name, struct timespec *seen)
{
    struct timespec now = {0};
    struct buf path = BUF_INIT;
    struct stat st;

    buf_addf(&path, "%s/%s", root, name);
    if (stat(buf_str(&path), &st) == 0)
        now = st.st_mtim;
    buf_free(&path);
    if (now.tv_sec == seen->tv_sec && now.tv_nsec == seen->tv_nsec)
        return false;
    *seen = now;
    return true;
}

static void
log_faults(struct buf *err, bool has_old)
{
    while (err->len > 0 && err->data[err->len - 1] == '\n')
        buf_truncate(err, err->len - 1);
    log_critical("%s; %s", buf_str(err),
                 has_old ? "what was read before stays in force"
                         : "no work is sent");
    buf_free(err);
}

static void
read_limits(struct rule_files *f, const char *root)
{
    struct buf err = BUF_INIT;
    struct job_limits fresh;

    if (job_limits_load(root, &fresh, &err) != 0) {
        log_faults(&err, f->limits_loaded);
        return;
    }
    job_limits_free(&f->limits);
    f->limits = fresh;
    f->limits_loaded = true;
}

static void
read_classes(struct rule_files *f, const char *root)
{
    struct buf err = BUF_INIT;
    struct hr_table fresh;

    if (hr_table_load(root, &fresh, &err) != 0) {
        log_faults(&err, f->hr_loaded);
        return;
    }
    hr_table_free(&f->hr);
    f->hr = fresh;
    f->hr_loaded = true;
}

bool
rule_files_refresh(struct rule_files *f, const char *root)
{
    bool first = !f->limits_loaded && !f->hr_loaded &&
                 f->limits_time.tv_sec == 0 && f->hr_time.tv_sec == 0;

    if (has_changed(root, "config_aux.xml", &f->limits_time) || first)
        read_limits(f, root);
    if (has_changed(root, "hr_classes.xml", &f->hr_time) || first)
        read_classes(f, root);
    return f->limits_loaded && f->hr_loaded;
}

void
rule_files_free(struct rule_files *f)
{
    job_limits_free(&f->limits);
    hr_table_free(&f->hr);
    *f = (struct rule_files){0};
}
