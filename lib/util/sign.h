/* sign.h - RSA signatures in BOINC's hex text form (protocol §5): keys of
 * exactly 1024 bits, PKCS#1 v1.5 type 1 padding over the 32 hex digits of the
 * data's MD5, no DigestInfo. */
#ifndef QUORATE_SIGN_H
#define QUORATE_SIGN_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct sign_key; /* public or private */

/* Read a key in hex text form.  NULL and a text in err. */
struct sign_key *sign_key_read(const char *path, struct buf *err);
struct sign_key *sign_key_parse(const char *text, bool private_key,
                                struct buf *err);
void sign_key_free(struct sign_key *);

/* Make a pair; both as hex text, ready to be written to files. */
int sign_key_make(struct buf *ret_private, struct buf *ret_public);

/* Append the signature block: 4 lines of 64 hex digits and ".\n". */
int sign_data(const struct sign_key *, const void *data, size_t n,
              struct buf *out);
int sign_md5(const struct sign_key *, const char *md5_hex, struct buf *out);

/* Is `block` (hex lines, "." at the end, blanks around) a signature of data? */
bool sign_verify(const struct sign_key *, const void *data, size_t n,
                 const char *block);
bool sign_verify_md5(const struct sign_key *, const char *md5_hex,
                     const char *block);

#endif
