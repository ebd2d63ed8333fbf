/* rpc.h - one request on its way through the steps of handle.c.
 *
 * No globals: a step sees what is in here, so a test can run one step.  What
 * stands in the first part holds for the whole request; the second part is made
 * anew whenever the database asks for the transaction to be repeated. */
#ifndef QUORATE_RPC_H
#define QUORATE_RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account.h"
#include "buf.h"
#include "claims.h"
#include "db_sched.h"
#include "app_limits.h"
#include "reply.h"
#include "request.h"
#include "standing.h"
#include "work.h"

struct catalog;
struct config;
struct explain;
struct jobarray;
struct locality;
struct rule_files;
struct segment;
struct outdoc;
struct sitefiles;

enum step_result {
    STEP_NEXT,
    STEP_END,    /* the reply says why; nothing is kept of what was done */
    STEP_FAILED, /* logged */
};

struct rpc_tally { /* for the request's line in the log */
    int64_t reported, stored;
    unsigned ready;   /* slots with a job, as the walk began */
    unsigned scanned; /* of them judged */
    unsigned resent, sent, aborted;
};

struct rpc {
    const struct config *cfg;
    const struct sched_request *req;
    const char *peer; /* address of the client, "" unknown */
    int64_t now;
    struct db *db;
    struct segment *segment;
    struct jobarray *jobs;
    const struct catalog *catalog;
    const struct sitefiles *files;
    struct outdoc **outdoc; /* the worker's; NULL inside: not open yet */
    const struct rule_files *rule_files;
    struct explain *explain; /* explain.h; NULL: a client's request.  If set,
                                nothing is kept, not even in files */
    struct claims claims;    /* on slots; they outlive a repetition */
    bool any_seqno, mark_jobs_done; /* many.h */
    bool looked_for_work;           /* in the slots */
    struct locality *locality;      /* while jobs are chosen */
    double draw; /* 0 … 1: is a trusted host checked this time? */

    struct sched_reply reply;
    struct user user;
    struct team team;
    struct host old_host; /* as stored */
    struct host host;     /* as it will be */
    bool committing;      /* all steps are done */
    bool new_host;        /* its first contact */
    bool weak_key;
    bool wrong_key;       /* to be counted against its address */
    struct work work;     /* what the host could do; the reply points into it */
    struct limits limits; /* what it may have of each application */
    struct standing standing; /* its statistics */
    bool no_work;             /* a message says why */
    bool assigned;            /* a targeted job is sent: no other is */
    bool report_lost; /* a success or trickle came twice, or jobs are missing:
                         an earlier reply was lost */
    char *code_sign_key, *code_sign_key_signature; /* the reply's */
    struct buf gui_urls;                           /* likewise */
    struct buf misc;                               /* host.misc */
    struct rpc_tally tally;
    struct buf refused; /* " memory 3 disk 1", for the same line */
};

/* Does this request get jobs, as far as we know yet? */
bool rpc_wants_work(const struct rpc *);

#endif
