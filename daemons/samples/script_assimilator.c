/* script_assimilator.c - an assimilator in any language: a script of the
 * project takes each finished workunit.
 *
 * Its exit status 0 means done; anything else, and whatever kills it, means
 * again later.  It must bear to be called twice for one workunit. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "assimilator.h"
#include "buf.h"
#include "script.h"

static struct script script; /* path NULL: none */
static struct script_limits limits = SCRIPT_LIMITS_DEFAULT;

struct numbers { /* as arguments */
    char wu_id[24], result_id[24], batch_id[24], mask[24], runtime[40];
};

static void
add_word(struct script_args *args, const char *word, const struct finished *wu,
         const struct numbers *number)
{
    if (strncmp(word, "lit:", 4) == 0)
        script_arg(args, word + 4);
    else if (strcmp(word, "wu_id") == 0)
        script_arg(args, number->wu_id);
    else if (strcmp(word, "wu_name") == 0)
        script_arg(args, wu->wu_name);
    else if (strcmp(word, "result_id") == 0)
        script_arg(args, number->result_id);
    else if (strcmp(word, "runtime") == 0)
        script_arg(args, number->runtime);
    else if (strcmp(word, "batch_id") == 0)
        script_arg(args, number->batch_id);
    else /* files, files2 */
        for (size_t i = 0; i < wu->n_files; i++) {
            script_arg(args, wu->file[i].path);
            if (strcmp(word, "files2") == 0)
                script_arg(args, wu->file[i].logical);
        }
}

static void
add_failure(struct script_args *args, const struct finished *wu,
            const struct numbers *number)
{
    script_arg(args, "--error");
    script_arg(args, number->mask);
    script_arg(args, wu->wu_name);
    script_arg(args, number->wu_id);
    script_arg(args, number->batch_id);
}

static enum handle_status
run_script(const struct finished *wu)
{
    struct script_args args = {.n = 0};
    struct numbers number;
    int status;
    bool done;

    snprintf(number.wu_id, sizeof(number.wu_id), "%" PRId64, wu->wu_id);
    snprintf(number.batch_id, sizeof(number.batch_id), "%" PRId64, wu->batch);
    snprintf(number.result_id, sizeof(number.result_id), "%" PRId64,
             wu->canonical_id);
    snprintf(number.mask, sizeof(number.mask), "%u", wu->error_mask);
    snprintf(number.runtime, sizeof(number.runtime), "%.15g", wu->elapsed_time);
    if (wu->error_mask != 0)
        add_failure(&args, wu, &number);
    else
        for (char **word = script.word + 1; *word != NULL; word++)
            add_word(&args, *word, wu, &number);
    done = script_run(&script, &args, &limits, &status) == SCRIPT_EXITED &&
           status == 0;
    script_args_free(&args);
    return done ? HANDLE_DONE : HANDLE_LATER;
}

static int
set_script(const char *text)
{
    static const char *const known[] = {"files",    "files2",  "wu_id",
                                        "wu_name",  "runtime", "result_id",
                                        "batch_id", NULL};
    struct buf err = BUF_INIT;
    int rc = script_parse(text, "wu_id files", known, &script, &err);

    if (rc != 0)
        fprintf(stderr, "--script: %s\n", buf_str(&err));
    buf_free(&err);
    return rc;
}

static int
init(int argc, char **argv)
{
    for (int i = 1; i < argc;) {
        int n = script_limit_option(&argv[i], &limits);

        if (n < 0)
            return -1;
        if (n == 0 && i + 1 < argc &&
            strcmp(argv[i] + strspn(argv[i], "-"), "script") == 0) {
            if (set_script(argv[i + 1]) != 0)
                return -1;
            n = 2;
        }
        if (n == 0)
            return fprintf(stderr, "%s: no such option, or no value\n",
                           argv[i]);
        i += n;
    }
    return script.path != NULL ? 0 : fprintf(stderr, "give --script\n");
}

const struct assimilator_hooks assimilator_hooks = {
    .handle = run_script,
    .init = init,
    .usage =
        "--script \"NAME WORD...\": the program bin/NAME of the project, which "
        "runs in tmp_HOST.  Words are files (paths), files2 (path and logical "
        "name of each), wu_id, wu_name, result_id, runtime (seconds), "
        "batch_id, lit:TEXT; without words: wu_id files.  For a failed "
        "workunit it is NAME --error MASK WU_NAME WU_ID BATCH.  An exit "
        "status other than 0 means again later.\n\n" SCRIPT_LIMITS_USAGE,
};
