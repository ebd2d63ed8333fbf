/* master.c - the master page: what a volunteer sees first, and where a client
 * finds the scheduler (protocol §1.1). */
#include <string.h>

#include "cgi.h"
#include "config.h"
#include "file.h"
#include "pages.h"
#include "xml.h"

#define MAX_SCHEDULERS 8
#define MAX_SCHEDULERS_FILE 65536

struct schedulers {
    char url[MAX_SCHEDULERS][256]; /* what a client can hold */
    size_t n;
};

/* html/user/schedulers.txt: <scheduler>URL</scheduler>, any number of them.
 * Whatever lies around them is ignored, as clients do. */
static void
read_file(const struct web *w, struct schedulers *s)
{
    static const char open[] = "<scheduler>", close[] = "</scheduler>";
    struct buf path = BUF_INIT;
    struct buf text = BUF_INIT;
    const char *p;

    buf_addf(&path, "%s/html/user/schedulers.txt", w->root);
    if (file_read(buf_str(&path), MAX_SCHEDULERS_FILE, &text) != 0)
        buf_reset(&text);
    p = buf_str(&text);
    while (s->n < MAX_SCHEDULERS && (p = strstr(p, open)) != NULL) {
        const char *end = strstr(p, close);
        size_t n;

        p += sizeof(open) - 1;
        if (end == NULL)
            break;
        n = (size_t)(end - p);
        if (n > 0 && n < sizeof(s->url[0]) && strcspn(p, " \t\r\n\"<>&") >= n) {
            memcpy(s->url[s->n], p, n);
            s->url[s->n++][n] = '\0';
        }
        p = end;
    }
    buf_free(&path);
    buf_free(&text);
}

/* Without the file: beside the upload handler. */
static void
derive(const struct web *w, struct schedulers *s)
{
    const char *url = w->cfg->upload_url;
    const char *slash = strrchr(url, '/');
    struct buf text = BUF_INIT;

    if (slash == NULL)
        return;
    buf_addn(&text, url, (size_t)(slash - url));
    buf_add(&text, "/cgi");
    if (str_copy(s->url[0], sizeof(s->url[0]), buf_str(&text)))
        s->n = 1;
    buf_free(&text);
}

static void
make_document(struct web *w, const struct schedulers *s, struct buf *xml)
{
    bool closed = w->cfg->disable_account_creation || web_flag(w, "stop_web");

    xml_open(xml, "index");
    for (size_t i = 0; i < s->n; i++)
        xml_put_str(xml, "scheduler", s->url[i]);
    xml_put_i64(xml, "accounts_closed", closed ? 1 : 0);
    xml_put_i64(xml, "stopped", web_flag(w, "stop_sched") ? 1 : 0);
    buf_add(xml, web_platforms(w));
    xml_close(xml, "index");
}

/* The line that clients look for, at the start of a line, attributes in this
 * order.  A stylesheet writes it; if one does not (a project's own), we do:
 * without it no client could attach. */
static void
ensure_lines(const struct schedulers *s, struct buf *page)
{
    struct buf line = BUF_INIT;

    for (size_t i = 0; i < s->n; i++) {
        buf_reset(&line);
        buf_addf(&line, "\n<link rel=\"boinc_scheduler\" href=\"%s\">",
                 s->url[i]);
        if (strstr(buf_str(page), buf_str(&line)) == NULL)
            buf_addf(page, "\n<!--%s\n-->\n", buf_str(&line));
        buf_reset(&line);
        buf_addf(&line, "<scheduler>%s</scheduler>", s->url[i]);
        if (strstr(buf_str(page), buf_str(&line)) == NULL)
            buf_addf(page, "\n<!--\n%s\n-->\n", buf_str(&line));
    }
    buf_free(&line);
}

void
page_index(struct web *w, const struct request *rq, struct reply *reply)
{
    struct schedulers s = {.n = 0};
    struct buf format = BUF_INIT;
    struct buf xml = BUF_INIT;

    read_file(w, &s);
    if (s.n == 0)
        derive(w, &s);
    make_document(w, &s, &xml);
    if (cgi_arg(rq->query, "format", &format) &&
        strcmp(buf_str(&format), "xml") == 0) {
        reply->type = "text/xml; charset=utf-8";
        buf_add(&reply->body, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        buf_addn(&reply->body, buf_str(&xml), xml.len);
    } else {
        web_page(w, "index.xsl", &xml, reply);
        reply->status = 200; /* also if the stylesheet is broken */
        ensure_lines(&s, &reply->body);
    }
    buf_free(&format);
    buf_free(&xml);
}
