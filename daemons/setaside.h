/* setaside.h - rows that failed and are tried again later, more and more
 * seldom, so that one bad row never stops the others.
 *
 * Kept in memory: after a restart every row gets a fresh try. */
#ifndef QUORATE_SETASIDE_H
#define QUORATE_SETASIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct setaside_row {
    int64_t id;
    int64_t until; /* Unix s */
    unsigned tries;
};

struct setaside {
    struct setaside_row *row; /* hash table, id 0: free */
    size_t size, used;
};

/* Seconds to wait after so many failed tries (1, 2, …): 1, 2, 4 … minutes, a
 * day at most. */
int64_t setaside_pause(unsigned tries);

/* The row failed at `now`.  Returns when to try again: after 1, 2, 4 … minutes,
 * a day at most. */
int64_t setaside_add(struct setaside *, int64_t id, int64_t now);

/* Must it still wait? */
bool setaside_waits(const struct setaside *, int64_t id, int64_t now);

/* How often it failed. */
unsigned setaside_tries(const struct setaside *, int64_t id);

/* It worked: forget that it ever failed. */
void setaside_clear(struct setaside *, int64_t id);

void setaside_free(struct setaside *);

#endif
