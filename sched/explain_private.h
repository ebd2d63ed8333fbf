/* explain_private.h - what the files of explain.h share. */
#ifndef QUORATE_EXPLAIN_PRIVATE_H
#define QUORATE_EXPLAIN_PRIVATE_H

#include "db_explain.h"
#include "explain.h"

/* What an explained request has beyond a client's (rpc.explain). */
struct explain {
    const struct explain_workunit *wu; /* the one asked about, or NULL */
    struct explain_verdict {
        size_t slot;
        int64_t result_id, wu_id;
        const struct dispatch_rule *refusal; /* NULL: it can be sent */
        char *text; /* application, version, rule by rule */
    } * verdict;
    size_t n;
    bool reached; /* no step before ended the request */
};

/* Connect to the database; map the segment for reading.  False: logged. */
bool explain_open(struct server *);

/* DB_NONE: said in `out`. */
int explain_find_workunit(struct server *, int64_t id,
                          struct explain_workunit *ret, struct buf *out);

/* Ask every rule about the job; `text` gets a line for each.  The rule that
 * refuses, or NULL.  The first that refuse are those that a request would
 * meet. */
const struct dispatch_rule *explain_judge(struct rpc *, const struct sendable *,
                                          bool user_has, bool host_has,
                                          struct buf *text);

/* A request that the host would send. */
void explain_write_request(const struct host *, const char *facts,
                           const char *authenticator,
                           const struct explain_job *, size_t n_jobs,
                           const struct catalog *, struct buf *out);

#endif
