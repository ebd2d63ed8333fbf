/* sign.c - RSA signatures in BOINC's hex text form, and Ed25519 ones, with
 * OpenSSL 3's EVP calls only.  The numbers lie one behind the other,
 * big-endian, each in a field of fixed length; the text is their hex digits. */
#include "sign.h"

#include <ctype.h>
#include <errno.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "digest.h"
#include "file.h"

enum {
    KEY_BITS = 1024,
    SIGNATURE_BYTES = 128,
    PUBLIC_BYTES = 256,
    PRIVATE_BYTES = 704,
    LINE_BYTES = 32,   /* 64 digits */
    ED_KEY_BYTES = 32, /* each half */
    ED_SIGNATURE_BYTES = 64,
    KEY_FILE_MAX = 8192,
};

/* The fields in their order; a public key is the first two. */
static const struct field {
    const char *param;
    int bytes;
} fields[] = {
    {OSSL_PKEY_PARAM_RSA_N,            128},
    {OSSL_PKEY_PARAM_RSA_E,            128},
    {OSSL_PKEY_PARAM_RSA_D,            128},
    {OSSL_PKEY_PARAM_RSA_FACTOR1,      64 },
    {OSSL_PKEY_PARAM_RSA_FACTOR2,      64 },
    {OSSL_PKEY_PARAM_RSA_EXPONENT1,    64 },
    {OSSL_PKEY_PARAM_RSA_EXPONENT2,    64 },
    {OSSL_PKEY_PARAM_RSA_COEFFICIENT1, 64 },
};

enum { N_PUBLIC_FIELDS = 2 };

struct sign_key {
    EVP_PKEY *pkey;
    bool is_private;
    bool is_ed25519;
};

/* The first line of a key's text. */
static const char rsa_line[] = "1024\n", ed25519_line[] = "ed25519\n";

/* ---- text <-> bytes ------------------------------------------------------ */

static int
hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Hex digits up to the "." line.  `blanks` may stand between digits besides
 * line ends.  Bytes read, or -1 if there is anything else or more than max. */
static int
parse_block(const char *text, const char *blanks, unsigned char *ret, int max)
{
    int digits = 0;

    for (; *text != '.'; text++) {
        int value = hex_value(*text);

        if (*text != '\0' && strchr(blanks, *text) != NULL)
            continue;
        if (value < 0 || digits == 2 * max)
            return -1;
        if (digits % 2 == 0)
            ret[digits / 2] = (unsigned char)(value << 4);
        else
            ret[digits / 2] = (unsigned char)(ret[digits / 2] | value);
        digits++;
    }
    text++;
    text += strspn(text, " \t\r\n");
    return digits % 2 == 0 && *text == '\0' ? digits / 2 : -1;
}

static void
add_block(const unsigned char *bytes, int n, struct buf *out)
{
    static const char digit[] = "0123456789abcdef";

    for (int i = 0; i < n; i++) {
        buf_addc(out, digit[bytes[i] >> 4]);
        buf_addc(out, digit[bytes[i] & 15]);
        if (i % LINE_BYTES == LINE_BYTES - 1 || i == n - 1)
            buf_addc(out, '\n');
    }
    buf_add(out, ".\n");
}

/* ---- keys ---------------------------------------------------------------- */

/* The numbers of a key as parameters for OpenSSL.  `number` keeps them alive:
 * the builder only points to them. */
static OSSL_PARAM *
params_from_bytes(const unsigned char *bytes, size_t n_fields,
                  BIGNUM *number[ARRAY_LEN(fields)])
{
    OSSL_PARAM_BLD *bld = OSSL_PARAM_BLD_new();
    OSSL_PARAM *params = NULL;
    bool ok = bld != NULL;

    for (size_t i = 0; ok && i < n_fields; i++) {
        number[i] = BN_bin2bn(bytes, fields[i].bytes, NULL);
        ok = number[i] != NULL &&
             OSSL_PARAM_BLD_push_BN(bld, fields[i].param, number[i]) == 1;
        bytes += fields[i].bytes;
    }
    if (ok)
        params = OSSL_PARAM_BLD_to_param(bld);
    OSSL_PARAM_BLD_free(bld);
    return params;
}

static EVP_PKEY *
pkey_from_bytes(const unsigned char *bytes, bool is_private)
{
    BIGNUM *number[ARRAY_LEN(fields)] = {NULL};
    OSSL_PARAM *params = params_from_bytes(
        bytes, is_private ? ARRAY_LEN(fields) : N_PUBLIC_FIELDS, number);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    EVP_PKEY *pkey = NULL;

    if (params == NULL || ctx == NULL || EVP_PKEY_fromdata_init(ctx) != 1 ||
        EVP_PKEY_fromdata(ctx, &pkey,
                          is_private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY,
                          params) != 1)
        pkey = NULL;
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        BN_clear_free(number[i]);
    return pkey;
}

/* Does the private half belong to the public one? */
static bool
fits_together(const struct sign_key *key)
{
    static const char probe[] = "0123456789abcdef0123456789abcdef";
    struct buf block = BUF_INIT;
    bool ok = sign_md5(key, probe, &block) == 0 &&
              sign_verify_md5(key, probe, buf_str(&block));

    buf_free(&block);
    return ok;
}

static struct sign_key *
key_from_bytes(const unsigned char *bytes, bool is_private, struct buf *err)
{
    struct sign_key *key = xcalloc(1, sizeof(*key));

    key->is_private = is_private;
    key->pkey = pkey_from_bytes(bytes, is_private);
    if (key->pkey == NULL)
        buf_add(err, "numbers that are no RSA key");
    else if (EVP_PKEY_get_bits(key->pkey) != KEY_BITS)
        buf_addf(err, "key of %d bits, must be exactly %d",
                 EVP_PKEY_get_bits(key->pkey), KEY_BITS);
    else if (is_private && !fits_together(key))
        buf_add(err, "private and public numbers do not belong together");
    else
        return key;
    sign_key_free(key);
    return NULL;
}

/* The public half is not read from a private key, but made from its secret. */
static struct sign_key *
ed25519_from_bytes(const unsigned char *bytes, bool is_private, struct buf *err)
{
    struct sign_key *key = xcalloc(1, sizeof(*key));
    unsigned char public_half[ED_KEY_BYTES];
    size_t len = sizeof(public_half);

    key->is_ed25519 = true;
    key->is_private = is_private;
    key->pkey =
        is_private
            ? EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL,
                                           bytes + ED_KEY_BYTES, ED_KEY_BYTES)
            : EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, bytes,
                                          ED_KEY_BYTES);
    if (key->pkey == NULL ||
        EVP_PKEY_get_raw_public_key(key->pkey, public_half, &len) != 1)
        buf_add(err, "numbers that are no Ed25519 key");
    else if (memcmp(public_half, bytes, sizeof(public_half)) != 0)
        buf_add(err, "private and public numbers do not belong together");
    else
        return key;
    sign_key_free(key);
    return NULL;
}

static bool
skip_line(const char **text, const char *line)
{
    if (strncmp(*text, line, strlen(line)) != 0)
        return false;
    *text += strlen(line);
    return true;
}

/* private_key: 1 must be, 0 must not be, -1 either. */
static struct sign_key *
parse_numbers(const char *text, bool ed25519, int private_key, struct buf *err)
{
    int public_bytes = ed25519 ? ED_KEY_BYTES : PUBLIC_BYTES;
    int private_bytes = ed25519 ? 2 * ED_KEY_BYTES : PRIVATE_BYTES;
    unsigned char bytes[PRIVATE_BYTES];
    struct sign_key *key = NULL;
    int n = parse_block(text, "\n", bytes, private_bytes);

    if (n != private_bytes && n != public_bytes)
        buf_add(err, "not a block of hex digits, of a key's length and with a "
                     "\".\" at its end");
    else if (private_key == 1 && n != private_bytes)
        buf_add(err, "a public key where the private key is needed");
    else if (private_key == 0 && n != public_bytes)
        buf_add(err, "a private key where the public key is needed");
    else if (ed25519)
        key = ed25519_from_bytes(bytes, n == private_bytes, err);
    else
        key = key_from_bytes(bytes, n == private_bytes, err);
    OPENSSL_cleanse(bytes, sizeof(bytes));
    return key;
}

static struct sign_key *
parse(const char *text, int private_key, struct buf *err)
{
    text += strspn(text, " \t\r\n");
    if (skip_line(&text, rsa_line))
        return parse_numbers(text, false, private_key, err);
    if (skip_line(&text, ed25519_line))
        return parse_numbers(text, true, private_key, err);
    buf_add(err, "first line is not \"1024\": not a key of 1024 bits");
    return NULL;
}

struct sign_key *
sign_key_parse(const char *text, bool private_key, struct buf *err)
{
    return parse(text, private_key ? 1 : 0, err);
}

struct sign_key *
sign_key_read(const char *path, struct buf *err)
{
    struct buf text = BUF_INIT;
    struct sign_key *key = NULL;

    if (file_read(path, KEY_FILE_MAX, &text) != 0) {
        buf_addf(err, "%s: %s", path, strerror(errno));
    } else {
        size_t start = err->len;
        struct buf why = BUF_INIT;

        key = parse(buf_str(&text), -1, &why);
        if (key == NULL)
            buf_addf(err, "%s: %s", path, buf_str(&why));
        else
            buf_truncate(err, start);
        buf_free(&why);
    }
    if (text.data != NULL)
        OPENSSL_cleanse(text.data, text.cap);
    buf_free(&text);
    return key;
}

void
sign_key_free(struct sign_key *key)
{
    if (key == NULL)
        return;
    EVP_PKEY_free(key->pkey);
    free(key);
}

static bool
pkey_to_bytes(const EVP_PKEY *pkey, unsigned char bytes[PRIVATE_BYTES])
{
    bool ok = true;

    for (size_t i = 0; ok && i < ARRAY_LEN(fields); i++) {
        BIGNUM *number = NULL;

        ok = EVP_PKEY_get_bn_param(pkey, fields[i].param, &number) == 1 &&
             BN_bn2binpad(number, bytes, fields[i].bytes) == fields[i].bytes;
        bytes += fields[i].bytes;
        BN_clear_free(number);
    }
    return ok;
}

int
sign_key_make(struct buf *ret_private, struct buf *ret_public)
{
    unsigned char bytes[PRIVATE_BYTES];
    EVP_PKEY *pkey = EVP_RSA_gen(KEY_BITS);
    bool ok = pkey != NULL && pkey_to_bytes(pkey, bytes);

    EVP_PKEY_free(pkey);
    if (!ok)
        return -1;
    buf_add(ret_private, rsa_line);
    add_block(bytes, PRIVATE_BYTES, ret_private);
    buf_add(ret_public, rsa_line);
    add_block(bytes, PUBLIC_BYTES, ret_public);
    OPENSSL_cleanse(bytes, sizeof(bytes));
    return 0;
}

int
sign_key_make_ed25519(struct buf *ret_private, struct buf *ret_public)
{
    unsigned char bytes[2 * ED_KEY_BYTES];
    size_t n_public = ED_KEY_BYTES, n_secret = ED_KEY_BYTES;
    EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    bool ok = pkey != NULL &&
              EVP_PKEY_get_raw_public_key(pkey, bytes, &n_public) == 1 &&
              EVP_PKEY_get_raw_private_key(pkey, bytes + ED_KEY_BYTES,
                                           &n_secret) == 1;

    EVP_PKEY_free(pkey);
    if (!ok)
        return -1;
    buf_add(ret_private, ed25519_line);
    add_block(bytes, 2 * ED_KEY_BYTES, ret_private);
    buf_add(ret_public, ed25519_line);
    add_block(bytes, ED_KEY_BYTES, ret_public);
    OPENSSL_cleanse(bytes, sizeof(bytes));
    return 0;
}

/* ---- Ed25519 ------------------------------------------------------------- */

bool
sign_is_ed25519(const char *block)
{
    unsigned char sig[ED_SIGNATURE_BYTES];

    return parse_block(block, " \t\r\n", sig, ED_SIGNATURE_BYTES) ==
           ED_SIGNATURE_BYTES;
}

static int
ed25519_sign(const struct sign_key *key, const void *data, size_t n,
             struct buf *out)
{
    unsigned char sig[ED_SIGNATURE_BYTES];
    size_t len = sizeof(sig);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = key->is_private && ctx != NULL &&
              EVP_DigestSignInit(ctx, NULL, NULL, NULL, key->pkey) == 1 &&
              EVP_DigestSign(ctx, sig, &len, data, n) == 1 &&
              len == sizeof(sig);

    EVP_MD_CTX_free(ctx);
    if (!ok)
        return -1;
    add_block(sig, ED_SIGNATURE_BYTES, out);
    return 0;
}

static bool
ed25519_verify(const struct sign_key *key, const void *data, size_t n,
               const char *block)
{
    unsigned char sig[ED_SIGNATURE_BYTES];
    EVP_MD_CTX *ctx;
    bool ok;

    if (parse_block(block, " \t\r\n", sig, ED_SIGNATURE_BYTES) !=
        ED_SIGNATURE_BYTES)
        return false;
    ctx = EVP_MD_CTX_new();
    ok = ctx != NULL &&
         EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key->pkey) == 1 &&
         EVP_DigestVerify(ctx, sig, sizeof(sig), data, n) == 1;
    EVP_MD_CTX_free(ctx);
    return ok;
}

/* ---- signatures ---------------------------------------------------------- */

/* No digest is set in the context: the 32 hex digits are padded as they are. */
int
sign_md5(const struct sign_key *key, const char *md5_hex, struct buf *out)
{
    unsigned char sig[SIGNATURE_BYTES];
    size_t len = sizeof(sig);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key->pkey, NULL);
    bool ok = key->is_private && !key->is_ed25519 && strlen(md5_hex) == 32 &&
              ctx != NULL && EVP_PKEY_sign_init(ctx) == 1 &&
              EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PADDING) == 1 &&
              EVP_PKEY_sign(ctx, sig, &len, (const unsigned char *)md5_hex,
                            32) == 1 &&
              len == SIGNATURE_BYTES;

    EVP_PKEY_CTX_free(ctx);
    if (!ok)
        return -1;
    add_block(sig, SIGNATURE_BYTES, out);
    return 0;
}

int
sign_data(const struct sign_key *key, const void *data, size_t n,
          struct buf *out)
{
    char md5[MD5_HEX];

    if (key->is_ed25519)
        return ed25519_sign(key, data, n, out);
    digest_md5(data, n, md5);
    return sign_md5(key, md5, out);
}

bool
sign_verify_md5(const struct sign_key *key, const char *md5_hex,
                const char *block)
{
    unsigned char sig[SIGNATURE_BYTES], text[SIGNATURE_BYTES];
    size_t len = sizeof(text);
    EVP_PKEY_CTX *ctx;
    bool ok;

    if (key->is_ed25519 || strlen(md5_hex) != 32 ||
        parse_block(block, " \t\r\n", sig, SIGNATURE_BYTES) != SIGNATURE_BYTES)
        return false;
    ctx = EVP_PKEY_CTX_new(key->pkey, NULL);
    ok = ctx != NULL && EVP_PKEY_verify_recover_init(ctx) == 1 &&
         EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PADDING) == 1 &&
         EVP_PKEY_verify_recover(ctx, text, &len, sig, sizeof(sig)) == 1 &&
         len == 32 && memcmp(text, md5_hex, 32) == 0;
    EVP_PKEY_CTX_free(ctx);
    return ok;
}

bool
sign_verify(const struct sign_key *key, const void *data, size_t n,
            const char *block)
{
    char md5[MD5_HEX];

    if (key->is_ed25519)
        return ed25519_verify(key, data, n, block);
    digest_md5(data, n, md5);
    return sign_verify_md5(key, md5, block);
}
