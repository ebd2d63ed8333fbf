/* input_users.h - which workunits name an input file: a hint, kept in memory.
 *
 * One entry for each file name (its 64-bit hash) with the ids of the workunits
 * that were told to name it.  A workunit may be finished meanwhile: ask the
 * database for these ids.  Two names may share a hash, then each has the users
 * of both (a file is kept too long); no user is ever missing. */
#ifndef QUORATE_INPUT_USERS_H
#define QUORATE_INPUT_USERS_H

#include <stddef.h>
#include <stdint.h>

struct input_users;

struct input_users *input_users_new(void);
void input_users_free(struct input_users *);

void input_users_add(struct input_users *, const char *file, int64_t wu_id);
void input_users_forget(struct input_users *, const char *file, int64_t wu_id);

/* Up to max of the ids, the latest first; returns how many. */
size_t input_users_of(const struct input_users *, const char *file,
                      int64_t *ret_ids, size_t max);

size_t input_users_files(const struct input_users *); /* names known */

#endif
