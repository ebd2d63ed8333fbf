/* sample_trivial_validator.c - every result whose output files are there is
 * right. */
#include "validator.h"

static enum read_status
read_nothing(const struct output *out, void *value)
{
    (void)out;
    (void)value;
    return READ_OK;
}

static bool
same_always(const void *a, const void *b)
{
    (void)a;
    (void)b;
    return true;
}

const struct validator_hooks validator_hooks = {
    .read = read_nothing,
    .same = same_always,
};
