/* outdoc.h - the documents of new results: output templates, read once and
 * again when they change, and the key that signs upload certificates. */
#ifndef QUORATE_OUTDOC_H
#define QUORATE_OUTDOC_H

#include <stdint.h>

struct buf;
struct config;
struct outdoc;

/* Reads the key unless the project makes no certificates.  NULL: logged. */
struct outdoc *outdoc_open(const struct config *);

/* Append the document of a result made from this template (path below the
 * project's root).  0, or -1 and a text in err. */
int outdoc_make(struct outdoc *, const char *template_file,
                const char *result_name, uint32_t random, struct buf *out,
                struct buf *err);

void outdoc_close(struct outdoc *);

#endif
