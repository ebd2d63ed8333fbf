/* test_daemon.c - what all daemons share: start and its failures, stop,
 * heartbeat, patience with rows that fail; and several at a time. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "file.h"
#include "health.h"
#include "path.h"
#include "project.h"
#include "setaside.h"

#define MINUTE 60
#define DAY 86400

static void
setup(void)
{
    project_new();
}

static void
teardown(void)
{
    project_end();
}

/* Start the transitioner as its supervisor does: it runs until told. */
static pid_t
start(const char *mod_n, const char *mod_i)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid != 0)
        return pid;
    if (mod_n != NULL)
        execl(DAEMONS "/transitioner", "transitioner", "--sleep_interval",
              "0.1", "--mod", mod_n, mod_i, NULL);
    else
        execl(DAEMONS "/transitioner", "transitioner", "--sleep_interval",
              "0.1", NULL);
    _exit(127);
}

static const char *
health_path(const char *instance)
{
    char below[256];

    snprintf(below, sizeof(below), "pid_%s/%s.health", path_short_host(),
             instance);
    return project_path(below);
}

static void
wait_until_idle(const char *instance)
{
    struct health h = {.pid = 0};

    for (int i = 0; i < 200; i++) {
        if (health_read(health_path(instance), &h) == 0 &&
            strcmp(h.state, "idle") == 0)
            return;
        clock_sleep(0.05);
    }
    ck_abort_msg("%s does not get idle", instance);
}

/* Its exit status; at most 10 s. */
static int
end_of(pid_t pid)
{
    int status;

    for (int i = 0; i < 200; i++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        clock_sleep(0.05);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    ck_abort_msg("it does not end");
    return -1;
}

static const int stoppers[] = {SIGTERM, SIGINT, SIGHUP};

START_TEST(a_signal_ends_it_and_its_heartbeat)
{
    pid_t pid = start(NULL, NULL);

    wait_until_idle("transitioner");
    kill(pid, stoppers[_i]);
    ck_assert_int_eq(end_of(pid), 0);
    ck_assert(!file_exists(health_path("transitioner")));
}
END_TEST

START_TEST(the_stop_file_ends_it)
{
    pid_t pid = start(NULL, NULL);

    wait_until_idle("transitioner");
    project_write("stop_daemons", "");
    ck_assert_int_eq(end_of(pid), 0);
    /* but one pass that somebody asks for is done */
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
}
END_TEST

START_TEST(each_instance_has_a_heartbeat_of_its_own)
{
    pid_t pid[] = {start(NULL, NULL), start("2", "0"), start("2", "1")};
    struct health h;

    wait_until_idle("transitioner");
    wait_until_idle("transitioner-mod_2_0");
    wait_until_idle("transitioner-mod_2_1");
    ck_assert_int_eq(health_read(health_path("transitioner-mod_2_1"), &h), 0);
    ck_assert_int_eq(h.pid, pid[2]);
    for (size_t i = 0; i < ARRAY_LEN(pid); i++) {
        kill(pid[i], SIGTERM);
        ck_assert_int_eq(end_of(pid[i]), 0);
    }
}
END_TEST

START_TEST(the_log_is_opened_again)
{
    char log[1024], old[1024];
    pid_t pid;

    snprintf(log, sizeof(log), "%s", project_path("log"));
    snprintf(old, sizeof(old), "%s", project_path("old"));
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (freopen(log, "a", stderr) == NULL)
            _exit(126);
        execl(DAEMONS "/transitioner", "transitioner", "--sleep_interval",
              "0.1", NULL);
        _exit(127);
    }
    wait_until_idle("transitioner");
    ck_assert_int_eq(rename(log, old), 0);
    kill(pid, SIGUSR2);
    for (int i = 0; i < 100 && !file_exists(log); i++)
        clock_sleep(0.05);
    ck_assert(file_exists(log));
    kill(pid, SIGTERM);
    ck_assert_int_eq(end_of(pid), 0);
}
END_TEST

START_TEST(a_lost_database_is_waited_for)
{
    pid_t pid = start(NULL, NULL);
    int64_t connection;

    wait_until_idle("transitioner");
    connection = project_ask("SELECT id FROM information_schema.processlist "
                             "WHERE db = DATABASE() AND id <> CONNECTION_ID()");
    project_do("KILL %" PRId64, connection);
    project_workunit("a", (struct workunit){.target_nresults = 2});
    for (int i = 0; i < 200 && project_ask("SELECT COUNT(*) FROM result") == 0;
         i++)
        clock_sleep(0.05);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result"), 2);
    kill(pid, SIGTERM);
    ck_assert_int_eq(end_of(pid), 0);
}
END_TEST

START_TEST(wrong_use_is_told_at_once)
{
    ck_assert_int_eq(project_run("transitioner", "--nonsense", NULL), 100);
    ck_assert_int_eq(project_run("transitioner", "word", NULL), 100);
    ck_assert_int_eq(project_run("transitioner", "--mod", "2", "2", NULL), 100);
    ck_assert_int_eq(project_run("transitioner", "--mod", "0", "0", NULL), 100);
    ck_assert_int_eq(project_run("transitioner", "--mod", "x", "0", NULL), 100);
    ck_assert_int_eq(project_run("sample_trivial_validator", NULL), 100);
    ck_assert_int_eq(
        project_run("sample_trivial_validator", "--app", "none", NULL), 100);
    ck_assert_int_eq(project_run("sample_bitwise_validator", "--app", "app",
                                 "--is_gzip", NULL),
                     0);
    ck_assert_int_eq(project_run("sample_bitwise_validator", "--app", "app",
                                 "--is_zip", NULL),
                     100);
    ck_assert_int_eq(project_run("sample_bitwise_validator", "--app", "app",
                                 "--credit_from_runtime",
                                 "--max_granted_credit", "0", NULL),
                     100);
}
END_TEST

START_TEST(a_start_that_fails_says_whether_to_try_again)
{
    project_config("/nowhere.sock");
    ck_assert_int_eq(project_run("transitioner", NULL), 111);
    project_write("config.xml", "<boinc><config><nonsense/></config></boinc>");
    ck_assert_int_eq(project_run("transitioner", NULL), 100);
    ck_assert_int_eq(unlink(project_path("config.xml")), 0);
    ck_assert_int_eq(project_run("transitioner", NULL), 100);
}
END_TEST

START_TEST(an_unreadable_key_fails_the_start)
{
    ck_assert_int_eq(unlink(project_path("keys/upload_private")), 0);
    ck_assert_int_eq(project_run("transitioner", NULL), 111);
}
END_TEST

START_TEST(several_transitioners_make_no_result_twice)
{
    enum { WORKUNITS = 600 };
    pid_t pid[4];
    char name[16];

    for (int i = 0; i < WORKUNITS; i++) {
        snprintf(name, sizeof(name), "wu%d", i);
        project_workunit(name, (struct workunit){.target_nresults = 3});
    }
    for (size_t i = 0; i < ARRAY_LEN(pid); i++)
        pid[i] = start(NULL, NULL);
    for (int i = 0;
         i < 300 && project_ask("SELECT COUNT(*) FROM result") < 3 * WORKUNITS;
         i++)
        clock_sleep(0.1);
    for (size_t i = 0; i < ARRAY_LEN(pid); i++) {
        kill(pid[i], SIGTERM);
        ck_assert_int_eq(end_of(pid[i]), 0);
    }
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM (SELECT workunitid FROM result "
                    "GROUP BY workunitid HAVING COUNT(*) = 3) x"),
        WORKUNITS);
}
END_TEST

START_TEST(a_workunit_that_cannot_be_written_is_found_and_set_aside)
{
    char name[16];
    int64_t bad = 0;

    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "wu%d", i);
        if (i == 7)
            bad = project_workunit(name, (struct workunit){.batch = 0});
        else
            project_workunit(name, (struct workunit){.batch = 0});
    }
    /* a result of nobody's has the name that the bad one needs */
    dbtest_result(project_db(),
                  &(struct result){.workunitid = 999999, .name = "wu7_0"});
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result WHERE "
                                 "workunitid <> 999999"),
                     38);
    ck_assert_int_ge(project_ask("SELECT transition_time FROM workunit WHERE "
                                 "id = %" PRId64,
                                 bad),
                     project_now() + MINUTE - 10);
}
END_TEST

START_TEST(a_name_without_room_for_a_number_is_set_aside)
{
    char name[192];

    memset(name, 'x', sizeof(name));
    name[191] = '\0';
    project_workunit(name, (struct workunit){.batch = 0});
    name[189] = '\0'; /* and "_0" */
    project_workunit(name, (struct workunit){.batch = 0});
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result WHERE "
                                 "CHAR_LENGTH(name) = 191"),
                     2);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result"), 2);
}
END_TEST

START_TEST(what_fails_waits_twice_as_long_each_time)
{
    struct setaside s = {.row = NULL};
    const int64_t now = 1800000000;

    ck_assert(!setaside_waits(&s, 5, now));
    ck_assert_int_eq(setaside_add(&s, 5, now), now + MINUTE);
    ck_assert(setaside_waits(&s, 5, now + MINUTE - 1));
    ck_assert(!setaside_waits(&s, 5, now + MINUTE));
    ck_assert_int_eq(setaside_add(&s, 5, now), now + 2 * MINUTE);
    ck_assert_int_eq(setaside_add(&s, 5, now), now + 4 * MINUTE);
    for (int i = 0; i < 100; i++)
        setaside_add(&s, 5, now);
    ck_assert_int_eq(setaside_add(&s, 5, now), now + DAY);
    setaside_clear(&s, 5);
    ck_assert(!setaside_waits(&s, 5, now));
    ck_assert_int_eq(setaside_add(&s, 5, now), now + MINUTE);
    setaside_free(&s);
}
END_TEST

START_TEST(thousands_may_fail)
{
    struct setaside s = {.row = NULL};

    for (int64_t id = 1; id <= 5000; id++)
        setaside_add(&s, id * 1000003, id);
    for (int64_t id = 1; id <= 5000; id++) {
        ck_assert(setaside_waits(&s, id * 1000003, id));
        ck_assert(!setaside_waits(&s, id * 1000003 + 1, id));
    }
    setaside_free(&s);
}
END_TEST

static Suite *
daemon_suite(void)
{
    Suite *s = suite_create("daemon");
    TCase *tc = tcase_create("programs"), *plain = tcase_create("set aside");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, a_signal_ends_it_and_its_heartbeat, 0,
                        (int)ARRAY_LEN(stoppers));
    tcase_add_test(tc, the_stop_file_ends_it);
    tcase_add_test(tc, each_instance_has_a_heartbeat_of_its_own);
    tcase_add_test(tc, the_log_is_opened_again);
    tcase_add_test(tc, a_lost_database_is_waited_for);
    tcase_add_test(tc, wrong_use_is_told_at_once);
    tcase_add_test(tc, a_start_that_fails_says_whether_to_try_again);
    tcase_add_test(tc, an_unreadable_key_fails_the_start);
    tcase_add_test(tc, several_transitioners_make_no_result_twice);
    tcase_add_test(tc,
                   a_workunit_that_cannot_be_written_is_found_and_set_aside);
    tcase_add_test(tc, a_name_without_room_for_a_number_is_set_aside);
    suite_add_tcase(s, tc);
    tcase_add_test(plain, what_fails_waits_twice_as_long_each_time);
    tcase_add_test(plain, thousands_may_fail);
    suite_add_tcase(s, plain);
    return s;
}

int
main(void)
{
    return dbtest_run(daemon_suite());
}
