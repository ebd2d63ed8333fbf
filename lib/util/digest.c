/* digest.c - MD5 and SHA-256 over OpenSSL, random numbers of the kernel, and
 * passwords through libcrypt's bcrypt. */
#include "digest.h"

#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "buf.h"
#include "log.h"

#define BCRYPT_PREFIX "$2y$"
#define BCRYPT_COST 10 /* about 50 ms; BOINC's pages use the same */

struct digest {
    EVP_MD_CTX *ctx;
};

/* A libcrypto without MD5 (FIPS mode) cannot serve a BOINC project at all. */
static void
must(int ok)
{
    if (ok == 1)
        return;
    log_critical("libcrypto refuses to compute a digest");
    abort();
}

static void
hex(const unsigned char *bytes, size_t n, char *ret)
{
    static const char digit[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        ret[2 * i] = digit[bytes[i] >> 4];
        ret[2 * i + 1] = digit[bytes[i] & 15];
    }
    ret[2 * n] = '\0';
}

void
digest_md5(const void *bytes, size_t n, char ret[MD5_HEX])
{
    unsigned char md[EVP_MAX_MD_SIZE];

    must(EVP_Digest(bytes, n, md, NULL, EVP_md5(), NULL));
    hex(md, 16, ret);
}

void
digest_sha256(const void *bytes, size_t n, char ret[SHA256_HEX])
{
    unsigned char md[EVP_MAX_MD_SIZE];

    must(EVP_Digest(bytes, n, md, NULL, EVP_sha256(), NULL));
    hex(md, 32, ret);
}

/* Looked up among OpenSSL's providers once, not for each text. */
static const EVP_MD *
md5(void)
{
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
    static EVP_MD *found;

    if (found == NULL)
        found = EVP_MD_fetch(NULL, "MD5", NULL);
    if (found != NULL)
        return found;
#endif
    return EVP_md5();
}

struct digest *
digest_new_md5(void)
{
    struct digest *d = xmalloc(sizeof(*d));

    d->ctx = EVP_MD_CTX_new();
    must(d->ctx != NULL);
    must(EVP_DigestInit_ex(d->ctx, md5(), NULL));
    return d;
}

void
digest_add(struct digest *d, const void *bytes, size_t n)
{
    must(EVP_DigestUpdate(d->ctx, bytes, n));
}

void
digest_hex(struct digest *d, char ret[MD5_HEX])
{
    unsigned char md[EVP_MAX_MD_SIZE];

    must(EVP_DigestFinal_ex(d->ctx, md, NULL));
    hex(md, 16, ret);
    digest_free(d);
}

void
digest_free(struct digest *d)
{
    if (d == NULL)
        return;
    EVP_MD_CTX_free(d->ctx);
    free(d);
}

void
digest_md5_of(char ret[MD5_HEX], ...)
{
    struct digest *d = digest_new_md5();
    const char *text;
    va_list ap;

    va_start(ap, ret);
    while ((text = va_arg(ap, const char *)) != NULL)
        digest_add(d, text, strlen(text));
    va_end(ap);
    digest_hex(d, ret);
}

int
digest_md5_file(const char *path, char ret[MD5_HEX], int64_t *ret_size)
{
    char block[65536];
    int64_t size = 0;
    ssize_t n;
    struct digest *d;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -1;
    d = digest_new_md5();
    while ((n = read(fd, block, sizeof(block))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        digest_add(d, block, (size_t)n);
        size += n;
    }
    if (n < 0) {
        int saved = errno;

        digest_free(d);
        (void)close(fd);
        errno = saved;
        return -1;
    }
    (void)close(fd);
    digest_hex(d, ret);
    if (ret_size != NULL)
        *ret_size = size;
    return 0;
}

_Bool
digest_same(const char *a, const char *b)
{
    size_t n = strlen(a);

    return n == strlen(b) && CRYPTO_memcmp(a, b, n) == 0;
}

static void
random_bytes(void *bytes, size_t n)
{
    unsigned char *p = bytes;

    while (n > 0) {
        ssize_t got = getrandom(p, n, 0);

        if (got < 0 && errno != EINTR) {
            log_errno("getrandom");
            abort(); /* keys from anything else would be guessable */
        }
        if (got > 0) {
            p += got;
            n -= (size_t)got;
        }
    }
}

uint32_t
random_u31(void)
{
    uint32_t x;

    random_bytes(&x, sizeof(x));
    return x >> 1;
}

uint64_t
random_below(uint64_t n)
{
    /* Values below `skip` would make the small remainders more frequent. */
    uint64_t skip = n > 0 ? (UINT64_MAX - n + 1) % n : 0;
    uint64_t x;

    do
        random_bytes(&x, sizeof(x));
    while (x < skip);
    return n > 0 ? x % n : 0;
}

void
random_hex(char *ret, size_t digits)
{
    unsigned char byte;
    char pair[3];

    for (size_t i = 0; i < digits; i++) {
        random_bytes(&byte, 1);
        hex(&byte, 1, pair);
        ret[i] = pair[0];
    }
    ret[digits] = '\0';
}

/* bcrypt of `phrase` with the parameters of `setting`; false if libcrypt will
 * not. */
static bool
bcrypt(const char *phrase, const char *setting, char ret[128])
{
    struct crypt_data *data = xcalloc(1, sizeof(*data));
    const char *hash = crypt_r(phrase, setting, data);
    bool ok = hash != NULL && hash[0] == '$' && str_copy(ret, 128, hash);

    OPENSSL_cleanse(data, sizeof(*data));
    free(data);
    return ok;
}

int
password_hash(const char *md5_hex, char ret[128])
{
    char salt[16];
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];

    random_bytes(salt, sizeof(salt));
    if (crypt_gensalt_rn(BCRYPT_PREFIX, BCRYPT_COST, salt, sizeof(salt),
                         setting, sizeof(setting)) == NULL ||
        !bcrypt(md5_hex, setting, ret)) {
        log_errno("libcrypt: no bcrypt");
        return -1;
    }
    return 0;
}

_Bool
password_verify(const char *md5_hex, const char *stored)
{
    char hash[128];

    if (strncmp(stored, BCRYPT_PREFIX, strlen(BCRYPT_PREFIX)) == 0)
        return bcrypt(md5_hex, stored, hash) && digest_same(hash, stored);
    return strlen(stored) == 32 && digest_same(md5_hex, stored);
}
