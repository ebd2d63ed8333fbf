/* partfile.c - a file of the upload folder while it grows, and when it is
 * whole.
 *
 * A client that is told a size as large as its own file takes the upload for
 * done.  So a NAME.part that may be whole must never be reported with its full
 * size: before its last bytes are written it is marked (sticky bit), and of a
 * marked part, which only a handler killed right then leaves behind, one byte
 * less is reported; the client sends that byte again and the file is finished.
 */
#include "partfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "config.h"
#include "digest.h"
#include "file.h"
#include "log.h"
#include "path.h"

enum {
    FOLDER_MODE = 02770,
    NEW_MODE = 0664,
    MODE_BITS = 0666, /* nothing that is uploaded is ever executable */
    MARK = S_ISVTX,   /* the last bytes are being written */
    OPEN_TRIES = 3,
    PIECE = 65536,
};

static const char suffix[] = ".part";

bool
partfile_good_name(const char *name)
{
    size_t n = strlen(name), m = strlen(suffix);

    /* and with ".part" it is still a file name */
    return path_good_name(name) && n + m <= 255 &&
           !(n >= m && strcmp(name + n - m, suffix) == 0);
}

/* ---- folders ---- */

static int
open_upload_dir(const struct config *cfg)
{
    int fd = open(cfg->upload_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        log_errno("%s", cfg->upload_dir);
    return fd;
}

static int
open_sub_folder(int top, const char *sub, bool make)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(top, sub, flags);

    if (fd >= 0 || errno != ENOENT || !make)
        return fd;
    if (mkdirat(top, sub, FOLDER_MODE) != 0 && errno != EEXIST)
        return -1;
    fchmodat(top, sub, FOLDER_MODE, 0); /* whatever the umask */
    return openat(top, sub, flags);
}

/* The folder of a name.  -1 with errno ENOENT: it is not there (not logged). */
static int
open_folder(const struct config *cfg, const char *name, bool make)
{
    int top = open_upload_dir(cfg), fd;
    char sub[16];

    if (top < 0) {
        errno = EIO;
        return -1;
    }
    path_fanout(name, (int)cfg->uldl_dir_fanout, sub);
    if (sub[0] == '\0')
        return top;
    fd = open_sub_folder(top, sub, make);
    if (fd < 0 && errno != ENOENT)
        log_errno("%s/%s", cfg->upload_dir, sub);
    close(top);
    return fd;
}

/* ---- look ---- */

static void
start(struct partfile *p, const char *name)
{
    *p = (struct partfile){.dir = -1, .fd = -1, .name = name};
    snprintf(p->part, sizeof(p->part), "%s%s", name, suffix);
}

static enum part_answer
look_complete(int dir, const char *name, int64_t *ret_size)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
            return PART_ABSENT;
        log_errno("%s", name);
        return PART_FAILED;
    }
    if (!S_ISREG(st.st_mode)) {
        log_critical("upload: %s is there and is no file", name);
        return PART_FAILED;
    }
    *ret_size = st.st_size;
    return PART_COMPLETE;
}

static enum part_answer
open_answer(const char *part)
{
    if (errno == ENOENT)
        return PART_ABSENT;
    log_errno("%s", part);
    return PART_FAILED;
}

static enum part_answer
look_part(const struct partfile *p, int64_t *ret_size)
{
    int fd =
        openat(p->dir, p->part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    enum part_answer answer = PART_OK;
    struct stat st;

    if (fd < 0)
        return open_answer(p->part);
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        answer = PART_BUSY;
    else if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        answer = PART_FAILED;
    else if ((st.st_mode & MARK) != 0 && st.st_size > 0)
        *ret_size = st.st_size - 1;
    else
        *ret_size = st.st_size;
    close(fd);
    return answer;
}

enum part_answer
partfile_look(const struct config *cfg, const char *name, int64_t *ret_size)
{
    enum part_answer answer;
    struct partfile p;

    start(&p, name);
    p.dir = open_folder(cfg, name, false);
    if (p.dir < 0)
        return errno == ENOENT ? PART_ABSENT : PART_FAILED;
    answer = look_complete(p.dir, name, ret_size);
    if (answer == PART_ABSENT)
        answer = look_part(&p, ret_size);
    close(p.dir);
    return answer;
}

/* ---- write ---- */

static mode_t
new_mode(const struct config *cfg)
{
    int64_t mode = cfg->fuh_set_initial_permission;

    return (mode_t)((mode >= 0 ? mode : NEW_MODE) & MODE_BITS);
}

/* Lock it, and see that it is still the file of that name: another handler may
 * have finished it between our open and our lock. */
static enum part_answer
lock_part(struct partfile *p)
{
    struct stat mine, named;

    if (flock(p->fd, LOCK_EX | LOCK_NB) != 0)
        return PART_BUSY;
    if (fstat(p->fd, &mine) != 0 || !S_ISREG(mine.st_mode)) {
        log_critical("upload: %s is no file", p->part);
        return PART_FAILED;
    }
    if (fstatat(p->dir, p->part, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
        named.st_ino != mine.st_ino || named.st_dev != mine.st_dev)
        return PART_ABSENT; /* again */
    p->size = mine.st_size;
    return PART_OK;
}

static enum part_answer
open_part(struct partfile *p)
{
    enum part_answer answer;

    p->fd =
        openat(p->dir, p->part,
               O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, p->mode);
    if (p->fd < 0) {
        log_errno("%s", p->part);
        return PART_FAILED;
    }
    answer = lock_part(p);
    if (answer == PART_OK) {
        fchmod(p->fd, p->mode); /* whatever the umask; the mark goes */
        return PART_OK;
    }
    close(p->fd);
    p->fd = -1;
    return answer;
}

enum part_answer
partfile_open(struct partfile *p, const struct config *cfg, const char *name)
{
    enum part_answer answer = PART_ABSENT;

    start(p, name);
    p->mode = new_mode(cfg);
    p->dir = open_folder(cfg, name, true);
    if (p->dir < 0)
        return PART_FAILED;
    for (int i = 0; i < OPEN_TRIES && answer == PART_ABSENT; i++) {
        answer = look_complete(p->dir, name, &p->size);
        if (answer == PART_ABSENT)
            answer = open_part(p);
    }
    return answer == PART_ABSENT ? PART_BUSY : answer;
}

int
partfile_seek(struct partfile *p, int64_t offset)
{
    if ((p->size > offset && ftruncate(p->fd, offset) != 0) ||
        lseek(p->fd, offset, SEEK_SET) != offset) {
        log_errno("%s", p->part);
        return -1;
    }
    p->size = offset;
    return 0;
}

int
partfile_append(struct partfile *p, const void *bytes, size_t n, bool last)
{
    if ((last && fchmod(p->fd, p->mode | MARK) != 0) ||
        file_write_all(p->fd, bytes, n) != 0) {
        log_errno("%s", p->part);
        return -1;
    }
    p->size += (int64_t)n;
    return 0;
}

int
partfile_md5(const struct partfile *p, char ret[33])
{
    struct digest *d = digest_new_md5();
    char piece[PIECE];
    int64_t at = 0;
    ssize_t n;

    while ((n = pread(p->fd, piece, sizeof(piece), at)) > 0) {
        digest_add(d, piece, (size_t)n);
        at += n;
    }
    digest_hex(d, ret);
    if (n < 0)
        log_errno("%s", p->part);
    return n < 0 ? -1 : 0;
}

int
partfile_finish(struct partfile *p, const struct config *cfg)
{
    int64_t mode = cfg->fuh_set_completed_permission;

    if (mode < 0)
        mode = p->mode;
    if (fchmod(p->fd, (mode_t)(mode & MODE_BITS)) != 0 ||
        renameat(p->dir, p->part, p->dir, p->name) != 0) {
        log_errno("%s", p->part);
        return -1;
    }
    return 0;
}

void
partfile_discard(struct partfile *p)
{
    if (unlinkat(p->dir, p->part, 0) != 0)
        log_errno("%s", p->part);
}

void
partfile_close(struct partfile *p)
{
    if (p->fd >= 0)
        close(p->fd);
    if (p->dir >= 0)
        close(p->dir);
    p->fd = p->dir = -1;
}

int64_t
partfile_free_space(const struct config *cfg)
{
    struct statvfs fs;

    if (statvfs(cfg->upload_dir, &fs) != 0) {
        log_errno("%s", cfg->upload_dir);
        return -1;
    }
    return (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
}
