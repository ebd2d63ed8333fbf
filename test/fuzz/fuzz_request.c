/* fuzz_request.c - a scheduler request: what the repair makes of it is XML,
 * bounded, and what is read of it is clean text. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "buf.h"
#include "dialect.h"
#include "fuzz.h"
#include "host_misc.h"
#include "request.h"
#include "utf8.h"
#include "xml.h"

enum { COLUMN_MAX = 65535, SWOLLEN = 65536 };

#define ROOT "scheduler_request"

static bool
is_clean(const char *text)
{
    return utf8_valid(text, strlen(text));
}

/* Opaque bodies are bytes of the input itself, in their order, and the element
 * of each has its number. */
static void
check_bodies(const struct dialect *d, const char *bytes, size_t n)
{
    const char *at = bytes, *element = buf_str(&d->xml);
    char number[32];

    for (size_t i = 0; i < d->n_bodies; i++) {
        FUZZ_MUST(d->body[i].bytes >= at);
        at = d->body[i].bytes + d->body[i].len;
        FUZZ_MUST(at <= bytes + n);
        snprintf(number, sizeof number, " n=\"%zu\"/>", i);
        element = strstr(element, number);
        FUZZ_MUST(element != NULL);
    }
}

/* What was repaired needs no repair, once the bodies are out of it; unless it
 * is one of the few texts that become too long. */
static void
check_stable(const struct dialect *first)
{
    struct buf err = BUF_INIT;
    struct dialect second, third;

    if (dialect_repair(buf_str(&first->xml), first->xml.len, ROOT, &second,
                       &err) != 0) {
        FUZZ_MUST(strstr(buf_str(&err), "too long") != NULL);
        buf_free(&err);
        return;
    }
    FUZZ_MUST(second.n_bodies == 0);
    FUZZ_MUST(first->n_bodies > 0 ||
              strcmp(buf_str(&second.xml), buf_str(&first->xml)) == 0);
    FUZZ_MUST(dialect_repair(buf_str(&second.xml), second.xml.len, ROOT, &third,
                             &err) == 0);
    FUZZ_MUST(strcmp(buf_str(&third.xml), buf_str(&second.xml)) == 0);
    dialect_free(&second);
    dialect_free(&third);
    buf_free(&err);
}

static void
check_dialect(const char *bytes, size_t n)
{
    struct buf err = BUF_INIT;
    struct dialect d;
    struct xml_doc *doc;

    if (dialect_repair(bytes, n, ROOT, &d, &err) != 0) {
        FUZZ_MUST(err.len > 0 && is_clean(buf_str(&err)));
        buf_free(&err);
        return;
    }
    FUZZ_MUST(d.xml.len <= 6 * n + 1024);
    check_bodies(&d, bytes, n);
    doc = xml_parse(buf_str(&d.xml), d.xml.len, "repaired", &err);
    FUZZ_MUST(doc != NULL);
    xml_free(doc);
    check_stable(&d);
    dialect_free(&d);
    buf_free(&err);
}

/* Time is linear in the size: the same many times over takes no second. */
static void
check_time(const char *bytes, size_t n)
{
    struct buf big = BUF_INIT, err = BUF_INIT;
    struct dialect d;
    clock_t begin = clock();

    buf_add(&big, "<" ROOT ">");
    while (big.len < SWOLLEN)
        buf_addn(&big, bytes, n);
    buf_add(&big, "</" ROOT ">");
    if (dialect_repair(buf_str(&big), big.len, ROOT, &d, &err) == 0)
        dialect_free(&d);
    FUZZ_MUST(clock() - begin < CLOCKS_PER_SEC);
    buf_free(&big);
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
        for (size_t k = 0; k < i && i < 100; k++)
            FUZZ_MUST(strcmp(req->result[k].name, r->name) != 0);
    }
    for (size_t i = 0; i < req->n_other_results; i++)
        FUZZ_MUST(is_clean(req->other_result[i].name));
    for (size_t i = 0; i < req->n_trickles; i++)
        FUZZ_MUST(is_clean(req->trickle[i].xml));
    for (size_t i = 0; i < req->n_files; i++)
        FUZZ_MUST(is_clean(req->file[i].name));
    FUZZ_MUST(req->n_app_versions <= REQUEST_MAX_APP_VERSIONS);
}

/* Column host.misc is JSON. */
static void
check_misc(const struct sched_request *req)
{
    struct buf misc = BUF_INIT;
    json_t *json;

    host_misc(req, &misc);
    FUZZ_MUST(is_clean(buf_str(&misc)));
    json = json_loadb(buf_str(&misc), misc.len, 0, NULL);
    FUZZ_MUST(json != NULL);
    json_decref(json);
    buf_free(&misc);
}

/* What is kept of a computer is a request of the same computer. */
static void
check_facts(const struct sched_request *req)
{
    struct buf text = BUF_INIT, err = BUF_INIT;
    struct sched_request *again = NULL;

    FUZZ_MUST(req->facts != NULL && is_clean(req->facts));
    FUZZ_MUST(req->facts_hash != 0);
    buf_addf(&text, "<" ROOT ">\n%s</" ROOT ">\n", req->facts);
    FUZZ_MUST(request_parse(buf_str(&text), text.len, &again, &err) == 0);
    FUZZ_MUST(strcmp(req->facts, again->facts) == 0);
    FUZZ_MUST(req->facts_hash == again->facts_hash);
    request_free(again);
    buf_free(&text);
    buf_free(&err);
}

static void
check_host(const struct sched_request *req)
{
    const struct host *h = &req->host;

    FUZZ_MUST(isfinite(h->p_fpops) && isfinite(h->m_nbytes));
    FUZZ_MUST(isfinite(h->d_free) && isfinite(h->on_frac));
    FUZZ_MUST(is_clean(h->domain_name) && is_clean(h->p_model));
    FUZZ_MUST(is_clean(h->os_name) && is_clean(req->authenticator));
    FUZZ_MUST(strpbrk(req->authenticator, "'\"") == NULL);
    FUZZ_MUST(req->work_req_seconds >= 0 && isfinite(req->work_req_seconds));
    FUZZ_MUST(isfinite(req->cpu_req_secs) && isfinite(req->cpu_req_instances));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct sched_request *req = NULL;
    struct buf err = BUF_INIT;
    char *text = fuzz_text(bytes, n);

    check_dialect(text, n);
    if (n > 0 && n % 251 == 60)
        check_time(text, n);
    if (request_parse(text, n, &req, &err) == 0) {
        check_results(req);
        check_host(req);
        check_misc(req);
        check_facts(req);
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
