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
struct catalog_source;

#define SEGMENT_MAGIC 0x51554f52u /* "QUOR" */
#define SEGMENT_VERSION 4u
#define HEARTBEAT_LIMIT 60 /* s after which a feeder is dead */

/* The fixed segment. */
struct segment_anchor {
    uint32_t magic;
    uint32_t version;
    _Atomic int32_t feeder_pid;
    _Atomic uint32_t changes;              /* see segment_jobs_changed() */
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
 * then publish it: stores the generation, unlinks the one before.  NULL and -1
 * if it fails (logged); the published generation is then left as it was. */
void *segment_begin(struct segment *, size_t size);
int segment_publish(struct segment *);

/* Begin a generation that holds this catalog and n_slots empty slots, each with
 * room to note so many hosts.  Not yet published.  0, or -1 (logged). */
int segment_build(struct segment *, const struct catalog_source *,
                  size_t n_slots, size_t hosts);

void segment_heartbeat(struct segment *);

/* Has somebody removed NAME (a clean-up that took us for dead)?  True: it was
 * made anew, at generation 0: publish again. */
bool segment_was_removed(struct segment *);

/* Wait until a scheduler asks for jobs (true), a signal, or `seconds`.  A call
 * that came since the last wait counts. */
bool segment_wait(struct segment *, double seconds);

/* How often segment_jobs_changed() was called. */
uint32_t segment_changes(const struct segment *);

/* Clean stop: generation 0, both unlinked. */
void segment_destroy(struct segment *);

/* Unlink what a killed feeder left (bin/stop); schedulers that still have it
 * mapped read generation 0.  Harmless if there is nothing. */
void segment_unlink(const char *name);

/* ---- schedulers ---- */
enum segment_state {
    SEGMENT_OK,
    SEGMENT_ABSENT,  /* no feeder */
    SEGMENT_STALE,   /* heartbeat too old: the feeder is dead */
    SEGMENT_FOREIGN, /* another layout version */
    SEGMENT_DOWN,    /* generation 0 */
};
/* NULL unless *ret is SEGMENT_OK. */
struct segment *segment_attach(const char *name, enum segment_state *ret);
/* The same for a tool that looks: also what a dead feeder left (SEGMENT_STALE).
 * It is mapped read-only: writing to it is a crash. */
struct segment *segment_look(const char *name, enum segment_state *ret);
/* At the start of each request: follow the generation.  The old mapping goes,
 * so pointers into it are void.  Unless SEGMENT_OK there is nothing mapped that
 * may be used; the segment stays attached and the next refresh tries again
 * (also a NAME that a new feeder made since). */
enum segment_state segment_refresh(struct segment *);
/* For the log and the volunteer's message: "no feeder", … */
const char *segment_state_text(enum segment_state);
void segment_wake_feeder(struct segment *);
/* Jobs that may lie in slots were cancelled, or have another priority: let the
 * feeder look at all of them now. */
void segment_jobs_changed(struct segment *);
void segment_detach(struct segment *);

/* ---- both ---- */
void *segment_data(struct segment *, size_t *ret_size); /* NAME.G */
/* The two parts of NAME.G, checked when it was mapped; NULL if it has none. */
const struct catalog *segment_catalog(const struct segment *);
struct jobarray *segment_jobarray(const struct segment *);
uint64_t segment_generation(const struct segment *); /* the mapped one, or 0 */
const struct segment_anchor *segment_anchor(const struct segment *);
/* Does this process share the feeder's pid namespace?  Else it claims as 0. */
bool segment_shares_pids(const struct segment *);

#endif
