/* template_source.h - the text of a template, or of a document made from one,
 * as XML nodes.  Inside lib/proto only. */
#ifndef QUORATE_TEMPLATE_SOURCE_H
#define QUORATE_TEMPLATE_SOURCE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct xml_doc;
struct xml_node;

#define TEMPLATE_MAX_BYTES (1024 * 1024)
#define DOCUMENT_MAX_BYTES 65535 /* a blob of the database */

/* What a template is, for messages. */
struct template_source {
    const char *what; /* file name */
    struct buf *err;
};

/* "FILE:line: text" in err; returns -1. */
int template_error(const struct template_source *, const struct xml_node *,
                   const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Parse a template, whose outer tag (`outer`) may be missing.  Sets *ret_root
 * to the element that holds file_info and the rest.  NULL + err. */
struct xml_doc *template_xml(const struct template_source *, const char *text,
                             size_t n, const char *outer,
                             const struct xml_node **ret_root);

/* The one child of that name: NULL + err if there is none or a second. */
const struct xml_node *template_only_child(const struct template_source *,
                                           const struct xml_node *root,
                                           const char *name);

/* A stored document (file_info…, workunit or result), in whatever form BOINC's
 * tools left it.  NULL if it cannot be read. */
struct xml_doc *document_xml(const char *text);

/* Read the whole file.  0, or -1 and a line in err. */
int template_file(const char *path, struct buf *text, struct buf *err);

#endif
