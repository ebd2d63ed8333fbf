/* mirror.h - download servers near a host, instead of the project's own URL
 * (dispatch §16). */
#ifndef QUORATE_MIRROR_H
#define QUORATE_MIRROR_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct mirrors;

/* Read the text of a file of lines "OFFSET URL", where OFFSET is the server's
 * time zone in seconds east of UTC; empty lines and those that begin with "#"
 * are skipped.  A bad line is told in err ("WHAT:3: text\n") and skipped.
 *
 * old_url: the URL that is replaced where it begins a download URL.  max: most
 * servers named for a file, 0 all.  NULL if no server is left. */
struct mirrors *mirrors_parse(const char *text, const char *what,
                              const char *old_url, size_t max, struct buf *err);
void mirrors_free(struct mirrors *);

/* Append the documents; each <url>, <download_url> or <gzipped_url> element of
 * the old URL becomes one for each server: nearest time zone first (the day is
 * round), those of equal distance in an order that differs from host to host.
 */
void mirrors_replace(const struct mirrors *, const char *documents,
                     int timezone, int64_t hostid, struct buf *out);

#endif
