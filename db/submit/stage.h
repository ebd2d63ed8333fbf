/* stage.h - input files of jobs in the download folders: NAME, NAME.md5 and,
 * if wanted, NAME.gz (protocol §4).  A file that is there never changes. */
#ifndef QUORATE_STAGE_H
#define QUORATE_STAGE_H

#include <stdbool.h>

struct buf;
struct config;
struct input_file;

struct stage_options {
    bool copy; /* leave the source where it is */
    bool gzip; /* make NAME.gz, too */
};

enum stage_answer {
    STAGE_NEW,
    STAGE_SAME, /* the same content was there already */
};

/* Bring one file in.  0 and *ret; -1 and a text in err: unreadable, a bad name,
 * another content under this name. */
int stage_put(const struct config *, const char *path,
              const struct stage_options *, enum stage_answer *ret,
              struct buf *err);

/* What a job's document says of a staged file; name must outlive *ret.  Takes
 * MD5 and size from NAME.md5 if that is newer than the file, else computes them
 * (and writes NAME.md5 if cache_md5_info is on).  A file that lies at the top
 * of the download folder is copied to its place.  0; -1 and a text in err. */
int stage_find(const struct config *, const char *name, struct input_file *ret,
               struct buf *err);

#endif
