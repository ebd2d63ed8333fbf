/* db_trickle.h - the trickle handlers' questions: messages that jobs sent; what
 * follows from them.
 *
 * May write: msg_from_host.handled; x_trickle; msg_to_host (new rows);
 * result.report_deadline (up), workunit.transition_time; what db_grant.h says;
 * removes rows of msg_from_host and msg_to_host that were handled long ago.
 *
 * Handlers run without any lock.  The transaction that stores what they said
 * locks the messages and leaves out those that are handled already; credit,
 * deadlines and answers are in the same transaction as the mark: each message
 * has its effects once. */
#ifndef QUORATE_DB_TRICKLE_H
#define QUORATE_DB_TRICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workunit.h"

struct db;

struct trickle_query {
    const char *variety; /* NULL: all */
    int64_t after_id;    /* messages with a larger id */
    int64_t now;         /* not those that wait for a later time */
    int mod_n, mod_i;    /* 0: all */
    int limit;
};

/* A deadline of the sender's to be extended. */
struct trickle_extension {
    char result_name[NAME_SIZE];
    int64_t seconds;
    int64_t within; /* only if the deadline is no more than this ahead, s */
};

enum trickle_ending {
    TRICKLE_LEAVE, /* as it is: it comes again */
    TRICKLE_AGAIN, /* failed: one try more, again at next_try */
    TRICKLE_END,   /* handled = state */
};

struct trickle_row {
    int64_t id, create_time, hostid, userid;
    char variety[NAME_SIZE];
    char *xml;
    double p_fpops; /* of the host; 0 if the host is gone */
    int tries;      /* that failed */

    /* the caller decides */
    enum trickle_ending ending;
    int state;
    int64_t next_try;
    bool counted;  /* db_trickle_count_try() has counted this try */
    double credit; /* for host, user, team; 0 none */
    int64_t start; /* of the work that it is for, Unix s */
    struct trickle_extension *extension;
    size_t n_extensions;
    char **answer; /* messages to the host */
    size_t n_answers;
};

struct trickle_batch {
    size_t n, room;
    struct trickle_row *row;
};

/* Read a batch, ids ascending; what was in *batch is forgotten, with what the
 * caller put there.  0 or -1. */
int db_trickle_due(struct db *, const struct trickle_query *,
                   struct trickle_batch *);
void trickle_batch_free(struct trickle_batch *);

/* Count a try before it is made: if the handler takes the whole program down,
 * the message is still known as the one that failed.  0 or -1. */
int db_trickle_count_try(struct db *, int64_t id, int64_t next_try);

/* Store it all in one transaction.  0 or -1. */
int db_trickle_store(struct db *, const struct trickle_batch *, int64_t now);

/* Speed that half of the hosts, and that 95 % of them, do not exceed (FLOPS);
 * of hosts with a recent average credit above 10.  3.3e9 for both if there are
 * fewer than 10 such hosts.  0 or -1. */
int db_trickle_speeds(struct db *, double *ret_50, double *ret_95);

/* Remove up to `limit` messages of each direction that were handled and are
 * older than `before` (Unix s).  How many, or -1. */
int64_t db_trickle_purge(struct db *, int64_t before, int limit);

#endif
