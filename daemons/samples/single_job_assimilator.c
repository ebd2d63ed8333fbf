/* single_job_assimilator.c - bring the outputs of a job back to the folder that
 * it was submitted from.
 *
 * The submitting program left a file sj_WUID in the upload folders, which names
 * the folder: <job_dir>/home/…</job_dir>.  It gets the outputs under their
 * logical names, or the error, and job_summary_WUID; what the submission left
 * in templates/ goes away. */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "assimilator.h"
#include "buf.h"
#include "config.h"
#include "file.h"
#include "log.h"
#include "path.h"

/* ROOT/upload/…/sj_WUID; false: there is no such configuration. */
static bool
find_note(const struct finished *wu, struct buf *path)
{
    struct buf err = BUF_INIT;
    struct config *cfg = config_load(wu->project_dir, &err);
    char name[40];

    snprintf(name, sizeof(name), "sj_%" PRId64, wu->wu_id);
    if (cfg != NULL)
        path_hier(cfg->upload_dir, name, (int)cfg->uldl_dir_fanout, false,
                  path);
    config_free(cfg);
    buf_free(&err);
    return path->len > 0;
}

/* The folder that the note names; "" if there is none. */
static void
job_dir(const char *note, struct buf *dir)
{
    static const char tag[] = "<job_dir>";
    const char *begin = strstr(note, tag);
    const char *end = begin != NULL ? strstr(begin, "</job_dir>") : NULL;

    if (end == NULL)
        return;
    begin += sizeof(tag) - 1;
    while (begin < end && strchr(" \t\r\n", *begin) != NULL)
        begin++;
    while (end > begin && strchr(" \t\r\n", end[-1]) != NULL)
        end--;
    if (begin < end && *begin == '/')
        buf_addn(dir, begin, (size_t)(end - begin));
}

/* templates/sj_KIND_WUID, of this job alone. */
static void
remove_templates(const struct finished *wu)
{
    struct buf pattern = BUF_INIT;
    glob_t found;

    buf_addf(&pattern, "%s/templates/sj_*_%" PRId64, wu->project_dir,
             wu->wu_id);
    if (glob(buf_str(&pattern), 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (unlink(found.gl_pathv[i]) != 0 && errno != ENOENT)
                log_errno("remove %s", found.gl_pathv[i]);
        globfree(&found);
    }
    buf_free(&pattern);
}

static int
write_summary(const struct finished *wu, const char *dir)
{
    struct buf text = BUF_INIT;
    char name[48];
    int rc;

    snprintf(name, sizeof(name), "job_summary_%" PRId64, wu->wu_id);
    buf_addf(&text,
             "workunit: %" PRId64 " %s\nerrors: %s\nresult: %" PRId64
             "\nelapsed time: %g s\ncredit: %g\n",
             wu->wu_id, wu->wu_name, wu->error_names, wu->canonical_id,
             wu->elapsed_time, wu->credit);
    for (size_t i = 0; i < wu->n_files; i++)
        buf_addf(&text, "output: %s%s\n", wu->file[i].logical,
                 wu->file[i].exists ? "" : " (not made)");
    rc = finished_write(wu, dir, name, buf_str(&text));
    buf_free(&text);
    return rc;
}

static enum handle_status
bring_back(const struct finished *wu, const char *dir)
{
    int rc = 0;

    for (size_t i = 0; i < wu->n_files && rc == 0; i++)
        if (wu->file[i].exists)
            rc = finished_copy(wu, i, dir, wu->file[i].logical);
    if (rc != 0 || write_summary(wu, dir) != 0)
        return HANDLE_LATER;
    remove_templates(wu);
    return HANDLE_DONE;
}

/* A workunit without a note was not submitted this way: nothing to do. */
static enum handle_status
handle(const struct finished *wu)
{
    struct buf path = BUF_INIT;
    struct buf note = BUF_INIT;
    struct buf dir = BUF_INIT;
    enum handle_status status = HANDLE_LATER;

    if (!find_note(wu, &path)) {
        log_critical("%s holds no readable config.xml", wu->project_dir);
    } else if (!file_exists(buf_str(&path))) {
        log_warning(TAG_WU "no %s: its outputs stay where they are", wu->wu_id,
                    wu->wu_name, buf_str(&path));
        status = HANDLE_DONE;
    } else if (file_read(buf_str(&path), 65536, &note) != 0) {
        log_errno("read %s", buf_str(&path));
    } else {
        job_dir(buf_str(&note), &dir);
        if (dir.len > 0)
            status = bring_back(wu, buf_str(&dir));
        else
            log_critical("%s names no absolute <job_dir>", buf_str(&path));
    }
    buf_free(&path);
    buf_free(&note);
    buf_free(&dir);
    return status;
}

const struct assimilator_hooks assimilator_hooks = {
    .handle = handle,
    .usage = "The file sj_WUID in the upload folders names the folder for the "
             "outputs: <job_dir>/absolute/path</job_dir>.",
};
