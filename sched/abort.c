/* abort.c - jobs on the client that are of no use any more (dispatch §10.2).
 *
 * What the client has is looked up in one statement.  A job that we do not know
 * of this host, that is over for us, or whose workunit was cancelled is to be
 * aborted; one that is late, or whose workunit is finished, only if it was not
 * started: what was computed may still be credited. */
#include "abort.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "log.h"

enum { TOLD_MAX = 20 }; /* messages to the volunteer */

enum fate { FATE_GO_ON, FATE_ABORT, FATE_ABORT_IF_NOT_STARTED };

static int
by_name(const void *a, const void *b)
{
    const struct job_on_client *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static enum fate
judge(const struct rpc *rpc, const struct job_on_client *j)
{
    bool in_progress;

    if (j == NULL || j->hostid != rpc->host.id)
        return FATE_ABORT;
    in_progress = j->server_state == RESULT_IN_PROGRESS;
    if ((j->error_mask & WU_CANCELLED) != 0)
        return FATE_ABORT;
    if (j->server_state == RESULT_OVER && j->outcome == OUTCOME_NO_REPLY)
        return FATE_ABORT_IF_NOT_STARTED;
    if (!in_progress)
        return FATE_ABORT;
    return j->assimilate_state == ASSIMILATE_DONE ? FATE_ABORT_IF_NOT_STARTED
                                                  : FATE_GO_ON;
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The jobs that the client has, but for those that it reports in this request,
 * whatever it says of them beside.  malloc'ed, *ret_n. */
static const char **
names_to_look_up(const struct sched_request *req, size_t *ret_n)
{
    const char **reported = xcalloc(req->n_results + 1, sizeof(*reported));
    const char **name = xcalloc(req->n_other_results, sizeof(*name));
    size_t n = 0;

    for (size_t i = 0; i < req->n_results; i++)
        reported[i] = req->result[i].name;
    qsort(reported, req->n_results, sizeof(*reported), by_text);
    for (size_t i = 0; i < req->n_other_results; i++) {
        const char *one = req->other_result[i].name;

        if (bsearch(&one, reported, req->n_results, sizeof(*reported),
                    by_text) == NULL)
            name[n++] = one;
    }
    free(reported);
    *ret_n = n;
    return name;
}

static void
tell_client(struct rpc *rpc, const char *name, enum fate fate)
{
    bool if_not_started = fate == FATE_ABORT_IF_NOT_STARTED;

    if (fate == FATE_GO_ON)
        return;
    reply_abort(&rpc->reply, name, if_not_started);
    rpc->tally.aborted++;
    log_normal(TAG_HOST "is to abort %s%s", rpc->host.id, name,
               if_not_started ? ", if it is not started" : "");
    if (!if_not_started && rpc->tally.aborted <= TOLD_MAX)
        reply_message(&rpc->reply, MESSAGE_LOW,
                      "Task %s is aborted: it is not needed any more.", name);
}

enum step_result
abort_step(struct rpc *rpc)
{
    const struct sched_request *req = rpc->req;
    struct job_on_client *job, key;
    const char **name;
    size_t n_names, n;
    int rc;

    if (!rpc->cfg->send_result_abort || req->n_other_results == 0)
        return STEP_NEXT;
    name = names_to_look_up(req, &n_names);
    rc = db_sched_jobs_on_client(rpc->db, name, n_names, &job, &n);
    if (n > 0)
        qsort(job, n, sizeof(*job), by_name);
    for (size_t i = 0; rc == 0 && i < n_names; i++) {
        str_copy(key.name, sizeof(key.name), name[i]);
        tell_client(
            rpc, name[i],
            judge(rpc, n == 0 ? NULL
                              : bsearch(&key, job, n, sizeof(*job), by_name)));
    }
    free(name);
    free(job);
    return rc == 0 ? STEP_NEXT : STEP_FAILED;
}
