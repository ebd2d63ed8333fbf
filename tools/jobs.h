/* jobs.h - what the tools share that change many jobs: which jobs, the work
 * piece by piece, and that the feeder hears of it. */
#ifndef QUORATE_JOBS_H
#define QUORATE_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "db_jobs.h"

struct buf;
struct config;
struct db;

/* The words of the command line that select jobs. */
struct jobs_options {
    int64_t min, max;
    int64_t wu_id;
    char *name;
    int64_t batch;
    char *app;
    int64_t app_version;
    bool dry_run;
    char *project_dir;
};

/* The rows of an option table, for the field `m` of CONF_STRUCT. */
#define JOBS_ROW(m, field, type, unit, help)                                   \
    {                                                                          \
#field, type, offsetof(CONF_STRUCT, m.field), NULL, 0, 0, 0, unit,     \
            help                                                               \
    }
#define JOBS_ROWS(m)                                                           \
    JOBS_ROW(m, wu_id, CONF_INT, "ID", "this workunit"),                       \
        JOBS_ROW(m, name, CONF_STRING, "NAME", "the workunit of this name"),   \
        JOBS_ROW(m, batch, CONF_INT, "ID", "workunits of this batch"),         \
        JOBS_ROW(m, app, CONF_STRING, "NAME",                                  \
                 "workunits of this application"),                             \
        JOBS_ROW(m, app_version, CONF_INT, "ID",                               \
                 "workunits bound to this version (its id in the database), "  \
                 "or in progress with it"),                                    \
        JOBS_ROW(m, dry_run, CONF_BOOL, "", "say how many, change nothing"),   \
        JOBS_ROW(m, project_dir, CONF_STRING, "DIR",                           \
                 "root of the project (default: this folder or the one "       \
                 "above)")

/* The option's selection; its text, for people, goes to ret_text.  0; an exit
 * status (a message was printed). */
int jobs_select(struct db *, const struct jobs_options *,
                struct job_selection *ret, struct buf *ret_text);

/* Do all of it, tell the feeder, print what was done; with dry_run only say how
 * much there is.  `done` is what happens to a workunit: "cancelled".  Returns
 * the exit status: EXIT_NO if no job is selected. */
int jobs_run(const struct config *, struct db *, struct job_work *,
             bool dry_run, const char *done);

/* Who is at work: the account of the operating system. */
const char *jobs_actor(void);

/* main() of a tool: the project, its database, then `run`; returns the exit
 * status. */
typedef int jobs_program(const struct config *, struct db *, void *arg);
int jobs_main(const char *project_dir, const char *argv0, jobs_program *run,
              void *arg);

#endif
