/* audit_report.c - what audit prints, as text and as JSON. */
#include "audit.h"

#include <inttypes.h>
#include <stdio.h>

#include <jansson.h>

static const char *const weights[] = {
    [AUDIT_BREACH] = "breach",
    [AUDIT_NOTE] = "note",
    [AUDIT_DRAINED] = "breach",
};

void
audit_report_begin(struct audit *a, const struct audit_check *check)
{
    a->on = check;
    a->found = 0;
    a->n_checks++;
    if (a->json)
        a->breaches = json_array();
}

void
audit_report(struct audit *a, const char *kind, int64_t id, const char *label,
             const char *detail)
{
    a->found++;
    if (a->json && a->found <= a->max) {
        json_t *one =
            json_pack("{s:s, s:I, s:s, s:s}", "kind", kind, "id",
                      (json_int_t)id, "name", label, "detail", detail);

        if (one != NULL) /* NULL: a name that is no UTF-8 */
            json_array_append_new(a->breaches, one);
    }
    if (a->json)
        return;
    if (a->found == 1)
        printf("%s: %s: %s\n", weights[a->on->weight], a->on->name,
               a->on->promise);
    if (a->found <= a->max)
        printf("  %s %" PRId64 " [%s] %s\n", kind, id, label, detail);
}

void
audit_report_end(struct audit *a, const char *repaired)
{
    if (a->on->weight == AUDIT_NOTE)
        a->n_notes += a->found;
    else if (repaired != NULL)
        a->n_repaired += a->found;
    else
        a->n_breaches += a->found;
    if (a->json) {
        json_t *one = json_pack("{s:s, s:s, s:s, s:I, s:o}", "name",
                                a->on->name, "promise", a->on->promise,
                                "weight", weights[a->on->weight], "total",
                                (json_int_t)a->found, "breaches", a->breaches);

        if (repaired != NULL)
            json_object_set_new(one, "repaired", json_string(repaired));
        json_array_append_new(a->list, one);
        return;
    }
    if (a->found > a->max)
        printf("  and %" PRId64 " more, %" PRId64 " in all\n",
               a->found - a->max, a->found);
    if (repaired != NULL && a->found > 0)
        printf("  repaired (%" PRId64 "): %s\n", a->found, repaired);
}

void
audit_report_summary(struct audit *a)
{
    if (a->json) {
        json_t *all = json_pack("{s:I, s:I, s:I, s:I, s:O}", "n_checks",
                                (json_int_t)a->n_checks, "n_breaches",
                                (json_int_t)a->n_breaches, "n_notes",
                                (json_int_t)a->n_notes, "n_repaired",
                                (json_int_t)a->n_repaired, "checks", a->list);

        json_dumpf(all, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
        putchar('\n');
        json_decref(all);
        return;
    }
    printf("%" PRId64 " checks, %" PRId64 " breaches", a->n_checks,
           a->n_breaches);
    if (a->n_repaired > 0)
        printf(", %" PRId64 " repaired", a->n_repaired);
    if (a->n_notes > 0)
        printf(", %" PRId64 " notes", a->n_notes);
    putchar('\n');
}
