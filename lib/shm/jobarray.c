/* jobarray.c - slots: fill, claim, give back, clear, sweep the dead.
 *
 * The word of a slot says everything about who may touch it:
 *
 *     63 62   61 ... 54   53 ... 32   31 ...... 0
 *     state   counter     pid         second of the claim
 *
 * Every change is one compare-and-swap from a word that was seen to its
 * successor, and every successor counts one further.  So a word that was seen
 * before a change never matches after it, even if the slot went through READY
 * and CLAIMED again meanwhile: the same process, the same second and a counter
 * that went all the way round would have to come together.  READY and EMPTY
 * words carry neither pid nor time.
 *
 * A scheduler whose lease ran out may still be copying a job when the feeder
 * fills the slot anew.  It finds that out (the word is no longer its claim) and
 * throws the copy away, but until then both touch the same bytes; that is why
 * they are copied as relaxed atomics with the order of a sequence lock: the
 * feeder stores each piece after the word was EMPTY, the scheduler loads the
 * word after each piece. */
#include "jobarray.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#define JOBARRAY_MAGIC 0x4a4f4253u /* "JOBS" */
#define JOBARRAY_ALIGN 64

struct jobarray {
    uint32_t magic;
    uint32_t slot_size;
    uint64_t n_slots;
    char pad[JOBARRAY_ALIGN - 16];
    struct job_slot slot[];
};

_Static_assert(sizeof(struct jobarray) == JOBARRAY_ALIGN, "header is one line");
_Static_assert(sizeof(struct sendable) % sizeof(uint64_t) == 0,
               "a job is copied in pieces of 64 bits");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit atomics without a lock");

#define TIME_BITS 32
#define PID_BITS 22
#define COUNT_BITS 8
#define PID_MASK ((1u << PID_BITS) - 1)
#define COUNT_MASK ((1u << COUNT_BITS) - 1)

/* ---- the word -------------------------------------------------------------
 */

static uint64_t
make_word(enum slot_state state, unsigned count, uint32_t pid, uint32_t second)
{
    return ((uint64_t)state << (TIME_BITS + PID_BITS + COUNT_BITS)) |
           ((uint64_t)(count & COUNT_MASK) << (TIME_BITS + PID_BITS)) |
           ((uint64_t)(pid & PID_MASK) << TIME_BITS) | second;
}

static enum slot_state
word_state(uint64_t word)
{
    return (enum slot_state)(word >> (TIME_BITS + PID_BITS + COUNT_BITS));
}

static unsigned
word_count(uint64_t word)
{
    return (unsigned)(word >> (TIME_BITS + PID_BITS)) & COUNT_MASK;
}

pid_t
jobarray_owner(uint64_t word)
{
    return (pid_t)((word >> TIME_BITS) & PID_MASK);
}

uint32_t
jobarray_claim_time(uint64_t word)
{
    return (uint32_t)word;
}

/* One arrow of the diagram: from exactly `seen` to `state`, no owner. */
static bool
move_word(struct job_slot *slot, uint64_t seen, enum slot_state state)
{
    return atomic_compare_exchange_strong_explicit(
        &slot->word, &seen, make_word(state, word_count(seen) + 1, 0, 0),
        memory_order_acq_rel, memory_order_relaxed);
}

/* ---- the job's bytes ------------------------------------------------------
 */

typedef uint64_t __attribute__((may_alias)) piece;

static void
store_job(struct sendable *to, const struct sendable *from)
{
    piece *p = (piece *)to;
    piece bits[sizeof(*from) / sizeof(piece)];

    memcpy(bits, from, sizeof(bits));
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
        __atomic_store_n(&p[i], bits[i], __ATOMIC_RELEASE);
}

static void
load_job(struct sendable *to, const struct sendable *from)
{
    const piece *p = (const piece *)from;
    piece bits[sizeof(*from) / sizeof(piece)];

    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
        bits[i] = __atomic_load_n(&p[i], __ATOMIC_ACQUIRE);
    memcpy(to, bits, sizeof(bits));
}

/* ---- the array ------------------------------------------------------------
 */

size_t
jobarray_size(size_t n_slots)
{
    size_t bytes = sizeof(struct jobarray) + n_slots * sizeof(struct job_slot);

    return (bytes + JOBARRAY_ALIGN - 1) / JOBARRAY_ALIGN * JOBARRAY_ALIGN;
}

void
jobarray_init(void *where, size_t n_slots)
{
    struct jobarray *array = where;

    memset(where, 0, jobarray_size(n_slots));
    array->slot_size = sizeof(struct job_slot);
    array->n_slots = n_slots;
    array->magic = JOBARRAY_MAGIC;
}

struct jobarray *
jobarray_check(void *where, size_t size)
{
    struct jobarray *array = where;

    if (size < sizeof(*array) || array->magic != JOBARRAY_MAGIC ||
        array->slot_size != sizeof(struct job_slot))
        return NULL;
    if (array->n_slots > (size - sizeof(*array)) / sizeof(struct job_slot))
        return NULL;
    return array;
}

size_t
jobarray_n_slots(const struct jobarray *array)
{
    return (size_t)array->n_slots;
}

struct job_slot *
jobarray_slot(struct jobarray *array, size_t i)
{
    assert(i < array->n_slots);
    return &array->slot[i];
}

enum slot_state
jobarray_state(const struct job_slot *slot)
{
    return word_state(atomic_load_explicit(&slot->word, memory_order_acquire));
}

uint32_t
jobarray_time_added(const struct job_slot *slot)
{
    return __atomic_load_n(&slot->time_added, __ATOMIC_RELAXED);
}

size_t
jobarray_count(const struct jobarray *array, enum slot_state state)
{
    size_t n = 0;

    for (size_t i = 0; i < array->n_slots; i++)
        n += jobarray_state(&array->slot[i]) == state;
    return n;
}

/* ---- feeder ---------------------------------------------------------------
 */

bool
jobarray_fill(struct job_slot *slot, const struct sendable *job, uint32_t now)
{
    uint64_t seen = atomic_load_explicit(&slot->word, memory_order_acquire);

    if (word_state(seen) != SLOT_EMPTY)
        return false;
    store_job(&slot->job, job);
    __atomic_store_n(&slot->time_added, now, __ATOMIC_RELAXED);
    atomic_store_explicit(&slot->result_id, job->result_id,
                          memory_order_relaxed);
    atomic_store_explicit(&slot->wu_id, job->wu_id, memory_order_relaxed);
    atomic_store_explicit(&slot->priority, job->priority, memory_order_relaxed);
    atomic_store_explicit(&slot->refusals, 0, memory_order_relaxed);
    /* Nobody but the feeder leaves EMPTY, so this cannot fail; it is still a
     * CAS, because a second feeder on the array must not go unnoticed. */
    return move_word(slot, seen, SLOT_READY);
}

bool
jobarray_clear(struct job_slot *slot)
{
    uint64_t seen = atomic_load_explicit(&slot->word, memory_order_relaxed);

    return word_state(seen) == SLOT_READY && move_word(slot, seen, SLOT_EMPTY);
}

static bool
claim_is_dead(uint64_t word, uint32_t now, uint32_t lease, bool same_pids)
{
    pid_t owner = jobarray_owner(word);
    /* Signed: a scheduler may have read the clock after us. */
    int32_t age = (int32_t)(now - jobarray_claim_time(word));

    if (age > 0 && (uint32_t)age > lease)
        return true;
    return same_pids && owner > 0 && kill(owner, 0) != 0 && errno == ESRCH;
}

size_t
jobarray_sweep(struct jobarray *array, uint32_t now, uint32_t lease,
               bool same_pids)
{
    size_t freed = 0;

    for (size_t i = 0; i < array->n_slots; i++) {
        struct job_slot *slot = &array->slot[i];
        uint64_t seen = atomic_load_explicit(&slot->word, memory_order_relaxed);

        if (word_state(seen) != SLOT_CLAIMED ||
            !claim_is_dead(seen, now, lease, same_pids) ||
            !move_word(slot, seen, SLOT_EMPTY))
            continue;
        /* Its job may well be unsent: nothing keeps it from coming back. */
        atomic_store_explicit(&slot->result_id, 0, memory_order_relaxed);
        freed++;
    }
    return freed;
}

/* ---- schedulers -----------------------------------------------------------
 */

bool
jobarray_claim(struct job_slot *slot, pid_t me, uint32_t now,
               uint64_t *ret_word, struct sendable *ret_job)
{
    uint64_t seen = atomic_load_explicit(&slot->word, memory_order_relaxed);
    uint64_t mine =
        make_word(SLOT_CLAIMED, word_count(seen) + 1, (uint32_t)me, now);

    if (word_state(seen) != SLOT_READY)
        return false;
    if (!atomic_compare_exchange_strong_explicit(&slot->word, &seen, mine,
                                                 memory_order_acq_rel,
                                                 memory_order_relaxed))
        return false;
    load_job(ret_job, &slot->job);
    if (atomic_load_explicit(&slot->word, memory_order_relaxed) != mine)
        return false; /* stopped for longer than the lease: not ours, not whole
                       */
    *ret_word = mine;
    return true;
}

bool
jobarray_give_back(struct job_slot *slot, uint64_t word)
{
    assert(word_state(word) == SLOT_CLAIMED);
    return move_word(slot, word, SLOT_READY);
}

bool
jobarray_done(struct job_slot *slot, uint64_t word)
{
    assert(word_state(word) == SLOT_CLAIMED);
    return move_word(slot, word, SLOT_EMPTY);
}

void
jobarray_refuse(struct job_slot *slot)
{
    atomic_fetch_add_explicit(&slot->refusals, 1, memory_order_relaxed);
}
