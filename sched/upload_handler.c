/* upload_handler.c - take the files that clients upload: for each request,
 * receive, drain, answer.
 *
 * One binary for CGI and FastCGI.  The body is read to its end before the reply
 * is written, whatever the reply is: a client that is answered earlier reports
 * a transfer error. */
#include <string.h>

#include "buf.h"
#include "cgi.h"
#include "cmdline.h"
#include "config.h"
#include "log.h"
#include "receive.h"
#include "site.h"
#include "upload.h"

struct options {
    int64_t debug_level;
    char *variety;
};

#define CONF_STRUCT struct options
static const struct conf_option option_rows[] = {
    {"d|debug_level", CONF_INT, offsetof(struct options, debug_level), "0", 0,
     4, 0, "", "log level 1 to 4; 0: fuh_debug_level of config.xml"},
    OPTION(variety, CONF_STRING, NULL, 0, 0, 0, "NAME",
           "part of the log's name: file_upload_handler_NAME.log"),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "file_upload_handler",
    .section = 8,
    .summary = "take the files that BOINC clients upload",
    .description =
        "Run by the web server as a CGI or FastCGI program. Finds its project "
        "by QUORATE_PROJECT_DIR, the current folder, or the folder above its "
        "own, and writes its log to log_HOST/file_upload_handler.log there.",
    .options = option_rows,
    .n_options = ARRAY_LEN(option_rows),
};

struct worker {
    struct site site;
    struct receiver receiver;
    struct options opt;
};

static void
refresh(struct worker *w)
{
    int64_t level = w->opt.debug_level;

    if (site_refresh(&w->site))
        receive_close(&w->receiver);
    w->receiver.cfg = w->site.cfg;
    if (level == 0 && w->site.cfg != NULL)
        level = w->site.cfg->fuh_debug_level;
    if (level >= LOG_LEVEL_CRITICAL && level <= LOG_LEVEL_DEBUG)
        log_set_level((enum log_level)level);
}

static void
answer(struct worker *w, struct cgi *cgi, struct buf *out)
{
    refresh(w);
    if (w->receiver.cfg != NULL)
        cgi_set_patience(cgi, w->receiver.cfg->body_timeout);
    if (w->receiver.cfg == NULL)
        upload_reply(UPLOAD_TRANSIENT,
                     "The project's configuration cannot be read", out);
    else if (strcmp(cgi_var(cgi, "REQUEST_METHOD"), "POST") != 0)
        upload_reply(UPLOAD_TRANSIENT, "This address is for BOINC clients",
                     out);
    else
        receive_request(&w->receiver, cgi, out);
    cgi_drain(cgi);
}

static int
serve(struct worker *w)
{
    struct cgi *cgi = cgi_open();
    struct buf out = BUF_INIT;
    int rc;

    if (cgi == NULL)
        return EXIT_TEMPFAIL;
    while ((rc = cgi_next(cgi)) > 0) {
        buf_reset(&out);
        answer(w, cgi, &out);
        if (cgi_reply(cgi, 200, "text/plain", buf_str(&out), out.len) != 0)
            log_normal("the client did not wait for its reply");
    }
    buf_free(&out);
    cgi_close(cgi);
    return rc == 0 ? EXIT_OK : EXIT_TEMPFAIL;
}

int
main(int argc, char **argv)
{
    struct buf name = BUF_INIT;
    struct worker w = {0};
    int rc;

    cmdline_parse(&cmdline, argc, argv, &w.opt);
    buf_add(&name, "file_upload_handler");
    if (w.opt.variety[0] != '\0')
        buf_addf(&name, "_%s", w.opt.variety);
    site_open(&w.site, buf_str(&name), false);
    rc = serve(&w);
    receive_close(&w.receiver);
    site_close(&w.site);
    conf_free(option_rows, ARRAY_LEN(option_rows), &w.opt);
    buf_free(&name);
    return rc;
}
