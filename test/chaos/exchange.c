/* exchange.c - HTTP requests that can be torn off at any byte.
 *
 * HTTP/1.0, a connection for each: the reply ends where the server closes, and
 * is whole if that is where Content-Length says. */
#include "exchange.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 64, PIECE = 16384, MAX_REPLY = 16 << 20 };

static int epoll_fd = -1;
static int under_way;
static struct addrinfo *address;
static char server_name[256];

/* Those under way, for time limits. */
static struct exchange **all;
static size_t n_all;

double
time_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

bool
exchange_server(const char *url)
{
    const struct addrinfo hints = {.ai_family = AF_INET,
                                   .ai_socktype = SOCK_STREAM};
    char host[256];
    char *port;

    if (strncmp(url, "http://", 7) != 0 ||
        !str_copy(host, sizeof(host), url + 7))
        return false;
    host[strcspn(host, "/")] = '\0';
    str_copy(server_name, sizeof(server_name), host);
    port = strchr(host, ':');
    if (port != NULL)
        *port++ = '\0';
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    return epoll_fd >= 0 &&
           getaddrinfo(host, port != NULL ? port : "80", &hints, &address) == 0;
}

void
exchange_init(struct exchange *x)
{
    all = xrealloc(all, (n_all + 1) * sizeof(struct exchange *));
    all[n_all++] = x;
    x->fd = -1;
}

int
exchange_count(void)
{
    return under_way;
}

static void
end(struct exchange *x, enum exchange_end how)
{
    if (x->fd < 0)
        return;
    close(x->fd); /* leaves the epoll set by itself */
    x->fd = -1;
    under_way--;
    x->ended(x->ctx, how);
}

/* ---- the reply ---------------------------------------------------------- */

static long
header_number(const char *head, const char *name)
{
    const char *at = strcasestr(head, name);

    return at != NULL ? strtol(at + strlen(name), NULL, 10) : -1;
}

/* The server has closed: is it all there? */
static enum exchange_end
judge(struct exchange *x)
{
    char *end_of_head = strstr(buf_str(&x->in), "\r\n\r\n");
    long length;

    if (end_of_head == NULL || strncmp(x->in.data, "HTTP/1.", 7) != 0)
        return EXCHANGE_FAILED;
    *end_of_head = '\0';
    x->status = (int)strtol(x->in.data + 9, NULL, 10);
    x->body = end_of_head + 4;
    x->body_len = x->in.len - (size_t)(x->body - x->in.data);
    length = header_number(x->in.data, "\r\nContent-Length:");
    if (x->status != 200 || (length >= 0 && (size_t)length != x->body_len))
        return EXCHANGE_FAILED;
    return EXCHANGE_DONE;
}

static void
receive(struct exchange *x)
{
    for (;;) {
        ssize_t n =
            recv(x->fd, buf_reserve(&x->in, PIECE), PIECE, MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0 || x->in.len > MAX_REPLY) {
            end(x, EXCHANGE_FAILED);
            return;
        }
        if (n == 0) {
            end(x, judge(x));
            return;
        }
        x->in.len += (size_t)n;
        x->in.data[x->in.len] = '\0';
        if (x->drop_reply) {
            end(x, EXCHANGE_CUT);
            return;
        }
    }
}

/* ---- the request -------------------------------------------------------- */

static void
watch(struct exchange *x, int op, unsigned events)
{
    struct epoll_event e = {.events = events, .data.ptr = x};

    if (epoll_ctl(epoll_fd, op, x->fd, &e) != 0)
        abort();
}

static void
transmit(struct exchange *x)
{
    size_t until = x->out.len;

    if (x->cut_at > 0 && x->cut_at < until)
        until = x->cut_at;
    while (x->sent < until) {
        ssize_t n = send(x->fd, x->out.data + x->sent, until - x->sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) {
            /* it may have answered before it read all */
            x->sending = false;
            watch(x, EPOLL_CTL_MOD, EPOLLIN);
            return;
        }
        x->sent += (size_t)n;
    }
    if (until < x->out.len) {
        end(x, EXCHANGE_CUT);
        return;
    }
    x->sending = false;
    watch(x, EPOLL_CTL_MOD, EPOLLIN);
}

void
exchange_start(struct exchange *x, const char *path, const char *type,
               const struct buf *body, double seconds)
{
    if (strncmp(path, "http://", 7) == 0)
        path += 7 + strcspn(path + 7, "/");
    buf_reset(&x->out);
    buf_reset(&x->in);
    buf_addf(&x->out,
             "%s %s HTTP/1.0\r\nHost: %s\r\n"
             "User-Agent: BOINC client (x86_64-pc-linux-gnu 7.20.5)\r\n",
             body != NULL ? "POST" : "GET", path, server_name);
    if (body != NULL)
        buf_addf(&x->out, "Content-Type: %s\r\nContent-Length: %zu\r\n", type,
                 body->len);
    buf_add(&x->out, "\r\n");
    if (x->cut_at > 0)
        x->cut_at += x->out.len; /* it counts from the body's first byte */
    if (body != NULL)
        buf_addn(&x->out, body->data, body->len);
    x->sent = 0;
    x->sending = true;
    x->give_up = time_now() + seconds;
    x->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    under_way++;
    if (x->fd < 0)
        abort();
    if (connect(x->fd, address->ai_addr, address->ai_addrlen) != 0 &&
        errno != EINPROGRESS)
        x->give_up = 0; /* fails in the next round, not inside of this call */
    watch(x, EPOLL_CTL_ADD, EPOLLOUT);
}

static void
go_on(struct exchange *x, unsigned events)
{
    int error = 0;
    socklen_t size = sizeof(error);

    if (x->fd < 0)
        return;
    if (x->sending && (events & (EPOLLERR | EPOLLHUP)) != 0 &&
        getsockopt(x->fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 &&
        error != 0) {
        end(x, EXCHANGE_FAILED);
        return;
    }
    if (x->sending)
        transmit(x);
    else
        receive(x);
}

void
exchange_wait(double seconds)
{
    struct epoll_event e[EVENTS];
    int n = epoll_wait(epoll_fd, e, EVENTS, (int)(seconds * 1000));
    double now = time_now();

    for (int i = 0; i < n; i++)
        go_on(e[i].data.ptr, e[i].events);
    for (size_t i = 0; i < n_all; i++)
        if (all[i]->fd >= 0 && all[i]->give_up < now)
            end(all[i], EXCHANGE_FAILED);
}

void
exchange_free(struct exchange *x)
{
    buf_free(&x->in);
    buf_free(&x->out);
}
