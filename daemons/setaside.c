/* setaside.c - rows that failed and are tried again later, more and more
 * seldom, so that one bad row never stops the others. */
#include "setaside.h"

#include <stdlib.h>

#include "buf.h"

enum {
    FIRST_SIZE = 64, /* a power of two */
    FIRST_WAIT = 60, /* s */
    LONGEST_WAIT = 86400,
};

/* Where the id is, or the free place where it would go. */
static struct setaside_row *
find(const struct setaside *s, int64_t id)
{
    size_t mask = s->size - 1;
    size_t i = ((uint64_t)id * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;

    while (s->row[i].id != 0 && s->row[i].id != id)
        i = (i + 1) & mask;
    return &s->row[i];
}

/* Rows that worked again are left behind here. */
static void
grow(struct setaside *s)
{
    struct setaside old = *s;

    s->size = old.size == 0 ? FIRST_SIZE : 2 * old.size;
    s->used = 0;
    s->row = xcalloc(s->size, sizeof(*s->row));
    for (size_t i = 0; i < old.size; i++)
        if (old.row[i].id != 0 && old.row[i].tries > 0) {
            *find(s, old.row[i].id) = old.row[i];
            s->used++;
        }
    free(old.row);
}

int64_t
setaside_pause(unsigned tries)
{
    int64_t wait = FIRST_WAIT;

    for (unsigned i = 1; i < tries && wait < LONGEST_WAIT; i++)
        wait *= 2;
    return wait < LONGEST_WAIT ? wait : LONGEST_WAIT;
}

int64_t
setaside_add(struct setaside *s, int64_t id, int64_t now)
{
    struct setaside_row *row;

    if (2 * (s->used + 1) > s->size)
        grow(s);
    row = find(s, id);
    if (row->id == 0)
        s->used++;
    row->id = id;
    row->tries++;
    row->until = now + setaside_pause(row->tries);
    return row->until;
}

bool
setaside_waits(const struct setaside *s, int64_t id, int64_t now)
{
    const struct setaside_row *row;

    if (s->size == 0)
        return false;
    row = find(s, id);
    return row->id != 0 && row->tries > 0 && now < row->until;
}

unsigned
setaside_tries(const struct setaside *s, int64_t id)
{
    return s->size == 0 ? 0 : find(s, id)->tries;
}

void
setaside_clear(struct setaside *s, int64_t id)
{
    struct setaside_row *row;

    if (s->size == 0)
        return;
    row = find(s, id);
    if (row->id != 0)
        row->tries = 0;
}

void
setaside_free(struct setaside *s)
{
    free(s->row);
    *s = (struct setaside){.row = NULL};
}
