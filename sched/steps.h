/* steps.h - the steps of a request, as handle.c runs them for a client and
 * explain.c for an operator. */
#ifndef QUORATE_STEPS_H
#define QUORATE_STEPS_H

struct buf;
struct db;
struct rpc;

/* Run all steps inside a transaction; a function for db_transaction(), `rpc` is
 * a struct rpc.  0; 1: a step ended the request; -1 failed (logged). */
int steps_run(struct db *, void *rpc);

/* Add what is not in the database, and write the reply. */
void steps_write_reply(struct rpc *, struct buf *out);

/* Forget what the steps made; the claims stay. */
void steps_reset(struct rpc *);

#endif
