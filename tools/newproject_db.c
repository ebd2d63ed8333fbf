/* newproject_db.c - a new project's database: made where it is missing. */
#include "newproject.h"

#include <stdint.h>

#include "db.h"
#include "db_admin.h"
#include "db_schema.h"
#include "tool.h"

static struct db *
open_server(const struct newproject *p)
{
    return db_open_params(p->db_host, p->db_user, p->db_passwd, "");
}

/* The database itself, empty at first. */
static int
make_database(const struct newproject *p, bool drop_first, bool *ret_created)
{
    struct db *db = open_server(p);
    int rc = -1;

    if (db == NULL) {
        tool_error("no connection to the database server as %s", p->db_user);
        return -1;
    }
    if (drop_first && db_admin_drop(db, p->db_name) != 0)
        goto out;
    rc = db_admin_find(db, p->db_name);
    if (rc == DB_NONE) {
        rc = db_admin_create(db, p->db_name);
        *ret_created = rc == 0;
    }
    if (rc != 0)
        tool_error("database %s cannot be made as %s", p->db_name, p->db_user);
out:
    db_close(db);
    return rc == 0 ? 0 : -1;
}

int
newproject_db_make(const struct newproject *p, bool drop_first,
                   bool *ret_created)
{
    struct db *db;
    int64_t tables = 0;
    int rc;

    *ret_created = false;
    if (make_database(p, drop_first, ret_created) != 0)
        return -1;
    db = db_open_params(p->db_host, p->db_user, p->db_passwd, p->db_name);
    if (db == NULL)
        return -1;
    rc = db_admin_tables(db, p->db_name, &tables);
    if (rc == 0 && tables == 0)
        rc = db_schema_create(db, p->install.datadir);
    else if (rc == 0)
        rc = db_schema_migrate(db, p->install.datadir) < 0 ? -1 : 0;
    if (rc != 0)
        tool_error("tables of database %s could not be made", p->db_name);
    db_close(db);
    return rc;
}

int
newproject_db_drop(const struct newproject *p)
{
    struct db *db = open_server(p);
    int rc = db != NULL ? db_admin_drop(db, p->db_name) : -1;

    if (rc != 0)
        tool_error("database %s is left", p->db_name);
    db_close(db);
    return rc;
}
