/* test_db_jobs.c - what operators do to many jobs, and how batches count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_audit.h"
#include "db_batch.h"
#include "db_jobs.h"
#include "db_submit.h"
#include "dbtest.h"

#define NOW INT64_C(1800000000)

static struct db *db;

static void
setup(void)
{
    db = dbtest_open();
    dbtest_empty(db);
}

static void
teardown(void)
{
    db_close(db);
}

/* Workunit `id` of a batch with an unsent result, one in progress, one over. */
static void
job(int64_t id, int64_t batch, int64_t appid)
{
    static const enum server_state states[] = {RESULT_UNSENT, RESULT_INACTIVE,
                                               RESULT_IN_PROGRESS, RESULT_OVER};
    struct workunit wu = {
        .id = id,
        .appid = appid,
        .batch = batch,
        .transition_time = TRANSITION_NEVER,
        .size_class = -1,
    };

    snprintf(wu.name, sizeof(wu.name), "wu_%d", (int)id);
    dbtest_workunit(db, &wu);
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        struct result r = {
            .workunitid = id,
            .appid = appid,
            .batch = batch,
            .server_state = states[i],
            .outcome =
                states[i] == RESULT_OVER ? OUTCOME_SUCCESS : OUTCOME_INIT,
            .app_version_id = states[i] == RESULT_IN_PROGRESS ? id : 0,
            .size_class = -1,
        };

        snprintf(r.name, sizeof(r.name), "wu_%d_%zu", (int)id, i);
        dbtest_result(db, &r);
    }
}

static struct audit_line
a_line(void)
{
    return (struct audit_line){
        .time = NOW,
        .actor = "me",
        .action = "cancel_jobs",
        .object = "these",
    };
}

/* All pieces; how many workunits. */
static int64_t
do_all(enum job_action action, const struct job_selection *which, int priority)
{
    struct audit_line line = a_line();
    struct job_work w = {
        .action = action,
        .which = which,
        .priority = priority,
        .audit = &line,
    };
    int rc;

    while ((rc = db_jobs_piece(db, &w, NOW)) == 0)
        ;
    ck_assert_int_eq(rc, DB_NONE);
    return w.n_workunits;
}

static int64_t
cancel(struct job_selection which)
{
    return do_all(JOBS_CANCEL, &which, 0);
}

static int64_t
count(const char *what)
{
    struct buf sql = BUF_INIT;
    int64_t n;

    buf_addf(&sql, "SELECT COUNT(*) FROM %s", what);
    n = dbtest_i64(db, buf_str(&sql));
    buf_free(&sql);
    return n;
}

/* ---- cancel ---------------------------------------------------------------
 */

START_TEST(what_was_not_sent_is_withdrawn_and_the_rest_is_left)
{
    job(1, 0, 1);
    job(2, 0, 1);
    ck_assert_int_eq(cancel((struct job_selection){.name = "wu_1"}), 1);
    ck_assert_int_eq(count("workunit WHERE id = 1 AND error_mask = 16 AND "
                           "transition_time = 1800000000"),
                     1);
    ck_assert_int_eq(count("result WHERE workunitid = 1 AND server_state = 5 "
                           "AND outcome = 5"),
                     2);
    ck_assert_int_eq(count("result WHERE workunitid = 1 AND server_state = 4 "
                           "AND outcome = 0"),
                     1);
    ck_assert_int_eq(count("result WHERE workunitid = 1 AND server_state = 5 "
                           "AND outcome = 1"),
                     1);
    ck_assert_int_eq(count("workunit WHERE id = 2 AND error_mask = 0 AND "
                           "transition_time = 2147483647"),
                     1);
    ck_assert_int_eq(count("result WHERE workunitid = 2 AND outcome = 5"), 0);
}
END_TEST

START_TEST(other_error_bits_stay)
{
    job(1, 0, 1);
    dbtest_exec(db, "UPDATE workunit SET error_mask = 2");
    ck_assert_int_eq(cancel((struct job_selection){.min_id = 1}), 1);
    ck_assert_int_eq(dbtest_i64(db, "SELECT error_mask FROM workunit"), 18);
}
END_TEST

START_TEST(what_is_assimilated_or_cancelled_is_left_alone)
{
    job(1, 0, 1);
    job(2, 0, 1);
    dbtest_exec(db, "UPDATE workunit SET assimilate_state = 2 WHERE id = 1");
    ck_assert_int_eq(cancel((struct job_selection){.max_id = 9}), 1);
    ck_assert_int_eq(cancel((struct job_selection){.max_id = 9}), 0);
    ck_assert_int_eq(count("workunit WHERE error_mask = 16 AND id = 2"), 1);
    ck_assert_int_eq(count("x_audit"), 1);
}
END_TEST

/* Jobs 1 to 4; 1 and 2 are of batch 7 and app 1, 3 and 4 of batch 8 and app 2;
 * the result of job N in progress is of version N; job 1 is bound to version 4,
 * job 2 to the number 100 of version 3. */
static const struct {
    const char *promise;
    struct job_selection which;
    const char *ids;
} selections[] = {
    {"a range with both ends",                   {.min_id = 2, .max_id = 3},            "2,3"},
    {"a range from an id on",                    {.min_id = 3},                         "3,4"},
    {"a name",                                   {.name = "wu_3"},                      "3"  },
    {"a name that is not there",                 {.name = "wu"},                        ""   },
    {"a batch",                                  {.batch = 7},                          "1,2"},
    {"an application",                           {.appid = 2},                          "3,4"},
    {"a batch that is not of the application",   {.batch = 7, .appid = 2},              ""   },
    {"a version: bound to it, or in progress",   {.app_version_id = 4},                 "1,4"},
    {"a version: bound to its number",           {.app_version_id = 3},                 "2,3"},
    {"all conditions hold",                      {.min_id = 2, .batch = 7, .appid = 1}, "2"  },
    {"open ones: no canonical result, no error",
     {.min_id = 1, .open_only = true},
     "1,2,4"                                                                                 },
};

START_TEST(jobs_are_selected_by)
{
    char *ids;

    for (int64_t id = 1; id <= 4; id++)
        job(id, id <= 2 ? 7 : 8, id <= 2 ? 1 : 2);
    dbtest_exec(db, "UPDATE workunit SET app_version_id = 4 WHERE id = 1");
    dbtest_exec(db, "UPDATE workunit SET app_version_num = 100 WHERE id = 2");
    for (int version = 1; version <= 3; version++)
        dbtest_app_version(db, version == 3 ? 1 : 2, version, 100);
    if (selections[_i].which.open_only)
        dbtest_exec(db, "UPDATE workunit SET canonical_resultid = 9 "
                        "WHERE id = 3");
    cancel(selections[_i].which);
    ids = dbtest_text(db, "SELECT COALESCE(GROUP_CONCAT(id ORDER BY id), '') "
                          "FROM workunit WHERE error_mask = 16");
    ck_assert_msg(strcmp(ids, selections[_i].ids) == 0, "broken: %s: %s",
                  selections[_i].promise, ids);
    free(ids);
}
END_TEST

START_TEST(one_line_tells_of_all_pieces)
{
    ck_assert_int_eq(db_begin(db), 0);
    for (int64_t id = 1; id <= 600; id++) /* a piece has 512 */
        job(id, 7, 1);
    ck_assert_int_eq(db_commit(db), 0);
    ck_assert_int_eq(cancel((struct job_selection){.batch = 7}), 600);
    ck_assert_int_eq(count("x_audit WHERE actor = 'me' AND object = 'these' "
                           "AND detail = '600 workunits, 1200 results never "
                           "sent'"),
                     1);
    ck_assert_int_eq(count("x_audit"), 1);
}
END_TEST

START_TEST(how_many_there_are_is_said_without_doing_it)
{
    const struct job_selection which = {.batch = 7};
    const struct job_work w = {.action = JOBS_CANCEL, .which = &which};
    int64_t workunits, in_progress;

    for (int64_t id = 1; id <= 3; id++)
        job(id, id < 3 ? 7 : 8, 1);
    ck_assert_int_eq(db_jobs_count(db, &w, &workunits, &in_progress), 0);
    ck_assert_int_eq(workunits, 2);
    ck_assert_int_eq(in_progress, 2);
    ck_assert_int_eq(count("workunit WHERE error_mask <> 0"), 0);
}
END_TEST

START_TEST(a_priority_is_given_to_what_was_not_sent)
{
    const struct job_selection which = {.batch = 7};

    job(1, 7, 1);
    job(2, 7, 1);
    job(3, 8, 1);
    dbtest_exec(db, "UPDATE workunit SET error_mask = 2 WHERE id = 2");
    ck_assert_int_eq(do_all(JOBS_PRIORITY, &which, -3), 1);
    ck_assert_int_eq(count("workunit WHERE priority = -3 AND id = 1"), 1);
    ck_assert_int_eq(count("workunit WHERE priority <> 0"), 1);
    ck_assert_int_eq(count("result WHERE priority = -3 AND workunitid = 1 AND "
                           "server_state IN (1, 2)"),
                     2);
    ck_assert_int_eq(count("result WHERE priority <> 0"), 2);
}
END_TEST

/* ---- batches --------------------------------------------------------------
 */

static int64_t
new_batch(void)
{
    struct batch b = {.create_time = NOW, .name = "mine"};

    ck_assert_int_eq(db_batch_create(db, &b), 0);
    return b.id;
}

static struct batch
look(int64_t id)
{
    struct batch b;

    ck_assert_int_eq(db_batch_by_id(db, id, &b), 0);
    return b;
}

static void
submit(int64_t batch, int first, int n)
{
    struct submit_job *jobs = xcalloc((size_t)n, sizeof(*jobs));

    for (int i = 0; i < n; i++) {
        struct workunit *wu = &jobs[i].wu;

        wu->appid = 1;
        wu->batch = batch;
        wu->create_time = NOW;
        wu->size_class = -1;
        wu->xml_doc = xstrdup("");
        snprintf(wu->name, sizeof(wu->name), "job_%d", first + i);
    }
    ck_assert_int_eq(db_submit(db, jobs, (size_t)n, true), 0);
    for (int i = 0; i < n; i++)
        free(jobs[i].wu.xml_doc);
    free(jobs);
}

static void
ends(int64_t batch, enum job_end was, enum job_end is, double credit)
{
    const struct batch_change c = {batch, was, is, credit, 0};

    ck_assert_int_eq(db_batch_count(db, &c, 1, NOW + 1), 0);
}

static void
ck_batch(int64_t id, enum batch_state state, int64_t njobs, int64_t nerror,
         double done)
{
    struct batch b = look(id);

    ck_assert_int_eq(b.state, state);
    ck_assert_int_eq(b.njobs, njobs);
    ck_assert_int_eq(b.nerror_jobs, nerror);
    ck_assert_double_eq(b.fraction_done, done);
}

START_TEST(a_batch_goes_from_empty_to_complete)
{
    int64_t id = new_batch();

    ck_batch(id, BATCH_INIT, 0, 0, 0);
    submit(id, 0, 4);
    ck_batch(id, BATCH_IN_PROGRESS, 4, 0, 0);
    submit(id, 0, 4); /* the same jobs again */
    ck_batch(id, BATCH_IN_PROGRESS, 4, 0, 0);
    ends(id, JOB_OPEN, JOB_SUCCEEDED, 2.5);
    ends(id, JOB_OPEN, JOB_FAILED, 0);
    ck_batch(id, BATCH_IN_PROGRESS, 4, 1, 0.5);
    ends(id, JOB_OPEN, JOB_SUCCEEDED, 2.5);
    ck_assert_double_eq(look(id).completion_time, 0);
    ends(id, JOB_OPEN, JOB_SUCCEEDED, 2);
    ck_batch(id, BATCH_COMPLETE, 4, 1, 1);
    ck_assert_double_eq(look(id).completion_time, (double)NOW + 1);
    ck_assert_double_eq(look(id).credit_canonical, 7);
    /* a job that had its result is cancelled */
    ends(id, JOB_SUCCEEDED, JOB_FAILED, 0);
    ck_batch(id, BATCH_COMPLETE, 4, 2, 1);
    submit(id, 4, 4);
    ck_batch(id, BATCH_IN_PROGRESS, 8, 2, 0.5);
    ck_assert_double_eq(look(id).completion_time, 0);
}
END_TEST

START_TEST(a_batch_of_another_program_is_counted_once)
{
    int64_t id = new_batch();

    dbtest_exec(db, "DELETE FROM x_batch");
    for (int64_t wu = 1; wu <= 4; wu++)
        job(wu, id, 1);
    dbtest_exec(db, "UPDATE batch SET njobs = 5, nerror_jobs = 9");
    dbtest_exec(db, "UPDATE workunit SET canonical_resultid = 1, "
                    "canonical_credit = 3 WHERE id IN (1, 2)");
    ck_assert_int_eq(cancel((struct job_selection){.min_id = 3, .max_id = 3}),
                     1);
    ck_batch(id, BATCH_IN_PROGRESS, 5, 1, 0.6);
    ck_assert_double_eq(look(id).credit_canonical, 6);
    ck_assert_int_eq(cancel((struct job_selection){.min_id = 4, .max_id = 4}),
                     1);
    ck_batch(id, BATCH_IN_PROGRESS, 5, 2, 0.8);
}
END_TEST

START_TEST(a_number_without_a_batch_is_nobodys)
{
    job(1, 4711, 1);
    ck_assert_int_eq(cancel((struct job_selection){.batch = 4711}), 1);
    ck_assert_int_eq(count("batch"), 0);
    ck_assert_int_eq(count("x_batch"), 0);
}
END_TEST

START_TEST(what_was_ended_stays_so)
{
    int64_t id = new_batch();

    submit(id, 0, 2);
    ck_assert_int_eq(db_batch_end(db, id, BATCH_ABORTED, NOW), 0);
    ck_assert_int_eq(db_batch_open_jobs(db, id), 2);
    ends(id, JOB_OPEN, JOB_FAILED, 0);
    ends(id, JOB_OPEN, JOB_FAILED, 0);
    ck_batch(id, BATCH_ABORTED, 2, 2, 1);
    ck_assert_int_eq(db_batch_end(db, id, BATCH_ABORTED, NOW), DB_NONE);
    ck_assert_int_eq(db_batch_end(db, id, BATCH_RETIRED, NOW), 0);
    ck_assert_int_eq(db_batch_end(db, id, BATCH_ABORTED, NOW), DB_NONE);
    ck_batch(id, BATCH_RETIRED, 2, 2, 1);
}
END_TEST

/* A turnaround of BOINC's batch acceleration is no date. */
START_TEST(batches_whose_time_is_over_are_listed)
{
    const struct batch_query want = {.state = -1, .expired_at = NOW};
    struct batch b[4];
    size_t n;

    for (int i = 0; i < 4; i++)
        new_batch();
    dbtest_exec(db, "UPDATE batch SET expire_time = ELT(id, 1799999999, "
                    "1800000000, 86400, 0)");
    ck_assert_int_eq(db_batch_list(db, &want, b, ARRAY_LEN(b), &n), 0);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(b[0].id, 1);
    ck_assert_int_eq(db_batch_end(db, 1, BATCH_RETIRED, NOW), 0);
    ck_assert_int_eq(db_batch_list(db, &want, b, ARRAY_LEN(b), &n), 0);
    ck_assert_uint_eq(n, 0);
}
END_TEST

static Suite *
db_jobs_suite(void)
{
    Suite *s = suite_create("db_jobs");
    TCase *tc = tcase_create("db_jobs");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, what_was_not_sent_is_withdrawn_and_the_rest_is_left);
    tcase_add_test(tc, other_error_bits_stay);
    tcase_add_test(tc, what_is_assimilated_or_cancelled_is_left_alone);
    tcase_add_loop_test(tc, jobs_are_selected_by, 0, ARRAY_LEN(selections));
    tcase_add_test(tc, one_line_tells_of_all_pieces);
    tcase_add_test(tc, how_many_there_are_is_said_without_doing_it);
    tcase_add_test(tc, a_priority_is_given_to_what_was_not_sent);
    tcase_add_test(tc, a_batch_goes_from_empty_to_complete);
    tcase_add_test(tc, a_batch_of_another_program_is_counted_once);
    tcase_add_test(tc, a_number_without_a_batch_is_nobodys);
    tcase_add_test(tc, what_was_ended_stays_so);
    tcase_add_test(tc, batches_whose_time_is_over_are_listed);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(db_jobs_suite());
}
