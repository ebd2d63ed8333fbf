/* advise.h - what the client is told before work is thought of: too old, wrong
 * platform, wrong key, too soon. */
#ifndef QUORATE_ADVISE_H
#define QUORATE_ADVISE_H

#include "rpc.h"

/* May this client have work at all?  Sets rpc->no_work with a message if not,
 * and the code-sign key in the reply. */
enum step_result advise_step(struct rpc *);

/* The least time until the next request, if the project has one. */
void advise_interval(const struct config *, struct sched_reply *);

#endif
