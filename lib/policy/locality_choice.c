/* locality_choice.c - where jobs with large input files go (dispatch §9.4).
 *
 * What a file costs is its way to a computer; so the aim is that each goes to
 * as few computers as can be.  Files that nobody works on come first.  At the
 * end there are more idle computers than such files: then the jobs of a file
 * are shared, but only while many are left, for the last ones would otherwise
 * draw the file to every computer that comes by.  A holder that never comes
 * back stops being one (its row is too old), and then the file is free again.
 */
#include "locality_choice.h"

#include <string.h>

size_t
locality_file_length(const char *job_name)
{
    const char *end = strstr(job_name, "__");

    return end == NULL ? 0 : (size_t)(end - job_name);
}

bool
locality_is_free(const struct locality_file *f)
{
    return !f->refused && f->unsent > 0 && f->holders <= 0;
}

/* The k-th free file, or -1. */
static ptrdiff_t
nth_free(const struct locality_file *f, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++)
        if (locality_is_free(&f[i]) && k-- == 0)
            return (ptrdiff_t)i;
    return -1;
}

static ptrdiff_t
choose_free(const struct locality_file *f, size_t n,
            const struct locality_host *host)
{
    size_t n_free = 0, k = 0;

    for (size_t i = 0; i < n; i++)
        n_free += locality_is_free(&f[i]);
    if (n_free == 0)
        return -1;
    if (!host->sorted_order && host->draw > 0)
        k = (size_t)((host->draw < 1 ? host->draw : 1) * (double)n_free);
    return nth_free(f, n, k < n_free ? k : n_free - 1);
}

/* Jobs for each, if the host joined in. */
static int64_t
share(const struct locality_file *f)
{
    return f->unsent / (f->holders + 1);
}

/* The largest share, of files that are overdue only or of all. */
static ptrdiff_t
choose_shared(const struct locality_file *f, size_t n, bool overdue)
{
    ptrdiff_t best = -1;

    for (size_t i = 0; i < n; i++) {
        if (f[i].refused || f[i].unsent <= 0 || (overdue && !f[i].overdue))
            continue;
        if (best < 0 || share(&f[i]) > share(&f[best]))
            best = (ptrdiff_t)i;
    }
    return best;
}

ptrdiff_t
locality_choose(const struct locality_file *f, size_t n,
                const struct locality_host *host)
{
    ptrdiff_t i = choose_free(f, n, host);

    if (i < 0 && host->fast)
        i = choose_shared(f, n, true);
    if (i >= 0)
        return i;
    i = choose_shared(f, n, false);
    return i >= 0 && share(&f[i]) >= host->min_share ? i : -1;
}

enum locality_use
locality_use_of(bool is_work_file, bool is_sticky_file, bool has_work_patterns,
                bool has_sticky_patterns)
{
    if (is_work_file || !(has_work_patterns || has_sticky_patterns))
        return LOCALITY_WORK;
    if (is_sticky_file)
        return LOCALITY_STAYS;
    return has_work_patterns ? LOCALITY_GOES : LOCALITY_WORK;
}
