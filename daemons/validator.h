/* validator.h - what a scientist includes to write a validator: a program that
 * compares the results of a workunit and so decides which are right.
 *
 * The whole file of a validator is two functions and a constant:
 *
 *     #include <quorate/validator.h>
 *
 *     static enum read_status
 *     read_pi(const struct output *out, void *value)
 *     {
 *         return fscanf(out->file[0], "%lf", (double *)value) == 1 ? READ_OK
 *                                                                  : READ_BAD;
 *     }
 *
 *     static bool
 *     same_pi(const void *a, const void *b)
 *     {
 *         return fabs(*(const double *)a - *(const double *)b) < 1e-9;
 *     }
 *
 *     const struct validator_hooks validator_hooks = {
 *         .value_size = sizeof(double), .read = read_pi, .same = same_pi,
 *     };
 *
 * The library has main(), the options, the database and the files.  It reads
 * each result once, compares pairs, grants credit and keeps the books.
 *
 * The same file makes a program or a module, see quorate(3):
 *
 *     cc pi.c -o pi_validator $(pkg-config --cflags --libs quorate)
 *     cc -shared -fPIC pi.c -o pi.so $(pkg-config --cflags quorate)
 *     validator --hooks ./pi.so --app pi */
#ifndef QUORATE_VALIDATOR_H
#define QUORATE_VALIDATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum read_status {
    READ_OK,
    READ_BAD,            /* unreadable for good: the result gets no credit */
    READ_LATER,          /* unreadable for now: asked again in a few hours */
    READ_SUSPICIOUS,     /* readable, but wants more than one other to agree */
    READ_LONG_TERM_FAIL, /* READ_BAD, and this host will go on failing: it gets
                            one result a day (with --check_punitive) */
};

enum comparison {
    COMPARE_DIFFERENT,
    COMPARE_SAME,
    COMPARE_LATER, /* cannot tell for now: asked again in a few hours */
};

enum runtime_kind { /* do the times of a result tell how fast its host is? */
                    RUNTIME_AUTOMATIC, /* unless they are absurd */
                    RUNTIME_USUAL,     /* yes, whatever they are */
                    RUNTIME_OUTLIER,   /* no: the job ended at once, say */
};

/* The output files of one result, in the order of the output template, without
 * those marked <no_validate/>.  All pointers are valid during the call alone.
 */
struct output {
    size_t n_files;
    FILE *const *file;          /* opened for reading; NULL: an <optional/> file
                                   that the host did not make */
    const char *const *path;    /* where it is */
    const char *const *logical; /* the name that the application used */
    int64_t wu_id;
    const char *wu_name;
    int64_t result_id;
    const char *result_name;
    int exit_status;        /* of the application */
    double cpu_time;        /* s */
    double elapsed_time;    /* s */
    const char *stderr_out; /* what the client reported */
    bool failed; /* a result that the client reported as failed, shown
                    to read() with --check_punitive alone: answer
                    READ_LONG_TERM_FAIL if its host is to blame.  Any
                    file may be NULL. */
};

struct validator_hooks {
    size_t value_size; /* bytes of a value; may be 0 */

    /* Read the outputs into `value`: value_size bytes, zero at first, aligned
     * for any type.  The library closes the files. */
    enum read_status (*read)(const struct output *, void *value);

    /* Do two values agree?  Give one of the two functions. */
    bool (*same)(const void *a, const void *b);
    enum comparison (*compare)(const void *a, const void *b);

    /* Optional, called right after read() with the same arguments if the result
     * is readable.  credit: what the result is worth, for
     * --post_assigned_credit; the canonical one's counts.  runtime: may its
     * times enter the averages of its host and version? */
    double (*credit)(const struct output *, const void *value);
    enum runtime_kind (*runtime)(const struct output *, const void *value);

    /* Optional: free what read() put into a value, also one it refused. */
    void (*free)(void *value);

    /* Optional: own options.  Gets argv[0] and the words that the library does
     * not know; not 0 (after a message to stderr) ends the start. */
    int (*init)(int argc, char **argv);
    const char *usage; /* a paragraph about them for --help, or NULL */
};

/* The scientist's file defines it, or calls validator_main(). */
extern const struct validator_hooks validator_hooks;

/* The whole program, for one that has a main() of its own.  Exit status. */
int validator_main(int argc, char **argv, const struct validator_hooks *);

/* The MD5 (32 hex digits) of file i without its first `skip` bytes; of nothing
 * if it is absent or shorter.  False: it cannot be read now. */
bool output_md5(const struct output *, size_t i, long skip, char ret[33]);

/* Which file did the application know by this name?  -1: none. */
int output_find(const struct output *, const char *logical);

#ifdef __cplusplus
}
#endif

#endif
