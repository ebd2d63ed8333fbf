/* test_digest.c - digests, random numbers, passwords. */
#include <errno.h>
#include <string.h>

#include "buf.h"
#include "digest.h"
#include "unit_test.h"

/* RFC 1321, appendix A.5. */
static const struct {
    const char *text, *md5;
} md5s[] = {
    {"",               "d41d8cd98f00b204e9800998ecf8427e"},
    {"a",              "0cc175b9c0f1b6a831c399e269772661"},
    {"abc",            "900150983cd24fb0d6963f7d28e17f72"},
    {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
};

START_TEST(md5_is_that_of_the_rfc)
{
    char got[MD5_HEX];
    struct digest *d = digest_new_md5();

    digest_md5(md5s[_i].text, strlen(md5s[_i].text), got);
    ck_assert_str_eq(got, md5s[_i].md5);
    for (const char *p = md5s[_i].text; *p != '\0'; p++)
        digest_add(d, p, 1);
    digest_hex(d, got);
    ck_assert_str_eq(got, md5s[_i].md5);
}
END_TEST

/* FIPS 180-2, appendix B.1. */
START_TEST(sha256_is_that_of_the_standard)
{
    char got[SHA256_HEX];

    digest_sha256("abc", 3, got);
    ck_assert_str_eq(got, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410"
                          "ff61f20015ad");
}
END_TEST

#define EMAIL "alice@example.org"
#define KEY "0123456789abcdef0123456789abcdef"
#define PASSWD_HASH "c0359938626070c0538afe1ed09a3d3c"

/* test/data/accounts.json */
START_TEST(the_hashes_of_accounts_are_those_of_the_vectors)
{
    char got[MD5_HEX];

    digest_md5_of(got, "secret7", EMAIL, NULL);
    ck_assert_str_eq(got, PASSWD_HASH);
    digest_md5_of(got, KEY, PASSWD_HASH, NULL);
    ck_assert_str_eq(got, "c6fc14b7dd7c5433bf2c4e863fa0066b");
    digest_md5_of(got, KEY, PASSWD_HASH, "notify_rss", NULL);
    ck_assert_str_eq(got, "ab6a736376e366d743908174e762f0bc");
    digest_md5_of(got, KEY, EMAIL, NULL);
    ck_assert_str_eq(got, "9779976f6e43f51bfc1eacf95980ffd1");
    digest_md5_of(got, "fedcba9876543210fedcba9876543210", EMAIL, NULL);
    ck_assert_str_eq(got, "80202324a6b2fed07886fc22994e9a56");
    digest_md5_of(got, EMAIL, NULL);
    ck_assert_str_eq(got, "fbf7c6aec1d4280b7c2704c1c0478bd6");
    digest_md5_of(got, "00112233445566778899aabbccddeeff", EMAIL, NULL);
    ck_assert_str_eq(got, "a9e1602d163470725a9ea8ac917f0379");
    digest_md5_of(got, KEY, "12", NULL);
    ck_assert_str_eq(got, "1a9a63c8e2f417130c87e945482ff02c");
}
END_TEST

START_TEST(a_files_digest_comes_with_its_size)
{
    char got[MD5_HEX];
    int64_t size = -1;

    ck_assert_int_eq(digest_md5_file(TEST_DATA "/sign/sample.bin", got, &size),
                     0);
    ck_assert_str_eq(got, "b6f9b35a699bbccccb6c879a4a908378");
    ck_assert_int_eq(size, 18);
    ck_assert_int_eq(digest_md5_file(TEST_DATA "/sign/sample.bin", got, NULL),
                     0);
    ck_assert_int_eq(digest_md5_file(scratch("none"), got, &size), -1);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_int_eq(digest_md5_file(unit_folder, got, &size), -1);
    ck_assert_int_eq(errno, EISDIR);
}
END_TEST

START_TEST(secrets_are_the_same_or_not)
{
    ck_assert(digest_same("", ""));
    ck_assert(digest_same("abc", "abc"));
    ck_assert(!digest_same("abc", "abd"));
    ck_assert(!digest_same("abc", "ab"));
    ck_assert(!digest_same("ab", "abc"));
}
END_TEST

START_TEST(random_numbers_stay_in_range_and_differ)
{
    char a[33], b[33];
    unsigned seen = 0;

    for (int i = 0; i < 1000; i++) {
        uint64_t x = random_below(3);

        ck_assert_uint_lt(x, 3);
        seen |= 1U << x;
        ck_assert_uint_le(random_u31(), 0x7fffffffU);
    }
    ck_assert_uint_eq(seen, 7); /* misses one in 10^176 runs */
    ck_assert_uint_eq(random_below(1), 0);
    random_hex(a, 32);
    random_hex(b, 32);
    ck_assert_uint_eq(strlen(a), 32);
    ck_assert_uint_eq(strspn(a, "0123456789abcdef"), 32);
    ck_assert_str_ne(a, b);
    random_hex(a, 5);
    ck_assert_uint_eq(strlen(a), 5);
}
END_TEST

START_TEST(a_password_is_verified_against_its_hash)
{
    char stored[128], again[128];

    ck_assert_int_eq(password_hash(PASSWD_HASH, stored), 0);
    ck_assert_int_eq(strncmp(stored, "$2y$", 4), 0);
    ck_assert_uint_eq(strlen(stored), 60);
    ck_assert(password_verify(PASSWD_HASH, stored));
    ck_assert(!password_verify("d0359938626070c0538afe1ed09a3d3c", stored));
    ck_assert_int_eq(password_hash(PASSWD_HASH, again), 0);
    ck_assert_str_ne(stored, again); /* each has its own salt */
}
END_TEST

/* "U*U" with all-C salt: a known vector of crypt_blowfish's author. */
START_TEST(bcrypt_of_other_programs_is_verified)
{
    ck_assert(password_verify(
        "U*U", "$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"));
    ck_assert(!password_verify(
        "U*V", "$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"));
}
END_TEST

START_TEST(the_old_plain_form_is_verified)
{
    ck_assert(password_verify(PASSWD_HASH, PASSWD_HASH));
    ck_assert(
        !password_verify("d0359938626070c0538afe1ed09a3d3c", PASSWD_HASH));
}
END_TEST

START_TEST(broken_stored_values_verify_nothing)
{
    ck_assert(!password_verify("", ""));
    ck_assert(!password_verify("x", "x"));
    ck_assert(!password_verify(PASSWD_HASH, "$2y$"));
    ck_assert(!password_verify(PASSWD_HASH, "$2y$10$short"));
    ck_assert(!password_verify("*0", "$2y$99$"));
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_loop_test(tc, md5_is_that_of_the_rfc, 0, ARRAY_LEN(md5s));
    tcase_add_test(tc, sha256_is_that_of_the_standard);
    tcase_add_test(tc, the_hashes_of_accounts_are_those_of_the_vectors);
    tcase_add_test(tc, a_files_digest_comes_with_its_size);
    tcase_add_test(tc, secrets_are_the_same_or_not);
    tcase_add_test(tc, random_numbers_stay_in_range_and_differ);
    tcase_add_test(tc, a_password_is_verified_against_its_hash);
    tcase_add_test(tc, bcrypt_of_other_programs_is_verified);
    tcase_add_test(tc, the_old_plain_form_is_verified);
    tcase_add_test(tc, broken_stored_values_verify_nothing);
}

int
main(void)
{
    return unit_main("digest", add_tests);
}
