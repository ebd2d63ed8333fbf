/* many.h - many saved requests at once, without hosts: for operators who try
 * out their rules, or measure.
 *
 * With server.any_seqno a request is taken whatever its sequence number, so one
 * file of requests can be played again and again.  With server.mark_jobs_done
 * each job that is given out counts as done at once, a success without output:
 * then no limit on jobs in progress is ever met. */
#ifndef QUORATE_MANY_H
#define QUORATE_MANY_H

#include <stdio.h>

#include "rpc.h"

struct server;

/* Handle all requests of a stream, one after the other; their replies go to
 * `out` as they are made.  A request ends with a line that holds nothing but
 * its end tag.  0; -1 failed (logged): the stream cannot be read, or
 * written. */
int many_run(struct server *, FILE *in, FILE *out);

/* The step: the jobs in the reply are done. */
enum step_result many_step(struct rpc *);

#endif
