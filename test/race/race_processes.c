/* race_processes.c - eight scheduler processes and a feeder on one real
 * segment; a scheduler is killed every 100 ms for 20 s, the feeder now and
 * then, and both come again.  At the end no slot may be lost, no result unsent,
 * none sent twice, and nothing left in /dev/shm. */
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "catalog.h"
#include "clock.h"
#include "file.h"
#include "jobarray.h"
#include "race.h"
#include "segment.h"

#define SCHEDULERS 8
#define SLOTS 100
#define KILL_EVERY 0.1   /* s */
#define KILLS 200        /* 20 s */
#define FEEDER_KILL 23   /* the feeder dies with every 23rd … */
#define FEEDER_STOP 67   /* … and is stopped cleanly with every 67th */
#define RELOAD_EVERY 100 /* rounds of the feeder */
#define PER_REQUEST 4    /* claims at a time */
#define END_LIMIT 60     /* s until all must be as it was */

static char name[32];
static char lock_path[64];
static struct ledger *ledger; /* shared by all */

/* ---- feeder ---------------------------------------------------------------
 */

static volatile sig_atomic_t stop;

static void
on_term(int sig)
{
    (void)sig;
    stop = 1;
}

static bool
publish(struct segment *s)
{
    struct app app = {.id = 1, .name = "race"};
    struct catalog_source src = {.app = &app, .n_apps = 1};

    return segment_build(s, &src, SLOTS, 100) == 0 && segment_publish(s) == 0;
}

static _Noreturn void
feeder(void)
{
    struct sigaction sa = {.sa_handler = on_term};
    struct feed_state state = {.low = 1};
    struct segment *s;

    sigaction(SIGTERM, &sa, NULL);
    s = segment_create(name, lock_path);
    if (s == NULL || !publish(s))
        _exit(1);
    for (int round = 1; !stop; round++) {
        segment_heartbeat(s);
        if (round % RELOAD_EVERY == 0 && !publish(s))
            _exit(1);
        race_feed(segment_jobarray(s), ledger, &state, clock_monotonic(),
                  CLAIM_LEASE, segment_shares_pids(s));
        segment_wait(s, 0.02);
    }
    segment_destroy(s);
    _exit(0);
}

/* ---- schedulers -----------------------------------------------------------
 */

/* One RPC: claim some, take a moment, end each claim. */
static void
request(struct segment *s, struct random *r)
{
    struct jobarray *array = segment_jobarray(s);
    struct race_claim claim[PER_REQUEST];
    pid_t me = segment_shares_pids(s) ? getpid() : 0;
    size_t n = 0;

    for (int tries = 0; tries < 20 && n < PER_REQUEST; tries++)
        n += race_claim(array, ledger, r, me, clock_monotonic(), &claim[n]);
    clock_sleep(random_next(r, 1000) / 1e6);
    while (n > 0)
        race_finish(array, ledger, r, me, &claim[--n]);
    if (jobarray_count(array, SLOT_READY) < SLOTS / 4)
        segment_wake_feeder(s);
}

static _Noreturn void
scheduler(void)
{
    struct random r = {.state = (uint64_t)getpid() * 0x9e3779b97f4a7c15u};
    struct segment *s = NULL;
    enum segment_state state;

    for (;;) {
        if (s == NULL)
            s = segment_attach(name, &state);
        else
            state = segment_refresh(s);
        if (s == NULL || state != SEGMENT_OK)
            clock_sleep(0.002);
        else
            request(s, &r);
    }
}

/* ---- who kills them -------------------------------------------------------
 */

static pid_t
start(void (*body)(void))
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing outlives the test */
        body();
    }
    if (pid < 0) {
        perror("fork");
        abort();
    }
    return pid;
}

/* End it and see that it is gone.  Its exit status, or 128 + signal. */
static int
end(pid_t pid, int sig)
{
    int status = 0;

    kill(pid, sig);
    if (waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool
replace_feeder(pid_t *pid, int sig, int want)
{
    int got = end(*pid, sig);

    if (got != want)
        printf("the feeder ended with %d instead of %d\n", got, want);
    *pid = start(feeder);
    return got == want;
}

static bool
let_them_race(pid_t *feeder_pid)
{
    pid_t pid[SCHEDULERS];
    struct random r = {.state = 4711};
    bool ok = true;

    for (int i = 0; i < SCHEDULERS; i++)
        pid[i] = start(scheduler);
    for (int kills = 1; kills <= KILLS; kills++) {
        uint32_t victim = random_next(&r, SCHEDULERS);

        clock_sleep(KILL_EVERY);
        ok = end(pid[victim], SIGKILL) == 128 + SIGKILL && ok;
        pid[victim] = start(scheduler);
        if (kills % FEEDER_STOP == 0)
            ok = replace_feeder(feeder_pid, SIGTERM, 0) && ok;
        else if (kills % FEEDER_KILL == 0)
            ok = replace_feeder(feeder_pid, SIGKILL, 128 + SIGKILL) && ok;
    }
    for (int i = 0; i < SCHEDULERS; i++)
        ok = end(pid[i], SIGKILL) == 128 + SIGKILL && ok;
    return ok;
}

/* ---- afterwards -----------------------------------------------------------
 */

static struct segment *
attach(void)
{
    enum segment_state state;
    struct segment *s;
    uint32_t begin = clock_monotonic();

    while ((s = segment_attach(name, &state)) == NULL &&
           clock_monotonic() - begin < END_LIMIT)
        clock_sleep(0.01);
    return s;
}

/* What the dead had claimed comes back, and all of it is sent. */
static bool
all_results_are_sent(struct segment *s)
{
    struct random r = {.state = 815};
    uint32_t begin = clock_monotonic();

    atomic_store(&ledger->limit, 0);
    while (race_unsent(ledger) > 0 && clock_monotonic() - begin < END_LIMIT)
        for (int i = 0; i < 10 && segment_refresh(s) == SEGMENT_OK; i++)
            request(s, &r);
    return race_verdict("processes", ledger);
}

/* With enough results, each slot becomes READY: none is lost. */
static bool
all_slots_are_usable(struct segment *s)
{
    uint32_t begin = clock_monotonic();
    size_t ready = 0;

    atomic_store(&ledger->limit, MAX_RESULTS);
    while (ready < SLOTS && clock_monotonic() - begin < END_LIMIT) {
        clock_sleep(0.02);
        if (segment_refresh(s) == SEGMENT_OK)
            ready = jobarray_count(segment_jobarray(s), SLOT_READY);
    }
    printf("%zu of %d slots usable\n", ready, SLOTS);
    return ready == SLOTS;
}

static bool
nothing_is_left(void)
{
    struct buf pattern = BUF_INIT;
    glob_t found;
    bool clean;

    buf_addf(&pattern, "/dev/shm%s*", name);
    clean = glob(buf_str(&pattern), 0, NULL, &found) == GLOB_NOMATCH;
    if (!clean)
        printf("left in shared memory: %s and others\n", found.gl_pathv[0]);
    globfree(&found);
    buf_free(&pattern);
    return clean;
}

static bool
race(void)
{
    pid_t feeder_pid = start(feeder);
    bool ok = let_them_race(&feeder_pid);
    struct segment *s = attach();

    ok = s != NULL && all_results_are_sent(s) && ok;
    ok = s != NULL && all_slots_are_usable(s) && ok;
    ok = end(feeder_pid, SIGTERM) == 0 && ok;
    segment_detach(s);
    return nothing_is_left() && ok;
}

int
main(void)
{
    char dir[] = "/tmp/race_processes.XXXXXX";
    struct buf b = BUF_INIT;
    bool ok;

    ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ledger == MAP_FAILED || mkdtemp(dir) == NULL) {
        perror("race_processes");
        return EXIT_FAILURE;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    atomic_store(&ledger->limit, MAX_RESULTS);
    segment_name(0, dir, name); /* the folder's name is unique, so is this */
    buf_addf(&b, "%s/lock", dir);
    str_copy(lock_path, sizeof(lock_path), buf_str(&b));
    buf_free(&b);
    ok = race();
    segment_unlink(name);
    file_remove_tree(dir);
    printf("%s\n", ok ? "ok" : "FAILED");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
