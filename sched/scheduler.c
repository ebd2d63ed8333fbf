/* scheduler.c - answer the requests of clients: for each, read, handle, write.
 *
 * One binary for CGI and FastCGI; its name does not matter.  With --replay a
 * saved request is handled as if it had come over the wire. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cgi.h"
#include "clock.h"
#include "cmdline.h"
#include "config.h"
#include "explain.h"
#include "file.h"
#include "handle.h"
#include "log.h"
#include "netaddr.h"
#include "request.h"
#include "site.h"
#include "many.h"

enum {
    TOO_LONG_DELAY = 3600,
    BROWSER_DELAY = 60,
    PIECE = 65536,
    OVERLOAD_SILENCE = 10, /* s between two lines of the log */
};

struct options {
    char *replay;
    bool explain, batch, mark_jobs_done, debug_log;
    int64_t host, workunit, days;
    int64_t debug_level;
};

#define CONF_STRUCT struct options
static const struct conf_option option_rows[] = {
    OPTION(replay, CONF_STRING, NULL, 0, 0, 0, "FILE",
           "handle the request in FILE, write the reply to stdout"),
    OPTION(explain, CONF_BOOL, NULL, 0, 0, 0, "",
           "change nothing; print every rule's verdict on each job, and the "
           "reply"),
    OPTION(host, CONF_INT, "0", 0, 9e15, 0, "ID",
           "with --explain: a request such as this host would send"),
    OPTION(workunit, CONF_INT, "0", 0, 9e15, 0, "ID",
           "with --explain: this workunit alone, in the job array or not; "
           "without a host or FILE: how many hosts could take it"),
    OPTION(days, CONF_INT, "7", 1, 36500, 0, "N",
           "hosts that were in contact in the last N days"),
    OPTION(batch, CONF_BOOL, NULL, 0, 0, 0, "",
           "handle the requests that come on stdin one after the other, each "
           "with its end tag on a line of its own, whatever their rpc_seqno; "
           "write the replies to stdout"),
    OPTION(mark_jobs_done, CONF_BOOL, NULL, 0, 0, 0, "",
           "with --batch or --replay: each job sent counts as done at once, "
           "a success without output"),
    OPTION(debug_log, CONF_BOOL, NULL, 0, 0, 0, "",
           "log to stderr (the web server's error log), not to scheduler.log"),
    {"d|debug_level", CONF_INT, offsetof(struct options, debug_level), "0", 0,
       4, 0, "", "log level 1 to 4; 0: sched_debug_level of config.xml"},
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "scheduler",
    .section = 8,
    .summary = "answer the scheduler requests of BOINC clients",
    .description =
        "Run by the web server as a CGI or FastCGI program. Finds its project "
        "by QUORATE_PROJECT_DIR, the current folder, or the folder above its "
        "own, and writes its log to log_HOST/scheduler.log there.\n\n"
        "With --replay it handles a saved request for real, against the "
        "project's database and job array, and logs to stderr; with --batch "
        "many. With --explain "
        "nothing is kept: the transaction is rolled back and the job array is "
        "a private copy; the exit status is 0 if a job can be taken, 1 if none "
        "can. See explain(1).",
    .options = option_rows,
    .n_options = ARRAY_LEN(option_rows),
};

struct worker {
    struct site site;
    struct server server;
    struct options opt;
    uint64_t n_put_off;    /* requests, since it was last told */
    uint32_t put_off_told; /* clock_monotonic() */
};

static void
set_log_level(const struct worker *w)
{
    int64_t level = w->opt.debug_level;

    if (level == 0 && w->site.cfg != NULL)
        level = w->site.cfg->sched_debug_level;
    if (level >= LOG_LEVEL_CRITICAL && level <= LOG_LEVEL_DEBUG)
        log_set_level((enum log_level)level);
}

static void
check_proxies(const struct config *cfg)
{
    for (size_t i = 0; cfg != NULL && i < cfg->trusted_proxy.n; i++)
        if (!netaddr_is_network(cfg->trusted_proxy.item[i]))
            log_critical("config.xml: <trusted_proxy> is neither an address "
                         "nor a network: %s",
                         cfg->trusted_proxy.item[i]);
}

/* A new configuration may name another database or another array. */
static void
refresh(struct worker *w)
{
    if (site_refresh(&w->site)) {
        handle_close(&w->server);
        set_log_level(w);
        check_proxies(w->site.cfg);
    }
    w->server.cfg = w->site.cfg;
}

/* ---- one request ---- */

/* The body, at most REQUEST_MAX_BYTES.  False: there is more. */
static bool
read_body(struct cgi *cgi, struct buf *body)
{
    ssize_t n;

    if (cgi_content_length(cgi) > REQUEST_MAX_BYTES)
        return false;
    while (body->len <= REQUEST_MAX_BYTES) {
        n = cgi_read(cgi, buf_reserve(body, PIECE), PIECE);
        if (n <= 0)
            return true; /* a body that breaks off is told by the parser */
        body->len += (size_t)n;
        body->data[body->len] = '\0';
    }
    return false;
}

static void
find_peer(const struct worker *w, const struct cgi *cgi, char ret[NETADDR_TEXT])
{
    const char *remote = cgi_var(cgi, "REMOTE_ADDR");
    const char *forwarded = cgi_var(cgi, "HTTP_X_FORWARDED_FOR");
    const struct conf_list none = {0};
    const struct conf_list *trusted =
        w->site.cfg != NULL ? &w->site.cfg->trusted_proxy : &none;

    netaddr_client(remote, forwarded, trusted->item, trusted->n, ret);
    if (w->site.cfg != NULL && w->site.cfg->debug_request_headers)
        log_normal("%s, %" PRId64 " bytes of %s; from %s, forwarded for %s; "
                   "client %s; %s",
                   cgi_var(cgi, "REQUEST_METHOD"), cgi_content_length(cgi),
                   cgi_var(cgi, "CONTENT_TYPE"), remote, forwarded, ret,
                   cgi_var(cgi, "HTTP_USER_AGENT"));
}

/* More clients come than can be served: those that have waited too long are
 * sent away at once, whoever they are and whatever they bring, so that all
 * kinds of hosts have the same share.  Neither the database nor the request is
 * looked at, and nothing is acknowledged: the client brings it again.
 *
 * It is the wait that is limited, not the number of those who wait: that means
 * the same to volunteers whether a request takes a millisecond or, on a bad day
 * of the database, a minute. */
static bool
is_put_off(struct worker *w, const struct cgi *cgi)
{
    double limit = w->server.cfg->overload_wait;
    double waited = cgi_waited(cgi);
    uint32_t now;

    if (limit <= 0 || waited <= limit)
        return false;
    now = clock_monotonic();
    w->n_put_off++;
    if (w->put_off_told == 0 || now - w->put_off_told >= OVERLOAD_SILENCE) {
        log_warning("overload: %" PRIu64 " requests put off, this one after "
                    "%.1f s",
                    w->n_put_off, waited);
        w->n_put_off = 0;
        w->put_off_told = now;
    }
    return true;
}

static void
answer(struct worker *w, struct cgi *cgi, struct buf *out)
{
    char peer[NETADDR_TEXT];
    struct buf body = BUF_INIT;

    refresh(w);
    if (w->site.cfg != NULL)
        cgi_set_patience(cgi, w->site.cfg->body_timeout);
    find_peer(w, cgi, peer);
    if (w->server.cfg == NULL) {
        handle_maintenance(NULL, "The project's configuration cannot be read.",
                           out);
    } else if (is_put_off(w, cgi)) {
        handle_overload(w->server.cfg, out);
    } else if (strcmp(cgi_var(cgi, "REQUEST_METHOD"), "POST") != 0) {
        log_normal("%s from %s: probably a browser",
                   cgi_var(cgi, "REQUEST_METHOD"), peer);
        handle_refusal(w->server.cfg, BROWSER_DELAY,
                       "This address is for BOINC clients: they send requests "
                       "to it.",
                       out);
    } else if (!read_body(cgi, &body)) {
        log_warning("request of more than %d bytes from %s", REQUEST_MAX_BYTES,
                    peer);
        handle_refusal(w->server.cfg, TOO_LONG_DELAY,
                       "Your client's request is too long for this project.",
                       out);
    } else {
        handle_request(&w->server, peer, body.len > 0 ? body.data : "",
                       body.len, out);
    }
    cgi_drain(cgi);
    buf_free(&body);
}

static int
serve(struct worker *w)
{
    struct cgi *cgi = cgi_open();
    struct buf out = BUF_INIT;
    int rc;

    if (cgi == NULL)
        return EXIT_TEMPFAIL;
    cgi_let_in(cgi);
    while ((rc = cgi_next(cgi)) > 0) {
        buf_reset(&out);
        answer(w, cgi, &out);
        if (cgi_reply(cgi, 200, "text/xml", buf_str(&out), out.len) != 0)
            log_normal("the client did not wait for its reply");
    }
    buf_free(&out);
    cgi_close(cgi);
    return rc == 0 ? EXIT_OK : EXIT_TEMPFAIL;
}

static int
replay(struct worker *w, struct buf *out)
{
    struct buf body = BUF_INIT;
    int rc = EXIT_OK;

    if (file_read(w->opt.replay, REQUEST_MAX_BYTES, &body) != 0) {
        log_errno("%s", w->opt.replay);
        rc = EXIT_USAGE;
    } else if (w->opt.explain) {
        rc = (int)explain_request(&w->server, buf_str(&body), body.len,
                                  w->opt.workunit, true, out);
    } else {
        handle_request(&w->server, "", buf_str(&body), body.len, out);
    }
    buf_free(&body);
    return rc;
}

static int
explain(struct worker *w, struct buf *out)
{
    const struct options *opt = &w->opt;

    if (opt->host != 0)
        return (int)explain_host(&w->server, opt->host, opt->workunit, out);
    if (opt->workunit != 0)
        return (int)explain_workunit(&w->server, opt->workunit, opt->days, out);
    log_critical("--explain: which FILE, host or workunit? Try --help");
    return EXIT_USAGE;
}

static int
batch(struct worker *w)
{
    refresh(w);
    if (w->server.cfg == NULL)
        return EXIT_USAGE;
    w->server.any_seqno = true;
    return many_run(&w->server, stdin, stdout) == 0 ? EXIT_OK : EXIT_TEMPFAIL;
}

/* Called by hand: one answer on stdout. */
static int
answer_once(struct worker *w)
{
    struct buf out = BUF_INIT;
    int rc = EXIT_USAGE;

    refresh(w);
    if (w->server.cfg == NULL)
        return EXIT_USAGE;
    rc = w->opt.replay[0] != '\0' ? replay(w, &out) : explain(w, &out);
    fwrite(buf_str(&out), 1, out.len, stdout);
    if (fflush(stdout) != 0)
        rc = EXIT_TEMPFAIL;
    buf_free(&out);
    return rc;
}

int
main(int argc, char **argv)
{
    struct worker w = {0};
    bool by_hand;
    int rc;

    cmdline_parse(&cmdline, argc, argv, &w.opt);
    by_hand = w.opt.replay[0] != '\0' || w.opt.explain;
    if (w.opt.mark_jobs_done && !w.opt.batch && w.opt.replay[0] == '\0') {
        fputs("scheduler: --mark_jobs_done is for --batch or --replay; try "
              "--help\n",
              stderr);
        return EXIT_USAGE;
    }
    w.server.mark_jobs_done = w.opt.mark_jobs_done && !w.opt.explain;
    site_open(&w.site, "scheduler", by_hand || w.opt.batch || w.opt.debug_log);
    set_log_level(&w);
    rc = by_hand ? answer_once(&w) : w.opt.batch ? batch(&w) : serve(&w);
    handle_close(&w.server);
    site_close(&w.site);
    conf_free(option_rows, ARRAY_LEN(option_rows), &w.opt);
    return rc;
}
