/* install.c - where the suite's programs and data are installed: as configured,
 * or wherever the whole prefix was moved to. */
#include "install.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"

/* BINDIR, PKGLIBEXECDIR and PKGDATADIR come from the Makefile. */

/* Length of the path that both have as their beginning, cut at a '/'. */
static size_t
common_prefix(const char *a, const char *b)
{
    size_t cut = 0;

    for (size_t i = 0; a[i] != '\0' && a[i] == b[i]; i++)
        if (a[i] == '/')
            cut = i;
    return cut;
}

/* Folder of this program, links followed; "" if it cannot be told. */
static void
own_folder(char *ret, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", ret, size - 1);
    char *slash;

    ret[n > 0 ? n : 0] = '\0';
    slash = strrchr(ret, '/');
    if (slash != NULL)
        *slash = '\0';
}

/* Where `configured` lies if what was to be in `from` lies in `here`:
 * /usr/bin, /mnt/usr/bin, /usr/share/quorate -> /mnt/usr/share/quorate. */
static bool
relocate(const char *from, const char *here, const char *configured, char *ret,
         size_t size)
{
    size_t common = common_prefix(from, configured);
    size_t tail = strlen(from) - common; /* "/bin" */
    size_t n = strlen(here);
    int len;

    if (n < tail || strcmp(here + n - tail, from + common) != 0)
        return false;
    len = snprintf(ret, size, "%.*s%s", (int)(n - tail), here,
                   configured + common);
    return len > 0 && (size_t)len < size && file_is_dir(ret);
}

static int
find(const char *variable, const char *configured, const char *here, char *ret,
     struct buf *err)
{
    const size_t size = PATH_MAX;
    const char *given = getenv(variable);

    if (given != NULL && given[0] != '\0')
        str_copy(ret, size, given);
    else if (!relocate(BINDIR, here, configured, ret, size) &&
             !relocate(PKGLIBEXECDIR, here, configured, ret, size))
        str_copy(ret, size, configured);
    if (file_is_dir(ret))
        return 0;
    buf_addf(err,
             "%s is no folder: install the suite (make install), or say where "
             "it is in %s\n",
             ret, variable);
    return -1;
}

int
install_find_data(char ret[PATH_MAX], struct buf *err)
{
    char here[PATH_MAX];

    own_folder(here, sizeof(here));
    return find("QUORATE_DATADIR", PKGDATADIR, here, ret, err);
}

int
install_find(struct install *ret, struct buf *err)
{
    char here[PATH_MAX];

    own_folder(here, sizeof(here));
    if (find("QUORATE_BINDIR", BINDIR, here, ret->bindir, err) != 0 ||
        find("QUORATE_LIBEXECDIR", PKGLIBEXECDIR, here, ret->libexecdir, err) !=
            0 ||
        find("QUORATE_DATADIR", PKGDATADIR, here, ret->datadir, err) != 0)
        return -1;
    return 0;
}
