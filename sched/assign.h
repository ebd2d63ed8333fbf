/* assign.h - jobs for this host, its user or its team, and jobs for every host
 * (dispatch §9 b–d).
 *
 * Their results are made here, when the host that is meant asks: exactly once,
 * for the workunit's row is locked while its results are counted. */
#ifndef QUORATE_ASSIGN_H
#define QUORATE_ASSIGN_H

#include "rpc.h"

/* If a targeted job is sent, no other is looked for (rpc->assigned). */
enum step_result assign_step(struct rpc *);

#endif
