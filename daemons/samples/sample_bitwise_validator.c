/* sample_bitwise_validator.c - two results agree if their output files are the
 * same, byte for byte. */
#include <stdlib.h>
#include <string.h>

#include "validator.h"

static long skip; /* bytes of each file that do not count */

struct sums {
    size_t n;
    char (*md5)[33];
};

static enum read_status
read_sums(const struct output *out, void *value)
{
    struct sums *s = value;

    s->n = out->n_files;
    s->md5 = calloc(s->n + 1, sizeof(*s->md5));
    if (s->md5 == NULL)
        return READ_LATER;
    for (size_t i = 0; i < s->n; i++)
        if (!output_md5(out, i, skip, s->md5[i]))
            return READ_LATER;
    return READ_OK;
}

static bool
same_sums(const void *a, const void *b)
{
    const struct sums *x = a, *y = b;

    return x->n == y->n && memcmp(x->md5, y->md5, x->n * sizeof(*x->md5)) == 0;
}

static void
free_sums(void *value)
{
    free(((struct sums *)value)->md5);
}

static int
init(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i] + strspn(argv[i], "-"), "is_gzip") != 0)
            return fprintf(stderr, "unknown option %s\n", argv[i]);
        skip = 10; /* a gzip header holds the time of compression */
    }
    return 0;
}

const struct validator_hooks validator_hooks = {
    .value_size = sizeof(struct sums),
    .read = read_sums,
    .same = same_sums,
    .free = free_sums,
    .init = init,
    .usage = "--is_gzip: do not compare the first 10 bytes, the gzip header.",
};
