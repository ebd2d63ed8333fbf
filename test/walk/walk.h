/* walk.h - what the random walks share: chance that can be repeated, the events
 * and how often they come, limits for new workunits, and what happened to a
 * workunit so far, to be printed when a claim is broken. */
#ifndef QUORATE_WALK_H
#define QUORATE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workunit.h"

enum walk_event {
    WALK_CREATE, /* in the place of one that was purged */
    WALK_TRANSITION,
    WALK_VALIDATE,
    WALK_COMPARE, /* a slow validator reads … */
    WALK_VERDICT, /* … and stores, some events later */
    WALK_ASSIMILATE,
    WALK_DEFER,
    WALK_ASSIMILATE_FAILS,
    WALK_DELETE,
    WALK_DELETE_FAILS,
    WALK_PURGE,
    WALK_WITHDRAW, /* by the feeder */
    WALK_ACTIVATE,
    WALK_SEND,
    WALK_SEND_UNTRUSTED, /* others must confirm its result */
    WALK_RESEND,
    WALK_EXPIRE,
    WALK_GOOD, /* reports; also late, also twice */
    WALK_WRONG,
    WALK_UNREADABLE,
    WALK_ODD, /* suspicious */
    WALK_FAILED,
    WALK_USER_ABORT,
    WALK_DETACH,
    WALK_DISK_LOST, /* its output cannot be read for now */
    WALK_DISK_BACK,
    WALK_CANCEL,
    WALK_PRIORITY,
    WALK_EXTEND,
    WALK_CLOCK,
    N_WALK_EVENTS,
};

const char *walk_event_name(enum walk_event);

struct walk_chance {
    uint64_t state;
};
void walk_seed(struct walk_chance *, uint64_t seed);
uint64_t walk_below(struct walk_chance *, uint64_t n); /* 0 … n - 1 */
bool walk_one_in(struct walk_chance *, uint64_t n);
enum walk_event walk_next_event(struct walk_chance *);

/* Quorum, target, limits, bounds, size class of a new workunit: small ones,
 * from "one result, no second try" to "may fail for long". */
void walk_limits(struct walk_chance *, struct workunit *);

/* How far the clock moves: seconds, hours or days. */
int64_t walk_pause(struct walk_chance *);

enum { WALK_HISTORY = 256 };

struct walk_entry {
    long number; /* of the event in the walk */
    int64_t time;
    enum walk_event event;
    int result;         /* index, -1 none */
    const char *remark; /* "dropped", or NULL */
};

struct walk_history {
    long n; /* all that happened; the last WALK_HISTORY are kept */
    struct walk_entry entry[WALK_HISTORY];
};

void walk_note(struct walk_history *, struct walk_entry);
void walk_print(const struct walk_history *); /* to stderr, oldest first */

/* A number from the environment, or `deflt`. */
long walk_setting(const char *name, long deflt);

#endif
