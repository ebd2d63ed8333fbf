/* rpcload_base.c - memory, clocks, chance and text for rpcload. */
#include "rpcload.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void
die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fputs("rpcload: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(2);
}

void *
xrealloc(void *p, size_t n)
{
    p = realloc(p, n ? n : 1);
    if (!p)
        die("out of memory");
    return p;
}

double
now_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

double
wall_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static uint64_t rng_state = 0x9e3779b97f4a7c15ull;

void
rng_seed(uint64_t seed)
{
    rng_state ^= seed * 0x2545f4914f6cdd1dull;
}

uint64_t
rng(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state;
}

void
buf_need(struct buf *b, size_t more)
{
    if (b->n + more + 1 > b->cap) {
        b->cap = (b->n + more + 1) * 2;
        b->p = xrealloc(b->p, b->cap);
    }
}

void
buf_add(struct buf *b, const char *s, size_t n)
{
    buf_need(b, n);
    memcpy(b->p + b->n, s, n);
    b->n += n;
    b->p[b->n] = 0;
}

void
buf_puts(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    int n;

    buf_need(b, 512);
    va_start(ap, fmt);
    n = vsnprintf(b->p + b->n, b->cap - b->n, fmt, ap);
    va_end(ap);
    if (n < 0)
        die("vsnprintf");
    if ((size_t)n >= b->cap - b->n) {
        buf_need(b, (size_t)n + 1);
        va_start(ap, fmt);
        vsnprintf(b->p + b->n, b->cap - b->n, fmt, ap);
        va_end(ap);
    }
    b->n += (size_t)n;
}
