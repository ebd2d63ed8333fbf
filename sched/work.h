/* work.h - what a host has to offer in this request, and which version of an
 * application it would run (dispatch §6, §7). */
#ifndef QUORATE_WORK_H
#define QUORATE_WORK_H

#include <stddef.h>
#include <stdint.h>

#include "account.h"
#include "app.h"
#include "choice.h"
#include "rules.h"
#include "version.h"

struct rpc;

#define WORK_MAX_PLATFORMS 32 /* of one client */

struct work {
    struct offer_host offer; /* shrinks as jobs are sent */
    struct offer_host whole; /* as it was at first */
    double flops_per_cpu;
    struct platform platform[WORK_MAX_PLATFORMS]; /* the client's, known ones */
    struct version_platform version_platform[WORK_MAX_PLATFORMS];
    size_t n_platforms;
    struct project_prefs prefs; /* the user's, of the host's venue */
    struct app *app;
    size_t n_apps;
    struct app_version *version; /* documents lie in the segment */
    size_t n_versions;
    struct choices choices;
    uint64_t *held_file; /* hashes of the names of the client's files, sorted;
                            none if no app goes by files */
    size_t n_held_files;
};

int work_setup(struct rpc *); /* 0, -1 */
void work_free(struct work *);

/* Has the project an application that hardly needs a processor?  Its jobs are
 * sent without being asked for. */
bool work_has_idle_app(const struct work *);

/* Describe the offer of this job to the host.  What the database knows (other
 * results of the workunit) is left false. */
void work_offer(struct rpc *, const struct sendable *, struct offer *ret,
                struct version_choice *ret_choice);

/* The same for a job that is the host's already, or meant for it: no matter
 * which kind of processor is asked for, which quota or limit is reached. */
void work_offer_anyhow(struct rpc *, const struct sendable *, struct offer *ret,
                       struct version_choice *ret_choice);

/* The same with a choice made before: `choice` must outlive *ret. */
void work_offer_chosen(struct rpc *, const struct sendable *,
                       const struct version_choice *, struct offer *ret);

/* A job is taken: the host's offer shrinks, and its version counts one more
 * today.  The next choice for the application may be another. */
void work_take(struct rpc *, const struct offer *);
/* Nothing was taken, after all. */
void work_take_nothing(struct rpc *);

/* Name of one of the client's platforms. */
const char *work_platform_name(const struct work *, int64_t id);

#endif
