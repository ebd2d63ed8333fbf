/* db_sched_trickle.c - what jobs of a client say, and what is said to them. */
#include "db_sched.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "db_many.h"
#include "db_sched_list.h"
#include "request.h"

enum {
    TRICKLE_CHUNK = 16, /* rows in one INSERT, up to 256 KB each */
    MESSAGE_MAX = 100,  /* to a host, in one reply */
};

/* ---- from jobs ------------------------------------------------------------
 */

static int
trickle_chunk(struct db *db, int64_t hostid, int64_t now,
              const struct trickle_up *t, size_t n)
{
    char variety[TRICKLE_CHUNK][DB_TEXT_SIZE];
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 0;
    int rc = 0;

    buf_add(&sql, "INSERT INTO msg_from_host"
                  " (create_time, hostid, variety, handled, xml) VALUES ");
    db_placeholder_rows(&sql, n, 5);
    q = db_prepare(db, buf_str(&sql));
    if (q == NULL)
        rc = -1;
    for (size_t k = 0; rc == 0 && k < n; k++) {
        str_copy(variety[k], DB_TEXT_SIZE, t[k].variety);
        if (db_bind_i64(q, i++, now) != 0 || db_bind_i64(q, i++, hostid) != 0 ||
            db_bind_text(q, i++, variety[k]) != 0 ||
            db_bind_i64(q, i++, 0) != 0 || db_bind_text(q, i++, t[k].xml) != 0)
            rc = -1;
    }
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    buf_free(&sql);
    return rc;
}

/* Which of the n are there already?  again[0 … n - 1]. */
static int
find_repeats(struct db *db, int64_t hostid, const struct trickle_up *t,
             size_t n, bool *again)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 0;
    int rc = -1;

    buf_add(&sql, "SELECT variety, xml FROM msg_from_host WHERE hostid = ?"
                  " AND xml IN (");
    db_placeholders(&sql, n);
    buf_addc(&sql, ')');
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL && (rc = db_bind_i64(q, i++, hostid)) == 0)
        for (size_t k = 0; rc == 0 && k < n; k++)
            rc = db_bind_text(q, i++, t[k].xml);
    while (rc == 0 && (rc = db_step(q)) == 0)
        for (size_t k = 0; k < n; k++)
            if (strcmp(db_col_text(q, 0), t[k].variety) == 0 &&
                strcmp(db_col_text(q, 1), t[k].xml) == 0)
                again[k] = true;
    db_finish(q);
    buf_free(&sql);
    return rc == DB_NONE ? 0 : -1;
}

static int
store_chunk(struct db *db, int64_t hostid, int64_t now,
            const struct trickle_up *t, size_t n, size_t *ret_again)
{
    struct trickle_up fresh[TRICKLE_CHUNK];
    bool again[TRICKLE_CHUNK] = {false};
    size_t n_fresh = 0;

    if (find_repeats(db, hostid, t, n, again) != 0)
        return -1;
    for (size_t k = 0; k < n; k++)
        if (!again[k])
            fresh[n_fresh++] = t[k];
    *ret_again += n - n_fresh;
    for (size_t done = 0; done < n_fresh;) {
        size_t chunk = db_list_chunk(n_fresh - done, TRICKLE_CHUNK);

        if (trickle_chunk(db, hostid, now, fresh + done, chunk) != 0)
            return -1;
        done += chunk;
    }
    return 0;
}

int
db_sched_store_trickles(struct db *db, int64_t hostid, int64_t now,
                        const struct trickle_up *t, size_t n, size_t *ret_again)
{
    *ret_again = 0;
    while (n > 0) {
        size_t chunk = db_list_chunk(n, TRICKLE_CHUNK);

        if (store_chunk(db, hostid, now, t, chunk, ret_again) != 0)
            return -1;
        t += chunk;
        n -= chunk;
    }
    return 0;
}

/* ---- to jobs --------------------------------------------------------------
 */

/* One statement for n ids: before + " msg_id IN (…)" and the like + after. */
static int
change_messages(struct db *db, const char *before, const char *column,
                const char *after, const int64_t *ids, size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 0;
    int rc = -1;

    buf_add(&sql, before);
    db_list_in(&sql, column, n);
    buf_add(&sql, after);
    q = db_prepare(db, buf_str(&sql));
    if (q != NULL && db_list_bind(q, &i, ids, sizeof(*ids), n) == 0)
        rc = db_step(q);
    db_finish(q);
    buf_free(&sql);
    return rc;
}

/* These have arrived. */
static int
mark_handled(struct db *db, const int64_t *ids, size_t n)
{
    int rc;

    if (n == 0)
        return 0;
    rc = change_messages(db, "UPDATE msg_to_host SET handled = 1 WHERE", "id",
                         " AND handled = 0", ids, n);
    return rc != 0 ? rc
                   : change_messages(db, "DELETE FROM x_msg_sent WHERE",
                                     "msg_id", "", ids, n);
}

/* These go out now.  The padding says the last one again. */
static int
mark_sent(struct db *db, int64_t now, const int64_t *ids, size_t n)
{
    struct buf sql = BUF_INIT;
    size_t room = db_padded(n > 0 ? n : 1);
    struct db_query *q;
    int rc = 0;

    if (n == 0)
        return 0;
    buf_add(&sql, "INSERT INTO x_msg_sent (msg_id, sent_time) VALUES ");
    db_placeholder_rows(&sql, room, 2);
    buf_add(&sql, " ON DUPLICATE KEY UPDATE sent_time = VALUES(sent_time)");
    q = db_prepare(db, buf_str(&sql));
    if (q == NULL)
        rc = -1;
    for (size_t k = 0; rc == 0 && k < room; k++)
        if (db_bind_i64(q, (unsigned)(2 * k), ids[k < n ? k : n - 1]) != 0 ||
            db_bind_i64(q, (unsigned)(2 * k + 1), now) != 0)
            rc = -1;
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    buf_free(&sql);
    return rc;
}

int
db_sched_take_messages(struct db *db, int64_t hostid, int64_t now,
                       bool reply_lost, char ***ret, size_t *ret_n)
{
    struct db_query *q = db_prepare(
        db, "SELECT m.id, m.xml, s.sent_time FROM msg_to_host m"
            " LEFT JOIN x_msg_sent s ON s.msg_id = m.id"
            " WHERE m.hostid = ? AND m.handled = 0 ORDER BY m.id LIMIT ?");
    int64_t sent[MESSAGE_MAX], arrived[MESSAGE_MAX];
    size_t n_arrived = 0;
    int rc = -1;

    *ret = xcalloc(MESSAGE_MAX, sizeof(**ret));
    *ret_n = 0;
    if (q != NULL && db_bind_i64(q, 0, hostid) == 0 &&
        db_bind_i64(q, 1, MESSAGE_MAX) == 0)
        while ((rc = db_step(q)) == 0) {
            if (!reply_lost && !db_col_is_null(q, 2)) {
                arrived[n_arrived++] = db_col_i64(q, 0);
                continue;
            }
            sent[*ret_n] = db_col_i64(q, 0);
            (*ret)[(*ret_n)++] = db_col_dup(q, 1);
        }
    db_finish(q);
    if (rc != DB_NONE || mark_handled(db, arrived, n_arrived) != 0)
        return -1;
    return mark_sent(db, now, sent, *ret_n);
}
