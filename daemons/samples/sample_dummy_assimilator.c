/* sample_dummy_assimilator.c - write down where the outputs of each finished
 * workunit are, and do nothing with them. */
#include <inttypes.h>
#include <stdio.h>

#include "assimilator.h"

static enum handle_status
write_down(const struct finished *wu)
{
    fprintf(stderr, "workunit %" PRId64 " %s: errors %s (0x%x)\n", wu->wu_id,
            wu->wu_name, wu->error_names, wu->error_mask);
    for (size_t i = 0; i < wu->n_files; i++)
        fprintf(stderr, "workunit %" PRId64 " %s: %s is %s%s\n", wu->wu_id,
                wu->wu_name, wu->file[i].logical, wu->file[i].path,
                wu->file[i].exists ? "" : " (not made)");
    return HANDLE_DONE;
}

const struct assimilator_hooks assimilator_hooks = {.handle = write_down};
