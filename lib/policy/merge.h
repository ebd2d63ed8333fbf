/* merge.h - may two records of hosts be one computer? (dispatch §5.3) */
#ifndef QUORATE_MERGE_H
#define QUORATE_MERGE_H

#include <stdbool.h>

#include "host.h"

enum merge_refusal {
    MERGE_OK,
    MERGE_SAME,    /* one record twice */
    MERGE_GONE,    /* one is merged away already */
    MERGE_USER,    /* of two users */
    MERGE_SYSTEM,  /* other kinds of operating systems */
    MERGE_CPU,     /* other CPUs */
    MERGE_AT_ONCE, /* both were at work at the same time: two computers */
};

/* A record is new if it has neither credit nor results: then it does not matter
 * when it was in use. */
enum merge_refusal merge_check(const struct host *a, bool a_is_new,
                               const struct host *b, bool b_is_new);

/* Which of the two goes on: the newer one. */
bool merge_is_newer(const struct host *a, const struct host *b);

const char *merge_refusal_text(enum merge_refusal);

#endif
