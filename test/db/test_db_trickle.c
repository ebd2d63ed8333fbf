/* test_db_trickle.c - messages of jobs and to jobs: stored once, handled once,
 * delivered at least once; through the queries and the real handlers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_sched.h"
#include "db_trickle.h"
#include "project.h"
#include "request.h"

enum { HOST = 1, NOW = 1700000000 };

static struct db *db;

static void
setup(void)
{
    db = project_new();
}

static void
teardown(void)
{
    project_end();
}

/* ---- the scheduler's side -------------------------------------------------
 */

START_TEST(a_message_is_stored_once_however_often_it_comes)
{
    char xml[20][40];
    struct trickle_up t[20];
    size_t again;

    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        snprintf(xml[i], sizeof(xml[i]), "<time>%zu</time>'&\";", i);
        t[i] = (struct trickle_up){.variety = "progress", .xml = xml[i]};
    }
    ck_assert_int_eq(db_sched_store_trickles(db, HOST, NOW, t, 18, &again), 0);
    ck_assert_uint_eq(again, 0);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM msg_from_host WHERE "
                                 "hostid = 1 AND handled = 0 AND variety = "
                                 "'progress' AND create_time = 1700000000 AND "
                                 "xml LIKE '<time>%%</time>\\'&\";'"),
                     18);
    /* the reply was lost: all again, and two new ones */
    ck_assert_int_eq(db_sched_store_trickles(db, HOST, NOW, t, 20, &again), 0);
    ck_assert_uint_eq(again, 18);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM msg_from_host"), 20);
    /* another host's, or another variety, is another message */
    t[0].variety[0] = 'P';
    ck_assert_int_eq(db_sched_store_trickles(db, HOST, NOW, t, 1, &again), 0);
    ck_assert_int_eq(db_sched_store_trickles(db, 2, NOW, t, 1, &again), 0);
    ck_assert_uint_eq(again, 0);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM msg_from_host"), 22);
}
END_TEST

/* What a reply to the host brings: "one two". */
static void
expect_messages(bool reply_lost, const char *want)
{
    struct buf got = BUF_INIT;
    char **messages;
    size_t n;

    ck_assert_int_eq(
        db_sched_take_messages(db, HOST, NOW, reply_lost, &messages, &n), 0);
    for (size_t i = 0; i < n; i++) {
        buf_addf(&got, "%s%s", i > 0 ? " " : "", messages[i]);
        free(messages[i]);
    }
    free(messages);
    ck_assert_str_eq(buf_str(&got), want);
    buf_free(&got);
}

static void
tell_host(int host, const char *xml)
{
    project_do("INSERT INTO msg_to_host (create_time, hostid, variety, "
               "handled, xml) VALUES (1, %d, 'v', 0, '%s')",
               host, xml);
}

static int64_t
delivered(void)
{
    return project_ask("SELECT COUNT(*) FROM msg_to_host WHERE handled = 1");
}

START_TEST(a_message_goes_out_again_if_its_reply_was_lost)
{
    tell_host(HOST, "one");
    tell_host(2, "other");
    expect_messages(false, "one");
    ck_assert_int_eq(delivered(), 0);
    tell_host(HOST, "two");
    expect_messages(true, "one two");
    expect_messages(true, "one two");
    expect_messages(false, "");
    ck_assert_int_eq(delivered(), 2);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM x_msg_sent"), 0);
    expect_messages(true, "");
}
END_TEST

/* ---- handlers -------------------------------------------------------------
 */

static int64_t
message(const char *variety, int host, const char *xml)
{
    project_do("INSERT INTO msg_from_host (create_time, hostid, variety, "
               "handled, xml) VALUES (%" PRId64 ", %d, '%s', 0, '%s')",
               project_now(), host, variety, xml);
    return project_ask("SELECT MAX(id) FROM msg_from_host");
}

static int64_t
handled(int64_t id)
{
    return project_ask("SELECT handled FROM msg_from_host WHERE id = %" PRId64,
                       id);
}

static int64_t
users_with(double credit)
{
    return project_ask("SELECT COUNT(*) FROM user WHERE "
                       "ABS(total_credit - %.17g) < 1e-9",
                       credit);
}

START_TEST(run_time_is_credited_once)
{
    int64_t id = message("trickle_credit", 1, "<runtime> 1000 </runtime>");
    /* 1000 s at 2e9 FLOPS; 8.64e13 FLOP are 200 */
    const double credit = 1000 * 2e9 * 200 / 8.64e13;

    project_do("UPDATE host SET p_fpops = 2e9");
    ck_assert_int_eq(project_run("trickle_credit", NULL), 0);
    ck_assert_int_eq(project_run("trickle_credit", NULL), 0);
    ck_assert_int_eq(handled(id), 1);
    ck_assert_int_eq(users_with(credit), 1);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM host WHERE id = 1 AND "
                                 "ABS(total_credit - %.17g) < 1e-9",
                                 credit),
                     1);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM team WHERE "
                                 "ABS(total_credit - %.17g) < 1e-9",
                                 credit),
                     1);
}
END_TEST

START_TEST(run_time_and_speed_have_limits)
{
    /* fewer than ten hosts that work: 3.3e9 FLOPS is the most, and the middle
     */
    const double fast = 50 * 3.3e9 * 200 / 8.64e13;

    project_do("UPDATE host SET p_fpops = 9e15 WHERE id = 1");
    project_do("UPDATE host SET p_fpops = -1 WHERE id = 2");
    message("v", 1, "<runtime>1e9</runtime>");
    message("v", 2, "<runtime>50</runtime>");
    ck_assert_int_eq(project_run("trickle_credit", "--variety", "v",
                                 "--max_runtime", "50", NULL),
                     0);
    ck_assert_int_eq(users_with(fast), 2);
}
END_TEST

START_TEST(nonsense_gets_nothing)
{
    static const char *const nonsense[] = {"",
                                           "<runtime>",
                                           "<runtime></runtime>",
                                           "<runtime>x</runtime>",
                                           "<runtime>-5</runtime>",
                                           "<runtime>nan</runtime>",
                                           "<runtime>inf</runtime>",
                                           "</runtime><runtime>5"};

    for (size_t i = 0; i < ARRAY_LEN(nonsense); i++)
        message("trickle_credit", 1, nonsense[i]);
    ck_assert_int_eq(project_run("trickle_credit", NULL), 0);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM msg_from_host WHERE handled = 2"),
        ARRAY_LEN(nonsense));
    ck_assert_int_eq(users_with(0), 9);
}
END_TEST

START_TEST(another_variety_is_left_alone)
{
    int64_t id = message("other", 1, "<runtime>1</runtime>");

    ck_assert_int_eq(project_run("trickle_credit", NULL), 0);
    ck_assert_int_eq(handled(id), 0);
}
END_TEST

/* A result of host 1 in progress; its deadline. */
static int64_t
sent_job(const char *name)
{
    int64_t wu = project_workunit(name, (struct workunit){.delay_bound = 1000});

    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    project_send(wu, 0, 1);
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    project_do("UPDATE workunit SET transition_time = (SELECT "
               "MIN(report_deadline) FROM result WHERE server_state = 4)");
    return project_ask("SELECT MIN(report_deadline) FROM result WHERE "
                       "server_state = 4");
}

static int64_t
deadline_is(int64_t t)
{
    return project_ask("SELECT COUNT(*) FROM result r JOIN workunit w ON w.id "
                       "= r.workunitid WHERE r.server_state = 4 AND "
                       "r.report_deadline = %" PRId64
                       " AND w.transition_time = r.report_deadline",
                       t);
}

START_TEST(a_deadline_is_extended_and_the_transition_waits_for_it)
{
    int64_t t = sent_job("a");

    message("trickle_deadline", 1, "<result_name>a_0</result_name>");
    ck_assert_int_eq(
        project_run("trickle_deadline", "--extension_period", "500", NULL), 0);
    ck_assert_int_eq(deadline_is(t + 500), 1);
}
END_TEST

START_TEST(deadlines_far_ahead_past_or_of_others_stay)
{
    int64_t t = sent_job("a");

    message("trickle_deadline", 2, "<result_name>a_0</result_name>");
    ck_assert_int_eq(project_run("trickle_deadline", NULL), 0);
    ck_assert_int_eq(deadline_is(t), 1);
    message("trickle_deadline", 1, "<result_name>a_0</result_name>");
    ck_assert_int_eq(
        project_run("trickle_deadline", "--extension_timeframe", "10", NULL),
        0);
    ck_assert_int_eq(deadline_is(t), 1);
    project_clock(2000);
    message("trickle_deadline", 1, "<result_name>a_0</result_name>");
    ck_assert_int_eq(project_run("trickle_deadline", NULL), 0);
    ck_assert_int_eq(deadline_is(t), 1);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM msg_from_host WHERE handled = 1"), 3);
}
END_TEST

START_TEST(an_echo_goes_back_to_its_host)
{
    message("trickle_echo", 3, "<result_name>a_0</result_name>\\n'' x\\n");
    ck_assert_int_eq(project_run("trickle_echo", NULL), 0);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM msg_to_host WHERE hostid = 3 AND "
                    "handled = 0 AND variety = 'trickle_echo' AND xml = "
                    "'<trickle_down>\\n<result_name>a_0</result_name>\\n"
                    "'' x\\n</trickle_down>\\n'"),
        1);
}
END_TEST

START_TEST(the_message_handler_takes_all_varieties)
{
    message("a", 1, "1");
    message("b", 2, "2");
    ck_assert_int_eq(project_run("message_handler", NULL), 0);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM msg_to_host WHERE (hostid, variety, "
                    "xml) IN ((1, 'a', '1'), (2, 'b', '2'))"),
        2);
}
END_TEST

/* The hooks of poison.c: "later" fails, "crash" takes the program down. */
START_TEST(a_message_that_fails_is_given_up_in_the_end)
{
    int64_t bad = message("poison", 1, "later");
    int64_t good = message("poison", 1, "fine");

    ck_assert_int_eq(project_run("../test/db/poison", NULL), 0);
    ck_assert_int_eq(handled(bad), 0);
    ck_assert_int_eq(handled(good), 1);
    /* not before its time */
    ck_assert_int_eq(project_run("../test/db/poison", NULL), 0);
    ck_assert_int_eq(project_ask("SELECT tries FROM x_trickle"), 1);
    for (int i = 2; i <= 10; i++) {
        ck_assert_int_eq(handled(bad), 0);
        project_clock(i * 86400);
        ck_assert_int_eq(
            project_run("../test/db/poison", "--keep_days", "0", NULL), 0);
    }
    ck_assert_int_eq(handled(bad), 2);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM x_trickle"), 0);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM msg_to_host WHERE xml = "
                                 "'later'"),
                     0);
}
END_TEST

START_TEST(a_message_that_kills_its_handler_is_given_up_in_the_end)
{
    int64_t bad, last;
    int runs = 0;

    for (int i = 0; i < 5; i++)
        message("poison", 1, "fine");
    bad = message("poison", 1, "crash");
    last = message("poison", 1, "fine");
    while (project_run("../test/db/poison", "--max_tries", "3", NULL) != 0)
        ck_assert_int_lt(++runs, 20);
    ck_assert_int_ge(runs, 3);
    ck_assert_int_eq(handled(bad), 2);
    ck_assert_int_eq(handled(last), 1);
    /* each of the good ones had its effect once */
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM msg_to_host"), 6);
}
END_TEST

START_TEST(old_messages_go)
{
    int64_t old = message("trickle_echo", 1, "x");

    ck_assert_int_eq(project_run("trickle_echo", NULL), 0);
    project_do("UPDATE msg_to_host SET handled = 1");
    project_clock(29 * 86400);
    ck_assert_int_eq(project_run("trickle_echo", NULL), 0);
    ck_assert_int_eq(handled(old), 1);
    project_clock(31 * 86400);
    message("other", 1, "never handled");
    project_do("UPDATE msg_from_host SET create_time = 1 WHERE handled = 0");
    ck_assert_int_eq(project_run("trickle_echo", NULL), 0);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM msg_from_host"), 1);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM msg_to_host"), 0);
}
END_TEST

START_TEST(two_handlers_share_by_mod)
{
    int64_t a = message("v", 1, "<runtime>1</runtime>");

    ck_assert_int_eq(project_run("trickle_credit", "--variety", "v", "--mod",
                                 "2", a % 2 == 0 ? "1" : "0", NULL),
                     0);
    ck_assert_int_eq(handled(a), 0);
    ck_assert_int_eq(project_run("trickle_credit", "--variety", "v", "--mod",
                                 "2", a % 2 == 0 ? "0" : "1", NULL),
                     0);
    ck_assert_int_eq(handled(a), 1);
}
END_TEST

/* ---- the queries ----------------------------------------------------------
 */

START_TEST(speeds_are_those_of_working_hosts)
{
    double middle, fast;

    ck_assert_int_eq(db_trickle_speeds(db, &middle, &fast), 0);
    ck_assert_double_eq(middle, 3.3e9);
    ck_assert_double_eq(fast, 3.3e9);
    for (int i = 0; i < 11; i++)
        dbtest_host(db, 1);
    /* 20 hosts of 1e9 … 20e9 FLOPS: ten are slower than 11e9, 19 than 20e9 */
    project_do("UPDATE host SET expavg_credit = 11, p_fpops = id * 1e9");
    ck_assert_int_eq(db_trickle_speeds(db, &middle, &fast), 0);
    ck_assert_double_eq(middle, 11e9);
    ck_assert_double_eq(fast, 20e9);
}
END_TEST

START_TEST(what_is_handled_meanwhile_has_no_second_effect)
{
    const struct trickle_query want = {.now = NOW, .limit = 10};
    struct trickle_batch b = {.n = 0};
    int64_t id = message("v", 1, "x");

    ck_assert_int_eq(db_trickle_due(db, &want, &b), 0);
    ck_assert_uint_eq(b.n, 1);
    b.row[0].ending = TRICKLE_END;
    b.row[0].state = 1;
    b.row[0].credit = 5;
    b.row[0].start = NOW;
    project_do("UPDATE msg_from_host SET handled = 7 WHERE id = %" PRId64, id);
    ck_assert_int_eq(db_trickle_store(db, &b, NOW), 0);
    ck_assert_int_eq(users_with(0), 9);
    ck_assert_int_eq(handled(id), 7);
    trickle_batch_free(&b);
}
END_TEST

static Suite *
trickle_suite(void)
{
    Suite *s = suite_create("trickles");
    TCase *tc = tcase_create("messages");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_message_is_stored_once_however_often_it_comes);
    tcase_add_test(tc, a_message_goes_out_again_if_its_reply_was_lost);
    tcase_add_test(tc, run_time_is_credited_once);
    tcase_add_test(tc, run_time_and_speed_have_limits);
    tcase_add_test(tc, nonsense_gets_nothing);
    tcase_add_test(tc, another_variety_is_left_alone);
    tcase_add_test(tc, a_deadline_is_extended_and_the_transition_waits_for_it);
    tcase_add_test(tc, deadlines_far_ahead_past_or_of_others_stay);
    tcase_add_test(tc, an_echo_goes_back_to_its_host);
    tcase_add_test(tc, the_message_handler_takes_all_varieties);
    tcase_add_test(tc, a_message_that_fails_is_given_up_in_the_end);
    tcase_add_test(tc, a_message_that_kills_its_handler_is_given_up_in_the_end);
    tcase_add_test(tc, old_messages_go);
    tcase_add_test(tc, two_handlers_share_by_mod);
    tcase_add_test(tc, speeds_are_those_of_working_hosts);
    tcase_add_test(tc, what_is_handled_meanwhile_has_no_second_effect);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(trickle_suite());
}
