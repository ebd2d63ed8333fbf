/* test_walk.c - a random walk: a million things happen to a changing crowd of
 * workunits, in any order, and after each of them the invariants hold.
 *
 * Every event is one transaction: it is made on a copy, which becomes the
 * workunit, or is dropped as if the program had been killed before its commit.
 * Programs that work in two steps (the validator compares without a lock and
 * stores later) are walked in two events, with others in between.
 *
 * After each event: the invariants of what was touched, and what may not be
 * taken back.  Now and then also: when nothing fails any more, it comes to its
 * end.  If a claim is broken, the seed and all that happened to the workunit
 * are printed.
 *
 *     QUORATE_WALK_SEED=7 QUORATE_WALK_EVENTS=50000000 ./test_walk
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invariant.h"
#include "walk.h"
#include "walk_speed.h"

#define START INT64_C(1000000000)

enum {
    CROWD = 64,
    EVENTS = WALK_IS_SLOW ? 50000 : 250000, /* of each of … */
    SEEDS = 4,                              /* … these walks */
    ALL_EVERY = 1000,
    DRAIN_EVERY = 8,
    CRASH_ONE_IN = 20,
    APP_TARGET = 3,
};

struct member {
    struct life life;
    struct walk_history history;
};

static struct walk {
    uint64_t seed;
    struct walk_chance chance;
    struct transition_config cfg;
    int64_t now;
    long number; /* of events that changed something */
    int64_t last_id;
    struct member crowd[CROWD];
    struct life_verdict slow; /* of the slow validator; wu_id 0 none */
    long effective[N_WALK_EVENTS];
    long dropped;
} w;

/* ---- when a claim is broken -----------------------------------------------
 */

static void
break_off(const struct member *m, const struct life *l, const char *why)
{
    fprintf(stderr, "seed %" PRIu64 ", event %ld: %s\n", w.seed, w.number, why);
    walk_print(&m->history);
    invariant_print(l, w.now);
    ck_abort_msg("seed %" PRIu64 ", event %ld: %s", w.seed, w.number, why);
}

static void
ck_life(const struct member *m, const struct life *l)
{
    const char *broken = invariant_broken(l, true);

    if (broken != NULL)
        break_off(m, l, broken);
    if (invariant_waits_for(l, &w.cfg, w.now) == WAITS_STUCK)
        break_off(m, l, "stuck");
}

static void
ck_drains(const struct member *m, const struct life *l)
{
    const char *why;

    if (invariant_drain(*l, &w.cfg, APP_TARGET, w.now, &why) < 0)
        break_off(m, l, why);
}

/* ---- what happens ---------------------------------------------------------
 */

static void
create(struct member *m)
{
    memset(m, 0, sizeof(*m));
    m->life.wu.id = ++w.last_id;
    m->life.wu.transition_time = w.now;
    walk_limits(&w.chance, &m->life.wu);
    walk_note(&m->history,
              (struct walk_entry){w.number, w.now, WALK_CREATE, -1, NULL});
    w.effective[WALK_CREATE]++;
}

static bool
report(struct life *l, size_t i, enum life_report what, enum read_verdict read,
       int answer)
{
    if (!life_report(l, i, what, w.now))
        return false;
    l->r[i].read = read;
    l->r[i].answer = answer;
    return true;
}

static bool
set_disk(struct life *l, size_t i, enum read_verdict from, enum read_verdict to)
{
    if (l->r[i].read != from || l->r[i].row.outcome != OUTCOME_SUCCESS)
        return false;
    l->r[i].read = to;
    return true;
}

/* Something that is about result i of the workunit. */
static bool
happen_to_result(struct life *l, size_t i, enum walk_event event)
{
    switch (event) {
    case WALK_ACTIVATE:
        return life_activate(l, i);
    case WALK_SEND:
        return life_send(l, i, 1 + (int64_t)walk_below(&w.chance, 50), w.now);
    case WALK_SEND_UNTRUSTED:
        return life_send_untrusted(l, i, 1, APP_TARGET, w.now);
    case WALK_RESEND:
        return life_resend(l, i, w.now);
    case WALK_EXPIRE:
        return life_expire(l, i, w.now);
    case WALK_GOOD:
        return report(l, i, REPORT_GOOD, OUTPUT_OK, 0);
    case WALK_WRONG:
        return report(l, i, REPORT_GOOD, OUTPUT_OK,
                      1 + (int)walk_below(&w.chance, 3));
    case WALK_UNREADABLE:
        return report(l, i, REPORT_GOOD, OUTPUT_BAD, 0);
    case WALK_ODD:
        return report(l, i, REPORT_GOOD, OUTPUT_SUSPICIOUS, 0);
    case WALK_FAILED:
        return life_report(l, i, REPORT_FAILED, w.now);
    case WALK_USER_ABORT:
        return life_report(l, i, REPORT_ABORTED_BY_USER, w.now);
    case WALK_DETACH:
        return life_detach(l, i, w.now);
    case WALK_DISK_LOST:
        return set_disk(l, i, OUTPUT_OK, OUTPUT_LATER);
    case WALK_DISK_BACK:
        return set_disk(l, i, OUTPUT_LATER, OUTPUT_OK);
    case WALK_EXTEND:
        return life_extend(l, i, walk_pause(&w.chance));
    default:
        return false;
    }
}

/* Something that is about the workunit. */
static bool
happen_to_workunit(struct life *l, enum walk_event event)
{
    switch (event) {
    case WALK_TRANSITION:
        return life_transition(l, &w.cfg, w.now);
    case WALK_VALIDATE:
        return life_validate(l, APP_TARGET, w.now);
    case WALK_COMPARE:
        if (l->wu.need_validate)
            life_compare(l, APP_TARGET, &w.slow);
        return l->wu.need_validate;
    case WALK_VERDICT:
        return w.slow.wu_id != 0 && life_store_verdict(l, &w.slow, w.now);
    case WALK_ASSIMILATE:
        return life_assimilate(l, LIFE_TAKEN, w.now);
    case WALK_DEFER:
        return life_assimilate(l, LIFE_DEFERRED, w.now);
    case WALK_ASSIMILATE_FAILS:
        return l->wu.assimilate_state == ASSIMILATE_READY;
    case WALK_DELETE:
    case WALK_DELETE_FAILS:
        return life_delete(l, walk_below(&w.chance, l->n + 1),
                           event == WALK_DELETE);
    case WALK_WITHDRAW:
        return life_withdraw(l);
    case WALK_CANCEL:
        return life_cancel(l, w.now);
    case WALK_PRIORITY:
        return life_priority(l, (int)walk_below(&w.chance, 10));
    default:
        return false;
    }
}

static bool
is_about_result(enum walk_event event)
{
    return event >= WALK_ACTIVATE && event != WALK_CANCEL &&
           event != WALK_PRIORITY && event != WALK_CLOCK;
}

static struct member *
choose(enum walk_event event)
{
    /* the slow validator comes back to its own */
    for (size_t i = 0; event == WALK_VERDICT && i < CROWD; i++)
        if (w.crowd[i].life.wu.id == w.slow.wu_id)
            return &w.crowd[i];
    return &w.crowd[walk_below(&w.chance, CROWD)];
}

static void
ck_all(void)
{
    for (size_t i = 0; i < CROWD; i++) {
        ck_life(&w.crowd[i], &w.crowd[i].life);
        ck_drains(&w.crowd[i], &w.crowd[i].life);
    }
}

static void
count_event(void)
{
    w.number++;
    if (w.number % ALL_EVERY == 0)
        ck_all();
}

static void
take_over(struct member *m, const struct life *after, enum walk_event event,
          int result)
{
    bool dropped = walk_one_in(&w.chance, CRASH_ONE_IN);
    const char *broken;

    count_event();
    walk_note(&m->history, (struct walk_entry){w.number, w.now, event, result,
                                               dropped ? "dropped" : NULL});
    if (dropped) {
        w.dropped++;
        return;
    }
    w.effective[event]++;
    if (event == WALK_VERDICT)
        w.slow.wu_id = 0;
    broken = invariant_step_broken(&m->life, after);
    if (broken != NULL)
        break_off(m, after, broken);
    m->life = *after;
    ck_life(m, &m->life);
    if (w.number % DRAIN_EVERY == 0)
        ck_drains(m, &m->life);
}

static void
happen(struct member *m, enum walk_event event)
{
    struct life after = m->life;
    int result = -1;
    bool changed;

    if (is_about_result(event)) {
        if (after.n == 0)
            return;
        result = (int)walk_below(&w.chance, after.n);
        changed = happen_to_result(&after, (size_t)result, event);
    } else {
        changed = happen_to_workunit(&after, event);
    }
    if (changed)
        take_over(m, &after, event, result);
    else if (memcmp(&after, &m->life, sizeof(after)) != 0)
        break_off(m, &after, "refused, and yet changed");
}

/* To the next moment that anybody waits for, or just on. */
static void
let_time_pass(void)
{
    int64_t next = TRANSITION_NEVER;

    for (size_t i = 0; i < CROWD; i++)
        if (w.crowd[i].life.wu.transition_time > w.now &&
            w.crowd[i].life.wu.transition_time < next)
            next = w.crowd[i].life.wu.transition_time;
    w.now = walk_one_in(&w.chance, 2) && next < TRANSITION_NEVER
                ? next
                : w.now + walk_pause(&w.chance);
    count_event();
    w.effective[WALK_CLOCK]++;
}

static void
one_event(void)
{
    enum walk_event event = walk_next_event(&w.chance);
    struct member *m = choose(event);

    if (event == WALK_CLOCK) {
        let_time_pass();
    } else if (event == WALK_PURGE) {
        if (life_may_be_purged(&m->life) &&
            m->life.wu.transition_time > w.now) {
            w.effective[WALK_PURGE]++;
            count_event();
            create(m);
        }
    } else {
        happen(m, event);
    }
}

/* ---- the walk -------------------------------------------------------------
 */

static void
begin(uint64_t seed)
{
    memset(&w, 0, sizeof(w));
    w.seed = seed;
    walk_seed(&w.chance, seed);
    w.now = START;
    w.cfg.delete_delay = walk_one_in(&w.chance, 2) ? 0 : 2 * INT64_C(86400);
    w.cfg.reliable_priority_on_over = (int)walk_below(&w.chance, 2);
    for (size_t i = 0; i < CROWD; i++)
        create(&w.crowd[i]);
}

static void
print_figures(void)
{
    printf("seed %" PRIu64 ": %ld events, %ld dropped", w.seed, w.number,
           w.dropped);
    for (int i = 0; i < N_WALK_EVENTS; i++)
        printf(", %ld %s", w.effective[i], walk_event_name((enum walk_event)i));
    printf("\n");
}

START_TEST(whatever_happens_nothing_gets_stuck)
{
    long events = walk_setting("QUORATE_WALK_EVENTS", EVENTS);

    begin((uint64_t)walk_setting("QUORATE_WALK_SEED", _i));
    while (w.number < events)
        one_event();
    ck_all();
    print_figures();
    /* a walk in which something never happens shows nothing about it */
    for (int i = 0; i < N_WALK_EVENTS; i++)
        ck_assert_msg(w.effective[i] > 0, "it never happened: %s",
                      walk_event_name((enum walk_event)i));
    ck_assert_int_gt(w.effective[WALK_PURGE], w.number / 100);
    ck_assert_int_lt(w.now, TRANSITION_NEVER); /* the clock can go no further */
}
END_TEST

static Suite *
walk_suite(void)
{
    Suite *s = suite_create("walk");
    TCase *tc = tcase_create("in memory");

    tcase_set_timeout(tc, 3600);
    tcase_add_loop_test(tc, whatever_happens_nothing_gets_stuck, 1, SEEDS + 1);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    SRunner *runner = srunner_create(walk_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
