/* create_work.c - submit jobs from a program of one's own: the public face of
 * submit.h and stage.h. */
#include "create_work.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "config.h"
#include "create_work_private.h"
#include "db.h"
#include "file.h"
#include "log.h"
#include "path.h"
#include "stage.h"
#include "submit.h"

struct create_work {
    const struct config *cfg;
    struct config *own_cfg; /* those that we opened, or NULL */
    struct db *own_db;
    struct submit *submit;
    char *appname;
    unsigned made_up; /* names so far */
    struct buf err, advice;
};

/* ---- opening --------------------------------------------------------------
 */

static struct create_work *
new_handle(const char *appname)
{
    struct create_work *w = xcalloc(1, sizeof(*w));

    w->appname = xstrdup(appname);
    return w;
}

static int
refuse(struct create_work *w, const char *what, const char *why)
{
    buf_addf(&w->err, "%s: %s\n", what, why);
    return CREATE_WORK_REFUSED;
}

static int
fail(struct create_work *w, const char *what)
{
    buf_addf(&w->err, "%s\n", what);
    return CREATE_WORK_FAILED;
}

static int
begin(struct create_work *w, struct db *db)
{
    w->submit = submit_open(w->cfg, db, w->appname, &w->err);
    return w->submit != NULL ? 0
           : db_is_lost(db)  ? CREATE_WORK_FAILED
                             : CREATE_WORK_REFUSED;
}

int
create_work_attach(const struct config *cfg, struct db *db, const char *appname,
                   struct create_work **ret)
{
    *ret = new_handle(appname);
    (*ret)->cfg = cfg;
    return begin(*ret, db);
}

static char *
find_root(const char *project_dir)
{
    return project_dir != NULL ? realpath(project_dir, NULL)
                               : path_project_root();
}

int
create_work_open(const char *project_dir, const char *appname,
                 struct create_work **ret)
{
    struct create_work *w = new_handle(appname);
    char *root = find_root(project_dir);

    *ret = w;
    if (root == NULL)
        return refuse(w, project_dir != NULL ? project_dir : "no project here",
                      project_dir != NULL
                          ? strerror(errno)
                          : "neither QUORATE_PROJECT_DIR, nor this folder, "
                            "nor the one above holds a config.xml");
    w->own_cfg = config_load(root, &w->err);
    w->cfg = w->own_cfg;
    free(root);
    if (w->cfg == NULL)
        return CREATE_WORK_REFUSED;
    w->own_db = db_open(w->cfg, DB_ACCOUNT_SUBMITTER);
    if (w->own_db == NULL)
        return fail(w, "the database does not answer");
    return begin(w, w->own_db);
}

void
create_work_close(struct create_work *w)
{
    if (w == NULL)
        return;
    submit_close(w->submit);
    db_close(w->own_db);
    config_free(w->own_cfg);
    free(w->appname);
    buf_free(&w->err);
    buf_free(&w->advice);
    free(w);
}

/* Every call begins here: what the last one said is forgotten.  False: the
 * handle was never opened. */
static bool
ready(struct create_work *w)
{
    if (w->submit == NULL)
        return false;
    buf_reset(&w->err);
    buf_reset(&w->advice);
    return true;
}

/* ---- jobs -----------------------------------------------------------------
 */

void
job_init(struct job *job)
{
    memset(job, 0, sizeof(*job));
    job->size_class = -1;
    job->delay_bound = -1;
    job->min_quorum = job->target_nresults = -1;
    job->max_error_results = job->max_total_results = -1;
    job->max_success_results = -1;
    job->rsc_fpops_est = job->rsc_fpops_bound = -1;
    job->rsc_memory_bound = job->rsc_disk_bound = -1;
}

static void
copy_numbers(const struct job *job, struct workunit *wu)
{
    wu->batch = job->batch;
    wu->priority = job->priority;
    wu->canonical_credit = job->credit;
    wu->opaque = job->opaque;
    wu->hr_class = job->hr_class;
    wu->size_class = job->size_class;
    wu->app_version_num = job->app_version_num;
    wu->delay_bound = job->delay_bound;
    wu->min_quorum = job->min_quorum;
    wu->target_nresults = job->target_nresults;
    wu->max_error_results = job->max_error_results;
    wu->max_total_results = job->max_total_results;
    wu->max_success_results = job->max_success_results;
    wu->rsc_fpops_est = job->rsc_fpops_est;
    wu->rsc_fpops_bound = job->rsc_fpops_bound;
    wu->rsc_memory_bound = job->rsc_memory_bound;
    wu->rsc_disk_bound = job->rsc_disk_bound;
    wu->rsc_bandwidth_bound = job->rsc_bandwidth_bound;
}

static enum submit_target
target_of(enum job_target target)
{
    switch (target) {
    case JOB_FOR_ANYBODY:
        return SUBMIT_ANYBODY;
    case JOB_FOR_HOST:
        return SUBMIT_HOST;
    case JOB_FOR_USER:
        return SUBMIT_USER;
    case JOB_FOR_TEAM:
        return SUBMIT_TEAM;
    }
    return SUBMIT_ANYBODY;
}

static int
set_name(struct create_work *w, const struct job *job, struct workunit *wu)
{
    if (job->name == NULL) {
        snprintf(wu->name, sizeof(wu->name), "%.100s_%ld_%" PRId64 "_%u",
                 w->appname, (long)getpid(), clock_now(), ++w->made_up);
        return 0;
    }
    return str_copy(wu->name, sizeof(wu->name), job->name)
               ? 0
               : refuse(w, "the workunit's name", "longer than 160 bytes");
}

static struct submit_file *
files_of(const struct job *job)
{
    struct submit_file *file = xcalloc(job->n_files + 1, sizeof(*file));

    for (size_t i = 0; i < job->n_files; i++)
        file[i] = (struct submit_file){job->file[i].name, job->file[i].url,
                                       job->file[i].nbytes, job->file[i].md5};
    return file;
}

static int
check_files(struct create_work *w, const struct job *job)
{
    for (size_t i = 0; i < job->n_files; i++)
        if (job->file[i].name == NULL &&
            (job->file[i].url == NULL || job->file[i].md5 == NULL ||
             job->file[i].nbytes < 0))
            return refuse(w, "an input file",
                          "neither a name, nor URL, size "
                          "and MD5");
    return 0;
}

static int
check_words(struct create_work *w, const struct job *job,
            struct submit_spec *spec)
{
    if (job->keywords != NULL &&
        !str_copy(spec->wu.keywords, sizeof(spec->wu.keywords), job->keywords))
        return refuse(w, "keywords", "longer than 254 bytes");
    return set_name(w, job, &spec->wu);
}

int
create_work_add(struct create_work *w, const struct job *job)
{
    struct submit_spec spec;
    struct submit_file *file;
    int rc;

    if (!ready(w))
        return CREATE_WORK_FAILED;
    submit_spec_init(&spec);
    copy_numbers(job, &spec.wu);
    if (check_words(w, job, &spec) != 0 || check_files(w, job) != 0)
        return CREATE_WORK_REFUSED;
    file = files_of(job);
    spec.wu_template = job->wu_template;
    spec.result_template = job->result_template;
    spec.command_line = job->command_line;
    spec.sub_appname = job->sub_appname;
    spec.file = file;
    spec.n_files = job->n_files;
    spec.target = target_of(job->target);
    spec.target_id = job->target_id;
    spec.broadcast = job->broadcast;
    spec.assigned = job->broadcast || spec.target != SUBMIT_ANYBODY;
    spec.tag = job->tag;
    rc = submit_add(w->submit, &spec, &w->advice, &w->err);
    free(file);
    return rc == 0 ? 0 : CREATE_WORK_REFUSED;
}

struct told {
    struct create_work *w;
    created *done;
    void *arg;
};

static void
tell(void *arg, const struct submit_job *job, int64_t tag)
{
    struct told *told = arg;
    const struct created_job made = {
        .name = job->wu.name,
        .wu_id = job->wu.id,
        .was_there = job->status == SUBMIT_REPEAT,
        .taken = job->status == SUBMIT_TAKEN,
        .tag = tag,
    };

    if (made.taken)
        buf_addf(&told->w->err,
                 "the name %s is in use: workunit %" PRId64
                 " has it, and is another job\n",
                 made.name, made.wu_id);
    if (told->done != NULL)
        told->done(told->arg, &made);
}

int
create_work_commit(struct create_work *w, bool all, created *done, void *arg)
{
    struct told told = {w, done, arg};

    if (!ready(w))
        return CREATE_WORK_FAILED;
    switch (submit_commit(w->submit, all, tell, &told)) {
    case 0:
        return 0;
    case DB_EXISTS:
        return CREATE_WORK_REFUSED;
    default:
        return fail(w, "the database failed: nothing was written");
    }
}

size_t
create_work_pending(const struct create_work *w)
{
    return w->submit != NULL ? submit_pending(w->submit) : 0;
}

bool
create_work_has(const struct create_work *w, const char *name)
{
    return w->submit != NULL && submit_has(w->submit, name);
}

static void
note_id(void *arg, const struct created_job *job)
{
    int64_t *id = arg;

    if (id != NULL)
        *id = job->wu_id;
}

/* Jobs that were kept before go first, on their own: this one must not be
 * refused because of them. */
int
create_work(struct create_work *w, const struct job *job, int64_t *ret_wu_id)
{
    struct buf advice = BUF_INIT;
    int rc = 0;

    if (create_work_pending(w) > 0)
        rc = create_work_commit(w, true, NULL, NULL);
    if (rc == 0)
        rc = create_work_add(w, job);
    if (rc != 0)
        return rc;
    buf_add(&advice, buf_str(&w->advice)); /* the commit forgets it */
    rc = create_work_commit(w, true, note_id, ret_wu_id);
    buf_add(&w->advice, buf_str(&advice));
    buf_free(&advice);
    return rc;
}

/* ---- input files ----------------------------------------------------------
 */

int
create_work_stage(struct create_work *w, const char *path, unsigned flags)
{
    const struct stage_options how = {
        .copy = (flags & STAGE_COPY) != 0,
        .gzip = (flags & STAGE_GZIP) != 0,
    };
    enum stage_answer answer;

    if (!ready(w))
        return CREATE_WORK_FAILED;
    return stage_put(w->cfg, path, &how, &answer, &w->err) == 0
               ? 0
               : CREATE_WORK_REFUSED;
}

/* Written in a folder of its own, whose name no other process has. */
int
create_work_stage_bytes(struct create_work *w, const char *name,
                        const void *bytes, size_t n, unsigned flags)
{
    struct buf folder = BUF_INIT;
    struct buf path = BUF_INIT;
    int rc;

    if (!ready(w))
        return CREATE_WORK_FAILED;
    if (!path_good_name(name))
        return refuse(w, name, "no good name for a file of a job");
    buf_addf(&folder, "%s/tmp_%s/stage.%ld.XXXXXX", w->cfg->project_root,
             path_short_host(), (long)getpid());
    buf_addf(&path, "%s/tmp_%s", w->cfg->project_root, path_short_host());
    if (file_mkdirs(buf_str(&path), 0770) != 0 ||
        mkdtemp(folder.data) == NULL) {
        rc = fail(w, "no temporary folder can be made in the project");
    } else {
        buf_reset(&path);
        buf_addf(&path, "%s/%s", buf_str(&folder), name);
        if (file_write(buf_str(&path), bytes, n, 0664) != 0)
            rc = fail(w, strerror(errno));
        else
            rc = create_work_stage(w, buf_str(&path), flags & STAGE_GZIP);
        file_remove_tree(buf_str(&folder));
    }
    buf_free(&folder);
    buf_free(&path);
    return rc;
}

/* ---- messages -------------------------------------------------------------
 */

const char *
create_work_error(const struct create_work *w)
{
    return buf_str(&w->err);
}

const char *
create_work_advice(const struct create_work *w)
{
    return buf_str(&w->advice);
}
