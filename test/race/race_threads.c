/* race_threads.c - eight schedulers and a feeder as threads on one job array in
 * ordinary memory.  Built a second time with ThreadSanitizer, which reports any
 * access that the rules of the array leave unordered. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "jobarray.h"
#include "race.h"

#define SCHEDULERS 8
#define SLOTS 32

struct run {
    struct jobarray *array;
    struct ledger *ledger;
    uint32_t lease;
    uint32_t stall_every; /* one claim of so many is slept on; 0: none */
    _Atomic bool over;    /* schedulers end */
    _Atomic bool drained; /* the feeder ends */
    _Atomic int64_t stalls;
};

struct worker {
    struct run *run;
    int me; /* 1 …: stands for the pid */
    pthread_t thread;
};

static uint32_t
seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint32_t)t.tv_sec;
}

static void
nap(long milliseconds)
{
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    nanosleep(&t, NULL);
}

static void *
scheduler(void *arg)
{
    struct worker *w = arg;
    struct run *run = w->run;
    struct random r = {.state = (uint64_t)w->me * 0x9e3779b97f4a7c15u};
    struct race_claim claim;

    while (!atomic_load(&run->over)) {
        if (!race_claim(run->array, run->ledger, &r, w->me, seconds(),
                        &claim)) {
            sched_yield();
            continue;
        }
        if (run->stall_every > 0 && random_next(&r, run->stall_every) == 0) {
            atomic_fetch_add(&run->stalls, 1);
            nap(2200); /* more than a lease of 1 s, whatever the fractions */
        }
        race_finish(run->array, run->ledger, &r, w->me, &claim);
    }
    return NULL;
}

static void *
feeder(void *arg)
{
    struct run *run = arg;
    struct feed_state state = {.low = 1};

    while (!atomic_load(&run->drained)) {
        race_feed(run->array, run->ledger, &state, seconds(), run->lease,
                  false);
        sched_yield();
    }
    return NULL;
}

/* All that is left is sent by one more scheduler, in ten seconds at most. */
static void
drain(struct run *run)
{
    struct random r = {.state = 12345};
    struct race_claim claim;
    uint32_t begin = seconds();

    atomic_store(&run->ledger->limit, 0);
    while (race_unsent(run->ledger) > 0 && seconds() - begin < 10)
        for (int i = 0; i < 1000; i++)
            if (race_claim(run->array, run->ledger, &r, SCHEDULERS + 1,
                           seconds(), &claim))
                race_finish(run->array, run->ledger, &r, SCHEDULERS + 1,
                            &claim);
    atomic_store(&run->drained, true);
}

/* Each slot must still take a job and give it out. */
static bool
all_slots_work(struct jobarray *array)
{
    size_t good = 0;

    for (size_t i = 0; i < SLOTS; i++) {
        struct job_slot *slot = jobarray_slot(array, i);
        struct sendable job = {.result_id = 1}, copy;
        uint64_t word;

        jobarray_clear(slot);
        good += jobarray_fill(array, slot, &job, 1) &&
                jobarray_claim(array, slot, 1, 1, &word, &copy) &&
                jobarray_done(slot, word);
    }
    if (good != SLOTS)
        printf("only %zu of %d slots still work\n", good, SLOTS);
    return good == SLOTS;
}

static void
let_them_race(struct run *run, unsigned duration)
{
    struct worker worker[SCHEDULERS];
    pthread_t feeder_thread;

    if (pthread_create(&feeder_thread, NULL, feeder, run) != 0)
        abort();
    for (int i = 0; i < SCHEDULERS; i++) {
        worker[i] = (struct worker){.run = run, .me = i + 1};
        if (pthread_create(&worker[i].thread, NULL, scheduler, &worker[i]) != 0)
            abort();
    }
    nap(1000 * (long)duration);
    atomic_store(&run->over, true);
    for (int i = 0; i < SCHEDULERS; i++)
        pthread_join(worker[i].thread, NULL);
    drain(run);
    pthread_join(feeder_thread, NULL);
}

static bool
race(const char *title, uint32_t lease, uint32_t stall_every, unsigned duration)
{
    struct run run = {.lease = lease, .stall_every = stall_every};
    void *memory = aligned_alloc(64, jobarray_size(SLOTS, 100));
    const struct ledger *l;
    bool ok;

    if (memory == NULL || (run.ledger = calloc(1, sizeof(*run.ledger))) == NULL)
        abort();
    jobarray_init(memory, SLOTS, 100);
    run.array = jobarray_check(memory, jobarray_size(SLOTS, 100));
    l = run.ledger;
    atomic_store(&run.ledger->limit, MAX_RESULTS);
    let_them_race(&run, duration);

    ok = race_verdict(title, l);
    /* Only who overslept its lease may find its slot taken, its result sent,
     * or somebody else's name on what it holds. */
    ok = ok && atomic_load(&l->lost_leases) <= atomic_load(&run.stalls);
    ok = ok && atomic_load(&l->refused) <= atomic_load(&run.stalls);
    ok = ok && atomic_load(&l->intruders) <= atomic_load(&run.stalls);
    ok = ok && (stall_every == 0 || atomic_load(&l->lost_leases) > 0);
    ok = all_slots_work(run.array) && ok;
    free(run.ledger);
    free(memory);
    printf("%s: %s\n", title, ok ? "ok" : "FAILED");
    return ok;
}

int
main(void)
{
    bool ok = race("all awake", 60, 0, 2);

    ok = race("some oversleep", 1, 300, 5) && ok;
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
