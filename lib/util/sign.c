/* sign.c - RSA signatures in BOINC's hex text form, with OpenSSL 3's EVP calls
 * only.  The numbers lie one behind the other, big-endian, each in a field of
 * fixed length; the text is their hex digits. */
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
    LINE_BYTES = 32, /* 64 digits */
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
};

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

/* The block after the first line, or NULL and why not. */
static const char *
skip_bits_line(const char *text, struct buf *err)
{
    static const char first[] = "1024\n";

    text += strspn(text, " \t\r\n");
    if (strncmp(text, first, strlen(first)) == 0)
        return text + strlen(first);
    buf_add(err, "first line is not \"1024\": not a key of 1024 bits");
    return NULL;
}

/* private_key: 1 must be, 0 must not be, -1 either. */
static struct sign_key *
parse(const char *text, int private_key, struct buf *err)
{
    unsigned char bytes[PRIVATE_BYTES];
    struct sign_key *key = NULL;
    int n;

    if ((text = skip_bits_line(text, err)) == NULL)
        return NULL;
    n = parse_block(text, "\n", bytes, PRIVATE_BYTES);
    if (n != PRIVATE_BYTES && n != PUBLIC_BYTES)
        buf_add(err, "not a block of hex digits, of a key's length and with a "
                     "\".\" at its end");
    else if (private_key == 1 && n != PRIVATE_BYTES)
        buf_add(err, "a public key where the private key is needed");
    else if (private_key == 0 && n != PUBLIC_BYTES)
        buf_add(err, "a private key where the public key is needed");
    else
        key = key_from_bytes(bytes, n == PRIVATE_BYTES, err);
    OPENSSL_cleanse(bytes, sizeof(bytes));
    return key;
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
    buf_add(ret_private, "1024\n");
    add_block(bytes, PRIVATE_BYTES, ret_private);
    buf_add(ret_public, "1024\n");
    add_block(bytes, PUBLIC_BYTES, ret_public);
    OPENSSL_cleanse(bytes, sizeof(bytes));
    return 0;
}

/* ---- signatures ---------------------------------------------------------- */

/* No digest is set in the context: the 32 hex digits are padded as they are. */
int
sign_md5(const struct sign_key *key, const char *md5_hex, struct buf *out)
{
    unsigned char sig[SIGNATURE_BYTES];
    size_t len = sizeof(sig);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key->pkey, NULL);
    bool ok = key->is_private && strlen(md5_hex) == 32 && ctx != NULL &&
              EVP_PKEY_sign_init(ctx) == 1 &&
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

    if (strlen(md5_hex) != 32 ||
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

    digest_md5(data, n, md5);
    return sign_verify_md5(key, md5, block);
}
