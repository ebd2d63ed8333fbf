/* db_daemon.c - what the loop that all daemons share asks the database. */
#include "db_daemon.h"

#include "db.h"

int
db_app_id(struct db *db, const char *name, int64_t *ret_id)
{
    struct db_query *q = db_prepare(db, "SELECT id FROM app WHERE name = ?");
    int rc = -1;

    if (q != NULL && db_bind_text(q, 0, name) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret_id = db_col_i64(q, 0);
    db_finish(q);
    return rc;
}
