/* db_many.h - statements over many rows: lists of ids, tables of values.
 *
 * Both are padded to a power of two (a list repeats its last id, a table has
 * rows of zeros, and no row has the id 0), so that batches of any size make few
 * statement texts, all prepared once. */
#ifndef QUORATE_DB_MANY_H
#define QUORATE_DB_MANY_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct db;
struct db_query;

/* The power of two that is at least n (n >= 1). */
size_t db_padded(size_t n);

/* Prepare before + "?, ?, …" + after with room for n >= 1 ids.  NULL: failed
 * (logged). */
struct db_query *db_prepare_list(struct db *, const char *before, size_t n,
                                 const char *after);

/* Bind n ids and the padding from parameter *i on; *i moves behind them. */
int db_bind_list(struct db_query *, unsigned *i, const int64_t *ids, size_t n);

struct db_value_column {
    const char *name;
    char type; /* 'i' integer, 'd' double */
};

/* Append a table of `rows` (padded) rows for UPDATE … JOIN: SELECT CAST(? AS
 * SIGNED) AS id, … UNION ALL SELECT ….  Without the casts the type of such a
 * column would be the server's guess. */
void db_value_table(struct buf *, const struct db_value_column *,
                    size_t columns, size_t rows);

/* Bind the padding behind `rows` rows from parameter *i on. */
int db_bind_padding(struct db_query *, unsigned *i, size_t columns,
                    size_t rows);

#endif
