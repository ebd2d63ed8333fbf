/* test_runstate.c - the file run_state_HOST.xml, ours and BOINC's. */
#include "unit_test.h"

#include <string.h>

#include "buf.h"
#include "config.h"
#include "path.h"
#include "runstate.h"

static struct config cfg;

static void
setup(void)
{
    cfg.project_root = unit_folder;
}

static void
put(const char *text)
{
    struct buf path = BUF_INIT;

    buf_addf(&path, "%s/run_state_%s.xml", unit_folder, path_short_host());
    ck_assert_int_eq(file_write(buf_str(&path), text, strlen(text), 0600), 0);
    buf_free(&path);
}

START_TEST(what_is_written_is_read)
{
    struct runstate_daemon daemon[] = {
        {.name = "feeder",
         .command = "feeder -d 3",
         .state = "up",
         .pid = 12,
         .started = 1700000000,
         .restarts = 3,
         .last_end = "exit status 1"},
        {.name = "validator <&> \"x\"", .command = "v",            .state = "wait"},
    };
    struct runstate_task task[] = {
        {.command = "update_stats", .lastrun = 1700000123}
    };
    struct runstate in = {.enabled = true,
                          .supervisor_pid = 7,
                          .supervisor_started = 1699999999,
                          .daemon = daemon,
                          .n_daemons = 2,
                          .task = task,
                          .n_tasks = 1};
    struct runstate out;

    ck_assert_int_eq(runstate_write(&cfg, &in), 0);
    ck_assert_int_eq(runstate_read(&cfg, &out), 0);
    ck_assert(out.enabled);
    ck_assert_int_eq(out.supervisor_pid, 7);
    ck_assert_int_eq(out.supervisor_started, 1699999999);
    ck_assert_uint_eq(out.n_daemons, 2);
    ck_assert_str_eq(out.daemon[0].command, "feeder -d 3");
    ck_assert_str_eq(out.daemon[0].state, "up");
    ck_assert_str_eq(out.daemon[0].last_end, "exit status 1");
    ck_assert_int_eq(out.daemon[0].pid, 12);
    ck_assert_int_eq(out.daemon[0].started, 1700000000);
    ck_assert_int_eq(out.daemon[0].restarts, 3);
    ck_assert_str_eq(out.daemon[1].name, "validator <&> \"x\"");
    ck_assert_int_eq(runstate_lastrun(&out, "update_stats"), 1700000123);
    ck_assert_int_eq(runstate_lastrun(&out, "never_ran"), 0);
    runstate_free(&out);
}
END_TEST

START_TEST(a_file_of_boinc_is_read)
{
    struct runstate rs;

    put("<?xml version=\"1.0\" ?>\n<boinc>\n  <tasks>\n    <task>\n"
        "      <command>db_dump -d 2</command>\n"
        "      <lastrun>1699990000</lastrun>\n    </task>\n  </tasks>\n"
        "  <enabled>1</enabled>\n</boinc>\n");
    ck_assert_int_eq(runstate_read(&cfg, &rs), 0);
    ck_assert(rs.enabled);
    ck_assert_int_eq(rs.supervisor_pid, 0);
    ck_assert_uint_eq(rs.n_daemons, 0);
    ck_assert_int_eq(runstate_lastrun(&rs, "db_dump -d 2"), 1699990000);
    runstate_free(&rs);
}
END_TEST

START_TEST(no_file_means_that_nothing_was_started)
{
    struct config nowhere = {.project_root = unit_folder};
    struct runstate rs;
    char root[300];

    (void)snprintf(root, sizeof(root), "%s/empty", unit_folder);
    nowhere.project_root = root;
    ck_assert_int_eq(runstate_read(&nowhere, &rs), 1);
    ck_assert(!rs.enabled);
    ck_assert_uint_eq(rs.n_daemons, 0);
    runstate_free(&rs);
}
END_TEST

START_TEST(a_damaged_file_means_the_same)
{
    struct runstate rs;

    put("<boinc><enabled>1</ena");
    ck_assert_int_eq(runstate_read(&cfg, &rs), -1);
    ck_assert(!rs.enabled);
    ck_assert_uint_eq(rs.n_tasks, 0);
    runstate_free(&rs);
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, what_is_written_is_read);
    tcase_add_test(tc, a_file_of_boinc_is_read);
    tcase_add_test(tc, no_file_means_that_nothing_was_started);
    tcase_add_test(tc, a_damaged_file_means_the_same);
}

int
main(void)
{
    return unit_main("runstate", add_tests);
}
