/* lockfile.c - one process at a time, and who it is: a file under an fcntl
 * lock. */
#include "lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <unistd.h>

static const struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

int
lockfile_take(const char *path, bool keep_on_exec)
{
    struct flock lock = whole;
    int fd =
        open(path, O_RDWR | O_CREAT | (keep_on_exec ? 0 : O_CLOEXEC), 0660);

    if (fd < 0)
        return -1;
    if (fcntl(fd, F_SETLK, &lock) != 0) {
        int saved = errno == EACCES ? EAGAIN : errno;

        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

pid_t
lockfile_owner(const char *path)
{
    struct flock lock = whole;
    int fd = open(path, O_RDONLY | O_CLOEXEC); /* enough to ask */
    pid_t owner = 0;

    if (fd < 0)
        return 0;
    if (fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
        owner = lock.l_pid;
    close(fd);
    return owner;
}

/* The descriptor pins the process; if it still owns the lock after that, it is
 * the one we mean. */
int
lockfile_signal(const char *path, int sig)
{
    pid_t owner = lockfile_owner(path);
    int fd, rc;

    if (owner == 0)
        return 1;
    fd = pidfd_open(owner, 0);
    if (fd < 0)
        return errno == ESRCH ? 1 : -1;
    if (lockfile_owner(path) != owner)
        rc = 1;
    else
        rc = pidfd_send_signal(fd, sig, NULL, 0) == 0 ? 0
             : errno == ESRCH                         ? 1
                                                      : -1;
    close(fd);
    return rc;
}
