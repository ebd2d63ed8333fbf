/* version.h - the best app version of a job for a host (dispatch §7), for now
 * versions without a plan class: one CPU at the host's speed. */
#ifndef QUORATE_VERSION_H
#define QUORATE_VERSION_H

#include <stdbool.h>
#include <stddef.h>

#include "app.h"

struct version_query {
    const struct app *app;
    const int64_t *platforms; /* the client's, in order of preference */
    size_t n_platforms;
    int client_version; /* 10000a + 100b + c */
    bool cap_plan_class;
    int app_version_num;  /* workunit's pin, 0 none */
    double flops_per_cpu; /* FLOPS */
};

struct version_choice {
    ptrdiff_t index; /* into the versions given, or -1 */
    double avg_ncpus;
    double flops;         /* projected, FLOPS */
    double peak_flops;    /* stored in result.flops_estimate */
    bool version_too_old; /* only versions below app.min_version fit */
    bool client_too_old;  /* only versions for newer (or older) clients fit */
};

void version_choose(const struct version_query *, const struct app_version *,
                    size_t n, struct version_choice *ret);

#endif
