/* auth.h - whose host is this? (protocol §7, dispatch §5)
 *
 * Finds the account by its key and the host's record, or makes one; locks the
 * record.  Afterwards rpc->user, old_host and host are set. */
#ifndef QUORATE_AUTH_H
#define QUORATE_AUTH_H

#include "rpc.h"

enum step_result auth_step(struct rpc *);

/* After the request: its key was wrong, which counts against its address. */
void auth_count_failure(struct rpc *);

/* Copy what the request says of the computer. */
void auth_describe_host(const struct rpc *, struct host *);

#endif
