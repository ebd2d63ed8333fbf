/* segment_private.h - what the two halves of the segment code share: segment.c
 * (files of shared memory, their checks, the schedulers' side) and
 * segment_feeder.c. */
#ifndef QUORATE_SEGMENT_PRIVATE_H
#define QUORATE_SEGMENT_PRIVATE_H

#include <sys/stat.h>

#include "segment.h"

#define NAME_BYTES 32

/* First bytes of NAME.G.  Offsets count from here; a part of size 0 is not
 * there. */
struct generation_header {
    uint32_t magic;
    uint32_t version;
    uint64_t generation;
    uint64_t size; /* of all, this header included */
    uint64_t catalog_offset, catalog_size;
    uint64_t jobs_offset, jobs_size;
    uint64_t pad;
};

_Static_assert(sizeof(struct generation_header) == 64, "header is one line");
_Static_assert(sizeof(struct segment_anchor) == 40, "a change is a version");

struct mapping {
    void *base; /* NULL: none */
    size_t size;
    struct stat st;
};

struct segment {
    char name[NAME_BYTES];
    struct mapping anchor_map;
    struct segment_anchor *anchor; /* = anchor_map.base */
    struct mapping current;        /* NAME.G that is in use */
    uint64_t generation;           /* its G, 0: none */
    const struct catalog *catalog; /* parts of it */
    struct jobarray *jobs;
    uint64_t my_namespace;
    bool looking; /* map what a dead feeder left, too */

    /* the feeder's */
    int lock_fd; /* -1: not a feeder */
    gid_t group;
    struct mapping next; /* begun, not published */
    uint64_t next_generation;
    uint32_t wakeup_seen;
};

struct buf;

/* A process's view of `name`, nothing mapped yet. */
struct segment *segment_new(const char *name);

/* "NAME.G" in a buffer of the caller's. */
const char *segment_generation_name(const char *name, uint64_t generation,
                                    struct buf *);
/* Absent is fine; other failures are logged. */
void segment_unlink_generation(const char *name, uint64_t generation);
bool segment_unlink_file(const char *name); /* true: there was one */

/* Make a segment of `size` zero bytes, mode 0660 and of this group.  0, or -1
 * (logged), nothing left. */
int segment_map_new(const char *name, size_t size, gid_t group,
                    struct mapping *ret);
void segment_unmap(struct mapping *);
/* Is NAME still the file that is mapped here? */
bool segment_file_is(const char *name, const struct mapping *);

/* Map NAME and check it; *ret is set if SEGMENT_OK. */
enum segment_state segment_open_anchor(const char *name, bool read_only,
                                       struct mapping *ret);
void segment_use_anchor(struct segment *, const struct mapping *);

/* Set s->catalog and s->jobs to the parts of a mapped generation, if all of it
 * is as it must be. */
bool segment_find_parts(struct segment *, const struct mapping *,
                        uint64_t generation);

#endif
