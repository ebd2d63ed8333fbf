/* held_files.c - does a host hold an input file of a job? */
#include "held_files.h"

#include <stdlib.h>

#include "sendable.h"

/* FNV-1a */
uint64_t
held_file_hash(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (const char *c = name; *c != '\0'; c++) {
        hash ^= (unsigned char)*c;
        hash *= UINT64_C(1099511628211);
    }
    return hash != 0 ? hash : 1;
}

static int
compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

void
held_files_sort(uint64_t *hash, size_t n)
{
    if (n > 1)
        qsort(hash, n, sizeof(*hash), compare);
}

bool
held_files_any(const struct sendable *job, const uint64_t *hash, size_t n)
{
    if (n == 0)
        return false;
    for (size_t i = 0; i < SENDABLE_FILES && job->file[i] != 0; i++)
        if (bsearch(&job->file[i], hash, n, sizeof(*hash), compare) != NULL)
            return true;
    return false;
}
