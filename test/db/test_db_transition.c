/* test_db_transition.c - the transitioner's questions, asked of a real
 * database. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_transition.h"
#include "dbtest.h"

#define NOW 1800000000
#define BIG 5000000000
#define QUOTA 10

static struct db *db, *other; /* two programs */
static struct transition_batch batch;

static void
setup(void)
{
    db = dbtest_open();
    other = dbtest_open();
    dbtest_empty(other);
    dbtest_app(other, "app");
    memset(&batch, 0, sizeof(batch));
}

static void
teardown(void)
{
    transition_batch_free(&batch);
    db_close(db);
    db_close(other);
}

static int64_t
add_workunit(int64_t id, int64_t transition_time, int flags)
{
    struct workunit wu = {
        .id = id,
        .appid = 1,
        .transition_time = transition_time,
        .delay_bound = 1000,
        .min_quorum = 1,
        .target_nresults = 1,
        .max_total_results = 10,
        .transitioner_flags = flags,
        .size_class = -1,
        .priority = 5,
        .batch = 6,
        .result_template_file = "templates/out.xml",
    };

    snprintf(wu.name, sizeof(wu.name), "wu%" PRId64, id);
    return dbtest_workunit(other, &wu);
}

static int64_t
add_result(int64_t wu, int k, enum server_state state, int64_t host)
{
    struct result r = {
        .workunitid = wu,
        .server_state = state,
        .hostid = host,
        .appid = 1,
        .app_version_id = 3,
        .size_class = -1,
    };

    snprintf(r.name, sizeof(r.name), "wu%" PRId64 "_%d", wu, k);
    return dbtest_result(other, &r);
}

static void
due(int limit, int mod_n, int mod_i)
{
    const struct due_query want = {
        .now = NOW, .mod_n = mod_n, .mod_i = mod_i, .limit = limit};

    ck_assert_int_eq(db_begin(db), 0);
    ck_assert_int_eq(db_transition_due(db, &want, &batch), 0);
}

/* Nothing changes but what the test says. */
static void
leave_all(void)
{
    for (size_t i = 0; i < batch.n; i++) {
        const struct workunit *wu = &batch.wu[i].wu;

        batch.todo[i] = (struct transition){
            .error_mask = wu->error_mask,
            .assimilate_state = wu->assimilate_state,
            .file_delete_state = wu->file_delete_state,
            .need_validate = wu->need_validate,
            .transition_time = TRANSITION_NEVER,
            .new_priority = wu->priority,
        };
    }
}

START_TEST(the_longest_due_come_first_and_never_means_never)
{
    add_workunit(1, NOW, 0);
    add_workunit(2, NOW + 1, 0);
    add_workunit(3, NOW - 50, 0);
    add_workunit(4, TRANSITION_NEVER, 0);
    add_workunit(5, NOW - 10, TRANSITION_NONE);
    add_workunit(6, NOW - 60, TRANSITION_NO_NEW_RESULTS);
    due(2, 0, 0);
    ck_assert_uint_eq(batch.n, 2);
    ck_assert_int_eq(batch.wu[0].wu.id, 3); /* a batch is in id order */
    ck_assert_int_eq(batch.wu[1].wu.id, 6);
    db_rollback(db);
    due(100, 0, 0);
    ck_assert_uint_eq(batch.n, 3); /* 1, due this second, is due */
    db_rollback(db);
}
END_TEST

/* In the order of time, then id, whatever the order of the rows. */
START_TEST(a_walk_goes_on_behind_its_last_batch)
{
    static const int64_t order[] = {6, 2, 3, 9, 1};
    struct due_query want = {.now = NOW, .limit = 2};

    add_workunit(1, NOW, 0);
    add_workunit(2, NOW - 50, 0);
    add_workunit(3, NOW - 50, 0);
    add_workunit(6, NOW - 60, 0);
    add_workunit(9, NOW - 50, 0);
    ck_assert_int_eq(db_begin(db), 0);
    for (size_t met = 0; met < 5; met += batch.n) {
        ck_assert_int_eq(db_transition_due(db, &want, &batch), 0);
        ck_assert_uint_eq(batch.n, met < 4 ? 2 : 1);
        want.after_time = batch.last_time;
        want.after_id = batch.last_id;
        ck_assert_int_eq(batch.last_id, order[met + batch.n - 1]);
    }
    ck_assert_int_eq(db_transition_due(db, &want, &batch), 0);
    ck_assert_uint_eq(batch.n, 0);
    db_rollback(db);
}
END_TEST

START_TEST(shares_divide_the_work)
{
    for (int i = 1; i <= 10; i++)
        add_workunit(BIG + i, NOW, 0);
    due(100, 3, 1);
    ck_assert_uint_eq(batch.n, 3);
    for (size_t i = 0; i < batch.n; i++)
        ck_assert_int_eq(batch.wu[i].wu.id % 3, 1);
    db_rollback(db);
}
END_TEST

START_TEST(what_another_holds_is_passed_over)
{
    for (int i = 1; i <= 3; i++)
        add_workunit(i, NOW, 0);
    ck_assert_int_eq(db_begin(other), 0);
    dbtest_exec(other, "UPDATE workunit SET priority = 9 WHERE id = 2");
    due(100, 0, 0);
    ck_assert_uint_eq(batch.n, 2);
    ck_assert_int_eq(batch.wu[0].wu.id, 1);
    ck_assert_int_eq(batch.wu[1].wu.id, 3);
    db_rollback(db);
    db_rollback(other);
}
END_TEST

START_TEST(results_come_with_their_workunit)
{
    add_workunit(1, NOW, 0);
    add_workunit(2, NOW, 0);
    add_workunit(3, NOW, 0);
    add_result(1, 0, RESULT_UNSENT, 0);
    add_result(1, 1, RESULT_OVER, 4);
    add_result(3, 7, RESULT_IN_PROGRESS, 5);
    due(100, 0, 0);
    ck_assert_uint_eq(batch.n, 3);
    ck_assert_uint_eq(batch.wu[0].n, 2);
    ck_assert_uint_eq(batch.wu[1].n, 0);
    ck_assert_uint_eq(batch.wu[2].n, 1);
    ck_assert_int_eq(batch.result[batch.wu[0].first + 1].hostid, 4);
    ck_assert_int_eq(batch.result[batch.wu[2].first].suffix, 7);
    ck_assert_int_eq(batch.result[batch.wu[2].first].server_state,
                     RESULT_IN_PROGRESS);
    db_rollback(db);
}
END_TEST

START_TEST(a_workunit_with_fifteen_hundred_results_is_one_workunit)
{
    add_workunit(1, NOW, 0);
    for (int k = 0; k < 1500; k++)
        add_result(1, k, RESULT_UNSENT, 0);
    due(100, 0, 0);
    ck_assert_uint_eq(batch.wu[0].n, 1500);
    leave_all();
    batch.todo[0].n_changes = 1500;
    for (size_t k = 0; k < 1500; k++)
        batch.change[k] = (struct result_change){
            .index = k,
            .server_state = RESULT_OVER,
            .outcome = OUTCOME_DIDNT_NEED,
        };
    ck_assert_int_eq(db_transition_apply(db, &batch, NOW, QUOTA), 0);
    ck_assert_int_eq(db_commit(db), 0);
    ck_assert_int_eq(
        dbtest_i64(other, "SELECT COUNT(*) FROM result WHERE server_state = 5 "
                          "AND outcome = 5"),
        1500);
}
END_TEST

START_TEST(writes_each_kind_of_change)
{
    add_workunit(BIG, NOW, 0);
    add_workunit(BIG + 1, NOW, 0);
    add_result(BIG, 0, RESULT_UNSENT, 0);
    add_result(BIG, 1, RESULT_IN_PROGRESS, 4);
    add_result(BIG + 1, 0, RESULT_UNSENT, 0);
    due(100, 0, 0);
    leave_all();
    batch.todo[0] = (struct transition){
        .need_validate = true,
        .error_mask = WU_TOO_MANY_ERROR_RESULTS | WU_CANCELLED,
        .assimilate_state = ASSIMILATE_READY,
        .file_delete_state = FILES_READY,
        .hr_class = 3,
        .app_version_id = 4,
        .transition_time = NOW + 77,
        .n_changes = 2,
    };
    batch.change[0] = (struct result_change){
        .index = 0, .server_state = RESULT_OVER, .outcome = OUTCOME_DIDNT_NEED};
    batch.change[1] = (struct result_change){
        .index = 1, .server_state = RESULT_OVER, .outcome = OUTCOME_NO_REPLY};
    ck_assert_int_eq(db_transition_apply(db, &batch, NOW, QUOTA), 0);
    ck_assert_int_eq(db_commit(db), 0);
    ck_assert_int_eq(
        dbtest_i64(other,
                   "SELECT COUNT(*) FROM workunit WHERE id = 5000000000 AND "
                   "need_validate = 1 AND error_mask = 18 AND "
                   "assimilate_state = 1 AND file_delete_state = 1 AND "
                   "hr_class = 3 AND app_version_id = 4 AND "
                   "transition_time = 1800000077"),
        1);
    ck_assert_int_eq(
        dbtest_i64(other, "SELECT COUNT(*) FROM workunit WHERE "
                          "id = 5000000001 AND need_validate = 0 AND "
                          "error_mask = 0 AND transition_time = 2147483647"),
        1);
    ck_assert_int_eq(dbtest_i64(other,
                                "SELECT SUM(outcome) FROM result WHERE "
                                "workunitid = 5000000000 AND server_state = 5"),
                     OUTCOME_DIDNT_NEED + OUTCOME_NO_REPLY);
    ck_assert_int_eq(dbtest_i64(other, "SELECT server_state FROM result WHERE "
                                       "workunitid = 5000000001"),
                     RESULT_UNSENT);
}
END_TEST

START_TEST(a_result_that_is_not_as_read_is_not_written)
{
    add_workunit(1, NOW, 0);
    add_result(1, 0, RESULT_UNSENT, 0);
    due(100, 0, 0);
    leave_all();
    batch.result[0].server_state = RESULT_IN_PROGRESS; /* a wrong belief */
    batch.todo[0].n_changes = 1;
    batch.change[0] = (struct result_change){
        .index = 0, .server_state = RESULT_OVER, .outcome = OUTCOME_NO_REPLY};
    ck_assert_int_eq(db_transition_apply(db, &batch, NOW, QUOTA), DB_EXISTS);
    db_rollback(db);
    ck_assert_int_eq(dbtest_i64(other, "SELECT server_state FROM result"),
                     RESULT_UNSENT);
}
END_TEST

START_TEST(creates_results_by_the_hundred)
{
    struct new_result *new;

    add_workunit(1, NOW, 0);
    add_workunit(2, NOW, 0);
    due(100, 0, 0);
    leave_all();
    batch.todo[1].new_priority = 8;
    for (int k = 0; k < 333; k++) {
        new = transition_batch_add(&batch, (size_t)k % 2);
        snprintf(new->name, sizeof(new->name), "wu%d_%d", 1 + k % 2, k);
        new->xml_doc_in = xstrdup("<file_info>\n'\\\n");
        new->random = k;
    }
    ck_assert_int_eq(db_transition_apply(db, &batch, NOW, QUOTA), 0);
    ck_assert_int_eq(db_commit(db), 0);
    ck_assert_int_eq(
        dbtest_i64(other,
                   "SELECT COUNT(*) FROM result WHERE workunitid = 2 AND "
                   "server_state = 2 AND priority = 8 AND batch = 6 AND "
                   "appid = 1 AND size_class = -1 AND create_time = 1800000000 "
                   "AND xml_doc_in = '<file_info>\\n''\\\\\\n' "
                   "AND name = CONCAT('wu2_', random)"),
        166);
    ck_assert_int_eq(dbtest_i64(other, "SELECT COUNT(*) FROM result WHERE "
                                       "workunitid = 1 AND priority = 5"),
                     167);
}
END_TEST

START_TEST(a_name_that_is_taken_stops_the_batch)
{
    struct new_result *new;

    add_workunit(1, NOW, 0);
    add_workunit(2, NOW, 0);
    add_result(2, 0, RESULT_UNSENT, 0);
    due(100, 0, 0);
    leave_all();
    new = transition_batch_add(&batch, 0);
    str_copy(new->name, sizeof(new->name), "wu2_0");
    new->xml_doc_in = xstrdup("");
    ck_assert_int_eq(db_transition_apply(db, &batch, NOW, QUOTA), DB_EXISTS);
    db_rollback(db);
    ck_assert_int_eq(dbtest_i64(other, "SELECT COUNT(*) FROM result"), 1);
    ck_assert_int_eq(dbtest_i64(other, "SELECT COUNT(*) FROM workunit WHERE "
                                       "transition_time = 1800000000"),
                     2);
}
END_TEST

START_TEST(a_host_pays_for_each_late_result)
{
    add_workunit(1, NOW, 0);
    for (int k = 0; k < 3; k++)
        add_result(1, k, RESULT_IN_PROGRESS, k < 2 ? 7 : 8);
    dbtest_exec(other, "INSERT INTO host_app_version SET host_id = 7, "
                       "app_version_id = 3, pfc_n = 2, pfc_avg = 4, et_n = 1, "
                       "et_avg = 1, et_var = 1, et_q = 1, max_jobs_per_day = 6,"
                       " n_jobs_today = 3, turnaround_n = 0, turnaround_avg = "
                       "0, turnaround_var = 0, turnaround_q = 0, "
                       "consecutive_valid = 11");
    due(100, 0, 0);
    leave_all();
    batch.todo[0].n_changes = 3;
    for (size_t k = 0; k < 3; k++)
        batch.change[k] = (struct result_change){
            .index = k,
            .server_state = RESULT_OVER,
            .outcome = OUTCOME_NO_REPLY,
            .penalise = true,
        };
    ck_assert_int_eq(db_transition_apply(db, &batch, NOW, QUOTA), 0);
    ck_assert_int_eq(db_commit(db), 0);
    /* twice late: 6 - 2; what is not ours stays */
    ck_assert_int_eq(
        dbtest_i64(other,
                   "SELECT COUNT(*) FROM host_app_version WHERE host_id = 7 "
                   "AND max_jobs_per_day = 4 AND turnaround_n = 2 AND "
                   "turnaround_avg = 1000 AND consecutive_valid = 0 AND "
                   "pfc_n = 2 AND n_jobs_today = 3"),
        1);
    /* never seen before: the quota, less one */
    ck_assert_int_eq(dbtest_i64(other,
                                "SELECT COUNT(*) FROM host_app_version WHERE "
                                "host_id = 8 AND app_version_id = 3 AND "
                                "max_jobs_per_day = 9 AND turnaround_n = 1"),
                     1);
}
END_TEST

START_TEST(one_can_be_put_off)
{
    add_workunit(1, NOW, 0);
    ck_assert_int_eq(db_transition_postpone(db, 1, NOW + 60), 0);
    due(100, 0, 0);
    ck_assert_uint_eq(batch.n, 0);
    db_rollback(db);
}
END_TEST

static Suite *
db_transition_suite(void)
{
    Suite *s = suite_create("db_transition");
    TCase *tc = tcase_create("questions");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, the_longest_due_come_first_and_never_means_never);
    tcase_add_test(tc, a_walk_goes_on_behind_its_last_batch);
    tcase_add_test(tc, shares_divide_the_work);
    tcase_add_test(tc, what_another_holds_is_passed_over);
    tcase_add_test(tc, results_come_with_their_workunit);
    tcase_add_test(tc, a_workunit_with_fifteen_hundred_results_is_one_workunit);
    tcase_add_test(tc, writes_each_kind_of_change);
    tcase_add_test(tc, a_result_that_is_not_as_read_is_not_written);
    tcase_add_test(tc, creates_results_by_the_hundred);
    tcase_add_test(tc, a_name_that_is_taken_stops_the_batch);
    tcase_add_test(tc, a_host_pays_for_each_late_result);
    tcase_add_test(tc, one_can_be_put_off);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(db_transition_suite());
}
