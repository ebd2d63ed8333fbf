/* life.h - a workunit with its results in memory, and each step that a daemon,
 * a volunteer or an operator may take with it: what the programs do with rows,
 * done with plain structs.
 *
 * The decisions are the real ones (lib/policy); what the db modules do around
 * them is told again here: guards, who sets transition_time to what.  A step
 * changes one workunit and nothing else; the caller takes a copy first if it
 * may be dropped like a transaction. */
#ifndef QUORATE_LIFE_H
#define QUORATE_LIFE_H

#include "quorum.h"
#include "transition.h"

enum { LIFE_MAX = 24 }; /* results of a workunit */

struct life_result {
    struct transition_result row;
    int priority;
    enum read_verdict read; /* what the validator's hook says of its output */
    int answer;             /* what is in it: equal ones agree */
    int grants;             /* how often credit was granted */
    double credit;          /* in all */
};

struct life {
    struct workunit wu; /* its strings are not used */
    size_t n;
    struct life_result r[LIFE_MAX];
    int handled; /* calls of the assimilator's hook */
};

/* What the validator decided about a workunit as it was then. */
struct life_verdict {
    int64_t wu_id;
    int64_t canonical_was;
    unsigned error_was;
    int quorum_was, target_was;
    size_t n; /* viable results */
    struct {
        size_t index;
        enum validate_state was;
        enum quorum_status to;
        bool too_late;
        bool write;
    } viable[LIFE_MAX];
    int64_t canonical_resultid;
    int min_quorum, target_nresults;
    unsigned new_errors;
    bool transition_now, retry;
};

enum life_report { REPORT_GOOD, REPORT_FAILED, REPORT_ABORTED_BY_USER };
enum life_ending { LIFE_TAKEN, LIFE_DEFERRED };

/* ---- daemons; false: nothing to do, nothing changed ---- */

/* The transitioner, if the workunit is due. */
bool life_transition(struct life *, const struct transition_config *,
                     int64_t now);

/* The validator reads and compares; later it stores, if nothing has changed
 * meanwhile.  `app_target`: app.target_nresults. */
void life_compare(const struct life *, int app_target, struct life_verdict *);
bool life_store_verdict(struct life *, const struct life_verdict *,
                        int64_t now);
bool life_validate(struct life *, int app_target, int64_t now);

bool life_assimilate(struct life *, enum life_ending, int64_t now);

/* The file deleter, one row at a time: result i, or the workunit itself if
 * i == n.  `works`: the files can be deleted. */
bool life_delete(struct life *, size_t i, bool works);

/* The feeder withdraws what a failed workunit has left. */
bool life_withdraw(struct life *);
bool life_activate(struct life *, size_t i); /* size_regulator */

/* ---- volunteers: result i ---- */
bool life_send(struct life *, size_t i, int64_t hostid, int64_t now);
/* To a host that is not trusted: n results must agree (adaptive replication).
 */
bool life_send_untrusted(struct life *, size_t i, int64_t hostid, int n,
                         int64_t now);
bool life_resend(struct life *, size_t i, int64_t now);
bool life_expire(struct life *, size_t i, int64_t now); /* lost for good */
bool life_report(struct life *, size_t i, enum life_report, int64_t now);
bool life_detach(struct life *, size_t i, int64_t now);

/* ---- operators ---- */
bool life_cancel(struct life *, int64_t now);
bool life_priority(struct life *, int priority);
bool life_extend(struct life *, size_t i, int64_t seconds); /* a deadline */

/* May db_purge take it? */
bool life_may_be_purged(const struct life *);

#endif
