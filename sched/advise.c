/* advise.c - what the client is told before work is thought of. */
#include "advise.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "client.h"
#include "config.h"
#include "file.h"
#include "jobarray.h"
#include "log.h"

enum {
    UNSUPPORTED_DELAY = 86400,
    KEY_MAX = 4096,
    OLD_KEYS = 100, /* old_key_0 … */
};

static void
no_work(struct rpc *rpc, double delay)
{
    rpc->no_work = true;
    reply_delay(&rpc->reply, delay);
}

/* ---- platforms ---- */

/* No job is looked at for this host; none would fit.  So it counts for all that
 * wait, once (dispatch §9.5). */
static void
count_for_all_jobs(struct rpc *rpc)
{
    size_t n = rpc->jobs != NULL ? jobarray_n_slots(rpc->jobs) : 0;
    uint64_t newest = n > 0 ? jobarray_newest(rpc->jobs) : 0;
    uint64_t noted =
        n > 0 ? jobarray_noted(rpc->jobs, rpc->host.id, JOBARRAY_EVERY_KIND)
              : 0;

    for (size_t i = 0; i < n; i++) {
        struct job_slot *slot = jobarray_slot(rpc->jobs, i);
        struct job_hint hint;

        if (jobarray_glance(slot, &hint) && hint.stamp > noted)
            jobarray_refuse(rpc->jobs, slot, hint.result_id, rpc->host.id,
                            REFUSED_NO_VERSION);
    }
    if (newest > noted && rpc->host.id > 0)
        jobarray_note(rpc->jobs, rpc->host.id, JOBARRAY_EVERY_KIND, newest);
}

static void
check_platform(struct rpc *rpc)
{
    if (rpc->work.n_platforms > 0)
        return;
    if (request_wants_work(rpc->req))
        count_for_all_jobs(rpc);
    reply_message(&rpc->reply, MESSAGE_NOTICE,
                  "This project has no applications for computers of type %s.",
                  rpc->req->platform_name[0] != '\0' ? rpc->req->platform_name
                                                     : "(none given)");
    no_work(rpc, UNSUPPORTED_DELAY);
}

/* ---- code-sign key (protocol §5.4) ---- */

static void
trim(struct buf *text)
{
    size_t n = text->len;

    while (n > 0 && strchr(" \t\r\n", text->data[n - 1]) != NULL)
        n--;
    buf_truncate(text, n);
}

/* A file of the key folder (n: its number, -1: none) without blanks at its
 * ends, malloc'ed; NULL if it cannot be read. */
static char *
key_file(const struct rpc *rpc, const char *name, int n)
{
    struct buf path = BUF_INIT, text = BUF_INIT;
    char *ret = NULL;

    buf_addf(&path, "%s/%s", rpc->cfg->key_dir, name);
    if (n >= 0)
        buf_addf(&path, "%d", n);
    if (file_read(buf_str(&path), KEY_MAX, &text) == 0) {
        trim(&text);
        ret = xstrdup(buf_str(&text) + strspn(buf_str(&text), " \t\r\n"));
    }
    buf_free(&path);
    buf_free(&text);
    return ret;
}

static bool
is_old_key(const struct rpc *rpc, int n)
{
    char *old = key_file(rpc, "old_key_", n);
    bool same = old != NULL && strcmp(old, rpc->req->code_sign_key) == 0;

    free(old);
    return same;
}

/* Clients before 7 check the signature of the file as it is. */
static char *
change_signature(const struct rpc *rpc)
{
    for (int n = 0; n < OLD_KEYS; n++)
        if (is_old_key(rpc, n))
            return key_file(rpc,
                            rpc->req->core_client_major_version < 7
                                ? "signature_"
                                : "signature_stripped_",
                            n);
    return NULL;
}

static void
send_key(struct rpc *rpc, char *key, char *signature)
{
    rpc->code_sign_key = key;
    rpc->code_sign_key_signature = signature;
    rpc->reply.code_sign_key = key;
    rpc->reply.code_sign_key_signature = signature;
}

static int
check_key(struct rpc *rpc)
{
    const char *sent = rpc->req->code_sign_key;
    char *key = key_file(rpc, "code_sign_public", -1), *signature;

    if (key == NULL) {
        log_critical("%s/code_sign_public cannot be read", rpc->cfg->key_dir);
        return -1;
    }
    if (strcmp(sent, key) == 0) {
        free(key);
        return 0;
    }
    if (sent[0] == '\0') {
        send_key(rpc, key, NULL);
        return 0;
    }
    signature = change_signature(rpc);
    if (signature != NULL) {
        send_key(rpc, key, signature);
        return 0;
    }
    free(key);
    reply_message(&rpc->reply, MESSAGE_NOTICE,
                  "The project's code-sign key is not the one that your BOINC "
                  "knows. To fix this, remove the project and add it again.");
    rpc->no_work = true;
    return 0;
}

/* ---- too soon ---- */

void
advise_interval(const struct config *cfg, struct sched_reply *reply)
{
    double least = (double)cfg->min_sendwork_interval;

    if (least <= 0)
        return;
    reply_delay(reply, 1.01 * least);
    reply_delay(reply, least + 1);
}

/* What it is told and how long it is sent away agree. */
static void
check_interval(struct rpc *rpc)
{
    int64_t least = rpc->cfg->min_sendwork_interval;
    int64_t since = rpc->now - rpc->old_host.rpc_time;

    advise_interval(rpc->cfg, &rpc->reply);
    if (least <= 0 || rpc->new_host || since < 0 || since >= least ||
        !request_wants_work(rpc->req))
        return;
    reply_message(&rpc->reply, MESSAGE_LOW,
                  "Not sending work: the last request is too recent (%" PRId64
                  " s ago). Your computer will ask again in %.0f s.",
                  since, rpc->reply.request_delay);
    rpc->no_work = true;
}

enum step_result
advise_step(struct rpc *rpc)
{
    if (rpc->cfg->next_rpc_delay > 0)
        rpc->reply.next_rpc_delay = (double)rpc->cfg->next_rpc_delay;
    if (client_judge(rpc->cfg, rpc->req, rpc->now, &rpc->reply) !=
        CLIENT_SERVED)
        rpc->no_work = true;
    if (!rpc->no_work)
        check_platform(rpc);
    if (check_key(rpc) != 0)
        return STEP_FAILED;
    check_interval(rpc);
    return STEP_NEXT;
}
