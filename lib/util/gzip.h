/* gzip.h - a compressed copy of a file. */
#ifndef QUORATE_GZIP_H
#define QUORATE_GZIP_H

#include <sys/types.h>

/* Write `to` = gzip of `from`; all or nothing, by rename.  Its bytes depend on
 * the content alone (no name, no time).  0, or -1 with errno. */
int gzip_file(const char *from, const char *to, mode_t mode);

#endif
