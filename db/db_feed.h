/* db_feed.h - the feeder's questions: which results are ready to be sent, and
 * which of those in the job array no longer are?
 *
 * May write: result.server_state (UNSENT to OVER), outcome (to DIDNT_NEED), of
 * results whose workunit has failed. */
#ifndef QUORATE_DB_FEED_H
#define QUORATE_DB_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sendable.h"

struct db;

/* Which results; and where the next page begins: keyset in the order priority
 * (high first), workunit, result. */
struct feed_query {
    int mod_n, mod_i; /* results with id mod_n = mod_i; 0: all */
    bool above;       /* only priorities higher than this one: */
    int32_t above_priority;

    bool started; /* false: from the top */
    int32_t priority;
    int64_t wu_id;
    int64_t result_id;
};

/* Read up to `limit` results that are UNSENT, of a workunit that is not locked
 * for special use (transitioner_flags = 0) and an app that is not deprecated,
 * and move the query behind them.  need_reliable is false in all of them.
 *
 * Results of a workunit with error_mask ≠ 0 are not given out: they become
 * OVER / DIDNT_NEED, if they are still UNSENT.
 *
 * *ret_n results.  0; DB_NONE if this was the last page (*ret_n may still be
 * > 0); -1 failed (logged). */
int db_feed_page(struct db *, struct feed_query *, struct sendable *ret,
                 size_t limit, size_t *ret_n);

/* Of these results, which may still be sent, by the rules of db_feed_page(),
 * and with this priority (NULL: with any)?  ret[i] tells of ids[i].  0 or -1.
 */
int db_feed_still_unsent(struct db *, const int64_t *ids,
                         const int32_t *priority, size_t n, bool *ret);

#endif
