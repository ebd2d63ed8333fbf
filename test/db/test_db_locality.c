/* test_db_locality.c - jobs by the file they work on, and who holds which file
 * (dispatch §9.4). */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_locality.h"
#include "dbtest.h"

enum { NOW = 1700000000, UNSENT = 2, IN_PROGRESS = 4, OVER = 5 };

static struct db *db;

static void
setup(void)
{
    db = dbtest_open();
    dbtest_empty(db);
    dbtest_exec(db, "DELETE FROM x_locality");
    dbtest_app(db, "uppercase");
    ck_assert_int_eq(db_locality_prepare(db), 0);
}

static void
teardown(void)
{
    db_close(db);
}

/* A workunit of one result, both with this name and "_0". */
static void
job(const char *name, int state, int64_t create_time)
{
    const struct workunit wu = {
        .appid = 1, .delay_bound = 100, .rsc_memory_bound = 5};
    struct workunit named = wu;
    struct result r = {.appid = 1, .create_time = create_time};

    str_copy(named.name, sizeof(named.name), name);
    r.workunitid = dbtest_workunit(db, &named);
    snprintf(r.name, sizeof(r.name), "%s_0", name);
    r.server_state = (enum server_state)state;
    dbtest_result(db, &r);
}

static const struct locality_name first = {.no_file = true};

/* The files that have jobs, from `after` on: "a b -c_0"; "-": a job without. */
static void
expect_files(const struct locality_name *after, size_t max, const char *want)
{
    struct locality_name name[10];
    struct buf got = BUF_INIT;
    size_t n;

    ck_assert_int_eq(db_locality_files(db, after, max, name, &n), 0);
    for (size_t i = 0; i < n; i++)
        buf_addf(&got, "%s%s%s", i > 0 ? " " : "", name[i].no_file ? "-" : "",
                 name[i].text);
    ck_assert_str_eq(buf_str(&got), want);
    buf_free(&got);
}

START_TEST(files_with_jobs_are_found_by_name)
{
    struct locality_name after = {.text = "b"};

    expect_files(&first, 10, "");
    job("b__1", UNSENT, 0);
    job("b__2", UNSENT, 0);
    job("B_x__1", UNSENT, 0);
    job("a__9", OVER, 0);
    job("c", UNSENT, 0);
    job("c2__x", IN_PROGRESS, 0);
    job("d%__z~", UNSENT, 0);
    job("d%__zz", UNSENT, 0);
    job("e__\xc3\xa9t\xc3\xa9", UNSENT, 0);
    expect_files(&first, 10, "b B_x -c_0 d% e");
    expect_files(&first, 2, "b B_x");
    expect_files(&after, 10, "B_x -c_0 d% e");
}
END_TEST

START_TEST(what_waits_for_a_file_is_counted)
{
    const struct locality_name name[] = {
        {.text = "a_b"},
        {             .text = "none"            },
        { .text = "c_0",             .no_file = true}
    };
    struct locality_jobs jobs[3];

    job("a_b__1", UNSENT, 100);
    job("a_b__2", UNSENT, 200);
    job("a_b__3", IN_PROGRESS, 1);
    job("a_b__4", OVER, 1);
    job("aXb__5", UNSENT, 1); /* "_" is no pattern */
    job("a_b_c__6", UNSENT, 1);
    job("c", UNSENT, 1);
    ck_assert_int_eq(db_locality_waiting(db, name, 3, 100, jobs), 0);
    ck_assert_int_eq(jobs[0].unsent, 2);
    ck_assert(jobs[0].in_progress && !jobs[0].overdue);
    ck_assert_int_eq(jobs[1].unsent, 0);
    ck_assert(!jobs[1].in_progress && !jobs[1].overdue);
    ck_assert_int_eq(jobs[2].unsent, 1);
    ck_assert(!jobs[2].in_progress && jobs[2].overdue);
    ck_assert_int_eq(db_locality_waiting(db, name, 3, 101, jobs), 0);
    ck_assert(jobs[0].overdue); /* a second older than asked */
}
END_TEST

/* Names of the next jobs of a file. */
static void
expect_jobs(const struct locality_name *name, const char *after, size_t max,
            const char *want)
{
    struct locality_job jobs[10];
    struct buf got = BUF_INIT;
    size_t n;

    ck_assert_int_eq(db_locality_jobs(db, name, after, max, jobs, &n), 0);
    for (size_t i = 0; i < n; i++) {
        buf_addf(&got, "%s%s", i > 0 ? " " : "", jobs[i].name);
        ck_assert_int_eq(jobs[i].job.delay_bound, 100);
        ck_assert_double_eq(jobs[i].job.rsc_memory_bound, 5);
        ck_assert_int_eq(jobs[i].job.appid, 1);
    }
    ck_assert_str_eq(buf_str(&got), want);
    buf_free(&got);
}

START_TEST(jobs_of_a_file_come_page_by_page)
{
    const struct locality_name a = {.text = "a"};
    const struct locality_name single = {.text = "c_0", .no_file = true};

    job("a__1", UNSENT, 0);
    job("a__2", UNSENT, 0);
    job("a__3", IN_PROGRESS, 0);
    job("a__4", UNSENT, 0);
    job("a__5", UNSENT, 0);
    job("a__6", UNSENT, 0);
    job("a_1", UNSENT, 0);
    job("ab__1", UNSENT, 0);
    job("c", UNSENT, 0);
    job("c_0_1", UNSENT, 0);
    dbtest_exec(db, "UPDATE workunit SET error_mask = 16 WHERE name = 'a__4'");
    dbtest_exec(db, "UPDATE workunit SET transitioner_flags = 1"
                    " WHERE name = 'a__5'");
    expect_jobs(&a, "", 2, "a__1_0 a__2_0");
    expect_jobs(&a, "a__2_0", 2, "a__6_0");
    expect_jobs(&a, "a__6_0", 2, "");
    expect_jobs(&single, "", 10, "c_0");
}
END_TEST

static void
expect_held(int64_t hostid, int64_t since, int64_t holders, int64_t last_nth)
{
    const struct locality_name name[] = {{.text = "none"}, {.text = "a"}};
    struct locality_held held[2];

    ck_assert_int_eq(db_locality_held(db, name, 2, hostid, since, held), 0);
    ck_assert_int_eq(held[0].holders, 0);
    ck_assert_int_eq(held[0].last_nth, 0);
    ck_assert_int_eq(held[1].holders, holders);
    ck_assert_int_eq(held[1].last_nth, last_nth);
}

START_TEST(of_two_that_want_a_file_one_gets_it)
{
    ck_assert_int_eq(db_locality_hold(db, "a", 1, 7, NOW), 0);
    ck_assert_int_eq(db_locality_hold(db, "a", 1, 8, NOW), DB_EXISTS);
    expect_held(8, NOW, 1, 1);
    expect_held(7, NOW, 0, 1); /* nobody else */
    ck_assert_int_eq(db_locality_hold(db, "a", 2, 8, NOW + 1), 0);
    expect_held(9, NOW, 2, 2);
    expect_held(9, NOW + 1, 1, 2); /* host 7 got its job before */
    ck_assert_int_eq(db_locality_hold(db, "A", 1, 7, NOW), 0); /* another */
}
END_TEST

START_TEST(what_a_host_holds_is_kept_up)
{
    struct locality_holding got[2];
    size_t n;

    ck_assert_int_eq(db_locality_touch(db, "a", 7, NOW), 0); /* new */
    ck_assert_int_eq(db_locality_touch(db, "b", 7, NOW), 0);
    ck_assert_int_eq(db_locality_touch(db, "a", 8, NOW), 0);
    ck_assert_int_eq(db_locality_touch(db, "a", 7, NOW + 5), 0);
    expect_held(9, NOW, 2, 2);
    expect_held(9, NOW + 5, 1, 2);
    ck_assert_int_eq(db_locality_of_host(db, 7, 2, got, &n), 0);
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(got[0].name.text, "a");
    ck_assert_int_eq(got[0].time, NOW + 5);
    ck_assert_str_eq(got[1].name.text, "b");
    ck_assert_int_eq(db_locality_release(db, "a", 7), 0);
    expect_held(9, NOW, 1, 2);
    ck_assert_int_eq(db_locality_forget(db, "a", NOW), 0);
    expect_held(9, NOW, 1, 2);
    ck_assert_int_eq(db_locality_forget(db, "a", NOW + 1), 0);
    expect_held(9, 0, 0, 0);
}
END_TEST

/* ---- what it costs ---- */

static int64_t
rows_read(void)
{
    return dbtest_i64(db, "SELECT CAST(SUM(variable_value) AS SIGNED)"
                          " FROM information_schema.session_status"
                          " WHERE variable_name IN ('Handler_read_next',"
                          " 'Handler_read_prev', 'Handler_read_rnd_next')");
}

/* 40 000 results, of 100 files; half of them are over. */
static void
many_jobs(void)
{
    dbtest_exec(db, "SET SESSION sql_mode = ''"); /* the others are 0 */
    dbtest_exec(db,
                "INSERT INTO workunit (id, appid, name, xml_doc,"
                " transition_time) SELECT seq, 1, CONCAT('f', LPAD(seq % 100,"
                " 3, '0'), '__', seq), '', 0 FROM seq_1_to_40000");
    dbtest_exec(db, "INSERT INTO result (id, name, workunitid, appid,"
                    " server_state) SELECT id, CONCAT(name, '_0'), id, 1,"
                    " IF(id > 20000, 2, 5) FROM workunit");
}

START_TEST(a_question_costs_as_much_as_its_answer)
{
    struct locality_name name[10];
    struct locality_jobs waiting[10];
    static struct locality_job jobs[64];
    int64_t before, cost;
    size_t n;

    many_jobs();
    before = rows_read();
    cost = rows_read() - before; /* of asking */
    before = rows_read();
    ck_assert_int_eq(db_locality_files(db, &first, 10, name, &n), 0);
    ck_assert_uint_eq(n, 10);
    ck_assert_int_eq(db_locality_waiting(db, name, n, 0, waiting), 0);
    ck_assert_int_eq(waiting[9].unsent, 200);
    ck_assert_int_eq(
        db_locality_jobs(db, &name[5], "f005__30005_0", 64, jobs, &n), 0);
    ck_assert_uint_eq(n, 64);
    before = rows_read() - before - cost;
    /* 10 files padded to 16; 200 + 100 unsent of each, read and counted; 64
     * jobs: of 40 000 results */
    ck_assert_msg(before < 12000, "%" PRId64 " rows read", before);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("db_locality");
    TCase *tc = tcase_create("locality");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, files_with_jobs_are_found_by_name);
    tcase_add_test(tc, what_waits_for_a_file_is_counted);
    tcase_add_test(tc, jobs_of_a_file_come_page_by_page);
    tcase_add_test(tc, of_two_that_want_a_file_one_gets_it);
    tcase_add_test(tc, what_a_host_holds_is_kept_up);
    tcase_add_test(tc, a_question_costs_as_much_as_its_answer);
    suite_add_tcase(suite, tc);
    return dbtest_run(suite);
}
