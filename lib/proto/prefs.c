/* prefs.c - global preferences: a document -> the numbers that the server
 * uses. */
#include "prefs.h"

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

int
prefs_parse(const char *xml, const char *venue, struct global_prefs *ret)
{
    struct buf err = BUF_INIT;
    struct dialect d;
    struct xml_doc *doc = NULL;

    prefs_defaults(ret);
    if (xml != NULL &&
        dialect_repair(xml, strlen(xml), "global_preferences", &d, &err) == 0) {
        doc = xml_parse(buf_str(&d.xml), d.xml.len, "preferences", &err);
        dialect_free(&d);
    }
    buf_free(&err);
    if (doc == NULL)
        return -1;
    read_document(xml_root(doc), venue, ret);
    xml_free(doc);
    return 0;
}
