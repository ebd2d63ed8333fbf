/* transition.c - what happens next to a workunit (lifecycle §3.2).
 *
 * The steps are the specification's and run in its order, because later ones
 * look at what earlier ones decided: a result that has just timed out is over
 * for the limits, one that has just lost its canonical is checked for the
 * deletion of files.  Only results created in this very decision do not exist
 * for it yet.
 *
 * The caller's array of changes is also the working copy of the results: entry
 * i starts as result i is now, the steps write into it, and the last one drops
 * the entries that still are what they were.  So the decision needs no memory
 * of its own, however many results there are.
 *
 * Where we leave the text of §3.2 (each time so that no workunit can be stuck,
 * or finished twice):
 * - A workunit with a canonical result, or with an error, gets no (more) error
 *   bits from its counts and needs no more results: the question they answer is
 *   settled.  Its results that were withdrawn would count as missing, so a
 *   cancelled workunit would end with TOO_MANY_TOTAL_RESULTS as well.
 * - With a canonical result every success without a verdict is validated, also
 *   below the quorum, and also one that was INCONCLUSIVE (its file could not be
 *   read when the others agreed); with an error none is.
 * - Results that never went out are withdrawn also when a canonical result is
 *   found (§2.1), in case the validator did not see one of them.
 * - A quorum above the target counts as the target; it could never be met. */
#include "transition.h"

#include <limits.h>
#include <string.h>

/* How long an open workunit waits at least if no event is known, s. */
#define SAFETY_NET (10 * INT64_C(86400))
#define MAX_SUFFIX_DIGITS 9 /* what an int surely holds */

/* One decision on its way through the steps. */
struct decision {
    const struct workunit *wu;
    const struct transition_result *results;
    size_t n;
    const struct transition_config *cfg;
    int64_t now;
    struct result_change *state; /* of each result, as decided so far */
    struct transition *ret;

    ptrdiff_t canonical;    /* index of the canonical result, or -1 */
    bool canonical_found;   /* the workunit has one, even if the row is gone */
    bool canonical_deleted; /* its files are gone */
    bool have_new;          /* a success that is to be checked */
    int needed;             /* results to create */
    int64_t look_again;     /* earliest future event found, or never */
};

static void
begin(struct decision *d)
{
    const struct workunit *wu = d->wu;

    *d->ret = (struct transition){
        .need_validate = wu->need_validate,
        .error_mask = wu->error_mask,
        .assimilate_state = wu->assimilate_state,
        .file_delete_state = wu->file_delete_state,
        .hr_class = wu->hr_class,
        .app_version_id = wu->app_version_id,
        .transition_time = wu->transition_time,
        .new_priority = wu->priority,
    };
    for (size_t i = 0; i < d->n; i++)
        d->state[i] = (struct result_change){
            .index = i,
            .server_state = d->results[i].server_state,
            .outcome = d->results[i].outcome,
            .validate_state = d->results[i].validate_state,
            .file_delete_state = d->results[i].file_delete_state,
        };
}

static void
look_again_at(struct decision *d, int64_t when)
{
    if (when < d->look_again)
        d->look_again = when;
}

/* Step 1. */
static void
find_canonical(struct decision *d)
{
    d->canonical = -1;
    d->canonical_found = d->wu->canonical_resultid != 0;
    for (size_t i = 0; d->canonical_found && i < d->n; i++)
        if (d->results[i].id == d->wu->canonical_resultid)
            d->canonical = (ptrdiff_t)i;
    d->ret->canonical_missing = d->canonical_found && d->canonical < 0;
    d->canonical_deleted =
        d->canonical >= 0 &&
        d->results[d->canonical].file_delete_state == FILES_DONE;
}

static bool
is_success(const struct result_change *s)
{
    return s->server_state == RESULT_OVER && s->outcome == OUTCOME_SUCCESS;
}

/* Nobody has looked at it; or it was compared in vain, and now there is a
 * canonical result that it can be compared with. */
static bool
is_unchecked(const struct decision *d, const struct result_change *s)
{
    return is_success(s) &&
           (s->validate_state == VALIDATE_INIT ||
            (s->validate_state == VALIDATE_INCONCLUSIVE && d->canonical_found));
}

static void
scan_success(struct decision *d, struct result_change *s)
{
    if (is_unchecked(d, s)) {
        if (d->canonical_deleted)
            s->validate_state = VALIDATE_TOO_LATE;
        else
            d->have_new = true;
    }
    if (s->validate_state != VALIDATE_INVALID)
        d->ret->n_success++;
}

static void
scan_over(struct decision *d, const struct transition_result *r,
          struct result_change *s)
{
    struct transition *t = d->ret;

    t->n_over++;
    switch (s->outcome) {
    case OUTCOME_INIT: /* no such row should be; it helps nobody */
        break;
    case OUTCOME_SUCCESS:
        scan_success(d, s);
        break;
    case OUTCOME_COULDNT_SEND:
        t->n_couldnt_send++;
        break;
    case OUTCOME_CLIENT_ERROR:
        /* a volunteer who changes their mind says nothing about the job */
        if (r->exit_status == EXIT_ABORTED_VIA_GUI)
            t->n_no_reply++;
        else
            t->n_error++;
        break;
    case OUTCOME_NO_REPLY:
    case OUTCOME_CLIENT_DETACHED:
        t->n_no_reply++;
        break;
    case OUTCOME_DIDNT_NEED:
        t->n_didnt_need++;
        break;
    case OUTCOME_VALIDATE_ERROR:
        t->n_error++;
        break;
    }
}

static void
scan_result(struct decision *d, const struct transition_result *r,
            struct result_change *s)
{
    if (s->server_state == RESULT_IN_PROGRESS && r->report_deadline < d->now) {
        s->server_state = RESULT_OVER;
        s->outcome = OUTCOME_NO_REPLY;
        s->penalise = true;
    }
    switch (s->server_state) {
    case RESULT_INACTIVE:
    case RESULT_UNSENT:
        d->ret->n_unsent++;
        break;
    case RESULT_IN_PROGRESS:
        d->ret->n_in_progress++;
        look_again_at(d, r->report_deadline);
        break;
    case RESULT_OVER:
        scan_over(d, r, s);
        break;
    }
}

/* Step 2. */
static void
scan_results(struct decision *d)
{
    int max_suffix = -1;

    for (size_t i = 0; i < d->n; i++) {
        const struct transition_result *r = &d->results[i];
        int suffix = r->suffix < 0 ? 0 : r->suffix;

        d->ret->n_total++;
        if (suffix > max_suffix)
            max_suffix = suffix;
        scan_result(d, r, &d->state[i]);
    }
    d->ret->first_suffix = max_suffix < INT_MAX ? max_suffix + 1 : INT_MAX;
}

/* Step 3.  A late success is compared with the canonical result whatever the
 * quorum: with quorum 5, 3 valid and 2 invalid ones, it would never be met. */
static void
trigger_validation(struct decision *d)
{
    if (d->have_new &&
        (d->canonical_found || d->ret->n_success >= d->wu->min_quorum))
        d->ret->need_validate = true;
}

/* The pin to a class of hosts or to a version may be what makes every result
 * fail; once nothing good depends on it, other platforms get a try. */
static void
release_pins(struct decision *d)
{
    const struct transition *t = d->ret;

    if (d->cfg->hr_class_static || t->n_error == 0 || t->n_success != 0 ||
        t->n_in_progress != 0 || t->n_no_reply != 0)
        return;
    d->ret->hr_class = 0;
    d->ret->app_version_id = 0;
}

/* How many results are missing, and whether there is room for them.  In 64
 * bits: limits are the scientist's, and may be as large as the column holds. */
static void
count_needed(struct decision *d)
{
    struct transition *t = d->ret;
    const struct workunit *wu = d->wu;
    int64_t target = wu->target_nresults > wu->min_quorum ? wu->target_nresults
                                                          : wu->min_quorum;
    int64_t needed =
        target - ((int64_t)t->n_unsent + t->n_in_progress + t->n_success);
    int64_t allowed = (int64_t)wu->max_total_results - t->n_total;

    if (needed < 0)
        needed = 0;
    if (allowed < 0 || (allowed == 0 && needed > 0)) {
        t->error_mask |= WU_TOO_MANY_TOTAL_RESULTS;
        return;
    }
    d->needed = (int)(needed < allowed ? needed : allowed);
}

/* Step 4. */
static void
check_limits(struct decision *d)
{
    struct transition *t = d->ret;

    if (d->canonical_found || d->wu->error_mask != 0)
        return;
    if (t->n_couldnt_send > 0)
        t->error_mask |= WU_COULDNT_SEND_RESULT;
    release_pins(d);
    if (t->n_error > d->wu->max_error_results)
        t->error_mask |= WU_TOO_MANY_ERROR_RESULTS;
    count_needed(d);
}

static bool
was_never_sent(const struct result_change *s)
{
    return s->server_state == RESULT_UNSENT ||
           s->server_state == RESULT_INACTIVE;
}

static void
withdraw_unsent(struct decision *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (was_never_sent(&d->state[i])) {
            d->state[i].server_state = RESULT_OVER;
            d->state[i].outcome = OUTCOME_DIDNT_NEED;
        }
}

static void
give_up(struct decision *d)
{
    withdraw_unsent(d);
    for (size_t i = 0; i < d->n; i++) {
        struct result_change *s = &d->state[i];

        if (is_success(s) && (s->validate_state == VALIDATE_INIT ||
                              s->validate_state == VALIDATE_INCONCLUSIVE))
            s->validate_state = VALIDATE_NO_CHECK;
    }
    d->ret->need_validate = false;
    if (d->ret->assimilate_state == ASSIMILATE_INIT)
        d->ret->assimilate_state = ASSIMILATE_READY;
}

/* New results of a workunit that has lost some go before those of others, so
 * that the volunteers who have done their part need not wait long. */
static int
priority_of_new(const struct decision *d)
{
    int64_t priority = d->wu->priority;

    if (d->ret->n_over > 0) {
        if (d->cfg->reliable_priority_on_over != 0)
            priority += d->cfg->reliable_priority_on_over;
        else if (d->ret->n_error == 0)
            priority += d->cfg->reliable_priority_on_over_except_error;
    }
    if (priority > INT_MAX)
        return INT_MAX;
    return priority < INT_MIN ? INT_MIN : (int)priority;
}

/* Step 5. */
static void
act_on_limits(struct decision *d)
{
    d->ret->new_priority = priority_of_new(d);
    if (d->ret->error_mask != 0)
        give_up(d);
    else if (d->canonical_found)
        withdraw_unsent(d);
    else if (d->wu->transitioner_flags != TRANSITION_NO_NEW_RESULTS)
        d->ret->new_results = d->needed;
}

/* What step 6 knows about all results together. */
struct completion {
    int64_t most_recent; /* report, Unix s; 0 none */
    bool all_over;       /* and no success is left unchecked */
    bool no_late_report; /* … and nobody may still report in time */
};

/* Step 6. */
static struct completion
check_completion(struct decision *d)
{
    struct completion c = {0, true, true};

    for (size_t i = 0; i < d->n; i++) {
        const struct transition_result *r = &d->results[i];
        const struct result_change *s = &d->state[i];

        if (s->server_state != RESULT_OVER) {
            c.all_over = false;
            continue;
        }
        if (r->received_time > c.most_recent)
            c.most_recent = r->received_time;
        if (is_unchecked(d, s))
            c.all_over = false;
        if (s->outcome == OUTCOME_NO_REPLY && r->report_deadline > d->now) {
            c.no_late_report = false;
            look_again_at(d, r->report_deadline);
        }
    }
    if (c.all_over && d->canonical_found &&
        d->ret->assimilate_state == ASSIMILATE_INIT)
        d->ret->assimilate_state = ASSIMILATE_READY;
    return c;
}

/* Outputs of results without a reply, with unreadable output or of a detached
 * host are left: there is nothing, or nothing that we know of. */
static bool
has_output_to_delete(const struct decision *d, const struct result_change *s)
{
    if (s->server_state != RESULT_OVER || s->file_delete_state != FILES_INIT)
        return false;
    return s->outcome == OUTCOME_CLIENT_ERROR ||
           (is_success(s) && !is_unchecked(d, s));
}

/* Step 7. */
static void
delete_files(struct decision *d, const struct completion *c)
{
    bool all_done = c->all_over && c->no_late_report;
    int64_t when = c->most_recent + d->cfg->delete_delay;

    if (d->ret->assimilate_state != ASSIMILATE_DONE)
        return;
    if (d->now < when) {
        look_again_at(d, when);
        return;
    }
    if (all_done && d->ret->file_delete_state == FILES_INIT)
        d->ret->file_delete_state = FILES_READY;
    for (size_t i = 0; i < d->n; i++) {
        /* late results are compared with the canonical output: it goes last */
        if ((ptrdiff_t)i == d->canonical && !all_done)
            continue;
        if (has_output_to_delete(d, &d->state[i]))
            d->state[i].file_delete_state = FILES_READY;
    }
}

/* Step 8.  An open workunit is looked at again whatever happens.  A wait longer
 * than the column can say ends with its last second before "never": the
 * workunit still is one that waits. */
static int64_t
next_look(const struct decision *d)
{
    int64_t next = d->look_again;

    if (!d->canonical_found && d->ret->error_mask == 0) {
        int64_t bound = d->wu->delay_bound + d->wu->delay_bound / 2;
        int64_t net = d->now + (bound > SAFETY_NET ? bound : SAFETY_NET);

        if (net >= TRANSITION_NEVER)
            net = TRANSITION_NEVER - 1;
        if (net < next)
            next = net;
    }
    /* No event found above lies in the past (what is overdue was closed by this
     * decision), so there is no backlog to stretch; one due this very second is
     * due in the next, or the transitioner would turn in circles. */
    return next > d->now ? next : d->now + 1;
}

static bool
has_changed(const struct transition_result *r, const struct result_change *s)
{
    return s->server_state != r->server_state || s->outcome != r->outcome ||
           s->validate_state != r->validate_state ||
           s->file_delete_state != r->file_delete_state;
}

/* Step 9: only what changed is written. */
static void
keep_changes_only(struct decision *d)
{
    size_t kept = 0;

    for (size_t i = 0; i < d->n; i++)
        if (has_changed(&d->results[i], &d->state[i]))
            d->state[kept++] = d->state[i];
    d->ret->n_changes = kept;
}

void
transition_decide(const struct workunit *wu,
                  const struct transition_result *results, size_t n,
                  const struct transition_config *cfg, int64_t now,
                  struct result_change *changes, struct transition *ret)
{
    struct decision d = {
        .wu = wu,
        .results = results,
        .n = n,
        .cfg = cfg,
        .now = now,
        .state = changes,
        .ret = ret,
        .look_again = TRANSITION_NEVER,
    };
    struct completion c;

    begin(&d);
    if (wu->transitioner_flags == TRANSITION_NONE)
        return; /* a broadcast job is not ours */
    find_canonical(&d);
    scan_results(&d);
    trigger_validation(&d);
    check_limits(&d);
    act_on_limits(&d);
    c = check_completion(&d);
    delete_files(&d, &c);
    ret->transition_time = next_look(&d);
    keep_changes_only(&d);
}

int
transition_name_suffix(const char *name)
{
    const char *digits = strrchr(name, '_');
    size_t len;
    int suffix = 0;

    if (digits == NULL)
        return -1;
    digits++;
    len = strlen(digits);
    if (len == 0 || len > MAX_SUFFIX_DIGITS ||
        strspn(digits, "0123456789") != len)
        return -1;
    for (; *digits != '\0'; digits++)
        suffix = suffix * 10 + (*digits - '0');
    return suffix;
}
