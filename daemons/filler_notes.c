/* filler_notes.c - hosts that could not take a job, and jobs that nobody can.
 *
 * Each slot has the set of hosts that could not take its job for what they are
 * (jobarray.h).  What leaves its slot unsent, and what has been there for a
 * while, is noted in the database, and read from there when the job comes back,
 * so that it takes could_not_send_hosts distinct hosts in all, whatever happens
 * to slots and feeder.  Then the result ends as COULDNT_SEND. */
#include <inttypes.h>
#include <stdlib.h>

#include "buf.h"
#include "clock.h"
#include "config.h"
#include "daemon.h"
#include "filler_private.h"
#include "jobarray.h"
#include "log.h"

enum {
    OLD = 60,             /* s in its slot: not sent at once, so worth a note */
    SAVE_INTERVAL = 10,   /* s */
    CLEAN_INTERVAL = 60,  /* s */
    CLEAN_RESULTS = 1000, /* at a time */
};

void
notes_keep(struct filler *f, size_t i)
{
    struct job_slot *slot = jobarray_slot(f->array, i);
    struct held *h = &f->held[i];
    size_t n = atomic_load(&slot->refusals);
    size_t room = n + 16; /* more may come while we look */
    struct refused_host *host;

    if (n <= h->saved)
        return;
    host = xcalloc(room, sizeof(*host));
    n = jobarray_refused(f->array, slot, h->result_id, host, room);
    if (n > room)
        n = room;
    f->note = xrealloc(f->note, (f->n_notes + n + 1) * sizeof(*f->note));
    for (size_t k = 0; k < n; k++)
        f->note[f->n_notes++] = (struct refused_row){
            .result_id = h->result_id,
            .host = host[k],
        };
    h->saved = (uint32_t)n;
    free(host);
}

int
notes_flush(struct filler *f)
{
    size_t n = f->n_notes;

    f->n_notes = 0;
    return n == 0 ? 0 : db_refused_save(f->d->db, f->note, n);
}

/* Jobs that have just been placed: who could not take them before?  That they
 * are READY already does no harm. */
int
notes_load(struct filler *f)
{
    int64_t *id = xcalloc(f->n_placed + 1, sizeof(*id));
    struct refused_row *row = NULL;
    size_t n = 0;
    int rc = 0;

    for (size_t k = 0; k < f->n_placed; k++)
        id[k] = f->held[f->placed[k]].result_id;
    if (f->n_placed > 0)
        rc = db_refused_load(f->d->db, id, f->n_placed, &row, &n);
    for (size_t k = 0; rc == 0 && n > 0 && k < f->n_placed; k++) {
        size_t i = f->placed[k];
        struct job_slot *slot = jobarray_slot(f->array, i);

        for (size_t r = 0; r < n; r++)
            if (row[r].result_id == f->held[i].result_id)
                f->held[i].saved +=
                    jobarray_refuse(f->array, slot, row[r].result_id,
                                    row[r].host.hostid, row[r].host.reason);
    }
    f->n_placed = 0;
    free(row);
    free(id);
    return rc;
}

int
notes_save_old(struct filler *f)
{
    uint32_t now = clock_monotonic();
    double t = filler_clock();

    if (t - f->save_time < SAVE_INTERVAL)
        return 0;
    f->save_time = t;
    for (size_t i = 0; i < f->n_slots; i++) {
        struct job_slot *slot = jobarray_slot(f->array, i);

        if (jobarray_state(slot) != SLOT_EMPTY &&
            now - jobarray_time_added(slot) >= OLD)
            notes_keep(f, i);
    }
    return notes_flush(f);
}

int
notes_clean(struct filler *f)
{
    double t = filler_clock();

    if (f->streams->base.mod_i != 0 || t - f->clean_time < CLEAN_INTERVAL)
        return 0;
    f->clean_time = t;
    return db_refused_clean(f->d->db, &f->clean_from, CLEAN_RESULTS);
}

/* ---- jobs that nobody can take --------------------------------------------
 */

static bool
is_hopeless(const struct filler *f, size_t i)
{
    struct job_slot *slot = jobarray_slot(f->array, i);
    int64_t hosts = f->d->cfg->could_not_send_hosts;

    return hosts > 0 && jobarray_state(slot) == SLOT_READY &&
           atomic_load(&slot->refusals) >= (uint64_t)hosts &&
           f->d->now - f->held[i].create_time >=
               f->d->cfg->could_not_send_min_age;
}

static void
describe(const struct filler *f, size_t i, struct hopeless *ret)
{
    struct job_slot *slot = jobarray_slot(f->array, i);
    size_t n = jobarray_refused(f->array, slot, f->held[i].result_id, NULL, 0);
    struct refused_host *host = xcalloc(n + 1, sizeof(*host));

    jobarray_refused(f->array, slot, f->held[i].result_id, host, n);
    *ret = (struct hopeless){
        .result_id = f->held[i].result_id,
        .wu_id = f->held[i].wu_id,
        .hosts = n,
    };
    refused_breakdown(host, n, ret->breakdown, sizeof(ret->breakdown));
    free(host);
}

static void
log_ended(const struct hopeless *h, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (h[k].ended)
            log_normal("[RESULT#%" PRId64 "] [WU#%" PRId64 "] cannot be sent: "
                       "%zu hosts could not take it: %s",
                       h[k].result_id, h[k].wu_id, h[k].hosts, h[k].breakdown);
}

/* They leave their slots first, so no scheduler is at work on them; if they
 * cannot be ended now, the walk comes to them again. */
int
notes_settle(struct filler *f)
{
    struct hopeless *h = NULL;
    size_t n = 0;
    int rc = 0;

    for (size_t i = 0; i < f->n_slots; i++) {
        if (!is_hopeless(f, i) || !filler_take_out(f, i))
            continue;
        h = xrealloc(h, (n + 1) * sizeof(*h));
        describe(f, i, &h[n++]);
        atomic_store(&jobarray_slot(f->array, i)->result_id, 0);
    }
    if (n > 0) {
        rc = notes_flush(f);
        if (rc == 0)
            rc = db_could_not_send(f->d->db, h, n, f->d->now);
        log_ended(h, n);
        f->restart = true;
    }
    free(h);
    return rc < 0 ? -1 : 0; /* locked by others: it comes again */
}
