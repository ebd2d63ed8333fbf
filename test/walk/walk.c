/* walk.c - what the random walks share. */
#include "walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* How often each comes, and how it is called in a history. */
static const struct {
    const char *name;
    unsigned weight;
} events[N_WALK_EVENTS] = {
    [WALK_CREATE] = {"created",                   0  },
    [WALK_TRANSITION] = {"transition",                200},
    [WALK_VALIDATE] = {"validated",                 80 },
    [WALK_COMPARE] = {"slow validator: reads",     30 },
    [WALK_VERDICT] = {"slow validator: stores",    60 },
    [WALK_ASSIMILATE] = {"assimilated",               50 },
    [WALK_DEFER] = {"assimilation deferred",     8  },
    [WALK_ASSIMILATE_FAILS] = {"assimilator's hook fails",  5  },
    [WALK_DELETE] = {"files deleted",             150},
    [WALK_DELETE_FAILS] = {"files cannot be deleted",   10 },
    [WALK_PURGE] = {"purged",                    60 },
    [WALK_WITHDRAW] = {"withdrawn by the feeder",   5  },
    [WALK_ACTIVATE] = {"released",                  20 },
    [WALK_SEND] = {"sent",                      150},
    [WALK_SEND_UNTRUSTED] = {"sent to an untrusted host", 5  },
    [WALK_RESEND] = {"sent again",                5  },
    [WALK_EXPIRE] = {"lost for good",             4  },
    [WALK_GOOD] = {"reported: good",            100},
    [WALK_WRONG] = {"reported: wrong answer",    25 },
    [WALK_UNREADABLE] = {"reported: unreadable",      10 },
    [WALK_ODD] = {"reported: suspicious",      5  },
    [WALK_FAILED] = {"reported: failed",          20 },
    [WALK_USER_ABORT] = {"reported: user aborted",    8  },
    [WALK_DETACH] = {"host detached",             5  },
    [WALK_DISK_LOST] = {"disk lost",                 4  },
    [WALK_DISK_BACK] = {"disk back",                 10 },
    [WALK_CANCEL] = {"cancelled",                 1  },
    [WALK_PRIORITY] = {"priority changed",          1  },
    [WALK_EXTEND] = {"deadline extended",         3  },
    [WALK_CLOCK] = {"time passes",               4  },
};

const char *
walk_event_name(enum walk_event event)
{
    return events[event].name;
}

/* ---- chance: xorshift64*, the same everywhere -----------------------------
 */

static uint64_t
next(struct walk_chance *c)
{
    c->state ^= c->state >> 12;
    c->state ^= c->state << 25;
    c->state ^= c->state >> 27;
    return c->state * UINT64_C(2685821657736338717);
}

void
walk_seed(struct walk_chance *c, uint64_t seed)
{
    c->state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    if (c->state == 0)
        c->state = 1;
    for (int i = 0; i < 8; i++)
        (void)next(c);
}

uint64_t
walk_below(struct walk_chance *c, uint64_t n)
{
    return (next(c) >> 11) % n;
}

bool
walk_one_in(struct walk_chance *c, uint64_t n)
{
    return walk_below(c, n) == 0;
}

enum walk_event
walk_next_event(struct walk_chance *c)
{
    static unsigned total;
    static bool sum_is_known;
    uint64_t at;
    int event = 0;

    for (int k = 0; !sum_is_known && k < N_WALK_EVENTS; k++)
        total += events[k].weight;
    sum_is_known = true;
    at = walk_below(c, total);
    while (at >= events[event].weight)
        at -= events[event++].weight;
    return (enum walk_event)event;
}

static int
between(struct walk_chance *c, int low, int high)
{
    return low + (int)walk_below(c, (uint64_t)(high - low + 1));
}

void
walk_limits(struct walk_chance *c, struct workunit *wu)
{
    wu->min_quorum = between(c, 1, 3);
    wu->target_nresults = wu->min_quorum + between(c, 0, 1);
    wu->max_error_results = between(c, 0, 4);
    wu->max_total_results = between(c, 1, 10);
    wu->max_success_results = between(c, 1, 6);
    wu->delay_bound = between(c, 1, 20) * INT64_C(86400);
    wu->size_class = walk_one_in(c, 8) ? 0 : -1;
    wu->priority = between(c, -5, 5);
    wu->hr_class = between(c, 0, 2);
}

int64_t
walk_pause(struct walk_chance *c)
{
    switch (walk_below(c, 3)) {
    case 0:
        return between(c, 1, 100);
    case 1:
        return between(c, 1, 24) * INT64_C(3600);
    default:
        return between(c, 1, 3) * INT64_C(86400);
    }
}

/* ---- histories ------------------------------------------------------------
 */

void
walk_note(struct walk_history *h, struct walk_entry entry)
{
    h->entry[h->n++ % WALK_HISTORY] = entry;
}

void
walk_print(const struct walk_history *h)
{
    long first = h->n > WALK_HISTORY ? h->n - WALK_HISTORY : 0;

    if (first > 0)
        fprintf(stderr, "(%ld older events)\n", first);
    for (long i = first; i < h->n; i++) {
        const struct walk_entry *e = &h->entry[i % WALK_HISTORY];

        fprintf(stderr, "event %ld at %" PRId64 ": %s", e->number, e->time,
                walk_event_name(e->event));
        if (e->result >= 0)
            fprintf(stderr, ", result %d", e->result);
        fprintf(stderr, "%s%s\n", e->remark != NULL ? ": " : "",
                e->remark != NULL ? e->remark : "");
    }
}

long
walk_setting(const char *name, long deflt)
{
    const char *text = getenv(name);

    return text != NULL && text[0] != '\0' ? strtol(text, NULL, 10) : deflt;
}
