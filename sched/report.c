/* report.c - take finished results; check that they were ours to give.
 *
 * Every result that needs no second report is acknowledged, unknown ones too:
 * what is not acknowledged is reported for ever.  Nothing is stored twice: the
 * statement that stores a report holds the condition for accepting it.  If a
 * row changed between reading and writing (its deadline passed just now) all
 * are read and judged again; what was stored the first time then counts as
 * known. */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "log.h"

enum { TRIES = 3, EXIT_UNKNOWN = 204 };

enum verdict {
    REPORT_STORE,
    REPORT_UNKNOWN,
    REPORT_AGAIN,   /* it came before */
    REPORT_NOT_OURS /* never sent, or sent to somebody else */
};

static int
by_name(const void *a, const void *b)
{
    const struct known_result *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static const struct known_result *
find_known(const struct known_result *known, size_t n, const char *name)
{
    struct known_result key;

    if (n == 0)
        return NULL;
    str_copy(key.name, sizeof(key.name), name);
    return bsearch(&key, known, n, sizeof(*known), by_name);
}

static enum verdict
judge(const struct rpc *rpc, const struct known_result *k)
{
    if (k == NULL)
        return REPORT_UNKNOWN;
    if (k->server_state != RESULT_IN_PROGRESS && k->server_state != RESULT_OVER)
        return REPORT_NOT_OURS;
    if (k->userid != rpc->user.id)
        return REPORT_NOT_OURS;
    if (k->received_time != 0)
        return REPORT_AGAIN;
    if (k->server_state == RESULT_OVER && k->outcome != OUTCOME_NO_REPLY &&
        k->outcome != OUTCOME_CLIENT_DETACHED)
        return REPORT_AGAIN;
    return REPORT_STORE;
}

static void
log_ignored(const struct rpc *rpc, const char *name,
            const struct known_result *k, enum verdict verdict)
{
    switch (verdict) {
    case REPORT_STORE:
        break;
    case REPORT_UNKNOWN:
        log_warning(TAG_HOST "reports unknown result %s", rpc->host.id, name);
        break;
    case REPORT_AGAIN:
        log_normal(TAG_RESULT "reported again by host %" PRId64, k->id, name,
                   rpc->host.id);
        break;
    case REPORT_NOT_OURS:
        log_critical(TAG_RESULT "reported by host %" PRId64 " of user %" PRId64
                                ", but it is %s and of user %" PRId64,
                     k->id, name, rpc->host.id, rpc->user.id,
                     server_state_name((int)k->server_state), k->userid);
        break;
    }
}

/* ---- what a report says ---- */

/* Times that cannot be are brought to what is possible (dispatch §11). */
static void
sane_times(const struct rpc *rpc, const struct reported_result *r,
           const struct known_result *k, struct result_report *ret)
{
    double turnaround = (double)(rpc->now - k->sent_time);
    int ncpus = rpc->host.p_ncpus > 0 ? rpc->host.p_ncpus : 1;
    double cpu = r->cpu_time > 0 ? r->cpu_time : 0;
    double elapsed = r->elapsed_time;

    if (elapsed <= 0 || (elapsed < cpu && r->plan_class[0] == '\0'))
        elapsed = cpu;
    if (k->sent_time > 0 && turnaround >= 0 && elapsed > turnaround)
        elapsed = turnaround;
    if (cpu > elapsed * ncpus)
        cpu = elapsed * ncpus;
    ret->cpu_time = cpu;
    ret->elapsed_time = elapsed;
}

static void
fill_report(const struct rpc *rpc, const struct reported_result *r,
            const struct known_result *k, struct result_report *ret)
{
    bool success = r->state == CLIENT_FILES_UPLOADED && r->has_exit_status &&
                   r->exit_status == 0;

    *ret = (struct result_report){
        .id = k->id,
        .outcome = success ? OUTCOME_SUCCESS : OUTCOME_CLIENT_ERROR,
        .validate_state = success ? VALIDATE_INIT : VALIDATE_INVALID,
        .client_state = r->state,
        .exit_status = r->has_exit_status ? r->exit_status : EXIT_UNKNOWN,
        .app_version_num =
            r->version_num != 0 ? r->version_num : r->app_version_num,
        .peak_working_set_size = r->peak_working_set_size,
        .peak_swap_size = r->peak_swap_size,
        .peak_disk_usage = r->peak_disk_usage,
        .stderr_out =
            success && rpc->cfg->dont_store_success_stderr ? "" : r->stderr_out,
        .xml_doc_out = r->xml_doc_out,
    };
    sane_times(rpc, r, k, ret);
    log_normal(TAG_RESULT "host %" PRId64 ": %s, client state %s, exit status "
                          "%d",
               k->id, k->name, rpc->host.id, outcome_name((int)ret->outcome),
               client_state_name(ret->client_state), ret->exit_status);
    if (rpc->cfg->debug_handle_results)
        log_normal(TAG_RESULT "CPU %.1f s, elapsed %.1f s (reported %.1f, "
                              "%.1f), version %d %s, %zu bytes of stderr",
                   k->id, k->name, ret->cpu_time, ret->elapsed_time,
                   r->cpu_time, r->elapsed_time, ret->app_version_num,
                   r->plan_class, strlen(r->stderr_out));
}

/* ---- one pass over all reports ---- */

/* File transfers of old clients were reported like results. */
static bool
is_pseudo_result(const char *name)
{
    return strstr(name, "upload") != NULL || strstr(name, "download") != NULL;
}

static size_t
n_considered(const struct rpc *rpc)
{
    size_t n = rpc->req->n_results;
    int64_t max = rpc->cfg->report_max;

    return max > 0 && (int64_t)n > max ? (size_t)max : n;
}

static int
read_known(struct rpc *rpc, size_t n, struct known_result **known,
           size_t *n_known)
{
    const char **names = xmalloc((n > 0 ? n : 1) * sizeof(*names));
    size_t n_names = 0;
    int rc;

    for (size_t i = 0; i < n; i++)
        if (!is_pseudo_result(rpc->req->result[i].name))
            names[n_names++] = rpc->req->result[i].name;
    rc = db_sched_results_by_name(rpc->db, names, n_names, known, n_known);
    free(names);
    if (rc == 0 && *n_known > 0)
        qsort(*known, *n_known, sizeof(**known), by_name);
    return rc;
}

struct batch {
    struct result_report *report;
    const struct known_result **known;
    size_t n;
    int64_t *again; /* results whose files have to be deleted again */
    size_t n_again;
    int64_t *wu; /* of both */
    size_t n_wu;
};

/* What a stored report means for the host's standing.  What the project itself
 * aborted is nobody's fault. */
static void
note_standing(struct rpc *rpc, enum outcome outcome, int exit_status,
              const struct known_result *k)
{
    if (outcome == OUTCOME_SUCCESS)
        standing_note(rpc, k->appid, k->app_version_id, STANDING_SUCCESS);
    else if (exit_status != EXIT_ABORTED_BY_PROJECT)
        standing_note(rpc, k->appid, k->app_version_id, STANDING_ERROR);
}

/* Not all of the pass before were stored; this one was. */
static void
note_stored_before(struct rpc *rpc, const struct reported_result *r,
                   const struct known_result *k, bool *pending)
{
    if (*pending && k != NULL && k->hostid == rpc->host.id &&
        k->received_time == rpc->now)
        note_standing(rpc, k->outcome, r->has_exit_status ? r->exit_status : 0,
                      k);
    *pending = false;
}

/* A client that goes back to a copy of its state files, or has not heard us,
 * uploads again what has been deleted meanwhile, and nobody would look for it
 * any more. */
static void
look_at_files(const struct reported_result *r, const struct known_result *k,
              struct batch *todo)
{
    if (r->state != CLIENT_FILES_UPLOADED || k->file_delete_state != FILES_DONE)
        return;
    todo->again[todo->n_again++] = k->id;
    todo->wu[todo->n_wu++] = k->workunitid;
}

/* Sort the reports: to store, or only to acknowledge. */
static void
judge_all(struct rpc *rpc, size_t n, const struct known_result *known,
          size_t n_known, bool first, bool *pending, struct batch *todo)
{
    for (size_t i = 0; i < n; i++) {
        const struct reported_result *r = &rpc->req->result[i];
        const struct known_result *k = find_known(known, n_known, r->name);
        enum verdict verdict = judge(rpc, k);

        if (verdict == REPORT_STORE) {
            pending[i] = true;
            fill_report(rpc, r, k, &todo->report[todo->n]);
            todo->known[todo->n++] = k;
            todo->wu[todo->n_wu++] = k->workunitid;
        } else if (!first) {
            note_stored_before(rpc, r, k, &pending[i]);
        } else if (!is_pseudo_result(r->name)) {
            log_ignored(rpc, r->name, k, verdict);
            if (verdict == REPORT_AGAIN && k->outcome == OUTCOME_SUCCESS)
                rpc->report_lost = true;
            if (verdict == REPORT_AGAIN)
                look_at_files(r, k, todo);
        }
    }
}

/* Returns how many reports found their row changed; -1 failed. */
static int64_t
one_pass(struct rpc *rpc, size_t n, bool first, bool *pending)
{
    struct known_result *known = NULL;
    size_t n_known = 0, stored = 0;
    struct batch todo = {0};
    int rc = read_known(rpc, n, &known, &n_known);

    if (rc == 0) {
        todo.report = xcalloc(n_known + 1, sizeof(*todo.report));
        todo.known = xcalloc(n_known + 1, sizeof(*todo.known));
        todo.again = xcalloc(n + 1, sizeof(*todo.again));
        todo.wu = xcalloc(n_known + n + 1, sizeof(*todo.wu));
        judge_all(rpc, n, known, n_known, first, pending, &todo);
        /* workunits first: their locks keep others off the results */
        rc = db_sched_touch_workunits(rpc->db, todo.wu, todo.n_wu, rpc->now);
    }
    if (rc == 0 && todo.n_again > 0)
        rc = db_sched_files_came_again(rpc->db, todo.again, todo.n_again);
    if (rc == 0)
        rc = db_sched_store_reports(rpc->db, todo.report, todo.n, &rpc->host,
                                    &rpc->user, rpc->now, &stored);
    rpc->tally.stored += (int64_t)stored;
    for (size_t i = 0; rc == 0 && stored == todo.n && i < stored; i++)
        note_standing(rpc, todo.report[i].outcome, todo.report[i].exit_status,
                      todo.known[i]);
    free(todo.report);
    free(todo.known);
    free(todo.again);
    free(todo.wu);
    free(known);
    return rc == 0 ? (int64_t)(todo.n - stored) : -1;
}

enum step_result
report_step(struct rpc *rpc)
{
    size_t n = n_considered(rpc);
    int64_t changed = n > 0 ? 1 : 0;
    bool *pending; /* tried to store, not known whether it was */

    rpc->tally.reported = (int64_t)n;
    pending = xcalloc(n + 1, sizeof(*pending));
    for (int i = 0; i < TRIES && changed > 0; i++)
        changed = one_pass(rpc, n, i == 0, pending);
    free(pending);
    if (changed < 0)
        return STEP_FAILED;
    if (changed > 0) {
        log_critical(TAG_HOST "%" PRId64 " results changed while their reports "
                              "were stored",
                     rpc->host.id, changed);
        return STEP_FAILED;
    }
    for (size_t i = 0; i < n; i++)
        reply_ack(&rpc->reply, rpc->req->result[i].name);
    return STEP_NEXT;
}
