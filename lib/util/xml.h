/* xml.h - the suite's only door to libxml2: strict reader with line numbers,
 * and an escaping writer.
 *
 * The reader parses a whole document (UTF-8; no DTD, no entities but the five,
 * no network, depth <= 64) and hands out nodes to walk.  The caller has bounded
 * the size. */
#ifndef QUORATE_XML_H
#define QUORATE_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct xml_doc;
struct xml_node; /* an element; lives as long as its document */

/* Parse n bytes.  `what` names the source in messages ("config.xml").  NULL and
 * "config.xml:12: text" in err if not well-formed. */
struct xml_doc *xml_parse(const char *text, size_t n, const char *what,
                          struct buf *err);
struct xml_doc *xml_parse_file(const char *path, struct buf *err);
/* A file that a project may do without: folder/name.  1 and *ret; 0: it is not
 * there; -1 and the fault in err. */
int xml_parse_if_there(const char *folder, const char *name,
                       struct xml_doc **ret, struct buf *err);
void xml_free(struct xml_doc *); /* NULL is fine */

/* A document made piece by piece, by who has read a text himself: the first
 * element opened is the root, attributes come before what is inside, texts side
 * by side are one.  Texts are UTF-8 of XML characters, no escapes; names are
 * names.  Lines are not known. */
struct xml_doc *xml_build(void);
void xml_build_open(struct xml_doc *, const char *name);
void xml_build_attr(struct xml_doc *, const char *name, const char *value,
                    size_t n);
void xml_build_text(struct xml_doc *, const char *text, size_t n);
void xml_build_close(struct xml_doc *);

/* "file:12: text\n", the line that of the element, to err. */
void xml_fault(struct buf *err, const char *file, const struct xml_node *,
               const char *fmt, ...) __attribute__((format(printf, 4, 5)));

const struct xml_node *xml_root(const struct xml_doc *);
const char *xml_name(const struct xml_node *);
int xml_line(const struct xml_node *);
const char *xml_attr(const struct xml_node *, const char *name); /* or NULL */

/* First/next child element, any name; NULL at the end. */
const struct xml_node *xml_first(const struct xml_node *parent);
const struct xml_node *xml_next(const struct xml_node *);
/* First child element of that name, or NULL.  parent may be NULL. */
const struct xml_node *xml_child(const struct xml_node *parent,
                                 const char *name);

/* Text content of the element, entities decoded, blanks at both ends removed,
 * appended to `out`.  xml_text_raw: blanks kept. */
void xml_text(const struct xml_node *, struct buf *out);
void xml_text_raw(const struct xml_node *, struct buf *out);
bool xml_is_leaf(const struct xml_node *); /* no child elements */

/* Shortcuts on a child of `parent`.  False (ret untouched) if absent or, for
 * numbers, not wholly a finite number.  xml_get_str copies into a fixed field
 * and is false too if it does not fit; xml_get_bool: <x/>, 1 = true, 0. */
bool xml_get_str(const struct xml_node *parent, const char *name, char *ret,
                 size_t size);
bool xml_get_i64(const struct xml_node *parent, const char *name, int64_t *ret);
bool xml_get_double(const struct xml_node *parent, const char *name,
                    double *ret);
bool xml_get_bool(const struct xml_node *parent, const char *name, bool *ret);

/* The node as text, tags included, no declaration, "\n" behind; one child a
 * line as protocol §2.5.5 wants it (container tags alone on their lines, leaf
 * elements on one). */
void xml_dump(const struct xml_node *, struct buf *out);

/* ---- writer ---------------------------------------------------------------
 * Appends to a buf.  Text is escaped by libxml2 (& < > " and CR); bytes that
 * are no UTF-8 or no XML characters never leave: see utf8.h.  One element a
 * line, containers alone on their lines. */
void xml_escape(struct buf *, const char *text);
void xml_open(struct buf *, const char *name);  /* "<name>\n" */
void xml_close(struct buf *, const char *name); /* "</name>\n" */
void xml_put_str(struct buf *, const char *name, const char *text);
void xml_put_i64(struct buf *, const char *name, int64_t);
void xml_put_double(struct buf *, const char *name, double); /* %f, finite */
void xml_put_empty(struct buf *, const char *name);          /* "<name/>\n" */

#endif
