/* archive.h - the files of db_purge: what was purged, for good.
 *
 * In DIR, or with daily_dir in DIR/YYYY_MM_DD (UTC):
 *
 *     wu_archive_T.xml  result_archive_T.xml    <archive>, a record a row
 *     wu_index_T.xml    result_index_T.xml      "id     T    name" lines
 *
 * and .gz or .zst behind that, if they are compressed (archive_pack.h).
 *
 * T is the Unix time of opening, the same for the four, not used before.  While
 * they are written their names end in .tmp; what a killed program left so is
 * cut behind its last whole record and completed at the next start.
 *
 * A batch is written whole: archive_sync() before its rows are deleted,
 * archive_commit() when they are, archive_rollback() when they are not.  After
 * a crash in between a record may come twice; readers skip a repeated id. */
#ifndef QUORATE_ARCHIVE_H
#define QUORATE_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "archive_pack.h"

struct archive;
struct archive_field;

/* Make the folder, complete what was left there.  NULL: failed (logged). */
struct archive *archive_new(const char *dir, bool daily_dir,
                            enum archive_format);

/* Begin a batch; opens files if there are none, or if the day has changed.
 * 0, -1 (logged). */
int archive_begin(struct archive *, int64_t now);

/* Append a row (archive_row_fn of db_archive.h; arg is the archive).  The text
 * stays in memory until there is some of it.  0, -1 (logged). */
int archive_workunit(void *arg, int64_t id, const char *name,
                     const struct archive_field *, int n_fields);
int archive_result(void *arg, int64_t id, const char *name,
                   const struct archive_field *, int n_fields);

/* Bring the batch to the disk.  0, -1 (logged). */
int archive_sync(struct archive *);

void archive_commit(struct archive *);
void archive_rollback(struct archive *);

/* Workunits in the open files; 0: none are open. */
int64_t archive_workunits(const struct archive *);

/* Complete the open files and give them their names.  0, -1 (logged). */
int archive_close(struct archive *);

void archive_free(struct archive *); /* closes */

#endif
