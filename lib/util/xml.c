/* xml.c - the suite's only door to libxml2: strict reader, escaping writer.
 *
 * A document type is refused the moment the parser meets it, so no entity is
 * ever declared, and none expanded.  struct xml_node is libxml2's node under
 * another name: handed out, never looked into elsewhere.  A document that is
 * built has its nodes side by side in a few blocks, for there may be one for
 * each request. */
#include "xml.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>

#include "buf.h"
#include "file.h"
#include "utf8.h"

enum {
    DEPTH_MAX = 64,
    BLOCK_SIZE = 32 * 1024,
    NUMBER_MAX = 400, /* letters of a number: "%f" of 1e308 has 316 */
    FILE_MAX = 64 * 1024 * 1024,
};

struct block {
    struct block *next;
    max_align_t bytes[];
};

struct xml_doc {
    xmlDoc *doc; /* parsed, or … */
    xmlNode *root;
    struct block *blocks; /* … built */
    char *room;
    size_t left;
    xmlNode *open;   /* the element that is being filled */
    struct buf text; /* … what stands in it behind its last child */
};

/* ---- reader -------------------------------------------------------------- */

static const xmlNode *
node_of(const struct xml_node *node)
{
    return (const xmlNode *)node;
}

/* The first element at or after `node`. */
static const struct xml_node *
element_from(const xmlNode *node)
{
    while (node != NULL && node->type != XML_ELEMENT_NODE)
        node = node->next;
    return (const struct xml_node *)node;
}

/* What a parser found wrong.  Of several errors the first counts: the others
 * follow from it (an end tag missing makes all later ones the wrong ones). */
struct complaint {
    bool doctype;
    int line; /* of the first error, 0: none */
    char text[256];
};

#if LIBXML_VERSION >= 21200
#define ERROR_ARG const xmlError *
#else
#define ERROR_ARG xmlError *
#endif

static void
remember_first(void *ctx, ERROR_ARG e)
{
    xmlParserCtxt *parser = ctx;
    struct complaint *to = parser->_private;

    if (to->line != 0 || e->level < XML_ERR_ERROR)
        return;
    to->line = e->line > 0 ? e->line : 1;
    str_copy(to->text, sizeof(to->text),
             e->message != NULL ? e->message : "no XML");
}

static void
refuse_doctype(void *ctx, const xmlChar *name, const xmlChar *external,
               const xmlChar *system)
{
    xmlParserCtxt *parser = ctx;

    (void)name;
    (void)external;
    (void)system;
    ((struct complaint *)parser->_private)->doctype = true;
    xmlStopParser(parser);
}

static void
explain(const xmlParserCtxt *parser, const char *what, struct buf *err)
{
    const struct complaint *c = parser->_private;

    if (c->doctype)
        buf_addf(err, "%s:%d: a document type (DOCTYPE) is not allowed", what,
                 parser->input != NULL ? parser->input->line : 1);
    else
        buf_addf(err, "%s:%d: %.*s", what, c->line != 0 ? c->line : 1,
                 (int)strcspn(c->text, "\n"),
                 c->line != 0 ? c->text : "no XML");
}

/* The first element deeper than DEPTH_MAX, or NULL.  Walks without recursion.
 */
static const xmlNode *
too_deep(const xmlNode *root)
{
    const xmlNode *node = root;
    int depth = 1;

    while (node != NULL) {
        if (node->type == XML_ELEMENT_NODE && node->children != NULL) {
            node = node->children;
            depth++;
        } else {
            while (node != root && node->next == NULL) {
                node = node->parent;
                depth--;
            }
            if (node == root)
                return NULL;
            node = node->next;
        }
        if (depth > DEPTH_MAX && node->type == XML_ELEMENT_NODE)
            return node;
    }
    return NULL;
}

static bool
is_shallow(const xmlDoc *doc, const char *what, struct buf *err)
{
    const xmlNode *node = too_deep(xmlDocGetRootElement(doc));

    if (node == NULL)
        return true;
    buf_addf(err, "%s:%ld: elements nested deeper than %d", what,
             xmlGetLineNo(node), DEPTH_MAX);
    return false;
}

static xmlDoc *
read_tree(const char *text, size_t n, const char *what, struct buf *err)
{
    struct complaint complaint = {.doctype = false};
    xmlParserCtxt *parser = xmlNewParserCtxt();
    xmlDoc *doc;

    if (parser == NULL || n > INT_MAX) {
        xmlFreeParserCtxt(parser);
        buf_addf(err, "%s:1: too large", what);
        return NULL;
    }
    parser->_private = &complaint;
    parser->sax->internalSubset = refuse_doctype;
    parser->sax->serror = remember_first;
    doc = xmlCtxtReadMemory(parser, text, (int)n, NULL, "UTF-8",
                            XML_PARSE_NONET | XML_PARSE_NOERROR |
                                XML_PARSE_NOWARNING | XML_PARSE_BIG_LINES);
    if (doc == NULL || complaint.doctype) {
        explain(parser, what, err);
        xmlFreeDoc(doc);
        doc = NULL;
    }
    xmlFreeParserCtxt(parser);
    return doc;
}

struct xml_doc *
xml_parse(const char *text, size_t n, const char *what, struct buf *err)
{
    xmlDoc *doc = read_tree(text, n, what, err);
    struct xml_doc *ret;

    if (doc != NULL && !is_shallow(doc, what, err)) {
        xmlFreeDoc(doc);
        doc = NULL;
    }
    if (doc == NULL)
        return NULL;
    ret = xcalloc(1, sizeof(*ret));
    ret->doc = doc;
    ret->root = xmlDocGetRootElement(doc);
    return ret;
}

struct xml_doc *
xml_parse_file(const char *path, struct buf *err)
{
    struct buf text = BUF_INIT;
    const char *slash = strrchr(path, '/');
    struct xml_doc *doc = NULL;

    if (file_read(path, FILE_MAX, &text) != 0)
        buf_addf(err, "%s: %s", path, strerror(errno));
    else
        doc = xml_parse(buf_str(&text), text.len,
                        slash != NULL ? slash + 1 : path, err);
    buf_free(&text);
    return doc;
}

int
xml_parse_if_there(const char *folder, const char *name, struct xml_doc **ret,
                   struct buf *err)
{
    struct buf path = BUF_INIT;
    int rc = 0;

    *ret = NULL;
    buf_addf(&path, "%s/%s", folder, name);
    if (file_exists(buf_str(&path))) {
        *ret = xml_parse_file(buf_str(&path), err);
        rc = *ret != NULL ? 1 : -1;
    }
    buf_free(&path);
    return rc;
}

void
xml_free(struct xml_doc *doc)
{
    if (doc == NULL)
        return;
    if (doc->doc != NULL)
        xmlFreeDoc(doc->doc);
    while (doc->blocks != NULL) {
        struct block *next = doc->blocks->next;

        free(doc->blocks);
        doc->blocks = next;
    }
    buf_free(&doc->text);
    free(doc);
}

/* ---- built documents ----------------------------------------------------- */

/* n bytes of zeros, aligned for a node; they live as long as the document. */
static void *
take(struct xml_doc *doc, size_t n)
{
    const size_t align = sizeof(max_align_t);
    void *ret;

    n = (n + align - 1) / align * align;
    if (n > doc->left) {
        size_t size = n > BLOCK_SIZE ? n : BLOCK_SIZE;
        struct block *block = xcalloc(1, sizeof(*block) + size);

        block->next = doc->blocks;
        doc->blocks = block;
        doc->room = (char *)block->bytes;
        doc->left = size;
    }
    ret = doc->room;
    doc->room += n;
    doc->left -= n;
    return ret;
}

static xmlChar *
take_text(struct xml_doc *doc, const char *text, size_t n)
{
    xmlChar *ret = take(doc, n + 1);

    if (n > 0)
        memcpy(ret, text, n);
    return ret;
}

static xmlNode *
add_node(struct xml_doc *doc, xmlElementType type)
{
    xmlNode *node = take(doc, sizeof(*node)), *parent = doc->open;

    node->type = type;
    node->parent = parent;
    if (parent == NULL)
        return node;
    node->prev = parent->last;
    if (parent->last != NULL)
        parent->last->next = node;
    else
        parent->children = node;
    parent->last = node;
    return node;
}

static void
end_text(struct xml_doc *doc)
{
    if (doc->text.len == 0)
        return;
    add_node(doc, XML_TEXT_NODE)->content =
        take_text(doc, buf_str(&doc->text), doc->text.len);
    buf_reset(&doc->text);
}

struct xml_doc *
xml_build(void)
{
    return xcalloc(1, sizeof(struct xml_doc));
}

void
xml_build_open(struct xml_doc *doc, const char *name)
{
    xmlNode *node;

    end_text(doc);
    node = add_node(doc, XML_ELEMENT_NODE);
    node->name = take_text(doc, name, strlen(name));
    if (doc->root == NULL)
        doc->root = node;
    doc->open = node;
}

void
xml_build_attr(struct xml_doc *doc, const char *name, const char *value,
               size_t n)
{
    xmlAttr *attr = take(doc, sizeof(*attr)), **end = &doc->open->properties;

    attr->type = XML_ATTRIBUTE_NODE;
    attr->parent = doc->open;
    attr->name = take_text(doc, name, strlen(name));
    if (n > 0) {
        attr->children = take(doc, sizeof(*attr->children));
        attr->children->type = XML_TEXT_NODE;
        attr->children->content = take_text(doc, value, n);
    }
    while (*end != NULL)
        end = &(*end)->next;
    *end = attr;
}

void
xml_build_text(struct xml_doc *doc, const char *text, size_t n)
{
    buf_addn(&doc->text, text, n);
}

void
xml_build_close(struct xml_doc *doc)
{
    end_text(doc);
    doc->open = doc->open->parent;
}

void
xml_fault(struct buf *err, const char *file, const struct xml_node *node,
          const char *fmt, ...)
{
    va_list ap;

    buf_addf(err, "%s:%d: ", file, xml_line(node));
    va_start(ap, fmt);
    buf_vaddf(err, fmt, ap);
    va_end(ap);
    buf_addc(err, '\n');
}

const struct xml_node *
xml_root(const struct xml_doc *doc)
{
    return (const struct xml_node *)doc->root;
}

const char *
xml_name(const struct xml_node *node)
{
    return (const char *)node_of(node)->name;
}

int
xml_line(const struct xml_node *node)
{
    return (int)xmlGetLineNo(node_of(node));
}

const char *
xml_attr(const struct xml_node *node, const char *name)
{
    for (const xmlAttr *a = node_of(node)->properties; a != NULL; a = a->next)
        if (strcmp((const char *)a->name, name) == 0)
            return a->children != NULL ? (const char *)a->children->content
                                       : "";
    return NULL;
}

const struct xml_node *
xml_first(const struct xml_node *parent)
{
    return element_from(node_of(parent)->children);
}

const struct xml_node *
xml_next(const struct xml_node *node)
{
    return element_from(node_of(node)->next);
}

const struct xml_node *
xml_child(const struct xml_node *parent, const char *name)
{
    if (parent == NULL)
        return NULL;
    for (const struct xml_node *n = xml_first(parent); n != NULL;
         n = xml_next(n))
        if (strcmp(xml_name(n), name) == 0)
            return n;
    return NULL;
}

bool
xml_is_leaf(const struct xml_node *node)
{
    return xml_first(node) == NULL;
}

void
xml_text_raw(const struct xml_node *node, struct buf *out)
{
    for (const xmlNode *n = node_of(node)->children; n != NULL; n = n->next)
        if ((n->type == XML_TEXT_NODE || n->type == XML_CDATA_SECTION_NODE) &&
            n->content != NULL)
            buf_add(out, (const char *)n->content);
}

/* Remove the blanks at both ends of what lies behind `start`. */
static void
trim(struct buf *b, size_t start)
{
    size_t skip = strspn(buf_str(b) + start, " \t\r\n");

    while (b->len > start + skip && strchr(" \t\r\n", b->data[b->len - 1]))
        buf_truncate(b, b->len - 1);
    if (skip > 0) {
        memmove(b->data + start, b->data + start + skip, b->len - start - skip);
        buf_truncate(b, b->len - skip);
    }
}

void
xml_text(const struct xml_node *node, struct buf *out)
{
    size_t start = out->len;

    xml_text_raw(node, out);
    if (out->len > start)
        trim(out, start);
}

bool
xml_get_str(const struct xml_node *parent, const char *name, char *ret,
            size_t size)
{
    const struct xml_node *node = xml_child(parent, name);
    struct buf text = BUF_INIT;
    bool fits;

    if (node == NULL)
        return false;
    xml_text(node, &text);
    fits = text.len < size;
    if (fits)
        (void)str_copy(ret, size, buf_str(&text));
    buf_free(&text);
    return fits;
}

bool
xml_get_i64(const struct xml_node *parent, const char *name, int64_t *ret)
{
    char text[NUMBER_MAX];
    char *end;
    long long value;

    if (!xml_get_str(parent, name, text, sizeof(text)))
        return false;
    errno = 0;
    value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0)
        return false;
    *ret = value;
    return true;
}

bool
xml_get_double(const struct xml_node *parent, const char *name, double *ret)
{
    char text[NUMBER_MAX];
    char *end;
    double value;

    if (!xml_get_str(parent, name, text, sizeof(text)))
        return false;
    value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value))
        return false;
    *ret = value;
    return true;
}

bool
xml_get_bool(const struct xml_node *parent, const char *name, bool *ret)
{
    char text[8];

    if (!xml_get_str(parent, name, text, sizeof(text)))
        return false;
    if (strcmp(text, "") != 0 && strcmp(text, "1") != 0 &&
        strcmp(text, "0") != 0)
        return false;
    *ret = text[0] != '0';
    return true;
}

/* ---- writer -------------------------------------------------------------- */

/* `text` is valid UTF-8 of XML characters. */
static void
escape_clean(struct buf *out, const char *text)
{
    xmlChar *escaped = xmlEncodeSpecialChars(NULL, (const xmlChar *)text);

    if (escaped != NULL)
        buf_add(out, (const char *)escaped);
    xmlFree(escaped);
}

/* Text that stands for itself: nearly all there is.  How long? */
static size_t
plain_run(const char *text)
{
    size_t n = 0;

    while ((text[n] >= ' ' && text[n] <= '~' && text[n] != '&' &&
            text[n] != '<' && text[n] != '>' && text[n] != '"') ||
           text[n] == '\n' || text[n] == '\t')
        n++;
    return n;
}

void
xml_escape(struct buf *out, const char *text)
{
    struct buf clean = BUF_INIT;
    size_t plain = plain_run(text);

    buf_addn(out, text, plain);
    text += plain;
    if (*text == '\0')
        return;
    utf8_repair(text, strlen(text), &clean);
    escape_clean(out, buf_str(&clean));
    buf_free(&clean);
}

static void
put_tag(struct buf *out, const char *before, const char *name,
        const char *after)
{
    buf_add(out, before);
    buf_add(out, name);
    buf_add(out, after);
}

void
xml_open(struct buf *out, const char *name)
{
    put_tag(out, "<", name, ">\n");
}

void
xml_close(struct buf *out, const char *name)
{
    put_tag(out, "</", name, ">\n");
}

void
xml_put_str(struct buf *out, const char *name, const char *text)
{
    put_tag(out, "<", name, ">");
    xml_escape(out, text);
    xml_close(out, name);
}

void
xml_put_i64(struct buf *out, const char *name, int64_t value)
{
    buf_addf(out, "<%s>%" PRId64 "</%s>\n", name, value, name);
}

void
xml_put_double(struct buf *out, const char *name, double value)
{
    buf_addf(out, "<%s>%f</%s>\n", name, isfinite(value) ? value : 0.0, name);
}

void
xml_put_empty(struct buf *out, const char *name)
{
    put_tag(out, "<", name, "/>\n");
}

/* ---- dump ---------------------------------------------------------------- */

static void
dump_start(const xmlNode *node, struct buf *out)
{
    buf_addf(out, "<%s", (const char *)node->name);
    for (const xmlAttr *a = node->properties; a != NULL; a = a->next) {
        buf_addf(out, " %s=\"", (const char *)a->name);
        if (a->children != NULL)
            escape_clean(out, (const char *)a->children->content);
        buf_addc(out, '"');
    }
}

/* A text of several lines (a key, a signature) stands on lines of its own. */
static void
dump_leaf(const struct xml_node *node, struct buf *out)
{
    struct buf text = BUF_INIT;
    const char *edge;

    dump_start(node_of(node), out);
    xml_text(node, &text);
    edge = strchr(buf_str(&text), '\n') != NULL ? "\n" : "";
    if (text.len == 0) {
        buf_add(out, "/>\n");
    } else {
        buf_addf(out, ">%s", edge);
        escape_clean(out, buf_str(&text));
        buf_addf(out, "%s</%s>\n", edge, xml_name(node));
    }
    buf_free(&text);
}

/* Text between the elements of a container: kept, on a line of its own. */
static void
dump_text(const xmlNode *node, struct buf *out)
{
    struct buf text = BUF_INIT;

    buf_add(&text, (const char *)node->content);
    trim(&text, 0);
    if (text.len > 0) {
        escape_clean(out, buf_str(&text));
        buf_addc(out, '\n');
    }
    buf_free(&text);
}

/* Recursion is bounded by DEPTH_MAX. */
void
xml_dump(const struct xml_node *node, struct buf *out)
{
    if (xml_is_leaf(node)) {
        dump_leaf(node, out);
        return;
    }
    dump_start(node_of(node), out);
    buf_add(out, ">\n");
    for (const xmlNode *n = node_of(node)->children; n != NULL; n = n->next) {
        if (n->type == XML_ELEMENT_NODE)
            xml_dump((const struct xml_node *)n, out);
        else if (n->type == XML_TEXT_NODE || n->type == XML_CDATA_SECTION_NODE)
            dump_text(n, out);
    }
    xml_close(out, xml_name(node));
}
