/* input_users.c - which workunits name an input file: a hint, kept in memory.
 *
 * Open addressing, at most half full.  Nearly all files are named by one
 * workunit, so its id lies in the entry itself; more get an array.  An entry
 * without ids stays until the table grows, then it is left behind. */
#include "input_users.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"

struct entry {
    uint64_t hash; /* 0: never used */
    uint32_t n, room;
    union {
        int64_t one;   /* room == 0 */
        int64_t *many; /* in the order they were told */
    } id;
};

struct input_users {
    struct entry *entry;
    size_t size;  /* a power of two */
    size_t used;  /* hash != 0 */
    size_t files; /* n > 0 */
};

/* FNV-1a; 0 is kept for free entries. */
static uint64_t
hash_of(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (; *text != '\0'; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    h ^= h >> 32; /* the low bits choose the place */
    return h == 0 ? 1 : h;
}

struct input_users *
input_users_new(void)
{
    struct input_users *u = xcalloc(1, sizeof(*u));

    u->size = 1024;
    u->entry = xcalloc(u->size, sizeof(*u->entry));
    return u;
}

void
input_users_free(struct input_users *u)
{
    if (u == NULL)
        return;
    for (size_t i = 0; i < u->size; i++)
        if (u->entry[i].room > 0)
            free(u->entry[i].id.many);
    free(u->entry);
    free(u);
}

/* The entry with this hash, or the free one where it belongs. */
static struct entry *
place_of(const struct input_users *u, uint64_t hash)
{
    size_t i = (size_t)hash & (u->size - 1);

    while (u->entry[i].hash != 0 && u->entry[i].hash != hash)
        i = (i + 1) & (u->size - 1);
    return &u->entry[i];
}

static void
grow(struct input_users *u)
{
    struct input_users bigger = {.files = u->files};

    bigger.size = 1024;
    while (bigger.size < u->files * 4)
        bigger.size *= 2;
    bigger.entry = xcalloc(bigger.size, sizeof(*bigger.entry));
    for (size_t i = 0; i < u->size; i++) {
        struct entry *e = &u->entry[i];

        if (e->n > 0) {
            *place_of(&bigger, e->hash) = *e;
            bigger.used++;
        } else if (e->room > 0) {
            free(e->id.many);
        }
    }
    free(u->entry);
    *u = bigger;
}

static int64_t *
ids_of(struct entry *e)
{
    return e->room > 0 ? e->id.many : &e->id.one;
}

static void
append(struct entry *e, int64_t id)
{
    if (e->room == 0 && e->n == 1) {
        int64_t one = e->id.one;

        e->room = 4;
        e->id.many = xcalloc(e->room, sizeof(*e->id.many));
        e->id.many[0] = one;
    } else if (e->room > 0 && e->n == e->room) {
        e->room *= 2;
        e->id.many = xrealloc(e->id.many, e->room * sizeof(*e->id.many));
    }
    ids_of(e)[e->n++] = id;
}

void
input_users_add(struct input_users *u, const char *file, int64_t wu_id)
{
    uint64_t hash = hash_of(file);
    struct entry *e;

    if (u->used >= u->size / 2)
        grow(u);
    e = place_of(u, hash);
    if (e->hash == 0) {
        e->hash = hash;
        u->used++;
    }
    if (e->n > 0 && ids_of(e)[e->n - 1] == wu_id)
        return; /* one workunit that names it twice */
    if (e->n == 0)
        u->files++;
    append(e, wu_id);
}

void
input_users_forget(struct input_users *u, const char *file, int64_t wu_id)
{
    struct entry *e = place_of(u, hash_of(file));
    int64_t *id = ids_of(e);

    /* those that go are the old ones or those just looked at, at the ends */
    for (uint32_t i = 0; i < e->n; i++) {
        if (id[i] != wu_id)
            continue;
        memmove(&id[i], &id[i + 1], (e->n - i - 1) * sizeof(*id));
        e->n--;
        if (e->n == 0)
            u->files--;
        return;
    }
}

size_t
input_users_of(const struct input_users *u, const char *file, int64_t *ret_ids,
               size_t max)
{
    struct entry *e = place_of(u, hash_of(file));
    size_t n = e->n < max ? e->n : max;

    for (size_t i = 0; i < n; i++)
        ret_ids[i] = ids_of(e)[e->n - 1 - i];
    return n;
}

size_t
input_users_files(const struct input_users *u)
{
    return u->files;
}
