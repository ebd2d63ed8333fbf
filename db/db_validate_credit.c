/* db_validate_credit.c - credit for the results that were found valid, in the
 * transaction that says so. */
#include <stdlib.h>

#include "buf.h"
#include "db.h"
#include "db_grant.h"
#include "db_many.h"
#include "db_validate_private.h"

enum { ROWS_AT_ONCE = 512 };

static double
turnaround(const struct judged *j)
{
    if (j->c->outlier || j->r->sent_time <= 0 ||
        j->r->received_time < j->r->sent_time)
        return -1;
    return (double)(j->r->received_time - j->r->sent_time);
}

static int
grant_credit(struct db *db, const struct store *s, const struct judged *judged,
             size_t n)
{
    struct grant *g = xcalloc(n + 1, sizeof(*g));
    size_t n_grants = 0;
    int rc;

    for (size_t i = 0; i < n; i++)
        if (judged[i].c->validate_state == VALIDATE_VALID)
            g[n_grants++] = (struct grant){
                .hostid = judged[i].r->hostid,
                .userid = judged[i].r->userid,
                .credit = judged[i].c->credit,
                .start = judged[i].r->sent_time,
                .turnaround = turnaround(&judged[i]),
                .appid = s->terms->credit_by_app ? judged[i].r->appid : 0,
            };
    rc = db_grant(db, g, n_grants, s->terms->now);
    free(g);
    return rc;
}

/* db_grant() has locked the users: the team that got the credit is theirs of
 * now, which the results' rows shall name (audit adds them up). */
static int
name_teams(struct db *db, const struct judged *judged, size_t n)
{
    int64_t ids[ROWS_AT_ONCE];
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0;) {
        struct db_query *q;
        size_t k = 0;
        unsigned p = 0;

        for (; i < n && k < ROWS_AT_ONCE; i++)
            if (judged[i].c->validate_state == VALIDATE_VALID &&
                judged[i].c->credit > 0)
                ids[k++] = judged[i].r->id;
        if (k == 0)
            break;
        q = db_prepare_list(
            db,
            "UPDATE result r STRAIGHT_JOIN user u ON u.id = r.userid SET "
            "r.teamid = u.teamid WHERE r.teamid <> u.teamid AND r.id IN (",
            k, ")");
        rc = q != NULL && db_bind_list(q, &p, ids, k) == 0 ? db_step(q) : -1;
        db_finish(q);
    }
    return rc;
}

/* ---- credited_job ---------------------------------------------------------
 */

struct job {
    int64_t userid, item;
};

static int
by_job(const void *a, const void *b)
{
    const struct job *x = a, *y = b;

    if (x->userid != y->userid)
        return x->userid < y->userid ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* workunit.opaque names an item of the project's own; 0: none. */
static size_t
list_jobs(const struct store *s, const struct judged *judged, size_t n,
          struct job *ret)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        double item = s->b->wu[judged[i].wu].wu.opaque;

        if (judged[i].c->validate_state == VALIDATE_VALID &&
            judged[i].r->userid != 0 && item >= 1 && item < 9e18)
            ret[k++] = (struct job){judged[i].r->userid, (int64_t)item};
    }
    qsort(ret, k, sizeof(*ret), by_job);
    return k;
}

/* A pair that is there already stays: it is unique. */
static int
insert_jobs(struct db *db, const struct job *job, size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    buf_add(&sql, "INSERT INTO credited_job (userid, workunitid) VALUES ");
    db_placeholder_rows(&sql, db_padded(n), 2);
    buf_add(&sql, " ON DUPLICATE KEY UPDATE userid = VALUES(userid)");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = 0; i < db_padded(n); i++) {
        const struct job *row = &job[i < n ? i : n - 1];

        if (db_bind_i64(q, p++, row->userid) != 0 ||
            db_bind_i64(q, p++, row->item) != 0)
            goto out;
    }
    rc = db_step(q);
out:
    db_finish(q);
    return rc;
}

static int
note_jobs(struct db *db, const struct store *s, const struct judged *judged,
          size_t n)
{
    struct job *job = xcalloc(n + 1, sizeof(*job));
    size_t n_jobs = list_jobs(s, judged, n, job);
    int rc = 0;

    for (size_t i = 0; i < n_jobs && rc == 0; i += ROWS_AT_ONCE)
        rc = insert_jobs(db, job + i,
                         n_jobs - i < ROWS_AT_ONCE ? n_jobs - i
                                                   : (size_t)ROWS_AT_ONCE);
    free(job);
    return rc;
}

int
db_validate_grant(struct db *db, const struct store *s,
                  const struct judged *judged, size_t n)
{
    int rc = grant_credit(db, s, judged, n);

    if (rc == 0)
        rc = name_teams(db, judged, n);
    if (rc == 0 && s->terms->credited_job)
        rc = note_jobs(db, s, judged, n);
    return rc;
}
