/* guess.h - slows down those who guess passwords, and those who make accounts
 * by the dozen. */
#ifndef QUORATE_GUESS_H
#define QUORATE_GUESS_H

#include <stdbool.h>
#include <stdint.h>

struct db;

/* More wrong passwords in a minute, for this account or from this address, than
 * anybody types: no further one is looked at. */
bool guess_is_excessive(struct db *, const char *email, const char *address,
                        int64_t now);

/* Count a wrong password. */
void guess_failed(struct db *, const char *email, const char *address,
                  int64_t now);

/* Have `max` accounts been made from this address within an hour?  0: there is
 * no limit. */
bool guess_makes_too_many(struct db *, const char *address, int64_t max,
                          int64_t now);
void guess_account_made(struct db *, const char *address, int64_t now);

#endif
