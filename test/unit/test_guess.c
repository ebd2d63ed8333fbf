/* test_guess.c - those who guess passwords get nowhere, others are not
 * disturbed. */
#include "unit_test.h"

#include "guess.h"

#define NOW 100000u

static void
wrong(int times, const char *email, const char *address, uint32_t now)
{
    for (int i = 0; i < times; i++)
        guess_failed(email, address, now);
}

START_TEST(a_few_wrong_passwords_are_human)
{
    wrong(9, "alice@example.org", "192.0.2.1", NOW);
    ck_assert(!guess_is_excessive("alice@example.org", "192.0.2.1", NOW));
}
END_TEST

START_TEST(ten_in_a_minute_for_one_account_are_too_many)
{
    wrong(10, "alice@example.org", "192.0.2.1", NOW);
    ck_assert(guess_is_excessive("alice@example.org", "192.0.2.1", NOW + 59));
}
END_TEST

START_TEST(another_address_does_not_help)
{
    wrong(10, "alice@example.org", "192.0.2.1", NOW);
    ck_assert(guess_is_excessive("alice@example.org", "198.51.100.7", NOW));
}
END_TEST

START_TEST(others_are_not_disturbed)
{
    wrong(1000, "alice@example.org", "192.0.2.1", NOW);
    ck_assert(!guess_is_excessive("bob@example.org", "198.51.100.7", NOW));
}
END_TEST

START_TEST(one_place_may_not_try_many_accounts)
{
    char email[32];

    for (int i = 0; i < 30; i++) {
        (void)snprintf(email, sizeof(email), "user%d@example.org", i);
        guess_failed(email, "192.0.2.1", NOW);
    }
    ck_assert(guess_is_excessive("carol@example.org", "192.0.2.1", NOW));
}
END_TEST

START_TEST(after_a_minute_all_is_forgotten)
{
    wrong(100, "alice@example.org", "192.0.2.1", NOW);
    ck_assert(!guess_is_excessive("alice@example.org", "192.0.2.1", NOW + 60));
    wrong(9, "alice@example.org", "192.0.2.1", NOW + 61);
    ck_assert(!guess_is_excessive("alice@example.org", "192.0.2.1", NOW + 61));
}
END_TEST

static void
add_tests(TCase *tc)
{
    /* each in its own process: the table starts empty */
    tcase_add_test(tc, a_few_wrong_passwords_are_human);
    tcase_add_test(tc, ten_in_a_minute_for_one_account_are_too_many);
    tcase_add_test(tc, another_address_does_not_help);
    tcase_add_test(tc, others_are_not_disturbed);
    tcase_add_test(tc, one_place_may_not_try_many_accounts);
    tcase_add_test(tc, after_a_minute_all_is_forgotten);
}

int
main(void)
{
    return unit_main("guess", add_tests);
}
