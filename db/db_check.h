/* db_check.h - the invariants of the database, each a row of a table: its name,
 * its promise as a sentence, and the rows that break it.
 *
 * A rule is one SELECT over a page of one table (a range of ids), so it runs on
 * millions of rows, and beside daemons at work: one statement sees one state of
 * the database, and daemons change what belongs together in one transaction.
 * No row is locked but in a repair.
 *
 * Rules are made of pieces of SQL.  In them stand :now (Unix s), :age (s, what
 * counts as forgotten) and :since (Unix s); they are bound, never printed.
 *
 * A repair may only make a program look again, or recompute what others say. */
#ifndef QUORATE_DB_CHECK_H
#define QUORATE_DB_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;

enum audit_table {
    AUDIT_WORKUNIT,
    AUDIT_RESULT,
    AUDIT_USER,
    AUDIT_TEAM,
    AUDIT_HOST,
    AUDIT_APP_VERSION,
    AUDIT_BATCH,
    AUDIT_ASSIGNMENT,
    AUDIT_KEY, /* no table of the project: the unique keys that must be there */
    N_AUDIT_TABLES,
};

enum audit_weight {
    AUDIT_BREACH,  /* must not be */
    AUDIT_NOTE,    /* odd, but may be: told, and no breach */
    AUDIT_DRAINED, /* a breach once everything is to be over */
};

struct audit_repair {
    const char *what;   /* "it is looked at now" */
    const char *before; /* "UPDATE … WHERE … AND id IN (" */
    const char *after;  /* ")" */
};

struct audit_rule {
    const char *name;
    const char *promise;
    enum audit_table table;
    enum audit_weight weight;
    const char *breach;                /* condition on a row of the table */
    const char *detail;                /* expression: what is wrong with it */
    const struct audit_repair *repair; /* NULL: a human must decide */
};

/* Rule i, NULL behind the last one. */
const struct audit_rule *db_check_rule(size_t i);

const char *db_check_table_name(enum audit_table); /* "workunit" */

struct audit_scope {
    int64_t now;   /* Unix s */
    int64_t age;   /* s: what waits longer was forgotten */
    int64_t since; /* Unix s: only what changed then or later; 0: all.  Tables
                      that do not say when are looked at as a whole. */
    int64_t limit; /* only so many rows of each table, the newest; 0: all */
};

struct audit_page {
    int64_t after, upto; /* ids: after < id <= upto */
};

/* The page before the first (ret->upto is where it ends).  0, -1. */
int db_check_begin(struct db *, enum audit_table, const struct audit_scope *,
                   struct audit_page *ret);

/* The next page of about `rows` rows.  0; DB_NONE: there is none; -1. */
int db_check_next(struct db *, enum audit_table, int rows, struct audit_page *);

/* Hand each breach of the page to fn (nonzero ends it).  0, -1. */
typedef int audit_found_fn(void *arg, int64_t id, const char *label,
                           const char *detail);
int db_check_find(struct db *, const struct audit_rule *,
                  const struct audit_scope *, const struct audit_page *,
                  audit_found_fn *, void *arg);

/* Repair these breaches, in transactions of some hundred rows.  A row that is
 * all right meanwhile is left alone.  0; -1. */
int db_check_repair(struct db *, const struct audit_rule *, int64_t now,
                    const int64_t *ids, size_t n);

/* ---- documents, for checks of files --------------------------------------
 */

enum audit_document {
    AUDIT_OUTPUT_NEEDED,  /* results whose outputs will be read: xml_doc_in */
    AUDIT_OUTPUT_DELETED, /* results whose outputs are deleted: xml_doc_in */
    AUDIT_INPUT_NEEDED,   /* workunits that may still be computed: xml_doc */
    AUDIT_INPUT_DELETED,  /* workunits whose inputs are deleted: xml_doc */
    AUDIT_VERSION,        /* app_versions that are sent: xml_doc */
};

enum audit_table db_check_document_table(enum audit_document);

/* Hand out those of a page, in order of id; fn's last argument is the document.
 * 0, -1. */
int db_check_documents(struct db *, enum audit_document,
                       const struct audit_page *, audit_found_fn *, void *arg);

/* Is it one of those still?  1, 0, -1. */
int db_check_is_document(struct db *, enum audit_document, int64_t id);

/* Was the row of a result changed at time t or later?  1, 0, -1. */
int db_check_result_changed(struct db *, int64_t id, int64_t t);

/* Which of these names are names of results?  0, -1. */
int db_check_known_results(struct db *, const char *const *names, size_t n,
                           bool *ret);

/* Does a workunit whose files are not deleted name this file?  1, 0, -1.  Reads
 * all their documents. */
int db_check_input_is_named(struct db *, const char *file);

#endif
