/* crashpoint.c - kill a program at its k-th step, for the tests that see
 * whether it can be killed anywhere.
 *
 * Built as crashpoint.so and loaded before everything else, into programs as
 * they are installed:
 *
 *     LD_PRELOAD=…/crashpoint.so QUORATE_DIE_AT=7 transitioner --one_pass
 *
 * A step is a statement sent to the database (START TRANSACTION and COMMIT
 * too), the moment after a COMMIT has worked and before the program knows it,
 * and a change in the file system that others see: fsync, rename, unlink.  At
 * the begin of step number k, counted from 1, the process kills itself with
 * SIGKILL: nothing is flushed, no transaction rolled back, as if the machine
 * had stopped.  Steps after the last: it lives.  What a connection sets for
 * itself (SET SESSION …) is no step.
 *
 * QUORATE_DIE_COUNT=FILE has the number of steps written there at exit.
 * Without either it does nothing; nor in programs that have nothing to do with
 * a database (a shell around the program). */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The functions that are put over those of the libraries. */
int mysql_stmt_execute(void *);
int mysql_query(void *, const char *);

static long steps;

static void *
next_symbol(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);

    if (f == NULL) {
        fprintf(stderr, "crashpoint: no function %s\n", name);
        abort();
    }
    return f;
}

/* A pointer to a function cannot be cast from one to data. */
#define NEXT(pointer, name)                                                    \
    do {                                                                       \
        void *found_;                                                          \
                                                                               \
        if ((pointer) == NULL) {                                               \
            found_ = next_symbol(name);                                        \
            memcpy(&(pointer), &found_, sizeof(pointer));                      \
        }                                                                      \
    } while (0)

static void
step(void)
{
    static const char *at;

    if (at == NULL) {
        at = getenv("QUORATE_DIE_AT");
        if (at == NULL)
            at = "";
    }
    steps++;
    if (at[0] != '\0' && steps == strtol(at, NULL, 10))
        raise(SIGKILL);
}

/* Only programs that speak to a database count their files. */
static void
file_step(void)
{
    if (dlsym(RTLD_NEXT, "mysql_query") != NULL)
        step();
}

__attribute__((destructor)) static void
tell_steps(void)
{
    const char *path = getenv("QUORATE_DIE_COUNT");
    FILE *f = path != NULL && steps > 0 ? fopen(path, "w") : NULL;

    if (f == NULL)
        return;
    fprintf(f, "%ld\n", steps);
    fclose(f);
}

/* ---- the database ------------------------------------------------------- */

int
mysql_stmt_execute(void *stmt)
{
    static int (*next)(void *);

    NEXT(next, "mysql_stmt_execute");
    step();
    return next(stmt);
}

int
mysql_query(void *conn, const char *sql)
{
    static int (*next)(void *, const char *);
    int rc;

    NEXT(next, "mysql_query");
    if (strncmp(sql, "SET SESSION", 11) == 0)
        return next(conn, sql);
    step();
    rc = next(conn, sql);
    if (strcmp(sql, "COMMIT") == 0)
        step();
    return rc;
}

/* ---- files -------------------------------------------------------------- */

int
fsync(int fd)
{
    static int (*next)(int);

    NEXT(next, "fsync");
    file_step();
    return next(fd);
}

int
rename(const char *from, const char *to)
{
    static int (*next)(const char *, const char *);

    NEXT(next, "rename");
    file_step();
    return next(from, to);
}

int
unlink(const char *path)
{
    static int (*next)(const char *);

    NEXT(next, "unlink");
    file_step();
    return next(path);
}
