/* archive_pack.h - archives are compressed piece by piece.
 *
 * Each batch becomes a member (gzip) or frame (zstd) of its own.  Pieces one
 * behind the other are a valid file for zcat and zstdcat; and a file that was
 * cut anywhere can be read up to the end of its last whole piece. */
#ifndef QUORATE_ARCHIVE_PACK_H
#define QUORATE_ARCHIVE_PACK_H

#include <stddef.h>
#include <sys/types.h>

struct buf;

enum archive_format { ARCHIVE_AS_TEXT, ARCHIVE_GZIP, ARCHIVE_ZSTD };

/* "", ".gz", ".zst" */
const char *archive_suffix(enum archive_format);

/* The format that a file of this name has, without ".tmp". */
enum archive_format archive_format_of(const char *name);

struct archive_pack;

struct archive_pack *archive_pack_new(enum archive_format);
void archive_pack_free(struct archive_pack *);

/* Append n bytes to the piece, and what is ready of it to out. */
void archive_pack_add(struct archive_pack *, const void *, size_t n,
                      struct buf *out);

/* End the piece, if one was begun: all of it is in out then. */
void archive_pack_end(struct archive_pack *, struct buf *out);

/* Forget the piece that was begun. */
void archive_pack_drop(struct archive_pack *);

/* Where the last whole piece of a compressed file ends, not counted a piece
 * that holds `tail` alone; 0: there is none; -1 (logged, with the path). */
off_t archive_pack_whole(enum archive_format, int fd, const char *path,
                         const char *tail);

#endif
