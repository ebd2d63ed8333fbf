/* dbtest.h - what the tests of db/ share: a connection to the database that
 * with-mariadb made, its rows, and questions about them.  What fails ends the
 * test. */
#ifndef QUORATE_DBTEST_H
#define QUORATE_DBTEST_H

#include <check.h>
#include <stdint.h>

#include "db.h"
#include "result.h"
#include "workunit.h"

/* Connect as QUORATE_TEST_DB_* say. */
struct db *dbtest_open(void);

/* Remove all rows but those of a new project; ids start at 1 again. */
void dbtest_empty(struct db *);

/* Execute; the statement must work. */
void dbtest_exec(struct db *, const char *sql);

/* First column of the first row. */
int64_t dbtest_i64(struct db *, const char *sql);
double dbtest_double(struct db *, const char *sql);
char *dbtest_text(struct db *, const char *sql); /* malloc */

/* Rows with sensible values in all columns; each returns the id.  A name is
 * also the e-mail address and the key of a user. */
int64_t dbtest_app(struct db *, const char *name);
int64_t dbtest_platform(struct db *, const char *name);
int64_t dbtest_app_version(struct db *, int64_t appid, int64_t platformid,
                           int version_num);
int64_t dbtest_user(struct db *, const char *name);
int64_t dbtest_host(struct db *, int64_t userid);

/* Insert what the struct holds (id 0: the next; NULL documents as ""). */
int64_t dbtest_workunit(struct db *, const struct workunit *);
int64_t dbtest_result(struct db *, const struct result *);

/* Run a suite; exit status for main(). */
int dbtest_run(Suite *);

#endif
