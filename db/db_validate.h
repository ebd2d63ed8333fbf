/* db_validate.h - the validator's questions: results to compare; store verdicts
 * and credit together.
 *
 * May write: workunit.need_validate (to 0), canonical_resultid,
 * canonical_credit, assimilate_state (to READY), error_mask (adds bits),
 * min_quorum, target_nresults (up), transition_time; result.outcome,
 * validate_state, granted_credit, claimed_credit, runtime_outlier, teamid (to
 * the team that gets the credit), and server_state of results never sent;
 * host.total_credit, expavg_credit, expavg_time, avg_turnaround; user and team:
 * total_credit, expavg_credit, expavg_time; rows of credit_user, credit_team,
 * credited_job and host_app_version; app_version.pfc_n, pfc_avg, expavg_credit,
 * expavg_time; batch as db_batch.h says.
 *
 * Reading and comparing outputs takes long, so it happens without a lock.  The
 * transaction that stores the verdicts locks the workunits and their results
 * and looks whether they are still what was compared; a workunit that is not,
 * is left as it is, and comes again.  Credit is granted in that transaction,
 * behind the change of validate_state: exactly once. */
#ifndef QUORATE_DB_VALIDATE_H
#define QUORATE_DB_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app.h"
#include "host.h"
#include "pfc.h"
#include "result.h"
#include "workunit.h"

struct db;

struct validate_query {
    int64_t appid;
    int64_t after_id; /* workunits with a larger id */
    int64_t max_id;   /* 0: no limit */
    int64_t wu_id;    /* this one alone, need_validate or not; 0 none */
    int mod_n, mod_i; /* 0: all */
    int limit;        /* workunits in a batch */
    bool failed_too;  /* results that failed, for --check_punitive */
    bool judged_too;  /* also those found invalid or unreadable */
};

/* What is decided about one result. */
struct validate_change {
    bool write;
    enum outcome outcome;
    enum validate_state validate_state;
    double credit;         /* to be granted, if VALID */
    double claimed_credit; /* what the result itself claims */
    bool outlier;          /* its times say nothing about its host */
    bool measured;         /* the next two count, if VALID */
    struct pfc pfc;        /* samples for the averages */
    double version_credit; /* for the average of its version */
};

/* What is decided about one workunit. */
struct validate_verdict {
    bool undecided;             /* leave it alone, it comes again */
    int64_t canonical_resultid; /* as read, or newly found */
    double canonical_credit;
    unsigned new_errors; /* bits for error_mask */
    int min_quorum, target_nresults;
    bool transition_now;
    bool retry; /* look again in 6 hours */
};

struct validate_wu {
    struct workunit wu; /* id, appid, name, batch, rsc_fpops_est and _bound,
                           canonical_*, error_mask, the quorum and limits,
                           assimilate_state, transition_time */
    size_t first, n; /* its results: batch->result[first … first + n - 1] */
};

struct validate_failed { /* a result with outcome CLIENT_ERROR */
    struct result result;
    size_t wu;     /* batch->wu[wu] */
    bool hopeless; /* decided: its host will go on failing */
};

struct validate_batch {
    size_t n;
    struct validate_wu *wu;
    struct validate_verdict *verdict; /* the caller decides */
    /* Those that are OVER with SUCCESS and not INVALID.  Filled: id, name, the
     * states, host, user, app version, times, exit_status, granted_credit,
     * flops_estimate; by db_validate_documents(): xml_doc_in, stderr_out. */
    size_t n_results;
    struct result *result;
    struct validate_change *change; /* the caller decides; all zero */
    size_t room_for_wu, room_for_results;
    struct validate_failed *failed; /* of workunits without canonical result */
    size_t n_failed, room_for_failed;
    /* Statistics of the hosts and versions: validate_hav() and
     * validate_version() find them. */
    struct host_app_version *hav;
    size_t n_hav;
    struct app_version *version;
    size_t n_versions;
};

struct validate_terms {
    int64_t now;
    int daily_result_quota;
    int app_target_nresults;
    bool credit_by_app; /* keep credit_user and credit_team as well */
    bool credited_job;  /* note whose result of which workunit.opaque counted */
};

/* Read a batch, ids ascending; what was in *batch is forgotten.  0 (batch->n
 * may be 0) or -1. */
int db_validate_due(struct db *, const struct validate_query *,
                    struct validate_batch *);
void validate_batch_free(struct validate_batch *);

/* Read the documents of all results of wu[from … from + n - 1] (of those that
 * are there), and forget those of others: they may be large, and are wanted
 * only while outputs are compared.  0 or -1. */
int db_validate_documents(struct db *, struct validate_batch *, size_t from,
                          size_t n);

/* The statistics of a result's host with its version (empty if there are none
 * yet); NULL: the result has no version. */
const struct host_app_version *validate_hav(const struct validate_batch *,
                                            const struct result *);

/* The result's version; NULL: an anonymous platform, or it is gone. */
const struct app_version *validate_version(const struct validate_batch *,
                                           const struct result *);

/* Store it all in one transaction.  A workunit whose rows are not as read any
 * more is marked `undecided`.  0 or -1. */
int db_validate_store(struct db *, struct validate_batch *,
                      const struct validate_terms *);

/* The application: id, name, target_nresults, min_avg_pfc, host_scale_check.
 * 0, DB_NONE, -1. */
int db_validate_app(struct db *, int64_t appid, struct app *ret);

#endif
