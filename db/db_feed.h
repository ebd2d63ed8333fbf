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
struct db_query;

enum feed_order {
    FEED_BEST,    /* priority (high first), workunit, result */
    FEED_WORST,   /* exactly the other way round */
    FEED_RANDOM,  /* result.random: the same each time */
    FEED_SHUFFLE, /* another order each time */
};

/* Which results; and where the next page begins: a keyset.
 *
 * A page in the order FEED_BEST or FEED_WORST, of all apps or of one, costs as
 * much as it has rows, however many results are unsent (indexes x_res_feed,
 * x_res_app_feed).  Of one submitter or batch it costs what these have unsent,
 * unless there is an index (server_state, batch, priority DESC, workunitid);
 * FEED_RANDOM costs what is unsent, unless there is one (server_state, random);
 * FEED_SHUFFLE does always. */
struct feed_query {
    enum feed_order order;
    int mod_n, mod_i; /* results with id mod_n = mod_i; 0: all */
    bool mod_of_wu;   /* … the workunit's id */
    int64_t appid;    /* of this app; 0: of all */
    int64_t user_id;  /* of batches that this user has submitted; 0: of all */
    bool one_batch;   /* of this batch only: */
    int64_t batch;
    bool above; /* only priorities higher than this one: */
    int32_t above_priority;

    bool started; /* false: from the top */
    int32_t priority;
    int64_t random;
    int64_t wu_id;
    int64_t result_id;
};

/* Read up to `limit` results that are UNSENT, of a workunit that is not locked
 * for special use (transitioner_flags = 0) and an app that is not deprecated,
 * and move the query behind them.  need_reliable is false in all of them.
 * FEED_SHUFFLE has one page only.
 *
 * Results of a workunit with error_mask ≠ 0 are not given out: they become
 * OVER / DIDNT_NEED, if they are still UNSENT.
 *
 * *ret_n results.  0; DB_NONE if this was the last page (*ret_n may still be
 * > 0); -1 failed (logged).
 *
 * Of apps with locality_scheduling = 1 the names of the input files are read,
 * too: one statement more for each 128 of their jobs. */
int db_feed_page(struct db *, struct feed_query *, struct sendable *ret,
                 size_t limit, size_t *ret_n);

/* Batches that have unsent results, up to `max`; *ret_n of them.  Reads what is
 * unsent: not often.  0 or -1. */
int db_feed_batches(struct db *, int64_t *ret, size_t max, size_t *ret_n);

/* Submitters and their shares (user_submit.quota).  Up to `max`; *ret_n of
 * them.  0 or -1. */
struct submitter {
    int64_t user_id;
    double quota;
};
int db_feed_submitters(struct db *, struct submitter *ret, size_t max,
                       size_t *ret_n);

/* Of these results, which may still be sent, by the rules of db_feed_page(),
 * and with this priority (NULL: with any)?  ret[i] tells of ids[i].  0 or -1.
 */
int db_feed_still_unsent(struct db *, const int64_t *ids,
                         const int32_t *priority, size_t n, bool *ret);

/* What a sendable is made of, in the order in which db_feed_sendable() reads it
 * (some of it is for the feeder alone); more columns may follow. */
#define DB_FEED_COLUMNS                                                        \
    "r.id, r.workunitid, r.appid, r.batch, r.priority, r.size_class, "         \
    "w.app_version_id, w.delay_bound, w.rsc_fpops_est, w.rsc_fpops_bound, "    \
    "w.rsc_memory_bound, w.rsc_disk_bound, w.rsc_bandwidth_bound, "            \
    "w.hr_class, w.app_version_num, w.error_mask, r.create_time, r.random, "   \
    "w.keywords, COALESCE(b.user_id, 0)"

#define DB_FEED_FROM                                                           \
    " FROM result r STRAIGHT_JOIN workunit w ON w.id = r.workunitid "          \
    "LEFT JOIN batch b ON b.id = r.batch "

#define DB_FEED_N_COLUMNS 20

void db_feed_sendable(struct db_query *, struct sendable *ret);

#endif
