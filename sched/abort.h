/* abort.h - jobs on the client that are of no use any more. */
#ifndef QUORATE_ABORT_H
#define QUORATE_ABORT_H

#include "rpc.h"

/* With <send_result_abort>: tell the client to abort jobs that it has and that
 * are not needed. */
enum step_result abort_step(struct rpc *);

#endif
