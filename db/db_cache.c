/* db_cache.c - statements kept by their text.
 *
 * CACHE_SIZE of them, the longest unused one goes first.  One text may be open
 * twice at a time; each has its own statement. */
#include "db.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_private.h"

enum { CACHE_SIZE = 64 };

static void
free_query(struct db_query *q)
{
    db_stmt_free(q);
    for (unsigned i = 0; i < q->n_columns; i++)
        free(q->column[i].text);
    free(q->column);
    free(q->sql);
    free(q);
}

static void
drop_query(struct db_query *q)
{
    struct db_query **p = &q->db->queries;

    while (*p != q)
        p = &(*p)->next;
    *p = q->next;
    q->db->n_queries--;
    free_query(q);
}

/* Make room: forget the statement that has been unused for longest. */
static void
evict_one(struct db *db)
{
    struct db_query *oldest = NULL;

    for (struct db_query *q = db->queries; q != NULL; q = q->next)
        if (!q->in_use && (oldest == NULL || q->last_used < oldest->last_used))
            oldest = q;
    if (oldest != NULL)
        drop_query(oldest);
}

static struct db_query *
find_cached(struct db *db, const char *sql)
{
    for (struct db_query *q = db->queries; q != NULL; q = q->next)
        if (!q->in_use && strcmp(q->sql, sql) == 0)
            return q;
    return NULL;
}

struct db_query *
db_prepare(struct db *db, const char *sql)
{
    struct db_query *q;

    if (!db_usable(db))
        return NULL;
    q = find_cached(db, sql);
    if (q == NULL) {
        if (db->n_queries >= CACHE_SIZE)
            evict_one(db);
        q = xcalloc(1, sizeof(*q));
        q->db = db;
        q->sql = xstrdup(sql);
        q->nowait = strstr(sql, "NOWAIT") != NULL;
        if (db_stmt_prepare(q) != 0) {
            free_query(q);
            return NULL;
        }
        q->next = db->queries;
        db->queries = q;
        db->n_queries++;
    }
    q->in_use = true;
    q->stage = DB_FRESH;
    q->affected = q->insert_id = 0;
    q->last_used = db->n_statements;
    return q;
}

void
db_finish(struct db_query *q)
{
    if (q == NULL)
        return;
    q->in_use = false;
    if (q->stmt == NULL || q->broken || q->db->n_queries > CACHE_SIZE)
        drop_query(q);
    else
        db_stmt_rest(q);
}

void
db_forget_statements(struct db *db)
{
    struct db_query *next;

    for (struct db_query *q = db->queries; q != NULL; q = next) {
        next = q->next;
        if (q->in_use) {
            db_stmt_free(q);
            q->stage = DB_DONE;
        } else {
            drop_query(q);
        }
    }
}
