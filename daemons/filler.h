/* filler.h - which results go into the job array of one generation, and which
 * slots they get. */
#ifndef QUORATE_FILLER_H
#define QUORATE_FILLER_H

struct daemon;
struct filler;
struct segment;

/* For the generation that is published; at its end the filler ends as well. */
struct filler *filler_new(struct segment *, const struct daemon *);
void filler_free(struct filler *);

/* Fill empty slots; put better jobs in the place of lower ones.  How many were
 * placed; -1 failed (logged). */
int filler_fill(struct filler *);

/* Take jobs out that are no longer to be sent, or not with that priority. Looks
 * at some slots every few seconds, at all when told that jobs have changed.
 * End those that too many hosts could not take.  0 or -1. */
int filler_check(struct filler *);

/* Before the generation ends: keep which hosts could not take its jobs.  0 or
 * -1. */
int filler_save(struct filler *);

/* Earlier than this (filler_clock()) it is no use to ask the database: it had
 * nothing new a moment ago.  0: it may be asked. */
double filler_ask_again(const struct filler *);
double filler_clock(void); /* monotonic s, with fractions */

#endif
