/* db_many.c - statements over many rows: lists of ids, tables of values. */
#include "db_many.h"

#include "buf.h"
#include "db.h"

size_t
db_padded(size_t n)
{
    size_t p = 1;

    while (p < n)
        p *= 2;
    return p;
}

struct db_query *
db_prepare_list(struct db *db, const char *before, size_t n, const char *after)
{
    struct buf sql = BUF_INIT;
    struct db_query *q;

    buf_add(&sql, before);
    db_placeholders(&sql, db_padded(n));
    buf_add(&sql, after);
    q = db_prepare(db, buf_str(&sql));
    buf_free(&sql);
    return q;
}

int
db_bind_list(struct db_query *q, unsigned *i, const int64_t *ids, size_t n)
{
    for (size_t k = 0; k < db_padded(n); k++)
        if (db_bind_i64(q, (*i)++, ids[k < n ? k : n - 1]) != 0)
            return -1;
    return 0;
}

void
db_value_table(struct buf *sql, const struct db_value_column *column,
               size_t columns, size_t rows)
{
    for (size_t r = 0; r < db_padded(rows); r++) {
        buf_add(sql, r == 0 ? "SELECT " : " UNION ALL SELECT ");
        for (size_t c = 0; c < columns; c++)
            buf_addf(sql, "%sCAST(? AS %s) AS %s", c == 0 ? "" : ", ",
                     column[c].type == 'd' ? "DOUBLE" : "SIGNED",
                     column[c].name);
    }
}

int
db_bind_padding(struct db_query *q, unsigned *i, size_t columns, size_t rows)
{
    for (size_t k = (db_padded(rows) - rows) * columns; k > 0; k--)
        if (db_bind_i64(q, (*i)++, 0) != 0)
            return -1;
    return 0;
}
