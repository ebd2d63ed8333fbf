/* sample_copy_assimilator.c - copy the outputs of each finished workunit into a
 * folder: WORKUNIT, or WORKUNIT_LOGICALNAME if there are several; of a failed
 * one, WORKUNIT_error with the reasons. */
#include <stdio.h>
#include <string.h>

#include "assimilator.h"

static const char *outdir = "results";

static enum handle_status
copy_outputs(const struct finished *wu)
{
    char name[1024];
    int rc = 0;

    if (wu->error_mask != 0) {
        snprintf(name, sizeof(name), "%s_error", wu->wu_name);
        rc = finished_write(wu, outdir, name, wu->error_names);
        return rc == 0 ? HANDLE_DONE : HANDLE_LATER;
    }
    for (size_t i = 0; i < wu->n_files && rc == 0; i++) {
        snprintf(name, sizeof(name), "%s%s%s", wu->wu_name,
                 wu->n_files > 1 ? "_" : "",
                 wu->n_files > 1 ? wu->file[i].logical : "");
        if (wu->file[i].exists)
            rc = finished_copy(wu, i, outdir, name);
    }
    return rc == 0 ? HANDLE_DONE : HANDLE_LATER;
}

static int
init(int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i] + strspn(argv[i], "-"), "outdir") != 0 ||
            i + 1 == argc)
            return fprintf(stderr, "%s: not --outdir FOLDER\n", argv[i]);
        outdir = argv[i + 1];
    }
    return 0;
}

const struct assimilator_hooks assimilator_hooks = {
    .handle = copy_outputs,
    .init = init,
    .usage = "--outdir FOLDER: where the files go; a relative one is taken "
             "from the project's root (default: results).",
};
