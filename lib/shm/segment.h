/* segment.h - the two kinds of shared-memory segment (dispatch §1.3 "Ours");
 * segment.c is the only user of shm_open.
 *
 *   NAME     fixed size, as long as the feeder lives: magic, layout version,
 *            feeder's pid and pid namespace, current generation, heartbeat,
 *            wake-up word
 *   NAME.G   one per generation G: header, catalog, slots (jobarray.h,
 *            catalog.h)
 *
 * NAME = "/quorate-" + 8 hex digits of shmem_key, or of the first 4 bytes of
 * SHA-256 of the project's real path. */
#ifndef QUORATE_SEGMENT_H
#define QUORATE_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct jobarray;
struct catalog;

#define SEGMENT_MAGIC 0x51554f52u /* "QUOR" */
#define SEGMENT_VERSION 1u
#define HEARTBEAT_LIMIT 60 /* s after which a feeder is dead */

/* The fixed segment. */
struct segment_anchor {
    uint32_t magic;
    uint32_t version;
    _Atomic int32_t feeder_pid;
    uint32_t pad;
    _Atomic uint64_t feeder_pid_namespace; /* inode of /proc/self/ns/pid */
    _Atomic uint64_t generation;           /* 0 = no jobs, maintenance */
    _Atomic uint32_t heartbeat;            /* CLOCK_MONOTONIC s */
    _Atomic uint32_t wakeup;               /* futex */
};

struct segment; /* one process's view of both */

/* Name of a project's segment, "/quorate-01234567". */
void segment_name(int64_t shmem_key, const char *project_root, char ret[32]);

/* ---- feeder ---- */
/* Become the feeder: take the lock file, adopt or create NAME.  NULL if another
 * feeder runs or memory cannot be had (logged). */
struct segment *segment_create(const char *name, const char *lock_path);

/* Begin a new generation of `size` bytes (zeroed); fill it through the pointer,
 * then publish it: stores the generation, unlinks the one before. */
void *segment_begin(struct segment *, size_t size);
int segment_publish(struct segment *);

void segment_heartbeat(struct segment *);

/* Wait until a scheduler asks for jobs, a signal, or `seconds`. */
void segment_wait(struct segment *, double seconds);

/* Clean stop: generation 0, both unlinked. */
void segment_destroy(struct segment *);

/* Unlink what a killed feeder left (bin/stop).  Harmless if there is nothing. */
void segment_unlink(const char *name);

/* ---- schedulers ---- */
enum segment_state {
    SEGMENT_OK,
    SEGMENT_ABSENT,  /* no feeder */
    SEGMENT_STALE,   /* heartbeat too old: the feeder is dead */
    SEGMENT_FOREIGN, /* another layout version */
    SEGMENT_DOWN,    /* generation 0 */
};
struct segment *segment_attach(const char *name, enum segment_state *ret);
/* At the start of each request: follow the generation.  The old mapping goes. */
enum segment_state segment_refresh(struct segment *);
void segment_wake_feeder(struct segment *);
void segment_detach(struct segment *);

/* ---- both ---- */
void *segment_data(struct segment *, size_t *ret_size); /* NAME.G */
const struct segment_anchor *segment_anchor(const struct segment *);
/* Does this process share the feeder's pid namespace?  Else it claims as 0. */
bool segment_shares_pids(const struct segment *);

#endif
