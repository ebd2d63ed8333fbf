/* input_index.c - is an input file still needed by an unfinished workunit?
 *
 * Ids are given at the INSERT but seen at the COMMIT, so a workunit may show up
 * behind one with a higher id.  Each update therefore looks again at the last
 * LOOK_BACK ids; a ring remembers which of them are known. */
#include "input_index.h"

#include <stdlib.h>

#include "buf.h"
#include "db_cleanup.h"
#include "document_files.h"
#include "input_users.h"
#include "log.h"
#include "template.h"

enum {
    BATCH = 1000,
    LOOK_BACK = 10000, /* ids; more than one transaction ever makes */
    RING = 16384,      /* a power of two above LOOK_BACK + BATCH */
    ASK = 32,          /* workunits asked for in one query */
};

struct input_index {
    struct input_users *users;
    int64_t last_id;
    int64_t known[RING]; /* ids seen, at id % RING */
};

struct input_index *
input_index_new(void)
{
    struct input_index *x = xcalloc(1, sizeof(*x));

    x->users = input_users_new();
    return x;
}

void
input_index_free(struct input_index *x)
{
    if (x == NULL)
        return;
    input_users_free(x->users);
    free(x);
}

static void
learn(struct input_index *x, const struct cleanup_item *wu)
{
    struct document_file *file;
    int64_t *known = &x->known[wu->id % RING];
    int n;

    if (*known == wu->id)
        return;
    *known = wu->id;
    n = all_input_files(wu->document, &file);
    if (n < 0)
        log_warning(TAG_WU "document cannot be read: its files are not kept",
                    wu->id, wu->name);
    for (int i = 0; i < n; i++)
        input_users_add(x->users, file[i].name, wu->id);
    free(file);
}

int
input_index_update(struct input_index *x, struct db *db)
{
    struct cleanup_item *wu = xcalloc(BATCH, sizeof(*wu));
    int64_t after = x->last_id > LOOK_BACK ? x->last_id - LOOK_BACK : 0;
    int n;

    while ((n = db_cleanup_unfinished(db, after, wu, BATCH)) > 0) {
        for (int i = 0; i < n; i++)
            learn(x, &wu[i]);
        after = wu[n - 1].id;
        cleanup_free(wu, n);
        if (after > x->last_id)
            x->last_id = after;
        if (n < BATCH)
            break;
    }
    free(wu);
    return n < 0 ? -1 : 0;
}

/* Ask the database about these workunits; forget them if none counts. */
static int
ask(struct input_index *x, struct db *db, const char *file, const int64_t *ids,
    int n)
{
    int unfinished = db_cleanup_count_unfinished(db, ids, n);

    for (int i = 0; unfinished == 0 && i < n; i++)
        input_users_forget(x->users, file, ids[i]);
    return unfinished > 0 ? 1 : unfinished;
}

int
input_index_needed(struct input_index *x, struct db *db, const char *file,
                   int64_t wu_id)
{
    int64_t ids[ASK];
    size_t n;

    input_users_forget(x->users, file, wu_id);
    while ((n = input_users_of(x->users, file, ids, ASK)) > 0) {
        int needed = ask(x, db, file, ids, (int)n);

        if (needed != 0)
            return needed;
    }
    return 0;
}

void
input_index_forget(struct input_index *x, const char *file, int64_t wu_id)
{
    input_users_forget(x->users, file, wu_id);
}
