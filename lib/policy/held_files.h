/* held_files.h - does a host hold an input file of a job?  (Locality "lite",
 * dispatch §9.4: such jobs are sent to it first.)
 *
 * Names are compared whole, by a hash of 64 bits: the slots of the job array
 * have no room for names.  Two names of one hash cost a download at most. */
#ifndef QUORATE_HELD_FILES_H
#define QUORATE_HELD_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sendable;

/* Of a file's name; never 0. */
uint64_t held_file_hash(const char *name);

/* Put the hashes of a host's files in the order that held_files_any() wants. */
void held_files_sort(uint64_t *hash, size_t n);

/* Is one of the job's files among these n? */
bool held_files_any(const struct sendable *, const uint64_t *hash, size_t n);

#endif
