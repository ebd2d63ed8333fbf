/* waiting.c - clients that a busy worker has let in and not answered yet. */
#include "waiting.h"

#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"

void
waiting_let_in(struct waiting *w, int listening_fd)
{
    double now = w->n < WAITING_MAX ? clock_monotonic_fine() : 0;

    while (w->n < WAITING_MAX) {
        int fd = accept4(listening_fd, NULL, NULL, SOCK_CLOEXEC);

        if (fd < 0)
            return; /* nobody, or nobody any more */
        w->client[(w->first + w->n++) % WAITING_MAX] =
            (struct waiting_client){fd, now};
    }
}

int
waiting_next(struct waiting *w, double *ret_seconds)
{
    const struct waiting_client *c = &w->client[w->first];

    if (w->n == 0)
        return -1;
    w->first = (w->first + 1) % WAITING_MAX;
    w->n--;
    *ret_seconds = clock_monotonic_fine() - c->since;
    return c->fd;
}

void
waiting_close(struct waiting *w)
{
    double seconds;
    int fd;

    while ((fd = waiting_next(w, &seconds)) >= 0)
        close(fd);
}
