/* defer.c - an assimilator for tests: not now. */
#include "assimilator.h"

static enum handle_status
not_now(const struct finished *wu)
{
    (void)wu;
    return HANDLE_DEFER;
}

const struct assimilator_hooks assimilator_hooks = {.handle = not_now};
