/* db_retry.c - transactions, and what is tried again: connections, and work
 * that collided with another's. */
#include "db.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "db_private.h"
#include "log.h"

enum {
    TRANSACTION_TRIES = 10,
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
    if (db_exec(db, "START TRANSACTION") != 0)
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

int
db_transaction(struct db *db, db_work_fn *fn, void *arg)
{
    for (int tries = 1; tries <= TRANSACTION_TRIES; tries++) {
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
        wait_a_little(tries);
    }
    log_critical("database: gave up a transaction after %d collisions",
                 TRANSACTION_TRIES);
    return -1;
}
