/* db_attempt.c - how often somebody tried something lately. */
#include "db_attempt.h"

#include <stddef.h>

#include "buf.h"
#include "db.h"

enum {
    LONGEST_WINDOW = 3600, /* s: what is older is of no use */
    FORGET = 10,           /* rows: more than one comes, so none stay */
};

struct attempt_row {
    enum attempt kind;
    char who[ATTEMPT_WHO + 1];
    int64_t window, now;
};

int
db_attempts(struct db *db, enum attempt kind, const char *who, int64_t window,
            int64_t now, int64_t *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT times FROM x_attempt WHERE kind = ? AND who = ?"
                       " AND since > ? AND since <= ?");
    char cut[ATTEMPT_WHO + 1];
    int rc = -1;

    *ret = 0;
    (void)str_copy(cut, sizeof(cut), who);
    if (q != NULL && db_bind_i64(q, 0, kind) == 0 &&
        db_bind_text(q, 1, cut) == 0 && db_bind_i64(q, 2, now - window) == 0 &&
        db_bind_i64(q, 3, now) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret = db_col_i64(q, 0);
    db_finish(q);
    return rc < 0 ? -1 : 0;
}

/* In the order of the assignments: "times" sees the old "since". */
static int
count(struct db *db, const struct attempt_row *a)
{
    struct db_query *q =
        db_prepare(db, "INSERT INTO x_attempt (kind, who, since, times)"
                       " VALUES (?, ?, ?, 1) ON DUPLICATE KEY UPDATE"
                       " times = IF(since > ? AND since <= ?, times + 1, 1),"
                       " since = IF(since > ? AND since <= ?, since, ?)");
    const int64_t value[] = {
        a->now, a->now - a->window, a->now, a->now - a->window, a->now, a->now};
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, a->kind) == 0)
        rc = db_bind_text(q, 1, a->who);
    for (unsigned i = 0; rc == 0 && i < ARRAY_LEN(value); i++)
        rc = db_bind_i64(q, i + 2, value[i]);
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

static int
forget_old(struct db *db, int64_t now)
{
    struct db_query *q = db_prepare(
        db, "DELETE FROM x_attempt WHERE since <= ? ORDER BY since LIMIT ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, now - LONGEST_WINDOW) == 0 &&
        db_bind_i64(q, 1, FORGET) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

static int
add(struct db *db, void *arg)
{
    const struct attempt_row *a = arg;

    if (count(db, a) != 0 || forget_old(db, a->now) != 0)
        return -1;
    return 0;
}

int
db_attempt_add(struct db *db, enum attempt kind, const char *who,
               int64_t window, int64_t now)
{
    struct attempt_row a = {.kind = kind, .window = window, .now = now};

    (void)str_copy(a.who, sizeof(a.who), who);
    return db_transaction(db, add, &a) == 0 ? 0 : -1;
}
