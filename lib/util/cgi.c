/* cgi.c - CGI or FastCGI behind two functions.  The only user of fcgiapp.h.
 *
 * libfcgi takes a read() that a signal interrupts for a failed request.  So our
 * signals are blocked while there is a request, and let in only where a worker
 * waits for the next one: in ppoll(), which misses none.  The listening socket
 * does not block, because another worker may be first at accept().
 *
 * A program that wants to know how long its clients have waited lets all of
 * them in between two requests (waiting.h), and libfcgi finds the connection of
 * the next one there instead of accepting it itself.  That is for programs
 * whose requests are short, with a socket for each worker, as lighttpd and
 * mod_fcgid make them: where workers share one, an idle worker finds nothing of
 * what another has let in. */
#include "cgi.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "build-config.h"
#ifdef HAVE_FCGI
#include <fcgiapp.h>
#endif

#include "buf.h"
#include "clock.h"
#include "file.h"
#include "log.h"
#include "utf8.h"
#include "waiting.h"

struct cgi {
    bool fastcgi;
    bool served;      /* plain CGI: its one request was handed out */
    bool broken;      /* its body ended early, or was too slow */
    int64_t n_read;   /* bytes of the body */
    int64_t patience; /* s */
    double begun;     /* monotonic s, when its body was first waited for; 0 */
#ifdef HAVE_FCGI
    FCGX_Request request;
    sigset_t idle_mask; /* signals blocked while it waits */
    bool lets_in;       /* see cgi_let_in() */
    double waited;      /* s, the client of this request */
    struct waiting waiting;
#endif
};

static volatile sig_atomic_t stop;

#ifdef HAVE_FCGI
static volatile sig_atomic_t reopen;

static void
on_stop(int signal)
{
    (void)signal;
    stop = 1;
}

static void
on_reopen(int signal)
{
    (void)signal;
    reopen = 1;
}

static const struct {
    int signal;
    void (*handler)(int);
} signals[] = {
    {SIGTERM, on_stop  },
    {SIGHUP,  on_stop  },
    {SIGUSR2, on_reopen},
};

/* Catch them, and block them outside of wait_for_client(). */
static void
catch_signals(struct cgi *cgi)
{
    sigset_t ours;

    sigemptyset(&ours);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        struct sigaction action = {.sa_handler = signals[i].handler};

        sigemptyset(&action.sa_mask);
        (void)sigaction(signals[i].signal, &action, NULL);
        sigaddset(&ours, signals[i].signal);
    }
    (void)sigprocmask(SIG_BLOCK, &ours, &cgi->idle_mask);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigdelset(&cgi->idle_mask, signals[i].signal);
}

static void
open_fastcgi(struct cgi *cgi)
{
    int flags = fcntl(STDIN_FILENO, F_GETFL);

    if (FCGX_IsCGI())
        return;
    if (FCGX_Init() != 0 ||
        FCGX_InitRequest(&cgi->request, STDIN_FILENO,
                         FCGI_FAIL_ACCEPT_ON_INTR) != 0 ||
        fcntl(STDIN_FILENO, F_SETFL, flags | O_NONBLOCK) != 0) {
        log_critical("FastCGI cannot be started");
        return;
    }
    catch_signals(cgi);
    cgi->fastcgi = true;
}

/* Until there is a client, or a signal.  False if it was a signal.  Signals
 * that came during the last request are let in first: ppoll() would prefer a
 * client that is already there, and a busy worker would never stop. */
static bool
wait_for_client(struct cgi *cgi)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t busy_mask;

    (void)sigprocmask(SIG_SETMASK, &cgi->idle_mask, &busy_mask);
    (void)sigprocmask(SIG_SETMASK, &busy_mask, NULL);
    if (stop || reopen)
        return false;
    if (cgi->lets_in)
        waiting_let_in(&cgi->waiting, STDIN_FILENO);
    return cgi->waiting.n > 0 || ppoll(&in, 1, NULL, &cgi->idle_mask) >= 0;
}

/* The connection of the next request, from those that were let in, or whom
 * libfcgi lets in.  It takes a connection that is there for one to be kept from
 * the last request, if that is what the last one said. */
static int
accept_request(struct cgi *cgi)
{
    cgi->waited = 0;
    if (cgi->lets_in && cgi->request.ipcFd < 0) {
        cgi->request.ipcFd = waiting_next(&cgi->waiting, &cgi->waited);
        cgi->request.keepConnection = cgi->request.ipcFd >= 0;
    }
    return FCGX_Accept_r(&cgi->request);
}

/* Errors of accept() that are the peer's, or a signal's, not ours. */
static bool
may_try_again(int error)
{
    return error == EINTR || error == ECONNABORTED || error == EAGAIN ||
           error == EPROTO;
}

static int
next_fastcgi(struct cgi *cgi)
{
    int rc;

    FCGX_Finish_r(&cgi->request);
    /* who was let in is answered before the end */
    while (!stop || cgi->waiting.n > 0) {
        if (reopen)
            log_reopen();
        reopen = 0;
        if (!stop && !wait_for_client(cgi))
            continue;
        rc = accept_request(cgi);
        if (rc >= 0)
            return 1;
        if (!may_try_again(-rc)) {
            log_critical("FastCGI accept: %s", strerror(-rc));
            return -1;
        }
    }
    return 0;
}

/* What is there, waiting at most so many seconds (0: for ever; then
 * FCGX_GetError is EAGAIN).  Asked for more than a byte, libfcgi would wait for
 * all, and a body that comes byte by byte would keep us there.  Its own buffer
 * may hold bytes, so poll() does not tell. */
static ssize_t
read_fastcgi(struct cgi *cgi, char *bytes, size_t n, double seconds)
{
    FCGX_Stream *in = cgi->request.in;
    struct timeval wait = {.tv_sec = (time_t)seconds};
    int first;
    size_t more;

    /* not 0, which is for ever */
    wait.tv_usec = (suseconds_t)((seconds - (double)wait.tv_sec) * 999999) + 1;
    if (seconds > 0 && in->rdNext == in->stop)
        (void)setsockopt(cgi->request.ipcFd, SOL_SOCKET, SO_RCVTIMEO, &wait,
                         sizeof(wait));
    first = FCGX_GetChar(in);
    if (first < 0)
        return FCGX_GetError(in) != 0 ? -1 : 0;
    bytes[0] = (char)first;
    more = (size_t)(in->stop - in->rdNext);
    if (more > n - 1)
        more = n - 1;
    if (more > 0)
        (void)FCGX_GetStr(bytes + 1, (int)more, in);
    return (ssize_t)more + 1;
}

static int
write_fastcgi(struct cgi *cgi, const char *bytes, size_t n)
{
    while (n > 0) {
        int part = n < 1 << 20 ? (int)n : 1 << 20;

        if (FCGX_PutStr(bytes, part, cgi->request.out) != part)
            return -1;
        bytes += part;
        n -= (size_t)part;
    }
    return 0;
}
#endif

static ssize_t
read_plain(void *bytes, size_t n)
{
    ssize_t got;

    do
        got = read(STDIN_FILENO, bytes, n);
    while (got < 0 && errno == EINTR);
    return got;
}

void
cgi_set_patience(struct cgi *cgi, int64_t seconds)
{
    cgi->patience = seconds < 1000000 ? seconds : 1000000;
}

struct cgi *
cgi_open(void)
{
    struct cgi *cgi = xcalloc(1, sizeof(*cgi));

#ifdef HAVE_FCGI
    open_fastcgi(cgi);
    /* libfcgi has installed handlers of its own, also where it is not needed:
     * a web server must be able to end a CGI program whose client has gone */
    if (!cgi->fastcgi) {
        (void)signal(SIGTERM, SIG_DFL);
        (void)signal(SIGUSR1, SIG_DFL);
    }
#endif
    (void)signal(SIGPIPE, SIG_IGN); /* a client may go when it likes */
    return cgi;
}

void
cgi_close(struct cgi *cgi)
{
    if (cgi == NULL)
        return;
#ifdef HAVE_FCGI
    if (cgi->fastcgi) {
        FCGX_Free(&cgi->request, 1);
        waiting_close(&cgi->waiting);
    }
#endif
    free(cgi);
}

bool
cgi_is_fastcgi(const struct cgi *cgi)
{
    return cgi->fastcgi;
}

void
cgi_stop(struct cgi *cgi)
{
    (void)cgi;
    stop = 1;
}

/* libfcgi may be told to look at the peer's address when it accepts. */
void
cgi_let_in(struct cgi *cgi)
{
#ifdef HAVE_FCGI
    cgi->lets_in = cgi->fastcgi && getenv("FCGI_WEB_SERVER_ADDRS") == NULL;
#else
    (void)cgi;
#endif
}

double
cgi_waited(const struct cgi *cgi)
{
#ifdef HAVE_FCGI
    return cgi->waited;
#else
    (void)cgi;
    return 0;
#endif
}

int
cgi_next(struct cgi *cgi)
{
    cgi->n_read = 0;
    cgi->begun = 0;
    cgi->broken = false;
#ifdef HAVE_FCGI
    if (cgi->fastcgi)
        return next_fastcgi(cgi);
#endif
    if (cgi->served || stop)
        return 0;
    cgi->served = true;
    return 1;
}

const char *
cgi_var(const struct cgi *cgi, const char *name)
{
    const char *value;

#ifdef HAVE_FCGI
    if (cgi->fastcgi)
        value = FCGX_GetParam(name, cgi->request.envp);
    else
#endif
        value = getenv(name);
    (void)cgi;
    return value != NULL ? value : "";
}

int64_t
cgi_content_length(const struct cgi *cgi)
{
    const char *text = cgi_var(cgi, "CONTENT_LENGTH");
    size_t n = strlen(text);

    if (n == 0 || n > 18 || strspn(text, "0123456789") != n)
        return -1;
    return strtoll(text, NULL, 10);
}

/* Bytes of the body that may still come.  Without a length (somebody feeds us a
 * request by hand, or chunks) it is all there is. */
static int64_t
body_left(const struct cgi *cgi)
{
    int64_t length = cgi_content_length(cgi);
    const char *method = cgi_var(cgi, "REQUEST_METHOD");

    if (length >= 0)
        return length - cgi->n_read;
    if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0)
        return 0;
    return INT64_MAX;
}

/* ---- a body that does not come ------------------------------------------- */

/* Seconds until patience is over: with the pause, or with the whole body, which
 * may take as long as the slowest line needs for what has come. */
static double
patience_left(struct cgi *cgi)
{
    double now = clock_monotonic_fine(), whole;

    if (cgi->begun == 0)
        cgi->begun = now;
    whole = cgi->begun + (double)cgi->patience +
            (double)cgi->n_read / CGI_SLOWEST - now;
    return whole < (double)cgi->patience ? whole : (double)cgi->patience;
}

/* Until there is something to read, its end, too.  False: it does not come. */
static bool
wait_plain(double seconds)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    int rc;

    do
        rc = poll(&in, 1, (int)(seconds * 1000) + 1);
    while (rc < 0 && errno == EINTR);
    return rc != 0;
}

static void
log_impatience(const struct cgi *cgi)
{
    log_warning("a body does not come: %" PRId64 " of %" PRId64
                " bytes in %.0f s, from %s",
                cgi->n_read, cgi_content_length(cgi),
                clock_monotonic_fine() - cgi->begun,
                cgi_var(cgi, "REMOTE_ADDR"));
}

/* Read, but do not wait for ever. */
static ssize_t
read_in_time(struct cgi *cgi, void *bytes, size_t n)
{
    double left = cgi->patience > 0 ? patience_left(cgi) : 0;
    bool late = cgi->patience > 0 && left <= 0;
    ssize_t got = -1;

#ifdef HAVE_FCGI
    if (cgi->fastcgi && !late) {
        got = read_fastcgi(cgi, bytes, n, left);
        late = got < 0 && FCGX_GetError(cgi->request.in) == EAGAIN;
    }
#endif
    if (!cgi->fastcgi && !late) {
        late = cgi->patience > 0 && !wait_plain(left);
        got = late ? -1 : read_plain(bytes, n);
    }
    if (late)
        log_impatience(cgi);
    return got;
}

ssize_t
cgi_read(struct cgi *cgi, void *bytes, size_t n)
{
    int64_t left = body_left(cgi);
    ssize_t got;

    if (n > 1 << 20)
        n = 1 << 20;
    if ((int64_t)n > left)
        n = (size_t)left;
    if (n == 0)
        return 0;
    got = cgi->broken ? -1 : read_in_time(cgi, bytes, n);
    if (got > 0)
        cgi->n_read += got;
    if (got == 0 && left != INT64_MAX)
        got = -1;
    cgi->broken = got < 0;
    return got;
}

void
cgi_drain(struct cgi *cgi)
{
    char block[65536];

    while (cgi_read(cgi, block, sizeof(block)) > 0)
        continue;
}

static const char *
reason(int status)
{
    static const struct {
        int status;
        const char *text;
    } reasons[] = {
        {200, "OK"                   },
        {301, "Moved Permanently"    },
        {302, "Found"                },
        {303, "See Other"            },
        {304, "Not Modified"         },
        {400, "Bad Request"          },
        {403, "Forbidden"            },
        {404, "Not Found"            },
        {405, "Method Not Allowed"   },
        {411, "Length Required"      },
        {413, "Content Too Large"    },
        {500, "Internal Server Error"},
        {503, "Service Unavailable"  },
    };

    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].text;
    return "Other";
}

static int
send_bytes(struct cgi *cgi, const void *bytes, size_t n)
{
#ifdef HAVE_FCGI
    if (cgi->fastcgi)
        return write_fastcgi(cgi, bytes, n);
#endif
    (void)cgi;
    return file_write_all(STDOUT_FILENO, bytes, n);
}

int
cgi_reply_with(struct cgi *cgi, int status, const char *content_type,
               const char *headers, const void *bytes, size_t n)
{
    struct buf head = BUF_INIT;
    int rc;

    if (status != 200)
        buf_addf(&head, "Status: %d %s\r\n", status, reason(status));
    buf_addf(&head, "Content-Type: %s\r\nContent-Length: %zu\r\n%s\r\n",
             content_type, n, headers != NULL ? headers : "");
    rc = send_bytes(cgi, head.data, head.len);
    if (rc == 0 && strcmp(cgi_var(cgi, "REQUEST_METHOD"), "HEAD") != 0)
        rc = send_bytes(cgi, bytes, n);
#ifdef HAVE_FCGI
    if (rc == 0 && cgi->fastcgi && FCGX_FFlush(cgi->request.out) != 0)
        rc = -1;
#endif
    buf_free(&head);
    return rc;
}

int
cgi_reply(struct cgi *cgi, int status, const char *content_type,
          const void *bytes, size_t n)
{
    return cgi_reply_with(cgi, status, content_type, NULL, bytes, n);
}

/* ---- query strings ------------------------------------------------------- */

static int
hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* "%40" and "+" decoded; a "%" that begins no code stands for itself. */
static void
decode(const char *text, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        char c = text[i] == '+' ? ' ' : text[i];

        if (c == '%' && i + 2 < n && hex_value(text[i + 1]) >= 0 &&
            hex_value(text[i + 2]) >= 0) {
            c = (char)(hex_value(text[i + 1]) << 4 | hex_value(text[i + 2]));
            i += 2;
        }
        if (c != '\0')
            buf_addc(out, c);
    }
}

static bool
is_named(const char *pair, size_t n, const char *name)
{
    struct buf decoded = BUF_INIT;
    bool same;

    decode(pair, n, &decoded);
    same = strcmp(buf_str(&decoded), name) == 0;
    buf_free(&decoded);
    return same;
}

bool
cgi_arg(const char *query, const char *name, struct buf *ret)
{
    while (*query != '\0') {
        size_t n = strcspn(query, "&");
        size_t key = strcspn(query, "=&");

        if (is_named(query, key, name)) {
            struct buf raw = BUF_INIT;

            if (key < n)
                decode(query + key + 1, n - key - 1, &raw);
            utf8_repair(buf_str(&raw), raw.len, ret);
            buf_free(&raw);
            return true;
        }
        query += n + (query[n] == '&');
    }
    return false;
}
