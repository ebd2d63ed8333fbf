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
#include "plan_class.h"
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
    VERSION_PLAN_CLASS,  /* choice.verdict says why */
    VERSION_BETA,        /* a test version, and the user takes none */
    VERSION_EXCLUDED,    /* preferences exclude its kind of processor */
    VERSION_UNRELIABLE,  /* the job is only for proven hosts */
    VERSION_QUOTA,       /* the host got its choice.quota jobs of it today */
    VERSION_IN_PROGRESS, /* limit of jobs in progress of app and type */
    VERSION_NOT_ASKED,   /* for a kind of processor that needs no work */
    VERSION_ANONYMOUS,   /* app_info.xml has no usable version of the app */
    VERSION_OWN_PROGRAM, /* the client's own are not used for this app, whose
                            results must all be of one version */
};

struct version_platform {
    int64_t id;
    bool is_64bit; /* version_platform_is_64bit() */
};

/* One version on this host. */
struct version_on_host {
    /* of its plan class; NULL: the version has none */
    const struct plan_class_verdict *verdict;
    bool not_for_job;                   /* the class is for other jobs */
    const struct host_app_version *hav; /* statistics; NULL: none yet */
    int jobs_today; /* sent to the host, with those of this reply */
    double normal;  /* random: mean 0, standard deviation 1 */
    double uniform; /* random: 0 … 1 */
};

/* A version of the client's own app_info.xml (anonymous platform). */
struct version_own {
    int64_t appid; /* 0: an application unknown to us */
    int version_num;
    bool is_64bit;           /* by its platform */
    struct host_usage usage; /* projected_flops as the client says; <= 0: it
                                does not */
    const struct host_app_version *hav; /* of app and kind of processor */
    int jobs_today;
};

struct version_query {
    const struct app *app;
    const struct version_platform *platforms; /* in the client's order */
    size_t n_platforms;
    const struct version_on_host *on_host; /* one for each version; NULL: no
                                              plan class is usable */
    int client_version;                    /* 10000a + 100b + c */
    bool cap_plan_class; /* the client knows what a plan class is */
    bool needs_64bit;    /* version_needs_64bit() */
    bool reliable_only;  /* the job is in a hurry */
    bool anyhow; /* the job is this host's already, or meant for it: no matter
                    what is asked for, which limit and which quota is reached */
    int app_version_num;    /* workunit's pin, 0 none */
    int64_t app_version_id; /* pin of a homogeneous app version, 0 none */
    double flops_per_cpu;   /* FLOPS; <= 0 not measured */

    /* the user's preferences */
    bool beta_allowed;     /* test versions */
    bool test_app_allowed; /* … this application, should it be a test */
    bool excluded[N_PROC_TYPES];

    /* the request, as far as it is not filled yet */
    bool any_type; /* old form: kinds of processor are not told apart */
    bool asked[N_PROC_TYPES];
    bool at_limit[N_PROC_TYPES]; /* of jobs in progress, for this app */

    /* daily quota */
    int daily_result_quota;  /* config, 0 none */
    int ncpus;               /* host.p_ncpus */
    int ngpus[N_PROC_TYPES]; /* of each kind; [PROC_CPU] unused */
    double gpu_multiplier;   /* config; < 1 counts as 1 */

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
    struct host_usage usage; /* projected_flops: the best estimate we have */
    double fpops_scale;      /* times the workunit's FLOP numbers in the reply:
                                1, but if an anonymous client errs in its speed */
    enum version_refusal refusal;             /* VERSION_OK if index >= 0 */
    const struct plan_class_verdict *verdict; /* of VERSION_PLAN_CLASS; NULL:
                                                 the class is for other jobs */
    int quota;                                /* of VERSION_QUOTA: jobs a day */
};

/* The fastest version that may be sent, by what the host is known to get out of
 * it.  A version is tried at random the more often, the less is known of it. */
void version_choose(const struct version_query *, const struct app_version *,
                    size_t n, struct version_choice *ret);

/* The fastest of the client's own versions; platforms and on_host are not
 * asked. */
void version_choose_own(const struct version_query *,
                        const struct version_own *, size_t n,
                        struct version_choice *ret);

/* No version, for this reason. */
void version_none(enum version_refusal, struct version_choice *ret);

/* FLOPS of a version on a host, by the best statistics there are (§7,
 * estimate_flops); `usage` is what its plan class says. */
double version_flops(const struct version_query *, const struct app_version *,
                     const struct host_usage *usage,
                     const struct host_app_version *);

/* Jobs a day of a version that uses this kind of processor, given the host's
 * max_jobs_per_day with it (<= 0: no job yet).  0: without limit. */
int version_quota(const struct version_query *, enum proc_type,
                  int max_jobs_per_day);

/* Does its name say that programs for it have 64-bit addresses? */
bool version_platform_is_64bit(const char *name);

/* Is this more memory than a 32-bit program can address on such a host? */
bool version_needs_64bit(double rsc_memory_bound, const char *os_name);

#endif
