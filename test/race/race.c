/* race.c - a ledger that plays the database, and one step of each side. */
#include "race.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jobarray.h"

uint32_t
random_next(struct random *r, uint32_t below)
{
    /* xorshift64: any sequence that differs from process to process will do */
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return (uint32_t)(r->state >> 32) % below;
}

/* Every field depends on the id, so that two halves of two jobs show. */
static struct sendable
job_of(int64_t id)
{
    return (struct sendable){
        .result_id = id,
        .wu_id = id * 3,
        .appid = id * 5,
        .batch = id * 7,
        .app_version_id = id * 11,
        .delay_bound = id * 13,
        .rsc_fpops_est = (double)id,
        .rsc_fpops_bound = (double)id * 2,
        .rsc_memory_bound = (double)id * 3,
        .rsc_disk_bound = (double)id * 4,
        .rsc_bandwidth_bound = (double)id * 5,
        .priority = (int32_t)(id % 7),
        .hr_class = (int32_t)(id % 1000),
        .app_version_num = (int32_t)(id % 999),
        .size_class = (int32_t)(id % 998),
    };
}

static bool
is_whole(const struct sendable *s)
{
    struct sendable want = job_of(s->result_id);

    return s->wu_id == want.wu_id && s->appid == want.appid &&
           s->batch == want.batch && s->app_version_id == want.app_version_id &&
           s->delay_bound == want.delay_bound &&
           s->rsc_fpops_est == want.rsc_fpops_est &&
           s->rsc_fpops_bound == want.rsc_fpops_bound &&
           s->rsc_memory_bound == want.rsc_memory_bound &&
           s->rsc_disk_bound == want.rsc_disk_bound &&
           s->rsc_bandwidth_bound == want.rsc_bandwidth_bound &&
           s->priority == want.priority && s->hr_class == want.hr_class &&
           s->app_version_num == want.app_version_num &&
           s->size_class == want.size_class;
}

/* ---- feeder ---------------------------------------------------------------
 */

static bool
in_array(const int64_t *ids, size_t n, int64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* The next result for a slot, or 0.  *from is where the search goes on. */
static int64_t
next_result(struct ledger *l, struct feed_state *f, int64_t *from,
            const int64_t *ids, size_t n)
{
    int64_t created = atomic_load(&l->created);

    while (f->low <= created && atomic_load(&l->sent[f->low]) != 0)
        f->low++;
    if (*from < f->low)
        *from = f->low;
    for (; *from <= created; (*from)++)
        if (atomic_load(&l->sent[*from]) == 0 && !in_array(ids, n, *from))
            return (*from)++;
    if (created >= atomic_load(&l->limit) || created >= MAX_RESULTS)
        return 0;
    *from = created + 2;
    atomic_store(&l->created, created + 1);
    return created + 1;
}

void
race_feed(struct jobarray *array, struct ledger *l, struct feed_state *f,
          uint32_t now, uint32_t lease, bool same_pids)
{
    int64_t ids[MAX_SLOTS], from = 1, id;
    size_t n = jobarray_n_slots(array);

    jobarray_sweep(array, now, lease, same_pids);
    /* First what is in the array, then what is unsent: see feeder.c. */
    for (size_t i = 0; i < n; i++) {
        struct job_slot *slot = jobarray_slot(array, i);
        bool empty = jobarray_state(slot) == SLOT_EMPTY;

        ids[i] = empty ? 0 : atomic_load(&slot->result_id);
    }
    if (f->low < 1)
        f->low = 1;
    for (size_t i = 0; i < n; i++) {
        struct job_slot *slot = jobarray_slot(array, i);
        struct sendable job;

        if (jobarray_state(slot) != SLOT_EMPTY)
            continue;
        id = next_result(l, f, &from, ids, n);
        if (id == 0)
            return;
        job = job_of(id);
        jobarray_fill(array, slot, &job, now);
    }
}

/* ---- scheduler ------------------------------------------------------------
 */

bool
race_claim(struct jobarray *array, struct ledger *l, struct random *r, pid_t me,
           uint32_t now, struct race_claim *ret)
{
    struct sendable job;
    size_t slot = random_next(r, (uint32_t)jobarray_n_slots(array));

    if (!jobarray_claim(array, jobarray_slot(array, slot), me, now, &ret->word,
                        &job))
        return false;
    if (atomic_exchange(&l->holder[slot], (int)me) != 0)
        atomic_fetch_add(&l->intruders, 1);
    if (!is_whole(&job))
        atomic_fetch_add(&l->torn, 1);
    ret->slot = slot;
    ret->result_id = job.result_id;
    return true;
}

/* UPDATE … WHERE server_state = UNSENT: one row or none. */
static void
send_result(struct ledger *l, int64_t id)
{
    uint8_t unsent = 0;

    if (!atomic_compare_exchange_strong(&l->sent[id], &unsent, 1))
        atomic_fetch_add(&l->refused, 1);
    else if (atomic_fetch_add(&l->deliveries[id], 1) != 0)
        atomic_fetch_add(&l->sent_twice, 1);
}

void
race_finish(struct jobarray *array, struct ledger *l, struct random *r,
            pid_t me, const struct race_claim *claim)
{
    struct job_slot *slot = jobarray_slot(array, claim->slot);
    uint32_t dice = random_next(r, 100);
    int holder = (int)me;
    bool still_ours;

    if (dice < 70)
        send_result(l, claim->result_id);
    atomic_compare_exchange_strong(&l->holder[claim->slot], &holder, 0);
    if (dice < 75) { /* 5 of them unsent: they must come again */
        still_ours = jobarray_done(slot, claim->word);
    } else {
        jobarray_refuse(array, slot, claim->result_id, (int64_t)me,
                        REFUSED_MEMORY);
        still_ours = jobarray_give_back(slot, claim->word);
    }
    if (!still_ours)
        atomic_fetch_add(&l->lost_leases, 1);
}

/* ---- the end --------------------------------------------------------------
 */

int64_t
race_unsent(const struct ledger *l)
{
    int64_t n = 0, created = atomic_load(&l->created);

    for (int64_t id = 1; id <= created; id++)
        n += atomic_load(&l->sent[id]) == 0;
    return n;
}

bool
race_verdict(const char *title, const struct ledger *l)
{
    int64_t unsent = race_unsent(l);

    printf("%s: %" PRId64 " results, %" PRId64 " unsent, %" PRId64
           " sent twice, %" PRId64 " torn, %" PRId64 " refused, %" PRId64
           " leases lost, %" PRId64 " intruders\n",
           title, atomic_load(&l->created), unsent, atomic_load(&l->sent_twice),
           atomic_load(&l->torn), atomic_load(&l->refused),
           atomic_load(&l->lost_leases), atomic_load(&l->intruders));
    return unsent == 0 && atomic_load(&l->sent_twice) == 0 &&
           atomic_load(&l->torn) == 0 && atomic_load(&l->created) > 0;
}
