/* db.h - connection, prepared statements, transactions; db.c is the only user
 * of the MySQL C API (what both MariaDB's and Oracle's client library offer).
 *
 * A query is one function in the db_*.c file of the program that asks:
 *
 *     struct db_query *q = db_prepare(db, "SELECT … WHERE id = ?");
 *     int rc = -1;
 *     if (q != NULL && db_bind_i64(q, 0, id) == 0)
 *         rc = db_step(q);        0: a row, DB_NONE: no more, -1: failed
 *     if (rc == 0)
 *         …  db_col_i64(q, 0) …
 *     db_finish(q);               the statement goes back to the cache
 *
 * Statements are prepared once per connection and kept by their text; after a
 * reconnect they are prepared anew.  Values are always bound.  Errors are
 * logged where first seen, with the statement's text (never its values).
 *
 * Session: utf8mb4, UTC, READ COMMITTED, autocommit on, strict mode.
 *
 * Lock order, of every transaction of every program:
 *
 *     1 workunits by id      6 hosts by id
 *     2 results              7 credit_user, credit_team, credited_job by key
 *     3 batches by id        8 host_app_version by (host, version)
 *     4 users by id          9 app_versions, apps by id
 *     5 teams by id         10 any x_ table
 *
 * Who changes results, or more than one row of a workunit, locks the workunits
 * first: then nobody else has a lock on their results, and those may come in
 * any order.  "By id" is over the whole transaction, not each statement: one
 * SELECT ... ORDER BY id FOR UPDATE first, then as many UPDATEs as it takes.
 * An UPDATE finds its rows by primary key (FORCE INDEX, if the optimizer could
 * think otherwise): a row that is looked at is locked.
 *
 * The scheduler and the feeder take what they need in another order (a host is
 * locked before its request is handled), so they never wait for a lock: see
 * db_set_lock_wait(). */
#ifndef QUORATE_DB_H
#define QUORATE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct db_query;
struct config;

enum db_answer {
    DB_NONE = 1,   /* no (more) rows */
    DB_EXISTS = 2, /* a unique key is taken (1062) */
    DB_BUSY = 3,   /* row locked by another (NOWAIT: 1205, 3572) */
};

/* Who asks.  A project may give each program a database account of its own with
 * no more rights than its job needs (db/grants.sql says which). */
enum db_account {
    DB_ACCOUNT_OWNER, /* db_user of the config: may do everything */
    DB_ACCOUNT_SCHEDULER,
    DB_ACCOUNT_UPLOAD_HANDLER,
    DB_ACCOUNT_WEB,
    DB_ACCOUNT_FEEDER,
    DB_ACCOUNT_TRANSITIONER,
    DB_ACCOUNT_VALIDATOR,
    DB_ACCOUNT_ASSIMILATOR,
    DB_ACCOUNT_TRICKLE,        /* trickle handlers */
    DB_ACCOUNT_FILE_DELETER,   /* and antique_file_deleter */
    DB_ACCOUNT_PURGE,          /* db_purge */
    DB_ACCOUNT_SIZE_REGULATOR, /* releases jobs by size class */
    DB_ACCOUNT_SUBMITTER,      /* create_work, work generators */
    DB_ACCOUNT_OPERATOR,       /* tools that change something */
    DB_ACCOUNT_READER,         /* tools that only look: status, census */
    DB_N_ACCOUNTS
};

/* "scheduler", "db_purge": the name in db/grants.sql and of the file. */
const char *db_account_name(enum db_account);

/* ROOT/db_accounts/NAME: malloc. */
char *db_account_path(const struct config *, enum db_account);

/* Connect to db_name at db_host of the config.  The account is in
 * ROOT/db_accounts/NAME: its name in the first line, its password in the
 * second. Where that file is not there, it is db_user, db_passwd of the config;
 * one that must not be read is a failure.  db_host may be an absolute path: a
 * unix socket.  "host:port" and "" (local) as in BOINC.  NULL if it fails
 * (logged).
 */
struct db *db_open(const struct config *, enum db_account);
struct db *db_open_params(const char *host, const char *user,
                          const char *passwd, const char *name);
void db_close(struct db *);

/* After -1: has the connection gone (2002, 2003, 2006, 2013, 1053 …)? */
bool db_is_lost(const struct db *);

/* Connect again, after waits of 1, 2, 4 … 60 s; gives up when *stop becomes
 * true (NULL: never) or after max_tries (0: no limit).  0 or -1. */
int db_reconnect(struct db *, const volatile int *stop, int max_tries);

/* How long an answer of the server may take (s; 300 unless set, 30 for programs
 * of the web server); for tools that change big tables.  Connects anew, at
 * once. 0 or -1. */
int db_set_patience(struct db *, unsigned seconds);

/* From now on transactions have so many seconds, all together (0: no limit).
 * After that no statement begins but the one that ends a transaction; they fail
 * (logged), and db_is_late() is true until db_set_time() is called again. */
void db_set_time(struct db *, double seconds);
bool db_is_late(const struct db *);

/* How long a statement waits for a lock (s; 20 unless set), from now on, also
 * after db_reconnect().  With 0 it does not wait: the lock of another is a
 * collision at once, so db_transaction() rolls back and tries again a little
 * later; who never waits while holding locks is never part of a deadlock.
 * Outside a transaction the answer is DB_BUSY.  (MySQL has no 0: there it is
 * 1 s.)  0 or -1. */
int db_set_lock_wait(struct db *, unsigned seconds);

/* From now on, also after db_reconnect(), the first statement begins the
 * transaction (autocommit off): one message less in each.  For programs that
 * do nearly all in transactions; a statement outside of one costs one more.
 * 0 or -1. */
int db_set_implicit_begin(struct db *);

/* ---- statements --------------------------------------------------------- */
struct db_query *db_prepare(struct db *, const char *sql);
int db_bind_i64(struct db_query *, unsigned i, int64_t);
int db_bind_double(struct db_query *, unsigned i, double); /* finite, or -1 */
int db_bind_text(struct db_query *, unsigned i, const char *); /* NULL = NULL */
int db_bind_blob(struct db_query *, unsigned i, const void *, size_t);
/* The bound text or blob must live until db_step() returned.  A value bound
 * after db_step() starts a new execution; the others keep their values. */

/* Execute at first call, then fetch.  SELECT: 0 a row, DB_NONE.  Others: 0.
 * DB_EXISTS, DB_BUSY where they apply; -1 failed (logged). */
int db_step(struct db_query *);

int64_t db_col_i64(struct db_query *, unsigned i);
double db_col_double(struct db_query *, unsigned i);
/* Valid until the next db_step/db_finish; "" for NULL. */
const char *db_col_text(struct db_query *, unsigned i);
const void *db_col_blob(struct db_query *, unsigned i, size_t *ret_len);
bool db_col_is_null(struct db_query *, unsigned i);
/* Copy text into a fixed field (cut at a UTF-8 border). */
void db_col_copy(struct db_query *, unsigned i, char *ret, size_t size);
char *db_col_dup(struct db_query *, unsigned i); /* malloc; "" for NULL */

int64_t db_affected(const struct db_query *);  /* rows *matched* by the WHERE */
int64_t db_insert_id(const struct db_query *); /* first id of a multi-row one */
void db_finish(struct db_query *);             /* NULL is fine */

/* A statement without parameters and rows ("SET …", DDL).  0, -1. */
int db_exec(struct db *, const char *sql);

/* The same for DDL: DB_EXISTS (not logged) if the table, column or index is
 * there already. */
int db_exec_ddl(struct db *, const char *sql);

/* Append "?, ?, ?" for n values, or n groups "(?, ?), (?, ?)". */
struct buf;
void db_placeholders(struct buf *, size_t n);
void db_placeholder_rows(struct buf *, size_t rows, size_t columns);

/* ---- transactions ---------------------------------------------------------
 * Run fn inside one transaction: BEGIN, fn, COMMIT.  fn returns 0 to commit,
 * > 0 to roll back (an answer: returned as is), -1 if it failed.  After a
 * deadlock or lock time-out (1213, 1205) all is rolled back and fn runs again,
 * up to 10 times with a short random wait; so fn must be repeatable: no effect
 * but on the database and on its own variables, which it sets anew.  A lost
 * connection returns -1 (see db_is_lost); the caller reconnects and repeats. */
typedef int db_work_fn(struct db *, void *arg);
int db_transaction(struct db *, db_work_fn *fn, void *arg);

int db_begin(struct db *);
int db_commit(struct db *);
void db_rollback(struct db *);

/* True if the server knows FOR UPDATE SKIP LOCKED / NOWAIT (MariaDB >= 10.6,
 * MySQL >= 8.0). */
bool db_has_skip_locked(const struct db *);

/* Statements executed on this connection so far; time spent in them (s). */
uint64_t db_statements(const struct db *);
double db_seconds(const struct db *);

/* Deadlocks (1213) that this process was the victim of. */
uint64_t db_deadlocks(void);

#endif
