/* db_sched_list.c - lists of values in the scheduler's statements. */
#include "db_sched_list.h"

#include "buf.h"
#include "db.h"
#include "db_many.h"

size_t
db_list_row(size_t k, size_t n)
{
    return k < n ? k : n - 1;
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
    db_placeholders(sql, db_padded(n));
    buf_add(sql, ")");
}

void
db_list_case(struct buf *sql, const char *column, size_t n)
{
    buf_addf(sql, " %s = CASE id", column);
    for (size_t i = 0; i < db_padded(n); i++)
        buf_add(sql, " WHEN ? THEN ?");
    buf_add(sql, " END");
}

int
db_list_bind(struct db_query *q, unsigned *i, const int64_t *first,
             size_t stride, size_t n)
{
    for (size_t k = 0; k < db_padded(n); k++) {
        const char *at = (const char *)first + db_list_row(k, n) * stride;
        const int64_t *id = (const int64_t *)(const void *)at;

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
