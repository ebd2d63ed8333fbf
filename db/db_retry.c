/* db_retry.c - transactions, and what is tried again: connections, and work
 * that collided with another's. */
#include "db.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "db_private.h"
#include "log.h"

enum {
    TRANSACTION_TRIES = 10,
    PATIENT_TRIES = 2, /* the last ones wait for locks in any case */
    PATIENCE = 10,     /* s, then */
    LONGEST_WAIT = 60, /* s between two tries to connect */
};

static bool
told_to_stop(const volatile int *stop)
{
    return stop != NULL && *stop != 0;
}

int
db_reconnect(struct db *db, const volatile int *stop, int max_tries)
{
    int wait = 1;

    for (int i = 0; max_tries == 0 || i < max_tries; i++) {
        for (int s = 0; i > 0 && s < wait && !told_to_stop(stop); s++)
            clock_sleep(1);
        if (told_to_stop(stop))
            return -1;
        if (db_connect(db) == 0) {
            log_normal("database: connected again");
            return 0;
        }
        if (i > 0)
            wait = wait < LONGEST_WAIT / 2 ? wait * 2 : LONGEST_WAIT;
    }
    return -1;
}

bool
db_usable(const struct db *db)
{
    return db->conn != NULL && !db->lost && !db->doomed;
}

int
db_begin(struct db *db)
{
    assert(!db->in_transaction);
    if (db->implicit_begin ? !db_usable(db)
                           : db_exec(db, "START TRANSACTION") != 0)
        return -1;
    db->in_transaction = true;
    return 0;
}

int
db_commit(struct db *db)
{
    if (!db_usable(db) || db_exec(db, "COMMIT") != 0) {
        if (!db->lost && !db->doomed)
            db_rollback(db);
        return -1;
    }
    db->in_transaction = false;
    return 0;
}

void
db_rollback(struct db *db)
{
    if (!db->in_transaction && !db->doomed)
        return; /* none begun, or the connection has gone and it with it */
    db->doomed = false;
    db->in_transaction = false;
    db_exec(db, "ROLLBACK");
}

/* 5 to 50 ms, longer at each try: of two that collided, one comes first. */
static void
wait_a_little(int tries)
{
    static unsigned seed;

    if (seed == 0)
        seed = (unsigned)getpid();
    clock_sleep(0.005 * (double)(1 + rand_r(&seed) % 10) * tries);
}

/* One try: what db_transaction() returns, or TRY_AGAIN. */
enum { TRY_AGAIN = INT_MIN };

static int
try_once(struct db *db, db_work_fn *fn, void *arg)
{
    int rc;

    if (db_begin(db) != 0)
        return -1;
    rc = fn(db, arg);
    if (rc == 0 && !db->doomed && db_commit(db) == 0)
        return 0;
    if (!db->doomed) {
        db_rollback(db);
        return rc == 0 ? -1 : rc;
    }
    db_rollback(db);
    return TRY_AGAIN;
}

/* Who never waits for locks could go away empty-handed for ever. */
static int
try_patiently(struct db *db, db_work_fn *fn, void *arg)
{
    unsigned lock_wait = db->lock_wait;
    int rc;

    if (lock_wait >= PATIENCE)
        return try_once(db, fn, arg);
    if (db_set_lock_wait(db, PATIENCE) != 0)
        return -1;
    rc = try_once(db, fn, arg);
    if (db->lost)
        db->lock_wait = lock_wait; /* for the next connection */
    else if (db_set_lock_wait(db, lock_wait) != 0)
        log_warning("database: locks are waited for from now on");
    return rc;
}

int
db_transaction(struct db *db, db_work_fn *fn, void *arg)
{
    for (int tries = 1; tries <= TRANSACTION_TRIES; tries++) {
        int rc = tries <= TRANSACTION_TRIES - PATIENT_TRIES
                     ? try_once(db, fn, arg)
                     : try_patiently(db, fn, arg);

        if (rc != TRY_AGAIN)
            return rc;
        wait_a_little(tries);
    }
    log_critical("database: gave up a transaction after %d collisions",
                 TRANSACTION_TRIES);
    return -1;
}
