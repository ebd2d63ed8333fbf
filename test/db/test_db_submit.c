/* test_db_submit.c - new workunits, many at a time, each at most once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_submit.h"
#include "dbtest.h"

#define NOW 1700000000

static struct db *db;
static char doc[] = "<workunit>\n</workunit>\n";

static void
setup(void)
{
    db = dbtest_open();
    dbtest_empty(db);
    dbtest_app(db, "uppercase"); /* 1 */
}

static void
teardown(void)
{
    db_close(db);
}

/* Every column that a submitter sets has a value of its own. */
static struct submit_job
job(const char *name)
{
    struct submit_job j = {
        .wu = {.create_time = NOW,
               .appid = 1,
               .xml_doc = doc,
               .batch = 7,
               .rsc_fpops_est = 1e12,
               .rsc_fpops_bound = 2e12,
               .rsc_memory_bound = 3e8,
               .rsc_disk_bound = 4e8,
               .canonical_credit = 12.5,
               .transition_time = NOW + 1,
               .delay_bound = 86400,
               .hr_class = 5,
               .min_quorum = 2,
               .target_nresults = 3,
               .max_error_results = 4,
               .max_total_results = 9,
               .max_success_results = 6,
               .result_template_file = "templates/uppercase_out",
               .priority = -8,
               .rsc_bandwidth_bound = 1e5,
               .size_class = -1,
               .keywords = "3 14",
               .app_version_num = 107}
    };

    str_copy(j.wu.name, sizeof(j.wu.name), name);
    return j;
}

static int64_t
count(void)
{
    return dbtest_i64(db, "SELECT COUNT(*) FROM workunit");
}

START_TEST(a_new_job_is_stored_as_it_was_said)
{
    struct submit_job j = job("one");
    char *row;

    ck_assert_int_eq(db_submit(db, &j, 1, true), 0);
    ck_assert_int_eq(j.status, SUBMIT_NEW);
    ck_assert_int_eq(j.wu.id, 1);
    row = dbtest_text(
        db, "SELECT CONCAT_WS(' ', create_time, appid, name, xml_doc, batch, "
            "rsc_fpops_est / 1e11, rsc_fpops_bound / 1e11, "
            "rsc_memory_bound / 1e7, rsc_disk_bound / 1e7, need_validate, "
            "canonical_resultid, canonical_credit, transition_time, "
            "delay_bound, error_mask, file_delete_state, assimilate_state, "
            "hr_class, opaque, min_quorum, target_nresults, "
            "max_error_results, max_total_results, max_success_results, "
            "result_template_file, priority, rsc_bandwidth_bound / 1e4, "
            "fileset_id, app_version_id, transitioner_flags, size_class, "
            "keywords, app_version_num) FROM workunit");
    ck_assert_str_eq(row, "1700000000 1 one <workunit>\n</workunit>\n 7 "
                          "10 20 30 40 0 0 12.5 1700000001 86400 0 0 0 5 0 "
                          "2 3 4 9 6 templates/uppercase_out -8 10 0 0 0 -1 "
                          "3 14 107");
    free(row);
}
END_TEST

START_TEST(no_jobs_are_fine)
{
    struct submit_job none = job("none");

    ck_assert_int_eq(db_submit(db, &none, 0, true), 0);
    ck_assert_int_eq(count(), 0);
}
END_TEST

START_TEST(the_same_job_again_is_a_repeat)
{
    struct submit_job first = job("one"), again = job("one");

    ck_assert_int_eq(db_submit(db, &first, 1, true), 0);
    again.wu.create_time = again.wu.transition_time = NOW + 1000;
    ck_assert_int_eq(db_submit(db, &again, 1, true), 0);
    ck_assert_int_eq(again.status, SUBMIT_REPEAT);
    ck_assert_int_eq(again.wu.id, first.wu.id);
    ck_assert_int_eq(count(), 1);
}
END_TEST

/* What daemons and operators change afterwards. */
START_TEST(a_job_in_work_is_still_the_same_job)
{
    struct submit_job first = job("one"), again = job("one");

    ck_assert_int_eq(db_submit(db, &first, 1, true), 0);
    dbtest_exec(db, "UPDATE workunit SET target_nresults = 5, hr_class = 9, "
                    "canonical_resultid = 77, priority = 100, "
                    "transition_time = 2147483647");
    ck_assert_int_eq(db_submit(db, &again, 1, true), 0);
    ck_assert_int_eq(again.status, SUBMIT_REPEAT);
}
END_TEST

static const char *const changes[] = {
    "xml_doc = '<workunit/>'",
    "appid = 2",
    "batch = 8",
    "rsc_fpops_est = 1.1e12",
    "rsc_fpops_bound = 3e12",
    "rsc_memory_bound = 1",
    "rsc_disk_bound = 1",
    "rsc_bandwidth_bound = 0",
    "delay_bound = 86401",
    "min_quorum = 1",
    "target_nresults = 2",
    "max_error_results = 5",
    "max_total_results = 10",
    "max_success_results = 7",
    "result_template_file = 't'",
    "size_class = 0",
    "keywords = ''",
    "app_version_num = 0",
    "name = 'ONE'",
};

START_TEST(any_difference_makes_it_another_job)
{
    struct submit_job first = job("one"), again = job("one");
    struct buf sql = BUF_INIT;

    ck_assert_int_eq(db_submit(db, &first, 1, true), 0);
    buf_addf(&sql, "UPDATE workunit SET %s", changes[_i]);
    dbtest_exec(db, buf_str(&sql));
    buf_free(&sql);
    ck_assert_int_eq(db_submit(db, &again, 1, true), DB_EXISTS);
    ck_assert_int_eq(again.status, SUBMIT_TAKEN);
    ck_assert_int_eq(again.wu.id, first.wu.id);
    ck_assert_int_eq(count(), 1);
}
END_TEST

START_TEST(one_taken_name_refuses_all_or_itself_alone)
{
    struct submit_job first = job("b");
    struct submit_job three[] = {job("a"), job("b"), job("c")};

    ck_assert_int_eq(db_submit(db, &first, 1, true), 0);
    three[1].wu.batch = 99;
    ck_assert_int_eq(db_submit(db, three, 3, true), DB_EXISTS);
    ck_assert_int_eq(three[1].status, SUBMIT_TAKEN);
    ck_assert_int_eq(count(), 1);

    ck_assert_int_eq(db_submit(db, three, 3, false), 0);
    ck_assert_int_eq(three[0].status, SUBMIT_NEW);
    ck_assert_int_eq(three[1].status, SUBMIT_TAKEN);
    ck_assert_int_eq(three[2].status, SUBMIT_NEW);
    ck_assert_int_eq(count(), 3);
}
END_TEST

/* More than one statement: by rows, and by bytes (60 KB each). */
static const struct {
    size_t n, doc_size;
} many[] = {
    {127,  100  },
    {128,  100  },
    {129,  100  },
    {1000, 100  },
    {40,   60000}
};

START_TEST(many_jobs_get_their_own_ids)
{
    size_t n = many[_i].n;
    struct submit_job *jobs = xcalloc(n, sizeof(*jobs));
    char *big = xmalloc(many[_i].doc_size + 1);
    char sql[128];

    memset(big, 'x', many[_i].doc_size);
    big[many[_i].doc_size] = '\0';
    for (size_t i = 0; i < n; i++) {
        char name[32];

        /* not in the order of the names */
        (void)snprintf(name, sizeof(name), "job_%zu", (i * 7919) % n);
        jobs[i] = job(name);
        jobs[i].wu.xml_doc = big;
    }
    ck_assert_int_eq(db_submit(db, jobs, n, true), 0);
    ck_assert_int_eq(count(), (int64_t)n);
    for (size_t i = 0; i < n; i += 13) {
        (void)snprintf(sql, sizeof(sql),
                       "SELECT id FROM workunit WHERE name = '%s'",
                       jobs[i].wu.name);
        ck_assert_int_eq(jobs[i].wu.id, dbtest_i64(db, sql));
    }
    free(big);
    free(jobs);
}
END_TEST

START_TEST(ids_above_31_bits_are_whole)
{
    struct submit_job j = job("big"), again = job("big");

    dbtest_exec(db, "ALTER TABLE workunit AUTO_INCREMENT = 5000000000");
    ck_assert_int_eq(db_submit(db, &j, 1, true), 0);
    ck_assert_int_eq(j.wu.id, 5000000000);
    ck_assert_int_eq(db_submit(db, &again, 1, true), 0);
    ck_assert_int_eq(again.wu.id, 5000000000);
}
END_TEST

START_TEST(an_assigned_job_gets_its_assignment)
{
    struct submit_job jobs[] = {job("plain"), job("host"), job("all")};
    char *rows;

    jobs[1].assigned = true;
    jobs[1].target = SUBMIT_HOST;
    jobs[1].target_id = 42;
    jobs[2].assigned = jobs[2].broadcast = true;
    ck_assert_int_eq(db_submit(db, jobs, 3, true), 0);
    rows = dbtest_text(
        db, "SELECT GROUP_CONCAT(CONCAT_WS(' ', w.name, a.create_time, "
            "a.target_type, a.target_id, a.multi, a.resultid) ORDER BY a.id "
            "SEPARATOR '; ') FROM assignment a "
            "JOIN workunit w ON w.id = a.workunitid");
    ck_assert_str_eq(rows, "host 1700000000 1 42 0 0; all 1700000000 0 0 1 0");
    free(rows);

    /* a repeat gets no second one */
    ck_assert_int_eq(db_submit(db, jobs, 3, true), 0);
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM assignment"), 2);
}
END_TEST

START_TEST(text_is_stored_as_itself)
{
    struct submit_job j = job("x');DROP-TABLE-workunit;--");
    char evil[] = "<a>'\"\\; -- \xc3\xa9</a>";
    char *text;

    j.wu.xml_doc = evil;
    ck_assert_int_eq(db_submit(db, &j, 1, true), 0);
    text = dbtest_text(db, "SELECT xml_doc FROM workunit");
    ck_assert_str_eq(text, evil);
    free(text);
    text = dbtest_text(db, "SELECT name FROM workunit");
    ck_assert_str_eq(text, "x');DROP-TABLE-workunit;--");
    free(text);
}
END_TEST

START_TEST(targets_must_be_there)
{
    int64_t user = dbtest_user(db, "alice");
    int64_t host = dbtest_host(db, user);

    ck_assert_int_eq(db_submit_target(db, SUBMIT_USER, user), 0);
    ck_assert_int_eq(db_submit_target(db, SUBMIT_HOST, host), 0);
    ck_assert_int_eq(db_submit_target(db, SUBMIT_USER, user + 1), DB_NONE);
    ck_assert_int_eq(db_submit_target(db, SUBMIT_HOST, host + 1), DB_NONE);
    ck_assert_int_eq(db_submit_target(db, SUBMIT_TEAM, 1), DB_NONE);
    ck_assert_int_eq(db_submit_target(db, SUBMIT_ANYBODY, 0), 0);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("db_submit");
    TCase *tc = tcase_create("submit");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_new_job_is_stored_as_it_was_said);
    tcase_add_test(tc, no_jobs_are_fine);
    tcase_add_test(tc, the_same_job_again_is_a_repeat);
    tcase_add_test(tc, a_job_in_work_is_still_the_same_job);
    tcase_add_loop_test(tc, any_difference_makes_it_another_job, 0,
                        (int)ARRAY_LEN(changes));
    tcase_add_test(tc, one_taken_name_refuses_all_or_itself_alone);
    tcase_add_loop_test(tc, many_jobs_get_their_own_ids, 0,
                        (int)ARRAY_LEN(many));
    tcase_add_test(tc, ids_above_31_bits_are_whole);
    tcase_add_test(tc, an_assigned_job_gets_its_assignment);
    tcase_add_test(tc, text_is_stored_as_itself);
    tcase_add_test(tc, targets_must_be_there);
    suite_add_tcase(s, tc);
    return dbtest_run(s);
}
