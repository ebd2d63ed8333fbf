/* truth.h - what the simulated application computes: inputs and outputs are
 * functions of a workunit's name, so that anybody can say what is right. */
#ifndef QUORATE_TRUTH_H
#define QUORATE_TRUTH_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* The content of the input file of a workunit. */
void truth_input(const char *wu_name, struct buf *out);

/* What the application makes of an input file: 0.3 to 14 KB. */
void truth_output(const void *input, size_t n, struct buf *out);

/* A wrong output, as `who` would make it: no two names of results lead to the
 * same one, and none to the right one.  So two wrong results never agree, and a
 * quorum of two is proof. */
void truth_spoil(struct buf *output, const char *who);

/* Are these bytes the right output of that workunit? */
bool truth_is(const char *wu_name, const void *bytes, size_t n);

#endif
