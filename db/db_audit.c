/* db_audit.c - what operators did. */
#include "db_audit.h"

#include "buf.h"
#include "db.h"

/* A text that is too long is cut: no reason to refuse the work. */
static int
insert_line(struct db *db, struct audit_line *l)
{
    struct db_query *q =
        db_prepare(db, "INSERT INTO x_audit (time, actor, action, object, "
                       "detail) VALUES (?, LEFT(?, 64), LEFT(?, 64), "
                       "LEFT(?, 255), LEFT(?, 1024))");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, l->time) == 0 &&
        db_bind_text(q, 1, l->actor) == 0 &&
        db_bind_text(q, 2, l->action) == 0 &&
        db_bind_text(q, 3, l->object) == 0 &&
        db_bind_text(q, 4, l->detail) == 0)
        rc = db_step(q);
    if (rc == 0)
        l->id = db_insert_id(q);
    db_finish(q);
    return rc;
}

int
db_audit(struct db *db, struct audit_line *l)
{
    struct db_query *q;
    int rc = -1;

    if (l->id == 0)
        return insert_line(db, l);
    q = db_prepare(db,
                   "UPDATE x_audit SET detail = LEFT(?, 1024) WHERE id = ?");
    if (q != NULL && db_bind_text(q, 0, l->detail) == 0 &&
        db_bind_i64(q, 1, l->id) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}
