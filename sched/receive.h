/* receive.h - take files from clients (protocol §3): verify the certificate,
 * append, finish; never trust a name or a size.
 *
 * What arrives is kept in NAME.part, in the folder that NAME's hash says, until
 * all of it is there and its MD5 is right; then it becomes NAME and is never
 * changed again.  A refusal is decided by the header alone. */
#ifndef QUORATE_RECEIVE_H
#define QUORATE_RECEIVE_H

struct buf;
struct cgi;
struct config;
struct db;
struct sign_key;

/* What a worker keeps from one request to the next. */
struct receiver {
    const struct config *cfg;
    struct sign_key *rsa;     /* upload_public, or NULL: not read yet */
    struct sign_key *ed25519; /* upload_ed25519_public, likewise */
    struct db *db;            /* only without certificates */
};

/* Handle the request whose body `cgi` holds; the reply is appended.  What is
 * left of the body is the caller's to drain. */
void receive_request(struct receiver *, struct cgi *, struct buf *reply);

void receive_close(struct receiver *);

#endif
