/* plan_class_file.c - plan_class_spec.xml -> struct plan_class_set.
 *
 * One row declares an element: where it goes, its kind, its bounds, what else a
 * class must have for it to mean anything, and its line of the reference.  What
 * must go together is there, too (plan_class_rows.c). */
#include "plan_class_file.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "conf.h"
#include "fields.h"
#include "file.h"
#include "plan_class_rows.h"
#include "xml.h"

#define MOST_CLASSES 1000
#define MOST_BYTES (4 * 1024 * 1024)

struct reader {
    const char *what;
    struct buf *err;
    int n_faults;
    struct plan_class_spec *spec;   /* the class being read */
    int line[PLAN_CLASS_MOST_ROWS]; /* of its elements by row; 0: absent */
};

/* ---- faults ---- */

static void fault(struct reader *, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void
fault(struct reader *r, int line, const char *fmt, ...)
{
    va_list args;

    buf_addf(r->err, "%s:%d: ", r->what, line);
    va_start(args, fmt);
    buf_vaddf(r->err, fmt, args);
    va_end(args);
    buf_addc(r->err, '\n');
    r->n_faults++;
    if (r->spec != NULL)
        r->spec->faulty = true;
}

static void
fault_unknown(struct reader *r, const struct xml_node *node)
{
    struct conf_option name[PLAN_CLASS_MOST_ROWS] = {{.name = NULL}};
    const struct conf_option *nearest;

    for (size_t i = 0; i < n_plan_class_rows; i++)
        name[i].name = plan_class_rows[i].name;
    nearest = conf_nearest(name, n_plan_class_rows, xml_name(node));
    fault(r, xml_line(node), "unknown element <%s>%s%s%s", xml_name(node),
          nearest != NULL ? "; did you mean <" : "",
          nearest != NULL ? nearest->name : "", nearest != NULL ? ">?" : "");
}

/* ---- values ---- */

static void *
field(struct reader *r, const struct plan_class_row *row)
{
    return (char *)r->spec + row->offset;
}

static bool
read_number(struct reader *r, const struct plan_class_row *row,
            const struct xml_node *node, bool whole, double *ret)
{
    if (!node_number(node, ret) || (whole && *ret != floor(*ret)))
        fault(r, xml_line(node), "<%s> is no %snumber", row->name,
              whole ? "whole " : "");
    else if (*ret < row->min || *ret > row->max)
        fault(r, xml_line(node), "<%s> must be within %.15g and %.15g",
              row->name, row->min, row->max);
    else
        return true;
    return false;
}

static void
read_bool(struct reader *r, const struct plan_class_row *row,
          const struct xml_node *node, const char *text)
{
    if (strcmp(text, "") == 0 || strcmp(text, "1") == 0)
        *(bool *)field(r, row) = true;
    else if (strcmp(text, "0") == 0)
        *(bool *)field(r, row) = false;
    else
        fault(r, xml_line(node), "<%s> is \"%.40s\"; say <%s/> or 1, or 0",
              row->name, text, row->name);
}

/* Words are short and not empty. */
static bool
read_word(struct reader *r, const struct plan_class_row *row,
          const struct xml_node *node, const char *text, char *to)
{
    if (text[0] == '\0')
        fault(r, xml_line(node), "<%s> is empty", row->name);
    else if (!str_copy(to, PLAN_CLASS_WORD_SIZE, text))
        fault(r, xml_line(node), "<%s> is longer than %d bytes", row->name,
              PLAN_CLASS_WORD_SIZE - 1);
    else
        return true;
    return false;
}

static void
read_regex(struct reader *r, const struct plan_class_row *row,
           const struct xml_node *node, const char *text)
{
    struct plan_class_regex *to = field(r, row);
    char why[128];
    int rc;

    if (text[0] == '\0' || strlen(text) >= sizeof(to->text)) {
        fault(r, xml_line(node), "<%s> is %s", row->name,
              text[0] == '\0' ? "empty" : "too long");
        return;
    }
    rc = regcomp(&to->compiled, text, REG_EXTENDED | REG_NOSUB);
    if (rc != 0) {
        (void)regerror(rc, &to->compiled, why, sizeof(why));
        fault(r, xml_line(node), "<%s> is no regular expression: %s", row->name,
              why);
        return;
    }
    str_copy(to->text, sizeof(to->text), text);
}

static void
read_feature(struct reader *r, const struct plan_class_row *row,
             const struct xml_node *node, const char *text)
{
    struct plan_class_spec *spec = r->spec;
    char *to = spec->cpu_feature[spec->n_cpu_features % PLAN_CLASS_MAX_WORDS];

    if (spec->n_cpu_features == PLAN_CLASS_MAX_WORDS) {
        fault(r, xml_line(node), "more than %d <%s>", PLAN_CLASS_MAX_WORDS,
              row->name);
    } else if (strpbrk(text, " \t\n") != NULL) {
        fault(r, xml_line(node), "<%s> is more than one word", row->name);
    } else if (read_word(r, row, node, text, to)) {
        for (; *to != '\0'; to++)
            if (*to >= 'A' && *to <= 'Z')
                *to = (char)(*to - 'A' + 'a');
        spec->n_cpu_features++;
    }
}

static void
read_excluded(struct reader *r, const struct plan_class_row *row,
              const struct xml_node *node)
{
    struct plan_class_spec *spec = r->spec;
    double value;

    if (spec->n_exclude_vbox_versions == PLAN_CLASS_MAX_WORDS)
        fault(r, xml_line(node), "more than %d <%s>", PLAN_CLASS_MAX_WORDS,
              row->name);
    else if (read_number(r, row, node, true, &value))
        spec->exclude_vbox_version[spec->n_exclude_vbox_versions++] =
            (int)value;
}

static void
read_gpu_type(struct reader *r, const struct plan_class_row *row,
              const struct xml_node *node, const char *text)
{
    struct plan_class_spec *spec = r->spec;
    int type = proc_type_by_name(text);

    if (type == PROC_CPU) {
        fault(r, xml_line(node), "<%s> is a type of GPU, not \"%.40s\"",
              row->name, text);
    } else if (type > PROC_CPU) {
        spec->uses = PLAN_CLASS_GPU;
        spec->gpu_type = (enum proc_type)type;
    } else if (read_word(r, row, node, text, spec->gpu_other)) {
        spec->uses = PLAN_CLASS_OTHER;
    }
}

static void
read_value(struct reader *r, const struct plan_class_row *row,
           const struct xml_node *node, const char *text)
{
    double value;

    switch (row->kind) {
    case ROW_BOOL:
        read_bool(r, row, node, text);
        break;
    case ROW_INT:
        if (read_number(r, row, node, true, &value))
            *(int *)field(r, row) = (int)value;
        break;
    case ROW_I64:
        if (read_number(r, row, node, true, &value))
            *(int64_t *)field(r, row) = (int64_t)value;
        break;
    case ROW_REAL:
        if (read_number(r, row, node, false, &value))
            *(double *)field(r, row) = value;
        break;
    case ROW_WORD:
        read_word(r, row, node, text, field(r, row));
        break;
    case ROW_REGEX:
        read_regex(r, row, node, text);
        break;
    case ROW_FEATURE:
        read_feature(r, row, node, text);
        break;
    case ROW_EXCLUDED:
        read_excluded(r, row, node);
        break;
    case ROW_GPU_TYPE:
        read_gpu_type(r, row, node, text);
        break;
    }
}

/* ---- one class ---- */

static bool
may_repeat(const struct plan_class_row *row)
{
    return row->kind == ROW_FEATURE || row->kind == ROW_EXCLUDED;
}

static void
read_element(struct reader *r, const struct xml_node *node)
{
    struct buf text = BUF_INIT;
    size_t i = plan_class_row_named(xml_name(node));

    if (i == n_plan_class_rows) {
        fault_unknown(r, node);
    } else if (!xml_is_leaf(node)) {
        fault(r, xml_line(node), "<%s> holds other elements: is </%s> missing?",
              xml_name(node), xml_name(node));
    } else if (r->line[i] != 0 && !may_repeat(&plan_class_rows[i])) {
        fault(r, xml_line(node), "<%s> is there already, in line %d",
              xml_name(node), r->line[i]);
    } else {
        r->line[i] = xml_line(node);
        xml_text(node, &text);
        read_value(r, &plan_class_rows[i], node, buf_str(&text));
        buf_free(&text);
    }
}

static void
check_elements(struct reader *r, int line_of_class)
{
    struct plan_class_clash clash;
    int at = 0;

    if (r->line[plan_class_row_named("name")] == 0)
        fault(r, line_of_class, "a class without <name>");
    while (plan_class_next_clash(r->spec, r->line, &at, &clash))
        fault(r, clash.line, "%s", clash.text);
    if (r->spec->gpu_type_regex.text[0] != '\0' &&
        r->spec->uses == PLAN_CLASS_CPU)
        r->spec->uses = PLAN_CLASS_OTHER;
}

static void
read_class(struct reader *r, const struct xml_node *node)
{
    const struct xml_node *child = xml_first(node);

    memset(r->line, 0, sizeof(r->line));
    *r->spec = (struct plan_class_spec){PLAN_CLASS_DEFAULTS};
    r->spec->line = xml_line(node);
    for (; child != NULL; child = xml_next(child))
        read_element(r, child);
    check_elements(r, xml_line(node));
}

/* ---- the file ---- */

static bool
is_new_name(const struct plan_class_set *set, const char *name, int *ret_line)
{
    for (size_t i = 0; i < set->n; i++)
        if (strcmp(set->spec[i].name, name) == 0) {
            *ret_line = set->spec[i].line;
            return false;
        }
    return true;
}

/* The first class of a name counts. */
static void
add_class(struct reader *r, struct plan_class_set *set,
          const struct xml_node *node)
{
    int line;

    if (set->n == MOST_CLASSES) {
        fault(r, xml_line(node), "more than %d classes", MOST_CLASSES);
        return;
    }
    set->spec =
        xrealloc(set->spec, (set->n + 1) * sizeof(struct plan_class_spec));
    r->spec = &set->spec[set->n];
    read_class(r, node);
    if (r->spec->name[0] != '\0' && !is_new_name(set, r->spec->name, &line))
        fault(r, xml_line(node), "class %s is there already, in line %d",
              r->spec->name, line);
    set->n++;
    r->spec = NULL;
}

static void
read_classes(struct reader *r, struct plan_class_set *set,
             const struct xml_node *root)
{
    const struct xml_node *node = xml_first(root);

    if (strcmp(xml_name(root), "plan_classes") != 0) {
        fault(r, xml_line(root),
              "the document must be <plan_classes>, not "
              "<%s>",
              xml_name(root));
        return;
    }
    for (; node != NULL; node = xml_next(node))
        if (strcmp(xml_name(node), "plan_class") == 0)
            add_class(r, set, node);
        else
            fault(r, xml_line(node),
                  "unknown element <%s>; only <plan_class> stands here",
                  xml_name(node));
}

int
plan_class_file_parse(const char *text, size_t n, const char *what,
                      struct plan_class_set *ret, struct buf *err)
{
    struct reader r = {.what = what, .err = err};
    struct xml_doc *doc = xml_parse(text, n, what, err);

    *ret = (struct plan_class_set){.from_file = true};
    if (doc == NULL) {
        buf_add(err, "; no plan class can be used\n");
        return -1;
    }
    read_classes(&r, ret, xml_root(doc));
    xml_free(doc);
    return r.n_faults == 0 ? 0 : -1;
}

int
plan_class_file_load(const char *project_root, struct plan_class_set *ret,
                     struct buf *err)
{
    struct buf path = BUF_INIT, text = BUF_INIT;
    int rc = 0;

    *ret = (struct plan_class_set){.from_file = true};
    buf_addf(&path, "%s/" PLAN_CLASS_FILE, project_root);
    if (file_read(buf_str(&path), MOST_BYTES, &text) == 0) {
        rc = plan_class_file_parse(buf_str(&text), text.len, PLAN_CLASS_FILE,
                                   ret, err);
    } else if (errno == ENOENT) {
        ret->from_file = false;
    } else {
        buf_addf(err, "%s: %s; no plan class can be used\n", buf_str(&path),
                 strerror(errno));
        rc = -1;
    }
    buf_free(&path);
    buf_free(&text);
    return rc;
}

void
plan_class_set_free(struct plan_class_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        struct plan_class_regex *regex[] = {
            &set->spec[i].os_regex,        &set->spec[i].cpu_vendor_regex,
            &set->spec[i].cpu_model_regex, &set->spec[i].project_prefs_regex,
            &set->spec[i].gpu_type_regex,
        };

        for (size_t k = 0; k < ARRAY_LEN(regex); k++)
            if (regex[k]->text[0] != '\0')
                regfree(&regex[k]->compiled);
    }
    free(set->spec);
    *set = (struct plan_class_set){.from_file = false};
}

void
plan_class_file_reference(struct buf *out)
{
    for (size_t i = 0; i < n_plan_class_rows; i++) {
        const struct plan_class_row *row = &plan_class_rows[i];

        buf_addf(out, "%-28s %s", row->name, row->help);
        if (row->deflt != NULL)
            buf_addf(out, " (default: %s)", row->deflt);
        if (row->needs != NULL)
            buf_addf(out, " [with %s]", row->needs);
        buf_addc(out, '\n');
    }
}
