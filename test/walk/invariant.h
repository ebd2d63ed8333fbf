/* invariant.h - what must be true of a workunit and its results at any time,
 * between any two transactions, whoever was killed; as claims about plain
 * structs.
 *
 * Tests of the state machine ask them after every step: the enumeration of all
 * states, the random walk in memory, and the walk on a database. */
#ifndef QUORATE_INVARIANT_H
#define QUORATE_INVARIANT_H

#include "life.h"

/* The first claim that does not hold, as a sentence; NULL: all hold.
 * `credits` also looks at what was granted. */
const char *invariant_broken(const struct life *, bool credits);

/* What must not change from one moment to a later one: what is over stays over,
 * what is done stays done, the canonical result stays. */
const char *invariant_step_broken(const struct life *before,
                                  const struct life *after);

/* Who moves it next. */
enum life_waits {
    WAITS_STUCK, /* nobody: what must never be */
    WAITS_FINAL, /* nobody: it is done, db_purge may take it */
    WAITS_TRANSITIONER,
    WAITS_VALIDATOR,
    WAITS_ASSIMILATOR,
    WAITS_DELETER,
    WAITS_SCHEDULER, /* a result may be sent, or released to be */
    WAITS_HOST,      /* a result is out, and its deadline is watched */
    WAITS_TARGET,    /* flag 2: for whom it is made for to ask for it */
    WAITS_OPERATOR,  /* flag 1: not the transitioner's */
};
enum life_waits invariant_waits_for(const struct life *,
                                    const struct transition_config *,
                                    int64_t now);

/* Is it done, with nothing left for anybody but db_purge? */
bool invariant_is_final(const struct life *);

/* (measure.c) How much is left to do: a number >= 0 that each step of a daemon,
 * and each of a volunteer who does not fail, makes smaller while the clock
 * stands. */
int64_t invariant_measure(const struct life *, int64_t now);

/* One line for each row, to stderr. */
void invariant_print(const struct life *, int64_t now);

/* From now on no volunteer fails, no disk, no handler: walk on until it is
 * final.  Returns how many steps that took, or -1 if it does not come to an
 * end or a step did not make the measure smaller; *ret_why says so. */
int invariant_drain(struct life, const struct transition_config *,
                    int app_target, int64_t now, const char **ret_why);

#endif
