/* hr_table.c - read the project's own classes of hosts (hr_table.h).
 *
 *   <hr_classes>
 *     <class>
 *       <id>1001</id>
 *       <os>Linux</os>
 *       <vendor>AuthenticAMD</vendor>
 *       <platform>x86_64</platform>
 *       <feature>avx2</feature>
 *     </class>
 *   </hr_classes>
 *
 * Strict: a misspelt element would put hosts into a class that are not equal,
 * and nobody would see it. */
#include "hr_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "xml.h"

#define FILE_NAME "hr_classes.xml"

struct reader {
    struct hr_table *table;
    struct buf *err;
};

static void
read_text(struct reader *r, const struct xml_node *node, char *ret, size_t size)
{
    struct buf text = BUF_INIT;

    xml_text(node, &text);
    if (!xml_is_leaf(node) || text.len == 0 || text.len >= size)
        xml_fault(r->err, FILE_NAME, node,
                  "<%s>: 1 to %zu characters are wanted", xml_name(node),
                  size - 1);
    else if (ret[0] != '\0')
        xml_fault(r->err, FILE_NAME, node, "<%s> is there twice",
                  xml_name(node));
    else
        memcpy(ret, text.data, text.len + 1);
    buf_free(&text);
}

static void
read_feature(struct reader *r, const struct xml_node *node,
             struct hr_class_rule *ret)
{
    if (ret->n_features == HR_MAX_FEATURES) {
        xml_fault(r->err, FILE_NAME, node, "more than %d features",
                  HR_MAX_FEATURES);
        return;
    }
    read_text(r, node, ret->feature[ret->n_features],
              sizeof(ret->feature[ret->n_features]));
    if (strpbrk(ret->feature[ret->n_features], " \t\n") != NULL)
        xml_fault(r->err, FILE_NAME, node, "<feature>: one word each");
    ret->n_features++;
}

static void
read_element(struct reader *r, const struct xml_node *node,
             struct hr_class_rule *ret)
{
    const char *name = xml_name(node);

    if (strcmp(name, "id") == 0)
        return; /* read by its parent */
    if (strcmp(name, "os") == 0)
        read_text(r, node, ret->os, sizeof(ret->os));
    else if (strcmp(name, "vendor") == 0)
        read_text(r, node, ret->vendor, sizeof(ret->vendor));
    else if (strcmp(name, "model") == 0)
        read_text(r, node, ret->model, sizeof(ret->model));
    else if (strcmp(name, "platform") == 0)
        read_text(r, node, ret->platform, sizeof(ret->platform));
    else if (strcmp(name, "feature") == 0)
        read_feature(r, node, ret);
    else
        xml_fault(r->err, FILE_NAME, node, "unknown element <%s>", name);
}

static void
read_class(struct reader *r, const struct xml_node *node,
           struct hr_class_rule *ret)
{
    int64_t id = 0;

    *ret = (struct hr_class_rule){0};
    if (!xml_get_i64(node, "id", &id) || id < HR_TABLE_LEAST_ID ||
        id > HR_TABLE_MOST_ID) {
        xml_fault(r->err, FILE_NAME, node,
                  "a class needs an <id> from %d to %d", HR_TABLE_LEAST_ID,
                  HR_TABLE_MOST_ID);
        id = 0;
    }
    ret->id = (int)id;
    for (const struct xml_node *n = xml_first(node); n != NULL; n = xml_next(n))
        read_element(r, n, ret);
    if (ret->os[0] == '\0')
        xml_fault(r->err, FILE_NAME, node, "a class needs an <os>");
}

/* Several rules of one class are fine: two names of one kind of processor. */
static void
read_classes(struct reader *r, const struct xml_node *root)
{
    struct hr_table *t = r->table;

    if (strcmp(xml_name(root), "hr_classes") != 0) {
        xml_fault(r->err, FILE_NAME, root, "<hr_classes> is wanted, not <%s>",
                  xml_name(root));
        return;
    }
    for (const struct xml_node *n = xml_first(root); n != NULL;
         n = xml_next(n)) {
        if (strcmp(xml_name(n), "class") != 0) {
            xml_fault(r->err, FILE_NAME, n,
                      "unknown element <%s>; only <class> here", xml_name(n));
            continue;
        }
        if (t->n == HR_TABLE_CLASSES) {
            xml_fault(r->err, FILE_NAME, n, "more than %d classes",
                      HR_TABLE_CLASSES);
            return;
        }
        t->rule = xrealloc(t->rule, (t->n + 1) * sizeof(*t->rule));
        read_class(r, n, &t->rule[t->n++]);
    }
}

int
hr_table_load(const char *root, struct hr_table *ret, struct buf *err)
{
    struct reader r = {.table = ret, .err = err};
    size_t before = err->len;
    struct xml_doc *doc;
    int rc;

    *ret = (struct hr_table){0};
    rc = xml_parse_if_there(root, FILE_NAME, &doc, err);
    if (rc > 0)
        read_classes(&r, xml_root(doc));
    xml_free(doc);
    if (rc >= 0 && err->len == before)
        return 0;
    hr_table_free(ret);
    return -1;
}

void
hr_table_free(struct hr_table *t)
{
    free(t->rule);
    *t = (struct hr_table){0};
}
