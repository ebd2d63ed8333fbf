/* partfile.h - a file of the upload folder while it grows, and when it is
 * whole.
 *
 * All names are opened relative to the folder that their hash says, without
 * following links.  NAME.part is locked while a handler writes it. */
#ifndef QUORATE_PARTFILE_H
#define QUORATE_PARTFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct config;

enum part_answer {
    PART_OK,
    PART_COMPLETE, /* NAME is there, whole */
    PART_BUSY,     /* another handler writes it */
    PART_ABSENT,   /* neither NAME nor NAME.part */
    PART_FAILED,   /* logged */
};

struct partfile {
    int dir; /* folder, or -1 */
    int fd;  /* NAME.part, locked, or -1 */
    const char *name;
    char part[264];
    int64_t size; /* of what is there */
    mode_t mode;
};

/* May this name be stored?  Not one that a part of another file could have. */
bool partfile_good_name(const char *name);

/* How much is there?  PART_COMPLETE and PART_OK set size. */
enum part_answer partfile_look(const struct config *, const char *name,
                               int64_t *ret_size);

/* Open NAME.part for writing, made if it is not there, and lock it. */
enum part_answer partfile_open(struct partfile *, const struct config *,
                               const char *name);

/* Cut to `offset` bytes and go on from there.  0 or -1. */
int partfile_seek(struct partfile *, int64_t offset);

/* Append; `last`: the file is whole with these.  0 or -1 (logged). */
int partfile_append(struct partfile *, const void *bytes, size_t n, bool last);

/* MD5 of what is there.  0 or -1. */
int partfile_md5(const struct partfile *, char ret[33]);

/* It is whole: NAME.part becomes NAME.  0 or -1. */
int partfile_finish(struct partfile *, const struct config *);

void partfile_discard(struct partfile *); /* remove NAME.part */
void partfile_close(struct partfile *);

/* Bytes free for us on the volume of the upload folder; -1 unknown. */
int64_t partfile_free_space(const struct config *);

#endif
