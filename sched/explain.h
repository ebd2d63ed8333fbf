/* explain.h - why does a host get a job, or not?  For operators.
 *
 * A request (a saved one, or one made from what is known of a host) goes
 * through the same steps as a client's, so an explanation cannot differ from
 * what is done.  But the transaction is rolled back, and the job array is a
 * private copy of what is READY; the segment itself is mapped read-only.
 * Between the steps every rule is asked about every job, each as if it were the
 * first. */
#ifndef QUORATE_EXPLAIN_H
#define QUORATE_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "cmdline.h"
#include "rpc.h"

struct server;

/* The step: judge the jobs, write down the verdicts.  Does nothing in a
 * client's request. */
enum step_result explain_step(struct rpc *);

/* Explain the request of these bytes: each READY job, or those of `workunit`
 * (0: none asked for) even if it is not in the array; with the reply if
 * `with_reply`.  EXIT_OK: a job can be taken; EXIT_NO: none; EXIT_TEMPFAIL
 * (logged). */
enum exit_status explain_request(struct server *, const void *bytes, size_t n,
                                 int64_t workunit, bool with_reply,
                                 struct buf *out);

/* The same for a request such as the host would send now, with an empty queue,
 * to fill one second of each processor. */
enum exit_status explain_host(struct server *, int64_t hostid, int64_t workunit,
                              struct buf *out);

/* Which of the hosts seen in the last `days` days could take the workunit, and
 * why not the others?  Counts by rule; each host as if it were idle. */
enum exit_status explain_workunit(struct server *, int64_t workunit,
                                  int64_t days, struct buf *out);

#endif
