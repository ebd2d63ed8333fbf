/* snapshot.c - all rows of the database, kept beside it and put back.
 *
 * Each table has a shadow.  Rows are deleted and inserted, which with the few
 * rows of a test is much faster than to make tables anew. */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "dbtest.h"

enum { MAX_TABLES = 200 };

static char *table[MAX_TABLES];
static size_t n_tables;

static void
list_tables(struct db *db)
{
    struct db_query *q = db_prepare(
        db, "SELECT table_name FROM information_schema.tables WHERE "
            "table_schema = DATABASE() AND table_type = 'BASE TABLE' AND "
            "table_name NOT LIKE 'shadow\\_%' ORDER BY table_name");

    n_tables = 0;
    while (db_step(q) == 0) {
        ck_assert_uint_lt(n_tables, MAX_TABLES);
        table[n_tables++] = db_col_dup(q, 0);
    }
    db_finish(q);
}

/* The same statement for each table, its name where the text has a #. */
static void
for_each_table(struct db *db, const char *text)
{
    struct buf sql = BUF_INIT;

    for (size_t i = 0; i < n_tables; i++) {
        buf_reset(&sql);
        for (const char *c = text; *c != '\0'; c++)
            if (*c == '#')
                buf_add(&sql, table[i]);
            else
                buf_addc(&sql, *c);
        dbtest_exec(db, buf_str(&sql));
    }
    buf_free(&sql);
}

void
snapshot_take(struct db *db)
{
    if (n_tables == 0) {
        list_tables(db);
        for_each_table(db, "CREATE TABLE IF NOT EXISTS `shadow_#` LIKE `#`");
    }
    dbtest_exec(db, "START TRANSACTION");
    for_each_table(db, "DELETE FROM `shadow_#`");
    for_each_table(db, "INSERT INTO `shadow_#` SELECT * FROM `#`");
    dbtest_exec(db, "COMMIT");
}

void
snapshot_restore(struct db *db)
{
    dbtest_exec(db, "START TRANSACTION");
    for_each_table(db, "DELETE FROM `#`");
    for_each_table(db, "INSERT INTO `#` SELECT * FROM `shadow_#`");
    dbtest_exec(db, "COMMIT");
}

void
snapshot_drop(struct db *db)
{
    for_each_table(db, "DROP TABLE IF EXISTS `shadow_#`");
    for (size_t i = 0; i < n_tables; i++)
        free(table[i]);
    n_tables = 0;
}
