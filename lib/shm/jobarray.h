/* jobarray.h - results ready to send, shared by the feeder and the schedulers.
 *
 *   EMPTY --feeder fills--> READY --scheduler claims--> CLAIMED
 *     ^                       ^-------- gives back --------|
 *     '---- sent, not needed, owner dead, lease over ------'
 *
 * 1. Each arrow is one compare-and-swap on slot.word; nobody waits for a lock.
 * 2. Only the feeder writes slot.job and slot.result_id, and only while the
 *    slot is EMPTY.
 * 3. A scheduler copies slot.job in a slot that it has claimed, and uses the
 *    copy only if the word is still its claim (a lease may have run out); or in
 *    a READY slot, to judge it, if the word has not changed meanwhile.
 * 4. A claim is a hint.  The promise is the database's: the result is ours when
 *    UPDATE … WHERE server_state = UNSENT has changed one row.
 * 5. If the heartbeat is older than 60 s, the feeder is dead: say so, stop.
 * 6. Plain data and offsets, no pointers.  A change bumps SEGMENT_VERSION.
 * 7. What stands beside the word is atomic, and anybody may read it as a hint
 *    (order of the scan, duplicates), never as the truth.
 * 8. Each slot has a set of the hosts that could not take its job.  An entry
 *    names host, reason and (by a hash) the result, so one that comes when the
 *    slot already holds another job is not counted for that.  Entries are added
 *    by one compare-and-swap and never changed; the feeder wipes the set while
 *    the slot is EMPTY.
 * 9. Jobs of one slot.kind ask for the same of a host, whatever rules it is
 *    judged by: all is equal but the ids of result and workunit, the batch, who
 *    submitted it, and when it was made.  (Not all jobs that are equal are of
 *    one kind.)
 * 10. slot.stamp grows with each job that is filled in, and a job that was
 *    claimed has the greatest of all.  So who has added a host to the sets of
 *    all READY slots of a kind, and notes that with the newest stamp that it
 *    saw before it began, need not look at those sets again: only at such with
 *    a greater stamp.  A note may get lost, at the cost of looking again.
 *
 * What all requests look at, word and hints, is one cache line for each slot;
 * the lines lie side by side, and behind them the jobs themselves.
 *
 * The functions work on any memory; segment.c alone knows shm_open. */
#ifndef QUORATE_JOBARRAY_H
#define QUORATE_JOBARRAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "refused.h"
#include "sendable.h"

#define CLAIM_LEASE 60 /* s, default */

enum slot_state { SLOT_EMPTY, SLOT_READY, SLOT_CLAIMED };

/* slot.word, as one: state (2 bits), counter (8), owner's pid (22), second of
 * the claim (32). */
struct job_slot {
    _Alignas(64) _Atomic uint64_t word;
    _Atomic int64_t result_id; /* rule 7 */
    _Atomic int64_t wu_id;
    _Atomic uint64_t kind;  /* rule 9; never 0 in a READY slot */
    _Atomic uint64_t stamp; /* rule 10 */
    _Atomic int32_t priority;
    _Atomic uint32_t refusals;   /* size of the set of rule 8, a hint */
    _Atomic uint32_t infeasible; /* infeasible_count of §9.1: conflicts of HR
                                    class or version; begins at 1 if the
                                    workunit has a class */
    uint32_t time_added;         /* monotonic s; rules 2 and 3 */
};

/* The line of a READY slot, as it was at one moment. */
struct job_hint {
    int64_t result_id, wu_id;
    uint64_t kind, stamp;
    uint32_t infeasible;
};

struct jobarray; /* header, slots, jobs, sets, notes: inside the segment */

/* `hosts`: how many hosts the set of each slot must have room for. */
size_t jobarray_size(size_t n_slots, size_t hosts);
void jobarray_init(void *where, size_t n_slots, size_t hosts);
/* NULL if the bytes are no job array of this layout. */
struct jobarray *jobarray_check(void *where, size_t size);

#define JOBARRAY_MIN_HOSTS 16 /* room there is at least */

size_t jobarray_n_slots(const struct jobarray *);
struct job_slot *jobarray_slot(struct jobarray *, size_t i);

enum slot_state jobarray_state(const struct job_slot *);
pid_t jobarray_owner(uint64_t word);
uint32_t jobarray_claim_time(uint64_t word);

/* ---- feeder ---- */
/* Fill an EMPTY slot and make it READY.  False if it is not EMPTY. */
bool jobarray_fill(struct jobarray *, struct job_slot *,
                   const struct sendable *, uint32_t now);
/* The same with hosts that are known to have failed before. */
bool jobarray_fill_known(struct jobarray *, struct job_slot *,
                         const struct sendable *,
                         const struct refused_host *known, size_t n_known,
                         uint32_t now);
/* Take a READY job out again (no longer needed).  False: a scheduler has it. */
bool jobarray_clear(struct job_slot *);
/* Free claims whose lease is over or (if same_pids) whose owner is gone.
 * Returns how many slots it freed. */
size_t jobarray_sweep(struct jobarray *, uint32_t now, uint32_t lease,
                      bool same_pids);

/* ---- schedulers ---- */
/* Try to become the owner of a READY slot at second `now` (monotonic clock).
 * False: someone else was first.  *ret_word is the claim; *ret_job the copy,
 * checked to be ours.  me = 0 if the pid means nothing to the feeder. */
bool jobarray_claim(const struct jobarray *, struct job_slot *, pid_t me,
                    uint32_t now, uint64_t *ret_word, struct sendable *ret_job);
/* Look at a READY job without claiming it: most are only judged.  True and a
 * whole copy, as it was at one moment; it may be gone at the next. */
bool jobarray_peek(const struct jobarray *, const struct job_slot *,
                   struct sendable *ret_job);
/* Both from exactly the claimed word; false if the lease had run out. */
bool jobarray_give_back(struct job_slot *, uint64_t word); /* READY again */
bool jobarray_done(struct job_slot *, uint64_t word);      /* EMPTY: sent, or
                                                              not needed */

/* This host could not take this result, which lies (or lay) in the slot.  Cheap
 * for a host that is in the set already.  True: it is new there. */
bool jobarray_refuse(struct jobarray *, struct job_slot *, int64_t result_id,
                     int64_t hostid, enum refused_for);
/* Its workunit went to another class of hosts, or another version, than this
 * host could use. */
void jobarray_infeasible(struct job_slot *);

/* Rule 10: the newest stamp; up to which one the sets of slots of this kind
 * name the host (0: not known), and to note that they do. */
#define JOBARRAY_EVERY_KIND UINT64_C(0xffffffff)
uint64_t jobarray_newest(const struct jobarray *);
uint64_t jobarray_noted(const struct jobarray *, int64_t hostid, uint64_t kind);
void jobarray_note(struct jobarray *, int64_t hostid, uint64_t kind,
                   uint64_t stamp);

/* ---- anybody, as hints ---- */
uint32_t jobarray_time_added(const struct job_slot *); /* monotonic s */
/* The distinct hosts that could not take this result: how many, and as many of
 * them as ret (NULL with 0) has room for. */
size_t jobarray_refused(const struct jobarray *, const struct job_slot *,
                        int64_t result_id, struct refused_host *ret,
                        size_t room);
size_t jobarray_count(const struct jobarray *, enum slot_state);

/* A private copy of the READY jobs, each at its place (infeasible too; the sets
 * of hosts are empty), in `where` of jobarray_size(n_slots, 0) bytes: whatever
 * is done to it, nobody else sees. */
struct jobarray *jobarray_copy_ready(const struct jobarray *, void *where);

/* ---- the first look of schedulers, for each slot in each request ---- */
#define JOBARRAY_STATE_SHIFT 62

/* As jobarray_peek(), of the slot's line alone. */
static inline bool
jobarray_glance(const struct job_slot *slot, struct job_hint *ret)
{
    uint64_t seen = atomic_load_explicit(&slot->word, memory_order_acquire);

    if (seen >> JOBARRAY_STATE_SHIFT != SLOT_READY)
        return false;
    ret->result_id =
        atomic_load_explicit(&slot->result_id, memory_order_acquire);
    ret->wu_id = atomic_load_explicit(&slot->wu_id, memory_order_acquire);
    ret->kind = atomic_load_explicit(&slot->kind, memory_order_acquire);
    ret->stamp = atomic_load_explicit(&slot->stamp, memory_order_acquire);
    ret->infeasible =
        atomic_load_explicit(&slot->infeasible, memory_order_acquire);
    return atomic_load_explicit(&slot->word, memory_order_relaxed) == seen;
}

#endif
