/* walk_rows.h - the rows of workunits and results as the structs of
 * test/walk/life.h, for the walk on a database. */
#ifndef QUORATE_WALK_ROWS_H
#define QUORATE_WALK_ROWS_H

#include "life.h"

struct db;

enum { CROWD_MAX = 64 };

struct crowd {
    size_t n;
    struct life life[CROWD_MAX]; /* ids ascending */
};

/* Read all of them.  0 or -1. */
int rows_read(struct db *, struct crowd *);

/* Read one of them (its id is there) anew; its place stays if it is gone. */
int rows_read_one(struct db *, struct life *);

/* What is in a result's output stands in its stderr_out: what the validator's
 * hook says of it and its answer. */
void rows_write_output(char *ret, size_t size, enum read_verdict, int answer);
void rows_read_output(const char *text, enum read_verdict *, int *answer);

#endif
