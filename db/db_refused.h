/* db_refused.h - the feeder's notes on hosts that could not take a result, and
 * the end of results that too many could not take (dispatch §9.5).
 *
 * May write: x_refused_host, x_could_not_send; result.server_state (UNSENT to
 * OVER), outcome (to COULDNT_SEND); workunit.transition_time of these. */
#ifndef QUORATE_DB_REFUSED_H
#define QUORATE_DB_REFUSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "refused.h"

struct db;

struct refused_row {
    int64_t result_id;
    struct refused_host host;
};

/* Note them; a host that is noted for a result stays as it is.  0 or -1. */
int db_refused_save(struct db *, const struct refused_row *, size_t n);

/* What is noted of these results: *ret (to be freed), by result.  0 or -1. */
int db_refused_load(struct db *, const int64_t *result_ids, size_t n,
                    struct refused_row **ret, size_t *ret_n);

/* Remove notes of results that are not unsent any more, of up to `limit`
 * results from *from on, which moves behind them and becomes 0 at the end.  0
 * or -1. */
int db_refused_clean(struct db *, int64_t *from, size_t limit);

/* A result that too many hosts could not take. */
struct hopeless {
    int64_t result_id, wu_id;
    size_t hosts;
    char breakdown[REFUSED_TEXT];
    bool ended; /* set by db_could_not_send(): it was still unsent */
};

/* End these results as COULDNT_SEND, if they are still UNSENT, and let their
 * workunits be looked at `now`; keep the breakdowns.  One transaction.  0;
 * DB_BUSY if others hold the locks: later; -1. */
int db_could_not_send(struct db *, struct hopeless *, size_t n, int64_t now);

/* The newest results that could not be sent. */
struct could_not_send {
    int64_t result_id, wu_id, time;
    char wu_name[192];
    int hosts;
    char breakdown[REFUSED_TEXT];
};
/* Up to `max`; *ret_n of them.  0 or -1. */
int db_could_not_send_list(struct db *, struct could_not_send *ret, size_t max,
                           size_t *ret_n);

/* ---- homogeneous redundancy ---- */

/* Of these workunits, which are all committed to a class of hosts, release
 * those of which no result is in progress or was successful: hr_class 0, one
 * result more (if max_total_results allows it), looked at now.  *ret_n were
 * released.  0; DB_BUSY; -1. */
int db_feed_uncommit(struct db *, const int64_t *wu_ids, size_t n, int64_t now,
                     size_t *ret_n);

#endif
