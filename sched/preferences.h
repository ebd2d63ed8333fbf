/* preferences.h - global preferences: which copy counts, who gets a new one
 * (protocol §8.2). */
#ifndef QUORATE_PREFERENCES_H
#define QUORATE_PREFERENCES_H

#include "rpc.h"

/* Store the client's master document if it is newer and the account's own; send
 * ours if it is newer than both of the client's. */
enum step_result preferences_step(struct rpc *);

/* Those that count for this host. */
void preferences_in_force(const struct rpc *, struct global_prefs *ret);

#endif
