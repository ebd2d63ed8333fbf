/* test_db_web.c - what pages, web RPCs and status ask; platforms and
 * applications that xadd and update_versions write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_apps.h"
#include "db_web.h"
#include "dbtest.h"

#define NOW 1700000000

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

/* ---- queues ---------------------------------------------------------------
 */

static int64_t
workunit(const char *name, struct workunit wu)
{
    static char doc[] = "";

    str_copy(wu.name, sizeof(wu.name), name);
    wu.appid = 1;
    wu.xml_doc = doc;
    if (wu.transition_time == 0)
        wu.transition_time = TRANSITION_NEVER;
    return dbtest_workunit(db, &wu);
}

static void
result(const char *name, struct result r)
{
    str_copy(r.name, sizeof(r.name), name);
    r.appid = 1;
    r.workunitid = 1;
    dbtest_result(db, &r);
}

static struct web_queues
queues(void)
{
    struct web_queues q;

    ck_assert_int_eq(db_web_queues(db, NOW, &q), 0);
    return q;
}

START_TEST(an_empty_project_has_empty_queues)
{
    static const struct web_queues none;
    struct web_queues q = queues();

    ck_assert_mem_eq(&q, &none, sizeof(q));
}
END_TEST

START_TEST(each_queue_counts_its_own)
{
    struct web_queues q;

    dbtest_app(db, "uppercase");
    workunit("a", (struct workunit){.need_validate = true});
    workunit("b", (struct workunit){.assimilate_state = ASSIMILATE_READY});
    workunit("c", (struct workunit){.assimilate_state = ASSIMILATE_READY});
    workunit("d", (struct workunit){.file_delete_state = FILES_READY});
    workunit("e", (struct workunit){.file_delete_state = FILES_DONE,
                                    .assimilate_state = ASSIMILATE_DONE});
    for (int i = 0; i < 4; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "u%d", i);
        result(name, (struct result){.server_state = RESULT_UNSENT});
    }
    for (int i = 0; i < 5; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "p%d", i);
        result(name, (struct result){.server_state = RESULT_IN_PROGRESS});
    }
    result("o", (struct result){.server_state = RESULT_OVER,
                                .file_delete_state = FILES_READY});
    q = queues();
    ck_assert_int_eq(q.wus_need_validate, 1);
    ck_assert_int_eq(q.wus_need_assimilate, 2);
    ck_assert_int_eq(q.wus_need_file_delete, 1);
    ck_assert_int_eq(q.results_unsent, 4);
    ck_assert_int_eq(q.results_in_progress, 5);
    ck_assert_int_eq(q.results_need_file_delete, 1);
    ck_assert_int_eq(q.transition_backlog, 0);
}
END_TEST

START_TEST(the_backlog_is_the_age_of_the_oldest_due_workunit)
{
    dbtest_app(db, "uppercase");
    workunit("later", (struct workunit){.transition_time = NOW + 100});
    ck_assert_int_eq(queues().transition_backlog, 0);
    workunit("old", (struct workunit){.transition_time = NOW - 250});
    workunit("due", (struct workunit){.transition_time = NOW - 10});
    ck_assert_int_eq(queues().transition_backlog, 250);
}
END_TEST

START_TEST(volunteers_are_counted_by_credit_and_age)
{
    struct web_counts c;
    int64_t alice = dbtest_user(db, "alice");

    dbtest_user(db, "bob");
    dbtest_host(db, alice);
    dbtest_exec(db, "UPDATE user SET create_time = 1699999000, "
                    "total_credit = 0, expavg_credit = 0");
    dbtest_exec(db, "UPDATE user SET create_time = 1600000000, "
                    "total_credit = 500, expavg_credit = 300 WHERE id = 1");
    dbtest_exec(db, "UPDATE host SET create_time = 1600000000, "
                    "total_credit = 500, expavg_credit = 0.05");
    ck_assert_int_eq(db_web_counts(db, NOW, &c), 0);
    ck_assert_int_eq(c.users_recent, 1);
    ck_assert_int_eq(c.users_credit, 1);
    ck_assert_int_eq(c.users_day, 1);
    ck_assert_int_eq(c.hosts_recent, 0);
    ck_assert_int_eq(c.hosts_credit, 1);
    ck_assert_int_eq(c.hosts_day, 0);
    /* 200 credits a day are one GFLOPS */
    ck_assert_double_eq_tol(c.gflops, 1.5, 1e-9);
}
END_TEST

START_TEST(applications_show_their_work_of_the_last_day)
{
    struct web_app *app;
    size_t n;

    dbtest_app(db, "uppercase");
    dbtest_app(db, "old");
    dbtest_exec(db, "UPDATE app SET deprecated = 1 WHERE id = 2");
    workunit("w", (struct workunit){.need_validate = false});
    result("u", (struct result){.server_state = RESULT_UNSENT});
    result("p", (struct result){.server_state = RESULT_IN_PROGRESS});
    result("s1", (struct result){.server_state = RESULT_OVER,
                                 .outcome = OUTCOME_SUCCESS,
                                 .userid = 1,
                                 .received_time = NOW - 10,
                                 .elapsed_time = 3600});
    result("s2", (struct result){.server_state = RESULT_OVER,
                                 .outcome = OUTCOME_SUCCESS,
                                 .userid = 2,
                                 .received_time = NOW - 20,
                                 .elapsed_time = 10800});
    result("yesterday", (struct result){.server_state = RESULT_OVER,
                                        .outcome = OUTCOME_SUCCESS,
                                        .userid = 3,
                                        .received_time = NOW - 86400,
                                        .elapsed_time = 36000});
    ck_assert_int_eq(db_web_apps(db, NOW, &app, &n), 0);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(app[0].unsent, 1);
    ck_assert_int_eq(app[0].in_progress, 1);
    ck_assert_double_eq_tol(app[0].avg_hours, 2, 1e-9);
    ck_assert_double_eq_tol(app[0].min_hours, 1, 1e-9);
    ck_assert_double_eq_tol(app[0].max_hours, 3, 1e-9);
    ck_assert_int_eq(app[0].users, 2);
    free(app);
}
END_TEST

/* ---- platforms ------------------------------------------------------------
 */

START_TEST(platforms_are_those_of_versions_in_use)
{
    struct web_platform *p;
    size_t n;
    int64_t linux_id, windows, mac;

    dbtest_app(db, "uppercase");
    linux_id = dbtest_platform(db, "x86_64-pc-linux-gnu");
    windows = dbtest_platform(db, "windows_x86_64");
    mac = dbtest_platform(db, "x86_64-apple-darwin");
    dbtest_app_version(db, 1, linux_id, 100);
    dbtest_app_version(db, 1, linux_id, 101);
    dbtest_app_version(db, 1, windows, 100);
    dbtest_app_version(db, 1, mac, 100);
    dbtest_exec(db, "UPDATE app_version SET plan_class = 'mt' WHERE id = 3");
    dbtest_exec(db, "UPDATE app_version SET deprecated = 1 WHERE id = 4");
    ck_assert_int_eq(db_web_platforms(db, &p, &n), 0);
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(p[0].name, "windows_x86_64");
    ck_assert_str_eq(p[0].plan_class, "mt");
    ck_assert_str_eq(p[1].name, "x86_64-pc-linux-gnu");
    ck_assert_str_eq(p[1].plan_class, "");
    free(p);
}
END_TEST

/* ---- accounts -------------------------------------------------------------
 */

static const struct user alice = {
    .email_addr = "alice@example.org",
    .name = "Alice '\"; --",
    .authenticator = "0123456789abcdef0123456789abcdef",
    .country = "International",
    .cross_project_id = "fedcba9876543210fedcba9876543210",
    .passwd_hash = "$2y$10$stored",
    .show_hosts = true,
    .teamid = 3,
};

START_TEST(an_account_is_stored_and_found)
{
    struct user user;

    ck_assert_int_eq(db_web_user_by_email(db, alice.email_addr, &user),
                     DB_NONE);
    ck_assert_int_eq(db_web_user_create(db, &alice, NULL, NOW), 0);
    ck_assert_int_eq(db_web_user_by_email(db, alice.email_addr, &user), 0);
    ck_assert_int_eq(user.id, 1);
    ck_assert_str_eq(user.name, alice.name);
    ck_assert_str_eq(user.authenticator, alice.authenticator);
    ck_assert_str_eq(user.passwd_hash, alice.passwd_hash);
    ck_assert_int_eq(
        dbtest_i64(db, "SELECT COUNT(*) FROM user WHERE create_time = "
                       "1700000000 AND send_email = 1 AND show_hosts = 1 "
                       "AND teamid = 3 AND total_credit = 0 AND country = "
                       "'International' AND cross_project_id = "
                       "'fedcba9876543210fedcba9876543210'"),
        1);
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM consent"), 0);
}
END_TEST

START_TEST(address_and_name_belong_to_one_account)
{
    struct user same_address = alice, same_name = alice;

    ck_assert_int_eq(db_web_user_create(db, &alice, NULL, NOW), 0);
    str_copy(same_address.name, NAME_SIZE, "Other");
    str_copy(same_address.authenticator, NAME_SIZE, "1");
    str_copy(same_name.email_addr, NAME_SIZE, "other@example.org");
    str_copy(same_name.authenticator, NAME_SIZE, "2");
    ck_assert_int_eq(db_web_user_create(db, &same_address, NULL, NOW),
                     DB_EXISTS);
    ck_assert_int_eq(db_web_user_create(db, &same_name, NULL, NOW), DB_EXISTS);
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM user"), 1);
}
END_TEST

START_TEST(consent_is_recorded_with_the_account)
{
    char *row;

    ck_assert_int_eq(db_web_user_create(db, &alice, "BOINC Manager", NOW), 0);
    row = dbtest_text(db, "SELECT CONCAT_WS(' ', c.userid, t.shortname, "
                          "c.consent_time, c.consent_flag, c.source) FROM "
                          "consent c JOIN consent_type t ON t.id = "
                          "c.consent_type_id");
    ck_assert_str_eq(row, "1 ENROLL 1700000000 1 BOINC Manager");
    free(row);
}
END_TEST

START_TEST(a_former_address_is_taken_too)
{
    ck_assert_int_eq(db_web_user_create(db, &alice, NULL, NOW), 0);
    dbtest_exec(db, "UPDATE user SET previous_email_addr = "
                    "'former@example.org'");
    ck_assert_int_eq(db_web_email_taken(db, "alice@example.org"), 0);
    ck_assert_int_eq(db_web_email_taken(db, "former@example.org"), 0);
    ck_assert_int_eq(db_web_email_taken(db, "free@example.org"), DB_NONE);
    ck_assert_int_eq(db_web_email_taken(db, "' OR 1 -- "), DB_NONE);
}
END_TEST

START_TEST(only_an_open_team_can_be_joined)
{
    int64_t id;

    dbtest_exec(db, "INSERT INTO team (create_time, userid, name, type, "
                    "nusers, expavg_time, joinable) VALUES "
                    "(1, 1, 'Open', 1, 0, 0, 1), (1, 1, 'Closed', 1, 0, 0, 0)");
    ck_assert_int_eq(db_web_open_team(db, "Open", &id), 0);
    ck_assert_int_eq(id, 1);
    ck_assert_int_eq(db_web_open_team(db, "Closed", &id), DB_NONE);
    ck_assert_int_eq(db_web_open_team(db, "None", &id), DB_NONE);
}
END_TEST

/* ---- xadd, update_versions ------------------------------------------------
 */

static const struct db_app_column *
column(const char *name)
{
    for (size_t i = 0; i < n_db_app_columns; i++)
        if (strcmp(db_app_columns[i].name, name) == 0)
            return &db_app_columns[i];
    ck_abort_msg("no column %s", name);
}

START_TEST(a_platform_is_added_once_and_renamed)
{
    enum db_put put;

    ck_assert_int_eq(db_platform_put(db, "p", "One", NOW, &put), 0);
    ck_assert_int_eq(put, DB_PUT_ADDED);
    ck_assert_int_eq(db_platform_put(db, "p", "One", NOW, &put), 0);
    ck_assert_int_eq(put, DB_PUT_SAME);
    ck_assert_int_eq(db_platform_put(db, "p", "one", NOW, &put), 0);
    ck_assert_int_eq(put, DB_PUT_CHANGED);
    ck_assert_int_eq(dbtest_i64(db,
                                "SELECT COUNT(*) FROM platform WHERE BINARY "
                                "user_friendly_name = 'one' AND create_time = "
                                "1700000000"),
                     1);
}
END_TEST

START_TEST(an_application_gets_every_given_column)
{
    struct db_app_value value[] = {
        {column("user_friendly_name"), "Demo", 0  },
        {column("min_version"),        NULL,   107},
        {column("weight"),             NULL,   2.5},
        {column("beta"),               NULL,   1  },
    };
    struct app app;
    enum db_put put;

    ck_assert_int_eq(db_app_put(db, "demo", value, 4, NOW, &put), 0);
    ck_assert_int_eq(put, DB_PUT_ADDED);
    ck_assert_int_eq(db_app_by_name(db, "demo", &app), 0);
    ck_assert_str_eq(app.user_friendly_name, "Demo");
    ck_assert_int_eq(app.min_version, 107);
    ck_assert_double_eq(app.weight, 2.5);
    ck_assert(app.beta && !app.deprecated);

    ck_assert_int_eq(db_app_put(db, "demo", value, 4, NOW, &put), 0);
    ck_assert_int_eq(put, DB_PUT_SAME);
    value[1].number = 108;
    ck_assert_int_eq(db_app_put(db, "demo", value, 2, NOW, &put), 0);
    ck_assert_int_eq(put, DB_PUT_CHANGED);
    ck_assert_int_eq(db_app_by_name(db, "demo", &app), 0);
    ck_assert_int_eq(app.min_version, 108);
    ck_assert_double_eq(app.weight, 2.5); /* not given: not changed */
}
END_TEST

START_TEST(a_version_is_added_once)
{
    static char doc[] = "<app_version>\n</app_version>\n";
    struct app_version av = {.appid = 1,
                             .platformid = 2,
                             .version_num = 107,
                             .xml_doc = doc,
                             .beta = true};
    int64_t id, found;

    str_copy(av.plan_class, sizeof(av.plan_class), "mt");
    ck_assert_int_eq(db_app_version_find(db, &av, &found), DB_NONE);
    ck_assert_int_eq(db_app_version_add(db, &av, NOW, &id), 0);
    ck_assert_int_eq(db_app_version_find(db, &av, &found), 0);
    ck_assert_int_eq(found, id);
    ck_assert_int_eq(db_app_version_add(db, &av, NOW, &id), DB_EXISTS);
    av.plan_class[0] = '\0';
    ck_assert_int_eq(db_app_version_find(db, &av, &found), DB_NONE);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("db_web");
    TCase *tc = tcase_create("web");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, an_empty_project_has_empty_queues);
    tcase_add_test(tc, each_queue_counts_its_own);
    tcase_add_test(tc, the_backlog_is_the_age_of_the_oldest_due_workunit);
    tcase_add_test(tc, volunteers_are_counted_by_credit_and_age);
    tcase_add_test(tc, applications_show_their_work_of_the_last_day);
    tcase_add_test(tc, platforms_are_those_of_versions_in_use);
    tcase_add_test(tc, an_account_is_stored_and_found);
    tcase_add_test(tc, address_and_name_belong_to_one_account);
    tcase_add_test(tc, consent_is_recorded_with_the_account);
    tcase_add_test(tc, a_former_address_is_taken_too);
    tcase_add_test(tc, only_an_open_team_can_be_joined);
    tcase_add_test(tc, a_platform_is_added_once_and_renamed);
    tcase_add_test(tc, an_application_gets_every_given_column);
    tcase_add_test(tc, a_version_is_added_once);
    suite_add_tcase(s, tc);
    return dbtest_run(s);
}
