/* job_limits.c - read config_aux.xml (job_limits.h).
 *
 *   <config>
 *     <max_jobs_in_progress>
 *       <project>
 *         <total_limit> <jobs>100</jobs> </total_limit>
 *         <cpu_limit>   <jobs>2</jobs> <per_proc/> </cpu_limit>
 *       </project>
 *       <app>
 *         <app_name>demo</app_name>
 *         <gpu_limit> <jobs>1</jobs> <per_proc/> </gpu_limit>
 *       </app>
 *     </max_jobs_in_progress>
 *   </config>
 *
 * Strict: a limit that is misspelt would be none. */
#include "job_limits.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "xml.h"

#define FILE_NAME "config_aux.xml"

enum {
    JOBS_MAX = 1000000,
    APPS_MAX = 1000,
};

struct reader {
    struct job_limits *limits;
    struct buf *err;
};

static bool
is(const struct xml_node *node, const char *name)
{
    return strcmp(xml_name(node), name) == 0;
}

static void
read_limit(struct reader *r, const struct xml_node *node, struct job_limit *ret)
{
    int64_t jobs = -1;

    if (ret->jobs != 0)
        xml_fault(r->err, FILE_NAME, node, "<%s> is there twice",
                  xml_name(node));
    if (!xml_get_i64(node, "jobs", &jobs) || jobs < 0 || jobs > JOBS_MAX) {
        xml_fault(r->err, FILE_NAME, node,
                  "<%s> needs <jobs> from 0 (no limit) to %d", xml_name(node),
                  JOBS_MAX);
        jobs = 0;
    }
    ret->jobs = (int)jobs;
    for (const struct xml_node *n = xml_first(node); n != NULL;
         n = xml_next(n)) {
        if (is(n, "per_proc")) {
            if (!xml_get_bool(node, "per_proc", &ret->per_proc))
                xml_fault(r->err, FILE_NAME, n, "<per_proc>: empty, 0 or 1");
        } else if (!is(n, "jobs")) {
            xml_fault(r->err, FILE_NAME, n, "unknown element <%s>",
                      xml_name(n));
        }
    }
}

/* False: it is none of the three limits. */
static bool
read_one_of_set(struct reader *r, const struct xml_node *node,
                struct job_limit_set *ret)
{
    if (is(node, "total_limit")) {
        read_limit(r, node, &ret->total);
        if (ret->total.per_proc)
            xml_fault(r->err, FILE_NAME, node,
                      "<total_limit> is never <per_proc>");
    } else if (is(node, "cpu_limit")) {
        read_limit(r, node, &ret->cpu);
    } else if (is(node, "gpu_limit")) {
        read_limit(r, node, &ret->gpu);
    } else {
        return false;
    }
    return true;
}

static void
read_project(struct reader *r, const struct xml_node *node)
{
    for (const struct xml_node *n = xml_first(node); n != NULL; n = xml_next(n))
        if (!read_one_of_set(r, n, &r->limits->project))
            xml_fault(r->err, FILE_NAME, n, "unknown element <%s>",
                      xml_name(n));
}

static void
read_app(struct reader *r, const struct xml_node *node)
{
    struct job_limits *l = r->limits;
    struct app_job_limits *app;

    if (l->n_apps == APPS_MAX) {
        xml_fault(r->err, FILE_NAME, node, "more than %d apps", APPS_MAX);
        return;
    }
    l->app = xrealloc(l->app, (l->n_apps + 1) * sizeof(*l->app));
    app = &l->app[l->n_apps++];
    *app = (struct app_job_limits){0};
    if (!xml_get_str(node, "app_name", app->app_name, sizeof(app->app_name)) ||
        app->app_name[0] == '\0')
        xml_fault(r->err, FILE_NAME, node, "<app> needs an <app_name>");
    for (size_t i = 0; i + 1 < l->n_apps; i++)
        if (strcmp(l->app[i].app_name, app->app_name) == 0)
            xml_fault(r->err, FILE_NAME, node, "app %s is there twice",
                      app->app_name);
    for (const struct xml_node *n = xml_first(node); n != NULL; n = xml_next(n))
        if (!is(n, "app_name") && !read_one_of_set(r, n, &app->limit))
            xml_fault(r->err, FILE_NAME, n, "unknown element <%s>",
                      xml_name(n));
}

static void
read_limits(struct reader *r, const struct xml_node *node)
{
    for (const struct xml_node *n = xml_first(node); n != NULL;
         n = xml_next(n)) {
        if (is(n, "project"))
            read_project(r, n);
        else if (is(n, "app"))
            read_app(r, n);
        else
            xml_fault(r->err, FILE_NAME, n, "unknown element <%s>",
                      xml_name(n));
    }
}

static void
read_root(struct reader *r, const struct xml_node *root)
{
    if (!is(root, "config"))
        xml_fault(r->err, FILE_NAME, root, "<config> is wanted, not <%s>",
                  xml_name(root));
    for (const struct xml_node *n = xml_first(root); n != NULL;
         n = xml_next(n)) {
        if (is(n, "max_jobs_in_progress"))
            read_limits(r, n);
        else
            xml_fault(r->err, FILE_NAME, n, "unknown element <%s>",
                      xml_name(n));
    }
}

int
job_limits_load(const char *root, struct job_limits *ret, struct buf *err)
{
    struct reader r = {.limits = ret, .err = err};
    size_t before = err->len;
    struct xml_doc *doc;
    int rc;

    *ret = (struct job_limits){0};
    rc = xml_parse_if_there(root, FILE_NAME, &doc, err);
    if (rc > 0)
        read_root(&r, xml_root(doc));
    xml_free(doc);
    if (rc >= 0 && err->len == before)
        return 0;
    job_limits_free(ret);
    return -1;
}

void
job_limits_free(struct job_limits *l)
{
    free(l->app);
    *l = (struct job_limits){0};
}
