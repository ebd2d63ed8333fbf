/* db_feed_files.h - which input files have these jobs?
 *
 * May write: nothing. */
#ifndef QUORATE_DB_FEED_FILES_H
#define QUORATE_DB_FEED_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "sendable.h"

struct db;

/* Set file[] of those of the n jobs that are of one of the apps: hashes of the
 * names of their input files, those that stay on clients first; more than there
 * is room for are left out.  A document that cannot be read names no files.
 * 0 or -1 (logged). */
int db_feed_files(struct db *, const int64_t *apps, size_t n_apps,
                  struct sendable *, size_t n);

#endif
