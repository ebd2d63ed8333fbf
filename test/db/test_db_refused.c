/* test_db_refused.c - hosts that could not take a result, and results that too
 * many could not take: dispatch §9.5, §2.5. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_refused.h"
#include "dbtest.h"
#include "names.h"

#define NOW 1000000

static struct db *db;

static void
setup(void)
{
    db = dbtest_open();
    dbtest_empty(db);
    dbtest_exec(db, "DELETE FROM x_refused_host");
    dbtest_exec(db, "DELETE FROM x_could_not_send");
    dbtest_app(db, "uppercase");
    dbtest_exec(db, "SET sql_mode = ''");
}

static void
teardown(void)
{
    db_close(db);
}

/* A workunit with an unsent result of the same id. */
static void
job(int64_t id, int hr_class)
{
    struct workunit wu = {.id = id,
                          .appid = 1,
                          .hr_class = hr_class,
                          .target_nresults = 2,
                          .max_total_results = 3,
                          .transition_time = NOW + 1000};
    struct result r = {
        .id = id, .workunitid = id, .appid = 1, .server_state = RESULT_UNSENT};
    struct buf b = BUF_INIT;

    buf_addf(&b, "w%" PRId64, id);
    str_copy(wu.name, sizeof(wu.name), buf_str(&b));
    str_copy(r.name, sizeof(r.name), buf_str(&b));
    buf_free(&b);
    dbtest_workunit(db, &wu);
    dbtest_result(db, &r);
}

START_TEST(what_is_noted_is_found_again)
{
    static const struct refused_row row[] = {
        {7, {1, REFUSED_MEMORY}  },
        {7, {2, REFUSED_DISK}    },
        {8, {1, REFUSED_DEADLINE}},
    };
    static const struct refused_row again[] = {
        {7, {1, REFUSED_DISK}}
    };
    const int64_t ids[] = {7, 9};
    struct refused_row *got;
    size_t n;

    ck_assert_int_eq(db_refused_save(db, row, 3), 0);
    ck_assert_int_eq(db_refused_save(db, again, 1), 0);
    ck_assert_int_eq(db_refused_save(db, row, 0), 0);
    ck_assert_int_eq(db_refused_load(db, ids, 2, &got, &n), 0);
    ck_assert_uint_eq(n, 2);
    ck_assert_int_eq(got[0].result_id, 7);
    ck_assert_int_eq(got[0].host.hostid, 1);
    ck_assert_int_eq(got[0].host.reason, REFUSED_MEMORY); /* the first */
    ck_assert_int_eq(got[1].host.reason, REFUSED_DISK);
    free(got);
}
END_TEST

START_TEST(many_are_noted_at_once)
{
    enum { N = 1000 };
    struct refused_row row[N], *got;
    int64_t ids[N];
    size_t n;

    for (int i = 0; i < N; i++) {
        row[i] = (struct refused_row){
            i + 1, {i + 1, REFUSED_MEMORY}
        };
        ids[i] = i + 1;
    }
    ck_assert_int_eq(db_refused_save(db, row, N), 0);
    ck_assert_int_eq(db_refused_load(db, ids, N, &got, &n), 0);
    ck_assert_uint_eq(n, N);
    free(got);
}
END_TEST

START_TEST(notes_go_when_the_result_is_not_unsent)
{
    static const struct refused_row row[] = {
        {1, {5, REFUSED_MEMORY}},
        {2, {5, REFUSED_MEMORY}},
        {3, {5, REFUSED_MEMORY}},
        {9, {5, REFUSED_MEMORY}}, /* no result */
    };
    int64_t from = 0;

    job(1, 0);
    job(2, 0);
    job(3, 0);
    dbtest_exec(db, "UPDATE result SET server_state = 4 WHERE id = 2");
    ck_assert_int_eq(db_refused_save(db, row, 4), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(db_refused_clean(db, &from, 2), 0);
    ck_assert_int_eq(from, 9);
    ck_assert_int_eq(db_refused_clean(db, &from, 2), 0);
    ck_assert_int_eq(from, 0); /* the end */
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM x_refused_host"), 2);
    ck_assert_int_eq(dbtest_i64(db, "SELECT SUM(resultid) FROM x_refused_host"),
                     1 + 3);
}
END_TEST

START_TEST(what_cannot_be_sent_ends)
{
    struct hopeless h[] = {
        {.result_id = 1, .wu_id = 1, .hosts = 100, .breakdown = "100 memory"},
        {.result_id = 2, .wu_id = 2, .hosts = 100, .breakdown = "100 disk"  },
    };
    static const struct refused_row row[] = {
        {1, {5, REFUSED_MEMORY}}
    };
    struct could_not_send list[4];
    size_t n;

    job(1, 0);
    job(2, 0);
    dbtest_exec(db, "UPDATE result SET server_state = 4 WHERE id = 2");
    ck_assert_int_eq(db_refused_save(db, row, 1), 0);
    ck_assert_int_eq(db_could_not_send(db, h, 2, NOW), 0);
    ck_assert(h[0].ended);
    ck_assert(!h[1].ended); /* a scheduler was faster */
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM result WHERE id = 1 "
                                    "AND server_state = 5 AND outcome = 2"),
                     1);
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM result WHERE id = 2 "
                                    "AND server_state = 4 AND outcome = 0"),
                     1);
    ck_assert_int_eq(
        dbtest_i64(db, "SELECT transition_time FROM workunit WHERE id = 1"),
        NOW);
    ck_assert_int_eq(
        dbtest_i64(db, "SELECT transition_time FROM workunit WHERE id = 2"),
        NOW + 1000);
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM x_refused_host"), 0);
    ck_assert_int_eq(db_could_not_send_list(db, list, 4, &n), 0);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(list[0].result_id, 1);
    ck_assert_int_eq(list[0].hosts, 100);
    ck_assert_str_eq(list[0].wu_name, "w1");
    ck_assert_str_eq(list[0].breakdown, "100 memory");
    ck_assert_int_eq(db_could_not_send(db, h, 2, NOW), 0); /* once is enough */
    ck_assert(!h[0].ended);
}
END_TEST

/* ---- classes of equal hosts ---- */

static const struct {
    const char *promise;
    const char
        *sibling; /* server_state, outcome of another result; NULL none */
    int want_class, want_target;
} releases[] = {
    {"nobody computes it: released, one more", NULL,   0, 3},
    {"an error does not bind",                 "5, 3", 0, 3},
    {"one in progress binds",                  "4, 0", 7, 2},
    {"a success binds",                        "5, 1", 7, 2},
};

START_TEST(a_class_is_left_only_if_nobody_is_bound)
{
    const int64_t ids[] = {1, 2};
    struct buf sql = BUF_INIT;
    size_t n;

    job(1, 7);
    job(2, 0); /* was not committed */
    if (releases[_i].sibling != NULL) {
        buf_addf(&sql,
                 "INSERT INTO result (workunitid, name, appid, server_state, "
                 "outcome) VALUES (1, 'sibling', 1, %s)",
                 releases[_i].sibling);
        dbtest_exec(db, buf_str(&sql));
        buf_free(&sql);
    }
    ck_assert_int_eq(db_feed_uncommit(db, ids, 2, NOW, &n), 0);
    ck_assert_uint_eq(n, releases[_i].want_class == 0 ? 1 : 0);
    ck_assert_msg(
        dbtest_i64(db, "SELECT hr_class FROM workunit WHERE id = 1") ==
            releases[_i].want_class,
        "%s", releases[_i].promise);
    ck_assert_int_eq(
        dbtest_i64(db, "SELECT target_nresults FROM workunit WHERE id = 1"),
        releases[_i].want_target);
    ck_assert_int_eq(
        dbtest_i64(db, "SELECT target_nresults FROM workunit WHERE id = 2"), 2);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("db_refused");
    TCase *tc = tcase_create("db_refused");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, what_is_noted_is_found_again);
    tcase_add_test(tc, many_are_noted_at_once);
    tcase_add_test(tc, notes_go_when_the_result_is_not_unsent);
    tcase_add_test(tc, what_cannot_be_sent_ends);
    tcase_add_loop_test(tc, a_class_is_left_only_if_nobody_is_bound, 0,
                        sizeof(releases) / sizeof(releases[0]));
    suite_add_tcase(suite, tc);
    return dbtest_run(suite);
}
