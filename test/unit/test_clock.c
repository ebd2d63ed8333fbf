/* test_clock.c - time that tests can set and shift. */
#include <math.h>
#include <time.h>

#include "clock.h"
#include "unit_test.h"

/* In the child of each test the offset has not been read yet. */
START_TEST(without_orders_it_is_now)
{
    int64_t before = time(NULL);
    int64_t now = clock_now();

    ck_assert_int_ge(now, before);
    ck_assert_int_le(now, time(NULL));
    ck_assert_double_lt(fabs(clock_now_fine() - (double)now), 2.0);
}
END_TEST

START_TEST(a_set_clock_stands_still_until_released)
{
    clock_set(1000);
    ck_assert_int_eq(clock_now(), 1000);
    ck_assert_double_eq(clock_now_fine(), 1000.0);
    clock_set(0);
    ck_assert_int_ge(clock_now(), 1700000000);
}
END_TEST

START_TEST(the_environment_moves_the_clock)
{
    int64_t real;

    setenv("QUORATE_CLOCK_OFFSET", "-86400", 1);
    real = time(NULL);
    ck_assert_int_ge(clock_now(), real - 86400);
    ck_assert_int_le(clock_now(), time(NULL) - 86400);
    ck_assert_double_lt(clock_now_fine(), (double)real - 86000.0);
}
END_TEST

START_TEST(monotonic_time_ignores_all_that)
{
    uint32_t before = clock_monotonic();

    clock_set(5);
    ck_assert_uint_ge(clock_monotonic(), before);
    ck_assert_uint_le(clock_monotonic(), before + 5);
}
END_TEST

START_TEST(a_sleep_is_about_as_long_as_told)
{
    double before = clock_now_fine();

    clock_sleep(0.05);
    clock_sleep(0);
    clock_sleep(-1);
    clock_sleep((double)NAN);
    ck_assert_double_ge(clock_now_fine() - before, 0.049);
    ck_assert_double_lt(clock_now_fine() - before, 5.0);
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_test(tc, without_orders_it_is_now);
    tcase_add_test(tc, a_set_clock_stands_still_until_released);
    tcase_add_test(tc, the_environment_moves_the_clock);
    tcase_add_test(tc, monotonic_time_ignores_all_that);
    tcase_add_test(tc, a_sleep_is_about_as_long_as_told);
}

int
main(void)
{
    return unit_main("clock", add_tests);
}
