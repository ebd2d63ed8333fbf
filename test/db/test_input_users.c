/* test_input_users.c - no user of an input file is ever missing. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "buf.h"
#include "input_users.h"

static struct input_users *users;

static void
make(void)
{
    users = input_users_new();
}

static void
drop(void)
{
    input_users_free(users);
}

START_TEST(a_file_nobody_names_has_no_users)
{
    int64_t id[4];

    ck_assert_uint_eq(input_users_of(users, "a", id, 4), 0);
    input_users_forget(users, "a", 1);
    ck_assert_uint_eq(input_users_files(users), 0);
}
END_TEST

START_TEST(the_latest_users_come_first)
{
    int64_t id[3];

    for (int64_t wu = 1; wu <= 6; wu++)
        input_users_add(users, "a", wu);
    ck_assert_uint_eq(input_users_of(users, "a", id, 3), 3);
    ck_assert_int_eq(id[0], 6);
    ck_assert_int_eq(id[2], 4);
    ck_assert_uint_eq(input_users_files(users), 1);
}
END_TEST

START_TEST(forgetting_leaves_the_others)
{
    int64_t id[4];

    for (int64_t wu = 1; wu <= 3; wu++)
        input_users_add(users, "a", wu);
    input_users_forget(users, "a", 2);
    input_users_forget(users, "a", 99); /* never told */
    ck_assert_uint_eq(input_users_of(users, "a", id, 4), 2);
    ck_assert_int_eq(id[0], 3);
    ck_assert_int_eq(id[1], 1);
    input_users_forget(users, "a", 3);
    input_users_forget(users, "a", 1);
    ck_assert_uint_eq(input_users_of(users, "a", id, 4), 0);
    ck_assert_uint_eq(input_users_files(users), 0);
    input_users_add(users, "a", 7);
    ck_assert_uint_eq(input_users_of(users, "a", id, 4), 1);
    ck_assert_int_eq(id[0], 7);
}
END_TEST

START_TEST(a_workunit_that_names_it_twice_is_one_user)
{
    int64_t id[4];

    input_users_add(users, "a", 5);
    input_users_add(users, "a", 5);
    ck_assert_uint_eq(input_users_of(users, "a", id, 4), 1);
}
END_TEST

/* Many files, of which most go again: what is left is found, and the table
 * does not grow for those that have gone. */
START_TEST(it_grows)
{
    enum { FILES = 20000 };
    int64_t id[4];
    char name[32];

    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof(name), "in_%d", i);
        input_users_add(users, name, i);
        if (i % 3 == 0)
            input_users_add(users, name, i + FILES);
        if (i % 7 != 0)
            input_users_forget(users, name, i);
    }
    for (int i = 0; i < FILES; i++) {
        size_t expected = (size_t)(i % 3 == 0) + (size_t)(i % 7 == 0);

        snprintf(name, sizeof(name), "in_%d", i);
        ck_assert_uint_eq(input_users_of(users, name, id, 4), expected);
        if (expected > 0)
            ck_assert_int_eq(id[0], i % 3 == 0 ? i + FILES : i);
    }
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("input_users");
    TCase *tc = tcase_create("input_users");
    SRunner *runner;
    int failures;

    tcase_add_checked_fixture(tc, make, drop);
    tcase_add_test(tc, a_file_nobody_names_has_no_users);
    tcase_add_test(tc, the_latest_users_come_first);
    tcase_add_test(tc, forgetting_leaves_the_others);
    tcase_add_test(tc, a_workunit_that_names_it_twice_is_one_user);
    tcase_add_test(tc, it_grows);
    suite_add_tcase(s, tc);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
