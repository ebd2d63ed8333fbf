/* trickle_deadline.c - a job that says it is still at work, shortly before its
 * deadline, gets more time: <result_name>NAME</result_name>. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trickle.h"

static long period = 86400, timeframe = 7 * 86400; /* s */

static enum trickle_status
extend(const struct trickle *msg, struct trickle_effects *effects)
{
    if (msg->result_name[0] == '\0')
        return TRICKLE_BAD;
    trickle_extend_deadline(effects, msg->result_name, period, timeframe);
    return TRICKLE_DONE;
}

static int
init(int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i] + strspn(argv[i], "-");
        long *where = strcmp(name, "extension_period") == 0      ? &period
                      : strcmp(name, "extension_timeframe") == 0 ? &timeframe
                                                                 : NULL;
        char *end = NULL;

        if (where == NULL || i + 1 == argc)
            return fprintf(stderr,
                           "%s: not --extension_period SECONDS or "
                           "--extension_timeframe SECONDS\n",
                           argv[i]);
        *where = strtol(argv[i + 1], &end, 10);
        if (*end != '\0' || *where <= 0 || *where > 315360000)
            return fprintf(stderr, "%s %s: not seconds, 1 to 315360000\n",
                           argv[i], argv[i + 1]);
    }
    return 0;
}

const struct trickle_hooks trickle_hooks = {
    .handle = extend,
    .variety = "trickle_deadline",
    .init = init,
    .usage = "--extension_period SECONDS: how much later the deadline gets "
             "(default 86400).\n\n"
             "--extension_timeframe SECONDS: only a deadline that is no "
             "farther ahead (default 604800).",
};
