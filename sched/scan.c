/* scan.c - the order in which one request looks at the slots. */
#include "scan.h"

#include <stdlib.h>

#include "buf.h"
#include "config.h"
#include "digest.h"
#include "jobarray.h"
#include "rpc.h"

enum { LOOK_AHEAD = 256 }; /* places asked for in one statement */

static int
by_priority(const void *a, const void *b)
{
    const struct scan_place *x = a, *y = b;

    if (x->priority != y->priority)
        return x->priority < y->priority ? 1 : -1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

void
scan_begin(struct scan *scan, struct rpc *rpc)
{
    size_t n_slots = jobarray_n_slots(rpc->jobs);
    size_t start = n_slots > 0 ? (size_t)random_below(n_slots) : 0;
    bool equal = true;

    *scan = (struct scan){0};
    scan->refused = xcalloc(n_dispatch_rules, sizeof(*scan->refused));
    scan->place = xmalloc((n_slots + 1) * sizeof(*scan->place));
    for (size_t i = 0; i < n_slots; i++) {
        struct job_slot *slot = jobarray_slot(rpc->jobs, (start + i) % n_slots);

        if (jobarray_state(slot) != SLOT_READY)
            continue;
        scan->place[scan->n] = (struct scan_place){
            .slot = slot,
            .priority =
                atomic_load_explicit(&slot->priority, memory_order_relaxed),
            .rank = (uint32_t)i,
        };
        if (scan->place[scan->n].priority != scan->place[0].priority)
            equal = false;
        scan->n++;
    }
    if (!equal)
        qsort(scan->place, scan->n, sizeof(*scan->place), by_priority);
}

void
scan_end(struct scan *scan)
{
    free(scan->place);
    free(scan->refused);
    free(scan->taken);
    *scan = (struct scan){0};
}

static int
by_id(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

int
scan_look_ahead(struct scan *scan, struct rpc *rpc)
{
    const struct send_to to = {
        .userid = rpc->user.id,
        .hostid = rpc->host.id,
        .one_per_host = !rpc->cfg->one_result_per_user_per_wu,
    };
    int64_t wu[LOOK_AHEAD];
    size_t n = 0, found;

    if (!scan->looks_ahead || scan->next < scan->asked)
        return 0;
    for (size_t i = scan->next; i < scan->n && n < LOOK_AHEAD; i++)
        wu[n++] = atomic_load_explicit(&scan->place[i].slot->wu_id,
                                       memory_order_relaxed);
    scan->asked = scan->next + n;
    scan->taken =
        xrealloc(scan->taken, (scan->n_taken + n + 1) * sizeof(*scan->taken));
    if (db_sched_workunits_of(rpc->db, wu, n, &to, scan->taken + scan->n_taken,
                              &found) != 0)
        return -1;
    scan->n_taken += found;
    qsort(scan->taken, scan->n_taken, sizeof(*scan->taken), by_id);
    return 0;
}

bool
scan_is_taken(const struct scan *scan, int64_t wu_id)
{
    return scan->n_taken > 0 && bsearch(&wu_id, scan->taken, scan->n_taken,
                                        sizeof(*scan->taken), by_id) != NULL;
}

void
scan_count(struct scan *scan, const struct dispatch_rule *rule)
{
    scan->refused[rule - dispatch_rules]++;
    if (rule->kind == REFUSAL_STOP)
        scan->stopped = true;
}
