/* template_source.c - the text of a template, or of a document made from one,
 * as XML nodes. */
#include "template_source.h"

#include <errno.h>
#include <string.h>

#include "buf.h"
#include "dialect.h"
#include "file.h"
#include "xml.h"

int
template_error(const struct template_source *s, const struct xml_node *node,
               const char *fmt, ...)
{
    va_list ap;

    buf_addf(s->err, "%s:%d: ", s->what, xml_line(node));
    va_start(ap, fmt);
    buf_vaddf(s->err, fmt, ap);
    va_end(ap);
    buf_addc(s->err, '\n');
    return -1;
}

/* Templates may have several roots and an XML declaration before them: the
 * declaration becomes blanks, and a tag around all makes it one document
 * without moving a line. */
static void
wrap(const char *text, size_t n, struct buf *out)
{
    size_t lead = 0;

    while (lead < n && strchr(" \t\r\n", text[lead]) != NULL)
        lead++;
    buf_add(out, "<template>");
    buf_addn(out, text, lead);
    if (n - lead >= 5 && memcmp(text + lead, "<?xml", 5) == 0) {
        const char *end = memmem(text + lead, n - lead, "?>", 2);

        for (; end != NULL && text + lead < end + 2; lead++)
            buf_addc(out, text[lead] == '\n' ? '\n' : ' ');
    }
    buf_addn(out, text + lead, n - lead);
    buf_add(out, "</template>");
}

struct xml_doc *
template_xml(const struct template_source *s, const char *text, size_t n,
             const char *outer, const struct xml_node **ret_root)
{
    struct buf wrapped = BUF_INIT;
    struct xml_doc *doc;
    const struct xml_node *first;

    wrap(text, n, &wrapped);
    doc = xml_parse(buf_str(&wrapped), wrapped.len, s->what, s->err);
    buf_free(&wrapped);
    if (doc == NULL)
        return NULL;
    *ret_root = xml_root(doc);
    first = xml_first(*ret_root);
    if (first != NULL && strcmp(xml_name(first), outer) == 0) {
        if (xml_next(first) == NULL) {
            *ret_root = first;
            return doc;
        }
        template_error(s, xml_next(first), "nothing may follow </%s>", outer);
        xml_free(doc);
        return NULL;
    }
    return doc;
}

const struct xml_node *
template_only_child(const struct template_source *s,
                    const struct xml_node *root, const char *name)
{
    const struct xml_node *found = NULL, *node = xml_first(root);

    for (; node != NULL; node = xml_next(node)) {
        if (strcmp(xml_name(node), name) != 0)
            continue;
        if (found != NULL) {
            template_error(s, node, "a second <%s>", name);
            return NULL;
        }
        found = node;
    }
    if (found == NULL)
        template_error(s, root, "there is no <%s>", name);
    return found;
}

struct xml_doc *
document_xml(const char *text)
{
    struct buf wrapped = BUF_INIT, err = BUF_INIT;
    struct dialect d;
    struct xml_doc *doc = NULL;

    if (text == NULL)
        return NULL;
    buf_addf(&wrapped, "<document>%s</document>", text);
    if (dialect_repair(buf_str(&wrapped), wrapped.len, "document", &d, &err) ==
        0) {
        doc = xml_parse(buf_str(&d.xml), d.xml.len, "document", &err);
        dialect_free(&d);
    }
    buf_free(&wrapped);
    buf_free(&err);
    return doc;
}

int
template_file(const char *path, struct buf *text, struct buf *err)
{
    if (file_read(path, TEMPLATE_MAX_BYTES, text) == 0)
        return 0;
    buf_addf(err, "%s: %s\n", path, strerror(errno));
    return -1;
}
