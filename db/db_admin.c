/* db_admin.c - whole databases: what make_project asks a server that may not
 * have the project's database yet. */
#include "db_admin.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "log.h"

static bool
good_name(const char *name)
{
    for (const char *p = name; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && strchr("_-$", *p) == NULL)
            return false;
    return name[0] != '\0' && strlen(name) <= 64;
}

int
db_admin_find(struct db *db, const char *name)
{
    struct db_query *q =
        db_prepare(db, "SELECT schema_name FROM information_schema.schemata "
                       "WHERE schema_name = ?");
    int rc = -1;

    if (q != NULL && db_bind_text(q, 0, name) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

static int
run(struct db *db, const char *before, const char *name, const char *after)
{
    struct buf sql = BUF_INIT;
    int rc;

    if (!good_name(name)) {
        log_critical("database: %s is no good name for a database", name);
        return -1;
    }
    buf_addf(&sql, "%s `%s`%s", before, name, after);
    rc = db_exec(db, buf_str(&sql));
    buf_free(&sql);
    return rc;
}

int
db_admin_create(struct db *db, const char *name)
{
    return run(db, "CREATE DATABASE", name,
               " CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci");
}

int
db_admin_drop(struct db *db, const char *name)
{
    return run(db, "DROP DATABASE IF EXISTS", name, "");
}

int
db_admin_tables(struct db *db, const char *name, int64_t *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT COUNT(*) FROM information_schema.tables "
                       "WHERE table_schema = ?");
    int rc = -1;

    if (q != NULL && db_bind_text(q, 0, name) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret = db_col_i64(q, 0);
    db_finish(q);
    return rc == 0 ? 0 : -1;
}
