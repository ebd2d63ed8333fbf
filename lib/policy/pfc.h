/* pfc.h - adaptive credit by peak FLOP count (lifecycle §5.2-5.5).
 *
 * A result claims the FLOP that its host could have computed in the time it
 * took: the peak FLOP count.  How much more that is than what the job needs
 * differs from version to version and from host to host, but by factors that
 * hardly change; so each claim is divided by what its version, and its host
 * with this version, usually claim.  docs/credit.md explains it with numbers.
 *
 * Every number that leaves is finite and not negative, whatever comes in. */
#ifndef QUORATE_PFC_H
#define QUORATE_PFC_H

#include <stdbool.h>
#include <stddef.h>

#include "app.h"
#include "host.h"
#include "result.h"
#include "workunit.h"

/* Averages of fewer samples say nothing. */
#define PFC_MIN_HOST_SAMPLES 10
#define PFC_MIN_VERSION_SAMPLES 100
/* With app.host_scale_check: valid results in a row before a host's own scale
 * counts; it could be made by cheating. */
#define PFC_HOST_SCALE_VALID 10

enum pfc_mode {              /* how good is a claim? */
                PFC_NORMAL,  /* scaled by version and host */
                PFC_APPROX,  /* not by both */
                PFC_WU_EST,  /* the workunit's estimate */
                PFC_INVALID, /* above every limit: not used */
};

enum pfc_times { /* what the hook says about the times */
                 PFC_TIMES_AUTOMATIC,
                 PFC_TIMES_USUAL,
                 PFC_TIMES_OUTLIER,
};

struct pfc_query {
    const struct workunit *wu;   /* rsc_fpops_est, rsc_fpops_bound */
    const struct app *app;       /* min_avg_pfc, host_scale_check */
    const struct result *result; /* elapsed_time, cpu_time, flops_estimate,
                                    sent_time, received_time, app_version_id,
                                    runtime_outlier */
    const struct host_app_version *hav; /* NULL: the result had no version */
    const struct app_version *av;       /* NULL: anonymous, or gone */
    enum pfc_times times;
};

struct pfc {     /* of one valid result */
    double flop; /* claimed, scaled */
    enum pfc_mode mode;
    bool outlier; /* its times say nothing about host and version */
    /* Samples for the averages; below 0: none. */
    double host_pfc;    /* raw FLOP / rsc_fpops_est */
    double host_et;     /* elapsed s / rsc_fpops_est */
    double turnaround;  /* s */
    double version_pfc; /* as host_pfc */
};

/* §5.3, and automatic outliers (§4.7): times below 1 % or above 100 times what
 * the version, or the host, usually takes for the estimate. */
void pfc_of_result(const struct pfc_query *, struct pfc *ret);

/* rsc_fpops_est in FLOP of the app's most efficient version (§5.3). */
double pfc_estimate(const struct workunit *, const struct app *);

/* The claim of one result in credits, within the bound and `max`; for the
 * average of its version. */
double pfc_claim(const struct pfc *, const struct workunit *, double max);

/* What each of n valid results gets (§5.4), at most `max`. */
double pfc_credit(const struct pfc *, size_t n, const struct workunit *,
                  const struct app *, double max);

/* §5.5: set pfc_scale of an app's versions, and min_avg_pfc of the app, from
 * pfc_n, pfc_avg and plan_class.  False: too few samples, all is left as it
 * is. */
bool pfc_scale_versions(struct app_version *, size_t n,
                        double *ret_min_avg_pfc);

#endif
