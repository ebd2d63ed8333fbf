/* spawn.h - start a program of config.xml: its words, folders, output, lock. */
#ifndef QUORATE_SPAWN_H
#define QUORATE_SPAWN_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct config;
struct config_program;

/* Where a program's files are on this host. */
struct spawn_paths {
    char output[PATH_MAX];
    char lock[PATH_MAX];
    char pid[PATH_MAX]; /* "": none */
};
void spawn_paths(const struct config *, const struct config_program *,
                 struct spawn_paths *ret);

/* Environment of all programs: project folder, PATH with bin/ in front. */
void spawn_environment(const struct config *);

/* Start it in its own session, with the folder tmp_HOST, output appended, its
 * lock held and its pid file written; SIGTERM reaches it when we die.  The pid;
 * 0: an earlier one still has the lock; -1 (logged). */
pid_t spawn_program(const struct config *, const struct config_program *,
                    const struct spawn_paths *);

#endif
