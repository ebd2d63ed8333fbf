/* digest.h - MD5 (what the protocol speaks) and SHA-256, over OpenSSL. */
#ifndef QUORATE_DIGEST_H
#define QUORATE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define MD5_HEX 33 /* 32 lower-case hex digits and NUL */
#define SHA256_HEX 65

void digest_md5(const void *bytes, size_t n, char ret[MD5_HEX]);
/* MD5 of texts one behind the other, NULL ends the list: digest_md5_of(ret,
 * authenticator, email, NULL). */
void digest_md5_of(char ret[MD5_HEX], ...) __attribute__((sentinel));
void digest_sha256(const void *bytes, size_t n, char ret[SHA256_HEX]);

/* MD5 and size of a file.  0, or -1 with errno.  ret_size may be NULL. */
int digest_md5_file(const char *path, char ret[MD5_HEX], int64_t *ret_size);

/* In pieces. */
struct digest;
struct digest *digest_new_md5(void);
void digest_add(struct digest *, const void *bytes, size_t n);
void digest_hex(struct digest *, char ret[MD5_HEX]); /* ends it and frees it */
void digest_free(struct digest *);

/* Compare secrets in time that depends on the length alone. */
_Bool digest_same(const char *a, const char *b);

/* Cryptographically secure random numbers. */
uint32_t random_u31(void);                 /* 0 … 2^31 - 1 */
uint64_t random_below(uint64_t n);         /* 0 … n - 1 */
void random_hex(char *ret, size_t digits); /* digits and NUL */

/* Password of an account: bcrypt ("$2y$") of the client's 32-digit MD5. */
int password_hash(const char *md5_hex, char ret[128]);
/* Verify against a stored value: "$2y$…" or the plain 32 digits. */
_Bool password_verify(const char *md5_hex, const char *stored);

#endif
