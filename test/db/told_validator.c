/* told_validator.c - a validator that is told what to say: the output of a
 * result is a word, and more words from "credit=N", "outlier", "usual",
 * "suspicious".  Equal first words agree.  A failed result with the exit status
 * 77 will fail for ever. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validator.h"

struct told {
    char word[32];
    double credit;
    enum runtime_kind runtime;
};

static enum read_status
read_told(const struct output *out, void *value)
{
    struct told *t = value;
    enum read_status status = READ_OK;
    char word[32];

    if (out->failed)
        return out->exit_status == 77 ? READ_LONG_TERM_FAIL : READ_BAD;
    if (out->file[0] == NULL || fscanf(out->file[0], "%31s", t->word) != 1)
        return READ_BAD;
    while (fscanf(out->file[0], "%31s", word) == 1) {
        if (strncmp(word, "credit=", 7) == 0)
            t->credit = strtod(word + 7, NULL);
        else if (strcmp(word, "outlier") == 0)
            t->runtime = RUNTIME_OUTLIER;
        else if (strcmp(word, "usual") == 0)
            t->runtime = RUNTIME_USUAL;
        else if (strcmp(word, "suspicious") == 0)
            status = READ_SUSPICIOUS;
    }
    return status;
}

static bool
same_word(const void *a, const void *b)
{
    const struct told *x = a, *y = b;

    return strcmp(x->word, y->word) == 0;
}

static double
told_credit(const struct output *out, const void *value)
{
    const struct told *t = value;

    (void)out;
    return t->credit;
}

static enum runtime_kind
told_runtime(const struct output *out, const void *value)
{
    const struct told *t = value;

    (void)out;
    return t->runtime;
}

const struct validator_hooks validator_hooks = {
    .value_size = sizeof(struct told),
    .read = read_told,
    .same = same_word,
    .credit = told_credit,
    .runtime = told_runtime,
};
