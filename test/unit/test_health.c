/* test_health.c - heartbeats are written, read, and not written too often. */
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "health.h"
#include "unit_test.h"

#define NOW 1700000000

static struct health mine, seen;

static void
setup(void)
{
    clock_set(NOW);
    health_open(&mine, scratch("feeder.health"));
}

static void
look(void)
{
    ck_assert_int_eq(health_read(scratch("feeder.health"), &seen), 0);
}

START_TEST(a_started_program_shows_at_once)
{
    look();
    ck_assert_int_eq(seen.pid, getpid());
    ck_assert_int_eq(seen.started, NOW);
    ck_assert_int_eq(seen.passes, 0);
    ck_assert_str_eq(seen.state, "running");
}
END_TEST

START_TEST(passes_are_counted)
{
    clock_set(NOW + 5);
    health_beat(&mine, 3, "running");
    clock_set(NOW + 10);
    health_beat(&mine, 0, "running");
    clock_set(NOW + 15);
    health_beat(&mine, -1, "database-lost");
    look();
    ck_assert_int_eq(seen.started, NOW);
    ck_assert_int_eq(seen.last_pass, NOW + 15);
    ck_assert_int_eq(seen.passes, 3);
    ck_assert_int_eq(seen.handled, 3);
    ck_assert_int_eq(seen.errors, 1);
    ck_assert_str_eq(seen.state, "database-lost");
}
END_TEST

START_TEST(the_file_is_that_of_the_contract)
{
    struct buf got = BUF_INIT, want = BUF_INIT;

    clock_set(NOW + 1);
    health_beat(&mine, 12, "idle");
    ck_assert_int_eq(file_read(scratch("feeder.health"), 1000, &got), 0);
    buf_addf(&want,
             "pid %d\nstarted 1700000000\nlast_pass 1700000001\npasses 1\n"
             "handled 12\nerrors 0\nstate idle\n",
             (int)getpid());
    ck_assert_str_eq(buf_str(&got), buf_str(&want));
    buf_free(&got);
    buf_free(&want);
}
END_TEST

START_TEST(in_one_second_only_a_new_state_is_written)
{
    health_beat(&mine, 1, "running");
    look();
    ck_assert_int_eq(seen.passes, 0);
    health_beat(&mine, 1, "idle");
    look();
    ck_assert_int_eq(seen.passes, 2);
    health_beat(&mine, 1, "idle");
    look();
    ck_assert_int_eq(seen.passes, 2);
    clock_set(NOW + 1);
    health_beat(&mine, 1, "idle");
    look();
    ck_assert_int_eq(seen.passes, 4);
}
END_TEST

START_TEST(an_ended_program_leaves_nothing)
{
    health_close(&mine);
    ck_assert_int_eq(health_read(scratch("feeder.health"), &seen), -1);
}
END_TEST

START_TEST(no_path_means_no_file)
{
    struct health h;

    ck_assert_int_eq(chdir(unit_folder), 0);
    health_open(&h, "");
    health_beat(&h, 1, "idle");
    ck_assert_int_eq(h.handled, 1);
    health_close(&h);
}
END_TEST

START_TEST(what_is_no_heartbeat_is_refused)
{
    ck_assert_int_eq(file_write(scratch("x"), "state idle\n\n\n", 13, 0600), 0);
    ck_assert_int_eq(health_read(scratch("x"), &seen), -1);
    ck_assert_int_eq(file_write(scratch("x"), "", 0, 0600), 0);
    ck_assert_int_eq(health_read(scratch("x"), &seen), -1);
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, a_started_program_shows_at_once);
    tcase_add_test(tc, passes_are_counted);
    tcase_add_test(tc, the_file_is_that_of_the_contract);
    tcase_add_test(tc, in_one_second_only_a_new_state_is_written);
    tcase_add_test(tc, an_ended_program_leaves_nothing);
    tcase_add_test(tc, no_path_means_no_file);
    tcase_add_test(tc, what_is_no_heartbeat_is_refused);
}

int
main(void)
{
    return unit_main("health", add_tests);
}
