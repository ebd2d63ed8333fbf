/* shim.c - a clock that can be stepped and a disk that can be full, under
 * programs as they are installed.
 *
 *     LD_PRELOAD=…/chaos_shim.so QUORATE_CHAOS=FILE QUORATE_CHAOS_DISK=FOLDER
 *
 * FILE is a line of two numbers, read through a mapping at each call, so that
 * all programs see a change at the same moment: seconds that are added to the
 * time of day, and 1 if writing below FOLDER says ENOSPC.  It has always 32
 * bytes (chaos.sh: control). */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 32 };

static const char *control;

__attribute__((constructor)) static void
map_control(void)
{
    const char *path = getenv("QUORATE_CHAOS");
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *p;

    if (fd < 0)
        return;
    p = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
    if (p != MAP_FAILED)
        control = p;
    close(fd);
}

static long
offset(void)
{
    return control != NULL ? strtol(control, NULL, 10) : 0;
}

/* A pointer to a function cannot be cast from one to data. */
#define NEXT(pointer, name)                                                    \
    do {                                                                       \
        void *found_ = (pointer) == NULL ? dlsym(RTLD_NEXT, name) : NULL;      \
                                                                               \
        if (found_ != NULL)                                                    \
            memcpy(&(pointer), &found_, sizeof(pointer));                      \
    } while (0)

/* ---- the clock ---------------------------------------------------------- */

int
clock_gettime(clockid_t id, struct timespec *ts)
{
    static int (*next)(clockid_t, struct timespec *);
    int rc;

    NEXT(next, "clock_gettime");
    rc = next(id, ts);
    if (rc == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        ts->tv_sec += offset();
    return rc;
}

time_t
time(time_t *ret)
{
    struct timespec ts;

    if (clock_gettime(CLOCK_REALTIME, &ts) != 0)
        return (time_t)-1;
    if (ret != NULL)
        *ret = ts.tv_sec;
    return ts.tv_sec;
}

int
gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    struct timespec ts;

    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &ts) != 0)
        return -1;
    tv->tv_sec = ts.tv_sec;
    tv->tv_usec = ts.tv_nsec / 1000;
    return 0;
}

/* ---- the disk ----------------------------------------------------------- */

static int
is_full(int fd)
{
    static const char *folder;
    char link[64], path[4096];
    ssize_t n;

    if (control == NULL || control[SIZE - 2] != '1')
        return 0;
    if (folder == NULL)
        folder = getenv("QUORATE_CHAOS_DISK");
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof(path) - 1);
    if (folder == NULL || n < 0)
        return 0;
    path[n] = '\0';
    return strncmp(path, folder, strlen(folder)) == 0;
}

ssize_t
write(int fd, const void *bytes, size_t n)
{
    static ssize_t (*next)(int, const void *, size_t);

    NEXT(next, "write");
    if (is_full(fd)) {
        errno = ENOSPC;
        return -1;
    }
    return next(fd, bytes, n);
}

ssize_t
pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    static ssize_t (*next)(int, const void *, size_t, off_t);

    NEXT(next, "pwrite");
    if (is_full(fd)) {
        errno = ENOSPC;
        return -1;
    }
    return next(fd, bytes, n, at);
}
