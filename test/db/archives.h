/* archives.h - the archives of a test's project, plain or compressed. */
#ifndef QUORATE_ARCHIVES_H
#define QUORATE_ARCHIVES_H

struct buf;

/* Append the text of all files of archives/ (or a folder in it) that begin and
 * end so, one behind the other; of a file that is not whole as much as zcat and
 * zstdcat would give.  How many files. */
int read_archives(const char *folder, const char *begin, const char *end,
                  struct buf *out);

#endif
