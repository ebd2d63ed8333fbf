/* guess.c - slows down those who guess passwords.
 *
 * A process answers one request at a time, so a long pause after a wrong
 * password would let a guesser block everybody.  The pause is short, and after
 * a few wrong passwords the answer comes at once, without the slow hash and
 * whatever the password: guessing gains nothing, others wait for nobody.
 *
 * A fixed table, by hash: two names in one place share a count, which is
 * harmless; each process has its own, which multiplies the limit by their
 * small number. */
#include "guess.h"

#include <stddef.h>

#define N_PLACES 1024
#define WINDOW 60 /* s */
#define MAX_BY_EMAIL 10
#define MAX_BY_ADDRESS 30 /* a school behind one address */

struct place {
    uint32_t start;
    uint32_t wrong;
};

static struct place by_email[N_PLACES];
static struct place by_address[N_PLACES];

/* FNV-1a. */
static struct place *
place_of(struct place *table, const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return &table[hash % N_PLACES];
}

static bool
is_over(struct place *p, uint32_t limit, uint32_t now)
{
    if (now - p->start >= WINDOW)
        p->wrong = 0;
    return p->wrong >= limit;
}

static void
count(struct place *p, uint32_t now)
{
    if (p->wrong == 0 || now - p->start >= WINDOW) {
        p->start = now;
        p->wrong = 0;
    }
    p->wrong++;
}

bool
guess_is_excessive(const char *email, const char *address, uint32_t now)
{
    return is_over(place_of(by_email, email), MAX_BY_EMAIL, now) ||
           is_over(place_of(by_address, address), MAX_BY_ADDRESS, now);
}

void
guess_failed(const char *email, const char *address, uint32_t now)
{
    count(place_of(by_email, email), now);
    count(place_of(by_address, address), now);
}
