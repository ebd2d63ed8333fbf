/* playfeeder.h - the test is the feeder: it puts what is unsent into a job
 * array, at once and when it likes. */
#ifndef QUORATE_PLAYFEEDER_H
#define QUORATE_PLAYFEEDER_H

struct db;

/* Make the segment of the project (project.h). */
void playfeeder_open(void);

/* A new generation: the catalog, and the results that are unsent now.  Claims
 * of those who died are gone with the one before. */
void playfeeder_fill(struct db *);

void playfeeder_close(void);

#endif
