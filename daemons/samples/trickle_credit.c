/* trickle_credit.c - grant credit for the run time that a message tells:
 * <runtime>SECONDS</runtime> at the speed of the host. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trickle.h"

static double max_runtime = 86400; /* s */

static enum trickle_status
grant(const struct trickle *msg, struct trickle_effects *effects)
{
    double runtime;

    if (!trickle_number(msg, "runtime", &runtime) || runtime < 0)
        return TRICKLE_BAD;
    trickle_grant(
        effects,
        trickle_credit_of(fmin(runtime, max_runtime) * msg->host_flops),
        msg->create_time - 86400);
    return TRICKLE_DONE;
}

static int
init(int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        char *end = NULL;

        if (strcmp(argv[i] + strspn(argv[i], "-"), "max_runtime") != 0 ||
            i + 1 == argc)
            return fprintf(stderr, "%s: not --max_runtime SECONDS\n", argv[i]);
        max_runtime = strtod(argv[i + 1], &end);
        if (*end != '\0' || !(max_runtime > 0) || !isfinite(max_runtime))
            return fprintf(stderr, "--max_runtime %s: not seconds\n",
                           argv[i + 1]);
    }
    return 0;
}

const struct trickle_hooks trickle_hooks = {
    .handle = grant,
    .variety = "trickle_credit",
    .init = init,
    .usage = "--max_runtime SECONDS: a message counts for no more than this "
             "(default 86400).",
};
