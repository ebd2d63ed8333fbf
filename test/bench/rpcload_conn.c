/* rpcload_conn.c - connections of rpcload: HTTP, uploads. */
#include "rpcload.h"

#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

int ep;
struct addrinfo *addr;
char *payload;
char payload_md5[33] = "";
unsigned long started, finished;
static long upload_no;
int stopping;

static void
set_ev(struct conn *c, uint32_t ev)
{
    struct epoll_event e = {.events = ev, .data.ptr = c};

    if (c->ev == ev)
        return;
    if (epoll_ctl(ep, c->ev ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, c->fd, &e))
        die("epoll_ctl: %s", strerror(errno));
    c->ev = ev;
}

static void
conn_close(struct conn *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    c->ev = 0;
}

static int
conn_open(struct conn *c)
{
    int one = 1;

    c->fd =
        socket(addr->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        die("socket: %s", strerror(errno));
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c->ev = 0;
    c->reused = 0;
    if (connect(c->fd, addr->ai_addr, addr->ai_addrlen) && errno != EINPROGRESS)
        return -1;
    c->state = C_CONNECTING;
    set_ev(c, EPOLLOUT);
    return 0;
}

static void conn_done(struct conn *c, int ok);

static void
conn_send_request(struct conn *c)
{
    c->off = 0;
    c->in.n = 0;
    c->hdr_end = 0;
    c->clen = -1;
    c->status = 0;
    c->close_after = !o.keepalive;
    if (c->fd >= 0) {
        c->reused = 1;
        c->state = C_SEND;
        set_ev(c, EPOLLOUT);
    } else if (conn_open(c)) {
        note_fail("connect refused");
        conn_close(c);
        conn_done(c, 0);
    }
}

/* put an HTTP header before the body that lies in body */
static void
frame(struct conn *c, const struct buf *body, size_t extra, const char *ctype)
{
    c->out.n = 0;
    buf_printf(&c->out,
               "POST %s HTTP/1.1\r\n"
               "Host: %s:%s\r\n"
               "User-Agent: BOINC client (%s %d.%d.%d)\r\n"
               "Accept: */*\r\n"
               "Accept-Language: en_US\r\n"
               "Content-Type: %s\r\n"
               "Content-Length: %zu\r\n"
               "%s\r\n",
               o.path, o.host, o.port, o.platform, o.vmajor, o.vminor,
               o.vrelease, ctype, body->n + extra,
               o.keepalive ? "" : "Connection: close\r\n");
    buf_add(&c->out, body->p, body->n);
}

/* names and certificates, as the program "certificates" prints them */
static struct cert {
    char *name, *sig;
} * certs;
static long ncerts;

void
load_certs(void)
{
    FILE *f = fopen(o.certs, "r");
    char line[512];
    struct buf sig = {0};
    long cap = 0;

    if (!f)
        die("%s: %s", o.certs, strerror(errno));
    while (fgets(line, sizeof line, f)) {
        if (ncerts == cap) {
            cap = cap ? cap * 2 : 4096;
            certs = xrealloc(certs, (size_t)cap * sizeof *certs);
        }
        line[strcspn(line, "\n")] = 0;
        certs[ncerts].name = strdup(line);
        sig.n = 0;
        while (fgets(line, sizeof line, f)) {
            buf_puts(&sig, line);
            if (line[0] == '.')
                break;
        }
        certs[ncerts].sig = strdup(sig.p ? sig.p : "");
        if (!certs[ncerts].name || !certs[ncerts].sig)
            die("out of memory");
        ncerts++;
    }
    fclose(f);
    free(sig.p);
}

static void
upload_name(struct conn *c)
{
    if (certs) {
        snprintf(c->fname, sizeof c->fname, "%s", certs[upload_no].name);
        c->cert = certs[upload_no].sig;
    } else {
        snprintf(c->fname, sizeof c->fname, "upl_%d_%ld_0_0", (int)getpid(),
                 upload_no);
        c->cert = "";
    }
    upload_no++;
}

static void
upload_prepare(struct conn *c)
{
    static struct buf body;

    body.n = 0;
    c->payload = 0;
    buf_printf(&body,
               "<data_server_request>\n"
               "    <core_client_major_version>%d</core_client_major_version>\n"
               "    <core_client_minor_version>%d</core_client_minor_version>\n"
               "    <core_client_release>%d</core_client_release>\n",
               o.vmajor, o.vminor, o.vrelease);
    if (c->phase == 0) {
        buf_printf(&body,
                   "    <get_file_size>%s</get_file_size>\n"
                   "</data_server_request>\n",
                   c->fname);
    } else {
        buf_printf(&body,
                   "<file_upload>\n<file_info>\n<name>%s</name>\n"
                   "<xml_signature>\n%s</xml_signature>\n"
                   "<max_nbytes>%ld</max_nbytes>\n</file_info>\n"
                   "<nbytes>%ld</nbytes>\n<md5_cksum>%s</md5_cksum>\n"
                   "<offset>0</offset>\n<data>\n",
                   c->fname, c->cert, o.bytes * 2, o.bytes, payload_md5);
        c->payload = (size_t)o.bytes;
    }
    frame(c, &body, c->payload, "text/xml");
}

double next_slot;

int
may_start(void)
{
    if (stopping)
        return 0;
    if (o.count && (long)started >= o.count)
        return 0;
    if (certs && upload_no >= ncerts)
        return 0;
    return 1;
}

void
conn_start(struct conn *c)
{
    static struct buf body;

    c->state = C_IDLE;
    if (!may_start() || (!o.upload && !ring_n))
        return;
    if (o.rate > 0) {
        double t = now_s();

        if (next_slot > t)
            return; /* the main loop tries again */
        if (next_slot < t - 1)
            next_slot = t - 1;
        next_slot += 1 / o.rate;
    }
    started++;
    c->t0 = now_s();
    if (o.upload) {
        upload_name(c);
        c->phase = o.query_size ? 0 : 1;
        upload_prepare(c);
    } else {
        c->h = &hosts[ring_get()];
        body.n = 0;
        build_rpc(c->h, &body, &c->nrep);
        c->payload = 0;
        frame(c, &body, 0, "application/x-www-form-urlencoded");
    }
    conn_send_request(c);
}

static void
conn_done(struct conn *c, int ok)
{
    if (c->fd >= 0 && (!ok || c->close_after))
        conn_close(c);
    if (ok && o.upload && c->phase == 0) {
        c->phase = 1;
        upload_prepare(c);
        conn_send_request(c);
        return;
    }
    if (ok) {
        finished++;
        if (counting)
            st.rpcs++;
        note_lat(now_s() - c->t0);
    }
    if (!o.upload)
        ring_put(c->h->idx);
    conn_start(c);
}

/* a connection that failed: before the first byte on a reused connection it
 * may simply have been closed under us, so that is tried once more */
void
conn_fail(struct conn *c, const char *why)
{
    conn_close(c);
    if (c->reused && !c->in.n) {
        c->reused = 0;
        if (counting)
            st.retries++;
        conn_send_request(c);
        return;
    }
    note_fail(why);
    conn_done(c, 0);
}

static const char *
find_hdr(const char *h, const char *end, const char *name)
{
    size_t n = strlen(name);

    while (h < end) {
        const char *e = memchr(h, '\n', (size_t)(end - h));

        if (!e)
            break;
        if ((size_t)(e - h) > n && !strncasecmp(h, name, n) && h[n] == ':') {
            h += n + 1;
            while (*h == ' ')
                h++;
            return h;
        }
        h = e + 1;
    }
    return NULL;
}

/* is the body complete?  Chunked bodies are joined in place. */
static int
body_complete(struct conn *c, int eof)
{
    char *b = c->in.p + c->hdr_end;
    size_t n = c->in.n - c->hdr_end;

    if (c->clen >= 0)
        return n >= (size_t)c->clen;
    if (c->clen == -1)
        return eof;
    char *p = b, *end = b + n;
    for (;;) {
        char *e = memchr(p, '\n', (size_t)(end - p));
        size_t len;

        if (!e)
            return 0;
        len = strtoul(p, NULL, 16);
        if ((size_t)(end - e - 1) < len + 2)
            return 0;
        p = e + 1 + len + 2;
        if (!len)
            break;
    }
    char *w = b;
    for (p = b;;) {
        char *e = memchr(p, '\n', (size_t)(end - p));
        size_t len = strtoul(p, NULL, 16);

        if (!len)
            break;
        memmove(w, e + 1, len);
        w += len;
        p = e + 1 + len + 2;
    }
    c->in.n = (size_t)(w - c->in.p);
    *w = 0;
    return 1;
}

static void
got_reply(struct conn *c)
{
    char why[48];
    const char *b = c->in.p + c->hdr_end;
    size_t n = c->in.n - c->hdr_end;

    if (c->status != 200) {
        snprintf(why, sizeof why, "HTTP status %d", c->status);
        note_fail(why);
        if (o.verbose)
            fprintf(stderr, "%.*s\n", (int)n, b);
        conn_close(c);
        conn_done(c, 0);
        return;
    }
    if (o.verbose > 1)
        fprintf(stderr, "---- reply\n%.*s\n", (int)n, b);
    if (o.upload) {
        if (!strstr(b, "<status>0</status>") && counting) {
            st.bad_reply++;
            note_msg(b, n);
        }
    } else {
        scan_reply(c->h, b, n, c->nrep);
    }
    conn_done(c, 1);
}

static void
conn_read(struct conn *c)
{
    for (;;) {
        ssize_t r;
        int eof = 0;

        buf_need(&c->in, 16384);
        r = recv(c->fd, c->in.p + c->in.n, c->in.cap - c->in.n - 1, 0);
        if (r < 0) {
            if (errno == EAGAIN)
                return;
            conn_fail(c, strerror(errno));
            return;
        }
        if (r == 0)
            eof = 1;
        c->in.n += (size_t)r;
        c->in.p[c->in.n] = 0;
        if (counting)
            st.in += (unsigned long long)r;
        if (!c->hdr_end && c->in.n) {
            char *e = strstr(c->in.p, "\r\n\r\n");

            if (e) {
                const char *v, *he = e + 2;

                c->hdr_end = (size_t)(e + 4 - c->in.p);
                c->status = atoi(c->in.p + 9);
                v = find_hdr(c->in.p, he, "Content-Length");
                if (v)
                    c->clen = atol(v);
                v = find_hdr(c->in.p, he, "Transfer-Encoding");
                if (v && !strncasecmp(v, "chunked", 7))
                    c->clen = -2;
                v = find_hdr(c->in.p, he, "Connection");
                if (v && !strncasecmp(v, "close", 5))
                    c->close_after = 1;
                if (c->clen == -1)
                    c->close_after = 1;
            }
        }
        if (c->hdr_end && body_complete(c, eof)) {
            got_reply(c);
            return;
        }
        if (eof) {
            conn_fail(c, c->in.n ? "connection closed in reply"
                                 : "connection closed before reply");
            return;
        }
    }
}

static void
conn_write(struct conn *c)
{
    size_t total = c->out.n + c->payload;

    while (c->off < total) {
        ssize_t r;

        if (c->off < c->out.n)
            r = send(c->fd, c->out.p + c->off, c->out.n - c->off,
                     MSG_NOSIGNAL | (c->payload ? MSG_MORE : 0));
        else
            r = send(c->fd, payload + (c->off - c->out.n), total - c->off,
                     MSG_NOSIGNAL);
        if (r < 0) {
            if (errno == EAGAIN) {
                set_ev(c, EPOLLOUT);
                return;
            }
            conn_fail(c, strerror(errno));
            return;
        }
        c->off += (size_t)r;
        if (counting)
            st.out += (unsigned long long)r;
    }
    c->state = C_RECV;
    set_ev(c, EPOLLIN);
}

void
conn_event(struct conn *c)
{
    if (c->state == C_CONNECTING) {
        int err = 0;
        socklen_t l = sizeof err;

        getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &l);
        if (err) {
            conn_fail(c, strerror(err));
            return;
        }
        c->state = C_SEND;
    }
    if (c->state == C_SEND)
        conn_write(c);
    else if (c->state == C_RECV)
        conn_read(c);
    else if (c->state == C_IDLE && c->fd >= 0)
        conn_close(c); /* server closed an idle connection */
}
