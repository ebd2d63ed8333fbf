/* db_merge.h - make one record of two hosts (dispatch §5.3).
 *
 * Results, credit, messages and targeted jobs move to the one that goes on; the
 * other keeps its row, with userid 0 and the id of its successor in rpc_seqno,
 * so that a client that knows the old id is led to the new one. */
#ifndef QUORATE_DB_MERGE_H
#define QUORATE_DB_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "host.h"

struct audit_line;
struct db;

struct merge_side {
    struct host host;  /* with the columns that merge_check() looks at */
    int64_t n_results; /* in the database */
};

/* 0, DB_NONE: no such host, -1. */
int db_merge_read(struct db *, int64_t id, struct merge_side *ret);

struct merge {
    int64_t from, into; /* hosts */
    int64_t now;
    struct audit_line *audit;
    /* found */
    int64_t n_results; /* moved */
    double credit;
};

/* Move all, in one transaction.  0; DB_BUSY: one of the hosts has changed, look
 * at them again; -1. */
int db_merge_hosts(struct db *, struct merge *);

#endif
