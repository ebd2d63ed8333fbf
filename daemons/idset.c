/* idset.c - a set of ids that grows. */
#include "idset.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"

enum { FIRST_SIZE = 64 };

/* Where it is, or where it would go. */
static size_t
place(const struct idset *s, int64_t id)
{
    size_t i = (size_t)((uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (i &= s->size - 1; s->id[i] != 0 && s->id[i] != id;)
        i = (i + 1) & (s->size - 1);
    return i;
}

static void
grow(struct idset *s)
{
    struct idset old = *s;

    s->size = old.size == 0 ? (size_t)FIRST_SIZE : 2 * old.size;
    s->id = xcalloc(s->size, sizeof(*s->id));
    for (size_t i = 0; i < old.size; i++)
        if (old.id[i] != 0)
            s->id[place(s, old.id[i])] = old.id[i];
    free(old.id);
}

void
idset_add(struct idset *s, int64_t id)
{
    size_t i;

    if (2 * (s->n + 1) > s->size)
        grow(s);
    i = place(s, id);
    if (s->id[i] == 0) {
        s->id[i] = id;
        s->n++;
    }
}

bool
idset_has(const struct idset *s, int64_t id)
{
    return s->n > 0 && s->id[place(s, id)] == id;
}

void
idset_clear(struct idset *s)
{
    if (s->n > 0)
        memset(s->id, 0, s->size * sizeof(*s->id));
    s->n = 0;
}

void
idset_free(struct idset *s)
{
    free(s->id);
    *s = (struct idset){.n = 0};
}
