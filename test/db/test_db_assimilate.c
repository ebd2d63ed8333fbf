/* test_db_assimilate.c - the assimilator's questions, asked of a real
 * database. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_assimilate.h"
#include "dbtest.h"

#define NOW 1800000000
#define BIG 5000000000

static struct db *db, *other; /* two programs */
static struct assimilate_batch batch;

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
    assimilate_batch_free(&batch);
    db_close(db);
    db_close(other);
}

static void
add_workunit(int64_t id, unsigned error_mask, bool with_result)
{
    struct workunit wu = {
        .id = id,
        .appid = 1,
        .transition_time = TRANSITION_NEVER,
        .error_mask = error_mask,
        .canonical_resultid = error_mask == 0 ? id : 0,
        .assimilate_state = ASSIMILATE_READY,
        .size_class = -1,
    };
    char doc[] = "<file_info/>\n";
    struct result r = {.id = id,
                       .workunitid = id,
                       .server_state = RESULT_OVER,
                       .outcome = OUTCOME_SUCCESS,
                       .xml_doc_in = doc,
                       .elapsed_time = 12,
                       .size_class = -1};

    snprintf(wu.name, sizeof(wu.name), "wu%" PRId64, id);
    snprintf(r.name, sizeof(r.name), "wu%" PRId64 "_0", id);
    dbtest_workunit(other, &wu);
    if (with_result)
        dbtest_result(other, &r);
}

static void
due(void)
{
    const struct assimilate_query want = {.appid = 1, .limit = 100};

    ck_assert_int_eq(db_assimilate_due(db, &want, &batch), 0);
}

static int64_t
in_state(int state)
{
    char sql[128];

    snprintf(sql, sizeof(sql),
             "SELECT COUNT(*) FROM workunit WHERE assimilate_state = %d",
             state);
    return dbtest_i64(other, sql);
}

START_TEST(reads_finished_workunits_with_their_canonical_result)
{
    add_workunit(BIG, 0, true);
    add_workunit(BIG + 1, WU_CANCELLED, false);
    add_workunit(BIG + 2, 0, true);
    dbtest_exec(other, "UPDATE workunit SET assimilate_state = 0 "
                       "WHERE id = 5000000002");
    due();
    ck_assert_uint_eq(batch.n, 2);
    ck_assert(batch.wu[0].has_canonical);
    ck_assert_int_eq(batch.wu[0].canonical.id, BIG);
    ck_assert_str_eq(batch.wu[0].canonical.xml_doc_in, "<file_info/>\n");
    ck_assert(!batch.wu[1].has_canonical);
    ck_assert_uint_eq(batch.wu[1].wu.error_mask, WU_CANCELLED);
}
END_TEST

START_TEST(pages_by_id_and_divides)
{
    struct assimilate_query want = {.appid = 1, .limit = 2, .after_id = BIG};

    for (int i = 0; i < 5; i++)
        add_workunit(BIG + i, 0, true);
    ck_assert_int_eq(db_assimilate_due(db, &want, &batch), 0);
    ck_assert_uint_eq(batch.n, 2);
    ck_assert_int_eq(batch.wu[0].wu.id, BIG + 1);
    want = (struct assimilate_query){
        .appid = 1, .limit = 9, .mod_n = 2, .mod_i = 0};
    ck_assert_int_eq(db_assimilate_due(db, &want, &batch), 0);
    ck_assert_uint_eq(batch.n, 3);
}
END_TEST

START_TEST(a_lost_canonical_result_is_an_error)
{
    add_workunit(BIG, 0, false);
    due();
    ck_assert_uint_eq(batch.wu[0].wu.error_mask, WU_NO_CANONICAL_RESULT);
    batch.wu[0].ending = ENDING_DONE;
    ck_assert_int_eq(db_assimilate_store(db, &batch, NOW), 0);
    ck_assert_int_eq(dbtest_i64(other, "SELECT error_mask FROM workunit"),
                     WU_NO_CANONICAL_RESULT);
    ck_assert_int_eq(in_state(ASSIMILATE_DONE), 1);
}
END_TEST

START_TEST(each_gets_its_ending)
{
    for (int i = 0; i < 3; i++)
        add_workunit(BIG + i, 0, true);
    due();
    batch.wu[0].ending = ENDING_DONE;
    batch.wu[1].ending = ENDING_DEFER;
    ck_assert_int_eq(db_assimilate_store(db, &batch, NOW), 0);
    ck_assert_int_eq(dbtest_i64(other,
                                "SELECT COUNT(*) FROM workunit WHERE "
                                "(id, assimilate_state, transition_time) IN "
                                "((5000000000, 2, 1800000000), "
                                "(5000000001, 0, 1800000000), "
                                "(5000000002, 1, 2147483647))"),
                     3);
}
END_TEST

START_TEST(what_is_not_ready_any_more_does_not_change)
{
    add_workunit(1, 0, true);
    due();
    dbtest_exec(other, "UPDATE workunit SET assimilate_state = 2, "
                       "file_delete_state = 2");
    batch.wu[0].ending = ENDING_DEFER;
    ck_assert_int_eq(db_assimilate_store(db, &batch, NOW), 0);
    ck_assert_int_eq(in_state(ASSIMILATE_DONE), 1);
    ck_assert_int_eq(dbtest_i64(other, "SELECT transition_time FROM workunit"),
                     TRANSITION_NEVER);
}
END_TEST

static Suite *
db_assimilate_suite(void)
{
    Suite *s = suite_create("db_assimilate");
    TCase *tc = tcase_create("questions");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, reads_finished_workunits_with_their_canonical_result);
    tcase_add_test(tc, pages_by_id_and_divides);
    tcase_add_test(tc, a_lost_canonical_result_is_an_error);
    tcase_add_test(tc, each_gets_its_ending);
    tcase_add_test(tc, what_is_not_ready_any_more_does_not_change);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(db_assimilate_suite());
}
