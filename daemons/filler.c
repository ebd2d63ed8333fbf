/* filler.c - which results go into the job array, and which slots they get.
 *
 * Results ready to be sent come from streams (streams.c), usually one in the
 * order priority (high first), workunit, and are put into empty slots.  The
 * walk starts from the top again when it came to its end, and every `interval`,
 * because results of higher priority may have come meanwhile: these get in even
 * if the array is full, in the place of the lowest ones.
 *
 * Some slots are left to jobs that differ from the rest: filler_diverse.c.
 *
 * Which results are already in the array is noted *before* a page is read.  A
 * result that is in it then may be sent while we read, but it is not filled in
 * a second time; one that left the array before was sent before, and the page
 * does not show it.  All this only saves work: who sends a result is decided by
 * the scheduler's conditional UPDATE. */
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
#include "filler_private.h"
#include "jobarray.h"
#include "log.h"
#include "segment.h"

#define DRY_PAUSE 0.25   /* s between two questions that found nothing new */
#define CHECK_INTERVAL 5 /* s between looks for results withdrawn */
#define CHECK_BATCH 256  /* of so many slots */
#define RECENT 10        /* s: a job that left its slot is not put back */

double
filler_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- what is in the array -------------------------------------------------
 */

/* A job that left its slot a moment ago counts as known: should its sender have
 * freed the slot before the commit, we would put it back.  After RECENT it is
 * forgotten, in case that the database refused it. */
void
filler_note_known(struct filler *f)
{
    uint32_t now = clock_monotonic();

    segment_heartbeat(f->segment);
    idset_clear(&f->known);
    for (size_t i = 0; i < f->n_slots; i++) {
        struct job_slot *slot = jobarray_slot(f->array, i);
        bool empty = jobarray_state(slot) == SLOT_EMPTY;
        int64_t id = atomic_load(&slot->result_id);

        if (empty && f->emptied[i] == 0)
            f->emptied[i] = now;
        if (empty && now - f->emptied[i] > RECENT)
            atomic_store(&slot->result_id, 0);
        else if (id != 0)
            idset_add(&f->known, id);
    }
}

bool
filler_accepts(const struct filler *f, const struct sendable *s)
{
    return !idset_has(&f->known, s->result_id) &&
           !diverse_is_resting(f, s->result_id) &&
           catalog_find_app(f->catalog, s->appid) >= 0 && hr_has_room(f, s);
}

/* ---- candidates -----------------------------------------------------------
 */

static void
before_page(void *arg)
{
    filler_note_known(arg);
}

static bool
accepts(void *arg, const struct sendable *job)
{
    struct filler *f = arg;
    size_t stream;

    return filler_accepts(f, job) && streams_wants(f->streams, job, &stream) &&
           !diverse_passes_over(f, job);
}

static int
next_candidate(struct filler *f, const struct sendable **ret,
               size_t *ret_stream)
{
    const struct stream_user user = {
        .before_page = before_page,
        .accepts = accepts,
        .arg = f,
    };
    int rc = streams_next(f->streams, f->d, &user, ret, ret_stream);

    segment_heartbeat(f->segment);
    return rc;
}

/* From the top: what is in the array counts for the shares. */
static int
start_from_top(struct filler *f, bool above, int32_t above_priority)
{
    f->restart = false;
    f->pages_skipped = 0;
    f->top_time = filler_clock();
    if (streams_restart(f->streams, f->d, above, above_priority) != 0)
        return -1;
    for (size_t i = 0; i < f->n_slots; i++)
        if (jobarray_state(jobarray_slot(f->array, i)) != SLOT_EMPTY)
            streams_hold(f->streams, f->held[i].stream, 1);
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
    f->n_low = 0;
    for (size_t i = 0; i < f->n_slots; i++) {
        struct job_slot *slot = jobarray_slot(f->array, i);

        if (jobarray_state(slot) == SLOT_READY && !f->held[i].diverse)
            f->low[f->n_low++] =
                (struct low_job){atomic_load(&slot->priority), i};
    }
    qsort(f->low, f->n_low, sizeof(*f->low), compare_low);
}

bool
filler_fill_slot(struct filler *f, size_t i, const struct sendable *job,
                 size_t stream, bool diverse)
{
    if (!jobarray_fill(f->array, jobarray_slot(f->array, i), job,
                       clock_monotonic()))
        return false;
    f->emptied[i] = 0;
    f->held[i] = (struct held){
        .result_id = job->result_id,
        .wu_id = job->wu_id,
        .create_time = job->create_time,
        .appid = job->appid,
        .feasibility = job->feasibility,
        .hr_class = job->hr_class,
        .stream = stream,
        .diverse = diverse,
    };
    idset_add(&f->known, job->result_id);
    diverse_note_placed(f, job);
    hr_note_placed(f, job);
    if (f->n_placed < f->n_slots)
        f->placed[f->n_placed++] = i;
    log_debug("[RESULT#%" PRId64 "] placed, priority %" PRId32, job->result_id,
              job->priority);
    return true;
}

bool
filler_place_in_empty(struct filler *f, const struct sendable *job,
                      size_t stream, bool diverse)
{
    for (; f->empty_from < f->n_slots; f->empty_from++)
        if (filler_fill_slot(f, f->empty_from, job, stream, diverse))
            return true;
    return false;
}

bool
filler_take_out(struct filler *f, size_t i)
{
    if (!jobarray_clear(jobarray_slot(f->array, i)))
        return false;
    notes_keep(f, i);
    return true;
}

/* Shares are kept: a job by weight takes the place of one of its own stream
 * only.  One that had to go is still unsent: the walk comes to it again. */
static bool
place_for_lower(struct filler *f, const struct sendable *job, size_t stream)
{
    bool by_share = f->streams->turn != TURN_BEST;

    for (size_t k = 0; k < f->n_low && f->low[k].priority < job->priority;
         k++) {
        size_t i = f->low[k].slot;

        if (by_share && f->held[i].stream != stream)
            continue;
        if (f->held[i].result_id != 0 && filler_take_out(f, i) &&
            filler_fill_slot(f, i, job, stream, false)) {
            memmove(&f->low[k], &f->low[k + 1],
                    (f->n_low - k - 1) * sizeof(*f->low));
            f->n_low--;
            return true;
        }
    }
    return false;
}

/* Candidates come in their order, so the first for which there is no place ends
 * the round.  How many jobs were placed, at most `max`, or -1. */
static int
place_candidates(struct filler *f, size_t max)
{
    bool best_first = f->streams->base.order == FEED_BEST;
    size_t placed = 0, stream;

    while (placed < max && !daemon_stopping()) {
        const struct sendable *job;

        if (next_candidate(f, &job, &stream) != 0)
            return -1;
        if (!f->above_only)
            f->more = job != NULL;
        if (job == NULL || (!filler_place_in_empty(f, job, stream, false) &&
                            (!best_first || !place_for_lower(f, job, stream))))
            break;
        streams_took(f->streams, stream);
        placed++;
    }
    return (int)placed;
}

/* First in order, some slots for what differs, the rest in order again. */
static int
fill_round(struct filler *f, size_t empty)
{
    size_t room = diverse_room(f, empty);
    int first = place_candidates(f, empty > 0 ? empty - room : f->n_slots);
    int other = first < 0 ? -1 : diverse_fill(f);
    int rest = 0;

    if (other >= 0 && empty > 0)
        rest = place_candidates(f, f->n_slots);
    if (other < 0 || rest < 0)
        return -1;
    /* Who rests or is passed over may come back if nobody else wants a slot. */
    f->lenient = streams_at_end(f->streams) && !f->more &&
                 jobarray_count(f->array, SLOT_EMPTY) > 0;
    if (notes_flush(f) != 0 || notes_load(f) != 0)
        return -1;
    return first + other + rest;
}

int
filler_fill(struct filler *f)
{
    double t = filler_clock();
    size_t empty;
    bool full, top_is_old, above = false;
    int32_t priority = 0;

    diverse_count(f);
    diverse_evict(f);
    empty = jobarray_count(f->array, SLOT_EMPTY);
    full = empty == 0;
    top_is_old = f->restart || t - f->top_time >= f->d->sleep_interval;
    if (full ? !top_is_old
             : streams_at_end(f->streams) && !f->restart &&
                   t - streams_query_time(f->streams) < DRY_PAUSE)
        return notes_flush(f);
    note_slots(f);
    if (full && f->streams->base.order == FEED_BEST) {
        if (f->n_low == 0)
            return notes_flush(f); /* all are claimed */
        above = true;
        priority = f->low[0].priority;
    }
    hr_count(f);
    if ((full || top_is_old || streams_at_end(f->streams) || f->above_only) &&
        start_from_top(f, above, priority) != 0)
        return -1;
    f->above_only = above;
    return fill_round(f, empty);
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
        if (l->same[i] || !filler_take_out(f, l->slot[i]))
            continue;
        atomic_store(&jobarray_slot(f->array, l->slot[i])->result_id, 0);
        cleared++;
    }
    return cleared;
}

/* The next slots, up to `max`.  0 or -1. */
static int
look_at_some(struct filler *f, size_t max)
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
    if (db_feed_still_unsent(f->d->db, l.id, l.priority, l.n, l.same) != 0)
        return -1;
    cleared = clear_changed(f, &l);
    if (cleared > 0)
        log_normal("%zu jobs taken out: not to be sent, or of another priority",
                   cleared);
    f->restart = f->restart || cleared > 0;
    return notes_flush(f);
}

/* Cancelled, of another priority, sent by another feeder's scheduler, its app
 * deprecated: a look at some slots every few seconds keeps such jobs from
 * sitting there; who has changed many says so, and all slots are looked at. */
static int
check_changes(struct filler *f)
{
    uint32_t changes = segment_changes(f->segment);
    double t = filler_clock();

    if (changes != f->changes) {
        for (size_t k = 0; k < f->n_slots; k += CHECK_BATCH)
            if (look_at_some(f, CHECK_BATCH) != 0)
                return -1;
        f->changes = changes;
        f->restart = true;
    } else if (t - f->check_time >= CHECK_INTERVAL) {
        f->check_time = t;
        return look_at_some(f, f->n_slots);
    }
    return 0;
}

int
filler_check(struct filler *f)
{
    const struct feeder_options *o = f->d->options;

    if (check_changes(f) != 0 || notes_settle(f) != 0 ||
        notes_save_old(f) != 0 || notes_clean(f) != 0)
        return -1;
    if (o->purge_stale > 0 &&
        hr_purge_stale(f, (uint32_t)o->purge_stale * 60) != 0)
        return -1;
    return 0;
}

int
filler_save(struct filler *f)
{
    if (f == NULL)
        return 0;
    for (size_t i = 0; i < f->n_slots; i++)
        if (jobarray_state(jobarray_slot(f->array, i)) != SLOT_EMPTY)
            notes_keep(f, i);
    return notes_flush(f);
}

double
filler_ask_again(const struct filler *f)
{
    return streams_at_end(f->streams)
               ? streams_query_time(f->streams) + DRY_PAUSE
               : 0;
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
    f->d = d;
    f->n_slots = jobarray_n_slots(f->array);
    f->changes = segment_changes(segment);
    f->emptied = xcalloc(f->n_slots, sizeof(*f->emptied));
    f->held = xcalloc(f->n_slots, sizeof(*f->held));
    f->low = xcalloc(f->n_slots, sizeof(*f->low));
    f->placed = xcalloc(f->n_slots, sizeof(*f->placed));
    f->streams = streams_new(d, f->catalog);
    f->restart = true;
    hr_read(f);
    return f;
}

void
filler_free(struct filler *f)
{
    if (f == NULL)
        return;
    streams_free(f->streams);
    diverse_free(f);
    idset_free(&f->known);
    free(f->emptied);
    free(f->held);
    free(f->low);
    free(f->placed);
    free(f->note);
    free(f->hr);
    free(f);
}
