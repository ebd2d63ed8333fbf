/* db_grant.c - credit for hosts, users and teams.
 *
 * The decaying average cannot be added to, only computed from what it was; so
 * the rows are locked, read, computed and written, a few statements for all
 * grants of a batch.  The total is added to in SQL. */
#include "db_grant.h"

#include <stdbool.h>
#include <stdlib.h>

#include "buf.h"
#include "credit.h"
#include "db.h"
#include "db_many.h"
#include "quota.h"

enum { ROWS_AT_ONCE = 512, NO_USER = -1 };

enum kind { USER, TEAM, HOST };

static const struct {
    const char *read; /* extra: user's team, host's turnaround */
    const char *join;
} statements[] = {
    [USER] = {"SELECT id, expavg_credit, expavg_time, teamid FROM user "
              "WHERE id IN (",           ") v STRAIGHT_JOIN user o ON o.id = v.owner SET "},
    [TEAM] = {"SELECT id, expavg_credit, expavg_time, 0 FROM team "
              "WHERE id IN (",           ") v STRAIGHT_JOIN team o ON o.id = v.owner SET "},
    [HOST] = {"SELECT id, expavg_credit, expavg_time, avg_turnaround "
              "FROM host WHERE id IN (", ") v STRAIGHT_JOIN host o ON o.id = v.owner SET "
              "o.avg_turnaround = v.turnaround, " },
};

/* A row of one of the three tables, and what it gets. */
struct owner {
    int64_t id;
    bool found;
    int64_t teamid;
    double avg, avg_time, turnaround;
    double added;
};

static int
by_owner(const void *a, const void *b)
{
    const struct owner *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static struct owner *
find(struct owner *owners, size_t n, int64_t id)
{
    struct owner key = {.id = id};
    struct owner *o =
        n == 0 ? NULL : bsearch(&key, owners, n, sizeof(key), by_owner);

    return o != NULL && o->found ? o : NULL;
}

/* Sort, drop doubles and zeros; returns how many are left. */
static size_t
unique_owners(struct owner *owners, size_t n)
{
    size_t kept = 0;

    qsort(owners, n, sizeof(*owners), by_owner);
    for (size_t i = 0; i < n; i++)
        if (owners[i].id != 0 &&
            (kept == 0 || owners[kept - 1].id != owners[i].id))
            owners[kept++] = owners[i];
    return kept;
}

static void
fill(struct owner *o, struct db_query *q, enum kind kind)
{
    o->found = true;
    o->avg = db_col_double(q, 1);
    o->avg_time = db_col_double(q, 2);
    if (kind == HOST)
        o->turnaround = db_col_double(q, 3);
    else
        o->teamid = db_col_i64(q, 3);
}

static int
lock_rows(struct db *db, enum kind kind, struct owner *owners, size_t n)
{
    int64_t ids[ROWS_AT_ONCE];
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    for (size_t i = 0; i < n; i++)
        ids[i] = owners[i].id;
    q = db_prepare_list(db, statements[kind].read, n,
                        ") ORDER BY id FOR UPDATE");
    if (q != NULL && db_bind_list(q, &p, ids, n) == 0)
        for (size_t i = 0; (rc = db_step(q)) == 0;) {
            while (owners[i].id != db_col_i64(q, 0))
                i++;
            fill(&owners[i], q, kind);
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static int
store_rows(struct db *db, enum kind kind, struct owner *owners, size_t n)
{
    static const struct db_value_column columns[] = {
        {"owner",        'i'},
        {"added",        'd'},
        {"average",      'd'},
        {"average_time", 'd'},
        {"turnaround",   'd'},
    };
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned p = 0;
    int rc = -1;

    buf_add(&sql, "UPDATE (");
    db_value_table(&sql, columns, ARRAY_LEN(columns), n);
    buf_add(&sql, statements[kind].join);
    buf_add(&sql,
            "o.total_credit = o.total_credit + v.added, "
            "o.expavg_credit = v.average, o.expavg_time = v.average_time");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (db_bind_i64(q, p++, owners[i].found ? owners[i].id : 0) != 0 ||
            db_bind_double(q, p++, owners[i].added) != 0 ||
            db_bind_double(q, p++, owners[i].avg) != 0 ||
            db_bind_double(q, p++, owners[i].avg_time) != 0 ||
            db_bind_double(q, p++, owners[i].turnaround) != 0)
            goto out;
    if (db_bind_padding(q, &p, ARRAY_LEN(columns), n) == 0)
        rc = db_step(q);
out:
    db_finish(q);
    return rc;
}

typedef int rows_fn(struct db *, enum kind, struct owner *, size_t);

static int
in_parts(struct db *db, rows_fn *fn, enum kind kind, struct owner *owners,
         size_t n)
{
    for (size_t i = 0; i < n; i += ROWS_AT_ONCE) {
        size_t part = n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE;

        if (fn(db, kind, owners + i, part) != 0)
            return -1;
    }
    return 0;
}

static void
add_credit(struct owner *o, const struct grant *g, int64_t now)
{
    if (o == NULL || !(g->credit > 0))
        return;
    o->added += g->credit;
    credit_update_average((double)now, (double)g->start, g->credit,
                          CREDIT_HALF_LIFE, &o->avg, &o->avg_time);
}

/* Users without a grant worth anything are not locked at all. */
static size_t
owners_of(const struct grant *g, size_t n, enum kind kind, struct owner *ret)
{
    for (size_t i = 0; i < n; i++)
        ret[i] = (struct owner){
            .id = kind == HOST      ? g[i].hostid
                  : g[i].credit > 0 ? g[i].userid
                                    : 0,
        };
    return unique_owners(ret, n);
}

static int
grant_teams(struct db *db, const struct grant *g, size_t n, int64_t now,
            struct owner *users, size_t n_users)
{
    struct owner *teams = xcalloc(n_users + 1, sizeof(*teams));
    size_t n_teams;
    int rc;

    for (size_t i = 0; i < n_users; i++)
        teams[i].id = users[i].teamid;
    n_teams = unique_owners(teams, n_users);
    rc = in_parts(db, lock_rows, TEAM, teams, n_teams);
    for (size_t i = 0; i < n && rc == 0; i++) {
        const struct owner *u = find(users, n_users, g[i].userid);

        if (u != NULL)
            add_credit(find(teams, n_teams, u->teamid), &g[i], now);
    }
    if (rc == 0)
        rc = in_parts(db, store_rows, TEAM, teams, n_teams);
    free(teams);
    return rc;
}

static int
grant_users(struct db *db, const struct grant *g, size_t n, int64_t now,
            int64_t *ret_team)
{
    struct owner *users = xcalloc(n, sizeof(*users));
    size_t n_users = owners_of(g, n, USER, users);
    int rc = in_parts(db, lock_rows, USER, users, n_users);

    for (size_t i = 0; i < n && rc == 0; i++) {
        struct owner *u = find(users, n_users, g[i].userid);

        add_credit(u, &g[i], now);
        ret_team[i] = u != NULL ? u->teamid : NO_USER;
    }
    if (rc == 0)
        rc = in_parts(db, store_rows, USER, users, n_users);
    if (rc == 0)
        rc = grant_teams(db, g, n, now, users, n_users);
    free(users);
    return rc;
}

static int
grant_hosts(struct db *db, const struct grant *g, size_t n, int64_t now)
{
    struct owner *hosts = xcalloc(n, sizeof(*hosts));
    size_t n_hosts = owners_of(g, n, HOST, hosts);
    int rc = in_parts(db, lock_rows, HOST, hosts, n_hosts);

    for (size_t i = 0; i < n && rc == 0; i++) {
        struct owner *o = find(hosts, n_hosts, g[i].hostid);

        add_credit(o, &g[i], now);
        if (o != NULL && g[i].turnaround >= 0)
            o->turnaround = quota_turnaround(o->turnaround, g[i].turnaround);
    }
    if (rc == 0)
        rc = in_parts(db, store_rows, HOST, hosts, n_hosts);
    free(hosts);
    return rc;
}

/* What is noted by application: those of users who are there. */
static int
grant_apps(struct db *db, enum grant_kind kind, const struct grant *g, size_t n,
           const int64_t *team, int64_t now)
{
    struct app_grant *by_app = xcalloc(n, sizeof(*by_app));
    size_t k = 0;
    int rc = 0;

    for (size_t i = 0; i < n; i++)
        if (g[i].appid != 0 && g[i].credit > 0 && team[i] != NO_USER)
            by_app[k++] = (struct app_grant){
                .owner = kind == GRANT_USER ? g[i].userid : team[i],
                .appid = g[i].appid,
                .credit = g[i].credit,
                .start = g[i].start,
            };
    if (k > 0)
        rc = db_grant_by_app(db, kind, by_app, k, now);
    free(by_app);
    return rc;
}

int
db_grant(struct db *db, const struct grant *g, size_t n, int64_t now)
{
    int64_t *team;
    int rc;

    if (n == 0)
        return 0;
    team = xcalloc(n, sizeof(*team)); /* of each grant's user */
    rc = grant_users(db, g, n, now, team);
    if (rc == 0)
        rc = grant_hosts(db, g, n, now);
    if (rc == 0)
        rc = grant_apps(db, GRANT_USER, g, n, team, now);
    if (rc == 0)
        rc = grant_apps(db, GRANT_TEAM, g, n, team, now);
    free(team);
    return rc;
}
