/* test_feeder.c - the real feeder on a database; the test plays the schedulers
 * in its segment.
 *
 * A feeder with a long --sleep_interval does only what it is woken for, one
 * with a short one what it does by itself. */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "catalog.h"
#include "clock.h"
#include "file.h"
#include "jobarray.h"
#include "project.h"
#include "segment.h"

#define SLOTS 10
#define SOON 2.0 /* s: a call is answered within one; two if busy */
#define LIMIT 20 /* s until the test gives up */

static pid_t feeder;
static struct segment *segment;
static char name[32];

static void
write_config(const char *more)
{
    struct buf text = BUF_INIT;

    buf_addf(&text,
             "<boinc>\n<config>\n"
             "<master_url>http://127.0.0.1/test/</master_url>\n"
             "<long_name>Test</long_name>\n"
             "<db_host>%s</db_host>\n<db_user>%s</db_user>\n"
             "<db_passwd>%s</db_passwd>\n<db_name>%s</db_name>\n"
             "<upload_url>http://127.0.0.1/upload</upload_url>\n"
             "<download_url>http://127.0.0.1/download</download_url>\n"
             "<shmem_work_items>%d</shmem_work_items>\n"
             "<feeder_query_size>4</feeder_query_size>\n%s"
             "</config>\n</boinc>\n",
             getenv("QUORATE_TEST_DB_SOCKET"), getenv("QUORATE_TEST_DB_USER"),
             getenv("QUORATE_TEST_DB_PASSWD"), getenv("QUORATE_TEST_DB_NAME"),
             SLOTS, more);
    project_write("config.xml", buf_str(&text));
    buf_free(&text);
}

/* More options of the feeder: words; NULL ends them. */
static const char *options[8];

static void
start_feeder(const char *sleep_interval)
{
    const char *arg[16] = {"feeder", "-d", "4", "--sleep_interval",
                           sleep_interval};

    for (size_t i = 0; options[i] != NULL; i++)
        arg[5 + i] = options[i];
    feeder = fork();
    if (feeder == 0) {
        int log = open(project_path("feeder.log"),
                       O_WRONLY | O_CREAT | O_APPEND, 0640);

        prctl(PR_SET_PDEATHSIG, SIGTERM); /* if the test fails */
        setpgid(0, 0);
        dup2(log, STDERR_FILENO);
        execv(DAEMONS "/feeder", (char **)(uintptr_t)arg);
        _exit(127);
    }
    ck_assert_int_gt(feeder, 0);
}

/* Its exit status, or 128 + signal. */
static int
end_feeder(int sig)
{
    int status;

    ck_assert_int_eq(kill(feeder, sig), 0);
    ck_assert_int_eq(waitpid(feeder, &status, 0), feeder);
    feeder = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void
attach(void)
{
    enum segment_state state;
    uint32_t begin = clock_monotonic();

    while ((segment = segment_attach(name, &state)) == NULL) {
        ck_assert_msg(clock_monotonic() - begin < LIMIT, "no segment: %s",
                      segment_state_text(state));
        clock_sleep(0.01);
    }
}

static void
setup(void)
{
    memset(options, 0, sizeof(options));
    project_new();
    write_config("");
    segment_name(0, project_path(""), name);
    project_do("INSERT INTO platform (create_time, name, user_friendly_name)"
               " VALUES (1, 'x86_64-pc-linux-gnu', 'Linux')");
}

static void
teardown(void)
{
    segment_detach(segment);
    if (feeder > 0)
        end_feeder(SIGKILL);
    segment_unlink(name);
    project_end();
}

/* Unsent results first … first + n - 1, each of a workunit of its own. */
static void
make_results(struct db *db, int64_t first, int n, int priority)
{
    for (int64_t id = first; id < first + n; id++) {
        struct workunit wu = {.id = id, .appid = 1, .priority = priority};
        struct result r = {.id = id,
                           .workunitid = id,
                           .appid = 1,
                           .priority = priority,
                           .server_state = RESULT_UNSENT};
        struct buf b = BUF_INIT;

        buf_addf(&b, "w%" PRId64, id);
        str_copy(wu.name, sizeof(wu.name), buf_str(&b));
        str_copy(r.name, sizeof(r.name), buf_str(&b));
        buf_free(&b);
        dbtest_workunit(db, &wu);
        dbtest_result(db, &r);
    }
}

static void
results(int64_t first, int n, int priority)
{
    struct db *db = dbtest_open();

    make_results(db, first, n, priority);
    db_close(db);
}

static int
compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The results in READY slots, in the order of their ids: "1 2 3 ". */
static const char *
ready(void)
{
    static struct buf b;
    int64_t id[SLOTS];
    size_t n = 0;

    buf_reset(&b);
    if (segment_refresh(segment) != SEGMENT_OK)
        return "no segment";
    for (size_t i = 0; i < SLOTS; i++) {
        struct job_slot *slot = jobarray_slot(segment_jobarray(segment), i);

        if (jobarray_state(slot) == SLOT_READY)
            id[n++] = atomic_load(&slot->result_id);
    }
    qsort(id, n, sizeof(*id), compare);
    for (size_t i = 0; i < n; i++)
        buf_addf(&b, "%" PRId64 " ", id[i]);
    return buf_str(&b);
}

static void
becomes_ready(const char *want, double seconds)
{
    double begin = clock_now_fine();

    while (strcmp(ready(), want) != 0) {
        ck_assert_msg(clock_now_fine() - begin < seconds,
                      "after %g s there is %s instead of %s", seconds, ready(),
                      want);
        clock_sleep(0.01);
    }
}

/* Claim the slot of this result. */
static struct job_slot *
claim(int64_t id, pid_t me, uint64_t *ret_word)
{
    for (size_t i = 0; i < SLOTS; i++) {
        struct job_slot *slot = jobarray_slot(segment_jobarray(segment), i);
        struct sendable job;

        if (atomic_load(&slot->result_id) == id &&
            jobarray_claim(segment_jobarray(segment), slot, me,
                           clock_monotonic(), ret_word, &job))
            return slot;
    }
    ck_abort_msg("result %" PRId64 " is in no slot", id);
}

static void
send_all_but(int64_t last)
{
    for (int64_t id = 1; id < last; id++) {
        uint64_t word;
        struct job_slot *slot = claim(id, getpid(), &word);

        project_do("UPDATE result SET server_state = 4 WHERE id = %" PRId64,
                   id);
        ck_assert(jobarray_done(slot, word));
    }
}

/* How often was the database asked for results? */
static int
questions(void)
{
    struct buf log = BUF_INIT;
    int n = 0;

    ck_assert_int_eq(file_read(project_path("feeder.log"), 1 << 24, &log), 0);
    for (const char *s = buf_str(&log);
         (s = strstr(s, "SQL: SELECT r.id, r.workunitid")) != NULL; s++)
        n++;
    buf_free(&log);
    return n;
}

/* ---- filling --------------------------------------------------------------
 */

START_TEST(the_array_is_filled_with_the_best)
{
    results(1, 4, 0);
    results(5, 3, 5);
    results(8, 6, 2);
    start_feeder("60");
    attach();
    becomes_ready("1 5 6 7 8 9 10 11 12 13 ", LIMIT);
}
END_TEST

START_TEST(a_call_brings_new_jobs_and_no_old_ones)
{
    results(1, 25, 0);
    start_feeder("60");
    attach();
    becomes_ready("1 2 3 4 5 6 7 8 9 10 ", LIMIT);
    send_all_but(10);
    ck_assert_str_eq(ready(), "10 ");
    segment_wake_feeder(segment);
    becomes_ready("10 11 12 13 14 15 16 17 18 19 ", SOON);
}
END_TEST

START_TEST(a_new_result_reaches_an_idle_array_when_asked_for)
{
    start_feeder("60");
    attach();
    clock_sleep(0.5); /* it has found nothing and sleeps */
    results(1, 1, 0);
    ck_assert_str_eq(ready(), "");
    segment_wake_feeder(segment);
    becomes_ready("1 ", SOON);
}
END_TEST

START_TEST(without_a_call_the_interval_counts)
{
    start_feeder("0.3");
    attach();
    clock_sleep(0.5);
    results(1, 1, 0);
    becomes_ready("1 ", 2);
}
END_TEST

START_TEST(better_jobs_take_the_place_of_the_lowest)
{
    results(1, 8, 0);
    results(9, 12, 3);
    start_feeder("0.3");
    attach();
    becomes_ready("9 10 11 12 13 14 15 16 17 18 ", LIMIT);
    results(31, 2, 9);
    results(33, 1, 3); /* no better than those there */
    becomes_ready("11 12 13 14 15 16 17 18 31 32 ", 2);
    /* Those that had to go come back when there is room. */
    project_do("UPDATE result SET server_state = 5 WHERE id > 10");
    becomes_ready("1 2 3 4 5 6 7 8 9 10 ", LIMIT);
}
END_TEST

START_TEST(what_is_claimed_stays_with_its_owner)
{
    uint64_t word;
    struct job_slot *slot;

    results(1, 10, 0);
    start_feeder("0.3");
    attach();
    becomes_ready("1 2 3 4 5 6 7 8 9 10 ", LIMIT);
    slot = claim(1, getpid(), &word);
    results(11, 10, 5);
    becomes_ready("11 12 13 14 15 16 17 18 19 ", 2);
    ck_assert(jobarray_give_back(slot, word));
    becomes_ready("11 12 13 14 15 16 17 18 19 20 ", 2);
}
END_TEST

START_TEST(asking_for_what_is_not_there_is_cheap)
{
    int before;
    double begin;

    start_feeder("60");
    attach();
    clock_sleep(0.5);
    before = questions();
    begin = clock_now_fine();
    while (clock_now_fine() - begin < 2) {
        segment_wake_feeder(segment);
        clock_sleep(0.002);
    }
    /* 0.25 s between two: eight, and one at either end */
    ck_assert_int_le(questions() - before, 10);
    ck_assert_int_ge(questions() - before, 4);
}
END_TEST

/* ---- taking out -----------------------------------------------------------
 */

START_TEST(withdrawn_jobs_leave_the_array)
{
    results(1, 4, 0);
    start_feeder("0.3");
    attach();
    becomes_ready("1 2 3 4 ", LIMIT);
    project_do("UPDATE result SET server_state = 5 WHERE id = 2");
    project_do("UPDATE workunit SET error_mask = 16 WHERE id = 3");
    becomes_ready("1 4 ", LIMIT);
}
END_TEST

START_TEST(a_dead_schedulers_job_comes_back)
{
    uint64_t word;
    pid_t dead = fork();

    if (dead == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(dead, NULL, 0), dead);
    results(1, 3, 0);
    start_feeder("60");
    attach();
    becomes_ready("1 2 3 ", LIMIT);
    claim(2, dead, &word);
    ck_assert_str_eq(ready(), "1 3 ");
    segment_wake_feeder(segment);
    becomes_ready("1 2 3 ", SOON);
}
END_TEST

/* ---- reload and stop ------------------------------------------------------
 */

static size_t
n_apps(void)
{
    return segment_refresh(segment) == SEGMENT_OK
               ? catalog_n_apps(segment_catalog(segment))
               : 0;
}

static void
becomes_apps(size_t want)
{
    uint32_t begin = clock_monotonic();

    while (n_apps() != want) {
        ck_assert_uint_lt(clock_monotonic() - begin, LIMIT);
        clock_sleep(0.01);
    }
}

START_TEST(tables_are_read_again_when_asked)
{
    results(1, 3, 0);
    start_feeder("60");
    attach();
    becomes_ready("1 2 3 ", LIMIT);
    ck_assert_uint_eq(n_apps(), 1);
    project_do("INSERT INTO app (create_time, name, user_friendly_name)"
               " VALUES (1, 'second', 'second')");
    project_write("reread_db", "");
    becomes_apps(2);
    ck_assert_uint_eq(segment_generation(segment), 2);
    ck_assert(!file_exists(project_path("reread_db")));
    becomes_ready("1 2 3 ", LIMIT);
    project_do("UPDATE app SET deprecated = 1 WHERE name = 'second'");
    kill(feeder, SIGUSR1);
    becomes_apps(1);
    ck_assert_uint_eq(segment_generation(segment), 3);
    becomes_ready("1 2 3 ", LIMIT);
}
END_TEST

START_TEST(a_stop_leaves_nothing)
{
    struct buf path = BUF_INIT;

    results(1, 3, 0);
    start_feeder("60");
    attach();
    becomes_ready("1 2 3 ", LIMIT);
    ck_assert_int_eq(end_feeder(SIGTERM), 0);
    ck_assert_int_eq(segment_refresh(segment), SEGMENT_DOWN);
    buf_addf(&path, "/dev/shm%s", name);
    ck_assert(!file_exists(buf_str(&path)));
    buf_add(&path, ".1");
    ck_assert(!file_exists(buf_str(&path)));
    buf_free(&path);
}
END_TEST

START_TEST(after_a_kill_the_next_goes_on)
{
    results(1, 3, 0);
    start_feeder("60");
    attach();
    becomes_ready("1 2 3 ", LIMIT);
    ck_assert_int_eq(end_feeder(SIGKILL), 128 + SIGKILL);
    ck_assert_str_eq(ready(), "1 2 3 "); /* good for a minute */
    results(4, 1, 0);
    start_feeder("60");
    becomes_ready("1 2 3 4 ", LIMIT);
    ck_assert_uint_eq(segment_generation(segment), 2);
}
END_TEST

START_TEST(a_removed_segment_is_made_anew)
{
    results(1, 3, 0);
    start_feeder("0.2");
    attach();
    becomes_ready("1 2 3 ", LIMIT);
    segment_unlink(name);
    becomes_ready("1 2 3 ", LIMIT);
    ck_assert_int_eq(end_feeder(SIGTERM), 0);
}
END_TEST

START_TEST(there_is_one_feeder_for_each_project)
{
    pid_t first;
    int status;

    results(1, 1, 0);
    start_feeder("60");
    attach();
    becomes_ready("1 ", LIMIT);
    first = feeder;
    start_feeder("60");
    ck_assert_int_eq(waitpid(feeder, &status, 0), feeder);
    feeder = first;
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 111);
    ck_assert_str_eq(ready(), "1 ");
}
END_TEST

START_TEST(dont_send_jobs_keeps_the_array_empty)
{
    results(1, 3, 0);
    write_config("<dont_send_jobs/>\n");
    start_feeder("0.1");
    attach();
    clock_sleep(0.5);
    ck_assert_str_eq(ready(), "");
    ck_assert_uint_eq(n_apps(), 1);
}
END_TEST

/* ---- without a database ---------------------------------------------------
 */

START_TEST(a_lost_connection_is_made_again)
{
    results(1, 3, 0);
    start_feeder("0.2");
    attach();
    becomes_ready("1 2 3 ", LIMIT);
    /* The feeder's is the only other connection to this database. */
    project_do("KILL CONNECTION %" PRId64,
               project_ask("SELECT id FROM information_schema.processlist"
                           " WHERE db = DATABASE() AND id <> CONNECTION_ID()"));
    results(4, 1, 0);
    becomes_ready("1 2 3 4 ", LIMIT);
}
END_TEST

/* A table is away, so all questions fail.  What is in the
 * array stays good, and the heartbeat goes on. */
START_TEST(while_questions_fail_the_heart_beats)
{
    uint32_t begin;

    results(1, 3, 0);
    start_feeder("0.2");
    attach();
    becomes_ready("1 2 3 ", LIMIT);
    project_do("RENAME TABLE app TO app_away");
    begin = clock_monotonic();
    while (clock_monotonic() - begin < 5) {
        uint32_t beat = atomic_load(&segment_anchor(segment)->heartbeat);

        ck_assert_int_le((int32_t)(clock_monotonic() - beat), 2);
        ck_assert_str_eq(ready(), "1 2 3 ");
        clock_sleep(0.1);
    }
    project_do("RENAME TABLE app_away TO app");
    results(4, 1, 0);
    becomes_ready("1 2 3 4 ", LIMIT);
}
END_TEST

/* ---- who is not to be starved ---------------------------------------------
 */

/* Results first … first + n - 1 of app 2. */
static void
results_of_other_app(int64_t first, int n)
{
    struct db *db = dbtest_open();

    if (dbtest_i64(db, "SELECT COUNT(*) FROM app WHERE id = 2") == 0)
        ck_assert_int_eq(dbtest_app(db, "other"), 2);
    make_results(db, first, n, 0);
    db_close(db);
    project_do("UPDATE workunit w JOIN result r ON r.workunitid = w.id "
               "SET w.appid = 2, r.appid = 2 WHERE r.id >= %" PRId64
               " AND r.id < %" PRId64,
               first, first + n);
}

static bool
is_ready(int64_t id)
{
    struct buf want = BUF_INIT, have = BUF_INIT;
    bool found;

    buf_addf(&have, " %s", ready());
    buf_addf(&want, " %" PRId64 " ", id);
    found = strstr(buf_str(&have), buf_str(&want)) != NULL;
    buf_free(&have);
    buf_free(&want);
    return found;
}

static void
comes(int64_t id, double seconds)
{
    double begin = clock_now_fine();

    while (!is_ready(id)) {
        ck_assert_msg(clock_now_fine() - begin < seconds,
                      "after %g s result %" PRId64 " is not among %s", seconds,
                      id, ready());
        clock_sleep(0.01);
    }
}

/* How many READY slots hold results from first to last? */
static int
n_ready(int64_t first, int64_t last)
{
    int n = 0;

    for (int64_t id = first; id <= last; id++)
        n += is_ready(id);
    return n;
}

START_TEST(a_block_of_one_app_does_not_keep_out_another)
{
    results(1, 1000, 5);
    results_of_other_app(2000, 1);
    start_feeder("600");
    attach();
    /* 1000 before it, 10 slots */
    becomes_ready("1 2 3 4 5 6 7 8 9 2000 ", SOON);
}
END_TEST

START_TEST(a_block_of_large_jobs_does_not_keep_out_a_small_one)
{
    results(1, 1000, 5);
    results(2000, 1, 0);
    project_do("UPDATE workunit SET rsc_memory_bound = 6e10 WHERE id < 2000");
    start_feeder("600");
    attach();
    comes(2000, SOON);
}
END_TEST

/* Six hosts cannot take any job that is there now. */
static void
all_are_refused(void)
{
    struct jobarray *array;

    if (segment_refresh(segment) != SEGMENT_OK)
        return;
    array = segment_jobarray(segment);
    for (size_t i = 0; i < SLOTS; i++) {
        struct job_slot *slot = jobarray_slot(array, i);

        for (int host = 1; host <= 6; host++)
            jobarray_refuse(array, slot, atomic_load(&slot->result_id), host,
                            REFUSED_MEMORY);
    }
}

START_TEST(what_nobody_takes_makes_room)
{
    results(1, 30, 5);
    start_feeder("0.1");
    attach();
    becomes_ready("1 2 3 4 5 6 7 8 9 10 ", SOON);
    all_are_refused();
    comes(12, LIMIT); /* the next in order */
    ck_assert_int_lt(n_ready(1, 10), 10);
    /* who was taken out is not forgotten */
    ck_assert_int_ge(project_ask("SELECT COUNT(*) FROM x_refused_host"), 6);
}
END_TEST

START_TEST(without_others_they_stay)
{
    results(1, 10, 5);
    start_feeder("0.1");
    attach();
    becomes_ready("1 2 3 4 5 6 7 8 9 10 ", SOON);
    all_are_refused();
    clock_sleep(0.5);
    ck_assert_str_eq(ready(), "1 2 3 4 5 6 7 8 9 10 ");
}
END_TEST

/* ---- shares and orders ----------------------------------------------------
 */

START_TEST(apps_share_the_slots_by_weight)
{
    results(1, 30, 9);
    results_of_other_app(100, 30);
    project_do("UPDATE app SET weight = IF(id = 1, 1, 4)");
    options[0] = "--allapps";
    start_feeder("600");
    attach();
    comes(100, SOON);
    clock_sleep(0.3);
    ck_assert_int_eq(n_ready(1, 30), 2);
    ck_assert_int_eq(n_ready(100, 130), 8);
}
END_TEST

START_TEST(an_app_without_jobs_lends_its_slots)
{
    results(1, 30, 9);
    results_of_other_app(100, 1);
    project_do("UPDATE app SET weight = IF(id = 1, 1, 9)");
    options[0] = "--allapps";
    start_feeder("0.1");
    attach();
    comes(100, SOON);
    becomes_ready("1 2 3 4 5 6 7 8 9 100 ", SOON);
}
END_TEST

START_TEST(an_app_of_weight_0_gets_none)
{
    results(1, 30, 9);
    results_of_other_app(100, 30);
    project_do("UPDATE app SET weight = IF(id = 1, 0, 1)");
    options[0] = "--allapps";
    start_feeder("0.1");
    attach();
    comes(109, SOON);
    clock_sleep(0.3);
    ck_assert_int_eq(n_ready(1, 30), 0);
}
END_TEST

static const struct {
    const char *promise;
    const char *option[5];
    const char *want; /* results 1 … 12, priority 12 … 1 */
} chosen[] = {
    {"the best",                      {NULL},                               "1 2 3 4 5 6 7 8 9 10 "  },
    {"the same by its names",
     {"--priority_order_create_time"},
     "1 2 3 4 5 6 7 8 9 10 "                                                                         },
    {"low priority first",            {"--priority_asc"},                   "3 4 5 6 7 8 9 10 11 12 "},
    {"by result.random, here the id",
     {"--random_order"},
     "1 2 3 4 5 6 7 8 9 10 "                                                                         },
    {"only the app asked for",        {"--appids", "1"},                    "1 2 3 4 5 6 7 8 9 10 "  },
    {"an app that has none",          {"--appids", "3"},                    ""                       },
    {"a share of results",            {"--mod", "3", "1"},                  "1 4 7 10 "              },
    {"a share of workunits",          {"--wmod", "3", "2"},                 "2 5 8 11 "              },
    {"a share of one app",            {"--mod", "3", "0", "--appids", "1"}, "3 6 9 12 "              },
    {"a share of apps by weight",
     {"--mod", "3", "0", "--allapps"},
     "3 6 9 12 "                                                                                     },
    {"one of each batch in turn",     {"--by_batch"},                       "1 2 3 4 5 6 7 8 11 12 " },
    {"one submitter",                 {"--user", "8"},                      "11 12 "                 },
    {"submitters share",              {"--by_submitter"},                   "1 2 3 4 5 6 7 8 11 12 " },
};

START_TEST(the_operator_chooses)
{
    results(1, 12, 0);
    project_do("UPDATE result SET priority = 13 - id, random = id");
    project_do("UPDATE result SET batch = IF(id > 10, 52, 51)");
    project_do(
        "INSERT IGNORE INTO batch (id, user_id) VALUES (51, 7), (52, 8)");
    project_do("INSERT IGNORE INTO user_submit (user_id, quota) VALUES (7, 1), "
               "(8, 1)");
    memcpy(options, chosen[_i].option, sizeof(chosen[_i].option));
    start_feeder("600");
    attach();
    if (strcmp(chosen[_i].want, "") == 0)
        clock_sleep(0.3);
    becomes_ready(chosen[_i].want, SOON);
}
END_TEST

static const char *const wrong[][5] = {
    {"--random_order", "--priority_asc"},
    {"--allapps",      "--by_batch"    },
    {"--by_batch",     "--user",         "3"},
    {"--mod",                "2",                          "0", "--wmod"},
    {"--wmod",             "2","2"},
    {"--appids",         "1,x"         },
    {"--user",                "alice"                      },
};

START_TEST(what_makes_no_sense_is_refused)
{
    int status;

    memcpy(options, wrong[_i], sizeof(wrong[_i]));
    start_feeder("600");
    ck_assert_int_eq(waitpid(feeder, &status, 0), feeder);
    feeder = 0;
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 100);
}
END_TEST

/* ---- classes of equal hosts -----------------------------------------------
 */

START_TEST(classes_have_their_slots)
{
    results(1, 30, 9);
    project_do("UPDATE app SET homogeneous_redundancy = 2");
    project_do("UPDATE workunit SET hr_class = 258 WHERE id <= 20");
    write_config("<hr_allocate_slots>1</hr_allocate_slots>\n");
    project_write("hr_info.txt", "# type class credit\n2 258 300\n2 386 100\n");
    start_feeder("0.1");
    attach();
    comes(25, SOON); /* 5 slots for those of no class */
    clock_sleep(0.3);
    ck_assert_int_eq(n_ready(21, 30), 5);
    ck_assert_int_eq(n_ready(1, 20), 3); /* 5 x 3/4; 386 has no jobs */
}
END_TEST

START_TEST(stale_jobs_release_their_workunits)
{
    results(1, 2, 9);
    project_do("UPDATE workunit SET hr_class = 258, target_nresults = 1, "
               "max_total_results = 3");
    project_do(
        "INSERT IGNORE INTO result (workunitid, name, appid, server_state) "
        "VALUES (2, 'sibling', 1, 4)");
    options[0] = "--purge_stale";
    options[1] = "1";
    start_feeder("0.1");
    attach();
    becomes_ready("1 2 ", SOON);
    /* as if a minute had gone by */
    for (size_t i = 0; i < SLOTS; i++)
        jobarray_slot(segment_jobarray(segment), i)->time_added -= 61;
    for (int i = 0;
         i < 10 * LIMIT &&
         project_ask("SELECT hr_class FROM workunit WHERE id = 1") != 0;
         i++)
        clock_sleep(0.1);
    ck_assert_int_eq(project_ask("SELECT hr_class FROM workunit WHERE id = 1"),
                     0);
    becomes_ready("1 2 ", SOON); /* nobody else wants the slots */
    ck_assert_int_eq(project_ask("SELECT hr_class FROM workunit WHERE id = 2"),
                     258); /* one is in progress */
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("feeder");
    TCase *tc = tcase_create("feeder");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 90);
    tcase_add_test(tc, the_array_is_filled_with_the_best);
    tcase_add_test(tc, a_call_brings_new_jobs_and_no_old_ones);
    tcase_add_test(tc, a_new_result_reaches_an_idle_array_when_asked_for);
    tcase_add_test(tc, without_a_call_the_interval_counts);
    tcase_add_test(tc, better_jobs_take_the_place_of_the_lowest);
    tcase_add_test(tc, what_is_claimed_stays_with_its_owner);
    tcase_add_test(tc, asking_for_what_is_not_there_is_cheap);
    tcase_add_test(tc, withdrawn_jobs_leave_the_array);
    tcase_add_test(tc, a_dead_schedulers_job_comes_back);
    tcase_add_test(tc, tables_are_read_again_when_asked);
    tcase_add_test(tc, a_stop_leaves_nothing);
    tcase_add_test(tc, after_a_kill_the_next_goes_on);
    tcase_add_test(tc, a_removed_segment_is_made_anew);
    tcase_add_test(tc, there_is_one_feeder_for_each_project);
    tcase_add_test(tc, dont_send_jobs_keeps_the_array_empty);
    tcase_add_test(tc, a_lost_connection_is_made_again);
    tcase_add_test(tc, while_questions_fail_the_heart_beats);
    tcase_add_test(tc, a_block_of_one_app_does_not_keep_out_another);
    tcase_add_test(tc, a_block_of_large_jobs_does_not_keep_out_a_small_one);
    tcase_add_test(tc, what_nobody_takes_makes_room);
    tcase_add_test(tc, without_others_they_stay);
    tcase_add_test(tc, apps_share_the_slots_by_weight);
    tcase_add_test(tc, an_app_without_jobs_lends_its_slots);
    tcase_add_test(tc, an_app_of_weight_0_gets_none);
    tcase_add_loop_test(tc, the_operator_chooses, 0, ARRAY_LEN(chosen));
    tcase_add_loop_test(tc, what_makes_no_sense_is_refused, 0,
                        ARRAY_LEN(wrong));
    tcase_add_test(tc, classes_have_their_slots);
    tcase_add_test(tc, stale_jobs_release_their_workunits);
    suite_add_tcase(suite, tc);
    return dbtest_run(suite);
}
