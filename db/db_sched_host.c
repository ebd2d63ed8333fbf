/* db_sched_host.c - the scheduler's questions about hosts.
 *
 * One table names the columns that the scheduler reads and writes, and where
 * they lie in struct host; SELECT, INSERT and UPDATE are made from it.  Those
 * that belong to others (credit, turnaround, venue) are in no group: they are
 * read, written when the row is made, and never updated here. */
#include "db_sched.h"

#include <string.h>

#include "buf.h"
#include "db_explain.h"

enum kind { I64, INT, DOUBLE, TEXT };

enum group { /* written together, when one of them has changed */
             NEVER,
             CONTACT, /* changes at each contact */
             STATUS,  /* changes now and then */
             MACHINE, /* hardly ever changes */
             N_GROUPS,
};

struct host_column {
    const char *name;
    enum kind kind;
    enum group group;
    size_t offset;
};

#define COLUMN(field, kind, group)                                             \
    {                                                                          \
#field, kind, group, offsetof(struct host, field)                      \
    }

/* clang-format off */
static const struct host_column columns[] = {
    COLUMN(create_time, I64, NEVER),
    COLUMN(userid, I64, NEVER),
    COLUMN(rpc_seqno, I64, CONTACT),
    COLUMN(rpc_time, I64, CONTACT),
    COLUMN(total_credit, DOUBLE, NEVER),
    COLUMN(expavg_credit, DOUBLE, NEVER),
    COLUMN(expavg_time, DOUBLE, NEVER),
    COLUMN(timezone, INT, MACHINE),
    COLUMN(domain_name, TEXT, MACHINE),
    COLUMN(serialnum, TEXT, MACHINE),
    COLUMN(last_ip_addr, TEXT, STATUS),
    COLUMN(nsame_ip_addr, INT, CONTACT),
    COLUMN(on_frac, DOUBLE, STATUS),
    COLUMN(connected_frac, DOUBLE, STATUS),
    COLUMN(active_frac, DOUBLE, STATUS),
    COLUMN(gpu_active_frac, DOUBLE, STATUS),
    COLUMN(duration_correction_factor, DOUBLE, STATUS),
    COLUMN(p_ncpus, INT, MACHINE),
    COLUMN(p_vendor, TEXT, MACHINE),
    COLUMN(p_model, TEXT, MACHINE),
    COLUMN(p_fpops, DOUBLE, MACHINE),
    COLUMN(p_iops, DOUBLE, MACHINE),
    COLUMN(p_membw, DOUBLE, MACHINE),
    COLUMN(os_name, TEXT, MACHINE),
    COLUMN(os_version, TEXT, MACHINE),
    COLUMN(m_nbytes, DOUBLE, MACHINE),
    COLUMN(m_cache, DOUBLE, MACHINE),
    COLUMN(m_swap, DOUBLE, MACHINE),
    COLUMN(d_total, DOUBLE, STATUS),
    COLUMN(d_free, DOUBLE, STATUS),
    COLUMN(d_boinc_used_total, DOUBLE, STATUS),
    COLUMN(d_boinc_used_project, DOUBLE, STATUS),
    COLUMN(d_boinc_max, DOUBLE, STATUS),
    COLUMN(n_bwup, DOUBLE, STATUS),
    COLUMN(n_bwdown, DOUBLE, STATUS),
    COLUMN(venue, TEXT, NEVER),
    COLUMN(nresults_today, INT, CONTACT),
    COLUMN(avg_turnaround, DOUBLE, NEVER),
    COLUMN(host_cpid, TEXT, MACHINE),
    COLUMN(external_ip_addr, TEXT, STATUS),
    COLUMN(max_results_day, INT, NEVER),
    COLUMN(product_name, TEXT, MACHINE),
    COLUMN(p_ngpus, INT, MACHINE),
    COLUMN(p_gpu_fpops, DOUBLE, MACHINE),
};
/* clang-format on */

static void *
field_of(struct host *host, const struct host_column *c)
{
    return (char *)host + c->offset;
}

static const void *
const_field_of(const struct host *host, const struct host_column *c)
{
    return (const char *)host + c->offset;
}

static void
read_column(struct db_query *q, unsigned i, const struct host_column *c,
            struct host *ret)
{
    void *field = field_of(ret, c);

    switch (c->kind) {
    case I64:
        *(int64_t *)field = db_col_i64(q, i);
        break;
    case INT:
        *(int *)field = (int)db_col_i64(q, i);
        break;
    case DOUBLE:
        *(double *)field = db_col_double(q, i);
        break;
    case TEXT:
        db_col_copy(q, i, field, NAME_SIZE);
        break;
    }
}

static int
bind_column(struct db_query *q, unsigned i, const struct host_column *c,
            const struct host *host)
{
    const void *field = const_field_of(host, c);

    switch (c->kind) {
    case I64:
        return db_bind_i64(q, i, *(const int64_t *)field);
    case INT:
        return db_bind_i64(q, i, *(const int *)field);
    case DOUBLE:
        return db_bind_double(q, i, *(const double *)field);
    case TEXT:
        return db_bind_text(q, i, field);
    }
    return -1;
}

static bool
same_column(const struct host_column *c, const struct host *a,
            const struct host *b)
{
    const void *x = const_field_of(a, c), *y = const_field_of(b, c);

    switch (c->kind) {
    case I64:
        return *(const int64_t *)x == *(const int64_t *)y;
    case INT:
        return *(const int *)x == *(const int *)y;
    case DOUBLE:
        return memcmp(x, y, sizeof(double)) == 0;
    case TEXT:
        return strcmp(x, y) == 0;
    }
    return false;
}

static void
add_column_names(struct buf *sql)
{
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        buf_addf(sql, "%s%s", i > 0 ? ", " : "", columns[i].name);
}

void
db_host_columns(struct buf *sql, const char *table)
{
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        buf_addf(sql, "%s%s.%s", i > 0 ? ", " : "", table, columns[i].name);
}

unsigned
db_host_from_row(struct db_query *q, struct host *ret)
{
    for (unsigned i = 0; i < ARRAY_LEN(columns); i++)
        read_column(q, i, &columns[i], ret);
    return ARRAY_LEN(columns);
}

/* How a host is read: the texts are long, so they are made once. */
enum reading { PLAINLY, LOCKED, LOCKED_AT_ONCE, N_READINGS };

static const char *
read_statement(enum reading how)
{
    static const char *const lock[N_READINGS] = {"", " FOR UPDATE",
                                                 " FOR UPDATE NOWAIT"};
    static char text[N_READINGS][2000];
    struct buf sql = BUF_INIT;

    if (text[how][0] != '\0')
        return text[how];
    buf_add(&sql, "SELECT ");
    add_column_names(&sql);
    buf_addf(&sql,
             ", (SELECT x.hash FROM x_host_request x"
             " WHERE x.host_id = host.id) FROM host WHERE id = ?%s",
             lock[how]);
    (void)str_copy(text[how], sizeof(text[how]), buf_str(&sql));
    buf_free(&sql);
    return text[how];
}

static int
read_host(struct db *db, int64_t id, enum reading how, struct host *ret)
{
    struct db_query *q = db_prepare(db, read_statement(how));
    int rc = -1;

    memset(ret, 0, sizeof(*ret));
    if (q != NULL && db_bind_i64(q, 0, id) == 0)
        rc = db_step(q);
    if (rc == 0) {
        ret->id = id;
        ret->request_hash = db_col_i64(q, db_host_from_row(q, ret));
    }
    db_finish(q);
    return rc;
}

int
db_sched_host(struct db *db, int64_t id, struct host *ret)
{
    return read_host(db, id, PLAINLY, ret);
}

int
db_sched_lock_host(struct db *db, int64_t id, struct host *ret)
{
    return read_host(db, id, db_has_skip_locked(db) ? LOCKED_AT_ONCE : LOCKED,
                     ret);
}

static int
one_id(struct db_query *q, int64_t *ret_id)
{
    int rc = db_step(q);

    if (rc == 0)
        *ret_id = db_col_i64(q, 0);
    return rc;
}

int
db_sched_host_by_cpid(struct db *db, int64_t userid, const char *cpid,
                      int64_t *ret_id)
{
    struct db_query *q =
        db_prepare(db, "SELECT id FROM host WHERE userid = ? AND host_cpid = ?"
                       " ORDER BY id DESC LIMIT 1");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, userid) == 0 &&
        db_bind_text(q, 1, cpid) == 0)
        rc = one_id(q, ret_id);
    db_finish(q);
    return rc;
}

int
db_sched_similar_host(struct db *db, int64_t userid, int64_t above,
                      const struct host *like, int64_t *ret_id)
{
    struct db_query *q;
    int rc = -1;

    if (like->domain_name[0] == '\0' || like->last_ip_addr[0] == '\0' ||
        like->os_name[0] == '\0' || like->p_model[0] == '\0' ||
        like->m_nbytes <= 0)
        return DB_NONE;
    q = db_prepare(db, "SELECT id FROM host WHERE userid = ? AND id > ?"
                       " AND domain_name = ? AND last_ip_addr = ?"
                       " AND os_name = ? AND p_model = ? AND m_nbytes = ?"
                       " ORDER BY id DESC LIMIT 1");
    if (q != NULL && db_bind_i64(q, 0, userid) == 0 &&
        db_bind_i64(q, 1, above) == 0 &&
        db_bind_text(q, 2, like->domain_name) == 0 &&
        db_bind_text(q, 3, like->last_ip_addr) == 0 &&
        db_bind_text(q, 4, like->os_name) == 0 &&
        db_bind_text(q, 5, like->p_model) == 0 &&
        db_bind_double(q, 6, like->m_nbytes) == 0)
        rc = one_id(q, ret_id);
    db_finish(q);
    return rc;
}

int
db_sched_add_host(struct db *db, struct host *host)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = 0;

    /* columns that have no meaning any more, or are nobody's: 0 */
    buf_add(&sql, "INSERT INTO host (");
    add_column_names(&sql);
    buf_add(&sql, ", cpu_efficiency, credit_per_cpu_sec, error_rate) VALUES (");
    db_placeholders(&sql, ARRAY_LEN(columns));
    buf_add(&sql, ", 0, 0, 0)");
    q = db_prepare(db, buf_str(&sql));
    if (q == NULL)
        rc = -1;
    for (unsigned i = 0; rc == 0 && i < ARRAY_LEN(columns); i++)
        rc = bind_column(q, i, &columns[i], host);
    if (rc == 0)
        rc = db_step(q);
    if (rc == 0)
        host->id = db_insert_id(q);
    db_finish(q);
    buf_free(&sql);
    return rc;
}

int
db_sched_update_host(struct db *db, const struct host *old,
                     const struct host *now)
{
    bool changed[N_GROUPS] = {false};
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned n = 0;
    int rc = 0;

    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        if (!same_column(&columns[i], old, now))
            changed[columns[i].group] = true;
    changed[NEVER] = false;
    if (!changed[CONTACT] && !changed[STATUS] && !changed[MACHINE])
        return 0;
    buf_add(&sql, "UPDATE host SET ");
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        if (changed[columns[i].group])
            buf_addf(&sql, "%s%s = ?", n++ > 0 ? ", " : "", columns[i].name);
    if (now->misc != NULL)
        buf_add(&sql, ", misc = ?");
    buf_add(&sql, " WHERE id = ?");
    q = db_prepare(db, buf_str(&sql));
    if (q == NULL)
        rc = -1;
    n = 0;
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(columns); i++)
        if (changed[columns[i].group])
            rc = bind_column(q, n++, &columns[i], now);
    if (rc == 0 && now->misc != NULL)
        rc = db_bind_text(q, n++, now->misc);
    if (rc == 0)
        rc = db_bind_i64(q, n, now->id);
    if (rc == 0)
        rc = db_step(q);
    db_finish(q);
    buf_free(&sql);
    return rc;
}
