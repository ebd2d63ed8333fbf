/* gzip.c - a compressed copy of a file. */
#include "gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "buf.h"
#include "file.h"

static int
pump(int in, gzFile out)
{
    char bytes[65536];
    ssize_t n;

    while ((n = read(in, bytes, sizeof(bytes))) > 0)
        if (gzwrite(out, bytes, (unsigned)n) != n) {
            errno = EIO;
            return -1;
        }
    return n == 0 ? 0 : -1;
}

/* Takes nothing: `fd` stays open. */
static int
compress_to(int in, int fd)
{
    int copy = dup(fd);
    gzFile out = copy >= 0 ? gzdopen(copy, "wb9") : NULL;
    int rc;

    if (out == NULL) {
        if (copy >= 0)
            close(copy);
        return -1;
    }
    rc = pump(in, out);
    if (gzclose(out) != Z_OK && rc == 0) {
        errno = EIO; /* a full disk may show only here */
        rc = -1;
    }
    return rc;
}

int
gzip_file(const char *from, const char *to, mode_t mode)
{
    struct buf temp = BUF_INIT;
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out, rc = -1;

    if (in < 0)
        return -1;
    out = file_begin(to, &temp);
    if (out >= 0)
        rc = file_finish(out, &temp, to, mode, true, compress_to(in, out));
    buf_free(&temp);
    close(in);
    return rc;
}
