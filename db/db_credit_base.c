/* db_credit_base.c - the part of users', hosts' and teams' total_credit that no
 * row of table result stands for. */
#include "db_credit_base.h"

#include "buf.h"
#include "db.h"
#include "db_many.h"

/* For each owner: what the results say whose it is. */
#define KEEP(kind, column)                                                     \
    "INSERT INTO x_credit_base (kind, id, credit) SELECT " kind ", " column    \
    ", SUM(granted_credit) FROM result WHERE granted_credit <> 0 AND " column  \
    " <> 0 AND workunitid IN ("
#define KEEP_END(column)                                                       \
    ") GROUP BY " column " ORDER BY " column                                   \
    " ON DUPLICATE KEY UPDATE x_credit_base.credit = "                         \
    "x_credit_base.credit + VALUES(credit)"

static const struct {
    const char *before, *after;
} keep[] = {
    {KEEP("1", "userid"), KEEP_END("userid")},
    {KEEP("2", "hostid"), KEEP_END("hostid")},
    {KEEP("3", "teamid"), KEEP_END("teamid")},
};

int
db_credit_base_keep(struct db *db, const int64_t *wu_ids, size_t n)
{
    int rc = 0;

    for (size_t i = 0; i < ARRAY_LEN(keep) && rc == 0; i++) {
        struct db_query *q =
            db_prepare_list(db, keep[i].before, n, keep[i].after);
        unsigned p = 0;

        rc = q != NULL && db_bind_list(q, &p, wu_ids, n) == 0 ? db_step(q) : -1;
        db_finish(q);
    }
    return rc == 0 ? 0 : -1;
}

int
db_credit_base_add(struct db *db, enum credit_owner kind, int64_t id,
                   double credit)
{
    struct db_query *q;
    int rc = -1;

    if (id == 0)
        return 0;
    q = db_prepare(db, "INSERT INTO x_credit_base (kind, id, credit) "
                       "VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE "
                       "credit = credit + VALUES(credit)");
    if (q != NULL && db_bind_i64(q, 0, kind) == 0 &&
        db_bind_i64(q, 1, id) == 0 && db_bind_double(q, 2, credit) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc == 0 ? 0 : -1;
}
