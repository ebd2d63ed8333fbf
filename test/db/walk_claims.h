/* walk_claims.h - what is known of the walk on a database, and what must be
 * true of its rows after each event. */
#ifndef QUORATE_WALK_CLAIMS_H
#define QUORATE_WALK_CLAIMS_H

#include "invariant.h"
#include "walk.h"
#include "walk_rows.h"
#include "walk_speed.h"
#include "walk_steps.h"

#define START INT64_C(1000000000)

enum {
    EVENTS = WALK_IS_SLOW ? 4000 : 20000,
    PART = 50000, /* events of one walk; Check counts µs in an int */
    CROWD = 32,
    HOSTS = 9,
    FANOUT = 1024, /* of the test's project */
    DRAIN_EVERY = 50,
    CREDIT_EVERY = 50,
    AUDIT_EVERY = 2500,
    PROGRAM_ONE_IN = 60, /* passes that the real program makes */
    KILL_ONE_IN = 2,     /* … of which so many are killed */
    RPC_KILL_ONE_IN = 100,
    LAST_STATEMENT = 14, /* to be killed at */
    APP_TARGET = 3,
    TELL_EVERY = 25000,
};

struct story {
    int64_t wu;
    struct walk_history history;
};

extern struct walk {
    uint64_t seed;
    long events, number, killed, programs, purged;
    long effective[N_WALK_EVENTS];
    struct walk_chance chance;
    struct steps steps;
    struct db *db;
    int64_t now;
    long name; /* of the next workunit */
    struct crowd before, after;
    struct story story[CROWD_MAX];
    double purged_credit;
} w;

/* Read everything anew and look at what has changed.  Has anything? */
bool look_at_all(enum walk_event, const char *remark);

/* Only this workunit; what else has changed is seen by the next who looks at
 * all. */
bool look_at_one(int64_t wu, enum walk_event, const char *remark);

/* Hosts, users and team have what their results were granted. */
void ck_all_credit(void);

/* The operator's tool must find nothing either.  Files are left out: most
 * volunteers here bring none, and most are deleted in the database only. */
void ck_audit(bool drained);

/* Print seed and history, end the test. */
void break_off(const struct life *before, const struct life *after,
               const char *why);

#endif
