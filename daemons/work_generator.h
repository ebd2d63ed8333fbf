/* work_generator.h - what a scientist includes to write a work generator: a
 * program that makes jobs whenever few are left to be sent.
 *
 *     #include <quorate/work_generator.h>
 *
 *     static int
 *     make(struct create_work *work, int n)
 *     {
 *         for (int i = 0; i < n; i++) {
 *             struct job job;
 *
 *             job_init(&job);
 *             … name, input files, numbers …
 *             if (create_work_add(work, &job) != 0)
 *                 return -1;
 *         }
 *         return n;
 *     }
 *
 *     const struct work_generator_hooks work_generator_hooks = {.make = make};
 *
 * The library counts what is unsent, calls make() when it is less than the
 * cushion, and writes the jobs in one transaction.  If it is killed before, the
 * same jobs may be asked for again; with names that follow from what they are
 * about, each is made once. */
#ifndef QUORATE_WORK_GENERATOR_H
#define QUORATE_WORK_GENERATOR_H

#include "create_work.h"

#ifdef __cplusplus
extern "C" {
#endif

struct work_generator_hooks {
    /* Stage the files of up to n jobs and create_work_add() them.  Returns how
     * many; 0: there is nothing to do now; -1: failed (why is logged from
     * create_work_error()), tried again later, what was added is dropped. */
    int (*make)(struct create_work *, int n);

    /* Results to keep unsent, unless --cushion is given; 0: 10. */
    int cushion;

    /* Optional: own options.  Gets argv[0] and the words that the library does
     * not know; not 0 (after a message to stderr) ends the start. */
    int (*init)(int argc, char **argv);
    const char *usage; /* a paragraph about them for --help, or NULL */
};

/* The scientist's file defines it, or calls work_generator_main(). */
extern const struct work_generator_hooks work_generator_hooks;

/* The whole program, for one that has a main() of its own.  Exit status. */
int work_generator_main(int argc, char **argv,
                        const struct work_generator_hooks *);

#ifdef __cplusplus
}
#endif

#endif
