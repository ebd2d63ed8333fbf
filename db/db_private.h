/* db_private.h - what db.c and the files beside it that need no MySQL header
 * share.  Nobody else includes it. */
#ifndef QUORATE_DB_PRIVATE_H
#define QUORATE_DB_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct db_query;

enum db_kind { KIND_INT, KIND_REAL, KIND_TEXT };

struct db_column { /* of the current row */
    enum db_kind kind;
    bool is_null;
    int64_t i;
    double d;
    char *text; /* malloc: the bytes and a NUL, or a number printed */
    size_t cap; /* of text, the NUL's place not counted */
    unsigned long len;
};

struct db_address {
    char *host, *socket; /* malloc, or NULL */
    unsigned port;       /* 0: the usual one */
};

struct db {
    void *conn; /* MYSQL, NULL: none */
    struct db_address where;
    char *user, *passwd, *name;
    unsigned read_timeout; /* s */
    unsigned lock_wait;    /* s */
    double deadline;       /* clock_monotonic_fine(), 0: none */
    bool lost;             /* needs db_reconnect() */
    bool doomed;           /* needs db_rollback(), see db.c */
    bool in_transaction, skip_locked, is_mariadb;
    bool implicit_begin;
    struct db_query *queries; /* the cache, and those in use */
    unsigned n_queries;
    uint64_t n_statements;
    double seconds;
};

enum db_stage { DB_FRESH, DB_ROWS, DB_DONE };

struct db_query {
    struct db *db;
    struct db_query *next; /* in db->queries */
    char *sql;
    struct db_stmt *stmt; /* db.c's; NULL once the connection has gone */
    enum db_stage stage;
    bool in_use;
    bool broken;        /* an error: prepare it anew next time */
    bool nowait;        /* a held lock is an answer */
    uint64_t last_used; /* db->n_statements then */
    unsigned n_params, n_columns;
    struct db_column *column;
    int64_t affected, insert_id;
};

/* ---- db.c --------------------------------------------------------------- */

/* db_open_params(), with the patience of db_set_patience(). */
struct db *db_open_patient(const char *host, const char *user,
                           const char *passwd, const char *name,
                           unsigned seconds);

/* Connect, or connect anew; all statements are gone.  0 or -1 (logged). */
int db_connect(struct db *);

/* Prepare q->sql: fills stmt, n_params, n_columns, column.  0 or -1 (logged),
 * then with what there is to free. */
int db_stmt_prepare(struct db_query *);
void db_stmt_free(struct db_query *);
void
db_stmt_rest(struct db_query *); /* back to the cache: no rows, no values */

/* ---- db_cache.c --------------------------------------------------------- */

/* The connection goes: free statements vanish, those in use become husks until
 * their db_finish(). */
void db_forget_statements(struct db *);

/* ---- db_retry.c --------------------------------------------------------- */

/* May a statement run now?  Not on a lost connection, and not after a collision
 * until the roll-back; both have been logged. */
bool db_usable(const struct db *);

/* ---- db_text.c ---------------------------------------------------------- */

enum db_error {
    DB_ERROR_OTHER,
    DB_ERROR_LOST,      /* no connection any more */
    DB_ERROR_COLLISION, /* deadlock, lock time-out: try again */
    DB_ERROR_EXISTS,    /* a unique key is taken */
    DB_ERROR_THERE,     /* the table, column or index is there already */
};
enum db_error db_error_kind(unsigned code);

/* Is it the victim of a deadlock? */
bool db_error_is_deadlock(unsigned code);

/* Of a NOWAIT statement: is a row locked by another? */
bool db_error_means_locked(unsigned code);

/* "" local; "/path" a socket; "host", "host:port", "[v6]:port", "host:/path".
 */
void db_parse_host(const char *text, struct db_address *ret);

/* "10.11.6-MariaDB", "5.5.5-10.11.6-MariaDB-0+deb12u1", "8.0.36-0ubuntu0". */
bool db_knows_skip_locked(const char *version);

#endif
