/* filler_diverse.c - nobody is starved by a block of jobs that few can take.
 *
 * A fixed order and a small array would let a thousand jobs for one kind of
 * computer fill all slots, and nobody else would get work.  Three things are
 * done against it; none of them reads more than a few pages at a time:
 *
 * 1. A quarter of the slots may go to jobs of classes (feasibility_class()) of
 *    which there is none in the array.  They are found by a look at each
 *    application that is missing, which is one step into an index however long
 *    the block is, and by a second walk that goes on through all that is
 * unsent.
 * 2. A job that several hosts could not take makes room after a while for one
 *    that waits, and rests before it comes back.  So a part of the slots is
 *    always fresh.
 * 3. Of a class that is stuck (half of its jobs have been refused so) the walk
 *    places no more while it has a quarter of the slots.
 *
 * If there is nothing else, a class has the whole array. */
#include <inttypes.h>
#include <stdlib.h>

#include "buf.h"
#include "catalog.h"
#include "clock.h"
#include "daemon.h"
#include "db.h"
#include "filler_private.h"
#include "jobarray.h"
#include "log.h"

enum {
    STUCK_HOSTS = 5,      /* a job that so many could not take is stuck */
    ROOM_FRACTION = 4,    /* one slot in so many for other classes */
    MAX_ROOM = 256,       /* slots */
    EVICT_FRACTION = 8,   /* of the slots at a time */
    DEEP_PAGE = 200,      /* results */
    DEEP_PAGES = 5,       /* in each look */
    DEEP_PAGES_ONCE = 50, /* in the first */
    APP_PAGE = 4,         /* results of an application that is missing */
    MAX_APPS = 50,        /* looked at in each round */
    PASS_OVER = 4000,     /* jobs of stuck classes in one walk */
    REST = 60,            /* s, at most twice that */
};

/* ---- counting -------------------------------------------------------------
 */

static struct class_count *
class_at(const struct filler *f, uint32_t feasibility)
{
    size_t i = feasibility & (f->class_size - 1);

    while (f->class_of[i].jobs != 0 &&
           f->class_of[i].feasibility != feasibility)
        i = (i + 1) & (f->class_size - 1);
    return &f->class_of[i];
}

static void
add_to_class(struct filler *f, uint32_t feasibility, bool stuck)
{
    struct class_count *c = class_at(f, feasibility);

    c->feasibility = feasibility;
    c->jobs++;
    c->stuck += stuck;
}

static bool
is_stuck(const struct job_slot *slot)
{
    return atomic_load_explicit(&slot->refusals, memory_order_relaxed) >=
               STUCK_HOSTS ||
           atomic_load_explicit(&slot->infeasible, memory_order_relaxed) >
               STUCK_HOSTS;
}

static void
make_table(struct filler *f)
{
    f->class_size = 8;
    while (f->class_size < 4 * f->n_slots)
        f->class_size *= 2;
    f->class_of = xcalloc(f->class_size, sizeof(*f->class_of));
}

void
diverse_count(struct filler *f)
{
    if (f->class_of == NULL)
        make_table(f);
    for (size_t i = 0; i < f->class_size; i++)
        f->class_of[i] = (struct class_count){.jobs = 0};
    f->n_diverse = 0;
    f->n_placed = 0;
    for (size_t i = 0; i < f->n_slots; i++) {
        struct job_slot *slot = jobarray_slot(f->array, i);

        if (jobarray_state(slot) == SLOT_EMPTY)
            continue;
        add_to_class(f, f->held[i].feasibility, is_stuck(slot));
        f->n_diverse += f->held[i].diverse;
    }
}

/* The table has room for twice what the slots can hold, and what is placed in a
 * round is counted as well. */
void
diverse_note_placed(struct filler *f, const struct sendable *job)
{
    add_to_class(f, job->feasibility, false);
}

bool
diverse_passes_over(struct filler *f, const struct sendable *job)
{
    const struct class_count *c = class_at(f, job->feasibility);

    if (f->lenient || f->pages_skipped >= PASS_OVER ||
        c->jobs < f->n_slots / ROOM_FRACTION + 1 || 2 * c->stuck < c->jobs)
        return false;
    f->pages_skipped++;
    return true;
}

/* ---- resting --------------------------------------------------------------
 */

bool
diverse_is_resting(const struct filler *f, int64_t result_id)
{
    return !f->lenient && (idset_has(&f->resting[0], result_id) ||
                           idset_has(&f->resting[1], result_id));
}

void
diverse_rest(struct filler *f, int64_t result_id)
{
    double t = filler_clock();

    if (t - f->rest_time >= REST || f->resting[0].n > 8 * f->n_slots) {
        struct idset old = f->resting[1];

        f->resting[1] = f->resting[0];
        f->resting[0] = old;
        idset_clear(&f->resting[0]);
        f->rest_time = t;
    }
    idset_add(&f->resting[0], result_id);
}

void
diverse_free(struct filler *f)
{
    free(f->class_of);
    free(f->deep_page);
    idset_free(&f->resting[0]);
    idset_free(&f->resting[1]);
}

/* ---- making room ----------------------------------------------------------
 */

struct stuck_slot {
    uint32_t refusals;
    size_t slot;
};

static int
most_refused_first(const void *a, const void *b)
{
    const struct stuck_slot *x = a, *y = b;

    if (x->refusals != y->refusals)
        return x->refusals > y->refusals ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static size_t
find_stuck(struct filler *f, struct stuck_slot *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n_slots; i++) {
        struct job_slot *slot = jobarray_slot(f->array, i);

        if (jobarray_state(slot) == SLOT_READY && is_stuck(slot))
            ret[n++] = (struct stuck_slot){atomic_load(&slot->refusals), i};
    }
    qsort(ret, n, sizeof(*ret), most_refused_first);
    return n;
}

void
diverse_evict(struct filler *f)
{
    double t = filler_clock();
    struct stuck_slot *stuck;
    size_t n, max = f->n_slots / EVICT_FRACTION + 1, evicted = 0;

    if (!f->more || t - f->evict_time < f->d->sleep_interval)
        return;
    f->evict_time = t;
    stuck = xcalloc(f->n_slots, sizeof(*stuck));
    n = find_stuck(f, stuck);
    for (size_t k = 0; k < n && evicted < max; k++) {
        size_t i = stuck[k].slot;

        if (!filler_take_out(f, i))
            continue;
        diverse_rest(f, f->held[i].result_id);
        evicted++;
    }
    free(stuck);
    if (evicted > 0)
        log_normal("%zu jobs that several hosts could not take make room",
                   evicted);
}

/* The slot that a job of another class gets when none is empty: of the class
 * that has most (two more, so that it is worth it), the one most often refused,
 * then the least urgent. */
static ptrdiff_t
find_victim(struct filler *f, const struct sendable *job)
{
    size_t mine = class_at(f, job->feasibility)->jobs, most = mine + 2;
    uint32_t refused = 0;
    int32_t priority = 0;
    ptrdiff_t best = -1;

    for (size_t i = 0; i < f->n_slots; i++) {
        struct job_slot *slot = jobarray_slot(f->array, i);
        size_t jobs = class_at(f, f->held[i].feasibility)->jobs;
        uint32_t r = atomic_load(&slot->refusals);
        int32_t p = atomic_load(&slot->priority);

        if (jobarray_state(slot) != SLOT_READY || f->held[i].diverse ||
            jobs < most)
            continue;
        if (best >= 0 && jobs == most &&
            (r < refused || (r == refused && p >= priority)))
            continue;
        best = (ptrdiff_t)i;
        most = jobs;
        refused = r;
        priority = p;
    }
    return best;
}

/* ---- finding others -------------------------------------------------------
 */

static size_t
room_in_all(const struct filler *f)
{
    size_t room = f->n_slots / ROOM_FRACTION;

    if (room == 0 && f->n_slots > 1)
        room = 1;
    if (room > MAX_ROOM)
        room = MAX_ROOM;
    return room > f->n_diverse ? room - f->n_diverse : 0;
}

static bool
is_due(const struct filler *f)
{
    return !f->deep_began ||
           filler_clock() - f->deep_time >= f->d->sleep_interval;
}

size_t
diverse_room(const struct filler *f, size_t empty)
{
    size_t room = is_due(f) ? room_in_all(f) : 0;

    return room < empty ? room : empty - empty / 2;
}

static bool
place(struct filler *f, const struct sendable *job, size_t stream)
{
    ptrdiff_t victim;

    if (filler_place_in_empty(f, job, stream, true))
        return true;
    victim = find_victim(f, job);
    if (victim < 0 || !filler_take_out(f, (size_t)victim))
        return false;
    class_at(f, f->held[victim].feasibility)->jobs--;
    return filler_fill_slot(f, (size_t)victim, job, stream, true);
}

/* Place those whose class has less than its part.  How many. */
static int
place_others(struct filler *f, const struct sendable *job, size_t n,
             size_t room)
{
    size_t part = room_in_all(f) / 8 + 1, placed = 0, stream;

    for (size_t i = 0; i < n && placed < room; i++) {
        if (!filler_accepts(f, &job[i]) ||
            !streams_wants(f->streams, &job[i], &stream) ||
            class_at(f, job[i].feasibility)->jobs >= part)
            continue;
        if (!place(f, &job[i], stream))
            break;
        placed++;
    }
    return (int)placed;
}

static bool
app_is_there(const struct filler *f, int64_t appid)
{
    for (size_t i = 0; i < f->n_slots; i++)
        if (f->held[i].appid == appid &&
            jobarray_state(jobarray_slot(f->array, i)) != SLOT_EMPTY)
            return true;
    return false;
}

/* One step into the index for each application that is not in the array. */
static int
look_at_apps(struct filler *f, size_t room)
{
    size_t n_apps = catalog_n_apps(f->catalog), asked = 0, n;
    struct sendable job[APP_PAGE];
    int placed = 0;

    for (size_t a = 0; a < n_apps && asked < MAX_APPS && room > 0; a++) {
        struct feed_query q = f->streams->base;
        struct app app;
        int some;

        catalog_app(f->catalog, a, &app);
        if (app_is_there(f, app.id))
            continue;
        q.order = q.order == FEED_WORST ? FEED_WORST : FEED_BEST;
        q.appid = app.id;
        filler_note_known(f);
        if (db_feed_page(f->d->db, &q, job, APP_PAGE, &n) < 0)
            return -1;
        some = place_others(f, job, n, room);
        room -= (size_t)some;
        placed += some;
        asked++;
    }
    return placed;
}

/* Go on with the walk through all that is unsent. */
static int
look_deeper(struct filler *f, size_t room)
{
    int pages = f->deep_began ? DEEP_PAGES : DEEP_PAGES_ONCE, placed = 0;

    if (f->deep_page == NULL)
        f->deep_page = xcalloc(DEEP_PAGE, sizeof(*f->deep_page));
    while (pages-- > 0 && room > 0 && !daemon_stopping()) {
        size_t n;
        int rc, some;

        if (!f->deep.started) {
            f->deep = f->streams->base;
            f->deep.order = FEED_BEST;
        }
        filler_note_known(f);
        rc = db_feed_page(f->d->db, &f->deep, f->deep_page, DEEP_PAGE, &n);
        if (rc < 0)
            return -1;
        some = place_others(f, f->deep_page, n, room);
        room -= (size_t)some;
        placed += some;
        if (rc == DB_NONE) {
            f->deep.started = false;
            break;
        }
    }
    return placed;
}

int
diverse_fill(struct filler *f)
{
    size_t room = room_in_all(f);
    int apps, deep = 0;

    if (!is_due(f) || room == 0 || !f->more)
        return 0;
    apps = look_at_apps(f, room);
    if (apps >= 0)
        deep = look_deeper(f, room - (size_t)apps);
    f->deep_time = filler_clock();
    f->deep_began = true;
    if (apps < 0 || deep < 0)
        return -1;
    if (apps + deep > 0)
        log_normal("%d jobs placed before their turn: others of their kind "
                   "are not in the array",
                   apps + deep);
    return apps + deep;
}
