/* dialect.h - repairs the dialect of real clients (protocol §0.2) to
 * well-formed UTF-8 XML in one bounded pass.
 *
 * Opaque bodies (stderr_out, msg_from_host, time_stats_log, job_log,
 * client_opaque) are cut out and kept as bytes beside the document: the element
 * stays in it, empty, with an attribute n="K", the body's number. */
#ifndef QUORATE_DIALECT_H
#define QUORATE_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

#define DIALECT_MAX_DEPTH 32
#define DIALECT_MAX_ELEMENTS 200000

struct dialect {
    struct buf xml; /* well-formed, at most 6 × the input + 1 KiB */
    struct dialect_body {
        const char *bytes; /* into the input */
        size_t len;
    } * body;
    size_t n_bodies;
};

/* `root`: name of the document's element; what stands before it is dropped.
 * 0, or -1 and a text for the volunteer in err. */
int dialect_repair(const char *bytes, size_t n, const char *root,
                   struct dialect *ret, struct buf *err);
/* The same in one step with reading what was repaired, which is left out of
 * ret->xml: *ret_doc is the document. */
struct xml_doc;
int dialect_read(const char *bytes, size_t n, const char *root,
                 struct dialect *ret, struct xml_doc **ret_doc,
                 struct buf *err);
void dialect_free(struct dialect *);

#endif
