/* file.c - whole files, folders, and programs without a shell. */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"

extern char **environ;

/* close() that leaves errno to the fault that came first. */
static void
close_quietly(int fd)
{
    int saved = errno;

    (void)close(fd);
    errno = saved;
}

/* read() until something comes; 0 at the end, -1 with errno. */
static ssize_t
read_some(int fd, void *bytes, size_t n)
{
    ssize_t got;

    do
        got = read(fd, bytes, n);
    while (got < 0 && errno == EINTR);
    return got;
}

int
file_read(const char *path, size_t max, struct buf *out)
{
    enum { BLOCK = 65536 };
    size_t start = out->len;
    ssize_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -1;
    while ((got = read_some(fd, buf_reserve(out, BLOCK), BLOCK)) > 0) {
        out->len += (size_t)got;
        out->data[out->len] = '\0';
        if (out->len - start > max) {
            errno = EFBIG;
            got = -1;
            break;
        }
    }
    if (got < 0)
        buf_truncate(out, start);
    close_quietly(fd);
    return got < 0 ? -1 : 0;
}

int
file_write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;

    while (n > 0) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno != EINTR)
            return -1;
        if (done > 0) {
            p += done;
            n -= (size_t)done;
        }
    }
    return 0;
}

/* Is this open file still the one that has the name? */
static bool
has_name(int fd, const char *name)
{
    struct stat ours, there;

    return fstat(fd, &ours) == 0 && lstat(name, &there) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* The name is the same for every writer, so what a killed one left is written
 * over by the next.  The lock keeps two writers apart; who had to wait for it
 * finds that the file has been renamed meanwhile, and opens a new one. */
int
file_begin(const char *path, struct buf *temp)
{
    buf_addf(temp, "%s.tmp", path);
    for (;;) {
        int fd = open(buf_str(temp),
                      O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        int locked;

        /* complete and read-only, but the writer died before its rename */
        if (fd < 0 && errno == EACCES && unlink(buf_str(temp)) == 0)
            continue;
        if (fd < 0)
            return -1;
        while ((locked = flock(fd, LOCK_EX)) != 0 && errno == EINTR)
            ;
        if (locked == 0 && has_name(fd, buf_str(temp)) &&
            (locked = ftruncate(fd, 0)) == 0)
            return fd;
        close_quietly(fd);
        if (locked != 0)
            return -1;
    }
}

int
file_finish(int fd, struct buf *temp, const char *path, mode_t mode, bool sync,
            int rc)
{
    if (rc == 0 && (fchmod(fd, mode) != 0 || (sync && fsync(fd) != 0)))
        rc = -1;
    if (rc == 0)
        rc = rename(buf_str(temp), path);
    if (rc != 0) {
        int saved = errno;

        (void)unlink(buf_str(temp));
        errno = saved;
    }
    close_quietly(fd); /* and with it the lock */
    buf_free(temp);
    return rc;
}

static int
write_file(const char *path, const void *bytes, size_t n, mode_t mode,
           bool sync)
{
    struct buf temp = BUF_INIT;
    int fd = file_begin(path, &temp);

    if (fd < 0) {
        buf_free(&temp);
        return -1;
    }
    return file_finish(fd, &temp, path, mode, sync,
                       file_write_all(fd, bytes, n));
}

int
file_write(const char *path, const void *bytes, size_t n, mode_t mode)
{
    return write_file(path, bytes, n, mode, true);
}

int
file_write_nosync(const char *path, const void *bytes, size_t n, mode_t mode)
{
    return write_file(path, bytes, n, mode, false);
}

static int
copy_bytes(int from, int to)
{
    char block[65536];
    ssize_t got;

    while ((got = read_some(from, block, sizeof(block))) > 0)
        if (file_write_all(to, block, (size_t)got) != 0)
            return -1;
    return got < 0 ? -1 : 0;
}

int
file_copy(const char *from, const char *to, mode_t mode)
{
    struct buf temp = BUF_INIT;
    struct stat st;
    int out, rc = -1;
    int in = open(from, O_RDONLY | O_CLOEXEC);

    if (in < 0)
        return -1;
    if (fstat(in, &st) == 0 && (out = file_begin(to, &temp)) >= 0)
        rc = file_finish(out, &temp, to, mode != 0 ? mode : st.st_mode & 0777,
                         true, copy_bytes(in, out));
    buf_free(&temp);
    close_quietly(in);
    return rc;
}

bool
file_exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}

bool
file_is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* One folder; chmod() because mkdir() masks the mode and drops setgid. */
static int
make_folder(const char *path, mode_t mode)
{
    if (mkdir(path, mode & 0777) == 0)
        return chmod(path, mode);
    if (file_is_dir(path))
        return 0;
    return -1;
}

int
file_mkdirs(const char *path, mode_t mode)
{
    char *copy = xstrdup(path);
    int rc = 0;

    for (char *p = copy + 1; rc == 0 && *copy != '\0' && *p != '\0'; p++) {
        if (*p != '/' || p[-1] == '/')
            continue;
        *p = '\0';
        rc = make_folder(copy, mode);
        *p = '/';
    }
    if (rc == 0)
        rc = make_folder(copy, mode);
    free(copy);
    return rc;
}

static int remove_entries(int dir_fd);

/* Remove one entry of the folder `at`, whatever it is. */
static int
remove_at(int at, const char *name)
{
    int fd;

    if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || remove_entries(fd) != 0)
        return -1;
    return unlinkat(at, name, AT_REMOVEDIR);
}

/* Takes dir_fd. */
static int
remove_entries(int dir_fd)
{
    DIR *dir = fdopendir(dir_fd);
    struct dirent *entry;
    int rc = 0;

    if (dir == NULL) {
        close_quietly(dir_fd);
        return -1;
    }
    while (rc == 0 && (errno = 0, entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = remove_at(dirfd(dir), entry->d_name);
    if (rc == 0 && errno != 0)
        rc = -1;
    if (rc == 0)
        return closedir(dir);
    int saved = errno;
    (void)closedir(dir);
    errno = saved;
    return -1;
}

int
file_remove_tree(const char *path)
{
    return remove_at(AT_FDCWD, path);
}

/* What a child of ours starts with: stdin from a file, stdout to our pipe, no
 * signal blocked or ignored (our programs ignore SIGPIPE). */
static int
spawn(char *const argv[], const char *stdin_path, int out_fd, pid_t *ret_pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, deflt;
    int rc;

    sigemptyset(&none);
    sigemptyset(&deflt);
    sigaddset(&deflt, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &deflt);
    posix_spawnattr_setflags(&attr,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    rc = posix_spawn_file_actions_addopen(
        &files, STDIN_FILENO, stdin_path != NULL ? stdin_path : "/dev/null",
        O_RDONLY, 0);
    if (rc == 0 && out_fd >= 0)
        rc = posix_spawn_file_actions_adddup2(&files, out_fd, STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawnp(ret_pid, argv[0], &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    errno = rc;
    return rc == 0 ? 0 : -1;
}

/* Read to the end, keep the first `max` bytes: a child that says more must not
 * block. */
static void
collect(int fd, struct buf *out, size_t max)
{
    char block[4096];
    ssize_t got;

    while ((got = read_some(fd, block, sizeof(block))) > 0) {
        size_t n = (size_t)got < max ? (size_t)got : max;

        buf_addn(out, block, n);
        max -= n;
    }
}

int
file_run(char *const argv[], const char *stdin_path, struct buf *out,
         size_t max)
{
    int pipe_fd[2] = {-1, -1};
    int status, rc;
    pid_t pid, who;

    if (out != NULL && pipe2(pipe_fd, O_CLOEXEC) != 0)
        return -1;
    rc = spawn(argv, stdin_path, pipe_fd[1], &pid);
    if (out != NULL) {
        close_quietly(pipe_fd[1]);
        if (rc == 0)
            collect(pipe_fd[0], out, max);
        close_quietly(pipe_fd[0]);
    }
    if (rc != 0)
        return -1;
    do
        who = waitpid(pid, &status, 0);
    while (who < 0 && errno == EINTR);
    if (who < 0)
        return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
