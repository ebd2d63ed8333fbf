/* gzip.c - a compressed copy of a file. */
#include "gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "buf.h"

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

int
gzip_file(const char *from, const char *to, mode_t mode)
{
    struct buf temp = BUF_INIT;
    gzFile out = NULL;
    int rc = -1;
    int in = open(from, O_RDONLY | O_CLOEXEC);

    if (in < 0)
        return -1;
    buf_addf(&temp, "%s.tmp.%ld", to, (long)getpid());
    out = gzopen(buf_str(&temp), "wb9");
    if (out != NULL)
        rc = pump(in, out);
    if (out != NULL && gzclose(out) != Z_OK && rc == 0) {
        errno = EIO; /* a full disk may show only here */
        rc = -1;
    }
    if (rc == 0 &&
        (chmod(buf_str(&temp), mode) != 0 || rename(buf_str(&temp), to) != 0))
        rc = -1;
    if (rc != 0) {
        int saved = errno;

        unlink(buf_str(&temp));
        errno = saved;
    }
    close(in);
    buf_free(&temp);
    return rc;
}
