/* db_schema.h - which version the database has, and the steps to a newer one.
 *
 * A step is a file NNNN-what.sql in db/migrations (the numbers may leave gaps);
 * table x_schema records those that are done.  A step may be interrupted and
 * begun again: what it would create and is there already (table, column, index)
 * is left as it is.
 *
 * Writes x_schema, and what the steps say. */
#ifndef QUORATE_DB_SCHEMA_H
#define QUORATE_DB_SCHEMA_H

struct db;

enum { DB_SCHEMA_NEWEST = 120 }; /* the highest step this program knows */

/* The highest step done; 0: a project without any (no x_schema).  -1 (logged).
 */
int db_schema_version(struct db *);

/* Execute the statements of a file, each ending in ';' at the end of a line.
 * Lines that begin with "--" are comments.  0, -1 (logged). */
int db_schema_load(struct db *, const char *path);

/* Make a new project's tables: schema.sql and indexes.sql of folder.  A
 * database that has tables is refused.  0, -1 (logged). */
int db_schema_create(struct db *, const char *folder);

/* Do the missing steps of folder/migrations, in order.  Returns how many were
 * done; -1 failed (logged).  A database with a step that we do not know is of a
 * newer program: refused. */
int db_schema_migrate(struct db *, const char *folder);

#endif
