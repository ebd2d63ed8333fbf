/* exchange.h - HTTP requests that can be torn off at any byte; many at a time,
 * one thread. */
#ifndef QUORATE_EXCHANGE_H
#define QUORATE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

enum exchange_end {
    EXCHANGE_DONE,   /* a whole reply of status 200 */
    EXCHANGE_FAILED, /* no connection, torn off, time over, another status */
    EXCHANGE_CUT,    /* we have torn it off, as was wished */
};

struct exchange {
    int fd; /* -1: idle */
    bool sending;
    struct buf out;
    size_t sent;
    size_t cut_at;   /* close after so many bytes; 0 never */
    bool drop_reply; /* close as soon as a reply begins */
    struct buf in;
    const char *body; /* of the reply, NUL at its end */
    size_t body_len;
    int status;
    double give_up; /* time_now() */
    void (*ended)(void *ctx, enum exchange_end);
    void *ctx;
};

/* Seconds of a clock that nobody steps. */
double time_now(void);

/* The server, "http://HOST:PORT/…"; false: no such address. */
bool exchange_server(const char *url);

/* Send a request.  path: "/…", or a whole URL of the server.  `body` NULL: GET.
 * exchange_init() once before. */
void exchange_init(struct exchange *);
void exchange_start(struct exchange *, const char *path, const char *type,
                    const struct buf *body, double seconds);

/* Wait so long at most, and go on with all. */
void exchange_wait(double seconds);

/* How many are under way. */
int exchange_count(void);

void exchange_free(struct exchange *);

#endif
