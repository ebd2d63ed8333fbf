/* quorum.h - agreement among results: canonical, valid, invalid, inconclusive
 * (lifecycle §4.2-4.4).
 *
 * The validator reads outputs and compares pairs; this file decides what the
 * verdicts mean.  No result is ever compared here: the caller gives a matrix.
 */
#ifndef QUORATE_QUORUM_H
#define QUORATE_QUORUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workunit.h"

enum read_verdict { /* of one result's outputs */
                    OUTPUT_OK,
                    OUTPUT_SUSPICIOUS, /* readable; needs more agreement (§4.4
                                          step 2) */
                    OUTPUT_BAD,        /* permanently unreadable */
                    OUTPUT_LATER,      /* transient: look again later */
};

enum match {
    MATCH_NO,
    MATCH_YES,
    MATCH_UNKNOWN, /* the comparison failed for now: look again later */
};

enum quorum_status {              /* what becomes of one result */
                     QUORUM_KEEP, /* untouched (a transient read error: stays
                                     INIT) */
                     QUORUM_VALID,
                     QUORUM_INVALID,
                     QUORUM_INCONCLUSIVE,
                     QUORUM_VALIDATE_ERROR, /* outcome VALIDATE_ERROR, validate
                                               INVALID */
};

struct quorum_limits {
    int min_quorum;
    int target_nresults;
    int max_success_results;
    int app_target_nresults; /* adaptive replication; 0 off */
};

struct quorum_decision {
    ptrdiff_t canonical; /* index, or -1 */
    bool retry;          /* look again in 6 h (transient error) */
    int min_quorum;      /* may be raised by a suspicious result */
    int target_nresults; /* raised by one more than the viable if none agree */
    unsigned new_errors; /* WU_TOO_MANY_SUCCESS_RESULTS or 0 */
    bool transition_now; /* something for the transitioner to do */
    int n_viable;        /* results that may still become valid */
};

/* match[i * n + j]: does j agree with i?  Only cells of two readable results
 * are looked at; match[i * n + i] need not be set.  status[n] is filled. */
void quorum_decide(const struct quorum_limits *, const enum read_verdict *read,
                   const enum match *match, size_t n,
                   enum quorum_status *status, struct quorum_decision *ret);

/* A late result against the canonical one (§4.3). */
enum straggler_verdict {
    STRAGGLER_VALID,
    STRAGGLER_INVALID,
    STRAGGLER_ERROR,    /* its output is bad: VALIDATE_ERROR */
    STRAGGLER_TOO_LATE, /* the canonical output cannot be read any more */
    STRAGGLER_RETRY,
};
enum straggler_verdict quorum_straggler(enum read_verdict late,
                                        enum read_verdict canonical,
                                        enum match match);

#endif
