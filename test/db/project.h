/* project.h - a project of its own for a test: folders, keys, templates, a
 * database, and the real daemons, each run once when the test says so.  The
 * volunteers are played: their results are sent and reported in SQL, their
 * files are put where the upload handler puts them.  What fails ends the
 * test. */
#ifndef QUORATE_PROJECT_H
#define QUORATE_PROJECT_H

#include <stdint.h>

#include "dbtest.h"

/* Make it, with the application "app" and a team with users and hosts 1 … 9,
 * host i of user i. */
struct db *project_new(void);
void project_end(void);
struct db *project_db(void);
const char *project_path(const char *below); /* of its root; static */

/* Write config.xml with this place of the database. */
void project_config(const char *db_host);

/* Write a file below the root. */
void project_write(const char *below, const char *text);

/* Seconds that the daemons' clock is ahead of ours; 0 at first. */
void project_clock(int64_t ahead);
int64_t project_now(void);

/* A workunit of the application, due now.  Zero fields get: quorum and target
 * 2, all limits 100, delay_bound one day, 1e12 FLOP, template
 * templates/out.xml.  Returns its id. */
int64_t project_workunit(const char *name, struct workunit wu);

/* Run a daemon with --one_pass and more words, NULL at the end; returns its
 * exit status. */
int project_run(const char *program, ...) __attribute__((sentinel));

/* transitioner, validator (bitwise), transitioner, assimilator, transitioner;
 * all must end with 0. */
void project_round(void);

/* The transitioner alone. */
void project_transition(void);

/* A whole number: a column of a workunit; of its result k (of its name). */
int64_t project_of_workunit(int64_t wu, const char *column);
int64_t project_of_result(int64_t wu, int k, const char *column);

/* The tool audit finds no breach; what it finds is printed. */
void project_audit(void);

/* Unsent result k (of its name) of a workunit goes to host i. */
void project_send(int64_t wu, int k, int host);

/* Host reports it: success, its output holding `text` (NULL: no file came). */
void project_success(int64_t wu, int k, const char *text);
void project_error(int64_t wu, int k, int exit_status);

/* First column of the first row; %d and the like as printf. */
int64_t project_ask(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void project_do(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
