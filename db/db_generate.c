/* db_generate.c - the work generator's question: how much is left to be sent?
 */
#include "db_generate.h"

#include <stddef.h>

#include "db.h"

static int
number(struct db *db, const char *sql, const int64_t value[2], int64_t *ret)
{
    struct db_query *q = db_prepare(db, sql);
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, value[0]) == 0 &&
        db_bind_i64(q, 1, value[1]) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret = db_col_i64(q, 0);
    db_finish(q);
    return rc == 0 ? 0 : -1;
}

/* New workunits first: one that the transitioner takes between the two
 * statements is then counted twice, which makes too few jobs for a moment; the
 * other way round it would be missed, and too many made. */
int
db_generate_unsent(struct db *db, int64_t appid, int64_t now, int64_t enough,
                   int64_t *ret)
{
    const int64_t due[] = {appid, now}, limit[] = {appid, enough};
    int64_t coming = 0, unsent = 0;

    if (number(db,
               "SELECT COALESCE(SUM(w.target_nresults), 0) FROM workunit w "
               "WHERE w.appid = ? AND w.transition_time <= ? "
               "AND w.error_mask = 0 AND w.transitioner_flags = 0 AND NOT "
               "EXISTS (SELECT 1 FROM result r WHERE r.workunitid = w.id)",
               due, &coming) != 0 ||
        number(db,
               "SELECT COUNT(*) FROM (SELECT 1 FROM result WHERE appid = ? "
               "AND server_state = 2 LIMIT ?) AS few",
               limit, &unsent) != 0)
        return -1;
    *ret = coming + unsent;
    return 0;
}
