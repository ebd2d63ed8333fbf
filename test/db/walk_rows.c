/* walk_rows.c - the rows of workunits and results as plain structs. */
#include "walk_rows.h"

#include <stdio.h>
#include <string.h>

#include "db.h"

void
rows_write_output(char *ret, size_t size, enum read_verdict read, int answer)
{
    snprintf(ret, size, "%d %d", (int)read, answer);
}

void
rows_read_output(const char *text, enum read_verdict *read, int *answer)
{
    int r = 0, a = 0;

    if (sscanf(text, "%d %d", &r, &a) != 2)
        r = a = 0;
    *read = (enum read_verdict)r;
    *answer = a;
}

static void
workunit_from_row(struct db_query *q, struct workunit *wu)
{
    unsigned i = 0;

    wu->id = db_col_i64(q, i++);
    wu->need_validate = db_col_i64(q, i++) != 0;
    wu->canonical_resultid = db_col_i64(q, i++);
    wu->transition_time = db_col_i64(q, i++);
    wu->delay_bound = db_col_i64(q, i++);
    wu->error_mask = (unsigned)db_col_i64(q, i++);
    wu->file_delete_state = (enum file_delete_state)db_col_i64(q, i++);
    wu->assimilate_state = (enum assimilate_state)db_col_i64(q, i++);
    wu->hr_class = (int)db_col_i64(q, i++);
    wu->min_quorum = (int)db_col_i64(q, i++);
    wu->target_nresults = (int)db_col_i64(q, i++);
    wu->max_error_results = (int)db_col_i64(q, i++);
    wu->max_total_results = (int)db_col_i64(q, i++);
    wu->max_success_results = (int)db_col_i64(q, i++);
    wu->priority = (int)db_col_i64(q, i++);
    wu->app_version_id = db_col_i64(q, i++);
    wu->transitioner_flags = (int)db_col_i64(q, i++);
    wu->size_class = (int)db_col_i64(q, i++);
}

#define WORKUNIT                                                               \
    "SELECT id, need_validate, canonical_resultid, transition_time, "          \
    "delay_bound, error_mask, file_delete_state, assimilate_state, "           \
    "hr_class, min_quorum, target_nresults, max_error_results, "               \
    "max_total_results, max_success_results, priority, app_version_id, "       \
    "transitioner_flags, size_class FROM workunit "

static int
read_workunits(struct db *db, struct crowd *c)
{
    struct db_query *q = db_prepare(db, WORKUNIT "ORDER BY id");
    int rc = -1;

    if (q != NULL)
        while ((rc = db_step(q)) == 0 && c->n < CROWD_MAX)
            workunit_from_row(q, &c->life[c->n++].wu);
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

/* Behind the id of its workunit. */
static void
result_from_row(struct db_query *q, struct life_result *r)
{
    unsigned i = 1;

    r->row.id = db_col_i64(q, i++);
    r->row.server_state = (enum server_state)db_col_i64(q, i++);
    r->row.outcome = (enum outcome)db_col_i64(q, i++);
    r->row.validate_state = (enum validate_state)db_col_i64(q, i++);
    r->row.file_delete_state = (enum file_delete_state)db_col_i64(q, i++);
    r->row.report_deadline = db_col_i64(q, i++);
    r->row.received_time = db_col_i64(q, i++);
    r->row.hostid = db_col_i64(q, i++);
    r->row.sent_time = db_col_i64(q, i++);
    r->row.exit_status = (int)db_col_i64(q, i++);
    r->row.suffix = transition_name_suffix(db_col_text(q, i++));
    r->priority = (int)db_col_i64(q, i++);
    r->credit = db_col_double(q, i++);
    r->grants = r->credit > 0; /* how often: the sums of hosts tell */
    rows_read_output(db_col_text(q, i++), &r->read, &r->answer);
}

#define RESULT                                                                 \
    "SELECT workunitid, id, server_state, outcome, validate_state, "           \
    "file_delete_state, report_deadline, received_time, hostid, sent_time, "   \
    "exit_status, name, priority, granted_credit, stderr_out FROM result "

static int
read_results(struct db *db, struct crowd *c)
{
    struct db_query *q = db_prepare(db, RESULT "ORDER BY workunitid, id");
    size_t at = 0;
    int rc = -1;

    if (q != NULL)
        while ((rc = db_step(q)) == 0) {
            while (at < c->n && c->life[at].wu.id < db_col_i64(q, 0))
                at++;
            if (at == c->n || c->life[at].wu.id != db_col_i64(q, 0) ||
                c->life[at].n == LIFE_MAX)
                break; /* a result without a workunit, or one too many */
            result_from_row(q, &c->life[at].r[c->life[at].n++]);
        }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

int
rows_read(struct db *db, struct crowd *c)
{
    memset(c, 0, sizeof(*c)); /* compared as bytes */
    return read_workunits(db, c) == 0 ? read_results(db, c) : -1;
}

int
rows_read_one(struct db *db, struct life *l)
{
    struct db_query *q = db_prepare(db, WORKUNIT "WHERE id = ?");
    int64_t id = l->wu.id;
    int rc = -1;

    memset(l, 0, sizeof(*l));
    l->wu.id = id;
    if (q != NULL && db_bind_i64(q, 0, id) == 0 && (rc = db_step(q)) == 0)
        workunit_from_row(q, &l->wu);
    db_finish(q);
    if (rc != 0)
        return rc == DB_NONE ? 0 : -1;
    q = db_prepare(db, RESULT "WHERE workunitid = ? ORDER BY id");
    if (q != NULL && db_bind_i64(q, 0, id) == 0)
        while ((rc = db_step(q)) == 0 && l->n < LIFE_MAX)
            result_from_row(q, &l->r[l->n++]);
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}
