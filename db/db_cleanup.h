/* db_cleanup.h - the file deleter's questions: whose files may go, who else
 * needs an input file, what became of it.
 *
 * May write: workunit.file_delete_state, result.file_delete_state, both from
 * READY or ERROR to DONE or ERROR. */
#ifndef QUORATE_DB_CLEANUP_H
#define QUORATE_DB_CLEANUP_H

#include <stdint.h>

#include "workunit.h"

struct db;

enum cleanup_kind {
    CLEANUP_RESULTS,   /* output files, named in result.xml_doc_in */
    CLEANUP_WORKUNITS, /* input files, named in workunit.xml_doc */
};

struct cleanup_filter {
    int mod_n, mod_i;         /* id % n == i; 0: all */
    int64_t appid;            /* 0: all */
    const char *xml_doc_like; /* pattern of LIKE for the document; NULL: all */
};

struct cleanup_item {
    int64_t id;
    int64_t wu_id; /* results: the workunit; workunits: the same as id */
    char name[NAME_SIZE];
    char *document;               /* malloc */
    enum outcome outcome;         /* results; else OUTCOME_INIT */
    enum file_delete_state state; /* as read; the caller sets the new one */
};

/* Rows with id > after_id in this state (READY or ERROR), in order of id.
 * Returns how many (<= max), -1 failed.  Free them with cleanup_free(). */
int db_cleanup_due(struct db *, enum cleanup_kind, enum file_delete_state,
                   const struct cleanup_filter *, int64_t after_id,
                   struct cleanup_item *, int max);

/* Workunits with id > after_id whose files may not go yet (state INIT); the
 * same form, in order of id. */
int db_cleanup_unfinished(struct db *, int64_t after_id, struct cleanup_item *,
                          int max);

/* How many of these workunits (n >= 1, no id twice) are unfinished?  Or -1. */
int db_cleanup_count_unfinished(struct db *, const int64_t *ids, int n);

/* When the oldest workunit was made (Unix s) whose name lacks "nodelete".  0,
 * DB_NONE, -1. */
int db_cleanup_oldest(struct db *, int64_t *ret);

void cleanup_free(struct cleanup_item *, int n);

/* Store the items' states, in one transaction, where the state is still `from`.
 * Returns how many rows were so, -1 failed (nothing is stored). */
int db_cleanup_apply(struct db *, enum cleanup_kind,
                     enum file_delete_state from, const struct cleanup_item *,
                     int n);

#endif
