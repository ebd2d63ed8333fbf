/* unit.h - a program that the supervisor minds: a daemon or a task of
 * config.xml and what became of it. */
#ifndef QUORATE_UNIT_H
#define QUORATE_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "config.h"
#include "spawn.h"
#include "supervise_table.h"

struct runstate;

struct unit {
    struct config_program prog; /* own copy of the texts */
    char name[128];             /* its output file without .log or .out */
    bool is_task;
    bool configured; /* still in config.xml */
    struct spawn_paths paths;

    enum unit_state state;
    pid_t pid;         /* 0: does not run */
    int64_t started;   /* Unix s */
    int64_t began;     /* monotonic s */
    int64_t due;       /* monotonic s: WAIT and ENDING act then */
    int64_t failures;  /* in a row */
    int64_t restarts;  /* since the supervisor started */
    int64_t last_run;  /* tasks: Unix s */
    char last_end[64]; /* "exit status 1" */
};

/* Bring the list in line with a config: units of the same kind, command and
 * output go on; others are added; what is gone is marked. */
void unit_merge(const struct config *, struct unit **unit, size_t *n);
void unit_free(struct unit *, size_t n);

/* A daemon of this host, configured and not disabled. */
bool unit_is_wanted(const struct unit *);

void unit_take_lastrun(struct unit *, size_t n, const struct runstate *);
bool unit_task_is_due(const struct unit *, int64_t now);

/* Write run_state_HOST.xml; started 0: the supervisor has ended. */
void unit_write_state(const struct config *, const struct unit *, size_t n,
                      int64_t supervisor_started);

/* Honest start-up: tell whoever started us how each daemon fared. */
struct unit_watch {
    int fd;        /* -1: told, or nobody asks */
    int64_t began; /* monotonic s */
};
void unit_watch_step(struct unit_watch *, const struct config *,
                     const struct unit *, size_t n);

#endif
