/* db_set_aside.h - workunits that a program could not handle: table
 * x_set_aside, one row for a workunit and a program.
 *
 * Such a row outlives the program.  The workunit is tried again at next_try;
 * SET_ASIDE_FOR_GOOD: only when an operator has released it.
 *
 * Writes x_set_aside; releasing also workunit.transition_time. */
#ifndef QUORATE_DB_SET_ASIDE_H
#define QUORATE_DB_SET_ASIDE_H

#include <stddef.h>
#include <stdint.h>

#include "workunit.h"

struct db;

#define SET_ASIDE_FOR_GOOD TRANSITION_NEVER

#define SET_ASIDE_ASSIMILATOR "assimilator" /* x_set_aside.program */
#define SET_ASIDE_TRANSITIONER "transitioner"

struct set_aside {
    int64_t wu_id;
    int tries; /* that failed */
    int64_t next_try;
    char error[512]; /* why */
};

/* Write these rows over what there is; in whatever transaction is open.  0, -1.
 */
int db_set_aside_put(struct db *, const char *program, const struct set_aside *,
                     size_t n);

/* They work again: forget it.  0, -1. */
int db_set_aside_clear(struct db *, const char *program, const int64_t *wu_ids,
                       size_t n);

/* ---- for operators ------------------------------------------------------ */

struct set_aside_line {
    struct set_aside row;
    char program[65];
    char wu_name[NAME_SIZE]; /* "": the workunit is gone */
};

/* Those behind (wu_id, program), in this order; *ret_n of at most `max`.  0,
 * -1. */
int db_set_aside_list(struct db *, int64_t after_id, const char *after_program,
                      struct set_aside_line *ret, size_t max, size_t *ret_n);

/* Let the workunit (0: all), of this program (NULL: of all), be tried at once,
 * with all tries before it.  *ret_n: how many rows.  0, -1. */
int db_set_aside_release(struct db *, int64_t wu_id, const char *program,
                         int64_t now, int64_t *ret_n);

#endif
