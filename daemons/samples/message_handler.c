/* message_handler.c - an example for messages of all varieties: write each
 * down, and send it back as it is. */
#include <inttypes.h>
#include <stdio.h>

#include "trickle.h"

static enum trickle_status
copy(const struct trickle *msg, struct trickle_effects *effects)
{
    fprintf(stderr, "message %" PRId64 " of host %" PRId64 ", %s: %s\n",
            msg->id, msg->host_id, msg->variety, msg->xml);
    trickle_answer(effects, msg->xml);
    return TRICKLE_DONE;
}

const struct trickle_hooks trickle_hooks = {.handle = copy};
