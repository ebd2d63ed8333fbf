/* sign.h - RSA signatures in BOINC's hex text form (protocol §5): keys of
 * exactly 1024 bits, PKCS#1 v1.5 type 1 padding over the 32 hex digits of the
 * data's MD5, no DigestInfo.
 *
 * And Ed25519 (RFC 8032) in a text form like it, for what only our own programs
 * verify: "ed25519", 32 bytes of the public key, in a private one 32 bytes of
 * the secret; the data itself is signed.  A key verifies what was signed by its
 * other half and nothing else, whatever the kind of the signature. */
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
int sign_key_make_ed25519(struct buf *ret_private, struct buf *ret_public);

/* Append the signature block: 4 lines of 64 hex digits and ".\n"; of an Ed25519
 * key, 2 lines. */
int sign_data(const struct sign_key *, const void *data, size_t n,
              struct buf *out);

/* Is the block as long as an Ed25519 signature?  Says nothing of its worth. */
bool sign_is_ed25519(const char *block);

/* Of RSA keys only: another one signs and verifies no digest. */
int sign_md5(const struct sign_key *, const char *md5_hex, struct buf *out);

/* Is `block` (hex lines, "." at the end, blanks around) a signature of data? */
bool sign_verify(const struct sign_key *, const void *data, size_t n,
                 const char *block);
bool sign_verify_md5(const struct sign_key *, const char *md5_hex,
                     const char *block);

#endif
