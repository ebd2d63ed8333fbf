/* db_archive.h - db_purge's questions: which workunits are finished for good,
 * their rows, and away with them.
 *
 * Deletes rows of workunit, result, x_resend, x_could_not_send and assignment;
 * what was granted for these results is kept in x_credit_base.
 *
 * A workunit may go when its input files are deleted, its results are over and
 * none of them has output files left that the file deleter must see, its batch
 * (if there is a row for it) is retired, and "nodelete" is not in its name. */
#ifndef QUORATE_DB_ARCHIVE_H
#define QUORATE_DB_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

struct db;

struct archive_filter {
    int64_t not_after; /* Unix s: of the last change to the workunit */
    int64_t appid;     /* 0: all */
    int mod_n, mod_i;  /* id % n == i; 0: all */
};

struct archive_key { /* where the last call ended; zero: at the beginning */
    int64_t mod_time, id;
};

/* The next workunits that may go, longest unchanged first.  Returns how many
 * (<= max) and moves the key behind them; -1 failed. */
int db_archive_candidates(struct db *, const struct archive_filter *,
                          struct archive_key *, int64_t *ret_ids, int max);

/* Inside a transaction: lock n candidates and their results, and look again.
 * Returns how many may still go, their ids in order; -1. */
int db_archive_lock(struct db *, const int64_t *ids, int n, int64_t *ret_ids);

enum archive_kind { ARCHIVE_WORKUNITS, ARCHIVE_RESULTS };

enum archive_form {
    ARCHIVE_PLAIN, /* a number or a time */
    ARCHIVE_TEXT,
    ARCHIVE_XML, /* should be elements */
};

struct archive_field {
    const char *name; /* of the column */
    enum archive_form form;
    const char *text; /* valid during the call */
};

/* Gets a row: all columns, id and name among them.  0, or not 0 to end. */
typedef int archive_row_fn(void *arg, int64_t id, const char *name,
                           const struct archive_field *, int n_fields);

/* Hand out the rows of these workunits, or of their results, in order of the
 * workunits' ids.  0, or -1: the database or fn failed. */
int db_archive_rows(struct db *, enum archive_kind, const int64_t *ids, int n,
                    archive_row_fn *, void *arg);

/* Inside the transaction that locked them: delete n workunits, their results
 * and, if `assignments`, what assigned them.  0, -1. */
int db_archive_delete(struct db *, const int64_t *ids, int n, bool assignments);

#endif
