/* submit.c - jobs from what a submitter says: templates, files, numbers ->
 * checked rows, many in one transaction. */
#include "submit.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "buf.h"
#include "clock.h"
#include "config.h"
#include "db.h"
#include "db_apps.h"
#include "stage.h"
#include "template.h"
#include "xml.h"

/* Name of a workunit: its results add "_N", their output files "_rRANDOM_K". */
#define MAX_WU_NAME 160

struct known_template {
    struct known_template *next;
    char *path; /* as given */
    struct input_template *input;
    struct output_template *output; /* one of the two */
};

struct submit {
    const struct config *cfg;
    struct db *db;
    struct app app;
    struct known_template *templates;
    struct submit_job *job; /* waiting */
    int64_t *tag;
    size_t n, room;
    void *names; /* tree of the waiting jobs' names */
    bool warned_generated, warned_no_spare;
};

void
submit_spec_init(struct submit_spec *spec)
{
    struct workunit *wu = &spec->wu;

    memset(spec, 0, sizeof(*spec));
    wu->rsc_fpops_est = wu->rsc_fpops_bound = -1;
    wu->rsc_memory_bound = wu->rsc_disk_bound = -1;
    wu->delay_bound = -1;
    wu->min_quorum = wu->target_nresults = -1;
    wu->max_error_results = wu->max_total_results = -1;
    wu->max_success_results = -1;
    wu->size_class = -1;
}

struct submit *
submit_open(const struct config *cfg, struct db *db, const char *appname,
            struct buf *err)
{
    struct submit *s = xcalloc(1, sizeof(*s));
    int rc = db_app_by_name(db, appname, &s->app);

    s->cfg = cfg;
    s->db = db;
    if (rc == 0 && !s->app.deprecated)
        return s;
    if (rc == DB_NONE)
        buf_addf(err, "no application %s in this project; see xadd\n", appname);
    else if (rc == 0)
        buf_addf(err, "application %s is deprecated\n", appname);
    else
        buf_addf(err, "the database failed\n");
    free(s);
    return NULL;
}

/* ---- templates ------------------------------------------------------------
 */

static void
absolute(const struct submit *s, const char *path, struct buf *ret)
{
    if (path[0] == '/')
        buf_add(ret, path);
    else
        buf_addf(ret, "%s/%s", s->cfg->project_root, path);
}

/* Read once, kept by path. */
static const struct known_template *
get_template(struct submit *s, const char *path, bool input, struct buf *err)
{
    struct known_template *t;
    struct buf full = BUF_INIT;

    for (t = s->templates; t != NULL; t = t->next)
        if (strcmp(t->path, path) == 0 && (t->input != NULL) == input)
            return t;
    t = xcalloc(1, sizeof(*t));
    absolute(s, path, &full);
    if (input)
        t->input = input_template_read(buf_str(&full), err);
    else
        t->output = output_template_read(buf_str(&full), err);
    buf_free(&full);
    if (t->input == NULL && t->output == NULL) {
        free(t);
        return NULL;
    }
    t->path = xstrdup(path);
    t->next = s->templates;
    s->templates = t;
    return t;
}

/* The transitioner finds the result template by its path relative to the root.
 */
static int
set_result_template(struct submit *s, const char *path, struct workunit *wu,
                    struct buf *err)
{
    size_t n = strlen(s->cfg->project_root);

    if (strncmp(path, s->cfg->project_root, n) == 0 && path[n] == '/')
        path += n + 1;
    if (path[0] == '/' || strstr(path, "..") != NULL) {
        buf_addf(err, "result template %s lies outside of the project\n", path);
        return -1;
    }
    if (!str_copy(wu->result_template_file, sizeof(wu->result_template_file),
                  path)) {
        buf_addf(err, "result template %s: the path is longer than 63 bytes\n",
                 path);
        return -1;
    }
    return get_template(s, path, false, err) != NULL ? 0 : -1;
}

/* ---- checks ---------------------------------------------------------------
 */

static int
check_name(const char *name, struct buf *err)
{
    static const char *const never[] = {"upload", "download", ".."};
    const char *fault = NULL;

    if (name[0] == '\0')
        fault = "is empty";
    else if (strlen(name) > MAX_WU_NAME)
        fault = "is longer than 160 bytes";
    for (const char *p = name; fault == NULL && *p != '\0'; p++)
        if (!isgraph((unsigned char)*p) || (unsigned char)*p > 126 ||
            strchr("%&<>\"'/\\", *p) != NULL)
            fault = "holds blanks or one of % & < > \" ' / \\";
    for (size_t i = 0; fault == NULL && i < ARRAY_LEN(never); i++)
        if (strstr(name, never[i]) != NULL)
            fault = "holds \"upload\", \"download\" or \"..\", which mean "
                    "something else in the protocol";
    if (fault == NULL)
        return 0;
    buf_addf(err, "workunit name %s: it %s\n", name, fault);
    return -1;
}

static int
larger(int a, int b)
{
    return a > b ? a : b;
}

/* What was neither said nor in the template. */
static void
fill_defaults(struct workunit *wu)
{
    if (wu->rsc_fpops_est < 0)
        wu->rsc_fpops_est = 3.6e12;
    if (wu->rsc_fpops_bound < 0)
        wu->rsc_fpops_bound = 8.64e13;
    if (wu->rsc_memory_bound < 0)
        wu->rsc_memory_bound = 5e8;
    if (wu->rsc_disk_bound < 0)
        wu->rsc_disk_bound = 1e9;
    if (wu->delay_bound < 0)
        wu->delay_bound = 604800;
    if (wu->min_quorum < 0)
        wu->min_quorum = 1;
    if (wu->target_nresults < 0)
        wu->target_nresults = wu->min_quorum;
    if (wu->max_error_results < 0)
        wu->max_error_results = 1;
    if (wu->max_success_results < 0)
        wu->max_success_results = larger(1, wu->target_nresults);
    if (wu->max_total_results < 0)
        wu->max_total_results =
            larger(wu->max_success_results, wu->max_error_results);
}

static int
check_positive(const struct workunit *wu, struct buf *err)
{
    const struct {
        const char *name;
        double value;
    } number[] = {
        {"rsc_fpops_est",       wu->rsc_fpops_est              },
        {"rsc_fpops_bound",     wu->rsc_fpops_bound            },
        {"rsc_disk_bound",      wu->rsc_disk_bound             },
        {"delay_bound",         (double)wu->delay_bound        },
        {"min_quorum",          (double)wu->min_quorum         },
        {"target_nresults",     (double)wu->target_nresults    },
        {"max_error_results",   (double)wu->max_error_results  },
        {"max_total_results",   (double)wu->max_total_results  },
        {"max_success_results", (double)wu->max_success_results},
    };
    int rc = 0;

    for (size_t i = 0; i < ARRAY_LEN(number); i++)
        if (!isfinite(number[i].value) || number[i].value <= 0) {
            buf_addf(err, "%s is %g: it must be more than 0\n", number[i].name,
                     number[i].value);
            rc = -1;
        }
    return rc;
}

/* -1: not said yet; then there is nothing to compare. */
static int
check_order(const struct workunit *wu, struct buf *err)
{
    const struct {
        const char *small_name, *large_name;
        double small, large;
    } pair[] = {
        {"min_quorum",          "target_nresults",     wu->min_quorum,          wu->target_nresults},
        {"target_nresults",     "max_success_results", wu->target_nresults,
         wu->max_success_results                                                                   },
        {"max_success_results", "max_total_results",   wu->max_success_results,
         wu->max_total_results                                                                     },
        {"max_error_results",   "max_total_results",   wu->max_error_results,
         wu->max_total_results                                                                     },
        {"rsc_fpops_est",       "rsc_fpops_bound",     wu->rsc_fpops_est,
         wu->rsc_fpops_bound                                                                       },
    };
    int rc = 0;

    for (size_t i = 0; i < ARRAY_LEN(pair); i++)
        if (pair[i].large >= 0 && pair[i].large < pair[i].small) {
            buf_addf(err, "%s %g is less than %s %g\n", pair[i].large_name,
                     pair[i].large, pair[i].small_name, pair[i].small);
            rc = -1;
        }
    return rc;
}

static int
check_target(struct submit *s, const struct submit_spec *spec, struct buf *err)
{
    static const char *const what[] = {"anybody", "host", "user", "team"};
    int rc;

    if (spec->target == SUBMIT_ANYBODY)
        return 0;
    rc = db_submit_target(s->db, spec->target, spec->target_id);
    if (rc == DB_NONE)
        buf_addf(err, "there is no %s %" PRId64 "\n", what[spec->target],
                 spec->target_id);
    return rc == 0 ? 0 : -1;
}

static void
advise(struct submit *s, const struct workunit *wu, struct buf *warn)
{
    if (s->warned_no_spare || wu->max_total_results > wu->target_nresults)
        return;
    s->warned_no_spare = true;
    buf_addf(warn,
             "max_total_results %d leaves no replacement: the first result "
             "that fails or is late ends the workunit\n",
             wu->max_total_results);
}

/* ---- the document ---------------------------------------------------------
 */

static int
collect_files(struct submit *s, const struct submit_spec *spec,
              struct input_file *file, struct buf *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < spec->n_files; i++) {
        const struct submit_file *f = &spec->file[i];

        if (f->name != NULL) {
            rc = stage_find(s->cfg, f->name, &file[i], err);
        } else if (strlen(f->md5) != 32 ||
                   strspn(f->md5, "0123456789abcdef") != 32) {
            buf_addf(err, "%s: %s is no MD5 (32 lower-case hex digits)\n",
                     f->url, f->md5);
            rc = -1;
        } else {
            file[i].url = f->url;
            file[i].nbytes = f->nbytes;
            str_copy(file[i].md5, sizeof(file[i].md5), f->md5);
        }
    }
    return rc;
}

/* Remote files are called jf_MD5 on the client. */
static char *
name_remote(struct input_file *file, size_t n)
{
    char *names = xcalloc(n + 1, 40);

    for (size_t i = 0; i < n; i++)
        if (file[i].url != NULL) {
            char *name = names + 40 * i;

            memcpy(name, "jf_", 3);
            memcpy(name + 3, file[i].md5, 33);
            file[i].name = name;
        }
    return names;
}

/* <sub_appname> goes in front of the last line, "</workunit>". */
static void
insert_sub_appname(struct buf *doc, const char *sub_appname)
{
    static const char end[] = "</workunit>\n";
    size_t n = sizeof(end) - 1;

    if (sub_appname == NULL || sub_appname[0] == '\0' || doc->len < n)
        return;
    buf_truncate(doc, doc->len - n);
    buf_add(doc, "<sub_appname>");
    xml_escape(doc, sub_appname);
    buf_add(doc, "</sub_appname>\n");
    buf_add(doc, end);
}

static int
make_document(struct submit *s, const struct submit_spec *spec,
              const struct input_template *template, struct buf *doc,
              struct buf *err)
{
    const struct input_paths paths = {
        .download_url = s->cfg->download_url,
        .download_dir = s->cfg->download_dir,
        .fanout = (int)s->cfg->uldl_dir_fanout,
    };
    struct input_file *file = xcalloc(spec->n_files + 1, sizeof(*file));
    char *names = NULL;
    int rc = collect_files(s, spec, file, err);

    if (rc == 0) {
        names = name_remote(file, spec->n_files);
        rc = input_template_document(template, file, spec->n_files,
                                     spec->command_line, &paths, doc, err);
    }
    if (rc == 0)
        insert_sub_appname(doc, spec->sub_appname);
    free(names);
    free(file);
    return rc;
}

/* ---- adding ---------------------------------------------------------------
 */

static int
compare_texts(const void *a, const void *b)
{
    return strcasecmp(a, b);
}

bool
submit_has(const struct submit *s, const char *name)
{
    return tfind(name, &s->names, compare_texts) != NULL;
}

size_t
submit_pending(const struct submit *s)
{
    return s->n;
}

static void
keep(struct submit *s, const struct submit_spec *spec, struct submit_job *job)
{
    if (s->n == s->room) {
        s->room = s->room > 0 ? 2 * s->room : 64;
        s->job = xrealloc(s->job, s->room * sizeof(*s->job));
        s->tag = xrealloc(s->tag, s->room * sizeof(*s->tag));
    }
    s->job[s->n] = *job;
    s->tag[s->n] = spec->tag;
    s->n++;
    /* the tree has its own copies: the array moves when it grows */
    tsearch(xstrdup(job->wu.name), &s->names, compare_texts);
}

/* The template raises limits to the target; what nobody said stays so, for our
 * defaults are larger. */
static void
apply_template(const struct input_template *t, struct workunit *wu,
               struct buf *advice)
{
    int *const limit[] = {&wu->max_success_results, &wu->max_total_results};

    for (size_t i = 0; i < ARRAY_LEN(limit); i++)
        if (*limit[i] < 0)
            *limit[i] = INT_MAX;
    input_template_apply(t, wu, advice);
    for (size_t i = 0; i < ARRAY_LEN(limit); i++)
        if (*limit[i] == INT_MAX)
            *limit[i] = -1;
}

static int
fill_workunit(struct submit *s, const struct submit_spec *spec,
              const char *wu_template, const char *result_template,
              struct workunit *wu, struct buf *warn, struct buf *err)
{
    const struct known_template *t = get_template(s, wu_template, true, err);
    struct buf advice = BUF_INIT;
    struct buf doc = BUF_INIT;
    int rc = -1;

    *wu = spec->wu;
    wu->appid = s->app.id;
    wu->create_time = clock_now();
    /* before the template: it raises limits that are below the target */
    if (t == NULL || check_order(wu, err) != 0)
        return -1;
    apply_template(t->input, wu, &advice);
    if (!s->warned_generated && advice.len > 0) {
        buf_add(warn, buf_str(&advice));
        s->warned_generated = true;
    }
    fill_defaults(wu);
    if (check_positive(wu, err) == 0 && check_order(wu, err) == 0 &&
        set_result_template(s, result_template, wu, err) == 0 &&
        make_document(s, spec, t->input, &doc, err) == 0) {
        advise(s, wu, warn);
        wu->xml_doc = buf_take(&doc);
        rc = 0;
    }
    buf_free(&advice);
    buf_free(&doc);
    return rc;
}

/* Jobs for a target get no results from the transitioner; the scheduler makes
 * one when the target asks.  Nothing has to look at them before. */
static void
set_transition(struct submit_job *job)
{
    if (!job->assigned)
        job->wu.transitioner_flags = TRANSITION_NORMAL;
    else
        job->wu.transitioner_flags =
            job->broadcast ? TRANSITION_NONE : TRANSITION_NO_NEW_RESULTS;
    job->wu.transition_time =
        job->assigned ? TRANSITION_NEVER : job->wu.create_time;
}

int
submit_add(struct submit *s, const struct submit_spec *spec, struct buf *warn,
           struct buf *err)
{
    struct submit_job job = {
        .assigned = spec->assigned,
        .broadcast = spec->broadcast,
        .target = spec->target,
        .target_id = spec->target_id,
    };
    struct buf in = BUF_INIT;
    struct buf out = BUF_INIT;
    int rc = check_name(spec->wu.name, err);

    if (rc == 0 && submit_has(s, spec->wu.name)) {
        buf_addf(err, "workunit name %s: given twice\n", spec->wu.name);
        rc = -1;
    }
    if (spec->wu_template != NULL)
        buf_add(&in, spec->wu_template);
    else
        buf_addf(&in, "templates/%s_in", s->app.name);
    if (spec->result_template != NULL)
        buf_add(&out, spec->result_template);
    else
        buf_addf(&out, "templates/%s_out", s->app.name);
    if (rc == 0)
        rc = check_target(s, spec, err);
    if (rc == 0)
        rc = fill_workunit(s, spec, buf_str(&in), buf_str(&out), &job.wu, warn,
                           err);
    if (rc == 0) {
        set_transition(&job);
        keep(s, spec, &job);
    }
    buf_free(&in);
    buf_free(&out);
    return rc;
}

/* ---- writing --------------------------------------------------------------
 */

static void
forget_jobs(struct submit *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->job[i].wu.xml_doc);
    s->n = 0;
    tdestroy(s->names, free);
    s->names = NULL;
}

int
submit_commit(struct submit *s, bool all, submit_done *done, void *arg)
{
    int rc = s->n > 0 ? db_submit(s->db, s->job, s->n, all) : 0;
    bool refused = rc == DB_EXISTS;

    for (size_t i = 0; rc != -1 && i < s->n; i++) {
        bool taken = s->job[i].status == SUBMIT_TAKEN;

        if (taken || !refused)
            done(arg, &s->job[i], s->tag[i]);
        if (taken)
            rc = DB_EXISTS;
    }
    forget_jobs(s);
    return rc;
}

void
submit_close(struct submit *s)
{
    if (s == NULL)
        return;
    forget_jobs(s);
    for (struct known_template *t = s->templates; t != NULL;) {
        struct known_template *next = t->next;

        free(t->path);
        input_template_free(t->input);
        output_template_free(t->output);
        free(t);
        t = next;
    }
    free(s->job);
    free(s->tag);
    free(s);
}
