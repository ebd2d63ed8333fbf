/* script_validator.c - a validator in any language: scripts of the project read
 * and compare the outputs.
 *
 * A script answers by its exit status: 0 yes, 3 not now, else no.  It gets file
 * names as arguments of their own, whatever they hold; no shell is between. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "script.h"
#include "validator.h"

static struct script init_script, compare_script; /* path NULL: none */
static struct script_limits limits = SCRIPT_LIMITS_DEFAULT;

/* What the compare script is told about a result. */
struct told {
    size_t n;
    char **path;
    char id[24], runtime[40];
};

static void
add_files(struct script_args *a, const struct told *t)
{
    for (size_t i = 0; i < t->n; i++)
        script_arg(a, t->path[i]);
}

/* A word of the option becomes arguments; `b` is NULL for the init script. */
static void
add_word(struct script_args *args, const char *word, const struct told *a,
         const struct told *b)
{
    if (strncmp(word, "lit:", 4) == 0)
        script_arg(args, word + 4);
    else if (strcmp(word, "files") == 0)
        add_files(args, a);
    else if (strcmp(word, "files2") == 0)
        add_files(args, b);
    else if (strcmp(word, "result_id") == 0)
        script_arg(args, a->id);
    else if (strcmp(word, "result_id2") == 0)
        script_arg(args, b->id);
    else if (strcmp(word, "runtime") == 0)
        script_arg(args, a->runtime);
    else if (strcmp(word, "runtime2") == 0)
        script_arg(args, b->runtime);
}

enum answer { YES, NO, LATER };

/* A script that was killed for its time says nothing about the result; one that
 * crashes or floods its log does so each time. */
static enum answer
ask(const struct script *s, const struct told *a, const struct told *b)
{
    struct script_args args = {.n = 0};
    enum script_answer answer;
    int status;

    for (char **word = s->word + 1; *word != NULL; word++)
        add_word(&args, *word, a, b);
    answer = script_run(s, &args, &limits, &status);
    script_args_free(&args);
    switch (answer) {
    case SCRIPT_EXITED:
        return status == 0 ? YES : status == 3 ? LATER : NO;
    case SCRIPT_TIMEOUT:
    case SCRIPT_NOT_RUN:
        return LATER;
    case SCRIPT_SIGNAL:
    case SCRIPT_TOO_LONG:
        break;
    }
    return NO;
}

static enum read_status
read_files(const struct output *out, void *value)
{
    struct told *t = value;

    t->path = xcalloc(out->n_files + 1, sizeof(*t->path));
    for (; t->n < out->n_files; t->n++)
        t->path[t->n] = xstrdup(out->path[t->n]);
    snprintf(t->id, sizeof(t->id), "%" PRId64, out->result_id);
    snprintf(t->runtime, sizeof(t->runtime), "%.15g", out->elapsed_time);
    if (init_script.path == NULL)
        return READ_OK;
    switch (ask(&init_script, t, NULL)) {
    case YES:
        return READ_OK;
    case LATER:
        return READ_LATER;
    case NO:
        break;
    }
    return READ_BAD;
}

static enum comparison
compare_files(const void *a, const void *b)
{
    if (compare_script.path == NULL)
        return COMPARE_SAME;
    switch (ask(&compare_script, a, b)) {
    case YES:
        return COMPARE_SAME;
    case LATER:
        return COMPARE_LATER;
    case NO:
        break;
    }
    return COMPARE_DIFFERENT;
}

static void
free_told(void *value)
{
    struct told *t = value;

    for (size_t i = 0; i < t->n; i++)
        free(t->path[i]);
    free(t->path);
}

/* ---- options --------------------------------------------------------------
 */

static const char *const of_one[] = {"files", "result_id", "runtime", NULL};
static const char *const of_two[] = {
    "files", "result_id", "runtime", "files2", "result_id2", "runtime2", NULL};

static int
set_script(const char *name, const char *text)
{
    bool init = strcmp(name, "init_script") == 0;
    struct buf err = BUF_INIT;
    int rc = init ? script_parse(text, "files", of_one, &init_script, &err)
                  : script_parse(text, "files files2", of_two, &compare_script,
                                 &err);

    if (rc != 0)
        fprintf(stderr, "--%s: %s\n", name, buf_str(&err));
    buf_free(&err);
    return rc;
}

static int
init(int argc, char **argv)
{
    for (int i = 1; i < argc;) {
        const char *name = argv[i] + strspn(argv[i], "-");
        int n = script_limit_option(&argv[i], &limits);

        if (n < 0)
            return -1;
        if (n == 0 && i + 1 < argc &&
            (strcmp(name, "init_script") == 0 ||
             strcmp(name, "compare_script") == 0)) {
            if (set_script(name, argv[i + 1]) != 0)
                return -1;
            n = 2;
        }
        if (n == 0)
            return fprintf(stderr, "%s: no such option, or no value\n",
                           argv[i]);
        i += n;
    }
    if (init_script.path == NULL && compare_script.path == NULL)
        return fprintf(stderr, "give --init_script or --compare_script\n");
    return 0;
}

const struct validator_hooks validator_hooks = {
    .value_size = sizeof(struct told),
    .read = read_files,
    .compare = compare_files,
    .free = free_told,
    .init = init,
    .usage =
        "--init_script \"NAME WORD...\": is the output of a result good?  "
        "Words "
        "are files (their paths), result_id, runtime (seconds), lit:TEXT; "
        "without words: files.\n\n"
        "--compare_script \"NAME WORD...\": do two results agree?  Also "
        "files2, "
        "result_id2, runtime2; without words: files files2.\n\n"
        "One of the two must be given.  NAME is a program in bin/ of the "
        "project; it runs in tmp_HOST.  Its exit status 0 means yes, 3 not "
        "now, anything else no; death by a signal and too much output mean no, "
        "a time-out means not now.\n\n" SCRIPT_LIMITS_USAGE,
};
