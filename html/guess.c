/* guess.c - slows down those who guess passwords.
 *
 * A process answers one request at a time, so a long pause after a wrong
 * password would let a guesser block everybody.  The pause is short, and after
 * a few wrong passwords the answer comes at once, without the slow hash and
 * whatever the password: guessing gains nothing, others wait for nobody.
 *
 * Counts stand in the database: all processes have the same ones, and plain CGI
 * programs have any.  Where it does not answer, no password can be looked at
 * either.  Addresses are counted by network: an IPv6 customer has 2^64 of them.
 */
#include "guess.h"

#include "db_attempt.h"
#include "netaddr.h"

#define WINDOW 60 /* s */
#define MAX_OF_ACCOUNT 10
#define MAX_BY_ADDRESS 30 /* a school behind one address */
#define HOUR 3600         /* s */

static bool
is_over(struct db *db, enum attempt kind, const char *who, int64_t window,
        int64_t limit, int64_t now)
{
    int64_t times;

    return db_attempts(db, kind, who, window, now, &times) != 0 ||
           times >= limit;
}

bool
guess_is_excessive(struct db *db, const char *email, const char *address,
                   int64_t now)
{
    char group[NETADDR_TEXT];

    netaddr_group(address, group);
    return is_over(db, ATTEMPT_PASSWORD_OF_ACCOUNT, email, WINDOW,
                   MAX_OF_ACCOUNT, now) ||
           is_over(db, ATTEMPT_PASSWORD_BY_ADDRESS, group, WINDOW,
                   MAX_BY_ADDRESS, now);
}

/* Without the count the limit holds a little later. */
void
guess_failed(struct db *db, const char *email, const char *address, int64_t now)
{
    char group[NETADDR_TEXT];

    netaddr_group(address, group);
    (void)db_attempt_add(db, ATTEMPT_PASSWORD_OF_ACCOUNT, email, WINDOW, now);
    (void)db_attempt_add(db, ATTEMPT_PASSWORD_BY_ADDRESS, group, WINDOW, now);
}

bool
guess_makes_too_many(struct db *db, const char *address, int64_t max,
                     int64_t now)
{
    char group[NETADDR_TEXT];

    netaddr_group(address, group);
    return max > 0 &&
           is_over(db, ATTEMPT_ACCOUNT_BY_ADDRESS, group, HOUR, max, now);
}

void
guess_account_made(struct db *db, const char *address, int64_t now)
{
    char group[NETADDR_TEXT];

    netaddr_group(address, group);
    (void)db_attempt_add(db, ATTEMPT_ACCOUNT_BY_ADDRESS, group, HOUR, now);
}
