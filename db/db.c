/* db.c - the only user of the MySQL C API: connection, statements,
 * transactions.
 *
 * What both MariaDB's and Oracle's client library offer, nothing else: the type
 * of a BIND's flags differs between them (my_bool, bool), so it is taken from
 * the header; automatic reconnection is never switched on, because it would
 * silently drop a transaction and all prepared statements.
 *
 * Statements are kept by their text, CACHE_SIZE of them, the longest unused one
 * goes first.  One text may be open twice at a time; each has its own
 * statement. A result set is fetched whole when the statement runs, so that
 * others may run while its rows are read.
 *
 * After a deadlock (1213) or a lock time-out (1205) inside a transaction the
 * connection is `doomed`: the server may already have rolled back, so a further
 * statement would run, and commit, outside any transaction.  It is refused
 * until db_rollback(). */
#include "db.h"

#include <assert.h>
#include <math.h>
#include <mysql.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "buf.h"
#include "db_private.h"
#include "log.h"

/* Error numbers of server and client; the headers of the two libraries do not
 * name all of them. */
enum {
    E_SERVER_SHUTDOWN = 1053,
    E_DUP_ENTRY = 1062,
    E_LOCK_WAIT_TIMEOUT = 1205,
    E_DEADLOCK = 1213,
    E_DUP_ENTRY_WITH_KEY_NAME = 1586,
    E_CONNECTION_KILLED = 1927,
    E_CONNECTION = 2002,
    E_CONN_HOST = 2003,
    E_SERVER_GONE = 2006,
    E_SERVER_LOST = 2013,
    E_SERVER_LOST_EXTENDED = 2055,
    E_LOCK_NOWAIT = 3572,
    E_CLIENT_INTERACTION_TIMEOUT = 4031,
};

enum {
    CACHE_SIZE = 64,
    FIRST_BUFFER = 256, /* bytes for a text column until a longer one comes */
    MAX_LOGGED_SQL = 1000,
};

static const unsigned connect_timeout = 10; /* s */

/* my_bool or bool, whichever this library has. */
typedef __typeof__(*((MYSQL_BIND *)NULL)->is_null) api_flag;

struct db_value { /* of one parameter */
    int64_t i;
    double d;
    unsigned long len;
    api_flag is_null;
    bool bound;
};

enum db_stage { DB_FRESH, DB_ROWS, DB_DONE };

struct db_query {
    struct db *db;
    struct db_query *next; /* in db->queries */
    char *sql;
    MYSQL_STMT *stmt; /* NULL once the connection has gone */
    enum db_stage stage;
    bool in_use;
    bool broken;        /* an error: prepare it anew next time */
    bool nowait;        /* a held lock is an answer */
    uint64_t last_used; /* db->n_statements then */
    unsigned n_params, n_columns;
    MYSQL_BIND *param;
    struct db_value *value;
    MYSQL_BIND *bind;
    struct db_column *column;
    struct db_flags {
        api_flag is_null, cut;
    } * flags; /* of each column */
    int64_t affected, insert_id;
};

struct db {
    MYSQL *conn;
    struct db_address where;
    char *user, *passwd, *name;
    unsigned read_timeout; /* s */
    bool lost, doomed, in_transaction, skip_locked;
    struct db_query *queries;
    unsigned n_queries;
    uint64_t n_statements;
    double seconds;
};

static double
monotonic_seconds(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- errors ------------------------------------------------------------- */

static bool
means_lost(unsigned code)
{
    switch (code) {
    case E_SERVER_SHUTDOWN:
    case E_CONNECTION_KILLED:
    case E_CONNECTION:
    case E_CONN_HOST:
    case E_SERVER_GONE:
    case E_SERVER_LOST:
    case E_SERVER_LOST_EXTENDED:
    case E_CLIENT_INTERACTION_TIMEOUT:
        return true;
    default:
        return false;
    }
}

/* Note what an error means for the connection, and log it.  The last lines of
 * a lost connection and of a deadlock are warnings: both are handled. */
static int
failed(struct db *db, const char *sql, unsigned code, const char *text)
{
    if (means_lost(code)) {
        db->lost = true;
        db->in_transaction = false;
        log_warning("database: connection lost: %s (%u) in: %.*s", text, code,
                    MAX_LOGGED_SQL, sql);
    } else if (code == E_DEADLOCK || code == E_LOCK_WAIT_TIMEOUT) {
        db->doomed = db->in_transaction;
        log_warning("database: %s (%u) in: %.*s", text, code, MAX_LOGGED_SQL,
                    sql);
    } else {
        log_critical("database: %s (%u) in: %.*s", text, code, MAX_LOGGED_SQL,
                     sql);
    }
    return -1;
}

static int
query_failed(struct db_query *q)
{
    unsigned code = mysql_stmt_errno(q->stmt);

    q->stage = DB_DONE;
    if (code == E_DUP_ENTRY || code == E_DUP_ENTRY_WITH_KEY_NAME)
        return DB_EXISTS;
    if (code == E_LOCK_NOWAIT || (q->nowait && code == E_LOCK_WAIT_TIMEOUT))
        return DB_BUSY;
    q->broken = true;
    return failed(q->db, q->sql, code, mysql_stmt_error(q->stmt));
}

/* May a statement run now?  Not on a lost connection, and not after a deadlock
 * until the roll-back; both have been logged. */
static bool
usable(const struct db *db)
{
    return db->conn != NULL && !db->lost && !db->doomed;
}

/* ---- connection --------------------------------------------------------- */

static int
set_session(struct db *db)
{
    static const char *const settings[] = {
        "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,"
        "NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', "
        "innodb_lock_wait_timeout = 20, autocommit = 1",
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    };

    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        if (db_exec(db, settings[i]) != 0)
            return -1;
    return 0;
}

static void
free_query(struct db_query *q)
{
    if (q->stmt != NULL)
        mysql_stmt_close(q->stmt);
    for (unsigned i = 0; i < q->n_columns; i++)
        free(q->column[i].text);
    free(q->column);
    free(q->flags);
    free(q->bind);
    free(q->value);
    free(q->param);
    free(q->sql);
    free(q);
}

static void
drop_query(struct db_query *q)
{
    struct db_query **p = &q->db->queries;

    while (*p != q)
        p = &(*p)->next;
    *p = q->next;
    q->db->n_queries--;
    free_query(q);
}

/* Statements die with their connection; one that is in use stays as a husk
 * until its db_finish(). */
static void
disconnect(struct db *db)
{
    struct db_query *next;

    for (struct db_query *q = db->queries; q != NULL; q = next) {
        next = q->next;
        if (q->in_use) {
            if (q->stmt != NULL)
                mysql_stmt_close(q->stmt);
            q->stmt = NULL;
            q->stage = DB_DONE;
        } else {
            drop_query(q);
        }
    }
    if (db->conn != NULL)
        mysql_close(db->conn);
    db->conn = NULL;
    db->in_transaction = false;
}

int
db_connect(struct db *db)
{
    const unsigned long flags = CLIENT_FOUND_ROWS;

    disconnect(db);
    db->conn = mysql_init(NULL);
    if (db->conn == NULL) {
        log_critical("database: mysql_init failed");
        return -1;
    }
    mysql_options(db->conn, MYSQL_OPT_CONNECT_TIMEOUT, &connect_timeout);
    mysql_options(db->conn, MYSQL_OPT_READ_TIMEOUT, &db->read_timeout);
    mysql_options(db->conn, MYSQL_OPT_WRITE_TIMEOUT, &db->read_timeout);
    mysql_options(db->conn, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (mysql_real_connect(db->conn, db->where.host, db->user, db->passwd,
                           db->name, db->where.port, db->where.socket,
                           flags) == NULL) {
        log_critical("database: cannot connect to %s as %s: %s (%u)", db->name,
                     db->user, mysql_error(db->conn), mysql_errno(db->conn));
        mysql_close(db->conn);
        db->conn = NULL;
        db->lost = true;
        return -1;
    }
    db->lost = db->doomed = false;
    db->skip_locked = db_knows_skip_locked(mysql_get_server_info(db->conn));
    if (set_session(db) != 0) {
        db->lost = true;
        return -1;
    }
    return 0;
}

struct db *
db_open_params(const char *host, const char *user, const char *passwd,
               const char *name)
{
    struct db *db = xcalloc(1, sizeof(*db));

    db_parse_host(host != NULL ? host : "", &db->where);
    db->user = xstrdup(user != NULL ? user : "");
    db->passwd = xstrdup(passwd != NULL ? passwd : "");
    db->name = xstrdup(name != NULL ? name : "");
    db->read_timeout = 300;
    if (db_connect(db) != 0) {
        db_close(db);
        return NULL;
    }
    return db;
}

void
db_close(struct db *db)
{
    if (db == NULL)
        return;
    disconnect(db);
    while (db->queries != NULL)
        drop_query(db->queries);
    free(db->where.host);
    free(db->where.socket);
    free(db->user);
    free(db->passwd);
    free(db->name);
    free(db);
}

bool
db_is_lost(const struct db *db)
{
    return db->lost;
}

int
db_set_patience(struct db *db, unsigned seconds)
{
    assert(!db->in_transaction);
    db->read_timeout = seconds;
    return db_connect(db);
}

bool
db_has_skip_locked(const struct db *db)
{
    return db->skip_locked;
}

uint64_t
db_statements(const struct db *db)
{
    return db->n_statements;
}

double
db_seconds(const struct db *db)
{
    return db->seconds;
}

/* ---- statements --------------------------------------------------------- */

int
db_exec(struct db *db, const char *sql)
{
    double begin = monotonic_seconds();
    int rc;

    if (!usable(db))
        return -1;
    log_debug("SQL: %.*s", MAX_LOGGED_SQL, sql);
    rc = mysql_query(db->conn, sql);
    if (rc == 0)
        mysql_free_result(mysql_store_result(db->conn)); /* NULL is fine */
    db->n_statements++;
    db->seconds += monotonic_seconds() - begin;
    if (rc != 0)
        return failed(db, sql, mysql_errno(db->conn), mysql_error(db->conn));
    return 0;
}

/* Numbers are fetched as numbers; everything else, decimals too (a SUM may not
 * fit a double), as text. */
static enum db_kind
kind_of(enum enum_field_types type)
{
    if (type == MYSQL_TYPE_TINY || type == MYSQL_TYPE_SHORT ||
        type == MYSQL_TYPE_INT24 || type == MYSQL_TYPE_LONG ||
        type == MYSQL_TYPE_LONGLONG || type == MYSQL_TYPE_YEAR)
        return KIND_INT;
    if (type == MYSQL_TYPE_FLOAT || type == MYSQL_TYPE_DOUBLE)
        return KIND_REAL;
    return KIND_TEXT;
}

/* Point a column's BIND at its buffer. */
static void
bind_column(struct db_query *q, unsigned i, enum enum_field_types type)
{
    MYSQL_BIND *b = &q->bind[i];
    struct db_column *c = &q->column[i];

    b->is_null = &q->flags[i].is_null;
    b->length = &c->len;
    b->error = &q->flags[i].cut;
    c->kind = kind_of(type);
    switch (c->kind) {
    case KIND_INT:
        b->buffer_type = MYSQL_TYPE_LONGLONG;
        b->buffer = &c->i;
        break;
    case KIND_REAL:
        b->buffer_type = MYSQL_TYPE_DOUBLE;
        b->buffer = &c->d;
        break;
    case KIND_TEXT:
        c->text = xmalloc(FIRST_BUFFER + 1);
        c->cap = FIRST_BUFFER;
        b->buffer_type = MYSQL_TYPE_BLOB;
        b->buffer = c->text;
        b->buffer_length = FIRST_BUFFER;
        break;
    }
}

static int
describe_columns(struct db_query *q)
{
    MYSQL_RES *meta = mysql_stmt_result_metadata(q->stmt);

    if (meta == NULL)
        return mysql_stmt_errno(q->stmt) == 0 ? 0 : -1;
    q->n_columns = mysql_num_fields(meta);
    q->bind = xcalloc(q->n_columns, sizeof(*q->bind));
    q->column = xcalloc(q->n_columns, sizeof(*q->column));
    q->flags = xcalloc(q->n_columns, sizeof(*q->flags));
    for (unsigned i = 0; i < q->n_columns; i++)
        bind_column(q, i, mysql_fetch_field_direct(meta, i)->type);
    mysql_free_result(meta);
    return 0;
}

static int
prepare(struct db_query *q)
{
    MYSQL_STMT *stmt = mysql_stmt_init(q->db->conn);
    unsigned long n;

    if (stmt == NULL)
        return failed(q->db, q->sql, mysql_errno(q->db->conn),
                      mysql_error(q->db->conn));
    q->stmt = stmt;
    if (mysql_stmt_prepare(stmt, q->sql, strlen(q->sql)) != 0 ||
        describe_columns(q) != 0)
        return failed(q->db, q->sql, mysql_stmt_errno(stmt),
                      mysql_stmt_error(stmt));
    n = mysql_stmt_param_count(stmt);
    q->n_params = (unsigned)n;
    q->param = xcalloc(n + 1, sizeof(*q->param));
    q->value = xcalloc(n + 1, sizeof(*q->value));
    return 0;
}

/* Make room: forget the statement that has been unused for longest. */
static void
evict_one(struct db *db)
{
    struct db_query *oldest = NULL;

    for (struct db_query *q = db->queries; q != NULL; q = q->next)
        if (!q->in_use && (oldest == NULL || q->last_used < oldest->last_used))
            oldest = q;
    if (oldest != NULL)
        drop_query(oldest);
}

static struct db_query *
find_cached(struct db *db, const char *sql)
{
    for (struct db_query *q = db->queries; q != NULL; q = q->next)
        if (!q->in_use && strcmp(q->sql, sql) == 0)
            return q;
    return NULL;
}

struct db_query *
db_prepare(struct db *db, const char *sql)
{
    struct db_query *q;

    if (!usable(db))
        return NULL;
    q = find_cached(db, sql);
    if (q == NULL) {
        if (db->n_queries >= CACHE_SIZE)
            evict_one(db);
        q = xcalloc(1, sizeof(*q));
        q->db = db;
        q->sql = xstrdup(sql);
        q->nowait = strstr(sql, "NOWAIT") != NULL;
        if (prepare(q) != 0) {
            free_query(q);
            return NULL;
        }
        q->next = db->queries;
        db->queries = q;
        db->n_queries++;
    }
    q->in_use = true;
    q->stage = DB_FRESH;
    q->affected = q->insert_id = 0;
    q->last_used = db->n_statements;
    for (unsigned i = 0; i < q->n_params; i++)
        q->value[i].bound = false;
    return q;
}

void
db_finish(struct db_query *q)
{
    if (q == NULL)
        return;
    q->in_use = false;
    if (q->stmt == NULL || q->broken || q->db->n_queries > CACHE_SIZE)
        drop_query(q);
    else
        mysql_stmt_free_result(q->stmt);
}

/* ---- parameters --------------------------------------------------------- */

/* The BIND of parameter i, ready for a new value; NULL if there is none.  A
 * value bound after the statement has run begins a new execution of it. */
static MYSQL_BIND *
fresh_param(struct db_query *q, unsigned i)
{
    if (q->stmt == NULL)
        return NULL;
    if (i >= q->n_params) {
        log_critical("database: no parameter %u in: %.*s", i, MAX_LOGGED_SQL,
                     q->sql);
        return NULL;
    }
    if (q->stage != DB_FRESH && !q->broken) {
        mysql_stmt_free_result(q->stmt);
        q->stage = DB_FRESH;
    }
    memset(&q->param[i], 0, sizeof(q->param[i]));
    q->value[i].is_null = 0;
    q->value[i].bound = true;
    q->param[i].is_null = &q->value[i].is_null;
    return &q->param[i];
}

int
db_bind_i64(struct db_query *q, unsigned i, int64_t v)
{
    MYSQL_BIND *b = fresh_param(q, i);

    if (b == NULL)
        return -1;
    q->value[i].i = v;
    b->buffer_type = MYSQL_TYPE_LONGLONG;
    b->buffer = &q->value[i].i;
    return 0;
}

int
db_bind_double(struct db_query *q, unsigned i, double v)
{
    MYSQL_BIND *b;

    if (!isfinite(v)) {
        log_critical("database: value %u is not finite in: %.*s", i,
                     MAX_LOGGED_SQL, q->sql);
        return -1;
    }
    b = fresh_param(q, i);
    if (b == NULL)
        return -1;
    q->value[i].d = v;
    b->buffer_type = MYSQL_TYPE_DOUBLE;
    b->buffer = &q->value[i].d;
    return 0;
}

/* The API's buffer is not const, though it only reads parameters. */
static int
bind_bytes(struct db_query *q, unsigned i, enum enum_field_types type,
           const void *bytes, size_t n)
{
    MYSQL_BIND *b = fresh_param(q, i);
    union {
        const void *given;
        void *wanted;
    } p = {.given = bytes};

    if (b == NULL)
        return -1;
    q->value[i].len = n;
    q->value[i].is_null = bytes == NULL;
    b->buffer_type = bytes == NULL ? MYSQL_TYPE_NULL : type;
    b->buffer = p.wanted;
    b->buffer_length = n;
    b->length = &q->value[i].len;
    return 0;
}

int
db_bind_text(struct db_query *q, unsigned i, const char *text)
{
    return bind_bytes(q, i, MYSQL_TYPE_STRING, text,
                      text == NULL ? 0 : strlen(text));
}

int
db_bind_blob(struct db_query *q, unsigned i, const void *bytes, size_t n)
{
    return bind_bytes(q, i, MYSQL_TYPE_BLOB, bytes, n);
}

/* ---- execution ---------------------------------------------------------- */

static int
check_bound(const struct db_query *q)
{
    for (unsigned i = 0; i < q->n_params; i++)
        if (!q->value[i].bound) {
            log_critical("database: value %u not bound in: %.*s", i,
                         MAX_LOGGED_SQL, q->sql);
            return -1;
        }
    return 0;
}

static int
execute(struct db_query *q)
{
    double begin = monotonic_seconds();
    int rc = 0;

    if (!usable(q->db) || q->stmt == NULL || q->broken || check_bound(q) != 0)
        return -1;
    log_debug("SQL: %.*s", MAX_LOGGED_SQL, q->sql);
    if ((q->n_params > 0 && mysql_stmt_bind_param(q->stmt, q->param) != 0) ||
        mysql_stmt_execute(q->stmt) != 0)
        rc = query_failed(q);
    else if (q->n_columns > 0 &&
             (mysql_stmt_bind_result(q->stmt, q->bind) != 0 ||
              mysql_stmt_store_result(q->stmt) != 0))
        rc = query_failed(q);
    q->db->n_statements++;
    q->db->seconds += monotonic_seconds() - begin;
    if (rc != 0)
        return rc;
    q->stage = q->n_columns > 0 ? DB_ROWS : DB_DONE;
    q->affected = (int64_t)mysql_stmt_affected_rows(q->stmt);
    q->insert_id = (int64_t)mysql_stmt_insert_id(q->stmt);
    return 0;
}

/* Fetch again the columns that did not fit, into buffers that hold them. */
static int
fetch_long_columns(struct db_query *q)
{
    bool grown = false;

    for (unsigned i = 0; i < q->n_columns; i++) {
        struct db_column *c = &q->column[i];

        c->is_null = q->flags[i].is_null != 0;
        if (c->kind != KIND_TEXT || c->is_null)
            continue;
        if (c->len > c->cap) {
            c->cap = c->len + c->len / 2;
            c->text = xrealloc(c->text, c->cap + 1);
            q->bind[i].buffer = c->text;
            q->bind[i].buffer_length = c->cap;
            grown = true;
            if (mysql_stmt_fetch_column(q->stmt, &q->bind[i], i, 0) != 0)
                return query_failed(q);
        }
        c->text[c->len] = '\0';
    }
    if (grown && mysql_stmt_bind_result(q->stmt, q->bind) != 0)
        return query_failed(q); /* the next row goes to the new buffers */
    return 0;
}

static int
fetch(struct db_query *q)
{
    int rc = mysql_stmt_fetch(q->stmt);

    if (rc == MYSQL_NO_DATA) {
        q->stage = DB_DONE;
        return DB_NONE;
    }
    if (rc != 0 && rc != MYSQL_DATA_TRUNCATED)
        return query_failed(q);
    return fetch_long_columns(q);
}

int
db_step(struct db_query *q)
{
    switch (q->stage) {
    case DB_FRESH: {
        int rc = execute(q);

        if (rc != 0 || q->stage != DB_ROWS)
            return rc;
        return fetch(q);
    }
    case DB_ROWS:
        return q->stmt == NULL ? -1 : fetch(q);
    case DB_DONE:
        break;
    }
    return q->broken || q->stmt == NULL ? -1 : DB_NONE;
}

int64_t
db_affected(const struct db_query *q)
{
    return q->affected;
}

int64_t
db_insert_id(const struct db_query *q)
{
    return q->insert_id;
}

/* ---- transactions ------------------------------------------------------- */

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
    if (!usable(db) || db_exec(db, "COMMIT") != 0) {
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

bool
db_is_doomed(const struct db *db)
{
    return db->doomed;
}

struct db_column *
db_column(struct db_query *q, unsigned i)
{
    assert(i < q->n_columns);
    return &q->column[i];
}
