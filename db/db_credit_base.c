/* db_credit_base.c - the part of users', hosts' and teams' total_credit that no
 * row of table result stands for. */
#include "db_credit_base.h"

#include <stdlib.h>

#include "buf.h"
#include "db.h"
#include "db_many.h"

enum { ROWS_AT_ONCE = 512, N_OWNERS = 3 };

struct share {
    int64_t id;
    double credit;
};

/* What the results of these workunits were granted, a list for each kind of
 * owner: the rows are read once, for that is most of the work. */
struct granted {
    struct share *share[N_OWNERS];
    size_t n, room;
};

static void
note(struct granted *g, struct db_query *q)
{
    if (g->n == g->room) {
        g->room = g->room == 0 ? 1024 : 2 * g->room;
        for (size_t k = 0; k < N_OWNERS; k++)
            g->share[k] = xrealloc(g->share[k], g->room * sizeof(*g->share[k]));
    }
    for (unsigned k = 0; k < N_OWNERS; k++)
        g->share[k][g->n] =
            (struct share){db_col_i64(q, k), db_col_double(q, N_OWNERS)};
    g->n++;
}

static int
read_granted(struct db *db, const int64_t *wu_ids, size_t n, struct granted *g)
{
    struct db_query *q = db_prepare_list(
        db,
        "SELECT userid, hostid, teamid, granted_credit FROM result "
        "WHERE granted_credit <> 0 AND workunitid IN (",
        n, ")");
    unsigned p = 0;
    int rc = -1;

    if (q != NULL && db_bind_list(q, &p, wu_ids, n) == 0)
        while ((rc = db_step(q)) == 0)
            note(g, q);
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static int
by_owner(const void *a, const void *b)
{
    const struct share *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

/* Sort, add up, leave out the owner 0; returns how many are left. */
static size_t
add_up(struct share *share, size_t n)
{
    size_t kept = 0;

    if (n > 0)
        qsort(share, n, sizeof(*share), by_owner);
    for (size_t i = 0; i < n; i++)
        if (kept > 0 && share[kept - 1].id == share[i].id)
            share[kept - 1].credit += share[i].credit;
        else if (share[i].id != 0)
            share[kept++] = share[i];
    return kept;
}

/* The padding is the last owner again, who gets nothing more. */
static int
keep_some(struct db *db, enum credit_owner kind, const struct share *share,
          size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    buf_add(&sql, "INSERT INTO x_credit_base (kind, id, credit) VALUES ");
    db_placeholder_rows(&sql, db_padded(n), 3);
    buf_add(&sql, " ON DUPLICATE KEY UPDATE credit = credit + VALUES(credit)");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = 0; i < db_padded(n); i++)
        if (db_bind_i64(q, p++, kind) != 0 ||
            db_bind_i64(q, p++, share[i < n ? i : n - 1].id) != 0 ||
            db_bind_double(q, p++, i < n ? share[i].credit : 0) != 0)
            goto out;
    rc = db_step(q);
out:
    db_finish(q);
    return rc;
}

int
db_credit_base_keep(struct db *db, const int64_t *wu_ids, size_t n)
{
    static const enum credit_owner kinds[N_OWNERS] = {CREDIT_USER, CREDIT_HOST,
                                                      CREDIT_TEAM};
    struct granted g = {.n = 0};
    int rc = read_granted(db, wu_ids, n, &g);

    for (size_t k = 0; k < N_OWNERS && rc == 0; k++) {
        size_t owners = add_up(g.share[k], g.n);

        for (size_t i = 0; i < owners && rc == 0; i += ROWS_AT_ONCE)
            rc = keep_some(db, kinds[k], g.share[k] + i,
                           owners - i < ROWS_AT_ONCE ? owners - i
                                                     : (size_t)ROWS_AT_ONCE);
    }
    for (size_t k = 0; k < N_OWNERS; k++)
        free(g.share[k]);
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
