/* db_admin.h - whole databases: what make_project asks a server that may not
 * have the project's database yet.
 *
 * Names of databases become part of statements, so they are letters, digits, _,
 * - and $; others are refused (-1). */
#ifndef QUORATE_DB_ADMIN_H
#define QUORATE_DB_ADMIN_H

#include <stdint.h>

struct db;

/* Is there a database of this name, as far as this account sees?  0 yes,
 * DB_NONE, -1. */
int db_admin_find(struct db *, const char *name);

int db_admin_create(struct db *, const char *name); /* utf8mb4.  0, -1 */
int db_admin_drop(struct db *, const char *name);   /* 0, also if absent; -1 */

/* How many tables the database has.  0, -1. */
int db_admin_tables(struct db *, const char *name, int64_t *ret);

#endif
