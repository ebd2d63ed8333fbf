/* web.c - pages for volunteers and web RPCs for clients, as CGI or FastCGI.
 *
 * A page is an XML document made from one query function, rendered by a
 * stylesheet; with ?format=xml the document itself is the answer.  Web RPCs are
 * XML documents of the protocol.  They answer at BOINC's names, .php included,
 * because clients and links know them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgi.h"
#include "clock.h"
#include "cmdline.h"
#include "config.h"
#include "db.h"
#include "file.h"
#include "install.h"
#include "log.h"
#include "netaddr.h"
#include "pages.h"
#include "path.h"
#include "render.h"
#include "static_file.h"
#include "xml.h"

#define MAX_FORM 65536
#define DB_RETRY 5 /* s */

static const struct {
    const char *name;
    page_fn *fn;
    bool is_rpc; /* errors are <error>, not a page */
} routes[] = {
    {"",                       page_index,          false},
    {"index.php",              page_index,          false},
    {"get_project_config.php", page_project_config, true },
    {"lookup_account.php",     page_lookup_account, true },
    {"create_account.php",     page_create_account, true },
    {"server_status.php",      page_server_status,  false},
};

static const char security_headers[] =
    "Content-Security-Policy: default-src 'none'; style-src 'self'; img-src "
    "'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: same-origin\r\n";

static const struct cmdline cmdline = {
    .name = "web",
    .section = 8,
    .summary = "pages for volunteers and web RPCs, as CGI or FastCGI",
    .description =
        "Started by a web server.  QUORATE_PROJECT_DIR in the environment "
        "names the project.  A project may bring its own stylesheets in "
        "html/pages/ and files in html/static/; they win over the installed "
        "ones.",
};

/* ---- shared ---------------------------------------------------------------
 */

struct db *
web_db(struct web *w)
{
    if (w->db != NULL && !db_is_lost(w->db))
        return w->db;
    if (w->db_tried != 0 && clock_monotonic() - w->db_tried < DB_RETRY)
        return NULL;
    db_close(w->db);
    w->db = db_open(w->cfg, DB_ACCOUNT_WEB);
    w->db_tried = w->db == NULL ? clock_monotonic() : 0;
    return w->db;
}

bool
web_flag(const struct web *w, const char *name)
{
    struct buf path = BUF_INIT;
    bool yes;

    buf_addf(&path, "%s/%s", w->root, name);
    yes = file_exists(buf_str(&path));
    buf_free(&path);
    return yes;
}

/* Without a usable stylesheet clients must still find the scheduler: the master
 * page adds its lines itself (master.c). */
void
web_page(struct web *w, const char *stylesheet, const struct buf *xml,
         struct reply *reply)
{
    const struct render_param param[] = {
        {"project_name", w->cfg->long_name },
        {"master_url",   w->cfg->master_url},
    };

    reply->type = "text/html; charset=utf-8";
    if (render_page(w->render, stylesheet, buf_str(xml), xml->len, param,
                    ARRAY_LEN(param), &reply->body) == 0)
        return;
    buf_reset(&reply->body);
    reply->status = 500;
    reply->type = "text/html; charset=utf-8";
    buf_add(&reply->body,
            "<!DOCTYPE html>\n<html lang=\"en\"><head>\n<title>Error</title>\n"
            "</head><body>\n<p>This page cannot be shown.</p>\n"
            "</body></html>\n");
}

void
web_message(struct web *w, int status, const char *title, const char *text,
            struct reply *reply)
{
    struct buf xml = BUF_INIT;

    xml_open(&xml, "message");
    xml_put_str(&xml, "title", title);
    xml_put_str(&xml, "text", text);
    xml_close(&xml, "message");
    reply->status = status;
    web_page(w, "message.xsl", &xml, reply);
    buf_free(&xml);
}

void
rpc_fail(struct reply *reply, enum rpc_error error, const char *text)
{
    reply->type = "text/xml";
    buf_reset(&reply->body);
    buf_add(&reply->body, "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n");
    xml_open(&reply->body, "error");
    xml_put_i64(&reply->body, "error_num", error);
    xml_put_str(&reply->body, "error_msg", text);
    xml_close(&reply->body, "error");
}

bool
web_arg_true(const struct request *rq, const char *name)
{
    struct buf value = BUF_INIT;
    bool yes = cgi_arg(rq->query, name, &value) && value.len > 0 &&
               strcmp(buf_str(&value), "0") != 0;

    buf_free(&value);
    return yes;
}

/* ---- the request ----------------------------------------------------------
 */

/* Path of the URL: "http://host/a/b?c" -> "/a/b". */
static void
url_path(const char *url, struct buf *ret)
{
    const char *scheme = strstr(url, "://");
    size_t n = strcspn(url, "?#");

    if (scheme != NULL && scheme < url + n) {
        url = scheme + 3;
        url += strcspn(url, "/?#");
        n = strcspn(url, "?#");
    }
    buf_addn(ret, url, n);
}

/* What stands behind the master URL's path: "" for the master page itself. */
static void
page_name(const struct web *w, const struct cgi *cgi, struct buf *ret)
{
    struct buf path = BUF_INIT;
    struct buf master = BUF_INIT;
    const char *uri = cgi_var(cgi, "REQUEST_URI");
    const char *slash;

    if (uri[0] != '\0') {
        url_path(uri, &path);
    } else {
        buf_add(&path, cgi_var(cgi, "SCRIPT_NAME"));
        buf_add(&path, cgi_var(cgi, "PATH_INFO"));
    }
    url_path(w->cfg->master_url, &master);
    if (strncmp(buf_str(&path), buf_str(&master), master.len) == 0) {
        buf_add(ret, buf_str(&path) + master.len);
    } else if (path.len + 1 != master.len || /* "/name" for "/name/" */
               strncmp(buf_str(&path), buf_str(&master), path.len) != 0) {
        slash = strrchr(buf_str(&path), '/');
        buf_add(ret, slash != NULL ? slash + 1 : buf_str(&path));
    }
    buf_free(&path);
    buf_free(&master);
}

static bool
is_method(const struct cgi *cgi, const char *name)
{
    return strcmp(cgi_var(cgi, "REQUEST_METHOD"), name) == 0;
}

/* The arguments: of the URL, or of a posted form.  200, or the status with
 * which the request is refused. */
static int
read_query(struct cgi *cgi, struct buf *ret)
{
    int64_t length = cgi_content_length(cgi);
    char bytes[4096];
    ssize_t n;

    if (is_method(cgi, "") || is_method(cgi, "GET") || is_method(cgi, "HEAD")) {
        buf_add(ret, cgi_var(cgi, "QUERY_STRING"));
        return 200;
    }
    if (!is_method(cgi, "POST"))
        return 405;
    if (length < 0 || length > MAX_FORM) {
        cgi_drain(cgi);
        return length < 0 ? 411 : 413;
    }
    while ((n = cgi_read(cgi, bytes, sizeof(bytes))) > 0)
        buf_addn(ret, bytes, (size_t)n);
    return n == 0 ? 200 : 400;
}

/* Guesses are counted by address, so who it is must not be said by whoever
 * likes: only proxies that config.xml names are believed. */
static void
find_client(const struct web *w, const struct cgi *cgi, char ret[NETADDR_TEXT])
{
    const struct conf_list *trusted = &w->cfg->trusted_proxy;

    netaddr_client(cgi_var(cgi, "REMOTE_ADDR"),
                   cgi_var(cgi, "HTTP_X_FORWARDED_FOR"), trusted->item,
                   trusted->n, ret);
}

static void
answer(struct web *w, const struct request *rq, struct reply *reply)
{
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        if (strcmp(rq->page, routes[i].name) != 0)
            continue;
        /* the master page stays: clients look for the scheduler there */
        if (!web_flag(w, "stop_web") || routes[i].fn == page_index ||
            routes[i].fn == page_project_config)
            routes[i].fn(w, rq, reply);
        else if (routes[i].is_rpc)
            rpc_fail(reply, RPC_PROJECT_DOWN, "The project is down");
        else
            web_message(w, 503, "Closed",
                        "The project's web site is closed for maintenance.",
                        reply);
        return;
    }
    web_message(w, 404, "Not found", "There is no such page here.", reply);
}

/* config.xml may change while we run; a broken one is told and not used. */
static void
refresh_config(struct web *w)
{
    struct buf path = BUF_INIT;
    struct buf err = BUF_INIT;
    struct config *cfg;
    struct stat st;

    buf_addf(&path, "%s/config.xml", w->root);
    if (stat(buf_str(&path), &st) == 0 &&
        (st.st_mtim.tv_sec != w->config_mtime.tv_sec ||
         st.st_mtim.tv_nsec != w->config_mtime.tv_nsec)) {
        cfg = config_load(w->root, &err);
        if (cfg != NULL) {
            config_free(w->cfg);
            w->cfg = cfg;
        } else {
            log_critical("%s", buf_str(&err));
        }
        w->config_mtime = st.st_mtim;
    }
    buf_free(&path);
    buf_free(&err);
}

static void
handle(struct web *w, struct cgi *cgi)
{
    struct reply reply = {.status = 200, .type = "text/html; charset=utf-8"};
    struct buf page = BUF_INIT;
    struct buf query = BUF_INIT;
    struct buf headers = BUF_INIT;
    char client[NETADDR_TEXT];
    struct request rq;
    int status;

    refresh_config(w);
    cgi_set_patience(cgi, w->cfg->body_timeout);
    page_name(w, cgi, &page);
    status = read_query(cgi, &query);
    if (status != 200) {
        web_message(w, status, "Refused", "This request is not understood.",
                    &reply);
    } else if (strncmp(buf_str(&page), "static/", 7) == 0) {
        static_file(w, buf_str(&page) + 7, &reply);
    } else {
        find_client(w, cgi, client);
        rq = (struct request){.page = buf_str(&page),
                              .query = buf_str(&query),
                              .address = client};
        answer(w, &rq, &reply);
    }
    buf_addf(&headers, "%sCache-Control: %s\r\n", security_headers,
             reply.cacheable ? "max-age=3600" : "no-store");
    if (reply.status == 405)
        buf_add(&headers, "Allow: GET, HEAD, POST\r\n");
    cgi_reply_with(cgi, reply.status, reply.type, buf_str(&headers),
                   buf_str(&reply.body), reply.body.len);
    buf_free(&reply.body);
    buf_free(&headers);
    buf_free(&page);
    buf_free(&query);
}

/* ---- start and end --------------------------------------------------------
 */

static void
open_log(const struct config *cfg)
{
    struct buf path = BUF_INIT;

    buf_addf(&path, "%s/web.log", cfg->log_dir);
    log_to_file(buf_str(&path)); /* else stderr stays */
    buf_free(&path);
}

static char *
folder(const char *base, const char *name)
{
    struct buf path = BUF_INIT;

    buf_addf(&path, "%s/%s", base, name);
    return buf_take(&path);
}

/* 0; -1: no project that can be served (logged). */
static int
open_web(struct web *w)
{
    struct buf err = BUF_INIT;
    int rc = -1;

    w->root = path_project_root();
    if (w->root == NULL) {
        log_critical("no project: set QUORATE_PROJECT_DIR");
        return -1;
    }
    w->cfg = config_load(w->root, &err);
    if (w->cfg != NULL)
        open_log(w->cfg);
    if (w->cfg != NULL && install_find_data(w->datadir, &err) == 0) {
        struct buf path = BUF_INIT;
        struct stat st;

        buf_addf(&path, "%s/config.xml", w->root);
        if (stat(buf_str(&path), &st) == 0)
            w->config_mtime = st.st_mtim;
        buf_free(&path);
        w->project_pages = folder(w->root, "html/pages");
        w->installed_pages = folder(w->datadir, "html/pages");
        w->render = render_open(w->project_pages, w->installed_pages);
        rc = 0;
    } else {
        log_critical("%s", buf_str(&err));
    }
    buf_free(&err);
    return rc;
}

static void
close_web(struct web *w)
{
    render_close(w->render);
    db_close(w->db);
    config_free(w->cfg);
    free(w->platforms);
    free(w->project_pages);
    free(w->installed_pages);
    free(w->root);
}

/* A project that cannot be served: said in the answer, or the web server shows
 * something of its own. */
static void
refuse_all(struct cgi *cgi)
{
    static const char text[] = "The project is down.\n";

    while (cgi_next(cgi) > 0)
        cgi_reply_with(cgi, 503, "text/plain", security_headers, text,
                       sizeof(text) - 1);
}

int
main(int argc, char **argv)
{
    struct web w = {.root = NULL};
    struct cgi *cgi;
    int rc = EXIT_OK;

    /* a web server may hand a query string over as arguments (RFC 3875, 4.4):
     * they are not ours to obey */
    if (getenv("GATEWAY_INTERFACE") == NULL)
        cmdline_parse(&cmdline, argc, argv, &w);
    log_open("web", LOG_LEVEL_NORMAL, true);
    umask(002);
    cgi = cgi_open();
    if (cgi == NULL)
        return EXIT_TEMPFAIL;
    if (open_web(&w) == 0) {
        int got;

        while ((got = cgi_next(cgi)) > 0)
            handle(&w, cgi);
        rc = got < 0 ? EXIT_TEMPFAIL : EXIT_OK;
    } else {
        refuse_all(cgi);
        rc = EXIT_USAGE;
    }
    close_web(&w);
    cgi_close(cgi);
    return rc;
}
