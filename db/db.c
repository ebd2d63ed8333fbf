/* db.c - the only user of the MySQL C API: connection, statements,
 * transactions.
 *
 * What both MariaDB's and Oracle's client library offer, nothing else: the type
 * of a BIND's flags differs between them (my_bool, bool), so it is taken from
 * the header; automatic reconnection is never switched on, because it would
 * silently drop a transaction and all prepared statements.
 *
 * A result set is fetched whole when the statement runs, so that others may run
 * while its rows are read.  The statements themselves are kept by db_cache.c.
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

#include "buf.h"
#include "clock.h"
#include "db_private.h"
#include "log.h"

enum {
    FIRST_BUFFER = 256, /* bytes for a text column until a longer one comes */
    MAX_LOGGED_SQL = 1000,
};

static const unsigned connect_timeout = 10; /* s */

static uint64_t n_deadlocks; /* of this process */

/* my_bool or bool, whichever this library has. */
typedef __typeof__(*((MYSQL_BIND *)NULL)->is_null) api_flag;

struct db_value { /* of one parameter */
    int64_t i;
    double d;
    unsigned long len;
    api_flag is_null;
    bool bound;
};

struct db_stmt { /* the library's side of a query */
    MYSQL_STMT *api;
    MYSQL_BIND *param; /* of each parameter */
    struct db_value *value;
    MYSQL_BIND *bind; /* of each column */
    struct db_flags {
        api_flag is_null, cut;
    } * flags;
};

/* ---- errors ------------------------------------------------------------- */

/* Note what an error means for the connection, and log it.  A lost
 * connection and a collision are warnings: both are handled. */
static int
failed(struct db *db, const char *sql, unsigned code, const char *text)
{
    enum db_error kind = db_error_kind(code);

    n_deadlocks += db_error_is_deadlock(code);
    if (kind == DB_ERROR_LOST) {
        db->lost = true;
        db->in_transaction = false;
        log_warning("database: connection lost: %s (%u) in: %.*s", text, code,
                    MAX_LOGGED_SQL, sql);
    } else if (kind == DB_ERROR_COLLISION) {
        db->doomed = db->in_transaction;
        if (db->lock_wait == 0 && db_error_means_locked(code))
            log_debug("database: %s (%u) in: %.*s", text, code, MAX_LOGGED_SQL,
                      sql);
        else
            log_warning("database: %s (%u) in: %.*s", text, code,
                        MAX_LOGGED_SQL, sql);
    } else {
        log_critical("database: %s (%u) in: %.*s", text, code, MAX_LOGGED_SQL,
                     sql);
    }
    return -1;
}

static int
query_failed(struct db_query *q)
{
    unsigned code = mysql_stmt_errno(q->stmt->api);

    q->stage = DB_DONE;
    if (db_error_kind(code) == DB_ERROR_EXISTS)
        return DB_EXISTS;
    if ((q->nowait || (q->db->lock_wait == 0 && !q->db->in_transaction)) &&
        db_error_means_locked(code))
        return DB_BUSY;
    q->broken = true;
    return failed(q->db, q->sql, code, mysql_stmt_error(q->stmt->api));
}

/* ---- connection --------------------------------------------------------- */

static int
set_lock_wait(struct db *db, unsigned seconds)
{
    struct buf sql = BUF_INIT;
    int rc;

    if (seconds == 0 && !db->is_mariadb)
        seconds = 1; /* MySQL's least */
    buf_addf(&sql, "SET SESSION innodb_lock_wait_timeout = %u", seconds);
    rc = db_exec(db, buf_str(&sql));
    buf_free(&sql);
    return rc;
}

static int
set_session(struct db *db)
{
    static const char *const settings[] = {
        "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,"
        "NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', autocommit = 1",
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    };

    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        if (db_exec(db, settings[i]) != 0)
            return -1;
    if (db->implicit_begin && db_exec(db, "SET SESSION autocommit = 0") != 0)
        return -1;
    return set_lock_wait(db, db->lock_wait);
}

void
db_stmt_free(struct db_query *q)
{
    struct db_stmt *s = q->stmt;

    if (s == NULL)
        return;
    if (s->api != NULL)
        mysql_stmt_close(s->api);
    free(s->param);
    free(s->value);
    free(s->bind);
    free(s->flags);
    free(s);
    q->stmt = NULL;
}

void
db_stmt_rest(struct db_query *q)
{
    mysql_stmt_free_result(q->stmt->api);
    for (unsigned i = 0; i < q->n_params; i++)
        q->stmt->value[i].bound = false;
}

static void
disconnect(struct db *db)
{
    db_forget_statements(db);
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
    db->is_mariadb = strstr(mysql_get_server_info(db->conn), "MariaDB") != NULL;
    if (set_session(db) != 0) {
        db->lost = true;
        return -1;
    }
    return 0;
}

struct db *
db_open_patient(const char *host, const char *user, const char *passwd,
                const char *name, unsigned seconds)
{
    struct db *db = xcalloc(1, sizeof(*db));

    db_parse_host(host != NULL ? host : "", &db->where);
    db->user = xstrdup(user != NULL ? user : "");
    db->passwd = xstrdup(passwd != NULL ? passwd : "");
    db->name = xstrdup(name != NULL ? name : "");
    db->read_timeout = seconds;
    db->lock_wait = 20;
    if (db_connect(db) != 0) {
        db_close(db);
        return NULL;
    }
    return db;
}

struct db *
db_open_params(const char *host, const char *user, const char *passwd,
               const char *name)
{
    return db_open_patient(host, user, passwd, name, 300);
}

void
db_close(struct db *db)
{
    if (db == NULL)
        return;
    disconnect(db);
    assert(db->queries == NULL); /* each was given to db_finish() */
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

void
db_set_time(struct db *db, double seconds)
{
    assert(!db->in_transaction);
    db->deadline = seconds > 0 ? clock_monotonic_fine() + seconds : 0;
}

bool
db_is_late(const struct db *db)
{
    return db->deadline > 0 && clock_monotonic_fine() > db->deadline;
}

int
db_set_lock_wait(struct db *db, unsigned seconds)
{
    assert(!db->in_transaction);
    db->lock_wait = seconds;
    return set_lock_wait(db, seconds);
}

int
db_set_implicit_begin(struct db *db)
{
    assert(!db->in_transaction);
    db->implicit_begin = true;
    return db_exec(db, "SET SESSION autocommit = 0");
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

uint64_t
db_deadlocks(void)
{
    return n_deadlocks;
}

/* ---- statements --------------------------------------------------------- */

/* The error number, 0 if it worked; nothing is logged. */
static unsigned
exec_text(struct db *db, const char *sql)
{
    double begin = clock_monotonic_fine();
    unsigned code = 0;

    log_debug("SQL: %.*s", MAX_LOGGED_SQL, sql);
    if (mysql_query(db->conn, sql) != 0)
        code = mysql_errno(db->conn);
    else
        mysql_free_result(mysql_store_result(db->conn)); /* NULL is fine */
    db->n_statements++;
    db->seconds += clock_monotonic_fine() - begin;
    return code;
}

int
db_exec(struct db *db, const char *sql)
{
    unsigned code;

    if (!db_usable(db))
        return -1;
    code = exec_text(db, sql);
    return code == 0 ? 0 : failed(db, sql, code, mysql_error(db->conn));
}

int
db_exec_ddl(struct db *db, const char *sql)
{
    unsigned code;

    if (!db_usable(db))
        return -1;
    code = exec_text(db, sql);
    if (db_error_kind(code) == DB_ERROR_THERE)
        return DB_EXISTS;
    return code == 0 ? 0 : failed(db, sql, code, mysql_error(db->conn));
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
    MYSQL_BIND *b = &q->stmt->bind[i];
    struct db_column *c = &q->column[i];

    b->is_null = &q->stmt->flags[i].is_null;
    b->length = &c->len;
    b->error = &q->stmt->flags[i].cut;
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
    MYSQL_RES *meta = mysql_stmt_result_metadata(q->stmt->api);

    if (meta == NULL)
        return mysql_stmt_errno(q->stmt->api) == 0 ? 0 : -1;
    q->n_columns = mysql_num_fields(meta);
    q->stmt->bind = xcalloc(q->n_columns, sizeof(*q->stmt->bind));
    q->column = xcalloc(q->n_columns, sizeof(*q->column));
    q->stmt->flags = xcalloc(q->n_columns, sizeof(*q->stmt->flags));
    for (unsigned i = 0; i < q->n_columns; i++)
        bind_column(q, i, mysql_fetch_field_direct(meta, i)->type);
    mysql_free_result(meta);
    return 0;
}

/* MariaDB (10.11) fails a SKIP LOCKED that meets a lock, with error 1180, in a
 * session that does not wait for locks.  So for this statement it would wait,
 * and does not, because it skips them. */
static void
statement_text(const struct db_query *q, struct buf *ret)
{
    if (q->db->is_mariadb && strstr(q->sql, "SKIP LOCKED") != NULL)
        buf_add(ret, "SET STATEMENT innodb_lock_wait_timeout = 1 FOR ");
    buf_add(ret, q->sql);
}

int
db_stmt_prepare(struct db_query *q)
{
    MYSQL_STMT *api = mysql_stmt_init(q->db->conn);
    const api_flag on = 1;
    struct buf sql = BUF_INIT;
    int rc;

    if (api == NULL)
        return failed(q->db, q->sql, mysql_errno(q->db->conn),
                      mysql_error(q->db->conn));
    q->stmt = xcalloc(1, sizeof(*q->stmt));
    q->stmt->api = api;
    statement_text(q, &sql);
    rc = mysql_stmt_attr_set(api, STMT_ATTR_UPDATE_MAX_LENGTH, &on) != 0 ||
         mysql_stmt_prepare(api, buf_str(&sql), sql.len) != 0;
    buf_free(&sql);
    if (rc != 0 || describe_columns(q) != 0)
        return failed(q->db, q->sql, mysql_stmt_errno(api),
                      mysql_stmt_error(api));
    q->n_params = (unsigned)mysql_stmt_param_count(api);
    q->stmt->param = xcalloc(q->n_params + 1, sizeof(*q->stmt->param));
    q->stmt->value = xcalloc(q->n_params + 1, sizeof(*q->stmt->value));
    return 0;
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
        mysql_stmt_free_result(q->stmt->api);
        q->stage = DB_FRESH;
    }
    memset(&q->stmt->param[i], 0, sizeof(q->stmt->param[i]));
    q->stmt->value[i].is_null = 0;
    q->stmt->value[i].bound = true;
    q->stmt->param[i].is_null = &q->stmt->value[i].is_null;
    return &q->stmt->param[i];
}

int
db_bind_i64(struct db_query *q, unsigned i, int64_t v)
{
    MYSQL_BIND *b = fresh_param(q, i);

    if (b == NULL)
        return -1;
    q->stmt->value[i].i = v;
    b->buffer_type = MYSQL_TYPE_LONGLONG;
    b->buffer = &q->stmt->value[i].i;
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
    q->stmt->value[i].d = v;
    b->buffer_type = MYSQL_TYPE_DOUBLE;
    b->buffer = &q->stmt->value[i].d;
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
    q->stmt->value[i].len = n;
    q->stmt->value[i].is_null = bytes == NULL;
    b->buffer_type = bytes == NULL ? MYSQL_TYPE_NULL : type;
    b->buffer = p.wanted;
    b->buffer_length = n;
    b->length = &q->stmt->value[i].len;
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
        if (!q->stmt->value[i].bound) {
            log_critical("database: value %u not bound in: %.*s", i,
                         MAX_LOGGED_SQL, q->sql);
            return -1;
        }
    return 0;
}

/* May a statement of a transaction begin?  What ends one always may. */
static bool
in_time(const struct db *db, const char *sql)
{
    if (!db->in_transaction || !db_is_late(db))
        return true;
    log_warning("database: too slow, no time left for: %.*s", MAX_LOGGED_SQL,
                sql);
    return false;
}

/* Give each text column the room that the longest of its rows needs.  (Asking
 * again for a column that was cut, by mysql_stmt_fetch_column(), gives nothing
 * with the client library of MariaDB 10.11.18.) */
static int
make_room(struct db_query *q)
{
    MYSQL_RES *meta = mysql_stmt_result_metadata(q->stmt->api);
    bool grown = false;

    if (meta == NULL)
        return -1;
    for (unsigned i = 0; i < q->n_columns; i++) {
        unsigned long longest = mysql_fetch_field_direct(meta, i)->max_length;
        struct db_column *c = &q->column[i];

        if (c->kind != KIND_TEXT || longest <= c->cap)
            continue;
        c->cap = longest + longest / 2;
        c->text = xrealloc(c->text, c->cap + 1);
        q->stmt->bind[i].buffer = c->text;
        q->stmt->bind[i].buffer_length = c->cap;
        grown = true;
    }
    mysql_free_result(meta);
    return grown ? mysql_stmt_bind_result(q->stmt->api, q->stmt->bind) : 0;
}

static int
execute(struct db_query *q)
{
    double begin = clock_monotonic_fine();
    int rc = 0;

    if (!db_usable(q->db) || q->stmt == NULL || q->broken ||
        check_bound(q) != 0 || !in_time(q->db, q->sql))
        return -1;
    log_debug("SQL: %.*s", MAX_LOGGED_SQL, q->sql);
    if ((q->n_params > 0 &&
         mysql_stmt_bind_param(q->stmt->api, q->stmt->param) != 0) ||
        mysql_stmt_execute(q->stmt->api) != 0)
        rc = query_failed(q);
    else if (q->n_columns > 0 &&
             (mysql_stmt_bind_result(q->stmt->api, q->stmt->bind) != 0 ||
              mysql_stmt_store_result(q->stmt->api) != 0 || make_room(q) != 0))
        rc = query_failed(q);
    q->db->n_statements++;
    q->db->seconds += clock_monotonic_fine() - begin;
    if (rc != 0)
        return rc;
    q->affected = (int64_t)mysql_stmt_affected_rows(q->stmt->api);
    q->insert_id = (int64_t)mysql_stmt_insert_id(q->stmt->api);
    if (q->db->implicit_begin && !q->db->in_transaction &&
        db_exec(q->db, "COMMIT") != 0)
        return -1;
    q->stage = q->n_columns > 0 ? DB_ROWS : DB_DONE;
    return 0;
}

/* A row has been fetched: its texts get their NUL. */
static int
end_texts(struct db_query *q)
{
    for (unsigned i = 0; i < q->n_columns; i++) {
        struct db_column *c = &q->column[i];

        c->is_null = q->stmt->flags[i].is_null != 0;
        if (c->kind != KIND_TEXT || c->is_null)
            continue;
        if (c->len > c->cap) {
            log_critical("database: column %u was cut to %lu of %lu bytes in: "
                         "%.*s",
                         i, (unsigned long)c->cap, (unsigned long)c->len,
                         MAX_LOGGED_SQL, q->sql);
            q->broken = true;
            return -1;
        }
        c->text[c->len] = '\0';
    }
    return 0;
}

static int
fetch(struct db_query *q)
{
    int rc = mysql_stmt_fetch(q->stmt->api);

    if (rc == MYSQL_NO_DATA) {
        q->stage = DB_DONE;
        return DB_NONE;
    }
    if (rc != 0 && rc != MYSQL_DATA_TRUNCATED)
        return query_failed(q);
    return end_texts(q);
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
