/* trial.h - what a validator would say of stored results, if nobody had judged
 * them yet: validator --dry_run --wu_id N. */
#ifndef QUORATE_TRIAL_H
#define QUORATE_TRIAL_H

#include <stddef.h>

struct validate_batch;

/* Forget, in memory, what is known about b->wu[i]: its canonical result, its
 * errors, the states of its results.  What they were (malloc) is for
 * trial_print(). */
struct trial *trial_begin(struct validate_batch *b, size_t i);

/* Print what was decided, a line for each result, to stdout; frees the trial.
 */
void trial_print(struct trial *, const struct validate_batch *b, size_t i);

#endif
