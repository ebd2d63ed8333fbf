/* cgi.c - CGI or FastCGI behind two functions.  The only user of fcgiapp.h.
 *
 * libfcgi takes a read() that a signal interrupts for a failed request.  So our
 * signals are blocked while there is a request, and let in only where a worker
 * waits for the next one: in ppoll(), which misses none.  The listening socket
 * does not block, because another worker may be first at accept(). */
#include "cgi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build-config.h"
#ifdef HAVE_FCGI
#include <fcgiapp.h>
#endif

#include "buf.h"
#include "file.h"
#include "log.h"
#include "utf8.h"

struct cgi {
    bool fastcgi;
    bool served;    /* plain CGI: its one request was handed out */
    int64_t n_read; /* bytes of the body */
#ifdef HAVE_FCGI
    FCGX_Request request;
    sigset_t idle_mask; /* signals blocked while it waits */
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
wait_for_client(const struct cgi *cgi)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t busy_mask;

    (void)sigprocmask(SIG_SETMASK, &cgi->idle_mask, &busy_mask);
    (void)sigprocmask(SIG_SETMASK, &busy_mask, NULL);
    if (stop || reopen)
        return false;
    return ppoll(&in, 1, NULL, &cgi->idle_mask) >= 0;
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
    while (!stop) {
        if (reopen)
            log_reopen();
        reopen = 0;
        if (!wait_for_client(cgi))
            continue;
        rc = FCGX_Accept_r(&cgi->request);
        if (rc >= 0)
            return 1;
        if (!may_try_again(-rc)) {
            log_critical("FastCGI accept: %s", strerror(-rc));
            return -1;
        }
    }
    return 0;
}

static ssize_t
read_fastcgi(struct cgi *cgi, void *bytes, size_t n)
{
    int got = FCGX_GetStr(bytes, (int)n, cgi->request.in);

    return got == 0 && FCGX_GetError(cgi->request.in) != 0 ? -1 : got;
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

struct cgi *
cgi_open(void)
{
    struct cgi *cgi = xcalloc(1, sizeof(*cgi));

#ifdef HAVE_FCGI
    open_fastcgi(cgi); /* installs a SIGPIPE handler of its own */
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
    if (cgi->fastcgi)
        FCGX_Free(&cgi->request, 1);
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

int
cgi_next(struct cgi *cgi)
{
    cgi->n_read = 0;
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
#ifdef HAVE_FCGI
    if (cgi->fastcgi)
        got = read_fastcgi(cgi, bytes, n);
    else
#endif
        got = read_plain(bytes, n);
    if (got > 0)
        cgi->n_read += got;
    if (got == 0 && left != INT64_MAX)
        return -1;
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
    if (rc == 0)
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
