/* audit.h - what the files of audit share: the run, and how a check reports.
 *
 * A check is a rule of the database (db_check.h) or a function that compares
 * rows with files (audit_files.c, audit_folders.c). */
#ifndef QUORATE_AUDIT_H
#define QUORATE_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db_check.h"

struct config;
struct db;
struct json_t;

struct audit {
    const struct config *cfg;
    struct db *db;
    struct audit_scope scope;
    bool drained, repair, json;
    int64_t max; /* breaches to print of a check */

    struct json_t *list;          /* --json: the checks, NULL without */
    const struct audit_check *on; /* the check that runs */
    struct json_t *breaches;      /* of it */
    int64_t n_checks, n_breaches, n_notes, n_repaired;
    int64_t found; /* by the check that runs */
};

struct audit_check {
    const char *name;
    const char *promise;
    enum audit_weight weight;
    const struct audit_rule *rule;   /* or: */
    int (*compare)(struct audit *a); /* with files; 0, -1 (the world failed) */
};

/* The checks of files, NULL behind the last one. */
const struct audit_check *audit_file_check(size_t i);
const struct audit_check *audit_folder_check(size_t i);

/* Walk through a table and hand out the documents of one kind.  0, -1. */
int audit_walk_documents(struct audit *, enum audit_document, audit_found_fn *);

enum { AUDIT_PAGE = 5000 }; /* rows in one statement */

/* ---- audit_report.c -------------------------------------------------------
 */
void audit_report_begin(struct audit *, const struct audit_check *);
/* kind: "workunit", "file"; id 0: it has none. */
void audit_report(struct audit *, const char *kind, int64_t id,
                  const char *label, const char *detail);
/* repaired: what was done to all of them, or NULL. */
void audit_report_end(struct audit *, const char *repaired);
void audit_report_summary(struct audit *);

#endif
