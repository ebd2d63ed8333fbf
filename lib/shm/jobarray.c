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
 * word after each piece.
 *
 * The sets of hosts lie behind the slots, all of one size, which is a power of
 * two: open addressing, at most four fifths full.  A cell is 0 or
 *
 *     63 ... 60   59 ... 32   31 ... 0
 *     reason      result      host
 *
 * The bits of the result are a hash of its id. */
#include "jobarray.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#define JOBARRAY_MAGIC 0x4a4f4253u /* "JOBS" */
#define JOBARRAY_ALIGN 64
#define TIME_BITS 32
#define PID_BITS 22
#define COUNT_BITS 8
#define MAX_CELLS ((uint64_t)1 << 24)
#define NOTES ((uint64_t)1 << 16) /* of an array with sets: 1 MB */
#define FEW_NOTES 16
#define NO_STAMP UINT64_MAX /* greater than all */

struct jobarray {
    uint32_t magic;
    uint32_t slot_size;
    uint64_t n_slots;
    uint64_t n_cells;   /* of each set; a power of two */
    uint64_t n_notes;   /* likewise */
    uint64_t n_kinds;   /* cells of the feeder's memory of kinds;
                           likewise */
    uint64_t last_kind; /* the feeder's */
    _Atomic uint64_t last_stamp;
    char pad[JOBARRAY_ALIGN - 56];
    struct job_slot slot[];
};

struct note { /* rule 10; `check` is made of stamp, host and kind */
    _Atomic uint64_t check, stamp;
};

_Static_assert(sizeof(struct jobarray) == JOBARRAY_ALIGN, "header is one line");
_Static_assert(JOBARRAY_STATE_SHIFT == TIME_BITS + PID_BITS + COUNT_BITS,
               "the state stands on top");
_Static_assert(sizeof(struct job_slot) == JOBARRAY_ALIGN, "so is a slot");
_Static_assert(sizeof(struct sendable) % sizeof(uint64_t) == 0,
               "a job is copied in pieces of 64 bits");
_Static_assert(REFUSED_MAX < 16, "a reason has four bits");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit atomics without a lock");

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

/* Cells of a set with room for so many hosts. */
static size_t
cells_for(size_t hosts)
{
    size_t wanted = hosts < JOBARRAY_MIN_HOSTS ? JOBARRAY_MIN_HOSTS : hosts;
    size_t n = 1;

    while (n < wanted + wanted / 4)
        n *= 2;
    return n;
}

static size_t
kinds_for(size_t n_slots)
{
    size_t n = 16;

    while (n < 2 * n_slots)
        n *= 2;
    return n;
}

/* Bytes of a slot and all that belongs to it. */
static size_t
slot_bytes(uint64_t n_cells)
{
    return sizeof(struct job_slot) + sizeof(struct sendable) +
           (size_t)n_cells * sizeof(uint64_t);
}

size_t
jobarray_size(size_t n_slots, size_t hosts)
{
    size_t bytes = sizeof(struct jobarray) +
                   n_slots * slot_bytes(cells_for(hosts)) +
                   (hosts > 0 ? NOTES : FEW_NOTES) * sizeof(struct note) +
                   kinds_for(n_slots) * sizeof(uint32_t);

    return (bytes + JOBARRAY_ALIGN - 1) / JOBARRAY_ALIGN * JOBARRAY_ALIGN;
}

void
jobarray_init(void *where, size_t n_slots, size_t hosts)
{
    struct jobarray *array = where;

    memset(where, 0, jobarray_size(n_slots, hosts));
    array->slot_size = sizeof(struct job_slot);
    array->n_slots = n_slots;
    array->n_cells = cells_for(hosts);
    array->n_notes = hosts > 0 ? NOTES : FEW_NOTES;
    array->n_kinds = kinds_for(n_slots);
    array->magic = JOBARRAY_MAGIC;
}

static bool
is_size_of_table(uint64_t n)
{
    return n > 0 && (n & (n - 1)) == 0 && n <= MAX_CELLS;
}

struct jobarray *
jobarray_check(void *where, size_t size)
{
    struct jobarray *array = where;
    size_t room, tables;

    if (size < sizeof(*array) || array->magic != JOBARRAY_MAGIC ||
        array->slot_size != sizeof(struct job_slot) ||
        !is_size_of_table(array->n_cells) ||
        !is_size_of_table(array->n_notes) || !is_size_of_table(array->n_kinds))
        return NULL;
    room = size - sizeof(*array);
    tables = (size_t)array->n_notes * sizeof(struct note) +
             (size_t)array->n_kinds * sizeof(uint32_t);
    if (room < tables ||
        array->n_slots > (room - tables) / slot_bytes(array->n_cells))
        return NULL;
    return array;
}

/* What lies behind the slots: jobs, sets, notes, the feeder's kinds. */
static char *
behind_slots(const struct jobarray *array)
{
    return (char *)(uintptr_t)array + sizeof(*array) +
           array->n_slots * sizeof(struct job_slot);
}

static size_t
index_of(const struct jobarray *array, const struct job_slot *slot)
{
    size_t i = (size_t)(slot - array->slot);

    assert(i < array->n_slots);
    return i;
}

static struct sendable *
job_at(const struct jobarray *array, size_t i)
{
    return (struct sendable *)(void *)behind_slots(array) + i;
}

static char *
behind_jobs(const struct jobarray *array)
{
    return behind_slots(array) + array->n_slots * sizeof(struct sendable);
}

static struct note *
notes_of(const struct jobarray *array)
{
    return (struct note *)(void *)(behind_jobs(array) + array->n_slots *
                                                            array->n_cells *
                                                            sizeof(uint64_t));
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

/* ---- hosts that could not take a job --------------------------------------
 */

#define CELL_HOST UINT64_C(0xffffffff)
#define CELL_HASH_BITS 28
#define CELL_REASON_SHIFT 60

static _Atomic uint64_t *
set_of(const struct jobarray *array, const struct job_slot *slot)
{
    return (_Atomic uint64_t *)(void *)behind_jobs(array) +
           index_of(array, slot) * array->n_cells;
}

/* Host and result of a cell, without the reason. */
static uint64_t
cell_key(int64_t result_id, int64_t hostid)
{
    uint64_t hash = (uint64_t)result_id * UINT64_C(0x9e3779b97f4a7c15);

    return hash >> (64 - CELL_HASH_BITS) << 32 | ((uint64_t)hostid & CELL_HOST);
}

static uint64_t
key_of_cell(uint64_t cell)
{
    return cell & ((UINT64_C(1) << CELL_REASON_SHIFT) - 1);
}

/* Where the search for a host begins. */
static size_t
first_cell(const struct jobarray *array, int64_t hostid)
{
    return (size_t)((uint64_t)hostid * UINT64_C(0x9e3779b97f4a7c15) >> 40) &
           (array->n_cells - 1);
}

/* True: added.  False: it was there, or the set is full. */
static bool
add_host(struct jobarray *array, struct job_slot *slot, int64_t result_id,
         int64_t hostid, enum refused_for reason)
{
    _Atomic uint64_t *cell = set_of(array, slot);
    uint64_t key = cell_key(result_id, hostid);
    uint64_t mine = (uint64_t)reason << CELL_REASON_SHIFT | key;
    size_t at = first_cell(array, hostid);

    for (size_t k = 0; k < array->n_cells; k++) {
        uint64_t seen = atomic_load_explicit(&cell[at], memory_order_relaxed);

        if (seen == 0 && atomic_compare_exchange_strong_explicit(
                             &cell[at], &seen, mine, memory_order_relaxed,
                             memory_order_relaxed))
            return true;
        if (key_of_cell(seen) == key)
            return false;
        at = (at + 1) & (array->n_cells - 1);
    }
    return false;
}

bool
jobarray_refuse(struct jobarray *array, struct job_slot *slot,
                int64_t result_id, int64_t hostid, enum refused_for reason)
{
    if (hostid <= 0 || !add_host(array, slot, result_id, hostid, reason))
        return false;
    if (atomic_load_explicit(&slot->result_id, memory_order_relaxed) ==
        result_id)
        atomic_fetch_add_explicit(&slot->refusals, 1, memory_order_relaxed);
    return true;
}

size_t
jobarray_refused(const struct jobarray *array, const struct job_slot *slot,
                 int64_t result_id, struct refused_host *ret, size_t room)
{
    const _Atomic uint64_t *cell = set_of(array, slot);
    uint64_t hash = cell_key(result_id, 0);
    size_t n = 0;

    for (size_t k = 0; k < array->n_cells; k++) {
        uint64_t seen = atomic_load_explicit(&cell[k], memory_order_relaxed);

        if (seen == 0 || (key_of_cell(seen) & ~CELL_HOST) != hash)
            continue;
        if (n < room)
            ret[n] = (struct refused_host){
                .hostid = (int64_t)(seen & CELL_HOST),
                .reason = (enum refused_for)(seen >> CELL_REASON_SHIFT),
            };
        n++;
    }
    return n;
}

void
jobarray_infeasible(struct job_slot *slot)
{
    atomic_fetch_add_explicit(&slot->infeasible, 1, memory_order_relaxed);
}

/* ---- who is in all sets of a kind ------------------------------------------
 *
 * A table of two words for each note, without a lock: the first is made of the
 * second and of what the note is about, so words of two writers fit together
 * for nobody. */

static uint64_t
note_key(int64_t hostid, uint64_t kind)
{
    return (uint64_t)hostid << 32 | (kind & UINT64_C(0xffffffff));
}

static struct note *
note_at(const struct jobarray *array, uint64_t key, unsigned way)
{
    uint64_t hash = (key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15);

    return &notes_of(array)[(hash >> 32 ^ way) & (array->n_notes - 1)];
}

static uint64_t
note_check(uint64_t key, uint64_t stamp)
{
    return key ^ stamp * UINT64_C(0xd6e8feb86659fd93);
}

uint64_t
jobarray_newest(const struct jobarray *array)
{
    return atomic_load_explicit(&array->last_stamp, memory_order_acquire);
}

uint64_t
jobarray_noted(const struct jobarray *array, int64_t hostid, uint64_t kind)
{
    uint64_t key = note_key(hostid, kind);

    for (unsigned way = 0; way < 2; way++) {
        struct note *note = note_at(array, key, way);
        uint64_t stamp =
            atomic_load_explicit(&note->stamp, memory_order_relaxed);

        if (atomic_load_explicit(&note->check, memory_order_relaxed) ==
            note_check(key, stamp))
            return stamp;
    }
    return 0;
}

/* In the place of the same note, or else of the older of two. */
void
jobarray_note(struct jobarray *array, int64_t hostid, uint64_t kind,
              uint64_t stamp)
{
    uint64_t key = note_key(hostid, kind), least = UINT64_MAX;
    struct note *best = NULL;

    for (unsigned way = 0; way < 2; way++) {
        struct note *note = note_at(array, key, way);
        uint64_t seen =
            atomic_load_explicit(&note->stamp, memory_order_relaxed);

        if (atomic_load_explicit(&note->check, memory_order_relaxed) ==
            note_check(key, seen))
            seen = 0;
        if (seen < least) {
            least = seen;
            best = note;
        }
    }
    if (best == NULL)
        return;
    atomic_store_explicit(&best->stamp, stamp, memory_order_relaxed);
    atomic_store_explicit(&best->check, note_check(key, stamp),
                          memory_order_relaxed);
}

/* ---- kinds -----------------------------------------------------------------
 *
 * The feeder's memory: for a hash of what makes a kind, the slot that got such
 * a job last.  Its job stands there until the slot is filled again, so it can
 * be compared; if it is gone, the kind gets another number. */

static struct sendable
what_makes_kind(const struct sendable *job)
{
    struct sendable ret;

    memcpy(&ret, job, sizeof(ret));
    ret.result_id = ret.wu_id = ret.batch = 0;
    ret.user_id = ret.create_time = 0;
    return ret;
}

static uint64_t
hash_of(const struct sendable *what)
{
    uint64_t words[sizeof(*what) / sizeof(uint64_t)];
    uint64_t hash = 0;

    memcpy(words, what, sizeof(words));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

/* Before the slot's own job is overwritten. */
static uint64_t
kind_of(struct jobarray *array, size_t i, const struct sendable *job)
{
    uint32_t *cells = (uint32_t *)(void *)(notes_of(array) + array->n_notes);
    struct sendable mine = what_makes_kind(job), other;
    uint32_t *cell = &cells[hash_of(&mine) >> 20 & (array->n_kinds - 1)];
    size_t last = *cell; /* 0: none, else 1 + slot */
    uint64_t kind = 0;

    *cell = (uint32_t)(i + 1);
    if (last > 0 && last <= array->n_slots) {
        load_job(&other, job_at(array, last - 1));
        other = what_makes_kind(&other);
        if (memcmp(&mine, &other, sizeof(mine)) == 0)
            kind = atomic_load_explicit(&array->slot[last - 1].kind,
                                        memory_order_relaxed);
    }
    return kind != 0 ? kind : ++array->last_kind;
}

/* ---- feeder ---------------------------------------------------------------
 */

static void
begin_set(struct jobarray *array, struct job_slot *slot, int64_t result_id,
          const struct refused_host *known, size_t n)
{
    _Atomic uint64_t *cell = set_of(array, slot);
    uint32_t added = 0;

    for (size_t k = 0; k < array->n_cells; k++)
        atomic_store_explicit(&cell[k], 0, memory_order_relaxed);
    for (size_t i = 0; i < n; i++)
        added +=
            add_host(array, slot, result_id, known[i].hostid, known[i].reason);
    atomic_store_explicit(&slot->refusals, added, memory_order_relaxed);
}

bool
jobarray_fill(struct jobarray *array, struct job_slot *slot,
              const struct sendable *job, uint32_t now)
{
    return jobarray_fill_known(array, slot, job, NULL, 0, now);
}

bool
jobarray_fill_known(struct jobarray *array, struct job_slot *slot,
                    const struct sendable *job,
                    const struct refused_host *known, size_t n_known,
                    uint32_t now)
{
    uint64_t seen = atomic_load_explicit(&slot->word, memory_order_acquire);
    uint64_t stamp =
        atomic_load_explicit(&array->last_stamp, memory_order_relaxed) + 1;
    size_t i = index_of(array, slot);
    bool filled;

    if (word_state(seen) != SLOT_EMPTY)
        return false;
    atomic_store_explicit(&slot->kind, kind_of(array, i, job),
                          memory_order_release);
    atomic_store_explicit(&slot->stamp, stamp, memory_order_release);
    store_job(job_at(array, i), job);
    __atomic_store_n(&slot->time_added, now, __ATOMIC_RELAXED);
    atomic_store_explicit(&slot->result_id, job->result_id,
                          memory_order_release);
    atomic_store_explicit(&slot->wu_id, job->wu_id, memory_order_release);
    atomic_store_explicit(&slot->priority, job->priority, memory_order_relaxed);
    atomic_store_explicit(&slot->infeasible, job->hr_class > 0 ? 1 : 0,
                          memory_order_release);
    begin_set(array, slot, job->result_id, known, n_known);
    /* Nobody but the feeder leaves EMPTY, so this cannot fail; it is still a
     * CAS, because a second feeder on the array must not go unnoticed. */
    filled = move_word(slot, seen, SLOT_READY);
    /* who sees the stamp sees the job */
    atomic_store_explicit(&array->last_stamp, stamp, memory_order_release);
    return filled;
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

struct jobarray *
jobarray_copy_ready(const struct jobarray *from, void *where)
{
    struct jobarray *copy = where;
    struct sendable job;

    jobarray_init(where, from->n_slots, 0);
    for (size_t i = 0; i < from->n_slots; i++) {
        if (!jobarray_peek(from, &from->slot[i], &job))
            continue;
        jobarray_fill(copy, &copy->slot[i], &job,
                      jobarray_time_added(&from->slot[i]));
        copy->slot[i].infeasible = atomic_load_explicit(
            &from->slot[i].infeasible, memory_order_relaxed);
    }
    return copy;
}

/* ---- schedulers -----------------------------------------------------------
 */

bool
jobarray_claim(const struct jobarray *array, struct job_slot *slot, pid_t me,
               uint32_t now, uint64_t *ret_word, struct sendable *ret_job)
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
    /* Hosts that look now do not see the job: if it comes back, nobody may say
     * that they did. */
    atomic_store_explicit(&slot->stamp, NO_STAMP, memory_order_relaxed);
    load_job(ret_job, job_at(array, index_of(array, slot)));
    if (atomic_load_explicit(&slot->word, memory_order_relaxed) != mine)
        return false; /* stopped for longer than the lease: not ours, not whole
                       */
    *ret_word = mine;
    return true;
}

/* As a reader of a sequence lock: the counter in the word tells of any arrow
 * that was taken meanwhile. */
bool
jobarray_peek(const struct jobarray *array, const struct job_slot *slot,
              struct sendable *ret_job)
{
    uint64_t seen = atomic_load_explicit(&slot->word, memory_order_acquire);

    if (word_state(seen) != SLOT_READY)
        return false;
    load_job(ret_job, job_at(array, index_of(array, slot)));
    return atomic_load_explicit(&slot->word, memory_order_relaxed) == seen;
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
