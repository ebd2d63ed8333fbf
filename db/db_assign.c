/* db_assign.c - the scheduler's questions about targeted and broadcast jobs. */
#include "db_assign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "db_many.h"
#include "db_sched.h"
#include "db_sched_list.h"
#include "db_submit.h"
#include "names.h"

enum { LOCK_MAX = 64 /* jobs of one request */ };

/* ---- which ---- */

#define COLUMNS                                                                \
    "a.id, w.id, w.appid, w.name, w.batch, w.rsc_fpops_est, "                  \
    "w.rsc_fpops_bound, w.rsc_memory_bound, w.rsc_disk_bound, "                \
    "w.delay_bound, w.hr_class, w.priority, w.app_version_id, "                \
    "w.app_version_num, w.rsc_bandwidth_bound, w.size_class, "                 \
    "w.result_template_file, w.keywords"

static void
read_assigned(struct db_query *q, struct assigned *ret)
{
    struct workunit *wu = &ret->wu;

    *ret = (struct assigned){.assignment_id = db_col_i64(q, 0)};
    wu->id = db_col_is_null(q, 1) ? 0 : db_col_i64(q, 1);
    wu->appid = db_col_i64(q, 2);
    db_col_copy(q, 3, wu->name, sizeof(wu->name));
    wu->batch = db_col_i64(q, 4);
    wu->rsc_fpops_est = db_col_double(q, 5);
    wu->rsc_fpops_bound = db_col_double(q, 6);
    wu->rsc_memory_bound = db_col_double(q, 7);
    wu->rsc_disk_bound = db_col_double(q, 8);
    wu->delay_bound = db_col_i64(q, 9);
    wu->hr_class = (int)db_col_i64(q, 10);
    wu->priority = (int)db_col_i64(q, 11);
    wu->app_version_id = db_col_i64(q, 12);
    wu->app_version_num = (int)db_col_i64(q, 13);
    wu->rsc_bandwidth_bound = db_col_double(q, 14);
    wu->size_class = (int)db_col_i64(q, 15);
    db_col_copy(q, 16, wu->result_template_file,
                sizeof(wu->result_template_file));
    db_col_copy(q, 17, wu->keywords, sizeof(wu->keywords));
}

/* What a workunit must be like to get a result; of a broadcast one nobody looks
 * at the transition time. */
#define WANTS_ANY " w.error_mask = 0"
#define WANTS_ONE                                                              \
    WANTS_ANY " AND w.need_validate = 0 AND w.canonical_resultid = 0"          \
              " AND w.transition_time > ?"
#define NOT_ON_HOST                                                            \
    " AND NOT EXISTS (SELECT 1 FROM result AS r WHERE r.workunitid = w.id"     \
    " AND r.hostid = ?)"

static void
list_statement(struct buf *sql, bool broadcast)
{
    buf_addf(sql,
             "SELECT " COLUMNS
             " FROM assignment AS a LEFT JOIN workunit AS w ON w.id ="
             " a.workunitid WHERE (a.target_type = ? AND a.target_id = ?"
             " OR a.target_type = ? AND a.target_id = ?"
             " OR a.target_type = ? AND a.target_id = ?%s) AND a.multi = ?"
             " AND (w.id IS NULL OR%s" NOT_ON_HOST
             ") ORDER BY FIELD(a.target_type, ?, ?, ?, 0), a.id LIMIT ?",
             broadcast ? " OR a.target_type = 0" : "",
             broadcast ? WANTS_ANY : WANTS_ONE);
}

static int
bind_list(struct db_query *q, const struct assign_target *to, bool broadcast,
          size_t max)
{
    const int64_t team = to->teamid != 0 ? to->teamid : -1;
    const int64_t who[] = {SUBMIT_USER, to->userid, SUBMIT_HOST, to->hostid,
                           SUBMIT_TEAM, team,       broadcast};
    const int64_t order[] = {to->hostid, SUBMIT_USER, SUBMIT_HOST, SUBMIT_TEAM,
                             (int64_t)max};
    unsigned i = 0;
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < ARRAY_LEN(who); k++)
        rc = db_bind_i64(q, i++, who[k]);
    if (rc == 0 && !broadcast)
        rc = db_bind_i64(q, i++, to->now);
    for (size_t k = 0; rc == 0 && k < ARRAY_LEN(order); k++)
        rc = db_bind_i64(q, i++, order[k]);
    return rc;
}

int
db_assign_list(struct db *db, const struct assign_target *to, bool broadcast,
               size_t max, struct assigned **ret, size_t *ret_n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    int rc = -1;

    list_statement(&sql, broadcast);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    *ret = xcalloc(max + 1, sizeof(**ret));
    *ret_n = 0;
    if (q != NULL && bind_list(q, to, broadcast, max) == 0)
        while (*ret_n < max && (rc = db_step(q)) == 0)
            read_assigned(q, &(*ret)[(*ret_n)++]);
    db_finish(q);
    return rc == 0 || rc == DB_NONE ? 0 : -1;
}

void
db_assign_free(struct assigned *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(a[i].xml_doc_in);
    free(a);
}

int
db_assign_delete(struct db *db, const int64_t *ids, size_t n)
{
    struct db_query *q;
    unsigned i = 0;
    int rc = -1;

    if (n == 0)
        return 0;
    q = db_prepare_list(db, "DELETE FROM assignment WHERE id IN (", n, ")");
    if (q != NULL && db_bind_list(q, &i, ids, n) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

/* ---- still? ---- */

struct state { /* of a locked workunit */
    int64_t id;
    int64_t target, max_total;
    int64_t hr_class, app_version_id; /* what it is bound to meanwhile */
    int64_t total, wanted; /* results: all; that count as its instances */
    int64_t on_host;
};

static int
lock_workunits(struct db *db, const struct assign_target *to, bool broadcast,
               const int64_t *ids, size_t n, struct state *ret, size_t *ret_n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 0;
    int rc = -1;

    buf_addf(&sql,
             "SELECT w.id, w.target_nresults, w.max_total_results,"
             " w.hr_class, w.app_version_id FROM workunit AS w WHERE%s AND",
             broadcast ? WANTS_ANY : WANTS_ONE);
    db_list_in(&sql, "w.id", n);
    buf_addf(&sql, " ORDER BY w.id FOR UPDATE%s",
             db_has_skip_locked(db) ? " SKIP LOCKED" : "");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    *ret_n = 0;
    if (q != NULL && (broadcast || db_bind_i64(q, i++, to->now) == 0) &&
        db_list_bind(q, &i, ids, sizeof(*ids), n) == 0)
        while (*ret_n < n && (rc = db_step(q)) == 0) {
            struct state *s = &ret[(*ret_n)++];

            *s = (struct state){.id = db_col_i64(q, 0),
                                .target = db_col_i64(q, 1),
                                .max_total = db_col_i64(q, 2),
                                .hr_class = db_col_i64(q, 3),
                                .app_version_id = db_col_i64(q, 4)};
        }
    db_finish(q);
    return rc == 0 || rc == DB_NONE ? 0 : -1;
}

static struct state *
state_of(struct state *s, size_t n, int64_t wu_id)
{
    for (size_t i = 0; i < n; i++)
        if (s[i].id == wu_id)
            return &s[i];
    return NULL;
}

/* Instances that are out, or good (lifecycle §3.2: what the target counts). */
#define COUNTS "server_state <> ? OR outcome = ? AND validate_state <> ?"

/* Under the locks: who else could make results waits. */
static int
count_results(struct db *db, const struct assign_target *to, struct state *s,
              size_t n)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;
    unsigned i = 0;
    int rc = -1;

    buf_add(&sql, "SELECT workunitid, COUNT(*), SUM(" COUNTS
                  "), SUM(hostid = ?) FROM result WHERE");
    db_list_in(&sql, "workunitid", n);
    buf_add(&sql, " GROUP BY workunitid");
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    if (q != NULL && db_bind_i64(q, i++, RESULT_OVER) == 0 &&
        db_bind_i64(q, i++, OUTCOME_SUCCESS) == 0 &&
        db_bind_i64(q, i++, VALIDATE_INVALID) == 0 &&
        db_bind_i64(q, i++, to->hostid) == 0 &&
        db_list_bind(q, &i, &s->id, sizeof(*s), n) == 0)
        while ((rc = db_step(q)) == 0) {
            struct state *one = state_of(s, n, db_col_i64(q, 0));

            if (one == NULL)
                continue;
            one->total = db_col_i64(q, 1);
            one->wanted = db_col_i64(q, 2);
            one->on_host = db_col_i64(q, 3);
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

/* All hosts share a broadcast workunit: only what this host has is looked up,
 * and its row is locked. */
static int
find_on_host(struct db *db, const struct assign_target *to, struct state *s,
             size_t n)
{
    const struct send_to host = {.hostid = to->hostid, .one_per_host = true};
    int64_t ids[LOCK_MAX], taken[LOCK_MAX];
    size_t n_taken;

    for (size_t i = 0; i < n; i++)
        ids[i] = s[i].id;
    if (db_sched_workunits_of(db, ids, n, &host, taken, &n_taken) != 0)
        return -1;
    for (size_t i = 0; i < n_taken; i++) {
        struct state *one = state_of(s, n, taken[i]);

        if (one != NULL)
            one->on_host = 1;
    }
    return 0;
}

/* Does it want a result, and how is that called?  A host has one of a broadcast
 * workunit, and of others they are counted. */
static bool
name_result(struct assigned *a, const struct state *s, bool broadcast,
            int64_t hostid)
{
    int64_t suffix = broadcast ? hostid : s->total;

    if (s->on_host > 0 ||
        (!broadcast && (s->wanted >= s->target ||
                        (s->max_total > 0 && s->total >= s->max_total))))
        return false;
    return snprintf(a->result_name, sizeof(a->result_name), "%s_%" PRId64,
                    a->wu.name, suffix) < (int)sizeof(a->result_name);
}

int
db_assign_lock(struct db *db, const struct assign_target *to, bool broadcast,
               struct assigned *a, size_t *n)
{
    struct state s[LOCK_MAX];
    int64_t ids[LOCK_MAX];
    size_t n_states, kept = 0, n_ids = *n < LOCK_MAX ? *n : LOCK_MAX;
    int rc;

    if (n_ids == 0)
        return 0;
    for (size_t i = 0; i < n_ids; i++)
        ids[i] = a[i].wu.id;
    if (lock_workunits(db, to, broadcast, ids, n_ids, s, &n_states) != 0)
        return -1;
    rc = n_states == 0 ? 0
         : broadcast   ? find_on_host(db, to, s, n_states)
                       : count_results(db, to, s, n_states);
    for (size_t i = 0; rc == 0 && i < *n; i++) {
        struct state *one = state_of(s, n_states, a[i].wu.id);

        if (one == NULL || !name_result(&a[i], one, broadcast, to->hostid)) {
            free(a[i].xml_doc_in);
            continue;
        }
        one->on_host = 1; /* two assignments of one workunit: one result */
        a[i].wu.hr_class = (int)one->hr_class;
        a[i].wu.app_version_id = one->app_version_id;
        a[kept++] = a[i];
    }
    if (rc == 0)
        *n = kept;
    return rc;
}

/* ---- the results ---- */

static int
insert_one(struct db_query *q, const struct assigned *a, int64_t now)
{
    const struct workunit *wu = &a->wu;

    if (db_bind_i64(q, 0, now) != 0 || db_bind_i64(q, 1, wu->id) != 0 ||
        db_bind_i64(q, 2, RESULT_UNSENT) != 0 ||
        db_bind_text(q, 3, a->result_name) != 0 ||
        db_bind_blob(q, 4, a->xml_doc_in, strlen(a->xml_doc_in)) != 0 ||
        db_bind_i64(q, 5, wu->batch) != 0 ||
        db_bind_i64(q, 6, a->random) != 0 ||
        db_bind_i64(q, 7, wu->appid) != 0 ||
        db_bind_i64(q, 8, wu->priority) != 0 ||
        db_bind_i64(q, 9, wu->size_class) != 0)
        return -1;
    return db_step(q) == 0 ? 0 : -1;
}

int
db_assign_make(struct db *db, struct assigned *a, size_t n, int64_t now)
{
    struct db_query *q = db_prepare(
        db, "INSERT INTO result (create_time, workunitid, server_state, name,"
            " xml_doc_in, batch, random, appid, priority, size_class, outcome,"
            " client_state, hostid, userid, report_deadline, sent_time,"
            " received_time, cpu_time, xml_doc_out, stderr_out,"
            " file_delete_state, validate_state, claimed_credit,"
            " granted_credit, opaque, app_version_num, exit_status, teamid,"
            " elapsed_time, flops_estimate, app_version_id, runtime_outlier,"
            " peak_working_set_size, peak_swap_size, peak_disk_usage) VALUES"
            " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0, '', '',"
            " 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)");
    int rc = q != NULL ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = insert_one(q, &a[i], now);
        if (rc == 0)
            a[i].result_id = db_insert_id(q);
    }
    db_finish(q);
    return rc;
}
