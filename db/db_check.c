/* db_check.c - run the rules of audit, page by page. */
#include "db_check.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "db_check_rules.h"
#include "db_many.h"

enum {
    MAX_VALUES = 32,   /* of one statement */
    REPAIR_ROWS = 500, /* in one transaction */
};

/* ---- tables ---------------------------------------------------------------
 */

static const struct {
    const char *name, *from, *id, *label;
    const char *since; /* condition; NULL: it does not say when */
} tables[] = {
    [AUDIT_WORKUNIT] = {"workunit",    "workunit AS w",             "w.id", "w.name",
                        "w.mod_time >= FROM_UNIXTIME(:since)"                                                },
    [AUDIT_RESULT] = {"result",      "result AS r",               "r.id", "r.name",
                        "r.mod_time >= FROM_UNIXTIME(:since)"                                                },
    [AUDIT_USER] = {"user",        "user AS u",                 "u.id", "u.name",
                        "u.expavg_time >= :since"                                                            },
    [AUDIT_TEAM] = {"team",        "team AS t",                 "t.id", "t.name",
                        "t.expavg_time >= :since"                                                            },
    [AUDIT_HOST] = {"host",        "host AS h",                 "h.id", "h.domain_name",
                        "h.expavg_time >= :since"                                                            },
    [AUDIT_APP_VERSION] = {"app_version", "app_version AS v",          "v.id",
                        "CONCAT(v.version_num, ' ', v.plan_class)",                                      NULL},
    [AUDIT_BATCH] = {"batch",       "batch AS b",                "b.id", "b.name",                    NULL},
    [AUDIT_ASSIGNMENT] = {"assignment",  "assignment AS a",           "a.id", "''",                        NULL},
    [AUDIT_KEY] = {"key",
                        "(SELECT 1 AS id, 'workunit' AS tab, 'name' AS col"
                   " UNION ALL SELECT 2, 'result', 'name'"
                   " UNION ALL SELECT 3, 'user', 'email_addr'"
                   " UNION ALL SELECT 4, 'user', 'authenticator'"
                   " UNION ALL SELECT 5, 'app', 'name'"
                   " UNION ALL SELECT 6, 'platform', 'name') AS k", "k.id", "CONCAT(k.tab, '.', k.col)", NULL},
};

const char *
db_check_table_name(enum audit_table table)
{
    return tables[table].name;
}

/* ---- rules ----------------------------------------------------------------
 */

const struct audit_rule *
db_check_rule(size_t i)
{
    const struct {
        const struct audit_rule *rule;
        size_t n;
    } part[] = {
        {audit_workunit_rules,  audit_n_workunit_rules },
        {audit_canonical_rules, audit_n_canonical_rules},
        {audit_result_rules,    audit_n_result_rules   },
        {audit_owner_rules,     audit_n_owner_rules    },
        {audit_project_rules,   audit_n_project_rules  },
    };

    for (size_t k = 0; k < ARRAY_LEN(part); k++) {
        if (i < part[k].n)
            return &part[k].rule[i];
        i -= part[k].n;
    }
    return NULL;
}

/* ---- statements with names for values -------------------------------------
 */

/* A statement in the making: its text, and what its parameters are. */
struct named_sql {
    struct buf text;
    int64_t value[MAX_VALUES];
    unsigned n;
};

struct named_value {
    const char *name;
    int64_t value;
};

/* Append a piece of SQL in which ":name" stands for a value; the list ends with
 * a NULL name. */
static void
add_named(struct named_sql *s, const char *piece,
          const struct named_value *values)
{
    for (const char *p = piece; *p != '\0';) {
        const struct named_value *v = values;
        size_t len = 0;

        if (*p != ':' || !islower((unsigned char)p[1])) {
            buf_addc(&s->text, *p++);
            continue;
        }
        p++;
        while (islower((unsigned char)p[len]))
            len++;
        while (v->name != NULL &&
               (strlen(v->name) != len || strncmp(v->name, p, len) != 0))
            v++;
        assert(v->name != NULL && s->n < MAX_VALUES);
        s->value[s->n++] = v->value;
        buf_addc(&s->text, '?');
        p += len;
    }
}

static int
bind_named(struct db_query *q, const struct named_sql *s)
{
    for (unsigned i = 0; i < s->n; i++)
        if (db_bind_i64(q, i, s->value[i]) != 0)
            return -1;
    return 0;
}

/* ---- pages ----------------------------------------------------------------
 */

/* One number that a statement with at most two numbers in it gives, NULL as
 * `none`.  0, -1. */
static int
one_number(struct db *db, const char *sql, int64_t a, int64_t b, unsigned n,
           int64_t none, int64_t *ret)
{
    struct db_query *q = db_prepare(db, sql);
    int rc = -1;

    if (q != NULL && (n < 1 || db_bind_i64(q, 0, a) == 0) &&
        (n < 2 || db_bind_i64(q, 1, b) == 0))
        rc = db_step(q);
    if (rc == 0)
        *ret = db_col_is_null(q, 0) ? none : db_col_i64(q, 0);
    db_finish(q);
    return rc == 0 ? 0 : -1;
}

int
db_check_begin(struct db *db, enum audit_table table,
               const struct audit_scope *scope, struct audit_page *ret)
{
    struct buf sql = BUF_INIT;
    int rc = 0;

    *ret = (struct audit_page){0, 0};
    if (scope->limit > 0 && table != AUDIT_KEY) {
        buf_addf(&sql,
                 "SELECT MIN(y.id) - 1 FROM (SELECT %s AS id FROM %s"
                 " ORDER BY %s DESC LIMIT ?) AS y",
                 tables[table].id, tables[table].from, tables[table].id);
        rc = one_number(db, buf_str(&sql), scope->limit, 0, 1, 0, &ret->upto);
    }
    buf_free(&sql);
    return rc;
}

int
db_check_next(struct db *db, enum audit_table table, int rows,
              struct audit_page *page)
{
    struct buf sql = BUF_INIT;
    int64_t upto = 0;
    int rc;

    buf_addf(&sql,
             "SELECT MAX(y.id) FROM (SELECT %s AS id FROM %s WHERE %s > ?"
             " ORDER BY %s LIMIT ?) AS y",
             tables[table].id, tables[table].from, tables[table].id,
             tables[table].id);
    rc = one_number(db, buf_str(&sql), page->upto, rows, 2, 0, &upto);
    buf_free(&sql);
    if (rc != 0)
        return -1;
    if (upto == 0)
        return DB_NONE;
    *page = (struct audit_page){.after = page->upto, .upto = upto};
    return 0;
}

/* ---- breaches -------------------------------------------------------------
 */

static void
add_rule(struct named_sql *s, const struct audit_rule *rule,
         const struct audit_scope *scope, const struct audit_page *page)
{
    const struct named_value values[] = {
        {"now",   scope->now  },
        {"age",   scope->age  },
        {"since", scope->since},
        {"after", page->after },
        {"upto",  page->upto  },
        {NULL,    0           },
    };

    buf_addf(&s->text, "SELECT %s, %s, ", tables[rule->table].id,
             tables[rule->table].label);
    add_named(s, rule->detail, values);
    buf_addf(&s->text, " FROM %s WHERE %s > ", tables[rule->table].from,
             tables[rule->table].id);
    add_named(s, ":after AND ", values);
    buf_addf(&s->text, "%s <= ", tables[rule->table].id);
    add_named(s, ":upto AND ", values);
    if (scope->since != 0 && tables[rule->table].since != NULL) {
        add_named(s, tables[rule->table].since, values);
        buf_add(&s->text, " AND ");
    }
    buf_add(&s->text, "(");
    add_named(s, rule->breach, values);
    buf_addf(&s->text, ") ORDER BY %s", tables[rule->table].id);
}

/* The three columns of each row.  0, -1. */
static int
hand_out(struct db_query *q, audit_found_fn *fn, void *arg)
{
    int rc;

    while ((rc = db_step(q)) == 0)
        if (fn(arg, db_col_i64(q, 0), db_col_text(q, 1), db_col_text(q, 2)) !=
            0)
            return 0;
    return rc == DB_NONE ? 0 : -1;
}

int
db_check_find(struct db *db, const struct audit_rule *rule,
              const struct audit_scope *scope, const struct audit_page *page,
              audit_found_fn *fn, void *arg)
{
    struct named_sql s = {.text = BUF_INIT};
    struct db_query *q;
    int rc = -1;

    add_rule(&s, rule, scope, page);
    q = db_prepare(db, buf_str(&s.text));
    if (q != NULL && bind_named(q, &s) == 0)
        rc = hand_out(q, fn, arg);
    db_finish(q);
    buf_free(&s.text);
    return rc;
}

/* ---- repair ---------------------------------------------------------------
 */

struct repair_work {
    const struct audit_repair *repair;
    int64_t now;
    const int64_t *ids;
    size_t n;
};

static int
repair_some(struct db *db, void *arg)
{
    const struct repair_work *w = arg;
    const struct named_value values[] = {
        {"now", w->now},
        {NULL,  0     },
    };
    struct named_sql s = {.text = BUF_INIT};
    struct db_query *q;
    unsigned i;
    int rc = -1;

    add_named(&s, w->repair->before, values);
    q = db_prepare_list(db, buf_str(&s.text), w->n, w->repair->after);
    i = s.n;
    if (q != NULL && bind_named(q, &s) == 0 &&
        db_bind_list(q, &i, w->ids, w->n) == 0)
        rc = db_step(q);
    db_finish(q);
    buf_free(&s.text);
    return rc == 0 ? 0 : -1;
}

int
db_check_repair(struct db *db, const struct audit_rule *rule, int64_t now,
                const int64_t *ids, size_t n)
{
    struct repair_work w = {.repair = rule->repair, .now = now, .ids = ids};
    int rc = 0;

    for (; n > 0 && rc == 0; w.ids += w.n, n -= w.n) {
        w.n = n < REPAIR_ROWS ? n : (size_t)REPAIR_ROWS;
        rc = db_transaction(db, repair_some, &w);
    }
    return rc == 0 ? 0 : -1;
}
