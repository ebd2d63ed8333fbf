/* trickle_echo.c - send each message back to the job that it came from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trickle.h"

/* The text holds <result_name> and <time> lines, which the client wants to find
 * in a <trickle_down>, too. */
static enum trickle_status
echo(const struct trickle *msg, struct trickle_effects *effects)
{
    const size_t size = strlen(msg->xml) + 64;
    char *answer = malloc(size);

    if (answer == NULL)
        return TRICKLE_LATER;
    snprintf(answer, size, "<trickle_down>\n%s%s</trickle_down>\n", msg->xml,
             msg->xml[0] != '\0' && msg->xml[strlen(msg->xml) - 1] == '\n'
                 ? ""
                 : "\n");
    trickle_answer(effects, answer);
    free(answer);
    return TRICKLE_DONE;
}

const struct trickle_hooks trickle_hooks = {.handle = echo,
                                            .variety = "trickle_echo"};
