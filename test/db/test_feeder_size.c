/* test_feeder_size.c - size_regulator and census: dispatch §13, §2.5. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "project.h"

/* Inactive results 1 … n of the class, each of a workunit of its own. */
static void
inactive(int64_t first, int n, int size_class)
{
    struct db *db = project_db();

    for (int64_t id = first; id < first + n; id++) {
        struct workunit wu = {.id = id, .appid = 1, .size_class = size_class};
        struct result r = {.id = id,
                           .workunitid = id,
                           .appid = 1,
                           .priority = (int)id,
                           .size_class = size_class,
                           .server_state = RESULT_INACTIVE};
        struct buf b = BUF_INIT;

        buf_addf(&b, "w%" PRId64, id);
        str_copy(wu.name, sizeof(wu.name), buf_str(&b));
        str_copy(r.name, sizeof(r.name), buf_str(&b));
        buf_free(&b);
        dbtest_workunit(db, &wu);
        dbtest_result(db, &r);
    }
}

static int64_t
unsent(int size_class)
{
    return project_ask("SELECT COUNT(*) FROM result WHERE server_state = 2 "
                       "AND size_class = %d",
                       size_class);
}

START_TEST(each_class_has_jobs_ready)
{
    project_new();
    project_do("UPDATE app SET n_size_classes = 2");
    inactive(1, 10, 0);
    inactive(11, 10, 1);
    inactive(21, 10, 2); /* no class of this app */
    project_do("UPDATE workunit SET error_mask = 16 WHERE id = 1");
    project_do("UPDATE result SET server_state = 2 WHERE id BETWEEN 11 AND 13");
    ck_assert_int_eq(project_run("size_regulator", "--app_name", "app", "--lo",
                                 "3", "--hi", "5", "--priority_asc", NULL),
                     0);
    ck_assert_int_eq(unsent(0), 5); /* there was none */
    ck_assert_int_eq(unsent(1), 3); /* as many as --lo are enough */
    ck_assert_int_eq(unsent(2), 0);
    ck_assert_int_eq(project_ask("SELECT MIN(id) FROM result WHERE "
                                 "server_state = 2 AND size_class = 0"),
                     2); /* 1 has failed */
    ck_assert_int_eq(project_ask("SELECT MAX(id) FROM result WHERE "
                                 "server_state = 2 AND size_class = 0"),
                     6); /* low priority first */
    project_do("UPDATE result SET server_state = 5 WHERE id = 11");
    ck_assert_int_eq(project_run("size_regulator", "--app_name", "app", "--lo",
                                 "3", "--hi", "100", NULL),
                     0);
    ck_assert_int_eq(unsent(1), 9); /* all there are */
    project_end();
}
END_TEST

START_TEST(wrong_use_of_the_regulator)
{
    project_new();
    ck_assert_int_eq(project_run("size_regulator", "--app_name", "nobody",
                                 "--lo", "1", "--hi", "2", NULL),
                     100);
    ck_assert_int_eq(project_run("size_regulator", "--app_name", "app", "--lo",
                                 "3", "--hi", "2", NULL),
                     100);
    project_end();
}
END_TEST

/* ---- census ---- */

static int
run_census(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        execl(TOOLS "/census", "census", "--project_dir", project_path("."),
              (char *)NULL);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
file_is(const char *name, const char *want)
{
    struct buf text = BUF_INIT;

    ck_assert_int_eq(file_read(project_path(name), 10000, &text), 0);
    ck_assert_str_eq(buf_str(&text), want);
    buf_free(&text);
}

START_TEST(hosts_are_counted)
{
    project_new();
    project_do("UPDATE app SET n_size_classes = 2");
    /* four that compute: 100 on Linux, 20 on Windows, both Intel (coarse
     * classes 256 + 2, 384 + 2); fine class of "Pentium": 13 */
    project_do("UPDATE host SET expavg_credit = 0");
    project_do("UPDATE host SET expavg_credit = IF(id <= 2, 50, 10), "
               "p_vendor = 'GenuineIntel', p_model = 'Pentium', "
               "os_name = IF(id <= 2, 'Linux', 'Microsoft Windows'), "
               "on_frac = 1, active_frac = 0.5 WHERE id <= 4");
    project_do("UPDATE host SET expavg_credit = 20 WHERE id IN (3, 4)");
    project_do("INSERT IGNORE INTO app_version (id, appid, platformid, "
               "version_num) VALUES (77, 1, 1, 1)");
    project_do("INSERT IGNORE INTO host_app_version (host_id, app_version_id, "
               "et_n, et_avg) VALUES (1, 77, 9, 1e-9), (2, 77, 9, 5e-10), "
               "(3, 77, 9, 25e-11), (4, 77, 9, 125e-12)");
    ck_assert_int_eq(run_census(), 0);
    file_is("hr_info.txt",
            "# hr_info.txt - written by census: type class credit\n"
            "1 269 100\n1 397 40\n2 258 100\n2 386 40\n");
    /* 0.5, 1, 2, 4 GFLOPS: two are below 2 */
    file_is("size_census_app", "2.000000e+09\n");
    project_end();
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("feeder_size");
    TCase *tc = tcase_create("feeder_size");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, each_class_has_jobs_ready);
    tcase_add_test(tc, wrong_use_of_the_regulator);
    tcase_add_test(tc, hosts_are_counted);
    suite_add_tcase(suite, tc);
    return dbtest_run(suite);
}
