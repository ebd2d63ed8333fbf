/* db_catalog.c - platforms, apps and versions for the job array's catalog. */
#include "db_catalog.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "census.h"
#include "db.h"
#include "log.h"

/* Make room for one more element of a growing array. */
static void *
grow(void *array, size_t n, size_t element)
{
    /* a power of two is full when n reaches it */
    if ((n & (n - 1)) != 0)
        return array;
    return xrealloc(array, (n == 0 ? 1 : 2 * n) * element);
}

/* ---- rows -----------------------------------------------------------------
 */

#define PLATFORM_COLUMNS "id, name, user_friendly_name"

static void
platform_from_row(struct db_query *q, struct platform *p)
{
    *p = (struct platform){.id = db_col_i64(q, 0)};
    db_col_copy(q, 1, p->name, sizeof(p->name));
    db_col_copy(q, 2, p->user_friendly_name, sizeof(p->user_friendly_name));
}

static int
load_platforms(struct db *db, struct db_catalog *c)
{
    struct db_query *q =
        db_prepare(db, "SELECT " PLATFORM_COLUMNS
                       " FROM platform WHERE deprecated = 0 ORDER BY id");
    int rc = -1;

    while (q != NULL && (rc = db_step(q)) == 0) {
        c->platform = grow(c->platform, c->n_platforms, sizeof(*c->platform));
        platform_from_row(q, &c->platform[c->n_platforms++]);
    }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

#define APP_COLUMNS                                                            \
    "id, name, user_friendly_name, min_version, homogeneous_redundancy, "      \
    "weight, beta, target_nresults, min_avg_pfc, host_scale_check, "           \
    "homogeneous_app_version, non_cpu_intensive, locality_scheduling, "        \
    "n_size_classes, fraction_done_exact"

static void
app_from_row(struct db_query *q, struct app *a)
{
    *a = (struct app){
        .id = db_col_i64(q, 0),
        .min_version = (int)db_col_i64(q, 3),
        .homogeneous_redundancy = (int)db_col_i64(q, 4),
        .weight = db_col_double(q, 5),
        .beta = db_col_i64(q, 6) != 0,
        .target_nresults = (int)db_col_i64(q, 7),
        .min_avg_pfc = db_col_double(q, 8),
        .host_scale_check = db_col_i64(q, 9) != 0,
        .homogeneous_app_version = db_col_i64(q, 10) != 0,
        .non_cpu_intensive = db_col_i64(q, 11) != 0,
        .locality_scheduling = (int)db_col_i64(q, 12),
        .n_size_classes = (int)db_col_i64(q, 13),
        .fraction_done_exact = db_col_i64(q, 14) != 0,
    };
    db_col_copy(q, 1, a->name, sizeof(a->name));
    db_col_copy(q, 2, a->user_friendly_name, sizeof(a->user_friendly_name));
}

static int
load_apps(struct db *db, struct db_catalog *c)
{
    struct db_query *q = db_prepare(
        db, "SELECT " APP_COLUMNS " FROM app WHERE deprecated = 0 ORDER BY id");
    int rc = -1;

    while (q != NULL && (rc = db_step(q)) == 0) {
        c->app = grow(c->app, c->n_apps, sizeof(*c->app));
        app_from_row(q, &c->app[c->n_apps++]);
    }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

#define VERSION_COLUMNS                                                        \
    "id, appid, version_num, platformid, xml_doc, min_core_version, "          \
    "max_core_version, plan_class, pfc_n, pfc_avg, pfc_scale, "                \
    "expavg_credit, expavg_time, beta"

/* 712 is client 7.12; today that is written 71200. */
static int
core_version(int64_t n)
{
    return (int)(n >= 1 && n <= 9999 ? 100 * n : n);
}

static void
version_from_row(struct db_query *q, struct app_version *v)
{
    *v = (struct app_version){
        .id = db_col_i64(q, 0),
        .appid = db_col_i64(q, 1),
        .version_num = (int)db_col_i64(q, 2),
        .platformid = db_col_i64(q, 3),
        .xml_doc = db_col_dup(q, 4),
        .min_core_version = core_version(db_col_i64(q, 5)),
        .max_core_version = core_version(db_col_i64(q, 6)),
        .pfc_n = db_col_double(q, 8),
        .pfc_avg = db_col_double(q, 9),
        .pfc_scale = db_col_double(q, 10),
        .expavg_credit = db_col_double(q, 11),
        .expavg_time = db_col_double(q, 12),
        .beta = db_col_i64(q, 13) != 0,
    };
    db_col_copy(q, 7, v->plan_class, sizeof(v->plan_class));
}

/* Of one app on one platform the newest come first: mark_superseded() relies
 * on it. */
static int
load_versions(struct db *db, struct db_catalog *c)
{
    struct db_query *q = db_prepare(
        db, "SELECT " VERSION_COLUMNS " FROM app_version WHERE deprecated = 0 "
            "ORDER BY appid, platformid, version_num DESC, id");
    int rc = -1;

    while (q != NULL && (rc = db_step(q)) == 0) {
        c->version = grow(c->version, c->n_versions, sizeof(*c->version));
        version_from_row(q, &c->version[c->n_versions++]);
    }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static int
load_speeds(struct db *db, struct db_catalog *c)
{
    struct db_query *q = db_prepare(
        db, "SELECT p_fpops FROM host WHERE expavg_credit > ? AND p_fpops > 0");
    double *flops = NULL;
    size_t n = 0;
    int rc = -1;

    if (q != NULL && db_bind_double(q, 0, CENSUS_MIN_CREDIT) == 0)
        while ((rc = db_step(q)) == 0) {
            flops = grow(flops, n, sizeof(*flops));
            flops[n++] = db_col_double(q, 0);
        }
    db_finish(q);
    if (rc == DB_NONE)
        census_speeds(flops, n, &c->speeds);
    free(flops);
    return rc == DB_NONE ? 0 : -1;
}

/* ---- which versions count -------------------------------------------------
 */

static const struct app *
find_app(const struct db_catalog *c, int64_t id)
{
    for (size_t i = 0; i < c->n_apps; i++)
        if (c->app[i].id == id)
            return &c->app[i];
    return NULL;
}

static bool
platform_known(const struct db_catalog *c, int64_t id)
{
    for (size_t i = 0; i < c->n_platforms; i++)
        if (c->platform[i].id == id)
            return true;
    return false;
}

static void
mark_superseded(struct db_catalog *c)
{
    for (size_t i = 1; i < c->n_versions; i++) {
        struct app_version *v = &c->version[i];

        for (size_t k = i; k-- > 0 && !v->deprecated;) {
            const struct app_version *newer = &c->version[k];

            if (newer->appid != v->appid || newer->platformid != v->platformid)
                break;
            v->deprecated = newer->version_num > v->version_num &&
                            strcmp(newer->plan_class, v->plan_class) == 0;
        }
    }
}

static bool
version_counts(const struct db_catalog *c, const struct app_version *v)
{
    const struct app *app = find_app(c, v->appid);

    if (app == NULL || !platform_known(c, v->platformid))
        return false;
    if (app->min_version == 0 && v->deprecated)
        return app->homogeneous_app_version; /* workunits may be pinned to it */
    return v->version_num >= app->min_version;
}

/* The newest of its app and platform, and too old: nobody can use it, but that
 * it is there is why a volunteer gets nothing. */
static bool
version_is_told(const struct db_catalog *c, size_t i)
{
    const struct app_version *v = &c->version[i];
    const struct app *app = find_app(c, v->appid);

    return app != NULL && platform_known(c, v->platformid) &&
           v->version_num < app->min_version &&
           (i == 0 || v[-1].appid != v->appid ||
            v[-1].platformid != v->platformid);
}

static void
drop_versions(struct db_catalog *c)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->n_versions; i++) {
        bool told = version_is_told(c, i); /* looks at the one before */

        if (told) {
            free(c->version[i].xml_doc);
            c->version[i].xml_doc = xstrdup("");
        }
        if (told || version_counts(c, &c->version[i]))
            c->version[kept++] = c->version[i];
        else
            free(c->version[i].xml_doc);
    }
    c->n_versions = kept;
}

/* ---- public ---------------------------------------------------------------
 */

int
db_catalog_load(struct db *db, struct db_catalog *ret)
{
    struct db_catalog c = {.platform = NULL};

    if (load_platforms(db, &c) != 0 || load_apps(db, &c) != 0 ||
        load_versions(db, &c) != 0 || load_speeds(db, &c) != 0) {
        db_catalog_free(&c);
        return -1;
    }
    mark_superseded(&c);
    drop_versions(&c);
    *ret = c;
    return 0;
}

void
db_catalog_free(struct db_catalog *c)
{
    for (size_t i = 0; i < c->n_versions; i++)
        free(c->version[i].xml_doc);
    free(c->version);
    free(c->app);
    free(c->platform);
    *c = (struct db_catalog){.platform = NULL};
}

struct catalog_source
db_catalog_source(const struct db_catalog *c)
{
    return (struct catalog_source){
        .platform = c->platform,
        .n_platforms = c->n_platforms,
        .app = c->app,
        .n_apps = c->n_apps,
        .version = c->version,
        .n_versions = c->n_versions,
        .speeds = c->speeds,
    };
}
