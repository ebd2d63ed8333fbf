/* version.h - the best app version of a job for a host (dispatch §7, §8.3).
 *
 * The caller brings what is known of each version on this host: what its plan
 * class works out to, the host's statistics with it, and random numbers, drawn
 * once for each request so that asking twice gives one answer. */
#ifndef QUORATE_VERSION_H
#define QUORATE_VERSION_H

#include <stdbool.h>
#include <stddef.h>

#include "app.h"
#include "host.h"
#include "trust.h"
#include "usage.h"

/* Why there is no version, in the order of how near one came to being sent. */
enum version_refusal {
    VERSION_OK,
    VERSION_NO_PLATFORM, /* none for the client's platforms */
    VERSION_NOT_64_BIT,  /* the job needs more memory than 32 bits address */
    VERSION_TOO_OLD,     /* below app.min_version */
    VERSION_CLIENT_TOO_OLD,
    VERSION_CLIENT_TOO_NEW,
    VERSION_PLAN_CLASS,  /* not on this computer; choice.text says why */
    VERSION_BETA,        /* a test version, and the user takes none */
    VERSION_EXCLUDED,    /* preferences exclude its kind of processor */
    VERSION_UNRELIABLE,  /* the job is only for proven hosts */
    VERSION_QUOTA,       /* as many today as the host may get of it */
    VERSION_IN_PROGRESS, /* limit of jobs in progress of app and type */
    VERSION_NOT_ASKED,   /* for a kind of processor that needs no work */
    VERSION_ANONYMOUS,   /* app_info.xml has no usable version of the app */
};

struct version_platform {
    int64_t id;
    bool is_64bit; /* its name says so: version_platform_is_64bit() */
};

/* One version on this host. */
struct version_on_host {
    bool usable;         /* its plan class allows the host */
    const char *why_not; /* if not; borrowed */
    struct host_usage usage;
    const struct host_app_version *hav; /* statistics; NULL: none yet */
    double normal;  /* random: mean 0, standard deviation 1 */
    double uniform; /* random: 0 … 1 */
};

/* A version of the client's own app_info.xml (anonymous platform). */
struct version_own {
    int64_t appid; /* 0: an application unknown to us */
    int version_num;
    bool is_64bit;                  /* by its platform */
    struct version_on_host on_host; /* usage.projected_flops as the client says
                                       (0: it does not) */
};

struct version_query {
    const struct app *app;
    const struct version_platform *platforms; /* in the client's order */
    size_t n_platforms;
    const struct version_on_host *on_host; /* of each version; NULL: no plan
                                              class is usable, no statistics */
    int client_version;                    /* 10000a + 100b + c */
    bool cap_plan_class;
    bool needs_64bit;       /* version_needs_64bit() */
    bool reliable_only;     /* the job is in a hurry */
    int app_version_num;    /* workunit's pin, 0 none */
    int64_t app_version_id; /* pin of a homogeneous app version, 0 none */
    double flops_per_cpu;   /* FLOPS, of the host */

    /* the user's preferences */
    bool beta_allowed;
    bool excluded[N_PROC_TYPES];

    /* the request, as far as it is not filled yet */
    bool any_type; /* old form: kinds of processor are not told apart */
    bool asked[N_PROC_TYPES];
    bool at_limit[N_PROC_TYPES]; /* of jobs in progress, for this app */

    /* daily quota */
    int daily_result_quota;  /* config, 0 none */
    int ncpus;               /* host.p_ncpus */
    int ngpus[N_PROC_TYPES]; /* of each kind; [PROC_CPU] unused */
    double gpu_multiplier;   /* config */

    struct trust_limits reliable;
    bool prefer_primary_platform;     /* config */
    bool rte_no_stats;                /* config */
    bool estimate_flops_from_hav_pfc; /* config */
    double random_factor;             /* version_select_random_factor */
};

struct version_choice {
    ptrdiff_t index;    /* into the versions given, or -1 */
    bool anonymous;     /* index is into the client's own */
    int64_t version_id; /* for result.app_version_id; -2 … -6 anonymous */
    struct host_usage usage; /* projected_flops: best estimate (§7) */
    double fpops_scale; /* times the workunit's FLOP numbers in the reply; 1 */
    enum version_refusal refusal; /* VERSION_OK if index >= 0 */
    const char *text;             /* of VERSION_PLAN_CLASS: why not; else "" */
};

void version_choose(const struct version_query *, const struct app_version *,
                    size_t n, struct version_choice *ret);

#endif
