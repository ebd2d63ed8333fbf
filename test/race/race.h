/* race.h - what the race tests share: a ledger that plays the database, and one
 * step of a feeder and of a scheduler.
 *
 * The ledger's results have ids from 1 on.  A result is sent by the conditional
 * UPDATE of the real thing: one atomic change from unsent to sent, which
 * succeeds for one scheduler only.  What the tests want to know is whether jobs
 * get lost, slots get lost, a copy is torn, or two schedulers hold one claim.
 */
#ifndef QUORATE_RACE_H
#define QUORATE_RACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jobarray;
struct sendable;

#define MAX_RESULTS 4000000
#define MAX_SLOTS 128

struct ledger {
    _Atomic int64_t created;     /* results 1 … created are in the database */
    _Atomic int64_t limit;       /* the feeder creates no more than this */
    _Atomic int64_t refused;     /* sends that changed no row */
    _Atomic int64_t lost_leases; /* steps that failed: no longer ours */
    _Atomic int64_t intruders;   /* claims of a slot that somebody held */
    _Atomic int64_t torn;        /* copies that fit no result */
    _Atomic int64_t sent_twice;  /* must stay 0, so the one above */
    _Atomic int holder[MAX_SLOTS]; /* who works on it */
    _Atomic uint8_t sent[MAX_RESULTS + 1];
    _Atomic uint8_t deliveries[MAX_RESULTS + 1];
};

struct random {
    uint64_t state;
};

uint32_t random_next(struct random *, uint32_t below);

/* ---- feeder ---- */
struct feed_state {
    int64_t low; /* all below are sent */
};

/* Sweep, then fill empty slots: first with unsent results that are in no slot,
 * then with new ones. */
void race_feed(struct jobarray *, struct ledger *, struct feed_state *,
               uint32_t now, uint32_t lease, bool same_pids);

/* ---- scheduler ---- */
struct race_claim {
    size_t slot;
    uint64_t word;
    int64_t result_id;
};

/* Try to claim one slot at random. */
bool race_claim(struct jobarray *, struct ledger *, struct random *, pid_t me,
                uint32_t now, struct race_claim *ret);

/* End a claim: mostly send, sometimes give back or leave unsent. */
void race_finish(struct jobarray *, struct ledger *, struct random *, pid_t me,
                 const struct race_claim *);

/* ---- the end ---- */
int64_t race_unsent(const struct ledger *); /* of those created */

/* Say what happened; false if anything is wrong that may never happen. */
bool race_verdict(const char *title, const struct ledger *);

#endif
