/* prefs.c - preferences: a document -> what the server uses of it. */
#include "prefs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "dialect.h"
#include "fields.h"
#include "xml.h"

#define PERCENT 100.0
#define PREF(name, max)                                                        \
    FIELD_AT(#name, FIELD_DOUBLE, global_prefs, name, 0, max)

static const struct field main_part[] = {PREF(mod_time, 1e12)};
static const struct field venue_part[] = {
    PREF(disk_max_used_gb, MAX_REAL),     PREF(disk_max_used_pct, PERCENT),
    PREF(disk_min_free_gb, MAX_REAL),     PREF(work_buf_min_days, MAX_REAL),
    PREF(ram_max_used_busy_pct, PERCENT), PREF(ram_max_used_idle_pct, PERCENT),
    PREF(max_ncpus_pct, PERCENT),
};

void
prefs_defaults(struct global_prefs *ret)
{
    *ret = (struct global_prefs){
        .disk_max_used_pct = 90,
        .disk_min_free_gb = 0.1,
        .work_buf_min_days = 0.1,
        .ram_max_used_busy_pct = 50,
        .ram_max_used_idle_pct = 90,
        .max_ncpus_pct = 100,
    };
}

static const struct xml_node *
venue_block(const struct xml_node *root, const char *venue)
{
    const struct xml_node *node = xml_first(root);

    for (; node != NULL; node = xml_next(node)) {
        const char *name = xml_attr(node, "name");

        if (strcmp(xml_name(node), "venue") == 0 && name != NULL &&
            strcmp(name, venue) == 0)
            return node;
    }
    return NULL;
}

static void
read_document(const struct xml_node *root, const char *venue,
              struct global_prefs *ret)
{
    const struct xml_node *block =
        venue[0] != '\0' ? venue_block(root, venue) : NULL;

    fields_read(main_part, ARRAY_LEN(main_part), root, ret);
    fields_read(venue_part, ARRAY_LEN(venue_part), block != NULL ? block : root,
                ret);
    if (ret->max_ncpus_pct == 0) /* §8.1: 0 = 100 */
        ret->max_ncpus_pct = PERCENT;
}

/* A document of this root in a client's dialect; NULL if it cannot be read. */
static struct xml_doc *
open_document(const char *xml, const char *root)
{
    struct buf err = BUF_INIT;
    struct dialect d;
    struct xml_doc *doc = NULL;

    if (dialect_read(xml, strlen(xml), root, &d, &doc, &err) == 0)
        dialect_free(&d);
    buf_free(&err);
    return doc;
}

int
prefs_parse(const char *xml, const char *venue, struct global_prefs *ret)
{
    struct xml_doc *doc =
        xml != NULL ? open_document(xml, "global_preferences") : NULL;

    prefs_defaults(ret);
    if (doc == NULL)
        return -1;
    read_document(xml_root(doc), venue, ret);
    xml_free(doc);
    return 0;
}

bool
prefs_is_xml(const char *xml)
{
    struct buf err = BUF_INIT;
    struct xml_doc *doc = xml_parse(xml, strlen(xml), "preferences", &err);
    bool good = doc != NULL &&
                strcmp(xml_name(xml_root(doc)), "global_preferences") == 0;

    xml_free(doc);
    buf_free(&err);
    return good;
}

/* ---- project preferences ------------------------------------------------- */

#define MOST_PREFS 1000 /* the first are kept */

/* <no_rsc> names the others, too. */
static const struct {
    const char *element;
    enum proc_type type;
} exclusions[] = {
    {"no_cpu",       PROC_CPU      },
    {"no_cuda",      PROC_NVIDIA   },
    {"no_ati",       PROC_AMD      },
    {"no_intel_gpu", PROC_INTEL_GPU},
    {"no_apple_gpu", PROC_APPLE_GPU},
};

static void
exclude_gpus(struct project_prefs *p)
{
    for (int type = PROC_CPU + 1; type < N_PROC_TYPES; type++)
        p->excluded[type] = true;
}

static void
exclude_by_name(struct project_prefs *p, const struct xml_node *node)
{
    struct buf name = BUF_INIT;

    xml_text(node, &name);
    for (int type = PROC_CPU; type < N_PROC_TYPES; type++)
        if (strcmp(buf_str(&name), proc_type_name(type)) == 0)
            p->excluded[type] = true;
    buf_free(&name);
}

/* A limit: what is below 1, or no number, is none. */
static int
limit(const struct xml_node *node)
{
    double value;

    node_number(node, &value);
    return value < 1           ? 0
           : value > MAX_INT32 ? (int)MAX_INT32
                               : (int)floor(value);
}

static void
select_app(struct project_prefs *p, const struct xml_node *node)
{
    double id;

    if (!node_number(node, &id) || id < 1 || id > MAX_INT32 ||
        id != floor(id) || p->n_app_ids == MOST_PREFS)
        return;
    p->app_id = xrealloc(p->app_id, (p->n_app_ids + 1) * sizeof(*p->app_id));
    p->app_id[p->n_app_ids++] = (int64_t)id;
}

static void
keep(struct project_prefs *p, const struct xml_node *node)
{
    struct buf text = BUF_INIT;
    struct project_pref *to;

    if (p->n_prefs == MOST_PREFS)
        return;
    p->pref = xrealloc(p->pref, (p->n_prefs + 1) * sizeof(*p->pref));
    to = &p->pref[p->n_prefs];
    xml_text(node, &text);
    if (str_copy(to->tag, sizeof(to->tag), xml_name(node)) &&
        str_copy(to->value, sizeof(to->value), buf_str(&text)))
        p->n_prefs++;
    buf_free(&text);
}

static void
read_pref(struct project_prefs *p, const struct xml_node *node)
{
    const char *name = xml_name(node);

    keep(p, node);
    for (size_t i = 0; i < ARRAY_LEN(exclusions); i++)
        if (strcmp(name, exclusions[i].element) == 0 && node_bool(node))
            p->excluded[exclusions[i].type] = true;
    if (strcmp(name, "no_gpus") == 0 && node_bool(node))
        exclude_gpus(p);
    else if (strcmp(name, "no_rsc") == 0)
        exclude_by_name(p, node);
    else if (strcmp(name, "app_id") == 0)
        select_app(p, node);
    else if (strcmp(name, "allow_non_preferred_apps") == 0)
        p->allow_non_preferred_apps = node_bool(node);
    else if (strcmp(name, "allow_beta_work") == 0)
        p->allow_beta_work = node_bool(node);
    else if (strcmp(name, "max_jobs") == 0)
        p->max_jobs = limit(node);
    else if (strcmp(name, "max_cpus") == 0)
        p->max_cpus = limit(node);
}

/* Elements count wherever they stand (in project_specific or not), but another
 * venue's do not.  Documents are not deep: see xml.h. */
static void
read_prefs(struct project_prefs *p, const struct xml_node *parent)
{
    const struct xml_node *node = xml_first(parent);

    for (; node != NULL; node = xml_next(node))
        if (xml_is_leaf(node))
            read_pref(p, node);
        else if (strcmp(xml_name(node), "venue") != 0)
            read_prefs(p, node);
}

int
project_prefs_parse(const char *xml, const char *venue,
                    struct project_prefs *ret)
{
    const struct xml_node *block = NULL;
    struct buf err = BUF_INIT;
    struct xml_doc *doc;
    int rc = 0;

    *ret = (struct project_prefs){.app_id = NULL};
    if (xml == NULL || xml[0] == '\0')
        return 0;
    doc = xml_parse(xml, strlen(xml), "preferences", &err);
    buf_free(&err);
    if (doc != NULL && strcmp(xml_name(xml_root(doc)), "project_preferences")) {
        xml_free(doc);
        return -1;
    }
    if (doc == NULL) {
        rc = 1;
        doc = open_document(xml, "project_preferences");
    }
    if (doc == NULL)
        return -1;
    if (venue[0] != '\0')
        block = venue_block(xml_root(doc), venue);
    read_prefs(ret, block != NULL ? block : xml_root(doc));
    xml_free(doc);
    return rc;
}

void
project_prefs_free(struct project_prefs *p)
{
    free(p->app_id);
    free(p->pref);
    *p = (struct project_prefs){.app_id = NULL};
}

bool
project_prefs_selects(const struct project_prefs *p, int64_t appid)
{
    for (size_t i = 0; i < p->n_app_ids; i++)
        if (p->app_id[i] == appid)
            return true;
    return p->n_app_ids == 0;
}
