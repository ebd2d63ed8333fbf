/* fuzz_request.c - a scheduler request: what the repair makes of it is XML,
 * bounded, and what is read of it is clean text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "dialect.h"
#include "fuzz.h"
#include "host_misc.h"
#include "request.h"
#include "utf8.h"
#include "xml.h"

enum { COLUMN_MAX = 65535 };

static bool
is_clean(const char *text)
{
    return utf8_valid(text, strlen(text));
}

/* Opaque bodies are bytes of the input itself, in their order. */
static void
check_bodies(const struct dialect *d, const char *bytes, size_t n)
{
    const char *at = bytes;

    for (size_t i = 0; i < d->n_bodies; i++) {
        FUZZ_MUST(d->body[i].bytes >= at);
        at = d->body[i].bytes + d->body[i].len;
        FUZZ_MUST(at <= bytes + n);
    }
}

static void
check_dialect(const char *bytes, size_t n)
{
    struct buf err = BUF_INIT;
    struct dialect d, again;
    struct xml_doc *doc;

    if (dialect_repair(bytes, n, "scheduler_request", &d, &err) != 0) {
        FUZZ_MUST(err.len > 0 && is_clean(buf_str(&err)));
        buf_free(&err);
        return;
    }
    FUZZ_MUST(d.xml.len <= 6 * n + 1024);
    check_bodies(&d, bytes, n);
    doc = xml_parse(buf_str(&d.xml), d.xml.len, "repaired", &err);
    FUZZ_MUST(doc != NULL);
    xml_free(doc);
    if (d.n_bodies == 0) { /* what is well-formed needs no repair */
        FUZZ_MUST(dialect_repair(buf_str(&d.xml), d.xml.len,
                                 "scheduler_request", &again, &err) == 0);
        FUZZ_MUST(strcmp(buf_str(&again.xml), buf_str(&d.xml)) == 0);
        dialect_free(&again);
    }
    dialect_free(&d);
    buf_free(&err);
}

static void
check_results(const struct sched_request *req)
{
    FUZZ_MUST(req->n_results <= req->n_results_seen);
    for (size_t i = 0; i < req->n_results; i++) {
        const struct reported_result *r = &req->result[i];

        FUZZ_MUST(strlen(r->stderr_out) <= COLUMN_MAX);
        FUZZ_MUST(strlen(r->xml_doc_out) <= COLUMN_MAX);
        FUZZ_MUST(is_clean(r->name) && is_clean(r->stderr_out));
        FUZZ_MUST(is_clean(r->xml_doc_out));
        FUZZ_MUST(isfinite(r->cpu_time) && isfinite(r->elapsed_time));
    }
    for (size_t i = 0; i < req->n_other_results; i++)
        FUZZ_MUST(is_clean(req->other_result[i].name));
    for (size_t i = 0; i < req->n_trickles; i++)
        FUZZ_MUST(is_clean(req->trickle[i].xml));
    for (size_t i = 0; i < req->n_files; i++)
        FUZZ_MUST(is_clean(req->file[i].name));
    FUZZ_MUST(req->n_app_versions <= REQUEST_MAX_APP_VERSIONS);
}

static void
check_host(const struct sched_request *req)
{
    const struct host *h = &req->host;
    struct buf misc = BUF_INIT;

    FUZZ_MUST(isfinite(h->p_fpops) && isfinite(h->m_nbytes));
    FUZZ_MUST(isfinite(h->d_free) && isfinite(h->on_frac));
    FUZZ_MUST(is_clean(h->domain_name) && is_clean(h->p_model));
    FUZZ_MUST(is_clean(h->os_name) && is_clean(req->authenticator));
    FUZZ_MUST(strpbrk(req->authenticator, "'\"") == NULL);
    FUZZ_MUST(req->work_req_seconds >= 0 && isfinite(req->work_req_seconds));
    FUZZ_MUST(isfinite(req->cpu_req_secs) && isfinite(req->cpu_req_instances));
    FUZZ_MUST(req->facts != NULL && is_clean(req->facts));
    host_misc(req, &misc);
    FUZZ_MUST(is_clean(buf_str(&misc)));
    buf_free(&misc);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct sched_request *req = NULL;
    struct buf err = BUF_INIT;
    char *text = fuzz_text(bytes, n);

    check_dialect(text, n);
    if (request_parse(text, n, &req, &err) == 0) {
        check_results(req);
        check_host(req);
        request_wants_work(req);
        request_wants_coproc(req);
        request_free(req);
    } else {
        FUZZ_MUST(err.len > 0 && is_clean(buf_str(&err)));
    }
    buf_free(&err);
    free(text);
    return 0;
}
