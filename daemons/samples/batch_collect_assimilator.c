/* batch_collect_assimilator.c - collect the outputs of each batch in a folder
 * of its own: OUTDIR/BATCH/WORKUNIT__file_LOGICAL; of a workunit without output
 * WORKUNIT_no_output_files, of a failed one WORKUNIT_error with its mask.
 *
 * Outputs are copied, not moved: a result that comes later is still compared
 * with the canonical one.  The file deleter takes the originals away. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "assimilator.h"

static const char *outdir = "results";

static int
collect(const struct finished *wu, const char *folder)
{
    char name[1024];
    size_t n = 0;
    int rc = 0;

    for (size_t i = 0; i < wu->n_files && rc == 0; i++) {
        if (!wu->file[i].exists)
            continue;
        n++;
        snprintf(name, sizeof(name), "%s__file_%s", wu->wu_name,
                 wu->file[i].logical);
        rc = finished_copy(wu, i, folder, name);
    }
    if (n == 0) {
        snprintf(name, sizeof(name), "%s_no_output_files", wu->wu_name);
        rc = finished_write(wu, folder, name, "");
    }
    return rc;
}

static enum handle_status
handle(const struct finished *wu)
{
    char folder[4096], name[1024], mask[32];
    int rc;

    if (snprintf(folder, sizeof(folder), "%s/%" PRId64, outdir, wu->batch) >=
        (int)sizeof(folder))
        return HANDLE_LATER;
    if (wu->error_mask == 0) {
        rc = collect(wu, folder);
    } else {
        snprintf(name, sizeof(name), "%s_error", wu->wu_name);
        snprintf(mask, sizeof(mask), "0x%x\n", wu->error_mask);
        rc = finished_write(wu, folder, name, mask);
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
    .handle = handle,
    .init = init,
    .usage = "--outdir FOLDER: below it each batch gets a folder; a relative "
             "one is taken from the project's root (default: results).",
};
