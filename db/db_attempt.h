/* db_attempt.h - how often somebody tried something lately: wrong passwords,
 * new accounts.  In the database, so that all processes of the web server, and
 * plain CGI programs, count together.
 *
 * Writes: x_attempt. */
#ifndef QUORATE_DB_ATTEMPT_H
#define QUORATE_DB_ATTEMPT_H

#include <stdint.h>

struct db;

enum attempt {
    ATTEMPT_PASSWORD_BY_ADDRESS = 1, /* wrong ones, from a network address */
    ATTEMPT_PASSWORD_OF_ACCOUNT = 2, /* wrong ones, for an e-mail address */
    ATTEMPT_ACCOUNT_BY_ADDRESS = 3,  /* accounts made from a network address */
};

#define ATTEMPT_WHO 191 /* bytes of `who` that count */

/* How often, in the window (s) that began with the first of them.  0, -1. */
int db_attempts(struct db *, enum attempt, const char *who, int64_t window,
                int64_t now, int64_t *ret);

/* One more; a transaction of its own.  Old ones are forgotten.  0, -1. */
int db_attempt_add(struct db *, enum attempt, const char *who, int64_t window,
                   int64_t now);

#endif
