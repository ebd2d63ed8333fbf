/* catalog.c - read-only platforms, apps and versions inside a segment.
 *
 *     header | platform records | app records | version records | arena
 *
 * Records have a fixed size and hold numbers and offsets into the arena, where
 * every text ends with a NUL.  The feeder writes the whole before anybody can
 * see it, so readers need no care; but they check every offset once, when they
 * map it, and never follow one that was not checked. */
#include "catalog.h"

#include <assert.h>
#include <string.h>

#include "buf.h"

#define CATALOG_MAGIC 0x43415441u /* "CATA" */
#define CATALOG_ALIGN 64

struct platform_record {
    int64_t id;
    uint64_t name;
    uint64_t user_friendly_name;
};

struct app_record {
    int64_t id;
    uint64_t name;
    uint64_t user_friendly_name;
    double weight;
    double min_avg_pfc;
    int32_t min_version;
    int32_t homogeneous_redundancy;
    int32_t target_nresults;
    int32_t locality_scheduling;
    int32_t n_size_classes;
    int32_t n_size_quantiles;
    double size_quantile[APP_MAX_SIZE_CLASSES - 1];
    /* yes or no, as numbers: another byte in a _Bool is not a value */
    uint8_t beta;
    uint8_t host_scale_check;
    uint8_t homogeneous_app_version;
    uint8_t non_cpu_intensive;
    uint8_t fraction_done_exact;
};

struct version_record {
    int64_t id;
    int64_t appid;
    int64_t platformid;
    uint64_t xml_doc;
    uint64_t plan_class;
    double pfc_n, pfc_avg, pfc_scale;
    double expavg_credit;
    double expavg_time;
    int32_t version_num;
    int32_t min_core_version;
    int32_t max_core_version;
    uint8_t deprecated;
    uint8_t beta;
};

struct catalog {
    uint32_t magic;
    uint16_t platform_size, app_size, version_size; /* of a record */
    uint16_t pad;
    uint64_t n_platforms, n_apps, n_versions;
    uint64_t arena_size;
    struct host_speeds speeds;
};

/* Where the parts begin, counted from the header. */
struct parts {
    uint64_t platforms, apps, versions, arena, end;
};

static uint64_t
align(uint64_t n)
{
    return (n + CATALOG_ALIGN - 1) / CATALOG_ALIGN * CATALOG_ALIGN;
}

static struct parts
parts_of(const struct catalog *c)
{
    struct parts p;

    p.platforms = align(sizeof(*c));
    p.apps =
        align(p.platforms + c->n_platforms * sizeof(struct platform_record));
    p.versions = align(p.apps + c->n_apps * sizeof(struct app_record));
    p.arena = align(p.versions + c->n_versions * sizeof(struct version_record));
    p.end = align(p.arena + c->arena_size);
    return p;
}

static const void *
at(const struct catalog *c, uint64_t offset)
{
    return (const char *)c + offset;
}

static const struct platform_record *
platforms(const struct catalog *c)
{
    return at(c, parts_of(c).platforms);
}

static const struct app_record *
apps(const struct catalog *c)
{
    return at(c, parts_of(c).apps);
}

static const struct version_record *
versions(const struct catalog *c)
{
    return at(c, parts_of(c).versions);
}

static const char *
text(const struct catalog *c, uint64_t offset)
{
    return at(c, parts_of(c).arena + offset);
}

/* ---- writing --------------------------------------------------------------
 */

static uint64_t
text_bytes(const char *s)
{
    return s == NULL || *s == '\0' ? 0 : strlen(s) + 1;
}

static uint64_t
arena_bytes(const struct catalog_source *src)
{
    uint64_t n = 1; /* offset 0 is "" */

    for (size_t i = 0; i < src->n_platforms; i++)
        n += text_bytes(src->platform[i].name) +
             text_bytes(src->platform[i].user_friendly_name);
    for (size_t i = 0; i < src->n_apps; i++)
        n += text_bytes(src->app[i].name) +
             text_bytes(src->app[i].user_friendly_name);
    for (size_t i = 0; i < src->n_versions; i++)
        n += text_bytes(src->version[i].xml_doc) +
             text_bytes(src->version[i].plan_class);
    return n;
}

static struct catalog
header_of(const struct catalog_source *src)
{
    return (struct catalog){
        .magic = CATALOG_MAGIC,
        .platform_size = sizeof(struct platform_record),
        .app_size = sizeof(struct app_record),
        .version_size = sizeof(struct version_record),
        .n_platforms = src->n_platforms,
        .n_apps = src->n_apps,
        .n_versions = src->n_versions,
        .arena_size = arena_bytes(src),
        .speeds = src->speeds,
    };
}

size_t
catalog_size(const struct catalog_source *src)
{
    struct catalog header = header_of(src);

    return (size_t)parts_of(&header).end;
}

struct arena {
    char *base;
    uint64_t used;
};

static uint64_t
put_text(struct arena *a, const char *s)
{
    uint64_t n = text_bytes(s);
    uint64_t offset = a->used;

    if (n == 0)
        return 0;
    memcpy(a->base + offset, s, n);
    a->used += n;
    return offset;
}

static void
put_platform(struct platform_record *r, const struct platform *p,
             struct arena *a)
{
    r->id = p->id;
    r->name = put_text(a, p->name);
    r->user_friendly_name = put_text(a, p->user_friendly_name);
}

static void
put_app(struct app_record *r, const struct app *app, struct arena *a)
{
    r->id = app->id;
    r->name = put_text(a, app->name);
    r->user_friendly_name = put_text(a, app->user_friendly_name);
    r->weight = app->weight;
    r->min_avg_pfc = app->min_avg_pfc;
    r->min_version = app->min_version;
    r->homogeneous_redundancy = app->homogeneous_redundancy;
    r->target_nresults = app->target_nresults;
    r->locality_scheduling = app->locality_scheduling;
    r->n_size_classes = app->n_size_classes;
    r->n_size_quantiles = app->n_size_quantiles;
    memcpy(r->size_quantile, app->size_quantile, sizeof(r->size_quantile));
    r->beta = app->beta;
    r->host_scale_check = app->host_scale_check;
    r->homogeneous_app_version = app->homogeneous_app_version;
    r->non_cpu_intensive = app->non_cpu_intensive;
    r->fraction_done_exact = app->fraction_done_exact;
}

static void
put_version(struct version_record *r, const struct app_version *v,
            struct arena *a)
{
    r->id = v->id;
    r->appid = v->appid;
    r->platformid = v->platformid;
    r->xml_doc = put_text(a, v->xml_doc);
    r->plan_class = put_text(a, v->plan_class);
    r->pfc_n = v->pfc_n;
    r->pfc_avg = v->pfc_avg;
    r->pfc_scale = v->pfc_scale;
    r->expavg_credit = v->expavg_credit;
    r->expavg_time = v->expavg_time;
    r->version_num = v->version_num;
    r->min_core_version = v->min_core_version;
    r->max_core_version = v->max_core_version;
    r->deprecated = v->deprecated;
    r->beta = v->beta;
}

void
catalog_write(void *where, const struct catalog_source *src)
{
    struct catalog header = header_of(src);
    struct parts p = parts_of(&header);
    char *base = where;
    struct arena a = {.base = base + p.arena, .used = 1};
    struct platform_record *platform = (void *)(base + p.platforms);
    struct app_record *app = (void *)(base + p.apps);
    struct version_record *version = (void *)(base + p.versions);

    memset(where, 0, (size_t)p.end);
    for (size_t i = 0; i < src->n_platforms; i++)
        put_platform(&platform[i], &src->platform[i], &a);
    for (size_t i = 0; i < src->n_apps; i++)
        put_app(&app[i], &src->app[i], &a);
    for (size_t i = 0; i < src->n_versions; i++)
        put_version(&version[i], &src->version[i], &a);
    assert(a.used == header.arena_size);
    memcpy(where, &header, sizeof(header));
}

/* ---- checking -------------------------------------------------------------
 */

/* Do the parts fit into `size` bytes?  Counts come first, one by one, so that
 * no sum of parts_of() can wrap round. */
static bool
parts_fit(const struct catalog *c, size_t size)
{
    return c->n_platforms <= size / sizeof(struct platform_record) &&
           c->n_apps <= size / sizeof(struct app_record) &&
           c->n_versions <= size / sizeof(struct version_record) &&
           c->arena_size > 0 && c->arena_size <= size &&
           parts_of(c).end <= size;
}

static bool
texts_fit(const struct catalog *c)
{
    uint64_t limit = c->arena_size;
    bool ok = text(c, 0)[0] == '\0' && text(c, limit - 1)[0] == '\0';

    for (size_t i = 0; ok && i < c->n_platforms; i++) {
        const struct platform_record *r = &platforms(c)[i];
        ok = r->name < limit && r->user_friendly_name < limit;
    }
    for (size_t i = 0; ok && i < c->n_apps; i++) {
        const struct app_record *r = &apps(c)[i];
        ok = r->name < limit && r->user_friendly_name < limit;
    }
    for (size_t i = 0; ok && i < c->n_versions; i++) {
        const struct version_record *r = &versions(c)[i];
        ok = r->xml_doc < limit && r->plan_class < limit;
    }
    return ok;
}

const struct catalog *
catalog_check(const void *where, size_t size)
{
    const struct catalog *c = where;

    if (size < sizeof(*c) || c->magic != CATALOG_MAGIC ||
        c->platform_size != sizeof(struct platform_record) ||
        c->app_size != sizeof(struct app_record) ||
        c->version_size != sizeof(struct version_record))
        return NULL;
    return parts_fit(c, size) && texts_fit(c) ? c : NULL;
}

/* ---- reading --------------------------------------------------------------
 */

size_t
catalog_n_platforms(const struct catalog *c)
{
    return (size_t)c->n_platforms;
}

size_t
catalog_n_apps(const struct catalog *c)
{
    return (size_t)c->n_apps;
}

size_t
catalog_n_versions(const struct catalog *c)
{
    return (size_t)c->n_versions;
}

void
catalog_platform(const struct catalog *c, size_t i, struct platform *ret)
{
    const struct platform_record *r = &platforms(c)[i];

    assert(i < c->n_platforms);
    *ret = (struct platform){.id = r->id};
    str_copy(ret->name, sizeof(ret->name), text(c, r->name));
    str_copy(ret->user_friendly_name, sizeof(ret->user_friendly_name),
             text(c, r->user_friendly_name));
}

static int
quantiles_of(const struct app_record *r)
{
    bool good =
        r->n_size_quantiles >= 0 && r->n_size_quantiles < APP_MAX_SIZE_CLASSES;

    return good ? r->n_size_quantiles : 0;
}

void
catalog_app(const struct catalog *c, size_t i, struct app *ret)
{
    const struct app_record *r = &apps(c)[i];

    assert(i < c->n_apps);
    *ret = (struct app){
        .id = r->id,
        .min_version = r->min_version,
        .homogeneous_redundancy = r->homogeneous_redundancy,
        .weight = r->weight,
        .beta = r->beta != 0,
        .target_nresults = r->target_nresults,
        .min_avg_pfc = r->min_avg_pfc,
        .host_scale_check = r->host_scale_check != 0,
        .homogeneous_app_version = r->homogeneous_app_version != 0,
        .non_cpu_intensive = r->non_cpu_intensive != 0,
        .locality_scheduling = r->locality_scheduling,
        .n_size_classes = r->n_size_classes,
        .n_size_quantiles = quantiles_of(r),
        .fraction_done_exact = r->fraction_done_exact != 0,
    };
    memcpy(ret->size_quantile, r->size_quantile, sizeof(ret->size_quantile));
    str_copy(ret->name, sizeof(ret->name), text(c, r->name));
    str_copy(ret->user_friendly_name, sizeof(ret->user_friendly_name),
             text(c, r->user_friendly_name));
}

struct host_speeds
catalog_speeds(const struct catalog *c)
{
    return c->speeds;
}

void
catalog_version(const struct catalog *c, size_t i, struct app_version *ret)
{
    const struct version_record *r = &versions(c)[i];

    assert(i < c->n_versions);
    *ret = (struct app_version){
        .id = r->id,
        .appid = r->appid,
        .version_num = r->version_num,
        .platformid = r->platformid,
        /* The model's field is for owned text; this one must not be touched. */
        .xml_doc = (char *)(uintptr_t)text(c, r->xml_doc),
        .min_core_version = r->min_core_version,
        .max_core_version = r->max_core_version,
        .deprecated = r->deprecated != 0,
        .pfc_n = r->pfc_n,
        .pfc_avg = r->pfc_avg,
        .pfc_scale = r->pfc_scale,
        .expavg_credit = r->expavg_credit,
        .expavg_time = r->expavg_time,
        .beta = r->beta != 0,
    };
    str_copy(ret->plan_class, sizeof(ret->plan_class), text(c, r->plan_class));
}

ptrdiff_t
catalog_find_app(const struct catalog *c, int64_t id)
{
    const struct app_record *r = apps(c);

    for (size_t i = 0; i < c->n_apps; i++)
        if (r[i].id == id)
            return (ptrdiff_t)i;
    return -1;
}

ptrdiff_t
catalog_find_platform(const struct catalog *c, const char *name)
{
    const struct platform_record *r = platforms(c);

    for (size_t i = 0; i < c->n_platforms; i++)
        if (strcmp(text(c, r[i].name), name) == 0)
            return (ptrdiff_t)i;
    return -1;
}
