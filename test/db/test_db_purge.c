/* test_db_purge.c - which rows go, and that none goes without its record. */
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "archives.h"
#include "buf.h"
#include "dbtest.h"
#include "file.h"
#include "testproject.h"
#include "xml.h"

static struct db *db;

static void
new_project(void)
{
    testproject_new("");
    db = dbtest_open();
    dbtest_empty(db);
}

static void
remove_project(void)
{
    db_close(db);
    testproject_remove();
}

/* ---- rows --------------------------------------------------------------- */

static int64_t
finished_workunit(const char *name)
{
    struct workunit wu = {
        .appid = 1,
        .file_delete_state = FILES_DONE,
        .assimilate_state = ASSIMILATE_DONE,
        .transition_time = TRANSITION_NEVER,
        .size_class = -1,
        .xml_doc = xstrdup("<file_info>\n<name>in</name>\n</file_info>\n"),
    };
    int64_t id;

    str_copy(wu.name, sizeof(wu.name), name);
    id = dbtest_workunit(db, &wu);
    free(wu.xml_doc);
    return id;
}

static int64_t
finished_result(int64_t wu, const char *name)
{
    struct result r = {
        .workunitid = wu,
        .appid = 1,
        .server_state = RESULT_OVER,
        .outcome = OUTCOME_SUCCESS,
        .file_delete_state = FILES_DONE,
        .validate_state = VALIDATE_VALID,
        .size_class = -1,
        .elapsed_time = 12.5,
        .flops_estimate = 3e9,
        .peak_disk_usage = 4096,
    };

    str_copy(r.name, sizeof(r.name), name);
    return dbtest_result(db, &r);
}

/* n workunits wu_1 … with results wu_1_0, wu_1_1 … */
static void
finished_jobs(int n)
{
    ck_assert_int_eq(db_begin(db), 0);
    for (int i = 1; i <= n; i++) {
        char name[32];
        int64_t id;

        snprintf(name, sizeof(name), "wu_%d", i);
        id = finished_workunit(name);
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof(name), "wu_%d_%d", i, k);
            finished_result(id, name);
        }
    }
    ck_assert_int_eq(db_commit(db), 0);
}

static int64_t
count(const char *table)
{
    struct buf sql = BUF_INIT;
    int64_t n;

    buf_addf(&sql, "SELECT COUNT(*) FROM %s", table);
    n = dbtest_i64(db, sql.data);
    buf_free(&sql);
    return n;
}

/* ---- archives ----------------------------------------------------------- */

static int
occurrences(const struct buf *text, const char *of)
{
    int n = 0;

    for (const char *p = buf_str(text); (p = strstr(p, of)) != NULL; p++)
        n++;
    return n;
}

/* The archive of the results, if it is a single whole one. */
static struct xml_doc *
parse_archive(const char *begin)
{
    struct buf text = BUF_INIT, err = BUF_INIT;
    struct xml_doc *doc;

    ck_assert_int_eq(read_archives("archives", begin, ".xml", &text), 1);
    doc = xml_parse(text.data, text.len, begin, &err);
    ck_assert_msg(doc != NULL, "%s", buf_str(&err));
    buf_free(&text);
    buf_free(&err);
    return doc;
}

static void
check_field(const struct xml_node *record, const char *name, const char *text)
{
    struct buf got = BUF_INIT;
    const struct xml_node *field = xml_child(record, name);

    ck_assert_msg(field != NULL, "no <%s>", name);
    xml_text(field, &got);
    ck_assert_str_eq(buf_str(&got), text);
    buf_free(&got);
}

static void
purge_runs(void)
{
    ck_assert_int_eq(testproject_run("db_purge", NULL), 0);
}

/* ---- what goes ---------------------------------------------------------- */

START_TEST(a_finished_job_goes_to_the_archives)
{
    struct xml_doc *wus, *results;
    const struct xml_node *record;
    struct buf index = BUF_INIT;
    int64_t stamp, before = time(NULL);
    char name[32];

    finished_jobs(1);
    purge_runs();
    ck_assert_int_eq(count("workunit"), 0);
    ck_assert_int_eq(count("result"), 0);

    wus = parse_archive("wu_archive_");
    ck_assert_str_eq(xml_name(xml_root(wus)), "archive");
    record = xml_child(xml_root(wus), "workunit_archive");
    check_field(record, "id", "1");
    check_field(record, "name", "wu_1");
    check_field(record, "file_delete_state", "2");
    check_field(record, "transition_time", "2147483647");
    check_field(xml_child(xml_child(record, "xml_doc"), "file_info"), "name",
                "in");
    ck_assert_ptr_nonnull(xml_child(record, "mod_time"));
    ck_assert_ptr_null(xml_next(record));
    xml_free(wus);

    results = parse_archive("result_archive_");
    record = xml_child(xml_root(results), "result_archive");
    check_field(record, "name", "wu_1_0");
    check_field(record, "workunitid", "1");
    check_field(record, "elapsed_time", "12.5");
    check_field(record, "flops_estimate", "3000000000");
    check_field(record, "peak_disk_usage", "4096");
    record = xml_next(record);
    check_field(record, "name", "wu_1_1");
    ck_assert_ptr_null(xml_next(record));
    xml_free(results);

    ck_assert_int_eq(read_archives("archives", "wu_index_", ".xml", &index), 1);
    ck_assert_int_eq(
        sscanf(index.data, "1     %" SCNd64 "    %31s\n", &stamp, name), 2);
    ck_assert_str_eq(name, "wu_1");
    ck_assert_int_ge(stamp, before);
    ck_assert_int_le(stamp, time(NULL));
    buf_free(&index);
}
END_TEST

static const struct {
    const char *promise, *change;
    bool goes;
} reasons[] = {
    {"finished in all parts",                        "DO 1",                                      true },
    {"input files wait for deletion",
     "UPDATE workunit SET file_delete_state = 1",                                                 false},
    {"input files could not be deleted",
     "UPDATE workunit SET file_delete_state = 3",                                                 false},
    {"not yet marked",                               "UPDATE workunit SET file_delete_state = 0", false},
    {"a result is unsent",
     "UPDATE result SET server_state = 2 WHERE name = 'wu_1_1'",                                  false},
    {"a result is in progress",
     "UPDATE result SET server_state = 4 WHERE name = 'wu_1_1'",                                  false},
    {"output files wait for deletion",
     "UPDATE result SET file_delete_state = 1 WHERE name = 'wu_1_0'",                             false},
    {"output files could not be deleted",
     "UPDATE result SET file_delete_state = 3 WHERE name = 'wu_1_0'",                             false},
    {"output files of a success are not yet marked",
     "UPDATE result SET file_delete_state = 0 WHERE name = 'wu_1_0'",                             false},
    {"a result that never came has no output files",
     "UPDATE result SET file_delete_state = 0, outcome = 4",                                      true },
    {"a result that was not needed neither",
     "UPDATE result SET file_delete_state = 0, outcome = 5",                                      true },
    {"named so that it stays",                       "UPDATE workunit SET name = 'a_nodelete_b'",
     false                                                                                             },
    {"its batch is not retired",
     "INSERT INTO batch (id, user_id, create_time, logical_start_time,"
     " logical_end_time, est_completion_time, njobs, fraction_done,"
     " nerror_jobs, state, completion_time, credit_estimate,"
     " credit_canonical, credit_total, name, app_id, project_state,"
     " description, expire_time)"
     " VALUES (7, 1, 1, 0, 0, 0, 1, 1, 0, 2, 0, 0, 0, 0, '', 1, 0, '', 0)",                       false},
    {"its batch is retired",
     "INSERT INTO batch (id, user_id, create_time, logical_start_time,"
     " logical_end_time, est_completion_time, njobs, fraction_done,"
     " nerror_jobs, state, completion_time, credit_estimate,"
     " credit_canonical, credit_total, name, app_id, project_state,"
     " description, expire_time)"
     " VALUES (7, 1, 1, 0, 0, 0, 1, 1, 0, 4, 0, 0, 0, 0, '', 1, 0, '', 0)",                       true },
};

START_TEST(what_was_granted_is_remembered)
{
    for (int round = 1; round <= 2; round++) {
        finished_jobs(3);
        dbtest_exec(db, "UPDATE result SET granted_credit = 2.5, userid = 7, "
                        "hostid = id % 2 + 1, teamid = 3");
        dbtest_exec(db, "INSERT INTO x_resend (result_id, workunitid, times,"
                        " last_time) SELECT id, workunitid, 1, 1 FROM result");
        ck_assert_int_eq(testproject_run("db_purge", NULL), 0);
        ck_assert_int_eq(count("result"), 0);
        ck_assert_int_eq(count("x_resend"), 0);
        /* six results, of one user and team and of two hosts */
        ck_assert_double_eq(dbtest_double(db, "SELECT credit FROM x_credit_base"
                                              " WHERE kind = 1 AND id = 7"),
                            15 * round);
        ck_assert_double_eq(dbtest_double(db, "SELECT credit FROM x_credit_base"
                                              " WHERE kind = 2 AND id = 2"),
                            7.5 * round);
        ck_assert_double_eq(dbtest_double(db, "SELECT credit FROM x_credit_base"
                                              " WHERE kind = 3 AND id = 3"),
                            15 * round);
    }
    ck_assert_int_eq(count("x_credit_base"), 4);
}
END_TEST

START_TEST(only_what_is_finished_goes)
{
    finished_jobs(1);
    dbtest_exec(db, "UPDATE workunit SET batch = 7");
    dbtest_exec(db, reasons[_i].change);
    purge_runs();
    ck_assert_msg(count("workunit") == (reasons[_i].goes ? 0 : 1), "broken: %s",
                  reasons[_i].promise);
    ck_assert_int_eq(count("result"), reasons[_i].goes ? 0 : 2);
}
END_TEST

START_TEST(only_what_is_old_enough_goes)
{
    finished_jobs(3);
    dbtest_exec(db, "UPDATE workunit SET mod_time = CASE id"
                    " WHEN 1 THEN NOW() - INTERVAL 86410 SECOND"
                    " WHEN 2 THEN NOW() - INTERVAL 86340 SECOND"
                    " ELSE NOW() END");
    ck_assert_int_eq(testproject_run("db_purge", "--min_age_days", "1", NULL),
                     0);
    ck_assert_int_eq(dbtest_i64(db, "SELECT MIN(id) FROM workunit"), 2);
    ck_assert_int_eq(count("workunit"), 2);
    ck_assert_int_eq(testproject_run("db_purge", "--min_age_days", "0.5", NULL),
                     0);
    ck_assert_int_eq(count("workunit"), 1);
}
END_TEST

START_TEST(assignments_go_if_the_project_has_them)
{
    finished_jobs(1);
    dbtest_exec(db, "INSERT INTO assignment (create_time, target_id,"
                    " target_type, multi, workunitid, resultid)"
                    " VALUES (1, 1, 1, 0, 1, 0), (1, 1, 1, 0, 99, 0)");
    purge_runs();
    ck_assert_int_eq(count("assignment"), 2);
    testproject_remove();
    testproject_new("<enable_assignment/>\n");
    dbtest_exec(db, "ALTER TABLE workunit AUTO_INCREMENT = 1");
    finished_jobs(1);
    purge_runs();
    ck_assert_int_eq(count("assignment"), 1);
}
END_TEST

/* ---- options ------------------------------------------------------------ */

START_TEST(max_ends_it)
{
    finished_jobs(5);
    ck_assert_int_eq(testproject_run("db_purge", "--max", "2", NULL), 0);
    ck_assert_int_eq(count("workunit"), 3);
    ck_assert_int_eq(count("result"), 6);
}
END_TEST

START_TEST(without_archives)
{
    finished_jobs(2);
    ck_assert_int_eq(testproject_run("db_purge", "--no_archive", NULL), 0);
    ck_assert_int_eq(count("workunit"), 0);
    ck_assert(!file_exists(testproject_path("archives")));
}
END_TEST

START_TEST(without_deleting)
{
    struct buf text = BUF_INIT;

    finished_jobs(2);
    ck_assert_int_eq(testproject_run("db_purge", "--dont_delete", NULL), 0);
    ck_assert_int_eq(count("workunit"), 2);
    ck_assert_int_eq(count("result"), 4);
    ck_assert_int_eq(read_archives("archives", "result_archive", ".xml", &text),
                     1);
    ck_assert_int_eq(occurrences(&text, "</result_archive>\n"), 4);
    buf_free(&text);
}
END_TEST

START_TEST(new_files_after_so_many)
{
    struct buf text = BUF_INIT;

    finished_jobs(5);
    ck_assert_int_eq(
        testproject_run("db_purge", "--max_wu_per_file", "2", NULL), 0);
    ck_assert_int_eq(read_archives("archives", "wu_archive", ".xml", &text), 3);
    ck_assert_int_eq(occurrences(&text, "</workunit_archive>\n"), 5);
    buf_free(&text);
    ck_assert_int_eq(read_archives("archives", "", ".xml", &text), 12);
    ck_assert_int_eq(read_archives("archives", "", ".tmp", &text), 0);
    buf_free(&text);
}
END_TEST

START_TEST(a_folder_for_each_day)
{
    struct buf text = BUF_INIT;
    char folder[32];
    time_t now = time(NULL);

    finished_jobs(1);
    strftime(folder, sizeof(folder), "archives/%Y_%m_%d", gmtime(&now));
    ck_assert_int_eq(testproject_run("db_purge", "--daily_dir", NULL), 0);
    ck_assert_int_eq(read_archives(folder, "wu_archive", ".xml", &text), 1);
    buf_free(&text);
}
END_TEST

START_TEST(only_of_one_application)
{
    dbtest_app(db, "first");
    dbtest_app(db, "second");
    finished_jobs(2);
    dbtest_exec(db, "UPDATE workunit SET appid = 2 WHERE id = 2");
    ck_assert_int_eq(testproject_run("db_purge", "--app", "second", NULL), 0);
    ck_assert_int_eq(dbtest_i64(db, "SELECT id FROM workunit"), 1);
    ck_assert_int_eq(testproject_run("db_purge", "--app", "third", NULL), 100);
}
END_TEST

START_TEST(archives_have_one_writer)
{
    finished_jobs(2);
    ck_assert_int_eq(testproject_run("db_purge", "--mod", "2", "0", NULL), 100);
    ck_assert_int_eq(count("workunit"), 2);
    ck_assert_int_eq(
        testproject_run("db_purge", "--mod", "2", "0", "--no_archive", NULL),
        0);
    ck_assert_int_eq(dbtest_i64(db, "SELECT id FROM workunit"), 1);
}
END_TEST

START_TEST(more_than_a_batch)
{
    struct buf text = BUF_INIT;

    finished_jobs(1001); /* a batch has 1000 */
    purge_runs();
    ck_assert_int_eq(count("workunit"), 0);
    ck_assert_int_eq(count("result"), 0);
    ck_assert_int_eq(read_archives("archives", "wu_index", ".xml", &text), 1);
    ck_assert_int_eq(occurrences(&text, "\n"), 1001);
    buf_free(&text);
}
END_TEST

/* ---- what must not be lost ---------------------------------------------- */

START_TEST(anything_a_client_sent_can_be_archived)
{
    struct xml_doc *doc;
    const struct xml_node *record;

    finished_jobs(1);
    dbtest_exec(db, "UPDATE result SET stderr_out = CONCAT('a<b>&\"',"
                    " CHAR(0xff), CHAR(1), ']]>'),"
                    " xml_doc_out = '</result_archive>\n<archive>'"
                    " WHERE name = 'wu_1_0'");
    dbtest_exec(db, "UPDATE result SET xml_doc_out ="
                    " '<x>\n<result_archive>\n</result_archive>\n</x>'"
                    " WHERE name = 'wu_1_1'");
    purge_runs();
    doc = parse_archive("result_archive_");
    record = xml_child(xml_root(doc), "result_archive");
    check_field(record, "xml_doc_out", "</result_archive>\n<archive>");
    ck_assert_ptr_nonnull(xml_child(record, "stderr_out"));
    record = xml_next(record);
    check_field(record, "xml_doc_out",
                "<x>\n<result_archive>\n</result_archive>\n</x>");
    ck_assert_ptr_null(xml_next(record));
    xml_free(doc);
}
END_TEST

START_TEST(what_a_killed_program_left_is_completed)
{
    static const char torn[] = "<archive>\n<workunit_archive>\n  <id>1</id>\n"
                               "</workunit_archive>\n<workunit_archive>\n  <i";
    static const char whole[] = "<archive>\n<workunit_archive>\n  <id>1</id>\n"
                                "</workunit_archive>\n</archive>\n";
    struct buf text = BUF_INIT;

    ck_assert_int_eq(mkdir(testproject_path("archives"), 0770), 0);
    ck_assert_int_eq(
        file_write(testproject_path("archives/wu_archive_5.xml.tmp"), torn,
                   sizeof(torn) - 1, 0640),
        0);
    ck_assert_int_eq(file_write(testproject_path("archives/wu_index_5.xml.tmp"),
                                "1     5    wu_1\n2   ", 20, 0640),
                     0);
    ck_assert_int_eq(
        file_write(testproject_path("archives/result_archive_5.xml.tmp"),
                   "<archive>\n<resu", 15, 0640),
        0);
    purge_runs();
    ck_assert_int_eq(read_archives("archives", "wu_archive_5", ".xml", &text),
                     1);
    ck_assert_str_eq(text.data, whole);
    buf_reset(&text);
    ck_assert_int_eq(read_archives("archives", "wu_index_5", ".xml", &text), 1);
    ck_assert_str_eq(text.data, "1     5    wu_1\n");
    ck_assert_int_eq(read_archives("archives", "", ".tmp", &text), 0);
    ck_assert_int_eq(read_archives("archives", "result", ".xml", &text), 0);
    buf_free(&text);
}
END_TEST

static const struct {
    const char *option, *end;
} format[] = {
    {NULL,     ".xml"    },
    {"--gzip", ".xml.gz" },
    {"--zstd", ".xml.zst"},
};

START_TEST(a_compressed_archive_is_well_formed)
{
    struct buf text = BUF_INIT, err = BUF_INIT;
    struct xml_doc *doc;

    finished_jobs(1100); /* two batches, one file */
    ck_assert_int_eq(testproject_run("db_purge", format[_i].option, NULL), 0);
    ck_assert_int_eq(
        read_archives("archives", "result_archive_", format[_i].end, &text), 1);
    ck_assert_int_eq(occurrences(&text, "\n</result_archive>\n"), 2200);
    doc = xml_parse(text.data, text.len, "archive", &err);
    ck_assert_msg(doc != NULL, "%s", buf_str(&err));
    ck_assert_int_eq(read_archives("archives", "", ".tmp", &text), 0);
    xml_free(doc);
    buf_free(&err);
    buf_free(&text);
}
END_TEST

/* Killed between the last byte and the new name: the end tag is there once. */
START_TEST(a_compressed_archive_that_lacks_its_name_alone_is_completed)
{
    struct buf text = BUF_INIT, err = BUF_INIT, from = BUF_INIT, to = BUF_INIT;
    struct xml_doc *doc;
    DIR *d;

    finished_jobs(3);
    ck_assert_int_eq(testproject_run("db_purge", format[_i].option, NULL), 0);
    d = opendir(testproject_path("archives"));
    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strstr(e->d_name, "wu_archive_") == NULL)
            continue;
        buf_addf(&from, "archives/%s", e->d_name);
        buf_addf(&to, "archives/%s.tmp", e->d_name);
    }
    closedir(d);
    ck_assert_int_eq(
        rename(testproject_path(from.data), testproject_path(to.data)), 0);
    ck_assert_int_eq(testproject_run("db_purge", format[_i].option, NULL), 0);
    ck_assert_int_eq(
        read_archives("archives", "wu_archive_", format[_i].end, &text), 1);
    ck_assert_int_eq(occurrences(&text, "</archive>"), 1);
    doc = xml_parse(text.data, text.len, "archive", &err);
    ck_assert_msg(doc != NULL, "%s", buf_str(&err));
    xml_free(doc);
    buf_free(&from);
    buf_free(&to);
    buf_free(&err);
    buf_free(&text);
}
END_TEST

/* Each workunit and result that is not in the database has a whole record. */
static void
check_nothing_is_lost(int n)
{
    struct buf wus = BUF_INIT, results = BUF_INIT;

    for (size_t i = 0; i < ARRAY_LEN(format); i++) {
        read_archives("archives", "wu_archive", format[i].end, &wus);
        read_archives("archives", "result_archive", format[i].end, &results);
    }
    read_archives("archives", "wu_archive", ".tmp", &wus);
    read_archives("archives", "result_archive", ".tmp", &results);
    ck_assert_int_ge(occurrences(&wus, "\n</workunit_archive>\n"),
                     n - count("workunit"));
    ck_assert_int_ge(occurrences(&results, "\n</result_archive>\n"),
                     2 * n - count("result"));
    ck_assert_int_eq(2 * count("workunit"), count("result"));
    buf_free(&wus);
    buf_free(&results);
}

/* Every id from 1 to n is in the index. */
static void
check_index(const char *begin, int n)
{
    struct buf text = BUF_INIT;
    bool *seen = xcalloc((size_t)n + 1, sizeof(*seen));
    int missing = 0;

    for (size_t i = 0; i < ARRAY_LEN(format); i++)
        read_archives("archives", begin, format[i].end, &text);
    for (char *line = strtok(text.data, "\n"); line != NULL;
         line = strtok(NULL, "\n")) {
        long id = strtol(line, NULL, 10);

        ck_assert_int_ge(id, 1);
        ck_assert_int_le(id, n);
        seen[id] = true;
    }
    for (int i = 1; i <= n; i++)
        missing += !seen[i];
    ck_assert_int_eq(missing, 0);
    free(seen);
    buf_free(&text);
}

START_TEST(killed_at_any_moment_it_loses_nothing)
{
    enum { N = 1000, KILLS = 8 };

    finished_jobs(N);
    for (int i = 0; i < KILLS; i++) {
        pid_t pid = testproject_start("db_purge", "--max_wu_per_file", "50",
                                      format[_i].option, NULL);

        usleep((useconds_t)(10000 + 7000 * i));
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        check_nothing_is_lost(N);
    }
    purge_runs();
    ck_assert_int_eq(count("workunit"), 0);
    check_nothing_is_lost(N);
    check_index("wu_index", N);
    check_index("result_index", 2 * N);
}
END_TEST

static Suite *
db_purge_suite(void)
{
    Suite *s = suite_create("db_purge");
    TCase *tc = tcase_create("db_purge");

    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, new_project, remove_project);
    tcase_add_test(tc, a_finished_job_goes_to_the_archives);
    tcase_add_test(tc, what_was_granted_is_remembered);
    tcase_add_loop_test(tc, only_what_is_finished_goes, 0, ARRAY_LEN(reasons));
    tcase_add_test(tc, only_what_is_old_enough_goes);
    tcase_add_test(tc, assignments_go_if_the_project_has_them);
    tcase_add_test(tc, max_ends_it);
    tcase_add_test(tc, without_archives);
    tcase_add_test(tc, without_deleting);
    tcase_add_test(tc, new_files_after_so_many);
    tcase_add_test(tc, a_folder_for_each_day);
    tcase_add_test(tc, only_of_one_application);
    tcase_add_test(tc, archives_have_one_writer);
    tcase_add_test(tc, more_than_a_batch);
    tcase_add_test(tc, anything_a_client_sent_can_be_archived);
    tcase_add_test(tc, what_a_killed_program_left_is_completed);
    tcase_add_loop_test(tc, killed_at_any_moment_it_loses_nothing, 0,
                        ARRAY_LEN(format));
    tcase_add_loop_test(tc, a_compressed_archive_is_well_formed, 0,
                        ARRAY_LEN(format));
    tcase_add_loop_test(
        tc, a_compressed_archive_that_lacks_its_name_alone_is_completed, 0,
        ARRAY_LEN(format));
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(db_purge_suite());
}
