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

/* RFC 8032, 7.1: tests 1 to 3. */
static const struct {
    const char *secret, *public_half, *data;
    size_t n;
    const char *sig[2];
} ed25519_vectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     0, {"e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155",
      "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"}},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "\x72",
     1, {"92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da",
      "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"}},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "\xaf\x82",
     2, {"6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac",
      "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"}},
};

static struct sign_key *
ed25519_key(const char *public_half, const char *secret)
{
    struct buf text = BUF_INIT;
    struct sign_key *k;

    buf_addf(&text, "ed25519\n%s\n", public_half);
    if (secret != NULL)
        buf_addf(&text, "%s\n", secret);
    buf_add(&text, ".\n");
    k = sign_key_parse(buf_str(&text), secret != NULL, &err);
    ck_assert_msg(k != NULL, "%s", buf_str(&err));
    buf_free(&text);
    return k;
}

START_TEST(ed25519_signatures_are_those_of_the_rfc)
{
    const char *data = ed25519_vectors[_i].data;
    size_t n = ed25519_vectors[_i].n;
    struct sign_key *secret = ed25519_key(ed25519_vectors[_i].public_half,
                                          ed25519_vectors[_i].secret);
    struct sign_key *open = ed25519_key(ed25519_vectors[_i].public_half, NULL);
    struct buf want = BUF_INIT, got = BUF_INIT;

    buf_addf(&want, "%s\n%s\n.\n", ed25519_vectors[_i].sig[0],
             ed25519_vectors[_i].sig[1]);
    ck_assert_int_eq(sign_data(secret, data, n, &got), 0);
    ck_assert_str_eq(buf_str(&got), buf_str(&want));
    ck_assert(sign_verify(open, data, n, buf_str(&got)));
    ck_assert(!sign_verify(open, "other", 5, buf_str(&got)));
    for (size_t i = 0; i < got.len; i++) {
        char was = got.data[i];

        if (was == '\n' || was == '.')
            continue;
        got.data[i] = was == '0' ? '1' : '0';
        ck_assert(!sign_verify(open, data, n, buf_str(&got)));
        got.data[i] = was;
    }
    sign_key_free(secret);
    sign_key_free(open);
    buf_free(&want);
    buf_free(&got);
}
END_TEST

/* What one kind has signed, the other never takes. */
START_TEST(kinds_of_keys_do_not_mix)
{
    struct sign_key *rsa = key(KEYS "upload_private");
    struct sign_key *ed = key(KEYS "upload_ed25519_private");
    struct buf by_rsa = BUF_INIT, by_ed = BUF_INIT;

    ck_assert_int_eq(sign_data(rsa, "x", 1, &by_rsa), 0);
    ck_assert_int_eq(sign_data(ed, "x", 1, &by_ed), 0);
    ck_assert(sign_is_ed25519(buf_str(&by_ed)));
    ck_assert(!sign_is_ed25519(buf_str(&by_rsa)));
    ck_assert(!sign_is_ed25519(""));
    ck_assert(!sign_verify(rsa, "x", 1, buf_str(&by_ed)));
    ck_assert(!sign_verify(ed, "x", 1, buf_str(&by_rsa)));
    ck_assert(!sign_verify(ed, "x", 1, ""));
    buf_reset(&by_ed);
    ck_assert_int_eq(sign_md5(ed, "b6f9b35a699bbccccb6c879a4a908378", &by_ed),
                     -1);
    ck_assert(!sign_verify_md5(ed, "b6f9b35a699bbccccb6c879a4a908378",
                               buf_str(&by_rsa)));
    sign_key_free(rsa);
    sign_key_free(ed);
    buf_free(&by_rsa);
    buf_free(&by_ed);
}
END_TEST

START_TEST(a_new_ed25519_pair_works)
{
    struct buf secret = BUF_INIT, open = BUF_INIT, sig = BUF_INIT;
    struct sign_key *a, *b;

    ck_assert_int_eq(sign_key_make_ed25519(&secret, &open), 0);
    ck_assert_uint_eq(secret.len, 8 + 2 * 65 + 2);
    ck_assert_uint_eq(open.len, 8 + 65 + 2);
    ck_assert_mem_eq(buf_str(&secret), buf_str(&open), 8 + 65);
    a = sign_key_parse(buf_str(&secret), true, &err);
    b = sign_key_parse(buf_str(&open), false, &err);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    ck_assert_int_eq(sign_data(b, "data", 4, &sig), -1);
    ck_assert_uint_eq(sig.len, 0);
    ck_assert_int_eq(sign_data(a, "data", 4, &sig), 0);
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
    read_file(KEYS "upload_ed25519_private", &other);
    refused(buf_str(&other), false, "a private key");
    other.data[10] = other.data[10] == '0' ? '1' : '0';
    refused(buf_str(&other), true, "do not belong together");
    read_file(KEYS "upload_ed25519_public", &other);
    refused(buf_str(&other), true, "a public key");
    refused("ed25519\n00\n.\n", false, "hex digits");
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
    tcase_add_loop_test(tc, ed25519_signatures_are_those_of_the_rfc, 0,
                        ARRAY_LEN(ed25519_vectors));
    tcase_add_test(tc, kinds_of_keys_do_not_mix);
    tcase_add_test(tc, a_new_ed25519_pair_works);
    tcase_add_test(tc, bad_keys_are_refused_with_a_reason);
    tcase_add_test(tc, a_missing_key_names_its_file);
}

int
main(void)
{
    return unit_main("sign", add_tests);
}
