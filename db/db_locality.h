/* db_locality.h - the scheduler's questions about jobs by the file they work on
 * (dispatch §9.4): which files have jobs waiting, which jobs, and who holds
 * which file.
 *
 * A job's file is the part of its name before "__" (locality_file_length()), so
 * the jobs of a file are a range of names.  All questions are ranges or seeks
 * of the index x_res_state_name (server_state, name), which
 * db_locality_prepare() makes; without it the answers are the same, and slow.
 * Names are compared as the column does it, without case: files of one project
 * must differ by more than that.
 *
 * May write: x_locality. */
#ifndef QUORATE_DB_LOCALITY_H
#define QUORATE_DB_LOCALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sendable.h"
#include "workunit.h"

struct db;

/* Make the index if it is not there, which takes its time on a large table.
 * 0 or -1. */
int db_locality_prepare(struct db *);

/* A file, or a job without one: then the name is that of its result. */
struct locality_name {
    char text[NAME_SIZE];
    bool no_file;
};

/* What waits for a file. */
struct locality_jobs {
    int64_t unsent;   /* jobs, counted up to DB_LOCALITY_MANY */
    bool in_progress; /* some job of the file is on some host */
    bool overdue;     /* one of the first hundred unsent is as old as asked */
};

#define DB_LOCALITY_MANY 1000

/* The next files, by name, after the job or file `after` ("": from the first
 * on), that have jobs waiting; at most `max`.  One seek each, for the server
 * has no statement that leaps.  *ret_n < max: there are no more.  0 or -1. */
int db_locality_files(struct db *, const struct locality_name *after,
                      size_t max, struct locality_name *ret, size_t *ret_n);

/* What waits for each of n files.  Results made before `overdue_before` are
 * overdue (0: none is).  0 or -1. */
int db_locality_waiting(struct db *, const struct locality_name *, size_t n,
                        int64_t overdue_before, struct locality_jobs *ret);

/* A job of a file. */
struct locality_job {
    struct sendable job;  /* as the feeder would say it */
    char name[NAME_SIZE]; /* of the result */
};

/* The next jobs of a file, by name, after the one named `after` ("": from the
 * first on) that are UNSENT and whose workunit is neither locked for special
 * use nor failed; at most `max`.  *ret_n < max: there are no more.  0 or -1. */
int db_locality_jobs(struct db *, const struct locality_name *,
                     const char *after, size_t max, struct locality_job *ret,
                     size_t *ret_n);

/* ---- who holds which file ------------------------------------------------ */

struct locality_holding {
    struct locality_name name;
    int64_t time; /* Unix s, of the last job of the file sent there */
};

/* What a host got, by file; at most `max`.  0 or -1. */
int db_locality_of_host(struct db *, int64_t hostid, size_t max,
                        struct locality_holding *ret, size_t *ret_n);

struct locality_held {
    int64_t holders;  /* hosts that got a job of the file since then */
    int64_t last_nth; /* the highest number given to a holder, 0 none */
};

/* Of n files: who else than `hostid` holds them, jobs of before `since` not
 * counted?  0 or -1. */
int db_locality_held(struct db *, const struct locality_name *, size_t n,
                     int64_t hostid, int64_t since, struct locality_held *ret);

/* The host becomes holder number `nth` (one more than last_nth).  Two that want
 * one file at the same time want the same number, so one of them is told
 * DB_EXISTS (or begins again) and looks for another file.  0, DB_EXISTS, -1. */
int db_locality_hold(struct db *, const char *file, int64_t nth, int64_t hostid,
                     int64_t now);

/* The host got jobs of a file that it holds.  0 or -1. */
int db_locality_touch(struct db *, const char *file, int64_t hostid,
                      int64_t now);

/* The host does not hold the file any more.  0 or -1. */
int db_locality_release(struct db *, const char *file, int64_t hostid);

/* Forget who got a job of the file before `since` last.  0 or -1. */
int db_locality_forget(struct db *, const char *file, int64_t since);

#endif
