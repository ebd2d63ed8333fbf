/* transitioner.c - move each workunit that is due to its next state.
 *
 * A batch is one transaction: pick and lock, decide (policy/transition.c), make
 * the documents of new results, write.  If a batch cannot be written, the next
 * one is a single workunit: so the bad one is found, set aside, and the batches
 * grow again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "daemon.h"
#include "db.h"
#include "db_set_aside.h"
#include "db_transition.h"
#include "digest.h"
#include "log.h"
#include "outdoc.h"
#include "setaside.h"

enum {
    BATCH = 256,
    WALK_SECONDS = 3,      /* then a walk begins again */
    RESULT_NAME_MAX = 191, /* the column's length, in characters */
};

struct transitioner_options {
    int64_t wu_id;
};

struct transitioner {
    struct transition_config rules;
    struct outdoc *outdoc;
    struct setaside bad;
    struct transition_batch batch;
    int limit; /* workunits in the next batch */
    /* where the walk through what is due goes on; zeros: it begins */
    int64_t after_time, after_id;
    int64_t walk_began;
    /* of the batch: what could not be done, and what was (again) */
    struct set_aside failed[BATCH];
    int64_t worked[BATCH];
    size_t n_failed, n_worked;
};

/* ---- one batch ------------------------------------------------------------
 */

/* No result can ever be made for it: create_work refuses such a name.  The next
 * look, which is due at once, ends it. */
static bool
name_is_too_long(const struct workunit *wu, const struct transition *todo)
{
    char last[16];

    snprintf(last, sizeof(last), "_%d",
             todo->first_suffix + todo->new_results - 1);
    return todo->new_results > 0 &&
           strlen(wu->name) + strlen(last) > RESULT_NAME_MAX;
}

static void
give_up_on_name(struct daemon *d, size_t i)
{
    struct transitioner *t = d->state;
    const struct workunit *wu = &t->batch.wu[i].wu;
    struct transition *todo = &t->batch.todo[i];

    todo->new_results = 0;
    todo->error_mask |= WU_COULDNT_SEND_RESULT;
    todo->transition_time = d->now;
    log_critical(TAG_WU "its name is too long for a result", wu->id, wu->name);
}

/* Append the results that wu[i] needs.  0, or -1 and a text in err. */
static int
create_results(struct transitioner *t, size_t i, struct buf *err)
{
    const struct workunit *wu = &t->batch.wu[i].wu;
    const struct transition *todo = &t->batch.todo[i];

    for (int k = 0; k < todo->new_results; k++) {
        struct new_result *new = transition_batch_add(&t->batch, i);
        struct buf name = BUF_INIT, doc = BUF_INIT;
        int rc;

        buf_addf(&name, "%s_%d", wu->name, todo->first_suffix + k);
        rc = outdoc_make(t->outdoc, wu->result_template_file, buf_str(&name),
                         random_u31(), &doc, err);
        str_copy(new->name, sizeof(new->name), buf_str(&name));
        new->random = random_u31();
        new->xml_doc_in = buf_take(&doc);
        buf_free(&name);
        if (rc != 0)
            return -1;
    }
    return 0;
}

/* For operators (set_aside --list); when it is tried again says
 * transition_time. */
static void
note_failure(struct transitioner *t, int64_t wu_id, int64_t again,
             const char *what)
{
    struct set_aside *row = &t->failed[t->n_failed++];

    row->wu_id = wu_id;
    row->tries = (int)setaside_tries(&t->bad, wu_id);
    row->next_try = again;
    str_copy(row->error, sizeof(row->error), what);
}

/* No result can be made for it now: the other changes are good, only the new
 * results must wait. */
static void
set_aside(struct daemon *d, size_t i, size_t n_new_before, const char *what)
{
    struct transitioner *t = d->state;
    const struct workunit *wu = &t->batch.wu[i].wu;
    struct transition *todo = &t->batch.todo[i];
    int64_t again = setaside_add(&t->bad, wu->id, d->now);

    while (t->batch.n_new > n_new_before)
        free(t->batch.new_result[--t->batch.n_new].xml_doc_in);
    note_failure(t, wu->id, again, what);
    todo->new_results = 0;
    if (again < todo->transition_time)
        todo->transition_time = again;
    log_critical(TAG_WU "set aside for %" PRId64 " s: %s", wu->id, wu->name,
                 again - d->now, what);
}

static void
decide(struct daemon *d, size_t i)
{
    struct transitioner *t = d->state;
    struct transition_batch *b = &t->batch;
    const struct due_wu *due = &b->wu[i];
    size_t n_new_before = b->n_new;
    struct buf err = BUF_INIT;

    transition_decide(&due->wu, due->n > 0 ? &b->result[due->first] : NULL,
                      due->n, &t->rules, d->now,
                      due->n > 0 ? &b->change[due->first] : NULL, &b->todo[i]);
    if (name_is_too_long(&due->wu, &b->todo[i]))
        give_up_on_name(d, i);
    else if (create_results(t, i, &err) != 0)
        set_aside(d, i, n_new_before, buf_str(&err));
    else if (b->todo[i].new_results > 0) {
        setaside_clear(&t->bad, due->wu.id);
        t->worked[t->n_worked++] = due->wu.id;
    }
    buf_free(&err);
}

static int
move_batch(struct db *db, void *arg)
{
    struct daemon *d = arg;
    const struct transitioner_options *options = d->options;
    struct transitioner *t = d->state;
    const struct due_query want = {
        .now = d->now,
        .mod_n = d->mod_n,
        .mod_i = d->mod_i,
        .wu_id = options->wu_id,
        .limit = t->limit,
        .after_time = t->after_time,
        .after_id = t->after_id,
    };
    int rc;

    t->n_failed = t->n_worked = 0;
    if (db_transition_due(db, &want, &t->batch) != 0)
        return -1;
    for (size_t i = 0; i < t->batch.n; i++)
        decide(d, i);
    rc = db_transition_apply(db, &t->batch, d->now,
                             (int)d->cfg->daily_result_quota);
    if (rc == 0)
        rc = db_set_aside_put(db, SET_ASIDE_TRANSITIONER, t->failed,
                              t->n_failed);
    if (rc == 0)
        rc = db_set_aside_clear(db, SET_ASIDE_TRANSITIONER, t->worked,
                                t->n_worked);
    return rc;
}

/* ---- log ------------------------------------------------------------------
 */

/* "OVER/SUCCESS/INIT/INIT" */
static const char *
states(char ret[96], enum server_state server, enum outcome outcome,
       enum validate_state validate, enum file_delete_state files)
{
    snprintf(ret, 96, "%s/%s/%s/%s", server_state_name((int)server),
             outcome_name((int)outcome), validate_state_name((int)validate),
             file_delete_state_name((int)files));
    return ret;
}

static void
log_result_changes(const struct transition_batch *b, size_t i)
{
    const struct due_wu *due = &b->wu[i];
    char before[96], after[96];

    for (size_t k = 0; k < b->todo[i].n_changes; k++) {
        const struct result_change *c = &b->change[due->first + k];
        const struct transition_result *r = &b->result[due->first + c->index];

        log_normal(TAG_WU "[RESULT#%" PRId64 "] %s=>%s", due->wu.id,
                   due->wu.name, r->id,
                   states(before, r->server_state, r->outcome,
                          r->validate_state, r->file_delete_state),
                   states(after, c->server_state, c->outcome, c->validate_state,
                          c->file_delete_state));
    }
}

static void
log_workunit(const struct workunit *wu, const struct transition *t)
{
    char before[160], after[160];

    if (t->canonical_missing)
        log_critical(TAG_WU "canonical result %" PRId64 " is not there", wu->id,
                     wu->name, wu->canonical_resultid);
    if (t->error_mask != wu->error_mask)
        log_normal(TAG_WU "error mask %s=>%s", wu->id, wu->name,
                   wu_error_names(wu->error_mask, before, sizeof(before)),
                   wu_error_names(t->error_mask, after, sizeof(after)));
    if (t->need_validate != wu->need_validate)
        log_normal(TAG_WU "need_validate %d=>%d", wu->id, wu->name,
                   wu->need_validate, t->need_validate);
    if (t->assimilate_state != wu->assimilate_state)
        log_normal(TAG_WU "assimilate_state %s=>%s", wu->id, wu->name,
                   assimilate_state_name((int)wu->assimilate_state),
                   assimilate_state_name((int)t->assimilate_state));
    if (t->file_delete_state != wu->file_delete_state)
        log_normal(TAG_WU "file_delete_state %s=>%s", wu->id, wu->name,
                   file_delete_state_name((int)wu->file_delete_state),
                   file_delete_state_name((int)t->file_delete_state));
    if (t->hr_class != wu->hr_class || t->app_version_id != wu->app_version_id)
        log_normal(TAG_WU "released from its class of hosts and version",
                   wu->id, wu->name);
    log_debug(TAG_WU "%d results: %d unsent, %d in progress, %d over; %d "
                     "success, %d error, %d no reply, %d not sendable, %d not "
                     "needed; again at %" PRId64,
              wu->id, wu->name, t->n_total, t->n_unsent, t->n_in_progress,
              t->n_over, t->n_success, t->n_error, t->n_no_reply,
              t->n_couldnt_send, t->n_didnt_need, t->transition_time);
}

static void
log_batch(const struct transition_batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        log_result_changes(b, i);
        log_workunit(&b->wu[i].wu, &b->todo[i]);
    }
    for (size_t i = 0; i < b->n_new; i++)
        log_normal(TAG_WU "created result %s", b->wu[b->new_result[i].wu].wu.id,
                   b->wu[b->new_result[i].wu].wu.name, b->new_result[i].name);
}

/* ---- the daemon -----------------------------------------------------------
 */

/* A batch could not be written though the database is there.  Narrow it down to
 * one workunit, and set that one aside. */
static int
isolate(struct daemon *d)
{
    struct transitioner *t = d->state;
    const struct workunit *wu;
    int64_t again;

    if (t->batch.n == 0)
        return -1;
    if (t->batch.n > 1) {
        log_warning("a batch of %zu workunits failed: one at a time now",
                    t->batch.n);
        t->limit = 1;
        return 1;
    }
    wu = &t->batch.wu[0].wu;
    again = setaside_add(&t->bad, wu->id, d->now);
    log_critical(TAG_WU "set aside for %" PRId64 " s: its transition cannot be "
                        "written",
                 wu->id, wu->name, again - d->now);
    return db_transition_postpone(d->db, wu->id, again) == 0 ? 1 : -1;
}

static void
begin_walk(struct daemon *d)
{
    struct transitioner *t = d->state;

    t->after_time = t->after_id = 0;
    t->walk_began = d->now;
}

/* A batch is done: 0 if nothing is due now. */
static int
go_on(struct daemon *d)
{
    struct transitioner *t = d->state;
    bool at_end = (int)t->batch.n < t->limit;
    bool whole = t->after_id == 0;

    if (at_end || d->now - t->walk_began >= WALK_SECONDS ||
        d->now < t->walk_began) {
        begin_walk(d);
    } else {
        t->after_time = t->batch.last_time;
        t->after_id = t->batch.last_id;
    }
    /* at the end of a walk: what was locked, or came behind it? */
    return t->batch.n > 0 ? (int)t->batch.n : whole ? 0 : 1;
}

static int
one_pass(struct daemon *d)
{
    const struct transitioner_options *options = d->options;
    struct transitioner *t = d->state;
    int rc = db_transaction(d->db, move_batch, d);

    if (rc != 0) {
        begin_walk(d);
        return db_is_lost(d->db) ? -1 : isolate(d);
    }
    log_batch(&t->batch);
    if (options->wu_id != 0)
        return 0;
    rc = go_on(d);
    t->limit = t->limit * 2 < BATCH ? t->limit * 2 : BATCH;
    return rc;
}

static int
start(struct daemon *d)
{
    const struct transitioner_options *options = d->options;
    struct transitioner *t = xcalloc(1, sizeof(*t));

    d->state = t;
    t->limit = BATCH;
    t->rules.delete_delay = (int64_t)(d->cfg->delete_delay_hours * 3600);
    t->rules.reliable_priority_on_over = (int)d->cfg->reliable_priority_on_over;
    t->rules.reliable_priority_on_over_except_error =
        (int)d->cfg->reliable_priority_on_over_except_error;
    t->rules.hr_class_static = d->cfg->hr_class_static;
    if (options->wu_id != 0)
        d->one_pass = true;
    t->outdoc = outdoc_open(d->cfg);
    if (t->outdoc == NULL) {
        free(t);
        return -1;
    }
    return 0;
}

static void
stop(struct daemon *d)
{
    struct transitioner *t = d->state;

    outdoc_close(t->outdoc);
    transition_batch_free(&t->batch);
    setaside_free(&t->bad);
    free(t);
}

#define CONF_STRUCT struct transitioner_options
static const struct conf_option options[] = {
    OPTION(wu_id, CONF_INT, "0", 0, 9e18, 0, "",
           "look at this workunit alone, once, whether it is due or not"),
};

int
main(int argc, char **argv)
{
    static const struct daemon_spec spec = {
        .name = "transitioner",
        .summary = "move each workunit that is due to its next state",
        .description =
            "Creates the results of new workunits and replaces lost ones, "
            "notes what is overdue, asks for validation, gives up where a "
            "limit is exceeded, and releases files when all is done.\n\n"
            "Several may run at a time; each takes workunits that no other "
            "holds.",
        .account = DB_ACCOUNT_TRANSITIONER,
        .pass = one_pass,
        .start = start,
        .stop = stop,
        .idle_seconds = 5,
        .options = options,
        .n_options = ARRAY_LEN(options),
        .options_size = sizeof(struct transitioner_options),
    };
    return daemon_main(argc, argv, &spec);
}
