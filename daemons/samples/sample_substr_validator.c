/* sample_substr_validator.c - a result is right if what its program wrote to
 * standard error holds every given text (or none of them). */
#include <stdlib.h>
#include <string.h>

#include "validator.h"

enum { MAX_TEXTS = 64 };

static const char *text[MAX_TEXTS];
static int n_texts;
static bool reject_if_present;

static enum read_status
read_stderr(const struct output *out, void *value)
{
    (void)value;
    for (int i = 0; i < n_texts; i++)
        if ((strstr(out->stderr_out, text[i]) != NULL) == reject_if_present)
            return READ_BAD;
    return READ_OK;
}

static bool
same_always(const void *a, const void *b)
{
    (void)a;
    (void)b;
    return true;
}

static int
init(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i] + strspn(argv[i], "-");

        if (strcmp(name, "reject_if_present") == 0)
            reject_if_present = true;
        else if (strcmp(name, "stderr_string") == 0 && i + 1 < argc &&
                 n_texts < MAX_TEXTS)
            text[n_texts++] = argv[++i];
        else
            return fprintf(stderr,
                           "%s: not --stderr_string TEXT (64 at most) "
                           "or --reject_if_present\n",
                           argv[i]);
    }
    if (n_texts == 0)
        return fprintf(stderr, "give at least one --stderr_string TEXT\n");
    return 0;
}

const struct validator_hooks validator_hooks = {
    .read = read_stderr,
    .same = same_always,
    .init = init,
    .usage = "--stderr_string TEXT: what must be in the standard error of a "
             "result; may be given again, then all must.\n\n"
             "--reject_if_present: none of the texts may be in it.",
};
