/* db_sched_list.h - lists of values in the scheduler's statements, padded like
 * those of db_many.h: the last value is repeated, which changes nothing in
 * "IN (…)" and "CASE id WHEN …". */
#ifndef QUORATE_DB_SCHED_LIST_H
#define QUORATE_DB_SCHED_LIST_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct db_query;

/* The value, of n, that stands at place k of a padded list. */
size_t db_list_row(size_t k, size_t n);

/* The part of n that one statement takes: at most `max`. */
size_t db_list_chunk(size_t n, size_t max);

/* Append " column IN (?, ?, …)" with room for n values. */
void db_list_in(struct buf *sql, const char *column, size_t n);

/* Append " column = CASE id WHEN ? THEN ? … END" with room for n values. */
void db_list_case(struct buf *sql, const char *column, size_t n);

/* Bind n ids of one every `stride` bytes, from parameter *i on, which is moved
 * behind them.  0 or -1. */
int db_list_bind(struct db_query *, unsigned *i, const int64_t *first,
                 size_t stride, size_t n);

/* For qsort: int64_t, ascending. */
int db_list_by_id(const void *, const void *);

#endif
