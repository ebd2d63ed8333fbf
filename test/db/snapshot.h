/* snapshot.h - all rows of the database, kept beside it and put back: a world
 * for many tries. */
#ifndef QUORATE_SNAPSHOT_H
#define QUORATE_SNAPSHOT_H

struct db;

/* Keep all rows, instead of those kept before. */
void snapshot_take(struct db *);

/* Put them back; whatever else has come is gone. */
void snapshot_restore(struct db *);

/* Forget them. */
void snapshot_drop(struct db *);

#endif
