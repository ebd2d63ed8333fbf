/* dispatch.h - walk the job array: claim, judge with policy, send in the
 * database, answer (dispatch §8, §9). */
#ifndef QUORATE_DISPATCH_H
#define QUORATE_DISPATCH_H

#include "rpc.h"

enum step_result dispatch_step(struct rpc *);

/* The deadline told to a client, and the one stored, of a job sent now. */
int64_t dispatch_deadline(int64_t now, int64_t delay_bound);
int64_t dispatch_stored_deadline(const struct rpc *, int64_t told);

/* Put a job that was sent into the reply, which takes wu and result over. */
void dispatch_reply(struct rpc *, struct candidate *,
                    const struct version_choice *, const struct app *);

#endif
