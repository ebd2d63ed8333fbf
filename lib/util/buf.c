/* buf.c - growing byte buffer, and allocation that cannot fail. */
#include "buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "utf8.h"

/* abort(), not exit(): whoever watches sees that it was no decision of ours. */
static _Noreturn void
out_of_memory(size_t n)
{
    log_critical("out of memory: %zu bytes wanted", n);
    abort();
}

void *
xmalloc(size_t n)
{
    void *p = malloc(n > 0 ? n : 1);

    if (p == NULL)
        out_of_memory(n);
    return p;
}

void *
xcalloc(size_t n, size_t size)
{
    void *p = calloc(n > 0 ? n : 1, size > 0 ? size : 1);

    if (p == NULL)
        out_of_memory(n);
    return p;
}

void *
xrealloc(void *p, size_t n)
{
    void *q = realloc(p, n > 0 ? n : 1);

    if (q == NULL)
        out_of_memory(n);
    return q;
}

char *
xstrdup(const char *text)
{
    return xstrndup(text, strlen(text));
}

char *
xstrndup(const char *text, size_t n)
{
    size_t len = strnlen(text, n);
    char *copy = xmalloc(len + 1);

    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *
buf_reserve(struct buf *b, size_t n)
{
    if (n >= SIZE_MAX / 2 || b->len >= SIZE_MAX / 2)
        out_of_memory(n);
    if (b->data == NULL || b->cap - b->len <= n) {
        size_t cap = b->cap > 0 ? b->cap : 32;

        while (cap - b->len <= n) /* room for the NUL as well */
            cap *= 2;
        b->data = xrealloc(b->data, cap);
        b->cap = cap;
        b->data[b->len] = '\0';
    }
    return b->data + b->len;
}

void
buf_addn(struct buf *b, const void *bytes, size_t n)
{
    char *to = buf_reserve(b, n);

    if (n > 0)
        memcpy(to, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void
buf_add(struct buf *b, const char *text)
{
    buf_addn(b, text, strlen(text));
}

void
buf_addc(struct buf *b, char c)
{
    if (b->data == NULL || b->cap - b->len < 2)
        buf_reserve(b, 1);
    b->data[b->len++] = c;
    b->data[b->len] = '\0';
}

/* Mostly what there is has room for it; then it is printed only once. */
void
buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
    size_t room = b->data != NULL ? b->cap - b->len : 0;
    va_list again;
    int n;

    assert(fmt != NULL);
    va_copy(again, ap);
    n = vsnprintf(room > 0 ? b->data + b->len : NULL, room, fmt, ap);
    assert(n >= 0);
    if ((size_t)n >= room) {
        buf_reserve(b, (size_t)n);
        (void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
    }
    b->len += (size_t)n;
    va_end(again);
}

void
buf_addf(struct buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(b, fmt, ap);
    va_end(ap);
}

void
buf_truncate(struct buf *b, size_t n)
{
    assert(n <= b->len);
    b->len = n;
    if (b->data != NULL)
        b->data[n] = '\0';
}

void
buf_reset(struct buf *b)
{
    buf_truncate(b, 0);
}

void
buf_free(struct buf *b)
{
    free(b->data);
    *b = (struct buf)BUF_INIT;
}

const char *
buf_str(const struct buf *b)
{
    return b->data != NULL ? b->data : "";
}

char *
buf_take(struct buf *b)
{
    char *text = b->data != NULL ? b->data : xstrdup("");

    *b = (struct buf)BUF_INIT;
    return text;
}

bool
str_copy(char *to, size_t size, const char *from)
{
    size_t len = strlen(from);
    bool fits = len < size;

    assert(size > 0);
    if (!fits)
        len = utf8_cut(from, size - 1);
    memcpy(to, from, len);
    to[len] = '\0';
    return fits;
}
