/* life.c - a workunit with its results in memory, and each step that may be
 * taken with it. */
#include "life.h"

#include <string.h>

#define RETRY_AFTER (6 * INT64_C(3600)) /* of a transient read error, s */
#define CREDIT 10.0                     /* of each valid result */

static void
look_at(struct life *l, int64_t when)
{
    if (when < l->wu.transition_time)
        l->wu.transition_time = when;
}

static bool
never_went_out(const struct life_result *r)
{
    return r->row.server_state == RESULT_UNSENT ||
           r->row.server_state == RESULT_INACTIVE;
}

static bool
is_success(const struct life_result *r)
{
    return r->row.server_state == RESULT_OVER &&
           r->row.outcome == OUTCOME_SUCCESS;
}

/* ---- transitioner ---------------------------------------------------------
 */

static void
apply_changes(struct life *l, const struct transition *t,
              const struct result_change *changes)
{
    for (size_t c = 0; c < t->n_changes; c++) {
        struct transition_result *row = &l->r[changes[c].index].row;

        row->server_state = changes[c].server_state;
        row->outcome = changes[c].outcome;
        row->validate_state = changes[c].validate_state;
        row->file_delete_state = changes[c].file_delete_state;
    }
    l->wu.need_validate = t->need_validate;
    l->wu.error_mask = t->error_mask;
    l->wu.assimilate_state = t->assimilate_state;
    l->wu.file_delete_state = t->file_delete_state;
    l->wu.hr_class = t->hr_class;
    l->wu.app_version_id = t->app_version_id;
    l->wu.transition_time = t->transition_time;
}

static void
create(struct life *l, const struct transition *t)
{
    int64_t last = 0;

    for (size_t i = 0; i < l->n; i++)
        if (l->r[i].row.id > last)
            last = l->r[i].row.id;
    for (int k = 0; k < t->new_results && l->n < LIFE_MAX; k++)
        l->r[l->n++] = (struct life_result){
            .row = {.id = last + 1 + k,
                    .server_state =
                        l->wu.size_class >= 0 ? RESULT_INACTIVE : RESULT_UNSENT,
                    .suffix = t->first_suffix + k},
            .priority = t->new_priority,
        };
}

bool
life_transition(struct life *l, const struct transition_config *cfg,
                int64_t now)
{
    struct transition_result rows[LIFE_MAX];
    struct result_change changes[LIFE_MAX];
    struct transition t;

    if (l->wu.transition_time > now ||
        l->wu.transitioner_flags == TRANSITION_NONE)
        return false;
    for (size_t i = 0; i < l->n; i++)
        rows[i] = l->r[i].row;
    transition_decide(&l->wu, rows, l->n, cfg, now, changes, &t);
    apply_changes(l, &t, changes);
    create(l, &t);
    return true;
}

/* ---- validator ------------------------------------------------------------
 */

static void
find_viable(const struct life *l, struct life_verdict *v)
{
    for (size_t i = 0; i < l->n; i++)
        if (is_success(&l->r[i]) &&
            l->r[i].row.validate_state != VALIDATE_INVALID) {
            v->viable[v->n].index = i;
            v->viable[v->n++].was = l->r[i].row.validate_state;
        }
}

static void
compare_viable(const struct life *l, int app_target, struct life_verdict *v)
{
    const struct quorum_limits limits = {
        .min_quorum = l->wu.min_quorum,
        .target_nresults = l->wu.target_nresults,
        .max_success_results = l->wu.max_success_results,
        .app_target_nresults = app_target,
    };
    enum read_verdict read[LIFE_MAX];
    enum match match[LIFE_MAX * LIFE_MAX];
    enum quorum_status status[LIFE_MAX];
    struct quorum_decision q;

    for (size_t i = 0; i < v->n; i++) {
        const struct life_result *a = &l->r[v->viable[i].index];

        read[i] = a->read;
        for (size_t j = 0; j < v->n; j++)
            match[i * v->n + j] = a->answer == l->r[v->viable[j].index].answer
                                      ? MATCH_YES
                                      : MATCH_NO;
    }
    quorum_decide(&limits, read, match, v->n, status, &q);
    for (size_t i = 0; i < v->n; i++) {
        v->viable[i].to = status[i];
        v->viable[i].write = status[i] != QUORUM_KEEP;
    }
    v->min_quorum = q.min_quorum;
    v->target_nresults = q.target_nresults;
    v->new_errors = q.new_errors;
    v->transition_now = q.transition_now;
    v->retry = q.retry;
    if (q.canonical >= 0)
        v->canonical_resultid = l->r[v->viable[q.canonical].index].row.id;
}

static const struct life_result *
canonical_of(const struct life *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->r[i].row.id == l->wu.canonical_resultid && is_success(&l->r[i]))
            return &l->r[i];
    return NULL;
}

static void
judge_late(const struct life *l, struct life_verdict *v, size_t k,
           const struct life_result *canonical)
{
    const struct life_result *late = &l->r[v->viable[k].index];
    enum read_verdict of_canonical =
        canonical->row.file_delete_state == FILES_DONE ? OUTPUT_BAD
                                                       : canonical->read;
    enum match match = late->answer == canonical->answer ? MATCH_YES : MATCH_NO;

    v->viable[k].write = true;
    switch (quorum_straggler(late->read, of_canonical, match)) {
    case STRAGGLER_VALID:
        v->viable[k].to = QUORUM_VALID;
        break;
    case STRAGGLER_INVALID:
        v->viable[k].to = QUORUM_INVALID;
        break;
    case STRAGGLER_ERROR:
        v->viable[k].to = QUORUM_VALIDATE_ERROR;
        break;
    case STRAGGLER_TOO_LATE:
        v->viable[k].too_late = true;
        break;
    case STRAGGLER_RETRY:
        v->viable[k].write = false;
        v->retry = true;
        break;
    }
    v->transition_now = v->transition_now || v->viable[k].write;
}

static void
compare_late(const struct life *l, struct life_verdict *v)
{
    const struct life_result *canonical = canonical_of(l);

    if (canonical == NULL) {
        v->new_errors = WU_NO_CANONICAL_RESULT;
        v->transition_now = true;
        return;
    }
    for (size_t k = 0; k < v->n; k++)
        if (v->viable[k].was == VALIDATE_INIT ||
            v->viable[k].was == VALIDATE_INCONCLUSIVE)
            judge_late(l, v, k, canonical);
}

void
life_compare(const struct life *l, int app_target, struct life_verdict *v)
{
    memset(v, 0, sizeof(*v));
    v->wu_id = l->wu.id;
    v->canonical_was = v->canonical_resultid = l->wu.canonical_resultid;
    v->error_was = l->wu.error_mask;
    v->quorum_was = v->min_quorum = l->wu.min_quorum;
    v->target_was = v->target_nresults = l->wu.target_nresults;
    find_viable(l, v);
    if (l->wu.error_mask != 0)
        return;
    if (l->wu.canonical_resultid != 0)
        compare_late(l, v);
    else if ((int64_t)v->n >= l->wu.min_quorum)
        compare_viable(l, app_target, v);
}

static bool
is_as_read(const struct life *l, const struct life_verdict *v)
{
    struct life_verdict now = {.n = 0};

    if (l->wu.id != v->wu_id || l->wu.canonical_resultid != v->canonical_was ||
        l->wu.error_mask != v->error_was || l->wu.min_quorum != v->quorum_was ||
        l->wu.target_nresults != v->target_was)
        return false;
    find_viable(l, &now);
    if (now.n != v->n)
        return false;
    for (size_t k = 0; k < v->n; k++)
        if (now.viable[k].index != v->viable[k].index ||
            now.viable[k].was != v->viable[k].was)
            return false;
    return true;
}

static void
write_result(struct life_result *r, enum quorum_status to, bool too_late)
{
    if (too_late) {
        r->row.validate_state = VALIDATE_TOO_LATE;
        return;
    }
    switch (to) {
    case QUORUM_KEEP:
        break;
    case QUORUM_VALID:
        if (r->row.validate_state == VALIDATE_VALID)
            break; /* not a change: no credit */
        r->row.validate_state = VALIDATE_VALID;
        r->grants++;
        r->credit += CREDIT;
        break;
    case QUORUM_VALIDATE_ERROR:
        r->row.outcome = OUTCOME_VALIDATE_ERROR;
        r->row.validate_state = VALIDATE_INVALID;
        break;
    case QUORUM_INVALID:
        r->row.validate_state = VALIDATE_INVALID;
        break;
    case QUORUM_INCONCLUSIVE:
        r->row.validate_state = VALIDATE_INCONCLUSIVE;
        break;
    }
}

static void
set_transition_time(struct life *l, const struct life_verdict *v, int64_t now)
{
    bool is_new = v->canonical_resultid != v->canonical_was;

    if (is_new && l->wu.assimilate_state == ASSIMILATE_INIT)
        l->wu.transition_time = TRANSITION_NEVER; /* the assimilator's turn */
    else if (v->transition_now || is_new)
        l->wu.transition_time = now;
    else if (v->retry)
        look_at(l, now + RETRY_AFTER);
    if (is_new && l->wu.assimilate_state == ASSIMILATE_INIT)
        l->wu.assimilate_state = ASSIMILATE_READY;
}

static void
withdraw(struct life *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (never_went_out(&l->r[i])) {
            l->r[i].row.server_state = RESULT_OVER;
            l->r[i].row.outcome = OUTCOME_DIDNT_NEED;
        }
}

bool
life_store_verdict(struct life *l, const struct life_verdict *v, int64_t now)
{
    if (!is_as_read(l, v))
        return false;
    for (size_t k = 0; k < v->n; k++)
        if (v->viable[k].write)
            write_result(&l->r[v->viable[k].index], v->viable[k].to,
                         v->viable[k].too_late);
    if (v->canonical_resultid != v->canonical_was)
        withdraw(l);
    set_transition_time(l, v, now);
    l->wu.need_validate = false;
    l->wu.canonical_resultid = v->canonical_resultid;
    l->wu.error_mask |= v->new_errors;
    l->wu.min_quorum = v->min_quorum;
    l->wu.target_nresults = v->target_nresults;
    return true;
}

bool
life_validate(struct life *l, int app_target, int64_t now)
{
    struct life_verdict v;

    if (!l->wu.need_validate)
        return false;
    life_compare(l, app_target, &v);
    return life_store_verdict(l, &v, now);
}

/* ---- the daemons after it -------------------------------------------------
 */

bool
life_assimilate(struct life *l, enum life_ending ending, int64_t now)
{
    if (l->wu.assimilate_state != ASSIMILATE_READY)
        return false;
    l->handled++;
    if (l->wu.error_mask == 0 && canonical_of(l) == NULL)
        l->wu.error_mask = WU_NO_CANONICAL_RESULT;
    l->wu.assimilate_state =
        ending == LIFE_TAKEN ? ASSIMILATE_DONE : ASSIMILATE_INIT;
    l->wu.transition_time = now;
    return true;
}

bool
life_delete(struct life *l, size_t i, bool works)
{
    enum file_delete_state *state =
        i < l->n ? &l->r[i].row.file_delete_state : &l->wu.file_delete_state;

    if (*state != FILES_READY && *state != FILES_ERROR)
        return false;
    *state = works ? FILES_DONE : FILES_ERROR;
    return true;
}

bool
life_withdraw(struct life *l)
{
    if (l->wu.error_mask == 0)
        return false;
    for (size_t i = 0; i < l->n; i++)
        if (l->r[i].row.server_state == RESULT_UNSENT) {
            l->r[i].row.server_state = RESULT_OVER;
            l->r[i].row.outcome = OUTCOME_DIDNT_NEED;
        }
    return true;
}

bool
life_activate(struct life *l, size_t i)
{
    if (l->r[i].row.server_state != RESULT_INACTIVE)
        return false;
    l->r[i].row.server_state = RESULT_UNSENT;
    return true;
}

/* ---- volunteers -----------------------------------------------------------
 */

static bool
is_decided(const struct life *l)
{
    return l->wu.error_mask != 0 || l->wu.canonical_resultid != 0;
}

bool
life_send(struct life *l, size_t i, int64_t hostid, int64_t now)
{
    struct transition_result *row = &l->r[i].row;

    if (row->server_state != RESULT_UNSENT || is_decided(l))
        return false;
    row->server_state = RESULT_IN_PROGRESS;
    row->hostid = hostid;
    row->sent_time = now;
    row->report_deadline = now + l->wu.delay_bound;
    look_at(l, row->report_deadline);
    return true;
}

bool
life_send_untrusted(struct life *l, size_t i, int64_t hostid, int n,
                    int64_t now)
{
    if (!life_send(l, i, hostid, now))
        return false;
    if (l->wu.target_nresults < n)
        l->wu.target_nresults = n;
    if (l->wu.min_quorum < n)
        l->wu.min_quorum = n;
    look_at(l, now);
    return true;
}

bool
life_resend(struct life *l, size_t i, int64_t now)
{
    struct transition_result *row = &l->r[i].row;

    if (row->server_state != RESULT_IN_PROGRESS || is_decided(l))
        return false;
    row->sent_time = now;
    row->report_deadline = now + l->wu.delay_bound;
    look_at(l, row->report_deadline);
    return true;
}

bool
life_expire(struct life *l, size_t i, int64_t now)
{
    struct transition_result *row = &l->r[i].row;

    if (row->server_state != RESULT_IN_PROGRESS)
        return false;
    row->server_state = RESULT_OVER;
    row->outcome = OUTCOME_NO_REPLY;
    look_at(l, now);
    return true;
}

bool
life_report(struct life *l, size_t i, enum life_report what, int64_t now)
{
    struct transition_result *row = &l->r[i].row;

    if (row->received_time != 0 ||
        (row->server_state != RESULT_IN_PROGRESS &&
         !(row->server_state == RESULT_OVER &&
           (row->outcome == OUTCOME_NO_REPLY ||
            row->outcome == OUTCOME_CLIENT_DETACHED))))
        return false;
    row->server_state = RESULT_OVER;
    row->received_time = now;
    row->outcome = what == REPORT_GOOD ? OUTCOME_SUCCESS : OUTCOME_CLIENT_ERROR;
    row->validate_state =
        what == REPORT_GOOD ? VALIDATE_INIT : VALIDATE_INVALID;
    row->exit_status = what == REPORT_ABORTED_BY_USER ? EXIT_ABORTED_VIA_GUI
                                                      : what == REPORT_FAILED;
    look_at(l, now);
    return true;
}

bool
life_detach(struct life *l, size_t i, int64_t now)
{
    struct transition_result *row = &l->r[i].row;

    if (row->server_state != RESULT_IN_PROGRESS)
        return false;
    row->server_state = RESULT_OVER;
    row->outcome = OUTCOME_CLIENT_DETACHED;
    row->received_time = now;
    look_at(l, now);
    return true;
}

/* ---- operators ------------------------------------------------------------
 */

bool
life_cancel(struct life *l, int64_t now)
{
    withdraw(l);
    l->wu.error_mask |= WU_CANCELLED;
    look_at(l, now);
    return true;
}

bool
life_priority(struct life *l, int priority)
{
    l->wu.priority = priority;
    for (size_t i = 0; i < l->n; i++)
        if (never_went_out(&l->r[i]))
            l->r[i].priority = priority;
    return true;
}

bool
life_extend(struct life *l, size_t i, int64_t seconds)
{
    if (l->r[i].row.server_state != RESULT_IN_PROGRESS)
        return false;
    l->r[i].row.report_deadline += seconds;
    return true;
}

bool
life_may_be_purged(const struct life *l)
{
    if (l->wu.file_delete_state != FILES_DONE)
        return false;
    for (size_t i = 0; i < l->n; i++) {
        const struct transition_result *row = &l->r[i].row;

        if (row->server_state != RESULT_OVER ||
            row->file_delete_state == FILES_READY ||
            row->file_delete_state == FILES_ERROR)
            return false;
        if (row->file_delete_state == FILES_INIT &&
            (row->outcome == OUTCOME_SUCCESS ||
             row->outcome == OUTCOME_CLIENT_ERROR) &&
            l->wu.transitioner_flags != TRANSITION_NONE)
            return false;
    }
    return true;
}
