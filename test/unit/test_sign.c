/* test_sign.c - keys and signatures against the vectors of test/data. */
#include <string.h>

#include "buf.h"
#include "sign.h"
#include "unit_test.h"

#define KEYS TEST_DATA "/keys/"
#define SIGN TEST_DATA "/sign/"

static struct buf err = BUF_INIT;

static struct sign_key *
key(const char *path)
{
    struct sign_key *k = sign_key_read(path, &err);

    ck_assert_msg(k != NULL, "%s", buf_str(&err));
    return k;
}

static void
read_file(const char *path, struct buf *out)
{
    buf_reset(out);
    ck_assert_int_eq(file_read(path, 100000, out), 0);
}

/* protocol §5.2: all made by the reference tool. */
static const struct {
    const char *key, *data, *sig;
    size_t cut; /* bytes at the data's end that are not signed */
} vectors[] = {
    {KEYS "code_sign", SIGN "sample.bin",           SIGN "sample.bin.sig",      0},
    {KEYS "upload",    SIGN "upload_cert.txt",      SIGN "upload_cert.sig",     0},
    {KEYS "code_sign", KEYS "code_sign_new_public", SIGN "newkey_stripped.sig",
     1                                                                           },
    {KEYS "code_sign", KEYS "code_sign_new_public", SIGN "newkey_file.sig",     0},
};

static struct sign_key *
half(const char *name, const char *which)
{
    struct buf path = BUF_INIT;
    struct sign_key *k;

    buf_addf(&path, "%s_%s", name, which);
    k = key(buf_str(&path));
    buf_free(&path);
    return k;
}

START_TEST(signatures_are_those_of_the_reference)
{
    struct sign_key *k = half(vectors[_i].key, "private");
    struct buf data = BUF_INIT, want = BUF_INIT, got = BUF_INIT;

    read_file(vectors[_i].data, &data);
    read_file(vectors[_i].sig, &want);
    ck_assert_int_eq(sign_data(k, data.data, data.len - vectors[_i].cut, &got),
                     0);
    ck_assert_str_eq(buf_str(&got), buf_str(&want));
    sign_key_free(k);
    buf_free(&data);
    buf_free(&want);
    buf_free(&got);
}
END_TEST

START_TEST(signatures_of_the_reference_are_valid)
{
    struct sign_key *k = half(vectors[_i].key, "public");
    struct buf data = BUF_INIT, sig = BUF_INIT;

    read_file(vectors[_i].data, &data);
    read_file(vectors[_i].sig, &sig);
    buf_truncate(&data, data.len - vectors[_i].cut);
    ck_assert(sign_verify(k, data.data, data.len, buf_str(&sig)));
    data.data[0] ^= 1;
    ck_assert(!sign_verify(k, data.data, data.len, buf_str(&sig)));
    sign_key_free(k);
    buf_free(&data);
    buf_free(&sig);
}
END_TEST

START_TEST(one_changed_digit_makes_a_signature_invalid)
{
    struct sign_key *k = key(KEYS "code_sign_public");
    struct buf data = BUF_INIT, sig = BUF_INIT;

    read_file(SIGN "sample.bin", &data);
    read_file(SIGN "sample.bin.sig", &sig);
    for (size_t i = 0; i < sig.len; i++) {
        char was = sig.data[i];

        if (was == '\n' || was == '.')
            continue;
        sig.data[i] = was == '0' ? '1' : '0';
        ck_assert(!sign_verify(k, data.data, data.len, buf_str(&sig)));
        sig.data[i] = was;
    }
    sign_key_free(k);
    buf_free(&data);
    buf_free(&sig);
}
END_TEST

START_TEST(blanks_around_a_signature_and_capitals_do_no_harm)
{
    struct sign_key *k = key(KEYS "code_sign_public");
    struct buf data = BUF_INIT, sig = BUF_INIT, odd = BUF_INIT;

    read_file(SIGN "sample.bin", &data);
    read_file(SIGN "sample.bin.sig", &sig);
    buf_add(&odd, "\n   ");
    for (size_t i = 0; i < sig.len; i++) {
        char c = sig.data[i];

        if (c == '\n')
            buf_add(&odd, "\r\n   ");
        else
            buf_addc(&odd, c >= 'a' && c <= 'f' ? (char)(c - 'a' + 'A') : c);
    }
    ck_assert(sign_verify(k, data.data, data.len, buf_str(&odd)));
    sign_key_free(k);
    buf_free(&data);
    buf_free(&sig);
    buf_free(&odd);
}
END_TEST

START_TEST(what_is_no_signature_is_invalid)
{
    static const char *const blocks[] = {
        "", ".", "\n.\n", "00", "xyz\n.\n", "0123456789abcdef\n.\n"};
    struct sign_key *k = key(KEYS "code_sign_public");
    struct buf sig = BUF_INIT;

    for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
        ck_assert(!sign_verify(k, "x", 1, blocks[i]));
    read_file(SIGN "sample.bin.sig", &sig);
    ck_assert(
        sign_verify_md5(k, "b6f9b35a699bbccccb6c879a4a908378", buf_str(&sig)));
    ck_assert(!sign_verify_md5(k, "b6f9b35a", buf_str(&sig)));
    ck_assert(!sign_verify_md5(k, "", buf_str(&sig)));
    buf_truncate(&sig, sig.len - 2); /* the "." is missing */
    ck_assert(
        !sign_verify_md5(k, "b6f9b35a699bbccccb6c879a4a908378", buf_str(&sig)));
    buf_add(&sig, "00\n.\n"); /* a byte too long */
    ck_assert(
        !sign_verify_md5(k, "b6f9b35a699bbccccb6c879a4a908378", buf_str(&sig)));
    sign_key_free(k);
    buf_free(&sig);
}
END_TEST

START_TEST(another_key_does_not_verify)
{
    struct sign_key *k = key(KEYS "upload_public");
    struct buf sig = BUF_INIT;

    read_file(SIGN "sample.bin.sig", &sig);
    ck_assert(
        !sign_verify_md5(k, "b6f9b35a699bbccccb6c879a4a908378", buf_str(&sig)));
    sign_key_free(k);
    buf_free(&sig);
}
END_TEST

START_TEST(a_public_key_cannot_sign)
{
    struct sign_key *k = key(KEYS "upload_public");
    struct buf sig = BUF_INIT;

    ck_assert_int_eq(sign_data(k, "x", 1, &sig), -1);
    ck_assert_uint_eq(sig.len, 0);
    sign_key_free(k);
}
END_TEST

/* protocol §5.1: sizes of the files, and every number in its field. */
START_TEST(a_new_pair_has_the_form_of_the_protocol_and_works)
{
    struct buf secret = BUF_INIT, open = BUF_INIT, sig = BUF_INIT;
    struct sign_key *a, *b;

    ck_assert_int_eq(sign_key_make(&secret, &open), 0);
    ck_assert_uint_eq(secret.len, 1437);
    ck_assert_uint_eq(open.len, 527);
    ck_assert_int_eq(strncmp(buf_str(&open), "1024\n", 5), 0);
    ck_assert_str_eq(buf_str(&open) + 525, ".\n");
    ck_assert_mem_eq(buf_str(&secret), buf_str(&open), 525);
    a = sign_key_parse(buf_str(&secret), true, &err);
    b = sign_key_parse(buf_str(&open), false, &err);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    ck_assert_int_eq(sign_data(a, "data", 4, &sig), 0);
    ck_assert_uint_eq(sig.len, 262);
    ck_assert(sign_verify(b, "data", 4, buf_str(&sig)));
    sign_key_free(a);
    sign_key_free(b);
    buf_free(&secret);
    buf_free(&open);
    buf_free(&sig);
}
END_TEST

static void
refused(const char *text, bool private_key, const char *because)
{
    buf_reset(&err);
    ck_assert_ptr_null(sign_key_parse(text, private_key, &err));
    ck_assert_msg(strstr(buf_str(&err), because) != NULL,
                  "\"%s\" does not say \"%s\"", buf_str(&err), because);
}

START_TEST(bad_keys_are_refused_with_a_reason)
{
    struct buf secret = BUF_INIT, open = BUF_INIT, other = BUF_INIT;

    read_file(KEYS "code_sign_private", &secret);
    read_file(KEYS "code_sign_public", &open);
    refused("", false, "1024");
    refused("2048\n", false, "1024");
    refused("1024\n.\n", false, "hex digits");
    refused(buf_str(&open), true, "a public key");
    refused(buf_str(&secret), false, "a private key");
    /* The modulus of another key: it begins behind "1024\n", 4 lines of 65. */
    read_file(KEYS "upload_public", &other);
    memcpy(secret.data + 5, other.data + 5, 260);
    refused(buf_str(&secret), true, "do not belong together");
    open.data[100] = ' ';
    refused(buf_str(&open), false, "hex digits");
    buf_free(&secret);
    buf_free(&open);
    buf_free(&other);
}
END_TEST

START_TEST(a_missing_key_names_its_file)
{
    buf_reset(&err);
    ck_assert_ptr_null(sign_key_read(scratch("none"), &err));
    ck_assert_ptr_nonnull(strstr(buf_str(&err), "none: No such file"));
    sign_key_free(NULL);
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_loop_test(tc, signatures_are_those_of_the_reference, 0,
                        ARRAY_LEN(vectors));
    tcase_add_loop_test(tc, signatures_of_the_reference_are_valid, 0,
                        ARRAY_LEN(vectors));
    tcase_add_test(tc, one_changed_digit_makes_a_signature_invalid);
    tcase_add_test(tc, blanks_around_a_signature_and_capitals_do_no_harm);
    tcase_add_test(tc, what_is_no_signature_is_invalid);
    tcase_add_test(tc, another_key_does_not_verify);
    tcase_add_test(tc, a_public_key_cannot_sign);
    tcase_add_test(tc, a_new_pair_has_the_form_of_the_protocol_and_works);
    tcase_add_test(tc, bad_keys_are_refused_with_a_reason);
    tcase_add_test(tc, a_missing_key_names_its_file);
}

int
main(void)
{
    return unit_main("sign", add_tests);
}
