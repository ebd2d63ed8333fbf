/* test_db_validate.c - the validator's questions, asked of a real database. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "credit.h"
#include "db_grant.h"
#include "db_validate.h"
#include "dbtest.h"

#define NOW 1800000000
#define BIG 5000000000
#define QUOTA 10

static struct db *db, *other; /* two programs */
static struct validate_batch batch;
static struct validate_terms terms;

static void
setup(void)
{
    char name[8];

    db = dbtest_open();
    other = dbtest_open();
    dbtest_empty(other);
    dbtest_app(other, "app");
    for (int i = 1; i <= 3; i++) {
        snprintf(name, sizeof(name), "user%d", i);
        dbtest_host(other, dbtest_user(other, name));
    }
    dbtest_exec(other, "INSERT INTO team (id, create_time, userid, name, type, "
                       "nusers, expavg_time) VALUES (4, 1, 1, 'team', 1, 2, "
                       "0)");
    dbtest_exec(other, "UPDATE user SET teamid = 4 WHERE id <> 3");
    memset(&batch, 0, sizeof(batch));
    terms = (struct validate_terms){.now = NOW, .daily_result_quota = QUOTA};
}

static void
teardown(void)
{
    validate_batch_free(&batch);
    db_close(db);
    db_close(other);
}

/* With two successes of hosts 1 and 2 and an unsent third. */
static void
add_workunit(int64_t id)
{
    struct workunit wu = {
        .id = id,
        .appid = 1,
        .need_validate = true,
        .transition_time = NOW + 500000,
        .min_quorum = 2,
        .target_nresults = 2,
        .max_success_results = 5,
        .size_class = -1,
    };

    snprintf(wu.name, sizeof(wu.name), "wu%" PRId64, id);
    dbtest_workunit(other, &wu);
    for (int k = 0; k < 3; k++) {
        struct result r = {
            .id = 10 * id + k,
            .workunitid = id,
            .server_state = k < 2 ? RESULT_OVER : RESULT_UNSENT,
            .outcome = k < 2 ? OUTCOME_SUCCESS : OUTCOME_INIT,
            .hostid = k < 2 ? k + 1 : 0,
            .userid = k < 2 ? k + 1 : 0,
            .sent_time = NOW - 2000,
            .received_time = NOW - 1000,
            .appid = 1,
            .app_version_id = 3,
            .size_class = -1,
        };

        snprintf(r.name, sizeof(r.name), "wu%" PRId64 "_%d", id, k);
        dbtest_result(other, &r);
    }
}

static void
due(void)
{
    const struct validate_query want = {.appid = 1, .limit = 100};

    ck_assert_int_eq(db_validate_due(db, &want, &batch), 0);
}

/* Nothing but need_validate changes, unless the test says so. */
static void
leave_all(void)
{
    for (size_t i = 0; i < batch.n; i++)
        batch.verdict[i] = (struct validate_verdict){
            .canonical_resultid = batch.wu[i].wu.canonical_resultid,
            .canonical_credit = batch.wu[i].wu.canonical_credit,
            .min_quorum = batch.wu[i].wu.min_quorum,
            .target_nresults = batch.wu[i].wu.target_nresults,
        };
}

/* Both results of wu[i] agree. */
static void
agree(size_t i, double credit)
{
    batch.verdict[i].canonical_resultid = batch.result[batch.wu[i].first].id;
    batch.verdict[i].canonical_credit = credit;
    for (size_t k = 0; k < 2; k++)
        batch.change[batch.wu[i].first + k] = (struct validate_change){
            .write = true,
            .outcome = OUTCOME_SUCCESS,
            .validate_state = VALIDATE_VALID,
            .credit = credit,
        };
}

static void
store(void)
{
    ck_assert_int_eq(db_validate_store(db, &batch, &terms), 0);
}

START_TEST(reads_what_is_to_be_compared)
{
    add_workunit(BIG);
    add_workunit(BIG + 1);
    dbtest_exec(other, "UPDATE result SET validate_state = 2 "
                       "WHERE id = 50000000000");
    dbtest_exec(other, "UPDATE result SET outcome = 3 WHERE id = 50000000011");
    due();
    ck_assert_uint_eq(batch.n, 2);
    ck_assert_uint_eq(batch.wu[0].n, 1); /* not the invalid one */
    ck_assert_int_eq(batch.result[batch.wu[0].first].id, 10 * BIG + 1);
    ck_assert_uint_eq(batch.wu[1].n, 1); /* not the failed one */
    ck_assert_int_eq(batch.result[batch.wu[1].first].id, 10 * BIG + 10);
    ck_assert_str_eq(batch.result[batch.wu[1].first].name, "wu5000000001_0");
}
END_TEST

/* They may be large: only those of the workunits that are compared now. */
START_TEST(documents_are_there_for_a_part_of_the_batch)
{
    for (int i = 0; i < 3; i++)
        add_workunit(BIG + i);
    dbtest_exec(other, "UPDATE result SET stderr_out = CONCAT('of ', id), "
                       "xml_doc_in = name");
    due();
    ck_assert_uint_eq(batch.n_results, 6);
    ck_assert_int_eq(db_validate_documents(db, &batch, 0, 2), 0);
    ck_assert_str_eq(batch.result[0].stderr_out, "of 50000000000");
    ck_assert_str_eq(batch.result[0].xml_doc_in, "wu5000000000_0");
    ck_assert_str_eq(batch.result[3].stderr_out, "of 50000000011");
    ck_assert_ptr_null(batch.result[4].stderr_out);
    ck_assert_int_eq(db_validate_documents(db, &batch, 2, 2), 0);
    ck_assert_ptr_null(batch.result[0].stderr_out);
    ck_assert_ptr_null(batch.result[3].xml_doc_in);
    ck_assert_str_eq(batch.result[5].stderr_out, "of 50000000021");
    /* gone meanwhile: the verdict will not be stored */
    dbtest_exec(other, "DELETE FROM result WHERE id = 50000000001");
    ck_assert_int_eq(db_validate_documents(db, &batch, 0, 1), 0);
    ck_assert_str_eq(batch.result[0].stderr_out, "of 50000000000");
    ck_assert_ptr_null(batch.result[1].stderr_out);
}
END_TEST

START_TEST(pages_by_id_and_divides)
{
    struct validate_query want = {.appid = 1, .limit = 2, .after_id = BIG};

    for (int i = 0; i < 5; i++)
        add_workunit(BIG + i);
    dbtest_exec(other, "UPDATE workunit SET need_validate = 0 "
                       "WHERE id = 5000000001");
    ck_assert_int_eq(db_validate_due(db, &want, &batch), 0);
    ck_assert_uint_eq(batch.n, 2);
    ck_assert_int_eq(batch.wu[0].wu.id, BIG + 2);
    want.max_id = BIG + 2;
    ck_assert_int_eq(db_validate_due(db, &want, &batch), 0);
    ck_assert_uint_eq(batch.n, 1);
    want =
        (struct validate_query){.appid = 1, .limit = 9, .mod_n = 2, .mod_i = 1};
    ck_assert_int_eq(db_validate_due(db, &want, &batch), 0);
    ck_assert_uint_eq(batch.n, 1);
    ck_assert_int_eq(batch.wu[0].wu.id, BIG + 3);
    want = (struct validate_query){.appid = 1, .limit = 9, .wu_id = BIG + 1};
    ck_assert_int_eq(db_validate_due(db, &want, &batch), 0);
    ck_assert_uint_eq(batch.n, 1); /* whether it asks or not */
    want = (struct validate_query){.appid = 2, .limit = 9};
    ck_assert_int_eq(db_validate_due(db, &want, &batch), 0);
    ck_assert_uint_eq(batch.n, 0);
}
END_TEST

START_TEST(verdict_and_credit_are_stored_together)
{
    add_workunit(BIG);
    due();
    leave_all();
    agree(0, 12.5);
    store();
    ck_assert(!batch.verdict[0].undecided);
    ck_assert_int_eq(
        dbtest_i64(other,
                   "SELECT COUNT(*) FROM workunit WHERE need_validate = 0 AND "
                   "canonical_resultid = 50000000000 AND "
                   "canonical_credit = 12.5 AND assimilate_state = 1 AND "
                   "transition_time = 2147483647"),
        1);
    ck_assert_int_eq(dbtest_i64(other,
                                "SELECT COUNT(*) FROM result WHERE "
                                "validate_state = 1 AND granted_credit = 12.5"),
                     2);
    /* the third is not needed any more */
    ck_assert_int_eq(dbtest_i64(other, "SELECT outcome FROM result WHERE "
                                       "id = 50000000002"),
                     OUTCOME_DIDNT_NEED);
    ck_assert_int_eq(dbtest_i64(other, "SELECT COUNT(*) FROM user WHERE "
                                       "total_credit = 12.5 AND id IN (1, 2)"),
                     2);
    ck_assert_int_eq(dbtest_i64(other, "SELECT COUNT(*) FROM host WHERE "
                                       "total_credit = 12.5 AND "
                                       "avg_turnaround = 1000"),
                     2);
    ck_assert_double_eq_tol(
        dbtest_double(other, "SELECT total_credit FROM team"), 25, 1e-9);
    ck_assert_int_eq(
        dbtest_i64(other, "SELECT COUNT(*) FROM host_app_version WHERE "
                          "consecutive_valid = 1 AND max_jobs_per_day = 11"),
        2);
}
END_TEST

START_TEST(the_same_verdict_again_grants_nothing)
{
    add_workunit(1);
    due();
    leave_all();
    agree(0, 12.5);
    store();
    store(); /* a program that did not hear of its own commit */
    ck_assert(batch.verdict[0].undecided);
    ck_assert_double_eq_tol(
        dbtest_double(other, "SELECT SUM(total_credit) FROM user"), 25, 1e-9);
}
END_TEST

static const struct {
    const char *promise;
    const char *meanwhile;
} change[] = {
    {"a report that came in between is looked at first",
     "UPDATE result SET server_state = 5, outcome = 1 WHERE id = 12"},
    {"another validator's verdict stands",
     "UPDATE result SET validate_state = 4 WHERE id = 10"           },
    {"a cancelled workunit grants nothing",
     "UPDATE workunit SET error_mask = 16 WHERE id = 1"             },
    {"a canonical result that is there is not replaced",
     "UPDATE workunit SET canonical_resultid = 11 WHERE id = 1"     },
    {"a quorum that was raised counts",
     "UPDATE workunit SET min_quorum = 3 WHERE id = 1"              },
};

START_TEST(what_changed_while_comparing_comes_again)
{
    add_workunit(1);
    add_workunit(2);
    due();
    leave_all();
    agree(0, 10);
    agree(1, 10);
    dbtest_exec(other, change[_i].meanwhile);
    store();
    ck_assert_msg(batch.verdict[0].undecided &&
                      dbtest_i64(other, "SELECT need_validate FROM workunit "
                                        "WHERE id = 1") == 1 &&
                      dbtest_i64(other, "SELECT COUNT(*) FROM result WHERE "
                                        "workunitid = 1 AND validate_state = "
                                        "1") == 0,
                  "broken: %s", change[_i].promise);
    /* and the other one of the batch is stored */
    ck_assert_double_eq_tol(
        dbtest_double(other, "SELECT SUM(total_credit) FROM host"), 20, 1e-9);
}
END_TEST

START_TEST(no_agreement_asks_for_one_more)
{
    add_workunit(1);
    due();
    leave_all();
    batch.verdict[0].target_nresults = 3;
    batch.verdict[0].transition_now = true;
    for (size_t k = 0; k < 2; k++)
        batch.change[k] = (struct validate_change){
            .write = true,
            .outcome = OUTCOME_SUCCESS,
            .validate_state = VALIDATE_INCONCLUSIVE,
        };
    store();
    ck_assert_int_eq(
        dbtest_i64(other, "SELECT COUNT(*) FROM workunit WHERE "
                          "target_nresults = 3 AND need_validate = 0 AND "
                          "canonical_resultid = 0 AND assimilate_state = 0 "
                          "AND transition_time = 1800000000"),
        1);
    ck_assert_int_eq(dbtest_i64(other, "SELECT server_state FROM result "
                                       "WHERE id = 12"),
                     RESULT_UNSENT);
    ck_assert_int_eq(dbtest_i64(other, "SELECT COUNT(*) FROM host_app_version"),
                     0);
}
END_TEST

START_TEST(a_retry_comes_within_six_hours_and_never_puts_off)
{
    add_workunit(1);
    add_workunit(2);
    dbtest_exec(other, "UPDATE workunit SET transition_time = 1800000100 "
                       "WHERE id = 2");
    due();
    leave_all();
    batch.verdict[0].retry = batch.verdict[1].retry = true;
    store();
    ck_assert_int_eq(dbtest_i64(other, "SELECT transition_time FROM workunit "
                                       "WHERE id = 1"),
                     NOW + 6 * 3600);
    ck_assert_int_eq(dbtest_i64(other, "SELECT transition_time FROM workunit "
                                       "WHERE id = 2"),
                     NOW + 100);
}
END_TEST

START_TEST(many_grants_to_one_owner_add_up)
{
    const struct grant grants[] = {
        {.hostid = 1, .userid = 1, .credit = 1,  .start = NOW - 86400},
        {.hostid = 2, .userid = 1, .credit = 2,  .start = NOW - 86400},
        {.hostid = 1, .userid = 1, .credit = 4,  .start = NOW - 86400},
        {.hostid = 3, .userid = 3, .credit = 8,  .start = NOW - 86400},
        {.hostid = 9, .userid = 9, .credit = 16, .start = NOW - 86400},
        {.hostid = 3, .userid = 3, .credit = 0,  .turnaround = 500   },
    };
    double avg = 0, avg_time = 0;

    ck_assert_int_eq(db_begin(db), 0);
    ck_assert_int_eq(db_grant(db, grants, ARRAY_LEN(grants), NOW), 0);
    ck_assert_int_eq(db_commit(db), 0);
    ck_assert_double_eq_tol(
        dbtest_double(other, "SELECT total_credit FROM user WHERE id = 1"), 7,
        1e-12);
    ck_assert_double_eq_tol(
        dbtest_double(other, "SELECT total_credit FROM host WHERE id = 1"), 5,
        1e-12);
    ck_assert_double_eq_tol(
        dbtest_double(other, "SELECT total_credit FROM host WHERE id = 3"), 8,
        1e-12);
    ck_assert_double_eq_tol(
        dbtest_double(other, "SELECT avg_turnaround FROM host WHERE id = 3"),
        500, 1e-12);
    /* user 3 has no team */
    ck_assert_double_eq_tol(
        dbtest_double(other, "SELECT total_credit FROM team"), 7, 1e-12);
    credit_update_average(NOW, NOW - 86400, 8, CREDIT_HALF_LIFE, &avg,
                          &avg_time);
    ck_assert_double_eq_tol(
        dbtest_double(other, "SELECT expavg_credit FROM user WHERE id = 3"),
        avg, 1e-9);
    ck_assert_double_eq_tol(
        dbtest_double(other, "SELECT expavg_time FROM user WHERE id = 3"), NOW,
        1e-6);
}
END_TEST

/* Its user changed teams between the report and the verdict. */
START_TEST(a_result_names_the_team_that_got_the_credit)
{
    add_workunit(1);
    dbtest_exec(other, "UPDATE result SET teamid = 9");
    due();
    leave_all();
    agree(0, 8);
    store();
    ck_assert_int_eq(dbtest_i64(other, "SELECT COUNT(*) FROM result r JOIN user"
                                       " u ON u.id = r.userid WHERE"
                                       " r.granted_credit = 8 AND"
                                       " r.teamid <> u.teamid"),
                     0);
    ck_assert_double_eq_tol(
        dbtest_double(other, "SELECT SUM(r.granted_credit) - t.total_credit"
                             " FROM result r JOIN team t ON t.id = r.teamid"),
        0, 1e-9);
}
END_TEST

START_TEST(a_batch_of_a_hundred_is_few_statements)
{
    uint64_t before;

    for (int i = 1; i <= 100; i++)
        add_workunit(i);
    due();
    leave_all();
    for (size_t i = 0; i < 100; i++)
        agree(i, 1);
    before = db_statements(db);
    store();
    /* begin, 2 locks, 3 stores, 6 for owners, 4 for hosts that are new with
     * this version, commit */
    ck_assert_uint_le(db_statements(db) - before, 18);
    ck_assert_double_eq_tol(
        dbtest_double(other, "SELECT total_credit FROM team"), 200, 1e-9);
}
END_TEST

START_TEST(reads_the_application)
{
    struct app app;

    dbtest_exec(other, "UPDATE app SET target_nresults = 2, min_avg_pfc = 3");
    ck_assert_int_eq(db_validate_app(db, 1, &app), 0);
    ck_assert_int_eq(app.target_nresults, 2);
    ck_assert_str_eq(app.name, "app");
    ck_assert_int_eq(db_validate_app(db, 2, &app), DB_NONE);
}
END_TEST

static Suite *
db_validate_suite(void)
{
    Suite *s = suite_create("db_validate");
    TCase *tc = tcase_create("questions");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, reads_what_is_to_be_compared);
    tcase_add_test(tc, documents_are_there_for_a_part_of_the_batch);
    tcase_add_test(tc, pages_by_id_and_divides);
    tcase_add_test(tc, verdict_and_credit_are_stored_together);
    tcase_add_test(tc, the_same_verdict_again_grants_nothing);
    tcase_add_loop_test(tc, what_changed_while_comparing_comes_again, 0,
                        (int)ARRAY_LEN(change));
    tcase_add_test(tc, no_agreement_asks_for_one_more);
    tcase_add_test(tc, a_retry_comes_within_six_hours_and_never_puts_off);
    tcase_add_test(tc, many_grants_to_one_owner_add_up);
    tcase_add_test(tc, a_result_names_the_team_that_got_the_credit);
    tcase_add_test(tc, a_batch_of_a_hundred_is_few_statements);
    tcase_add_test(tc, reads_the_application);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(db_validate_suite());
}
