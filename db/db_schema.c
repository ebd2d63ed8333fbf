/* db_schema.c - which version the database has, and the steps to a newer one.
 *
 * DDL commits by itself, so a step is no transaction: it is recorded when its
 * last statement is done, and must bear to be repeated. */
#include "db_schema.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "db.h"
#include "file.h"
#include "log.h"

enum {
    MAX_SQL_FILE = 1 << 20,
    DDL_PATIENCE = 7 * 86400, /* s: an index on a table of many GB */
};

static int
first_number(struct db *db, const char *sql)
{
    struct db_query *q = db_prepare(db, sql);
    int n = -1;

    if (q != NULL && db_step(q) == 0)
        n = (int)db_col_i64(q, 0);
    db_finish(q);
    return n;
}

int
db_schema_version(struct db *db)
{
    int n = first_number(
        db, "SELECT COUNT(*) FROM information_schema.tables"
            " WHERE table_schema = DATABASE() AND table_name = 'x_schema'");

    if (n <= 0)
        return n;
    return first_number(db, "SELECT COALESCE(MAX(version), 0) FROM x_schema");
}

/* ---- files of statements ------------------------------------------------ */

/* Take the next line off *text; NULL at the end. */
static char *
next_line(char **text)
{
    char *line = *text;

    if (line == NULL || *line == '\0')
        return NULL;
    *text = strchr(line, '\n');
    if (*text != NULL)
        *(*text)++ = '\0';
    return line;
}

static bool
ends_statement(const char *line)
{
    size_t n = strlen(line);

    while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\r'))
        n--;
    return n > 0 && line[n - 1] == ';';
}

static bool
is_comment(const char *line)
{
    return strncmp(line + strspn(line, " \t"), "--", 2) == 0;
}

static int
run_statements(struct db *db, char *text)
{
    struct buf sql = BUF_INIT;
    int rc = 0;

    for (char *line; rc == 0 && (line = next_line(&text)) != NULL;) {
        if (is_comment(line) || (sql.len == 0 && line[0] == '\0'))
            continue;
        buf_add(&sql, line);
        buf_addc(&sql, '\n');
        if (!ends_statement(line))
            continue;
        rc = db_exec_ddl(db, sql.data);
        if (rc == DB_EXISTS)
            rc = 0;
        buf_reset(&sql);
    }
    if (rc == 0 && sql.len > 0) {
        log_critical("statement without an end: %.60s", sql.data);
        rc = -1;
    }
    buf_free(&sql);
    return rc;
}

int
db_schema_load(struct db *db, const char *path)
{
    struct buf text = BUF_INIT;
    int rc = -1;

    if (file_read(path, MAX_SQL_FILE, &text) != 0) {
        log_errno("read %s", path);
    } else {
        rc = run_statements(db, text.data);
        if (rc != 0)
            log_critical("%s: failed; see above", path);
    }
    buf_free(&text);
    return rc;
}

int
db_schema_create(struct db *db, const char *folder)
{
    static const char *const files[] = {"schema.sql", "indexes.sql"};
    struct buf path = BUF_INIT;
    int rc = first_number(db, "SELECT COUNT(*) FROM information_schema.tables"
                              " WHERE table_schema = DATABASE()");

    if (rc > 0) {
        log_critical("the database has %d tables already", rc);
        return -1;
    }
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(files); i++) {
        buf_reset(&path);
        buf_addf(&path, "%s/%s", folder, files[i]);
        rc = db_schema_load(db, path.data);
    }
    buf_free(&path);
    return rc;
}

/* ---- steps -------------------------------------------------------------- */

/* The step's number, from "0002-indexes.sql"; 0: not a step. */
static int
step_number(const char *name)
{
    char *end;
    long n = strtol(name, &end, 10);
    size_t len = strlen(name);

    if (end != name + 4 || *end != '-' || len < 5 ||
        strcmp(name + len - 4, ".sql") != 0)
        return 0;
    return (int)n;
}

/* The names of the steps' files, by number; NULL: there is none.  0; -1
 * (logged). */
static int
list_steps(const char *dir, char *file[])
{
    DIR *d = opendir(dir);
    int rc = 0;

    if (d == NULL) {
        log_errno("open folder %s", dir);
        return -1;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        int n = step_number(e->d_name);

        if (n <= 0 || n > DB_SCHEMA_NEWEST)
            continue;
        if (file[n] != NULL) {
            log_critical("%s: %s and %s are both step %d", dir, file[n],
                         e->d_name, n);
            rc = -1;
        }
        free(file[n]);
        file[n] = xstrdup(e->d_name);
    }
    closedir(d);
    if (rc == 0 && file[DB_SCHEMA_NEWEST] == NULL) {
        log_critical("%s: step %d is missing", dir, DB_SCHEMA_NEWEST);
        rc = -1;
    }
    return rc;
}

/* Which steps the database has.  0 or -1. */
static int
read_done(struct db *db, bool done[])
{
    struct db_query *q =
        db_prepare(db, "SELECT version FROM x_schema ORDER BY version");
    int rc = -1;

    while (q != NULL && (rc = db_step(q)) == 0)
        if (db_col_i64(q, 0) > 0 && db_col_i64(q, 0) <= DB_SCHEMA_NEWEST)
            done[db_col_i64(q, 0)] = true;
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static int
record_step(struct db *db, int n)
{
    struct db_query *q = db_prepare(
        db, "INSERT INTO x_schema (version, applied_time) VALUES (?, ?)");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, n) == 0 &&
        db_bind_i64(q, 1, clock_now()) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc == DB_EXISTS ? 0 : rc; /* somebody did it beside us */
}

/* All that are missing, in order; how many were done, or -1. */
static int
do_steps(struct db *db, const char *dir, char *file[], const bool done[])
{
    struct buf path = BUF_INIT;
    int n_done = 0;

    for (int n = 1; n_done >= 0 && n <= DB_SCHEMA_NEWEST; n++) {
        if (file[n] == NULL || done[n])
            continue;
        buf_reset(&path);
        buf_addf(&path, "%s/%s", dir, file[n]);
        if (db_schema_load(db, path.data) != 0 || record_step(db, n) != 0) {
            n_done = -1;
        } else {
            log_normal("database: step %d done (%s)", n, path.data);
            n_done++;
        }
    }
    buf_free(&path);
    return n_done;
}

int
db_schema_migrate(struct db *db, const char *folder)
{
    int version = db_schema_version(db);
    char *file[DB_SCHEMA_NEWEST + 1] = {NULL};
    bool done[DB_SCHEMA_NEWEST + 1] = {false};
    struct buf dir = BUF_INIT;
    int rc = -1;

    if (version < 0)
        return -1;
    if (version > DB_SCHEMA_NEWEST) {
        log_critical("the database has version %d, this program knows %d: "
                     "install a newer one",
                     version, DB_SCHEMA_NEWEST);
        return -1;
    }
    buf_addf(&dir, "%s/migrations", folder);
    if (list_steps(dir.data, file) == 0 &&
        (version == 0 || read_done(db, done) == 0) &&
        db_set_patience(db, DDL_PATIENCE) == 0)
        rc = do_steps(db, dir.data, file, done);
    for (int n = 0; n <= DB_SCHEMA_NEWEST; n++)
        free(file[n]);
    buf_free(&dir);
    return rc;
}
