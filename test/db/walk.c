/* walk.c - the random walk of test_walk.c on a real database: the functions of
 * db/ that schedulers, operators and daemons call, and now and then the daemons
 * themselves, which are killed at one of their statements.
 *
 * After each event all rows are read; the invariants of test/walk/invariant.h
 * hold for each workunit, what was there before is continued by what is there
 * now, only what is final is purged, and the credit of hosts, users and team is
 * that of the results.  At the end nothing fails any more, and all workunits
 * must go.
 *
 * A long walk is made of parts, each from an empty project to an empty project
 * and with the next seed.  If a claim is broken, the seed and what happened to
 * the workunit are printed.
 *
 *     QUORATE_WALK_SEED=7 QUORATE_WALK_EVENTS=1000000 with-mariadb ./walk
 *     make walk EVENTS=1000000
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "log.h"
#include "path.h"
#include "project.h"
#include "template.h"
#include "walk_claims.h"

struct walk w;

/* ---- programs, killed -----------------------------------------------------
 */

static void
arm(void)
{
    char cwd[1024], path[1100], number[16];

    ck_assert_ptr_nonnull(getcwd(cwd, sizeof(cwd)));
    snprintf(path, sizeof(path), "%s/crashpoint.so", cwd);
    snprintf(number, sizeof(number), "%d",
             1 + (int)walk_below(&w.chance, LAST_STATEMENT));
    setenv("LD_PRELOAD", path, 1);
    setenv("QUORATE_DIE_AT", number, 1);
}

static void
disarm(void)
{
    unsetenv("LD_PRELOAD");
    unsetenv("QUORATE_DIE_AT");
}

/* Nobody else may have told it to stop. */
static void
ck_ending(int status, bool armed)
{
    ck_assert_msg(status == 0 || (armed && status == 128 + 9),
                  "seed %" PRIu64 ", event %ld: a program ended with %d",
                  w.seed, w.number, status);
    w.killed += status != 0;
    w.programs++;
}

static int
run_program(enum walk_event event)
{
    switch (event) {
    case WALK_TRANSITION:
        return project_run("transitioner", "-d", "1", NULL);
    case WALK_VALIDATE:
        return project_run("sample_bitwise_validator", "-d", "1", "--app",
                           "app", NULL);
    case WALK_ASSIMILATE:
        return project_run("sample_copy_assimilator", "-d", "1", "--app", "app",
                           NULL);
    case WALK_DELETE:
        return project_run("file_deleter", "-d", "1", NULL);
    default: /* compares with what the database says of its own clock */
        project_clock(0);
        return project_run("db_purge", "-d", "1", "--no_archive", NULL);
    }
}

static bool
has_program(enum walk_event event)
{
    return event == WALK_TRANSITION || event == WALK_VALIDATE ||
           event == WALK_ASSIMILATE || event == WALK_DELETE ||
           event == WALK_PURGE;
}

static void
pass_of_program(enum walk_event event)
{
    bool armed = walk_one_in(&w.chance, KILL_ONE_IN);
    int64_t began = time(NULL);

    project_clock(w.now - began);
    if (armed)
        arm();
    ck_ending(run_program(event), armed);
    disarm();
    w.now += time(NULL) - began + 1; /* its clock went on */
}

/* ---- volunteers and operators ---------------------------------------------
 */

/* An order in words, for a process of its own that is killed. */
static void
obey_and_die(const struct walk_order *o)
{
    const int64_t value[] = {(int64_t)o->event, o->wu,    o->result,
                             o->host,           o->now,   o->amount,
                             (int64_t)o->read,  o->answer};
    char self[] = "/proc/self/exe", word[] = "--order";
    char text[ARRAY_LEN(value)][24];
    char *argv[ARRAY_LEN(value) + 3] = {self, word};

    for (size_t i = 0; i < ARRAY_LEN(value); i++) {
        snprintf(text[i], sizeof(text[i]), "%" PRId64, value[i]);
        argv[i + 2] = text[i];
    }
    arm();
    ck_ending(file_run(argv, NULL, NULL, 0), true);
    disarm();
}

static int
obey_words(char **word)
{
    int64_t v[8];
    struct walk_order o;
    struct db *db = db_open_params(
        getenv("QUORATE_TEST_DB_SOCKET"), getenv("QUORATE_TEST_DB_USER"),
        getenv("QUORATE_TEST_DB_PASSWD"), getenv("QUORATE_TEST_DB_NAME"));
    int rc;

    if (db == NULL)
        return 1;
    for (size_t i = 0; i < ARRAY_LEN(v); i++)
        v[i] = strtoll(word[i], NULL, 10);
    o = (struct walk_order){
        .event = (enum walk_event)v[0],
        .wu = v[1],
        .result = v[2],
        .host = v[3],
        .now = v[4],
        .amount = v[5],
        .read = (enum read_verdict)v[6],
        .answer = (int)v[7],
    };
    rc = steps_obey(db, &o);
    db_close(db);
    return rc == 0 ? 0 : 1;
}

/* The file that a good result brings; one that cannot be read has none. */
static void
upload(const struct walk_order *o)
{
    char text[16];
    struct output_file file;
    struct buf path = BUF_INIT;
    char sql[96];
    char *doc;

    snprintf(sql, sizeof(sql),
             "SELECT xml_doc_in FROM result WHERE id = %" PRId64, o->result);
    doc = dbtest_text(w.db, sql);
    ck_assert_int_eq(result_document_files(doc, &file, 1), 1);
    free(doc);
    ck_assert_int_eq(
        path_hier(project_path("upload"), file.name, FANOUT, true, &path), 0);
    snprintf(text, sizeof(text), "%d", o->answer);
    if (o->read != OUTPUT_BAD)
        ck_assert_int_eq(file_write(buf_str(&path), text, strlen(text), 0640),
                         0);
    buf_free(&path);
}

static bool
is_report(enum walk_event event)
{
    return event >= WALK_GOOD && event <= WALK_USER_ABORT;
}

static bool
fits(enum walk_event event, const struct transition_result *r)
{
    switch (event) {
    case WALK_ACTIVATE:
        return r->server_state == RESULT_INACTIVE;
    case WALK_SEND:
    case WALK_SEND_UNTRUSTED:
        return r->server_state == RESULT_UNSENT;
    case WALK_DISK_LOST:
    case WALK_DISK_BACK:
        return r->outcome == OUTCOME_SUCCESS;
    case WALK_CANCEL:
    case WALK_PRIORITY:
        return true;
    default: /* what is out, or may still come */
        return r->server_state == RESULT_IN_PROGRESS ||
               (r->outcome == OUTCOME_NO_REPLY && is_report(event));
    }
}

/* A result that the event may happen to; now and then any one.  NULL: none. */
static const struct life_result *
choose(enum walk_event event, struct walk_order *o)
{
    bool any = walk_one_in(&w.chance, 20);

    for (int tries = 0; w.after.n > 0 && tries < 30; tries++) {
        const struct life *l = &w.after.life[walk_below(&w.chance, w.after.n)];
        const struct life_result *r;

        if (l->n == 0)
            continue;
        r = &l->r[walk_below(&w.chance, l->n)];
        if (!any && !fits(event, &r->row))
            continue;
        o->wu = l->wu.id;
        o->result = r->row.id;
        o->amount = l->wu.delay_bound;
        return r;
    }
    return NULL;
}

/* Returns the id of the workunit, 0 none. */
static int64_t
give_orders(enum walk_event event)
{
    struct walk_order o = {.event = event, .now = w.now};
    const struct life_result *r = choose(event, &o);

    if (r == NULL)
        return 0;
    o.host = r->row.hostid != 0 ? r->row.hostid
                                : 1 + (int64_t)walk_below(&w.chance, HOSTS);
    o.answer = r->answer;
    if (event == WALK_DISK_LOST || event == WALK_DISK_BACK)
        o.read = event == WALK_DISK_LOST ? OUTPUT_LATER : OUTPUT_OK;
    if (is_report(event)) {
        o.answer = event == WALK_WRONG ? 1 + (int)walk_below(&w.chance, 3) : 0;
        o.read = event == WALK_UNREADABLE ? OUTPUT_BAD
                 : event == WALK_ODD      ? OUTPUT_SUSPICIOUS
                                          : OUTPUT_OK;
        if (event != WALK_FAILED && event != WALK_USER_ABORT)
            upload(&o);
    }
    if (event == WALK_PRIORITY || event == WALK_EXTEND)
        o.amount = walk_pause(&w.chance) % 1000000;
    if (walk_one_in(&w.chance, RPC_KILL_ONE_IN))
        obey_and_die(&o);
    else
        ck_assert_int_eq(steps_obey(w.db, &o), 0);
    return o.wu;
}

static void
create(void)
{
    struct workunit wu = {.id = 0};
    char name[32];
    int64_t id;

    walk_limits(&w.chance, &wu);
    snprintf(name, sizeof(name), "walk_%ld", w.name++);
    project_clock(w.now - time(NULL));
    id = project_workunit(name, wu);
    project_do("UPDATE workunit SET transition_time = %" PRId64
               ", max_error_results = %d, size_class = %d WHERE id = "
               "%" PRId64,
               w.now, wu.max_error_results, wu.size_class, id);
}

/* ---- one event ------------------------------------------------------------
 */

/* To the next moment that anybody waits for, or just on. */
static void
let_time_pass(void)
{
    int64_t next = TRANSITION_NEVER;

    for (size_t i = 0; i < w.after.n; i++)
        if (w.after.life[i].wu.transition_time > w.now &&
            w.after.life[i].wu.transition_time < next)
            next = w.after.life[i].wu.transition_time;
    w.now = walk_one_in(&w.chance, 2) && next < TRANSITION_NEVER
                ? next
                : w.now + 1 + walk_pause(&w.chance);
}

/* Does somebody wait for this pass?  Now and then it is made in any case. */
static bool
is_wanted(enum walk_event event)
{
    bool wanted = event == WALK_WITHDRAW || walk_one_in(&w.chance, 20);

    for (size_t i = 0; i < w.after.n && !wanted; i++) {
        const struct life *l = &w.after.life[i];

        if (event == WALK_TRANSITION)
            wanted = l->wu.transition_time <= w.now;
        else if (event == WALK_VALIDATE || event == WALK_COMPARE)
            wanted = l->wu.need_validate;
        else if (event == WALK_VERDICT)
            wanted = w.steps.compared.n > 0;
        else if (event == WALK_PURGE)
            wanted = life_may_be_purged(l);
        else if (event == WALK_DELETE || event == WALK_DELETE_FAILS)
            wanted =
                invariant_waits_for(l, &w.steps.cfg, w.now) == WAITS_DELETER;
        else
            wanted = l->wu.assimilate_state == ASSIMILATE_READY;
    }
    return wanted;
}

/* Has it changed anything? */
static bool
happen(enum walk_event event)
{
    long killed = w.killed;
    int64_t wu;

    if (event == WALK_CLOCK) {
        let_time_pass();
        return true;
    }
    if (event == WALK_CREATE) {
        create();
        return look_at_all(event, NULL);
    }
    if (event >= WALK_ACTIVATE) {
        wu = give_orders(event);
        if (wu == 0)
            return false;
        return look_at_one(wu, event, w.killed > killed ? "killed" : NULL);
    }
    if (!is_wanted(event))
        return false;
    if (has_program(event) && walk_one_in(&w.chance, PROGRAM_ONE_IN))
        pass_of_program(event);
    else
        ck_assert_int_eq(steps_pass(w.db, &w.steps, event, w.now), 0);
    return look_at_all(event, w.killed > killed ? "killed" : NULL);
}

static void
one_event(void)
{
    enum walk_event event =
        w.after.n < CROWD ? WALK_CREATE : walk_next_event(&w.chance);
    long killed = w.killed;

    if (!happen(event) && w.killed == killed)
        return;
    w.effective[event]++;
    w.number++;
    if (w.number % CREDIT_EVERY == 0) {
        (void)look_at_all(event, NULL);
        ck_all_credit();
    }
    if (w.number % AUDIT_EVERY == 0)
        ck_audit(false);
}

/* ---- the end --------------------------------------------------------------
 */

static bool
serve(enum walk_event event, size_t i, size_t k)
{
    const struct life_result *r = &w.after.life[i].r[k];
    struct walk_order o = {
        .event = event,
        .wu = w.after.life[i].wu.id,
        .result = r->row.id,
        .host = r->row.hostid != 0 ? r->row.hostid : 1,
        .now = w.now,
        .amount = w.after.life[i].wu.delay_bound,
        .answer = event == WALK_DISK_BACK ? r->answer : 0,
    };

    if (!fits(event, &r->row) ||
        (event == WALK_DISK_BACK && r->read != OUTPUT_LATER) ||
        (event == WALK_GOOD && r->row.server_state != RESULT_IN_PROGRESS))
        return false;
    ck_assert_int_eq(steps_obey(w.db, &o), 0);
    return true;
}

/* Each does all that it can; nobody fails. */
static bool
round_without_failure(void)
{
    static const enum walk_event passes[] = {
        WALK_TRANSITION, WALK_VALIDATE,   WALK_TRANSITION, WALK_ASSIMILATE,
        WALK_ASSIMILATE, WALK_TRANSITION, WALK_DELETE,     WALK_PURGE};
    static const enum walk_event orders[] = {WALK_DISK_BACK, WALK_ACTIVATE,
                                             WALK_SEND, WALK_GOOD};
    bool changed = false;

    for (size_t o = 0; o < ARRAY_LEN(orders); o++) {
        for (size_t i = 0; i < w.after.n; i++)
            for (size_t k = 0; k < w.after.life[i].n; k++)
                (void)serve(orders[o], i, k);
        changed = look_at_all(orders[o], NULL) || changed;
    }
    for (size_t p = 0; p < ARRAY_LEN(passes); p++) {
        ck_assert_int_eq(steps_pass(w.db, &w.steps, passes[p], w.now), 0);
        changed = look_at_all(passes[p], NULL) || changed;
    }
    return changed;
}

static void
drain(void)
{
    int rounds = 0;

    (void)look_at_all(WALK_CLOCK, NULL);
    for (; w.after.n > 0 && rounds < 300; rounds++)
        if (!round_without_failure())
            let_time_pass();
    for (size_t i = 0; i < w.after.n; i++)
        break_off(NULL, &w.after.life[i], "it does not come to its end");
    ck_assert_int_eq(dbtest_i64(w.db, "SELECT COUNT(*) FROM result"), 0);
    ck_all_credit();
    ck_audit(true);
    printf("all gone after %d rounds without failure\n", rounds);
}

/* ---- the walk -------------------------------------------------------------
 */

static void
begin(long part)
{
    long left = walk_setting("QUORATE_WALK_EVENTS", EVENTS) - part * PART;

    w.seed = (uint64_t)(walk_setting("QUORATE_WALK_SEED", 1) + part);
    w.events = left < PART ? left : PART;
    walk_seed(&w.chance, w.seed);
    w.now = START;
    w.steps.chance = &w.chance;
    w.steps.app_target = APP_TARGET;
    w.db = project_new();
    project_do("UPDATE app SET target_nresults = %d", APP_TARGET);
    log_set_level(LOG_LEVEL_CRITICAL);
}

static void
print_figures(void)
{
    printf("seed %" PRIu64 ": %ld events, %ld of programs, %ld killed, %ld "
           "purged, credit %.6g\n",
           w.seed, w.number, w.programs, w.killed, w.purged, w.purged_credit);
    for (int i = 0; i < N_WALK_EVENTS; i++)
        printf("%7ld %s\n", w.effective[i],
               walk_event_name((enum walk_event)i));
}

/* Of walks that take long. */
static void
tell_progress(void)
{
    static long told;

    if (w.number / TELL_EVERY == told)
        return;
    told = w.number / TELL_EVERY;
    fprintf(stderr, "seed %" PRIu64 ": %ld events, %ld killed, %ld purged\n",
            w.seed, w.number, w.killed, w.purged);
}

START_TEST(whatever_happens_nothing_gets_stuck)
{
    begin(_i);
    while (w.number < w.events) {
        one_event();
        tell_progress();
    }
    print_figures();
    drain();
    /* a walk in which something never happens shows nothing about it */
    for (int i = 0; i < N_WALK_EVENTS && w.number >= 20000; i++)
        ck_assert_msg(
            w.effective[i] > 0 || i == WALK_WITHDRAW || i == WALK_COMPARE,
            "it never happened: %s", walk_event_name((enum walk_event)i));
    ck_assert_int_lt(w.now, TRANSITION_NEVER); /* the clock can go no further */
    steps_free(&w.steps);
    project_end();
}
END_TEST

static Suite *
walk_suite(void)
{
    Suite *s = suite_create("walk");
    TCase *tc = tcase_create("database");
    int parts =
        (int)((walk_setting("QUORATE_WALK_EVENTS", EVENTS) + PART - 1) / PART);

    tcase_set_timeout(tc, 1800);
    tcase_add_loop_test(tc, whatever_happens_nothing_gets_stuck, 0, parts);
    suite_add_tcase(s, tc);
    return s;
}

int
main(int argc, char **argv)
{
    if (argc == 10 && strcmp(argv[1], "--order") == 0)
        return obey_words(argv + 2);
    return dbtest_run(walk_suite());
}
