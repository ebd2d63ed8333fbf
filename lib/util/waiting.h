/* waiting.h - clients that a busy worker has let in and not answered yet: how
 * many there are, and how long each has waited.
 *
 * A worker learns of a client when it accepts the connection; what waits in the
 * kernel's queue has no age.  So it accepts all that are there between two
 * requests, and notes when. */
#ifndef QUORATE_WAITING_H
#define QUORATE_WAITING_H

enum { WAITING_MAX = 256 };

struct waiting { /* first come, first served; {0} is empty */
    struct waiting_client {
        int fd;
        double since; /* s, monotonic */
    } client[WAITING_MAX];
    unsigned first, n;
};

/* Let in all that wait at the listening socket, which must not block, as far
 * as there is room. */
void waiting_let_in(struct waiting *, int listening_fd);

/* The connection that is next, and how long it has waited (s).  -1: none. */
int waiting_next(struct waiting *, double *ret_seconds);

/* Close all. */
void waiting_close(struct waiting *);

#endif
