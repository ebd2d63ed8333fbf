/* explain_fleet.c - how many hosts could take a workunit?
 *
 * Host by host the offer is made as for a request, from the host's row and the
 * facts of its last request, and the rules are asked.  What the database says
 * is read for a page of hosts at a time: rows, facts, preferences, statistics.
 * Nothing is locked. */
#include "explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "catalog.h"
#include "clock.h"
#include "db_hav.h"
#include "explain_private.h"
#include "handle.h"
#include "log.h"
#include "request.h"
#include "segment.h"
#include "steps.h"

enum { PAGE = 500, MAX_SEEN = 5 /* examples for each rule */ };

struct fleet {
    struct server *server;
    const struct explain_workunit *wu;
    struct explain_owner *owner;
    size_t n_owners;
    int64_t now;
    size_t n_hosts, n_unknown, n_can;
    size_t *refused; /* for each rule */
    int64_t (*seen)[MAX_SEEN];
    int64_t can[MAX_SEEN];
};

static bool
has_result(const struct fleet *f, const struct host *host, bool by_user)
{
    for (size_t i = 0; i < f->n_owners; i++)
        if (by_user ? f->owner[i].userid == host->userid
                    : f->owner[i].hostid == host->id)
            return true;
    return false;
}

/* The host's request, or NULL (logged). */
static struct sched_request *
make_request(const struct fleet *f, const struct explain_host *h)
{
    struct sched_request *req = NULL;
    struct buf text = BUF_INIT, err = BUF_INIT;

    explain_write_request(&h->host, h->facts, "", NULL, 0,
                          segment_catalog(f->server->segment), &text);
    if (request_parse(buf_str(&text), text.len, &req, &err) != 0)
        log_warning(TAG_HOST "facts that cannot be read: %s", h->host.id,
                    buf_str(&err));
    buf_free(&text);
    buf_free(&err);
    return req;
}

static void
count(struct fleet *f, const struct dispatch_rule *rule, int64_t hostid)
{
    size_t i = rule != NULL ? (size_t)(rule - dispatch_rules) : 0;
    size_t *n = rule != NULL ? &f->refused[i] : &f->n_can;

    if (*n < MAX_SEEN)
        (rule != NULL ? f->seen[i] : f->can)[*n] = hostid;
    ++*n;
}

/* 0; -1: the database failed. */
static int
judge_host(struct fleet *f, struct explain_host *h,
           const struct host_app_version *hav, size_t n_hav)
{
    struct server *s = f->server;
    struct sched_request *req = h->facts != NULL ? make_request(f, h) : NULL;
    struct rpc rpc = {
        .cfg = s->cfg,
        .req = req,
        .peer = "",
        .now = f->now,
        .db = s->db,
        .segment = s->segment,
        .jobs = segment_jobarray(s->segment),
        .catalog = segment_catalog(s->segment),
        .files = &s->files,
        .rule_files = &s->rule_files,
        .draw = 0.5,
        .host = h->host,
        .old_host = h->host,
        .user = h->user,
    };
    int rc = 0;

    f->n_hosts++;
    if (req == NULL) {
        f->n_unknown++;
        return 0;
    }
    h->user.global_prefs = h->user.project_prefs = NULL; /* rpc's now */
    rpc.standing.loaded = true;
    rpc.standing.n = n_hav;
    rpc.standing.hav = xmalloc((n_hav + 1) * sizeof(*hav));
    if (n_hav > 0)
        memcpy(rpc.standing.hav, hav, n_hav * sizeof(*hav));
    rc = work_setup(&rpc);
    if (rc == 0)
        count(f,
              explain_judge(&rpc, &f->wu->job, has_result(f, &h->host, true),
                            has_result(f, &h->host, false), NULL),
              h->host.id);
    steps_reset(&rpc);
    request_free(req);
    return rc;
}

/* Hosts and statistics come in the same order. */
static int
judge_page(struct fleet *f, struct explain_host *host, size_t n)
{
    struct host_app_version *hav;
    size_t n_hav, at = 0;
    int rc = db_hav_of_hosts(f->server->db, host[0].host.id - 1,
                             host[n - 1].host.id, &hav, &n_hav);

    for (size_t i = 0; i < n; i++) {
        size_t end;

        while (rc == 0 && at < n_hav && hav[at].host_id < host[i].host.id)
            at++;
        for (end = at;
             rc == 0 && end < n_hav && hav[end].host_id == host[i].host.id;)
            end++;
        if (rc == 0)
            rc = judge_host(f, &host[i], hav + at, end - at);
        explain_host_free(&host[i]);
    }
    free(hav);
    return rc;
}

static int
judge_all(struct fleet *f, int64_t since)
{
    struct explain_host *host = xcalloc(PAGE, sizeof(*host));
    int64_t above = 0;
    size_t n = 1;
    int rc = 0;

    while (rc == 0 && n > 0) {
        rc = db_explain_hosts(f->server->db, above, since, PAGE, host, &n);
        if (rc == 0 && n > 0) {
            above = host[n - 1].host.id;
            rc = judge_page(f, host, n);
        }
    }
    free(host);
    return rc;
}

/* ---- what is printed ---- */

static void
add_line(const char *name, size_t n, size_t of, const int64_t *seen,
         struct buf *out)
{
    buf_addf(out, "  %8zu  %5.1f %%  %-16s", n,
             of > 0 ? 100 * (double)n / (double)of : 0, name);
    for (size_t i = 0; seen != NULL && i < n && i < MAX_SEEN; i++)
        buf_addf(out, "%s %" PRId64, i == 0 ? " hosts" : "", seen[i]);
    buf_add(out, "\n");
}

static enum exit_status
conclude(const struct fleet *f, int64_t days, struct buf *out)
{
    buf_addf(out, "%zu hosts were in contact in the last %" PRId64 " days:\n",
             f->n_hosts, days);
    add_line("could take it", f->n_can, f->n_hosts, f->can, out);
    for (size_t i = 0; i < n_dispatch_rules; i++)
        if (f->refused[i] > 0)
            add_line(dispatch_rules[i].name, f->refused[i], f->n_hosts,
                     f->seen[i], out);
    if (f->n_unknown > 0)
        add_line("not on record", f->n_unknown, f->n_hosts, NULL, out);
    return f->n_can > 0 ? EXIT_OK : EXIT_NO;
}

enum exit_status
explain_workunit(struct server *s, int64_t workunit, int64_t days,
                 struct buf *out)
{
    struct explain_workunit wu;
    struct fleet f = {.server = s, .wu = &wu, .now = clock_now()};
    enum exit_status status = EXIT_TEMPFAIL;
    int rc;

    if (s->segment == NULL && !explain_open(s))
        return EXIT_TEMPFAIL;
    rc = explain_find_workunit(s, workunit, &wu, out);
    if (rc != 0)
        return rc == DB_NONE ? EXIT_NO : EXIT_TEMPFAIL;
    f.refused = xcalloc(n_dispatch_rules, sizeof(*f.refused));
    f.seen = xcalloc(n_dispatch_rules, sizeof(*f.seen));
    if (db_explain_owners(s->db, workunit, &f.owner, &f.n_owners) == 0 &&
        judge_all(&f, f.now - days * 86400) == 0)
        status = conclude(&f, days, out);
    free(f.owner);
    free(f.refused);
    free(f.seen);
    return status;
}
