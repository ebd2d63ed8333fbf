/* cgi.h - CGI or FastCGI behind two functions: next request, write reply.  The
 * only user of fcgiapp.h.
 *
 * Whether the process was started as FastCGI (listening socket on fd 0) is
 * found out here; a plain CGI program gets exactly one request. */
#ifndef QUORATE_CGI_H
#define QUORATE_CGI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cgi;

struct cgi *cgi_open(void);
void cgi_close(struct cgi *);
bool cgi_is_fastcgi(const struct cgi *);

/* Wait for the next request.  1 a request, 0 no more (CGI: after the first;
 * FastCGI: asked to stop by SIGTERM, SIGHUP or cgi_stop()), -1 failed (logged).
 * SIGUSR2 makes a FastCGI program open its log again here. */
int cgi_next(struct cgi *);
void cgi_stop(struct cgi *); /* no more but those that were let in */

/* From now on all clients that wait are let in between two requests, so that it
 * is known how long they have waited.  Once, before the first cgi_next(). */
void cgi_let_in(struct cgi *);

/* How long the client of this request has waited for its turn (s): at least, as
 * it is not known before it is let in.  0 without cgi_let_in(), and for CGI. */
double cgi_waited(const struct cgi *);

/* How long a worker waits for a body: a pause of so many seconds ends it, and
 * so does a body that is slower than CGI_SLOWEST after that time.  0: for ever,
 * as it is without this call. */
#define CGI_SLOWEST 1000 /* bytes/s */
void cgi_set_patience(struct cgi *, int64_t seconds);

/* A CGI variable ("REQUEST_METHOD"); "" if absent. */
const char *cgi_var(const struct cgi *, const char *name);

/* CONTENT_LENGTH, or -1 if absent or no number. */
int64_t cgi_content_length(const struct cgi *);

/* Read up to n bytes of the body: > 0 bytes, 0 end, -1 failed, which a body
 * that ends before CONTENT_LENGTH is, too (all that came has been read then),
 * and one that does not come (logged).  After -1 nothing more is read. */
ssize_t cgi_read(struct cgi *, void *bytes, size_t n);

/* Read and drop the rest of the body (constant memory). */
void cgi_drain(struct cgi *);

/* Send a whole reply.  status 200 needs no line.  Content-Length is sent; to
 * HEAD nothing but the header lines. 0, or -1 if the client did not take it
 * (not logged: it may go when it likes).
 */
int cgi_reply(struct cgi *, int status, const char *content_type,
              const void *bytes, size_t n);
/* The same with more header lines ("Name: value\r\n"…), or NULL. */
int cgi_reply_with(struct cgi *, int status, const char *content_type,
                   const char *headers, const void *bytes, size_t n);

/* Decode a query string argument ("a=1&b=%40") into a buffer.  False if it is
 * absent.  The value is repaired to UTF-8; NUL bytes are dropped. */
struct buf;
bool cgi_arg(const char *query, const char *name, struct buf *ret);

#endif
