/* assimilator.h - what a scientist includes to write an assimilator: a program
 * that takes over finished workunits, one call for each.
 *
 *     #include <quorate/assimilator.h>
 *
 *     static enum handle_status
 *     handle(const struct finished *wu)
 *     {
 *         if (wu->error_mask != 0)
 *             return note_failure(wu->wu_name, wu->error_names);
 *         return store(wu->wu_name, wu->file[0].path);
 *     }
 *
 *     const struct assimilator_hooks assimilator_hooks = {.handle = handle};
 *
 * A workunit may be handed over again if the program was killed before the
 * database knew: a handler must leave the same effect when called twice.  Write
 * files through finished_copy() and finished_write(). */
#ifndef QUORATE_ASSIMILATOR_H
#define QUORATE_ASSIMILATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum handle_status {
    HANDLE_DONE,  /* finished with this workunit */
    HANDLE_LATER, /* failed: call again later, more and more seldom */
    HANDLE_DEFER, /* call again when every result of it is over and checked */
};

/* One output file of the canonical result. */
struct finished_file {
    const char *path;    /* where it is */
    const char *logical; /* the name that the application used */
    bool exists;         /* false: an <optional/> file the host did not make */
};

/* All pointers are valid during the call alone. */
struct finished {
    int64_t wu_id;
    const char *wu_name;
    int64_t batch;           /* 0 none */
    unsigned error_mask;     /* 0: there is a canonical result */
    const char *error_names; /* "TOO_MANY_ERROR_RESULTS|CANCELLED"; "none" */
    int64_t canonical_id;    /* result; 0 none */
    double credit;           /* granted to each valid result */
    double elapsed_time;     /* s, of the canonical result */
    size_t n_files;
    const struct finished_file *file;
    const char *project_dir; /* the project's root folder */
};

struct assimilator_hooks {
    enum handle_status (*handle)(const struct finished *);

    /* Optional: own options.  Gets argv[0] and the words that the library does
     * not know; not 0 (after a message to stderr) ends the start. */
    int (*init)(int argc, char **argv);
    const char *usage; /* a paragraph about them for --help, or NULL */
};

/* The scientist's file defines it, or calls assimilator_main(). */
extern const struct assimilator_hooks assimilator_hooks;

/* The whole program, for one that has a main() of its own.  Exit status. */
int assimilator_main(int argc, char **argv, const struct assimilator_hooks *);

/* Copy output file i to folder/name, or write a text there: the whole file
 * appears at once or not at all.  A relative folder is taken from the
 * project's root; it is made if it is not there.  '/' in a name becomes '_'.
 * 0, or -1 (logged). */
int finished_copy(const struct finished *, size_t i, const char *folder,
                  const char *name);
int finished_write(const struct finished *, const char *folder,
                   const char *name, const char *text);

#ifdef __cplusplus
}
#endif

#endif
