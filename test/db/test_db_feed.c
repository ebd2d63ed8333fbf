/* test_db_feed.c - results ready to be sent, page by page, and those that no
 * longer are. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_feed.h"
#include "dbtest.h"
#include "held_files.h"

static struct db *db;

static void
setup(void)
{
    db = dbtest_open();
    dbtest_empty(db);
    dbtest_app(db, "uppercase"); /* 1 */
    dbtest_app(db, "lowercase"); /* 2 */
}

static void
teardown(void)
{
    db_close(db);
}

static struct workunit
workunit(int64_t id, int priority)
{
    struct workunit wu = {.id = id, .appid = 1, .priority = priority};
    struct buf b = BUF_INIT;

    buf_addf(&b, "wu_%" PRId64, id);
    str_copy(wu.name, sizeof(wu.name), buf_str(&b));
    buf_free(&b);
    return wu;
}

static struct result
unsent(int64_t id, const struct workunit *wu)
{
    struct result r = {.id = id,
                       .workunitid = wu->id,
                       .appid = wu->appid,
                       .priority = wu->priority,
                       .server_state = RESULT_UNSENT,
                       .size_class = -1};
    struct buf b = BUF_INIT;

    buf_addf(&b, "result_%" PRId64, id);
    str_copy(r.name, sizeof(r.name), buf_str(&b));
    buf_free(&b);
    return r;
}

/* A workunit with one unsent result of the same id. */
static void
one_result(int64_t id, int priority)
{
    struct workunit wu = workunit(id, priority);
    struct result r = unsent(id, &wu);

    dbtest_workunit(db, &wu);
    dbtest_result(db, &r);
}

/* All pages of `limit`: "1 5 | 2": ids, pages parted by bars. */
static const char *
pages(struct feed_query f, size_t limit)
{
    static struct buf b;
    struct sendable s[100];
    size_t n;
    int rc;

    buf_reset(&b);
    do {
        if (f.started)
            buf_add(&b, "| ");
        rc = db_feed_page(db, &f, s, limit, &n);
        ck_assert_int_ge(rc, 0);
        for (size_t i = 0; i < n; i++)
            buf_addf(&b, "%" PRId64 " ", s[i].result_id);
    } while (rc == 0);
    ck_assert_int_eq(rc, DB_NONE);
    return buf_str(&b);
}

static const char *
all(void)
{
    return pages((struct feed_query){.started = false}, 100);
}

START_TEST(an_empty_project_has_no_results)
{
    ck_assert_str_eq(all(), "");
    dbtest_empty(db); /* not even an app */
    ck_assert_str_eq(all(), "");
}
END_TEST

START_TEST(a_candidate_is_read_whole)
{
    struct workunit wu = workunit(5000000000, 7);
    struct result r;
    struct feed_query f = {.started = false};
    struct sendable s;
    size_t n;

    wu.rsc_fpops_est = 1e12;
    wu.rsc_fpops_bound = 1e15;
    wu.rsc_memory_bound = 2e9;
    wu.rsc_disk_bound = 3e9;
    wu.rsc_bandwidth_bound = 1e4;
    wu.delay_bound = 86400;
    wu.hr_class = 3;
    wu.app_version_id = 9;
    wu.app_version_num = 314;
    r = unsent(6000000000, &wu);
    r.batch = 12;
    r.size_class = 2;
    r.create_time = 77;
    dbtest_workunit(db, &wu);
    dbtest_result(db, &r);
    dbtest_exec(db, "SET sql_mode = ''"); /* columns have no defaults */
    dbtest_exec(db, "INSERT INTO batch (id, user_id) VALUES (12, 34)");
    dbtest_exec(db, "UPDATE workunit SET keywords = '5 17 x 3'");
    ck_assert_int_eq(db_feed_page(db, &f, &s, 1, &n), 0);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(s.result_id, 6000000000);
    ck_assert_int_eq(s.create_time, 77);
    ck_assert_int_eq(s.user_id, 34);
    ck_assert_int_eq(s.keyword[0], 5);
    ck_assert_int_eq(s.keyword[1], 17);
    ck_assert_int_eq(s.keyword[2], 0);
    ck_assert_int_eq(s.wu_id, 5000000000);
    ck_assert_int_eq(s.appid, 1);
    ck_assert_int_eq(s.batch, 12);
    ck_assert_int_eq(s.app_version_id, 9);
    ck_assert_int_eq(s.delay_bound, 86400);
    ck_assert(s.rsc_fpops_est == 1e12 && s.rsc_fpops_bound == 1e15);
    ck_assert(s.rsc_memory_bound == 2e9 && s.rsc_disk_bound == 3e9);
    ck_assert(s.rsc_bandwidth_bound == 1e4);
    ck_assert_int_eq(s.priority, 7);
    ck_assert_int_eq(s.hr_class, 3);
    ck_assert_int_eq(s.app_version_num, 314);
    ck_assert_int_eq(s.size_class, 2);
    ck_assert(!s.need_reliable);
    /* A full page may be the last one; only the next tells. */
    ck_assert_int_eq(db_feed_page(db, &f, &s, 1, &n), DB_NONE);
    ck_assert_uint_eq(n, 0);
}
END_TEST

/* ---- input files, of apps with locality_scheduling = 1 ---- */

#define FILE_INFO(name, more)                                                  \
    "<file_info>\n<name>" name "</name>\n" more "</file_info>\n"
#define STICKY(name) FILE_INFO(name, "<sticky/>\n")
#define PLAIN(name) FILE_INFO(name, "")
#define DOCUMENT(files) files "<workunit>\n</workunit>\n"

static const struct {
    const char *promise;
    int locality_scheduling;
    const char *xml_doc;
    const char *want[SENDABLE_FILES + 1];
} files[] = {
    {"an app without locality has no files",
     0,                                              DOCUMENT(STICKY("sky_1")),
     {NULL}                                                                                                                            },
    {"nor one of another kind of locality",
     2,                                              DOCUMENT(STICKY("sky_1")),
     {NULL}                                                                                                                            },
    {"one file",                                  1, DOCUMENT(STICKY("sky_1")),                                               {"sky_1"}},
    {"files that stay come first",
     1,                                              DOCUMENT(PLAIN("par_1") STICKY("sky_1") PLAIN("par_2") STICKY("sky_2")),
     {"sky_1", "sky_2", "par_1", "par_2"}                                                                                              },
    {"eight at most, those that stay among them",
     1,                                              DOCUMENT(PLAIN("1") PLAIN("2") PLAIN("3") PLAIN("4") PLAIN("5") PLAIN("6")
                  PLAIN("7") PLAIN("8") STICKY("sky_1")),
     {"sky_1", "1", "2", "3", "4", "5", "6", "7"}                                                                                      },
    {"a name with an entity",                     1, DOCUMENT(STICKY("a&amp;b")),                                             {"a&b"}  },
    {"a document without files",                  1, DOCUMENT(""),                                                            {NULL}   },
    {"one that lost its end is repaired",
     1,                                              "<file_info><name>sky_1</name>",
     {"sky_1"}                                                                                                                         },
    {"one that is none",                          1, "nothing",                                                               {NULL}   },
    {"none",                                      1, "",                                                                      {NULL}   },
};

START_TEST(files_are_named)
{
    struct workunit wu = workunit(7, 0);
    struct feed_query f = {.started = false};
    struct sendable s[3];
    struct buf sql = BUF_INIT, doc = BUF_INIT;
    struct result r;
    size_t n, k = 0;

    buf_addf(&sql, "UPDATE app SET locality_scheduling = %d WHERE id = 1",
             files[_i].locality_scheduling);
    dbtest_exec(db, buf_str(&sql));
    buf_free(&sql);
    buf_add(&doc, files[_i].xml_doc);
    wu.xml_doc = doc.data;
    dbtest_workunit(db, &wu);
    buf_free(&doc);
    r = unsent(7, &wu);
    dbtest_result(db, &r);
    r = unsent(8, &wu); /* both results of a workunit have them */
    dbtest_result(db, &r);
    ck_assert_int_eq(db_feed_page(db, &f, s, 3, &n), DB_NONE);
    ck_assert_uint_eq(n, 2);
    for (; files[_i].want[k] != NULL; k++) {
        ck_assert_msg(s[0].file[k] == held_file_hash(files[_i].want[k]),
                      "broken: %s: %s", files[_i].promise, files[_i].want[k]);
        ck_assert_uint_eq(s[1].file[k], s[0].file[k]);
    }
    for (; k < SENDABLE_FILES; k++)
        ck_assert_msg(s[0].file[k] == 0, "more files: %s", files[_i].promise);
}
END_TEST

/* More than one statement reads, of two apps in turn. */
START_TEST(each_job_has_its_own_files)
{
    static struct sendable s[400];
    struct feed_query f = {.started = false};
    size_t n;

    dbtest_exec(db, "UPDATE app SET locality_scheduling = 1 WHERE id = 2");
    for (int64_t id = 1; id <= 300; id++) {
        struct workunit wu = workunit(id, 0);
        struct buf doc = BUF_INIT;
        struct result r;

        buf_addf(&doc, DOCUMENT(STICKY("sky_%" PRId64)), id);
        wu.appid = id % 3 == 0 ? 1 : 2;
        wu.xml_doc = doc.data;
        r = unsent(id, &wu);
        dbtest_workunit(db, &wu);
        dbtest_result(db, &r);
        buf_free(&doc);
    }
    ck_assert_int_eq(db_feed_page(db, &f, s, 400, &n), DB_NONE);
    ck_assert_uint_eq(n, 300);
    for (size_t i = 0; i < n; i++) {
        char name[32];

        snprintf(name, sizeof(name), "sky_%" PRId64, s[i].wu_id);
        ck_assert_uint_eq(s[i].file[0],
                          s[i].wu_id % 3 == 0 ? 0 : held_file_hash(name));
        ck_assert_uint_eq(s[i].file[1], 0);
    }
}
END_TEST

/* By priority, then workunit, then result. */
static void
six_results(void)
{
    struct workunit wu = workunit(10, 5);
    struct result r;

    dbtest_workunit(db, &wu);
    r = unsent(3, &wu);
    dbtest_result(db, &r);
    r = unsent(2, &wu);
    dbtest_result(db, &r);
    one_result(4, 5);
    one_result(1, -1);
    one_result(9, 0);
    one_result(8, 5);
}

static const struct {
    const char *promise;
    size_t limit;
    const char *want;
} orders[] = {
    {"high priority first, then old workunits", 100, "4 8 2 3 9 1 "            },
    {"pages of one miss nothing",               1,   "4 | 8 | 2 | 3 | 9 | 1 | "},
    {"a page may end within a workunit",        3,   "4 8 2 | 3 9 1 | "        },
    {"pages of four",                           4,   "4 8 2 3 | 9 1 "          },
    {"a page of five",                          5,   "4 8 2 3 9 | 1 "          },
};

START_TEST(pages_follow_the_order)
{
    const char *got;

    six_results();
    got = pages((struct feed_query){.started = false}, orders[_i].limit);
    ck_assert_msg(strcmp(got, orders[_i].want) == 0, "broken: %s: %s",
                  orders[_i].promise, got);
}
END_TEST

START_TEST(only_what_is_better_than_this)
{
    struct feed_query f = {.above = true, .above_priority = 0};

    six_results();
    ck_assert_str_eq(pages(f, 2), "4 8 | 2 3 | ");
    f.above_priority = 5;
    ck_assert_str_eq(pages(f, 2), "");
    f.above_priority = -2;
    ck_assert_str_eq(pages(f, 100), "4 8 2 3 9 1 ");
}
END_TEST

START_TEST(two_feeders_share_the_results)
{
    six_results();
    ck_assert_str_eq(pages((struct feed_query){.mod_n = 2, .mod_i = 0}, 2),
                     "4 8 | 2 ");
    ck_assert_str_eq(pages((struct feed_query){.mod_n = 2, .mod_i = 1}, 2),
                     "3 9 | 1 ");
}
END_TEST

/* Result 1 is as it must be; a change takes it out. */
static const struct {
    const char *promise;
    const char *change;
    bool candidate;
} rules[] = {
    {"an unsent result is a candidate",            "DO 1",                                       true },
    {"one that is withheld is none",
     "UPDATE result SET server_state = 1 WHERE id = 1",                                          false},
    {"one in progress is none",
     "UPDATE result SET server_state = 4 WHERE id = 1",                                          false},
    {"one that is over is none",
     "UPDATE result SET server_state = 5 WHERE id = 1",                                          false},
    {"a workunit may be kept from normal sending",
     "UPDATE workunit SET transitioner_flags = 1 WHERE id = 1",                                  false},
    {"its app may be deprecated",                  "UPDATE app SET deprecated = 1 WHERE id = 1",
     false                                                                                            },
    {"another app does not matter",
     "UPDATE app SET deprecated = 1 WHERE id = 2",                                               true },
    {"its workunit may have failed",
     "UPDATE workunit SET error_mask = 16 WHERE id = 1",                                         false},
    {"its workunit may be gone",                   "DELETE FROM workunit WHERE id = 1",          false},
};

START_TEST(what_is_a_candidate)
{
    int64_t id = 1;
    bool still;

    one_result(1, 0);
    dbtest_exec(db, rules[_i].change);
    ck_assert_int_eq(db_feed_still_unsent(db, &id, NULL, 1, &still), 0);
    ck_assert_msg(still == rules[_i].candidate, "broken: %s",
                  rules[_i].promise);
    ck_assert_msg(strcmp(all(), rules[_i].candidate ? "1 " : "") == 0,
                  "broken: %s", rules[_i].promise);
}
END_TEST

START_TEST(results_of_a_failed_workunit_are_not_needed)
{
    for (int64_t id = 1; id <= 5; id++)
        one_result(id, 0);
    dbtest_exec(db, "UPDATE workunit SET error_mask = 2 WHERE id IN (2, 3)");
    dbtest_exec(db, "UPDATE result SET server_state = 4 WHERE id = 3");
    ck_assert_str_eq(pages((struct feed_query){.started = false}, 2),
                     "1 | 4 5 | ");
    /* server_state, outcome: OVER, DIDNT_NEED */
    ck_assert_int_eq(dbtest_i64(db, "SELECT server_state * 10 + outcome"
                                    " FROM result WHERE id = 2"),
                     55);
    /* It was sent already: not ours to end. */
    ck_assert_int_eq(dbtest_i64(db, "SELECT server_state * 10 + outcome"
                                    " FROM result WHERE id = 3"),
                     40);
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM result"
                                    " WHERE server_state = 2"),
                     3);
}
END_TEST

START_TEST(many_are_asked_for_at_once)
{
    int64_t id[] = {9, 77, 1, 5000000000, 4, 3};
    bool still[ARRAY_LEN(id)];

    six_results();
    dbtest_exec(db, "UPDATE result SET server_state = 4 WHERE id = 4");
    ck_assert_int_eq(db_feed_still_unsent(db, id, NULL, ARRAY_LEN(id), still),
                     0);
    ck_assert(still[0] && !still[1] && still[2] && !still[3] && !still[4] &&
              still[5]);
    ck_assert_int_eq(db_feed_still_unsent(db, NULL, NULL, 0, NULL), 0);
}
END_TEST

START_TEST(another_priority_is_another_job_for_the_array)
{
    static const int32_t seen[] = {3, 4, 5};
    int64_t id[] = {1, 2, 3};
    bool still[ARRAY_LEN(id)];

    for (size_t i = 0; i < ARRAY_LEN(id); i++)
        one_result(id[i], 4);
    ck_assert_int_eq(db_feed_still_unsent(db, id, seen, ARRAY_LEN(id), still),
                     0);
    ck_assert(!still[0] && still[1] && !still[2]);
}
END_TEST

/* ---- other orders and streams ---- */

static const struct {
    const char *promise;
    struct feed_query f;
    const char *want;
} streams[] = {
    {"low priority first: the other way round",
     {.order = FEED_WORST},
     "1 | 9 | 3 | 2 | 8 | 4 | "                                                                              },
    {"by result.random",                         {.order = FEED_RANDOM},           "9 | 8 | 4 | 3 | 2 | 1 | "},
    {"of one app",                               {.appid = 1},                     "4 | 8 | 2 | 3 | 9 | "    },
    {"of the other",                             {.appid = 2},                     "1 | "                    },
    {"of one batch",                             {.one_batch = true, .batch = 12}, "4 | 8 | "                },
    {"of no batch",                              {.one_batch = true, .batch = 0},  "2 | 3 | 9 | 1 | "        },
    {"of one submitter",                         {.user_id = 34},                  "4 | 8 | "                },
    {"of one who has none",                      {.user_id = 35},                  ""                        },
    {"shares by workunit keep results together",
     {.mod_n = 10, .mod_i = 0, .mod_of_wu = true},
     "2 | 3 | "                                                                                              },
    {"shares by result do not",                  {.mod_n = 2, .mod_i = 0},         "4 | 8 | 2 | "            },
};

START_TEST(other_orders_and_streams)
{
    const char *got;

    six_results();
    dbtest_exec(db, "SET sql_mode = ''");
    dbtest_exec(db, "INSERT INTO batch (id, user_id) VALUES (12, 34)");
    dbtest_exec(db, "UPDATE result SET random = 10 - id");
    dbtest_exec(db, "UPDATE result SET batch = 12 WHERE id IN (4, 8)");
    dbtest_exec(db, "UPDATE result r JOIN workunit w ON w.id = r.workunitid "
                    "SET r.appid = 2, w.appid = 2 WHERE r.id = 1");
    got = pages(streams[_i].f, 1);
    ck_assert_msg(strcmp(got, streams[_i].want) == 0, "broken: %s: %s",
                  streams[_i].promise, got);
}
END_TEST

START_TEST(a_shuffle_is_one_page)
{
    struct feed_query f = {.order = FEED_SHUFFLE};
    struct sendable s[100];
    int64_t sum = 0;
    size_t n;

    six_results();
    ck_assert_int_eq(db_feed_page(db, &f, s, 100, &n), DB_NONE);
    ck_assert_uint_eq(n, 6);
    for (size_t i = 0; i < n; i++)
        sum += s[i].result_id;
    ck_assert_int_eq(sum, 4 + 8 + 2 + 3 + 9 + 1);
}
END_TEST

START_TEST(batches_and_submitters_are_listed)
{
    struct submitter who[4];
    int64_t batch[4];
    size_t n;

    six_results();
    dbtest_exec(db, "SET sql_mode = ''");
    dbtest_exec(db, "UPDATE result SET batch = 12 WHERE id IN (4, 8)");
    dbtest_exec(db, "UPDATE result SET server_state = 5, batch = 13 "
                    "WHERE id = 1");
    ck_assert_int_eq(db_feed_batches(db, batch, 4, &n), 0);
    ck_assert_uint_eq(n, 2);
    ck_assert_int_eq(batch[0] + batch[1], 12);
    dbtest_exec(db, "INSERT INTO user_submit (user_id, quota) "
                    "VALUES (3, 2.5), (4, 0)");
    ck_assert_int_eq(db_feed_submitters(db, who, 4, &n), 0);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(who[0].user_id, 3);
    ck_assert(who[0].quota == 2.5);
}
END_TEST

/* What a page costs must not depend on how many results are unsent: with 20000
 * of them the server reads no more index entries than it gives rows (and one to
 * find the beginning of each range). */
static int64_t
rows_read(void)
{
    return dbtest_i64(db, "SELECT CAST(SUM(variable_value) AS SIGNED)"
                          " FROM information_schema.session_status"
                          " WHERE variable_name IN ('Handler_read_next',"
                          " 'Handler_read_prev', 'Handler_read_rnd_next')");
}

/* It answers with rows, so db_exec() is not for it. */
static void
analyze(void)
{
    struct db_query *q = db_prepare(db, "ANALYZE TABLE result, workunit, app");

    while (db_step(q) == 0)
        ;
    db_finish(q);
}

static const struct {
    const char *what;
    struct feed_query f;
    const char *index; /* one that an operator has added */
} cheap[] = {
    {"all apps",                     {.order = FEED_BEST},              NULL                  },
    {"all apps, low priority first", {.order = FEED_WORST},             NULL                  },
    {"one app",                      {.appid = 1},                      NULL                  },
    {"one app, low priority first",  {.order = FEED_WORST, .appid = 1}, NULL                  },
    {"one batch, with an index",
     {.one_batch = true},
     "server_state, batch, priority DESC, workunitid"                                         },
    {"random, with an index",        {.order = FEED_RANDOM},            "server_state, random"},
};

START_TEST(a_page_costs_as_much_as_it_has_rows)
{
    static struct sendable s[100];
    struct feed_query f = cheap[_i].f;
    int64_t before, cost;
    size_t n;

    one_result(1, 0);
    for (int64_t have = 1; have < 20000; have *= 2) {
        struct buf sql = BUF_INIT;

        buf_addf(&sql,
                 "INSERT INTO result SELECT id + %" PRId64
                 ", create_time, workunitid, server_state, outcome,"
                 " client_state, hostid, userid, report_deadline, sent_time,"
                 " received_time, CONCAT('result_', id + %" PRId64
                 "), cpu_time, xml_doc_in, xml_doc_out, stderr_out, batch,"
                 " file_delete_state, validate_state, claimed_credit,"
                 " granted_credit, opaque, random, app_version_num, appid,"
                 " exit_status, teamid, id %% 3, mod_time, elapsed_time,"
                 " flops_estimate, app_version_id, runtime_outlier, size_class,"
                 " peak_working_set_size, peak_swap_size, peak_disk_usage"
                 " FROM result",
                 have, have);
        dbtest_exec(db, buf_str(&sql));
        buf_free(&sql);
    }
    dbtest_exec(db, "UPDATE result SET random = id % 1000");
    if (cheap[_i].index != NULL) {
        struct buf sql = BUF_INIT;

        buf_addf(&sql, "CREATE INDEX x_test ON result (%s)", cheap[_i].index);
        dbtest_exec(db, buf_str(&sql));
        buf_free(&sql);
    }
    analyze();
    for (int page = 0; page < 150; page++)
        ck_assert_int_eq(db_feed_page(db, &f, s, 100, &n), 0);
    before = rows_read();
    ck_assert_int_eq(db_feed_page(db, &f, s, 100, &n), 0);
    cost = rows_read() - before;
    /* 100 rows, 2 apps, and what rows_read() itself reads */
    if (cheap[_i].index != NULL)
        dbtest_exec(db, "DROP INDEX x_test ON result");
    ck_assert_msg(cost < 1500, "%s: %" PRId64 " rows read", cheap[_i].what,
                  cost);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("db_feed");
    TCase *tc = tcase_create("db_feed");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, an_empty_project_has_no_results);
    tcase_add_test(tc, a_candidate_is_read_whole);
    tcase_add_loop_test(tc, files_are_named, 0, ARRAY_LEN(files));
    tcase_add_test(tc, each_job_has_its_own_files);
    tcase_add_loop_test(tc, pages_follow_the_order, 0, ARRAY_LEN(orders));
    tcase_add_test(tc, only_what_is_better_than_this);
    tcase_add_test(tc, two_feeders_share_the_results);
    tcase_add_loop_test(tc, what_is_a_candidate, 0, ARRAY_LEN(rules));
    tcase_add_test(tc, results_of_a_failed_workunit_are_not_needed);
    tcase_add_test(tc, many_are_asked_for_at_once);
    tcase_add_test(tc, another_priority_is_another_job_for_the_array);
    tcase_add_loop_test(tc, other_orders_and_streams, 0, ARRAY_LEN(streams));
    tcase_add_test(tc, a_shuffle_is_one_page);
    tcase_add_test(tc, batches_and_submitters_are_listed);
    tcase_add_loop_test(tc, a_page_costs_as_much_as_it_has_rows, 0,
                        ARRAY_LEN(cheap));
    suite_add_tcase(suite, tc);
    return dbtest_run(suite);
}
