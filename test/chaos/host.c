/* host.c - a simulated computer: its traits, and the state files that it can
 * lose, copy and go back to. */
#include "volunteer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

/* Most computers are fine most of the time; each kind of trouble has some that
 * are bad at it. */
void
host_init(struct host *h, int number, const char *key, uint64_t seed)
{
    struct traits *t = &h->traits;

    memset(h, 0, sizeof(*h));
    h->number = number;
    h->key = key;
    h->rng = seed ^ ((uint64_t)(number + 1) * 0x2545f4914f6cdd1du);
    t->error = rng_happens(&h->rng, 0.08) ? 0.3 : 0.01;
    t->wrong = rng_happens(&h->rng, 0.08) ? 0.4 : 0.005;
    t->late = rng_happens(&h->rng, 0.08) ? 0.4 : 0.01;
    t->lost_reply = rng_happens(&h->rng, 0.2) ? 0.2 : 0.01;
    t->torn_upload = rng_happens(&h->rng, 0.2) ? 0.4 : 0.02;
    t->damaged = rng_happens(&h->rng, 0.05) ? 0.2 : 0;
    t->copied = rng_happens(&h->rng, 0.05) ? 0.1 : 0;
    t->vanishes = rng_happens(&h->rng, 0.1) ? 0.05 : 0.001;
    t->away = rng_happens(&h->rng, 0.3) ? 0.5 : 0;
    exchange_init(&h->x);
    h->x.ctx = h;
    snprintf(h->now.cpid, sizeof(h->now.cpid), "%016" PRIx64 "%016" PRIx64,
             rng_next(&h->rng), rng_next(&h->rng));
    h->next_rpc = time_now() + rng_between(&h->rng, 0, fleet.pace);
    h->copy_at = h->next_rpc + rng_between(&h->rng, 5, 20);
}

static void
task_free(struct task *t)
{
    buf_free(&t->data);
    free(t->signature);
    free(t);
}

static struct task *
task_copy(const struct task *from)
{
    struct task *t = xmalloc(sizeof(*t));

    *t = *from;
    t->signature = xstrdup(from->signature);
    t->data = (struct buf)BUF_INIT;
    buf_addn(&t->data, from->data.data, from->data.len);
    return t;
}

static void
forget(struct state_files *s)
{
    for (int i = 0; i < s->n_tasks; i++)
        task_free(s->task[i]);
    s->n_tasks = 0;
    s->id = 0;
    s->seqno = 0;
}

/* Half of those who lose all are found again by what their client calls
 * them. */
void
host_vanish(struct host *h)
{
    fleet.n.vanished++;
    forget(&h->now);
    forget(&h->copy);
    h->lives++;
    if (rng_happens(&h->rng, 0.5))
        snprintf(h->now.cpid, sizeof(h->now.cpid), "%016" PRIx64 "%016" PRIx64,
                 rng_next(&h->rng), rng_next(&h->rng));
    h->pause_until = time_now() + rng_between(&h->rng, 2, 20);
}

static void
copy_state(const struct state_files *from, struct state_files *to)
{
    forget(to);
    *to = *from;
    for (int i = 0; i < from->n_tasks; i++)
        to->task[i] = task_copy(from->task[i]);
}

void
host_copy(struct host *h)
{
    copy_state(&h->now, &h->copy);
    h->copy_at = time_now() + rng_between(&h->rng, 10, 60);
}

void
host_go_back(struct host *h)
{
    fleet.n.copied++;
    copy_state(&h->copy, &h->now);
    forget(&h->copy);
    h->copy_at = time_now() + rng_between(&h->rng, 10, 60);
}

struct task *
host_task(const struct host *h, const char *name)
{
    for (int i = 0; i < h->now.n_tasks; i++)
        if (strcmp(h->now.task[i]->name, name) == 0)
            return h->now.task[i];
    return NULL;
}

void
host_drop(struct host *h, const char *name)
{
    struct state_files *s = &h->now;

    for (int i = 0; i < s->n_tasks; i++)
        if (strcmp(s->task[i]->name, name) == 0) {
            task_free(s->task[i]);
            s->n_tasks--;
            memmove(&s->task[i], &s->task[i + 1],
                    (size_t)(s->n_tasks - i) * sizeof(struct task *));
            return;
        }
}

void
host_free(struct host *h)
{
    forget(&h->now);
    forget(&h->copy);
    exchange_free(&h->x);
}
