/* test_db_sched.c - the scheduler's questions, asked of a real database.
 *
 * Ids of workunits and results start above 2^32 throughout. */
#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_sched.h"
#include "dbtest.h"
#include "request.h"

#define NOW 1800000000
#define BIG 5000000000
#define ALICE 7
#define HOST 17

static struct db *db, *other; /* two programs */

__attribute__((format(printf, 1, 2))) static void
run(const char *fmt, ...)
{
    struct buf sql = BUF_INIT;
    va_list args;

    va_start(args, fmt);
    buf_vaddf(&sql, fmt, args);
    va_end(args);
    dbtest_exec(other, buf_str(&sql));
    buf_free(&sql);
}

/* The first column of the first row. */
__attribute__((format(printf, 1, 2))) static int64_t
number(const char *fmt, ...)
{
    struct buf sql = BUF_INIT;
    int64_t x;
    va_list args;

    va_start(args, fmt);
    buf_vaddf(&sql, fmt, args);
    va_end(args);
    x = dbtest_i64(other, buf_str(&sql));
    buf_free(&sql);
    return x;
}

static void
add_workunit(int64_t id)
{
    run("INSERT INTO workunit SET id = %" PRId64 ", name = 'wu_%" PRId64
        "', appid = 1, xml_doc = '<workunit>\n</workunit>\n',"
        " transition_time = 2147483647, delay_bound = 86400",
        id, id);
}

static void
add_result(int64_t id, int64_t wu, int state, int64_t host, int64_t user)
{
    run("INSERT INTO result SET id = %" PRId64 ", name = 'r_%" PRId64
        "', workunitid = %" PRId64 ", server_state = %d, hostid = %" PRId64
        ", userid = %" PRId64 ", appid = 1, xml_doc_in = '<result>\n'",
        id, id, wu, state, host, user);
}

static void
setup(void)
{
    db = dbtest_open();
    other = dbtest_open();
    dbtest_empty(other);
    /* rows of these tests name only what matters */
    run("SET SESSION sql_mode = ''");
    run("INSERT INTO user SET id = %d, name = 'Alice', email_addr = "
        "'alice@example.org', authenticator = "
        "'0123456789abcdef0123456789abcdef', passwd_hash = 'secret', teamid = "
        "3, venue = 'home', global_prefs = '<global_preferences>'",
        ALICE);
    run("INSERT INTO team SET id = 3, name = 'The team', userid = 7");
    run("INSERT INTO host SET id = %d, userid = %d, rpc_seqno = 4, domain_name "
        "= 'pc', last_ip_addr = '192.0.2.1', os_name = 'Linux', p_model = "
        "'CPU', m_nbytes = 4e9, host_cpid = 'abc', total_credit = 12.5, venue "
        "= 'work'",
        HOST, ALICE);
}

static void
teardown(void)
{
    db_close(db);
    db_close(other);
}

static struct send_to
to_alice(void)
{
    return (struct send_to){.userid = ALICE, .hostid = HOST, .now = NOW};
}

/* ---- accounts ---- */

START_TEST(finds_a_user_by_id_and_by_key)
{
    struct user u;

    ck_assert_int_eq(db_sched_user_by_id(db, ALICE, &u), 0);
    ck_assert_str_eq(u.name, "Alice");
    ck_assert_str_eq(u.venue, "home");
    ck_assert_int_eq(u.teamid, 3);
    ck_assert_str_eq(u.global_prefs, "<global_preferences>");
    ck_assert_ptr_null(u.project_prefs);
    db_sched_user_free(&u);
    ck_assert_int_eq(
        db_sched_user_by_key(db, "0123456789abcdef0123456789abcdef", &u), 0);
    ck_assert_int_eq(u.id, ALICE);
    db_sched_user_free(&u);
    ck_assert_int_eq(db_sched_user_by_key(db, "' OR '1'='1", &u), DB_NONE);
    ck_assert_int_eq(db_sched_user_by_id(db, 8, &u), DB_NONE);
}
END_TEST

START_TEST(reads_a_team)
{
    struct team t;

    ck_assert_int_eq(db_sched_team(db, 3, &t), 0);
    ck_assert_str_eq(t.name, "The team");
    ck_assert_int_eq(db_sched_team(db, 4, &t), DB_NONE);
}
END_TEST

START_TEST(stores_what_a_client_knows_of_its_user)
{
    ck_assert_int_eq(db_sched_set_cpid(db, ALICE, "cafe"), 0);
    ck_assert_int_eq(
        db_sched_set_global_prefs(db, ALICE, "<a>'\"; DROP TABLE</a>"), 0);
    ck_assert_int_eq(number("SELECT COUNT(*) FROM user WHERE id = 7 AND "
                            "cross_project_id = 'cafe' AND global_prefs = "
                            "'<a>\\'\"; DROP TABLE</a>'"),
                     1);
}
END_TEST

/* ---- hosts ---- */

START_TEST(adds_a_host_and_reads_it_back)
{
    struct host h = {
        .userid = ALICE,
        .create_time = NOW,
        .rpc_time = NOW,
        .timezone = -3600,
        .p_ncpus = 256,
        .p_fpops = 4.5e9,
        .m_nbytes = 1e12,
        .on_frac = 0.5,
        .domain_name = "it's \"mine\"; --",
        .os_name = "Darwin",
        .connected_frac = -1,
    };
    struct host got;

    ck_assert_int_eq(db_sched_add_host(db, &h), 0);
    ck_assert_int_gt(h.id, HOST);
    ck_assert_int_eq(db_sched_host(db, h.id, &got), 0);
    ck_assert_mem_eq(&got, &h, sizeof(h));
    ck_assert_int_eq(db_sched_host(db, 999, &got), DB_NONE);
}
END_TEST

START_TEST(a_host_is_locked_for_one_at_a_time)
{
    struct host h;

    ck_assert_int_eq(db_begin(db), 0);
    ck_assert_int_eq(db_begin(other), 0);
    ck_assert_int_eq(db_sched_lock_host(db, HOST, &h), 0);
    ck_assert_int_eq(h.rpc_seqno, 4);
    ck_assert_int_eq(db_sched_lock_host(other, HOST, &h), DB_BUSY);
    db_rollback(db);
    ck_assert_int_eq(db_sched_lock_host(other, HOST, &h), 0);
    db_rollback(other);
}
END_TEST

START_TEST(finds_hosts_that_look_alike)
{
    struct host like = {.domain_name = "pc",
                        .last_ip_addr = "192.0.2.1",
                        .os_name = "Linux",
                        .p_model = "CPU",
                        .m_nbytes = 4e9};
    int64_t id = 0;

    ck_assert_int_eq(db_sched_similar_host(db, ALICE, 0, &like, &id), 0);
    ck_assert_int_eq(id, HOST);
    ck_assert_int_eq(db_sched_similar_host(db, ALICE, HOST, &like, &id),
                     DB_NONE);
    ck_assert_int_eq(db_sched_similar_host(db, 8, 0, &like, &id), DB_NONE);
    like.m_nbytes = 5e9;
    ck_assert_int_eq(db_sched_similar_host(db, ALICE, 0, &like, &id), DB_NONE);
    like.m_nbytes = 4e9;
    like.domain_name[0] = '\0';
    run("UPDATE host SET domain_name = ''");
    ck_assert_int_eq(db_sched_similar_host(db, ALICE, 0, &like, &id), DB_NONE);
}
END_TEST

START_TEST(finds_the_newest_host_of_a_cpid)
{
    int64_t id = 0;

    run("INSERT INTO host SET id = 30, userid = 7, host_cpid = 'abc'");
    run("INSERT INTO host SET id = 40, userid = 8, host_cpid = 'abc'");
    ck_assert_int_eq(db_sched_host_by_cpid(db, ALICE, "abc", &id), 0);
    ck_assert_int_eq(id, 30);
    ck_assert_int_eq(db_sched_host_by_cpid(db, ALICE, "abd", &id), DB_NONE);
}
END_TEST

START_TEST(writes_only_what_changed_in_a_host)
{
    struct host old, now;
    uint64_t before;

    ck_assert_int_eq(db_sched_host(db, HOST, &old), 0);
    now = old;
    before = db_statements(db);
    ck_assert_int_eq(db_sched_update_host(db, &old, &now), 0);
    ck_assert_uint_eq(db_statements(db), before);

    /* credit arrives meanwhile; and a memory that somebody corrected */
    run("UPDATE host SET total_credit = 99, m_nbytes = 8e9 WHERE id = 17");
    now.rpc_time = NOW;
    now.total_credit = 1;
    ck_assert_int_eq(db_sched_update_host(db, &old, &now), 0);
    ck_assert_int_eq(number("SELECT rpc_time FROM host WHERE id = 17"), NOW);
    ck_assert_int_eq(number("SELECT COUNT(*) FROM host WHERE id = 17 AND "
                            "total_credit = 99 AND m_nbytes = 8e9"),
                     1);
}
END_TEST

/* ---- reports ---- */

START_TEST(finds_results_by_name_by_the_thousand)
{
    enum { N = 1000 };
    char(*names)[NAME_SIZE] = xcalloc(N, sizeof(*names));
    const char **list = xcalloc(N, sizeof(*list));
    struct known_result *row;
    uint64_t before;
    size_t n;

    for (int i = 0; i < N; i++) {
        snprintf(names[i], NAME_SIZE, "r_%" PRId64, BIG + i);
        list[i] = names[i];
        if (i % 2 == 0)
            add_result(BIG + i, BIG, RESULT_IN_PROGRESS, HOST, ALICE);
    }
    before = db_statements(db);
    ck_assert_int_eq(db_sched_results_by_name(db, list, N, &row, &n), 0);
    ck_assert_uint_le(db_statements(db) - before, 8);
    ck_assert_uint_eq(n, N / 2);
    for (size_t i = 0; i < n; i++)
        ck_assert_int_eq(row[i].id % 2, 0);
    free(row);
    ck_assert_int_eq(db_sched_results_by_name(db, list, 0, &row, &n), 0);
    ck_assert_uint_eq(n, 0);
    free(row);
    free(list);
    free(names);
}
END_TEST

static struct result_report
success(int64_t id)
{
    return (struct result_report){
        .id = id,
        .outcome = OUTCOME_SUCCESS,
        .client_state = CLIENT_FILES_UPLOADED,
        .app_version_num = 100,
        .cpu_time = 10,
        .elapsed_time = 12,
        .stderr_out = "it's fine",
        .xml_doc_out = "<file_info>",
    };
}

static size_t
store(const struct result_report *r, size_t n)
{
    struct host host = {.id = HOST};
    struct user user = {.id = ALICE, .teamid = 3};
    size_t stored;

    ck_assert_int_eq(
        db_sched_store_reports(db, r, n, &host, &user, NOW, &stored), 0);
    return stored;
}

START_TEST(stores_a_report_once)
{
    struct result_report r = success(BIG);

    add_result(BIG, BIG, RESULT_IN_PROGRESS, HOST, ALICE);
    ck_assert_uint_eq(store(&r, 1), 1);
    r.cpu_time = 20;
    ck_assert_uint_eq(store(&r, 1), 0);
    ck_assert_int_eq(
        number("SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome "
               "= 1 AND validate_state = 0 AND client_state = 5 AND cpu_time = "
               "10 AND elapsed_time = 12 AND teamid = 3 AND received_time = %d "
               "AND stderr_out = 'it\\'s fine' AND xml_doc_out = '<file_info>'",
               NOW),
        1);
}
END_TEST

/* Each row: which reports are still wanted? */
static const struct {
    const char *promise;
    int server_state, outcome;
    int64_t userid, received;
    size_t stored;
} wanted[] = {
    {"in progress",             RESULT_IN_PROGRESS, 0,                       ALICE, 0,   1},
    {"timed out",               RESULT_OVER,        OUTCOME_NO_REPLY,        ALICE, 0,   1},
    {"detached, nothing came",  RESULT_OVER,        OUTCOME_CLIENT_DETACHED, ALICE, 0,
     1                                                                                    },
    {"not: received after all", RESULT_OVER,        OUTCOME_NO_REPLY,        ALICE, NOW, 0},
    {"not: never sent",         RESULT_UNSENT,      0,                       ALICE, 0,   0},
    {"not: reported before",    RESULT_OVER,        OUTCOME_SUCCESS,         ALICE, 0,   0},
    {"not: not needed",         RESULT_OVER,        OUTCOME_DIDNT_NEED,      ALICE, 0,   0},
    {"not: another user's",     RESULT_IN_PROGRESS, 0,                       8,     0,   0},
};

START_TEST(stores_reports_that_are_wanted)
{
    struct result_report r = success(BIG);

    add_result(BIG, BIG, wanted[_i].server_state, HOST, wanted[_i].userid);
    run("UPDATE result SET outcome = %d, received_time = %" PRId64,
        wanted[_i].outcome, wanted[_i].received);
    ck_assert_msg(store(&r, 1) == wanted[_i].stored, "broken: %s",
                  wanted[_i].promise);
}
END_TEST

START_TEST(stores_many_reports_in_few_statements)
{
    enum { N = 70 }; /* no power of two, more than one statement */
    struct result_report r[N];
    char text[N][20];
    uint64_t before;

    for (int i = 0; i < N; i++) {
        add_result(BIG + i, BIG, RESULT_IN_PROGRESS, HOST, ALICE);
        r[i] = success(BIG + i);
        r[i].cpu_time = i;
        snprintf(text[i], sizeof(text[i]), "text %d", i);
        r[i].stderr_out = text[i];
        if (i == 69) {
            r[i].outcome = OUTCOME_CLIENT_ERROR;
            r[i].validate_state = VALIDATE_INVALID;
            r[i].exit_status = -186;
        }
    }
    before = db_statements(db);
    ck_assert_uint_eq(store(r, N), N);
    ck_assert_uint_le(db_statements(db) - before, 4);
    ck_assert_int_eq(
        number("SELECT COUNT(*) FROM result WHERE cpu_time = id - 5000000000 "
               "AND stderr_out = CONCAT('text ', id - 5000000000)"),
        N);
    ck_assert_int_eq(number("SELECT id - 5000000000 FROM result WHERE "
                            "exit_status = -186 AND validate_state = 2 AND "
                            "outcome = 3"),
                     69);
    ck_assert_int_eq(number("SELECT COUNT(*) FROM result WHERE outcome = 1 AND "
                            "validate_state = 0"),
                     69);
}
END_TEST

START_TEST(touched_workunits_are_due_and_never_put_off)
{
    int64_t ids[] = {BIG + 1, BIG, BIG + 1};

    add_workunit(BIG);
    add_workunit(BIG + 1);
    add_workunit(BIG + 2);
    run("UPDATE workunit SET transition_time = 5 WHERE id = %" PRId64, BIG);
    ck_assert_int_eq(db_sched_touch_workunits(db, ids, 3, NOW), 0);
    ck_assert_int_eq(
        number("SELECT transition_time FROM workunit WHERE id = %" PRId64, BIG),
        5);
    ck_assert_int_eq(number("SELECT transition_time FROM workunit WHERE id = "
                            "%" PRId64,
                            BIG + 1),
                     NOW);
    ck_assert_int_eq(number("SELECT transition_time FROM workunit WHERE id = "
                            "%" PRId64,
                            BIG + 2),
                     2147483647);
}
END_TEST

START_TEST(a_detached_host_gives_its_jobs_up)
{
    add_workunit(BIG);
    add_workunit(BIG + 1);
    add_result(BIG, BIG, RESULT_IN_PROGRESS, HOST, ALICE);
    add_result(BIG + 1, BIG + 1, RESULT_IN_PROGRESS, 18, ALICE);
    add_result(BIG + 2, BIG + 1, RESULT_UNSENT, 0, 0);
    ck_assert_int_eq(db_sched_detach(db, HOST, NOW), 0);
    ck_assert_int_eq(number("SELECT id - 5000000000 FROM result WHERE "
                            "server_state = 5 AND outcome = 7 AND "
                            "received_time = %d",
                            NOW),
                     0);
    ck_assert_int_eq(number("SELECT COUNT(*) FROM result WHERE "
                            "server_state = 5"),
                     1);
    ck_assert_int_eq(
        number("SELECT SUM(transition_time = %d) FROM workunit", NOW), 1);
    ck_assert_int_eq(db_sched_detach(db, 99, NOW), 0);
}
END_TEST

START_TEST(lists_what_is_in_progress_on_a_host)
{
    struct known_result *row;
    size_t n;

    add_result(BIG, BIG, RESULT_IN_PROGRESS, HOST, ALICE);
    add_result(BIG + 1, BIG, RESULT_OVER, HOST, ALICE);
    add_result(BIG + 2, BIG, RESULT_IN_PROGRESS, HOST, ALICE);
    ck_assert_int_eq(db_sched_in_progress(db, HOST, 10, &row, &n), 0);
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(row[1].name, "r_5000000002");
    free(row);
    ck_assert_int_eq(db_sched_in_progress(db, HOST, 1, &row, &n), 0);
    ck_assert_uint_eq(n, 1);
    free(row);
}
END_TEST

/* ---- dispatch ---- */

static struct candidate
candidate(int64_t result_id, int64_t wu_id)
{
    return (struct candidate){
        .result_id = result_id,
        .wu_id = wu_id,
        .app_version_id = 11,
        .flops_estimate = 4e9,
        .deadline = NOW + 86400,
    };
}

START_TEST(sends_what_is_unsent)
{
    struct candidate c[] = {candidate(BIG + 1, BIG), candidate(BIG, BIG)};
    struct send_to to = to_alice();

    add_workunit(BIG);
    add_result(BIG, BIG, RESULT_UNSENT, 0, 0);
    add_result(BIG + 1, BIG, RESULT_UNSENT, 0, 0);
    c[0].app_version_id = 12;
    ck_assert_int_eq(db_begin(db), 0);
    ck_assert_int_eq(db_sched_lock_candidates(db, c, 2, &to), 0);
    ck_assert_int_eq(c[0].result_id, BIG); /* sorted */
    ck_assert_int_eq(c[0].state, CANDIDATE_OK);
    ck_assert_str_eq(c[0].wu->xml_doc, "<workunit>\n</workunit>\n");
    ck_assert_str_eq(c[1].result->xml_doc_in, "<result>\n");
    ck_assert_str_eq(c[1].result->name, "r_5000000001");
    ck_assert_int_eq(db_sched_send(db, c, 2, &to), 0);
    ck_assert_int_eq(db_commit(db), 0);
    ck_assert_int_eq(number("SELECT COUNT(*) FROM result WHERE server_state = "
                            "4 AND hostid = 17 AND userid = 7 AND sent_time = "
                            "%d AND report_deadline = %d AND flops_estimate = "
                            "4e9 AND app_version_id = 11 + id - 5000000000",
                            NOW, NOW + 86400),
                     2);
    ck_assert_int_eq(number("SELECT transition_time FROM workunit"),
                     NOW + 86400);
    candidate_free(&c[0]);
    candidate_free(&c[1]);
}
END_TEST

static enum candidate_state
judged(bool per_user, bool per_host)
{
    struct candidate c = candidate(BIG, BIG);
    struct send_to to = to_alice();

    to.one_per_user = per_user;
    to.one_per_host = per_host;
    ck_assert_int_eq(db_begin(db), 0);
    ck_assert_int_eq(db_sched_lock_candidates(db, &c, 1, &to), 0);
    db_rollback(db);
    candidate_free(&c);
    return c.state;
}

START_TEST(an_untrusted_host_gets_a_second_one_beside_it)
{
    struct candidate c[3] = {
        {.result_id = 10 * BIG,      .wu_id = BIG,      .replicate_to = 2},
        {.result_id = 10 * BIG + 10, .wu_id = BIG + 1 },
        {.result_id = 10 * BIG + 20,          .wu_id = BIG + 2, .replicate_to = 2                 },
    };
    const struct send_to to = to_alice();

    for (int i = 0; i < 3; i++) {
        add_workunit(BIG + i);
        add_result(10 * BIG + 10 * i, BIG + i, RESULT_UNSENT, 0, 0);
        c[i].app_version_id = 11;
        c[i].deadline = NOW + 86400;
    }
    run("UPDATE workunit SET min_quorum = 1, target_nresults = 1");
    /* one that needs more than that already: nothing is lowered */
    run("UPDATE workunit SET min_quorum = 1, target_nresults = 5 WHERE id = "
        "%" PRId64,
        BIG + 2);
    ck_assert_int_eq(db_begin(db), 0);
    ck_assert_int_eq(db_sched_lock_candidates(db, c, 3, &to), 0);
    ck_assert_int_eq(c[0].wu->target_nresults, 1);
    ck_assert_int_eq(c[2].wu->target_nresults, 5);
    ck_assert_int_eq(db_sched_send(db, c, 3, &to), 0);
    ck_assert_int_eq(db_commit(db), 0);
    for (int i = 0; i < 3; i++)
        candidate_free(&c[i]);
    ck_assert_int_eq(number("SELECT target_nresults = 2 AND min_quorum = 2 AND "
                            "transition_time = %d FROM workunit WHERE id = "
                            "%" PRId64,
                            NOW, BIG),
                     1);
    ck_assert_int_eq(number("SELECT target_nresults = 1 AND min_quorum = 1 AND "
                            "transition_time = %d FROM workunit WHERE id = "
                            "%" PRId64,
                            NOW + 86400, BIG + 1),
                     1);
    ck_assert_int_eq(number("SELECT target_nresults = 5 AND min_quorum = 2 "
                            "FROM workunit WHERE id = %" PRId64,
                            BIG + 2),
                     1);
}
END_TEST

START_TEST(does_not_send_what_is_not_needed)
{
    add_workunit(BIG);
    ck_assert_int_eq(judged(false, false), CANDIDATE_NOT_NEEDED); /* gone */
    add_result(BIG, BIG, RESULT_UNSENT, 0, 0);
    ck_assert_int_eq(judged(false, false), CANDIDATE_OK);
    run("UPDATE workunit SET error_mask = 16");
    ck_assert_int_eq(judged(false, false), CANDIDATE_NOT_NEEDED);
    run("UPDATE workunit SET error_mask = 0, canonical_resultid = 1");
    ck_assert_int_eq(judged(false, false), CANDIDATE_NOT_NEEDED);
    run("UPDATE workunit SET canonical_resultid = 0");
    run("UPDATE result SET server_state = 4");
    ck_assert_int_eq(judged(false, false), CANDIDATE_NOT_NEEDED);
    run("UPDATE result SET server_state = 2, workunitid = 1");
    ck_assert_int_eq(judged(false, false), CANDIDATE_NOT_NEEDED);
}
END_TEST

START_TEST(a_workunit_that_another_has_locked_is_passed_over)
{
    struct candidate c[] = {candidate(BIG, BIG), candidate(BIG + 1, BIG + 1)};
    struct send_to to = to_alice();

    if (!db_has_skip_locked(db))
        return;
    for (int i = 0; i < 2; i++) {
        add_workunit(BIG + i);
        add_result(BIG + i, BIG + i, RESULT_UNSENT, 0, 0);
    }
    ck_assert_int_eq(db_begin(other), 0);
    dbtest_exec(other, "UPDATE workunit SET priority = 1 ORDER BY id LIMIT 1");
    ck_assert_int_eq(db_set_lock_wait(db, 0), 0);
    ck_assert_int_eq(db_begin(db), 0);
    ck_assert_int_eq(db_sched_lock_candidates(db, c, 2, &to), 0);
    ck_assert_int_eq(c[0].state, CANDIDATE_BUSY);
    ck_assert_int_eq(c[1].state, CANDIDATE_OK);
    db_rollback(db);
    db_rollback(other);
    candidate_free(&c[0]);
    candidate_free(&c[1]);
}
END_TEST

START_TEST(one_result_of_a_workunit_for_a_user_or_host)
{
    add_workunit(BIG);
    add_result(BIG, BIG, RESULT_UNSENT, 0, 0);
    add_result(BIG + 1, BIG, RESULT_OVER, 18, ALICE); /* her other computer */
    ck_assert_int_eq(judged(false, false), CANDIDATE_OK);
    ck_assert_int_eq(judged(false, true), CANDIDATE_OK);
    ck_assert_int_eq(judged(true, false), CANDIDATE_USER_HAS);
    run("UPDATE result SET hostid = 17, userid = 8 WHERE id = 5000000001");
    ck_assert_int_eq(judged(true, false), CANDIDATE_OK);
    ck_assert_int_eq(judged(false, true), CANDIDATE_HOST_HAS);
}
END_TEST

START_TEST(looks_ahead_which_workunits_a_user_has)
{
    enum { N = 600 };
    struct send_to to = to_alice();
    int64_t wu[N], taken[N];
    size_t n;

    for (int i = 0; i < N; i++) {
        wu[i] = BIG + N - i;
        if (i % 3 == 0)
            add_result(BIG + i, wu[i], RESULT_OVER, 18, ALICE);
    }
    wu[1] = wu[0]; /* two slots of one workunit */
    ck_assert_int_eq(db_sched_workunits_of(db, wu, N, &to, taken, &n), 0);
    ck_assert_uint_eq(n, N / 3);
    for (size_t i = 1; i < n; i++)
        ck_assert_int_lt(taken[i - 1], taken[i]);
    to.one_per_host = true;
    ck_assert_int_eq(db_sched_workunits_of(db, wu, N, &to, taken, &n), 0);
    ck_assert_uint_eq(n, 0);
}
END_TEST

/* ---- equal hosts, one version ---- */

static enum candidate_state
judged_for(int hr_class, int64_t version, bool one_version)
{
    struct candidate c = candidate(BIG + 1, BIG);
    struct send_to to = to_alice();

    c.hr_class = hr_class;
    c.app_version_id = version;
    c.one_version = one_version;
    ck_assert_int_eq(db_begin(db), 0);
    ck_assert_int_eq(db_sched_lock_candidates(db, &c, 1, &to), 0);
    db_rollback(db);
    candidate_free(&c);
    return c.state;
}

START_TEST(the_first_result_commits_its_workunit)
{
    struct candidate c[] = {candidate(BIG, BIG), candidate(BIG + 2, BIG),
                            candidate(BIG + 3, BIG + 3)};
    struct send_to to = to_alice();

    add_workunit(BIG);
    add_workunit(BIG + 3);
    for (int i = 0; i < 3; i++)
        add_result(BIG + i, BIG, RESULT_UNSENT, 0, 0);
    add_result(BIG + 3, BIG + 3, RESULT_UNSENT, 0, 0);
    for (int i = 0; i < 2; i++) { /* two results of one workunit */
        c[i].hr_class = 267;
        c[i].one_version = true;
    }
    ck_assert_int_eq(db_begin(db), 0);
    ck_assert_int_eq(db_sched_lock_candidates(db, c, 3, &to), 0);
    ck_assert_int_eq(db_sched_send(db, c, 3, &to), 0);
    ck_assert_int_eq(db_commit(db), 0);
    ck_assert_int_eq(number("SELECT hr_class * 100 + app_version_id FROM "
                            "workunit WHERE id = 5000000000"),
                     26711);
    ck_assert_int_eq(number("SELECT hr_class + app_version_id FROM workunit "
                            "WHERE id = 5000000003"),
                     0); /* nobody asked for it */

    ck_assert_int_eq(judged_for(267, 11, true), CANDIDATE_OK);
    ck_assert_int_eq(judged_for(264, 11, true), CANDIDATE_OTHER_CLASS);
    ck_assert_int_eq(judged_for(267, 12, true), CANDIDATE_OTHER_VERSION);
    ck_assert_int_eq(judged_for(267, 12, false), CANDIDATE_OK);
    ck_assert_int_eq(judged_for(0, 12, false), CANDIDATE_OK);
    for (int i = 0; i < 3; i++)
        candidate_free(&c[i]);
}
END_TEST

/* The lock makes it impossible; were it not so, nothing would be sent. */
START_TEST(a_class_is_never_overwritten)
{
    struct candidate c = candidate(BIG, BIG);
    struct send_to to = to_alice();

    add_workunit(BIG);
    add_result(BIG, BIG, RESULT_UNSENT, 0, 0);
    c.hr_class = 267;
    ck_assert_int_eq(db_begin(db), 0);
    ck_assert_int_eq(db_sched_lock_candidates(db, &c, 1, &to), 0);
    ck_assert_int_eq(c.state, CANDIDATE_OK);
    dbtest_exec(db, "UPDATE workunit SET hr_class = 264");
    ck_assert_int_eq(db_sched_send(db, &c, 1, &to), -1);
    db_rollback(db);
    candidate_free(&c);
}
END_TEST

START_TEST(sends_a_lost_job_again_or_ends_it)
{
    struct candidate c[] = {candidate(BIG, BIG), candidate(BIG + 1, BIG + 1)};
    struct send_to to = to_alice();

    to.resend = true;
    add_workunit(BIG);
    add_workunit(BIG + 1);
    add_result(BIG, BIG, RESULT_IN_PROGRESS, HOST, ALICE);
    add_result(BIG + 1, BIG + 1, RESULT_IN_PROGRESS, 18, ALICE);
    ck_assert_int_eq(db_begin(db), 0);
    ck_assert_int_eq(db_sched_lock_candidates(db, c, 2, &to), 0);
    ck_assert_int_eq(c[0].state, CANDIDATE_OK);
    ck_assert_int_eq(c[1].state, CANDIDATE_NOT_NEEDED); /* another host's */
    ck_assert_int_eq(db_sched_send(db, c, 2, &to), 0);
    ck_assert_int_eq(db_commit(db), 0);
    ck_assert_int_eq(
        number("SELECT COUNT(*) FROM result WHERE sent_time = %d", NOW), 1);

    ck_assert_int_eq(db_sched_expire(db, c, 2, &to), 0);
    ck_assert_int_eq(number("SELECT id - 5000000000 FROM result WHERE "
                            "server_state = 5 AND outcome = 4 AND "
                            "received_time = 0"),
                     0);
    ck_assert_int_eq(number("SELECT COUNT(*) FROM result WHERE server_state = "
                            "4"),
                     1);
    ck_assert_int_eq(number("SELECT transition_time FROM workunit WHERE id = "
                            "5000000000"),
                     NOW);
    candidate_free(&c[0]);
    candidate_free(&c[1]);
}
END_TEST

START_TEST(says_which_files_may_be_uploaded)
{
    char *doc;

    add_result(BIG, BIG, RESULT_IN_PROGRESS, HOST, ALICE);
    ck_assert_int_eq(db_sched_upload_document(db, "r_5000000000", &doc), 0);
    ck_assert_str_eq(doc, "<result>\n");
    free(doc);
    ck_assert_int_eq(db_sched_upload_document(db, "R_5000000000", &doc),
                     DB_NONE);
    run("UPDATE result SET server_state = 5, outcome = 4");
    ck_assert_int_eq(db_sched_upload_document(db, "r_5000000000", &doc), 0);
    free(doc);
    run("UPDATE result SET received_time = 1");
    ck_assert_int_eq(db_sched_upload_document(db, "r_5000000000", &doc),
                     DB_NONE);
}
END_TEST

static Suite *
db_sched_suite(void)
{
    Suite *s = suite_create("db_sched");
    TCase *tc = tcase_create("questions");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, finds_a_user_by_id_and_by_key);
    tcase_add_test(tc, reads_a_team);
    tcase_add_test(tc, stores_what_a_client_knows_of_its_user);
    tcase_add_test(tc, adds_a_host_and_reads_it_back);
    tcase_add_test(tc, a_host_is_locked_for_one_at_a_time);
    tcase_add_test(tc, finds_hosts_that_look_alike);
    tcase_add_test(tc, finds_the_newest_host_of_a_cpid);
    tcase_add_test(tc, writes_only_what_changed_in_a_host);
    tcase_add_test(tc, finds_results_by_name_by_the_thousand);
    tcase_add_test(tc, stores_a_report_once);
    tcase_add_loop_test(tc, stores_reports_that_are_wanted, 0,
                        (int)ARRAY_LEN(wanted));
    tcase_add_test(tc, stores_many_reports_in_few_statements);
    tcase_add_test(tc, touched_workunits_are_due_and_never_put_off);
    tcase_add_test(tc, a_detached_host_gives_its_jobs_up);
    tcase_add_test(tc, lists_what_is_in_progress_on_a_host);
    tcase_add_test(tc, sends_what_is_unsent);
    tcase_add_test(tc, an_untrusted_host_gets_a_second_one_beside_it);
    tcase_add_test(tc, does_not_send_what_is_not_needed);
    tcase_add_test(tc, a_workunit_that_another_has_locked_is_passed_over);
    tcase_add_test(tc, one_result_of_a_workunit_for_a_user_or_host);
    tcase_add_test(tc, looks_ahead_which_workunits_a_user_has);
    tcase_add_test(tc, the_first_result_commits_its_workunit);
    tcase_add_test(tc, a_class_is_never_overwritten);
    tcase_add_test(tc, sends_a_lost_job_again_or_ends_it);
    tcase_add_test(tc, says_which_files_may_be_uploaded);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(db_sched_suite());
}
