/* poison.c - a trickle handler for tests: "later" fails each time, "crash" ends
 * the program, all else is answered. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trickle.h"

static enum trickle_status
handle(const struct trickle *msg, struct trickle_effects *effects)
{
    trickle_answer(effects, msg->xml);
    if (strcmp(msg->xml, "crash") == 0)
        _exit(9);
    return strcmp(msg->xml, "later") == 0 ? TRICKLE_LATER : TRICKLE_DONE;
}

const struct trickle_hooks trickle_hooks = {.handle = handle,
                                            .variety = "poison"};
