/* archive_recover.c - complete the archives that a killed program left. */
#include "archive_recover.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "archive_pack.h"
#include "archive_record.h"
#include "buf.h"
#include "file.h"
#include "log.h"

enum { WINDOW = 1 << 20 }; /* bytes looked at at a time, from the end */

/* Where the last `mark` in the file ends; 0: there is none; -1. */
static off_t
end_of_last(int fd, off_t size, const char *mark)
{
    size_t m = strlen(mark);
    char *window = xmalloc(WINDOW);
    off_t found = 0;

    /* each window overlaps the next by a mark less one byte */
    for (off_t end = size; found == 0 && end >= (off_t)m;) {
        off_t begin = end > WINDOW ? end - WINDOW : 0;
        ssize_t n = pread(fd, window, (size_t)(end - begin), begin);

        if (n != end - begin) {
            found = -1;
            break;
        }
        for (ssize_t i = n - (ssize_t)m; i >= 0 && found == 0; i--)
            if (memcmp(window + i, mark, m) == 0)
                found = begin + i + (off_t)m;
        if (begin == 0)
            break;
        end = begin + (off_t)m - 1;
    }
    free(window);
    return found;
}

static bool
begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

struct leftover {
    const char *mark; /* the end of a record */
    const char *tail;
};

static struct leftover
what_is(const char *name)
{
    if (begins(name, "wu_archive_"))
        return (struct leftover){"\n</" ARCHIVE_WORKUNIT_ELEMENT ">\n",
                                 "</archive>\n"};
    if (begins(name, "result_archive_"))
        return (struct leftover){"\n</" ARCHIVE_RESULT_ELEMENT ">\n",
                                 "</archive>\n"};
    return (struct leftover){"\n", ""};
}

static int
complete(int fd, const char *tmp, const struct leftover *what)
{
    struct buf path = BUF_INIT, tail = BUF_INIT;
    struct archive_pack *pack;
    enum archive_format format;
    off_t end;
    int rc = -1;

    buf_addn(&path, tmp, strlen(tmp) - strlen(".tmp"));
    format = archive_format_of(path.data);
    end = format == ARCHIVE_AS_TEXT
              ? end_of_last(fd, lseek(fd, 0, SEEK_END), what->mark)
              : archive_pack_whole(format, fd, tmp, what->tail);
    pack = archive_pack_new(format);
    archive_pack_add(pack, what->tail, strlen(what->tail), &tail);
    archive_pack_end(pack, &tail);
    archive_pack_free(pack);
    if (end == 0)
        rc = unlink(tmp); /* no record got there */
    else if (end > 0 && ftruncate(fd, end) == 0 &&
             lseek(fd, end, SEEK_SET) == end &&
             file_write_all(fd, buf_str(&tail), tail.len) == 0 &&
             fsync(fd) == 0)
        rc = rename(tmp, path.data);
    if (rc != 0)
        log_errno("complete %s", tmp);
    else
        log_normal("%s was not complete: cut at byte %lld", tmp,
                   (long long)end);
    buf_free(&path);
    buf_free(&tail);
    return rc;
}

static int
recover_file(const char *path, const char *name)
{
    struct leftover what = what_is(name);
    int fd = open(path, O_RDWR | O_CLOEXEC), rc = 0;

    if (fd < 0) {
        log_errno("open %s", path);
        return -1;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        rc = complete(fd, path, &what);
    close(fd);
    return rc;
}

static bool
ends(const char *name, const char *with)
{
    size_t n = strlen(name), m = strlen(with);

    return n > m && strcmp(name + n - m, with) == 0;
}

static bool
is_leftover(const char *name)
{
    return (ends(name, ".xml.tmp") || ends(name, ".xml.gz.tmp") ||
            ends(name, ".xml.zst.tmp")) &&
           (begins(name, "wu_") || begins(name, "result_"));
}

static bool
is_day(const char *name)
{
    int y, m, d, n = 0;

    return sscanf(name, "%4d_%2d_%2d%n", &y, &m, &d, &n) == 3 && n == 10 &&
           name[n] == '\0';
}

static int
recover_folder(const char *dir, bool with_days)
{
    DIR *d = opendir(dir);
    struct buf path = BUF_INIT;
    int rc = 0;

    if (d == NULL) {
        log_errno("open folder %s", dir);
        return -1;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        buf_reset(&path);
        buf_addf(&path, "%s/%s", dir, e->d_name);
        if (is_leftover(e->d_name) && recover_file(path.data, e->d_name) != 0)
            rc = -1;
        if (with_days && is_day(e->d_name) &&
            recover_folder(path.data, false) != 0)
            rc = -1;
    }
    closedir(d);
    buf_free(&path);
    return rc;
}

int
archive_recover(const char *dir)
{
    return recover_folder(dir, true);
}
