/* runstate.h - what a host's supervisor last said of its programs: the file
 * run_state_HOST.xml in the project's root.
 *
 *   <boinc>
 *     <enabled>1</enabled>            daemons are wanted (start) or not (stop)
 *     <tasks> <task><command/><lastrun/></task> … </tasks>
 *     <supervisor><pid/><started/></supervisor>       only while it runs
 *     <daemons> <daemon><name/>…</daemon> … </daemons>
 *   </boinc>
 *
 * Written whole, by rename: by the supervisor while it runs, else by start and
 * stop. */
#ifndef QUORATE_RUNSTATE_H
#define QUORATE_RUNSTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct config;

struct runstate_daemon {
    char name[128];     /* "feeder": its output file without .log */
    char command[512];  /* as in config.xml */
    char state[16];     /* "up", "wait", "failed", "ending", "down" */
    char last_end[128]; /* "exit status 1", "killed by signal 9", or "" */
    pid_t pid;          /* 0: does not run */
    int64_t started;    /* Unix s */
    int64_t restarts;   /* since the supervisor started */
};

struct runstate_task {
    char command[512];
    int64_t lastrun; /* Unix s, 0 never */
};

struct runstate {
    bool enabled;
    pid_t supervisor_pid; /* 0: none */
    int64_t supervisor_started;
    struct runstate_daemon *daemon;
    size_t n_daemons;
    struct runstate_task *task;
    size_t n_tasks;
};

/* Read it.  0; 1 if there is no such file (all zero); -1 if it is damaged
 * (logged; all zero). */
int runstate_read(const struct config *, struct runstate *ret);
int runstate_write(const struct config *, const struct runstate *); /* 0, -1 */
void runstate_free(struct runstate *);

/* Last run of a task, 0 if it never ran. */
int64_t runstate_lastrun(const struct runstate *, const char *command);

#endif
