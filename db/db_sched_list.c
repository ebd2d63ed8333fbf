/* db_sched_list.c - lists of values in the scheduler's statements. */
#include "db_sched_list.h"

#include "buf.h"
#include "db.h"

size_t
db_list_size(size_t n)
{
    size_t size = 1;

    while (size < n)
        size *= 2;
    return size;
}

size_t
db_list_chunk(size_t n, size_t max)
{
    return n < max ? n : max;
}

void
db_list_in(struct buf *sql, const char *column, size_t n)
{
    buf_addf(sql, " %s IN (", column);
    db_placeholders(sql, db_list_size(n));
    buf_add(sql, ")");
}

void
db_list_case(struct buf *sql, const char *column, size_t n)
{
    buf_addf(sql, " %s = CASE id", column);
    for (size_t i = 0; i < db_list_size(n); i++)
        buf_add(sql, " WHEN ? THEN ?");
    buf_add(sql, " END");
}

int
db_list_bind(struct db_query *q, unsigned *i, const int64_t *first,
             size_t stride, size_t n)
{
    for (size_t k = 0; k < db_list_size(n); k++) {
        size_t at = k < n ? k : n - 1;
        const int64_t *id =
            (const int64_t *)(const void *)((const char *)first + at * stride);

        if (db_bind_i64(q, (*i)++, *id) != 0)
            return -1;
    }
    return 0;
}

int
db_list_by_id(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}
