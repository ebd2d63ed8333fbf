/* input_index.h - is an input file still needed by an unfinished workunit?
 *
 * The documents of all unfinished workunits are read once, at the first update,
 * then those that are new; a search through all documents for each file would
 * not end on a big project. */
#ifndef QUORATE_INPUT_INDEX_H
#define QUORATE_INPUT_INDEX_H

#include <stdint.h>

struct cleanup_item;
struct db;
struct input_index;

struct input_index *input_index_new(void);
void input_index_free(struct input_index *);

/* Learn of the workunits created since the last call.  0 or -1 (logged). */
int input_index_update(struct input_index *, struct db *);

/* Does an unfinished workunit other than wu_id name this file?  1, 0, or -1 if
 * the database failed (logged). */
int input_index_needed(struct input_index *, struct db *, const char *file,
                       int64_t wu_id);

/* wu_id does not need it any more. */
void input_index_forget(struct input_index *, const char *file, int64_t wu_id);

#endif
