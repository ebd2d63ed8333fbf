/* filler.c - which results go into the job array, and which slots they get.
 *
 * Results ready to be sent are read page by page in the order priority (high
 * first), workunit, and put into empty slots.  The walk starts from the top
 * again when it came to its end, and every `interval`, because results of
 * higher priority may have come meanwhile: these get in even if the array is
 * full, in the place of the lowest ones.
 *
 * Which results are already in the array is noted *before* a page is read.  A
 * result that is in it then may be sent while we read, but it is not filled in
 * a second time; one that left the array before was sent before, and the page
 * does not show it.  All this only saves work: who sends a result is decided by
 * the scheduler's conditional UPDATE. */
#include "filler.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "buf.h"
#include "catalog.h"
#include "clock.h"
#include "config.h"
#include "daemon.h"
#include "db_feed.h"
#include "jobarray.h"
#include "log.h"
#include "segment.h"

#define DRY_PAUSE 0.25   /* s between two questions that found nothing new */
#define CHECK_INTERVAL 5 /* s between looks for results withdrawn */
#define CHECK_BATCH 256  /* of so many slots */
#define RECENT 10        /* s: a job that left its slot is not put back */

struct low_job {
    int32_t priority;
    size_t slot;
};

struct filler {
    struct segment *segment; /* for its heartbeat */
    struct jobarray *array;
    const struct catalog *catalog;
    size_t n_slots;
    uint32_t *emptied; /* for each slot: when it was first seen EMPTY, or 0 */

    int64_t *known; /* hash set of result ids, 0 = free */
    size_t known_size;

    struct feed_query query; /* where the walk is */
    struct sendable *page;   /* candidates: page[page_next … page_n - 1] */
    size_t page_size, page_n, page_next;
    bool at_end;
    double top_time, query_time; /* monotonic s: began at the top, last query */

    size_t empty_from;   /* no slot before this one is EMPTY */
    struct low_job *low; /* READY slots, lowest priority first */
    size_t n_low, low_next;

    double check_time;
    size_t check_from; /* slot */
    uint32_t changes;  /* of the segment, that we have answered */
    bool restart;      /* the walk is to begin at the top */
};

double
filler_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
start_from_top(struct filler *f, const struct daemon *d, double t)
{
    f->query = (struct feed_query){.mod_n = d->mod_n, .mod_i = d->mod_i};
    f->page_n = f->page_next = 0;
    f->at_end = f->restart = false;
    f->top_time = t;
}

/* ---- what is in the array -------------------------------------------------
 */

static void
know(struct filler *f, int64_t id)
{
    size_t i = (size_t)((uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (i &= f->known_size - 1; f->known[i] != 0 && f->known[i] != id;)
        i = (i + 1) & (f->known_size - 1);
    f->known[i] = id;
}

static bool
is_known(const struct filler *f, int64_t id)
{
    size_t i = (size_t)((uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (i &= f->known_size - 1; f->known[i] != 0;
         i = (i + 1) & (f->known_size - 1))
        if (f->known[i] == id)
            return true;
    return false;
}

/* A job that left its slot a moment ago counts as known: should its sender have
 * freed the slot before the commit, we would put it back.  After RECENT it is
 * forgotten, in case that the database refused it. */
static void
note_known(struct filler *f)
{
    uint32_t now = clock_monotonic();

    memset(f->known, 0, f->known_size * sizeof(*f->known));
    for (size_t i = 0; i < f->n_slots; i++) {
        struct job_slot *slot = jobarray_slot(f->array, i);
        bool empty = jobarray_state(slot) == SLOT_EMPTY;
        int64_t id = atomic_load(&slot->result_id);

        if (empty && f->emptied[i] == 0)
            f->emptied[i] = now;
        if (empty && now - f->emptied[i] > RECENT)
            atomic_store(&slot->result_id, 0);
        else if (id != 0)
            know(f, id);
    }
}

/* ---- candidates -----------------------------------------------------------
 */

static bool
is_candidate(const struct filler *f, const struct sendable *s)
{
    return !is_known(f, s->result_id) &&
           catalog_find_app(f->catalog, s->appid) >= 0;
}

/* Read the next page and keep what may go into the array.  0 or -1. */
static int
read_page(struct filler *f, const struct daemon *d)
{
    size_t n, kept = 0;
    int rc;

    note_known(f);
    rc = db_feed_page(d->db, &f->query, f->page, f->page_size, &n);
    f->query_time = filler_clock();
    segment_heartbeat(f->segment);
    if (rc < 0)
        return -1;
    f->at_end = rc != 0; /* DB_NONE: no more */
    for (size_t i = 0; i < n; i++) {
        struct sendable *s = &f->page[i];

        s->need_reliable = d->cfg->reliable_on_priority != 0 &&
                           s->priority >= d->cfg->reliable_on_priority;
        if (is_candidate(f, s))
            f->page[kept++] = *s;
    }
    f->page_n = kept;
    f->page_next = 0;
    return 0;
}

/* *ret is the next candidate, NULL at the end.  It stays the next one until
 * page_next is moved. */
static int
next_candidate(struct filler *f, const struct daemon *d,
               const struct sendable **ret)
{
    while (f->page_next == f->page_n && !f->at_end && !daemon_stopping())
        if (read_page(f, d) != 0)
            return -1;
    *ret = f->page_next < f->page_n ? &f->page[f->page_next] : NULL;
    return 0;
}

/* ---- slots ----------------------------------------------------------------
 */

static int
compare_low(const void *a, const void *b)
{
    const struct low_job *x = a, *y = b;

    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* Begin a round: look at empty slots from the first on, and note which READY
 * ones would have to go for something better. */
static void
note_slots(struct filler *f)
{
    f->empty_from = 0;
    f->n_low = f->low_next = 0;
    for (size_t i = 0; i < f->n_slots; i++) {
        struct job_slot *slot = jobarray_slot(f->array, i);

        if (jobarray_state(slot) == SLOT_READY)
            f->low[f->n_low++] =
                (struct low_job){atomic_load(&slot->priority), i};
    }
    qsort(f->low, f->n_low, sizeof(*f->low), compare_low);
}

static bool
fill_slot(struct filler *f, size_t i, const struct sendable *job)
{
    if (!jobarray_fill(f->array, jobarray_slot(f->array, i), job,
                       clock_monotonic()))
        return false;
    f->emptied[i] = 0;
    return true;
}

static bool
place_in_empty(struct filler *f, const struct sendable *job)
{
    for (; f->empty_from < f->n_slots; f->empty_from++)
        if (fill_slot(f, f->empty_from, job))
            return true;
    return false;
}

/* A job that had to go is still unsent: the walk comes to it again. */
static bool
place_for_lower(struct filler *f, const struct sendable *job)
{
    while (f->low_next < f->n_low &&
           f->low[f->low_next].priority < job->priority) {
        size_t i = f->low[f->low_next++].slot;

        if (jobarray_clear(jobarray_slot(f->array, i)) && fill_slot(f, i, job))
            return true;
    }
    return false;
}

/* Candidates come in order of priority, so the first for which there is no
 * place ends the round.  How many jobs were placed, or -1. */
static int
place_candidates(struct filler *f, const struct daemon *d)
{
    int placed = 0;

    while (!daemon_stopping()) {
        const struct sendable *job;

        if (next_candidate(f, d, &job) != 0)
            return -1;
        if (job == NULL ||
            (!place_in_empty(f, job) && !place_for_lower(f, job)))
            break;
        log_debug("[RESULT#%" PRId64 "] placed, priority %" PRId32,
                  job->result_id, job->priority);
        f->page_next++;
        placed++;
    }
    return placed;
}

int
filler_fill(struct filler *f, const struct daemon *d)
{
    double t = filler_clock();
    bool full = jobarray_count(f->array, SLOT_EMPTY) == 0;
    bool top_is_old = f->restart || t - f->top_time >= d->sleep_interval;

    if (full ? !top_is_old
             : f->at_end && !f->restart && t - f->query_time < DRY_PAUSE)
        return 0;
    note_slots(f);
    if (full || top_is_old || f->at_end || f->query.above)
        start_from_top(f, d, t);
    if (full) {
        if (f->n_low == 0)
            return 0; /* all are claimed */
        f->query.above = true;
        f->query.above_priority = f->low[0].priority;
    }
    return place_candidates(f, d);
}

/* ---- results that are no longer what they were -----------------------------
 */

struct look {
    size_t n;
    size_t slot[CHECK_BATCH];
    int64_t id[CHECK_BATCH];
    int32_t priority[CHECK_BATCH];
    bool same[CHECK_BATCH];
};

/* Only we fill slots, so each holds what it held when it was asked for.  A job
 * that was taken out of a READY slot was not sent: one with another priority
 * may come back at once. */
static size_t
clear_changed(struct filler *f, const struct look *l)
{
    size_t cleared = 0;

    for (size_t i = 0; i < l->n; i++) {
        struct job_slot *slot = jobarray_slot(f->array, l->slot[i]);

        if (l->same[i] || !jobarray_clear(slot))
            continue;
        atomic_store(&slot->result_id, 0);
        cleared++;
    }
    return cleared;
}

/* The next slots, up to `max`.  0 or -1. */
static int
look_at_some(struct filler *f, const struct daemon *d, size_t max)
{
    struct look l = {.n = 0};
    size_t cleared;

    for (size_t k = 0; k < max && l.n < CHECK_BATCH; k++) {
        size_t i = f->check_from++ % f->n_slots;
        struct job_slot *s = jobarray_slot(f->array, i);

        if (jobarray_state(s) == SLOT_READY) {
            l.slot[l.n] = i;
            l.priority[l.n] = atomic_load(&s->priority);
            l.id[l.n++] = atomic_load(&s->result_id);
        }
    }
    if (l.n == 0)
        return 0;
    if (db_feed_still_unsent(d->db, l.id, l.priority, l.n, l.same) != 0)
        return -1;
    cleared = clear_changed(f, &l);
    if (cleared > 0)
        log_normal("%zu jobs taken out: not to be sent, or of another priority",
                   cleared);
    f->restart = f->restart || cleared > 0;
    return 0;
}

/* Cancelled, of another priority, sent by another feeder's scheduler, its app
 * deprecated: a look at some slots every few seconds keeps such jobs from
 * sitting there; who has changed many says so, and all slots are looked at. */
int
filler_check(struct filler *f, const struct daemon *d)
{
    uint32_t changes = segment_changes(f->segment);
    double t = filler_clock();

    if (changes != f->changes) {
        for (size_t k = 0; k < f->n_slots; k += CHECK_BATCH)
            if (look_at_some(f, d, CHECK_BATCH) != 0)
                return -1;
        f->changes = changes;
        f->restart = true;
    } else if (t - f->check_time >= CHECK_INTERVAL) {
        f->check_time = t;
        return look_at_some(f, d, f->n_slots);
    }
    return 0;
}

double
filler_ask_again(const struct filler *f)
{
    return f->at_end ? f->query_time + DRY_PAUSE : 0;
}

/* ---- beginning and end ----------------------------------------------------
 */

struct filler *
filler_new(struct segment *segment, const struct daemon *d)
{
    struct filler *f = xcalloc(1, sizeof(*f));

    f->segment = segment;
    f->array = segment_jobarray(segment);
    f->catalog = segment_catalog(segment);
    f->n_slots = jobarray_n_slots(f->array);
    f->known_size = 4;
    while (f->known_size < 4 * f->n_slots)
        f->known_size *= 2;
    f->changes = segment_changes(segment);
    f->emptied = xcalloc(f->n_slots, sizeof(*f->emptied));
    f->known = xcalloc(f->known_size, sizeof(*f->known));
    f->low = xcalloc(f->n_slots, sizeof(*f->low));
    f->page_size = (size_t)d->cfg->feeder_query_size;
    f->page = xcalloc(f->page_size, sizeof(*f->page));
    start_from_top(f, d, filler_clock());
    return f;
}

void
filler_free(struct filler *f)
{
    if (f == NULL)
        return;
    free(f->emptied);
    free(f->known);
    free(f->low);
    free(f->page);
    free(f);
}
