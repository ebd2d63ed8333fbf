/* extras.h - what a reply carries beside account, reports and jobs: links,
 * files of the project, sticky files to delete, what the client need not ask
 * for, its availability log (dispatch §4, §16).
 *
 * Made after the transaction: nothing here is in the database. */
#ifndef QUORATE_EXTRAS_H
#define QUORATE_EXTRAS_H

struct rpc;

void extras_add(struct rpc *);

#endif
