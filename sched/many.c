/* many.c - many saved requests at once, without hosts. */
#include "many.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "handle.h"
#include "log.h"
#include "request.h"

#define END_TAG "</scheduler_request>"

/* ---- a stream of requests ---- */

static bool
ends_request(const char *line)
{
    line += strspn(line, " \t");
    if (strncmp(line, END_TAG, strlen(END_TAG)) != 0)
        return false;
    line += strlen(END_TAG);
    return line[strspn(line, " \t\r\n")] == '\0';
}

static bool
is_blank(const struct buf *body)
{
    const char *text = buf_str(body);

    return strspn(text, " \t\r\n") == body->len;
}

static int
answer(struct server *s, struct buf *body, FILE *out)
{
    struct buf reply = BUF_INIT;
    int rc = 0;

    handle_request(s, "", buf_str(body), body->len, &reply);
    if (fwrite(buf_str(&reply), 1, reply.len, out) != reply.len ||
        fflush(out) != 0) {
        log_errno("the reply cannot be written");
        rc = -1;
    }
    buf_free(&reply);
    buf_reset(body);
    return rc;
}

int
many_run(struct server *s, FILE *in, FILE *out)
{
    struct buf body = BUF_INIT;
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int rc = 0;

    while (rc == 0 && (n = getline(&line, &room, in)) > 0) {
        buf_addn(&body, line, (size_t)n);
        if (ends_request(line)) {
            rc = answer(s, &body, out);
        } else if (body.len > REQUEST_MAX_BYTES) {
            log_critical("a request of more than %d bytes", REQUEST_MAX_BYTES);
            rc = -1;
        }
    }
    if (rc == 0 && ferror(in)) {
        log_errno("the requests cannot be read");
        rc = -1;
    }
    if (rc == 0 && !is_blank(&body))
        rc = answer(s, &body, out); /* the parser says that it breaks off */
    free(line);
    buf_free(&body);
    return rc;
}

/* ---- jobs that are done at once ---- */

static int
mark_done(struct rpc *rpc, const struct sched_reply *reply, int64_t *wu,
          struct result_report *report)
{
    size_t n = reply->n_jobs, stored;

    for (size_t i = 0; i < n; i++) {
        wu[i] = reply->job[i].wu->id;
        report[i] = (struct result_report){
            .id = reply->job[i].result->id,
            .outcome = OUTCOME_SUCCESS,
            .validate_state = VALIDATE_INIT,
            .client_state = CLIENT_FILES_UPLOADED,
            .app_version_num = reply->job[i].version->version_num,
            .stderr_out = "",
            .xml_doc_out = "",
        };
    }
    if (db_sched_touch_workunits(rpc->db, wu, n, rpc->now) != 0)
        return -1;
    return db_sched_store_reports(rpc->db, report, n, &rpc->host, &rpc->user,
                                  rpc->now, &stored);
}

enum step_result
many_step(struct rpc *rpc)
{
    size_t n = rpc->reply.n_jobs;
    struct result_report *report;
    int64_t *wu;
    int rc;

    if (!rpc->mark_jobs_done || n == 0)
        return STEP_NEXT;
    wu = xmalloc(n * sizeof(*wu));
    report = xmalloc(n * sizeof(*report));
    rc = mark_done(rpc, &rpc->reply, wu, report);
    free(wu);
    free(report);
    return rc == 0 ? STEP_NEXT : STEP_FAILED;
}
