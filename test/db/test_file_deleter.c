/* test_file_deleter.c - which files go, which stay, what the rows say then. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "dbtest.h"
#include "testproject.h"

static struct db *db;

static void
new_project(void)
{
    /* an account that no machine has: files of the folder's owner count */
    testproject_new("<cache_md5_info/>\n"
                    "<httpd_user>no_such_account</httpd_user>\n");
    db = dbtest_open();
    dbtest_empty(db);
}

static void
remove_project(void)
{
    db_close(db);
    testproject_remove();
}

/* A document that names these files, with `flags` in each description. */
static char *
document(const char *const *files, size_t n, const char *flags,
         const char *outer)
{
    struct buf doc = BUF_INIT;

    for (size_t i = 0; i < n; i++)
        buf_addf(&doc, "<file_info><name>%s</name>%s</file_info>\n", files[i],
                 flags);
    buf_addf(&doc, "<%s>\n", outer);
    for (size_t i = 0; i < n; i++)
        buf_addf(&doc,
                 "<file_ref><file_name>%s</file_name>"
                 "<open_name>f%zu</open_name></file_ref>\n",
                 files[i], i);
    buf_addf(&doc, "</%s>\n", outer);
    return buf_take(&doc);
}

static int64_t
workunit(const char *name, enum file_delete_state state, const char *file,
         const char *flags)
{
    struct workunit wu = {.appid = 1, .file_delete_state = state};
    int64_t id;

    str_copy(wu.name, sizeof(wu.name), name);
    wu.xml_doc = document(&file, 1, flags, "workunit");
    id = dbtest_workunit(db, &wu);
    free(wu.xml_doc);
    return id;
}

static int64_t
result(const char *name, enum file_delete_state state, const char *file,
       const char *flags)
{
    struct result r = {
        .workunitid = 1,
        .appid = 1,
        .server_state = RESULT_OVER,
        .outcome = OUTCOME_SUCCESS,
        .file_delete_state = state,
    };
    int64_t id;

    str_copy(r.name, sizeof(r.name), name);
    r.xml_doc_in = document(&file, 1, flags, "result");
    id = dbtest_result(db, &r);
    free(r.xml_doc_in);
    return id;
}

static int64_t
state_of(const char *table, const char *name)
{
    struct buf sql = BUF_INIT;
    int64_t state;

    buf_addf(&sql, "SELECT file_delete_state FROM %s WHERE name = '%s'", table,
             name);
    state = dbtest_i64(db, sql.data);
    buf_free(&sql);
    return state;
}

static void
deleter_runs(void)
{
    ck_assert_int_eq(testproject_run("file_deleter", NULL), 0);
}

START_TEST(only_files_of_ready_rows_go)
{
    result("r_ready", FILES_READY, "out1", "");
    result("r_init", FILES_INIT, "out2", "");
    workunit("w_ready", FILES_READY, "in1", "");
    workunit("w_init", FILES_INIT, "in2", "");
    testproject_put("upload", "out1", "x");
    testproject_put("upload", "out2", "x");
    testproject_put("download", "in1", "x");
    testproject_put("download", "in2", "x");

    deleter_runs();

    ck_assert(!testproject_has("upload", "out1"));
    ck_assert(testproject_has("upload", "out2"));
    ck_assert(!testproject_has("download", "in1"));
    ck_assert(testproject_has("download", "in2"));
    ck_assert_int_eq(state_of("result", "r_ready"), FILES_DONE);
    ck_assert_int_eq(state_of("result", "r_init"), FILES_INIT);
    ck_assert_int_eq(state_of("workunit", "w_ready"), FILES_DONE);
    ck_assert_int_eq(state_of("workunit", "w_init"), FILES_INIT);
}
END_TEST

START_TEST(all_files_of_a_document_and_what_lies_beside_them)
{
    enum { N = 40 };
    char name[N][16];
    const char *files[N];
    struct workunit wu = {.name = "w", .file_delete_state = FILES_READY};

    for (int i = 0; i < N; i++) {
        snprintf(name[i], sizeof(name[i]), "in%d", i);
        files[i] = name[i];
        testproject_put("download", name[i], "x");
    }
    wu.xml_doc = document(files, N, "", "workunit");
    dbtest_workunit(db, &wu);
    free(wu.xml_doc);
    /* the .gz and .md5 lie in the folder of in0 */
    ck_assert_int_eq(
        link(testproject_hier("download", "in0"), testproject_path("in0")), 0);
    for (int i = 0; i < 2; i++) {
        struct buf path = BUF_INIT;

        buf_addf(&path, "%s.%s", testproject_hier("download", "in0"),
                 i == 0 ? "gz" : "md5");
        ck_assert_int_eq(link(testproject_path("in0"), path.data), 0);
        buf_free(&path);
    }

    deleter_runs();

    for (int i = 0; i < N; i++)
        ck_assert(!testproject_has("download", name[i]));
    ck_assert_int_eq(unlink(testproject_path("in0")), 0);
    ck_assert_int_eq(state_of("workunit", "w"), FILES_DONE);
    /* nothing is left: each folder can be removed */
    for (int i = 0; i < N; i++) {
        char *folder = xstrdup(testproject_hier("download", name[i]));

        *strrchr(folder, '/') = '\0';
        ck_assert(rmdir(folder) == 0 || access(folder, F_OK) != 0);
        free(folder);
    }
}
END_TEST

static const struct {
    const char *promise;
    const char *wu_name, *flags;
} kept[] = {
    {"a workunit named so keeps its input files", "my_nodelete_1", ""            },
    {"a file described so is kept",               "w",             "<no_delete/>"},
};

START_TEST(what_must_stay_stays)
{
    workunit(kept[_i].wu_name, FILES_READY, "in1", kept[_i].flags);
    result("r", FILES_READY, "out1", "<no_delete/>");
    testproject_put("download", "in1", "x");
    testproject_put("upload", "out1", "x");
    deleter_runs();
    ck_assert_msg(testproject_has("download", "in1"), "broken: %s",
                  kept[_i].promise);
    ck_assert(testproject_has("upload", "out1"));
    ck_assert_int_eq(state_of("workunit", kept[_i].wu_name), FILES_DONE);
    ck_assert_int_eq(state_of("result", "r"), FILES_DONE);
}
END_TEST

START_TEST(a_shared_input_file_goes_with_its_last_user)
{
    int64_t last = workunit("w3", FILES_INIT, "shared", "");

    workunit("w1", FILES_READY, "shared", "");
    workunit("w2", FILES_READY, "shared", "");
    workunit("other", FILES_INIT, "shared_not", "");
    testproject_put("download", "shared", "x");

    deleter_runs();
    ck_assert(testproject_has("download", "shared"));
    ck_assert_int_eq(state_of("workunit", "w1"), FILES_DONE);
    ck_assert_int_eq(state_of("workunit", "w2"), FILES_DONE);

    ck_assert_int_eq(last, 1);
    dbtest_exec(db, "UPDATE workunit SET file_delete_state = 1 WHERE id = 1");
    deleter_runs();
    ck_assert(!testproject_has("download", "shared"));
    ck_assert_int_eq(state_of("workunit", "w3"), FILES_DONE);
}
END_TEST

/* The daemon goes on while workunits are made and end. */
START_TEST(a_running_daemon_learns_of_new_users)
{
    pid_t pid =
        testproject_start("file_deleter", "--sleep_interval", "0.1", NULL);

    workunit("w1", FILES_READY, "first", "");
    for (int i = 0; i < 100 && state_of("workunit", "w1") != FILES_DONE; i++)
        usleep(100000);
    testproject_put("download", "shared", "x");
    workunit("w2", FILES_INIT, "shared", "");
    workunit("w3", FILES_READY, "shared", "");
    for (int i = 0; i < 100 && state_of("workunit", "w3") != FILES_DONE; i++)
        usleep(100000);
    ck_assert(testproject_has("download", "shared"));
    dbtest_exec(db, "UPDATE workunit SET file_delete_state = 1"
                    " WHERE name = 'w2'");
    for (int i = 0; i < 100 && state_of("workunit", "w2") != FILES_DONE; i++)
        usleep(100000);
    ck_assert(!testproject_has("download", "shared"));
    ck_assert_int_eq(testproject_end(pid), 0);
}
END_TEST

START_TEST(a_missing_file_counts_as_deleted)
{
    result("r", FILES_READY, "out1", "");
    workunit("w", FILES_READY, "in1", "");
    deleter_runs();
    ck_assert_int_eq(state_of("result", "r"), FILES_DONE);
    ck_assert_int_eq(state_of("workunit", "w"), FILES_DONE);
}
END_TEST

START_TEST(a_missing_folder_is_an_error_that_is_tried_again)
{
    result("r", FILES_READY, "out1", "");
    testproject_put("upload", "out1", "x");
    ck_assert_int_eq(
        rename(testproject_path("upload"), testproject_path("unmounted")), 0);
    deleter_runs();
    ck_assert_int_eq(state_of("result", "r"), FILES_ERROR);

    ck_assert_int_eq(
        rename(testproject_path("unmounted"), testproject_path("upload")), 0);
    ck_assert_int_eq(
        testproject_run("file_deleter", "--dont_retry_errors", NULL), 0);
    ck_assert_int_eq(state_of("result", "r"), FILES_ERROR);
    deleter_runs();
    ck_assert_int_eq(state_of("result", "r"), FILES_DONE);
    ck_assert(!testproject_has("upload", "out1"));
}
END_TEST

static const char *const evil[] = {"../config.xml", "a/../../config.xml",
                                   "/etc/passwd", "..", "sub/file"};

START_TEST(a_name_never_leads_out_of_the_tree)
{
    result("r", FILES_READY, evil[_i], "");
    workunit("w", FILES_READY, evil[_i], "");
    ck_assert_int_eq(mkdir(testproject_path("upload/sub"), 0770), 0);
    ck_assert_int_eq(link(testproject_path("config.xml"),
                          testproject_path("upload/sub/file")),
                     0);
    deleter_runs();
    ck_assert_int_eq(access(testproject_path("config.xml"), F_OK), 0);
    ck_assert_int_eq(access(testproject_path("upload/sub/file"), F_OK), 0);
    ck_assert_int_eq(state_of("result", "r"), FILES_ERROR);
    ck_assert_int_eq(state_of("workunit", "w"), FILES_ERROR);
}
END_TEST

START_TEST(one_bad_document_does_not_stop_the_others)
{
    result("bad", FILES_READY, "out1", "");
    result("good", FILES_READY, "out2", "");
    testproject_put("upload", "out2", "x");
    /* nested deeper than any reader goes */
    dbtest_exec(db, "UPDATE result SET xml_doc_in = REPEAT('<a>', 5000)"
                    " WHERE name = 'bad'");
    deleter_runs();
    ck_assert_int_eq(state_of("result", "bad"), FILES_ERROR);
    ck_assert_int_eq(state_of("result", "good"), FILES_DONE);
    ck_assert(!testproject_has("upload", "out2"));
}
END_TEST

START_TEST(more_than_a_batch)
{
    enum { N = 1600 }; /* a batch has 1500 */

    ck_assert_int_eq(db_begin(db), 0);
    for (int i = 0; i < N; i++) {
        char name[16];

        snprintf(name, sizeof(name), "r%d", i);
        result(name, FILES_READY, name, "");
    }
    dbtest_exec(db, "UPDATE result SET outcome = 3"); /* may lack files */
    ck_assert_int_eq(db_commit(db), 0);
    testproject_put("upload", "r0", "x");
    testproject_put("upload", "r1599", "x");
    deleter_runs();
    ck_assert(!testproject_has("upload", "r0"));
    ck_assert(!testproject_has("upload", "r1599"));
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM result"
                                    " WHERE file_delete_state = 2"),
                     N);
}
END_TEST

static const struct {
    const char *option, *value;
    bool output_stays, input_stays;
    int64_t result_state, wu_state;
} choices[] = {
    {"--preserve_result_files", NULL,    true,  false, FILES_DONE,  FILES_DONE },
    {"--preserve_wu_files",     NULL,    false, true,  FILES_DONE,  FILES_DONE },
    {"--input_files_only",      NULL,    true,  false, FILES_READY, FILES_DONE },
    {"--output_files_only",     NULL,    false, true,  FILES_DONE,  FILES_READY},
    {"--no_db_update",          NULL,    false, false, FILES_READY, FILES_READY},
    {"--appid",                 "2",     true,  true,  FILES_READY, FILES_READY},
    {"--appid",                 "1",     false, false, FILES_DONE,  FILES_DONE },
    {"--xml_doc_like",          "%in1%", true,  false, FILES_READY, FILES_DONE },
};

START_TEST(options_choose)
{
    result("r", FILES_READY, "out1", "");
    workunit("w", FILES_READY, "in1", "");
    testproject_put("upload", "out1", "x");
    testproject_put("download", "in1", "x");
    ck_assert_int_eq(testproject_run("file_deleter", choices[_i].option,
                                     choices[_i].value, NULL),
                     0);
    ck_assert_int_eq(testproject_has("upload", "out1"),
                     choices[_i].output_stays);
    ck_assert_int_eq(testproject_has("download", "in1"),
                     choices[_i].input_stays);
    ck_assert_int_eq(state_of("result", "r"), choices[_i].result_state);
    ck_assert_int_eq(state_of("workunit", "w"), choices[_i].wu_state);
}
END_TEST

START_TEST(mod_shares_the_work)
{
    result("r1", FILES_READY, "out1", ""); /* ids 1 and 2 */
    result("r2", FILES_READY, "out2", "");
    ck_assert_int_eq(testproject_run("file_deleter", "--mod", "2", "0", NULL),
                     0);
    ck_assert_int_eq(state_of("result", "r1"), FILES_READY);
    ck_assert_int_eq(state_of("result", "r2"), FILES_DONE);
}
END_TEST

/* ---- antique files ------------------------------------------------------ */

enum { DAY = 86400 };

/* An uploaded file that was last written `days` days and a minute ago. */
static void
put_old(const char *name, int days)
{
    struct timespec t[2] = {{.tv_sec = time(NULL) - days * DAY - 60}};

    t[1] = t[0];
    testproject_put("upload", name, "x");
    ck_assert_int_eq(
        utimensat(AT_FDCWD, testproject_hier("upload", name), t, 0), 0);
}

static void
oldest_workunit(const char *name, int days)
{
    struct buf sql = BUF_INIT;

    workunit(name, FILES_INIT, "in", "");
    buf_addf(&sql,
             "UPDATE workunit SET create_time = UNIX_TIMESTAMP() - %d "
             "WHERE name = '%s'",
             days * DAY, name);
    dbtest_exec(db, buf_str(&sql));
    buf_free(&sql);
}

static void
antique_runs(const char *option)
{
    ck_assert_int_eq(
        testproject_run("antique_file_deleter", "--usleep", "0", option, NULL),
        0);
}

START_TEST(files_from_before_the_oldest_workunit_go)
{
    oldest_workunit("w", 40);
    oldest_workunit("old_nodelete", 400); /* does not count */
    put_old("yesterday", 1);
    put_old("of_its_time", 40);
    put_old("a_day_before", 41);
    put_old(".hidden", 100);
    put_old("two_days_before", 42);
    antique_runs("--dry_run");
    ck_assert(testproject_has("upload", "two_days_before"));
    antique_runs(NULL);
    ck_assert(testproject_has("upload", "yesterday"));
    ck_assert(testproject_has("upload", "of_its_time"));
    /* 41 days and a minute: more than a day before the workunit */
    ck_assert(!testproject_has("upload", "a_day_before"));
    ck_assert(!testproject_has("upload", "two_days_before"));
    ck_assert(testproject_has("upload", ".hidden"));
}
END_TEST

START_TEST(files_of_the_last_32_days_stay)
{
    oldest_workunit("w", 2);
    put_old("of_31_days", 31);
    put_old("of_32_days", 32);
    antique_runs(NULL);
    ck_assert(testproject_has("upload", "of_31_days"));
    ck_assert(!testproject_has("upload", "of_32_days"));
}
END_TEST

START_TEST(without_workunits_no_old_file_goes)
{
    put_old("old", 400);
    ck_assert_int_ne(testproject_run("antique_file_deleter", NULL), 0);
    ck_assert(testproject_has("upload", "old"));
    oldest_workunit("a_nodelete", 1);
    ck_assert_int_ne(testproject_run("antique_file_deleter", NULL), 0);
    ck_assert(testproject_has("upload", "old"));
}
END_TEST

START_TEST(links_and_files_of_others_stay)
{
    struct timespec t[2] = {{.tv_sec = time(NULL) - 400 * DAY}};

    t[1] = t[0];
    oldest_workunit("w", 2);
    put_old("target", 1);
    ck_assert_int_eq(symlink(testproject_hier("upload", "target"),
                             testproject_path("upload/link")),
                     0);
    ck_assert_int_eq(utimensat(AT_FDCWD, testproject_path("upload/link"), t,
                               AT_SYMLINK_NOFOLLOW),
                     0);
    put_old("of_root", 100);
    if (geteuid() == 0)
        ck_assert_int_eq(
            chown(testproject_hier("upload", "of_root"), 12345, (gid_t)-1), 0);
    antique_runs(NULL);
    ck_assert_int_eq(access(testproject_path("upload/link"), F_OK), 0);
    ck_assert(testproject_has("upload", "target"));
    ck_assert_int_eq(testproject_has("upload", "of_root"), geteuid() == 0);
}
END_TEST

static Suite *
file_deleter_suite(void)
{
    Suite *s = suite_create("file_deleter");
    TCase *tc = tcase_create("file_deleter");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, new_project, remove_project);
    tcase_add_test(tc, only_files_of_ready_rows_go);
    tcase_add_test(tc, all_files_of_a_document_and_what_lies_beside_them);
    tcase_add_loop_test(tc, what_must_stay_stays, 0, ARRAY_LEN(kept));
    tcase_add_test(tc, a_shared_input_file_goes_with_its_last_user);
    tcase_add_test(tc, a_running_daemon_learns_of_new_users);
    tcase_add_test(tc, a_missing_file_counts_as_deleted);
    tcase_add_test(tc, a_missing_folder_is_an_error_that_is_tried_again);
    tcase_add_loop_test(tc, a_name_never_leads_out_of_the_tree, 0,
                        ARRAY_LEN(evil));
    tcase_add_test(tc, one_bad_document_does_not_stop_the_others);
    tcase_add_test(tc, more_than_a_batch);
    tcase_add_loop_test(tc, options_choose, 0, ARRAY_LEN(choices));
    tcase_add_test(tc, mod_shares_the_work);
    tcase_add_test(tc, files_from_before_the_oldest_workunit_go);
    tcase_add_test(tc, files_of_the_last_32_days_stay);
    tcase_add_test(tc, without_workunits_no_old_file_goes);
    tcase_add_test(tc, links_and_files_of_others_stay);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(file_deleter_suite());
}
