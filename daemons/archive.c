/* archive.c - the files of db_purge. */
#include "archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "archive_record.h"
#include "archive_recover.h"
#include "buf.h"
#include "file.h"
#include "log.h"

enum {
    N_FILES = 4,
    MUCH = 1 << 20, /* bytes kept in memory */
};

static const struct {
    const char *stem, *head, *tail;
} kind[N_FILES] = {
    {"wu_archive",     "<archive>\n", "</archive>\n"},
    {"result_archive", "<archive>\n", "</archive>\n"},
    {"wu_index",       "",            ""            },
    {"result_index",   "",            ""            },
};
enum { WU_ARCHIVE, RESULT_ARCHIVE, WU_INDEX, RESULT_INDEX };

struct archive_file {
    int fd;
    struct buf path;    /* without .tmp */
    struct buf pending; /* text */
    struct archive_pack *pack;
    off_t size;   /* written */
    off_t commit; /* of it, kept for good */
};

struct archive {
    char *dir;
    bool daily_dir, open;
    enum archive_format format;
    int64_t stamp; /* T */
    int64_t workunits, batch_workunits;
    struct buf folder; /* where the open files are */
    struct archive_file file[N_FILES];
};

/* "DIR" or "DIR/2026_11_30". */
static void
folder_of(const struct archive *a, int64_t now, struct buf *ret)
{
    time_t t = (time_t)now;
    struct tm tm;
    char day[32];

    buf_reset(ret);
    buf_add(ret, a->dir);
    if (a->daily_dir && gmtime_r(&t, &tm) != NULL &&
        strftime(day, sizeof(day), "/%Y_%m_%d", &tm) > 0)
        buf_add(ret, day);
}

struct archive *
archive_new(const char *dir, bool daily_dir, enum archive_format format)
{
    struct archive *a;

    if (file_mkdirs(dir, 0770) != 0) {
        log_errno("make folder %s", dir);
        return NULL;
    }
    if (archive_recover(dir) != 0)
        return NULL;
    a = xcalloc(1, sizeof(*a));
    a->dir = xstrdup(dir);
    a->daily_dir = daily_dir;
    a->format = format;
    for (int i = 0; i < N_FILES; i++)
        a->file[i].pack = archive_pack_new(format);
    return a;
}

/* ---- open --------------------------------------------------------------- */

static void
name_files(struct archive *a, int64_t stamp)
{
    a->stamp = stamp;
    for (int i = 0; i < N_FILES; i++) {
        buf_reset(&a->file[i].path);
        buf_addf(&a->file[i].path, "%s/%s_%" PRId64 ".xml%s", a->folder.data,
                 kind[i].stem, stamp, archive_suffix(a->format));
    }
}

/* 0; 1: there is such a file; -1 (logged). */
static int
open_file(struct archive_file *f, const char *head)
{
    struct buf tmp = BUF_INIT;
    int rc = 0;

    buf_addf(&tmp, "%s.tmp", f->path.data);
    f->fd = open(tmp.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (f->fd < 0 && errno == EEXIST) {
        rc = 1;
    } else if (f->fd < 0) {
        log_errno("open %s", tmp.data);
        rc = -1;
    } else {
        (void)flock(f->fd, LOCK_EX | LOCK_NB); /* it is no leftover */
        buf_add(&f->pending, head);
        f->size = f->commit = 0;
    }
    buf_free(&tmp);
    return rc;
}

static void
drop_files(struct archive *a, int n)
{
    struct buf tmp = BUF_INIT;

    for (int i = 0; i < n; i++) {
        close(a->file[i].fd);
        buf_reset(&tmp);
        buf_addf(&tmp, "%s.tmp", a->file[i].path.data);
        unlink(tmp.data);
        buf_reset(&a->file[i].pending);
        archive_pack_drop(a->file[i].pack);
    }
    buf_free(&tmp);
}

static bool
stamp_is_taken(const struct archive *a)
{
    for (int i = 0; i < N_FILES; i++)
        if (file_exists(a->file[i].path.data))
            return true;
    return false;
}

/* Files of stamp T.  0; 1: some file has that name; -1. */
static int
open_stamp(struct archive *a, int64_t stamp)
{
    name_files(a, stamp);
    if (stamp_is_taken(a))
        return 1;
    for (int i = 0; i < N_FILES; i++) {
        int rc = open_file(&a->file[i], kind[i].head);

        if (rc != 0) {
            drop_files(a, i);
            return rc;
        }
    }
    return 0;
}

static int
open_files(struct archive *a, int64_t now)
{
    int rc;

    folder_of(a, now, &a->folder);
    if (file_mkdirs(a->folder.data, 0770) != 0) {
        log_errno("make folder %s", a->folder.data);
        return -1;
    }
    do {
        rc = open_stamp(a, now++);
    } while (rc > 0);
    if (rc != 0)
        return -1;
    a->open = true;
    a->workunits = a->batch_workunits = 0;
    return 0;
}

int
archive_begin(struct archive *a, int64_t now)
{
    struct buf folder = BUF_INIT;
    bool other_day;

    folder_of(a, now, &folder);
    other_day = a->open && strcmp(folder.data, a->folder.data) != 0;
    buf_free(&folder);
    if (other_day && archive_close(a) != 0)
        return -1;
    return a->open ? 0 : open_files(a, now);
}

/* ---- write -------------------------------------------------------------- */

/* Write what is pending; with end_piece such that it can be read whatever comes
 * behind. */
static int
flush_file(struct archive_file *f, bool end_piece)
{
    struct buf packed = BUF_INIT;
    int rc = 0;

    archive_pack_add(f->pack, buf_str(&f->pending), f->pending.len, &packed);
    if (end_piece)
        archive_pack_end(f->pack, &packed);
    if (packed.len > 0 &&
        (rc = file_write_all(f->fd, packed.data, packed.len)) != 0)
        log_errno("write %s.tmp", f->path.data);
    else
        f->size += (off_t)packed.len;
    buf_free(&packed);
    buf_reset(&f->pending);
    return rc;
}

static int
append_row(struct archive *a, int archive, int index, const char *element,
           int64_t id, const char *name, const struct archive_field *field,
           int n_fields)
{
    struct archive_file *f = &a->file[archive], *x = &a->file[index];

    archive_record(&f->pending, element, field, n_fields);
    buf_addf(&x->pending, "%" PRId64 "     %" PRId64 "    %s\n", id, a->stamp,
             name);
    if (f->pending.len > MUCH && flush_file(f, false) != 0)
        return -1;
    return 0;
}

int
archive_workunit(void *arg, int64_t id, const char *name,
                 const struct archive_field *field, int n_fields)
{
    struct archive *a = arg;

    a->batch_workunits++;
    return append_row(a, WU_ARCHIVE, WU_INDEX, ARCHIVE_WORKUNIT_ELEMENT, id,
                      name, field, n_fields);
}

int
archive_result(void *arg, int64_t id, const char *name,
               const struct archive_field *field, int n_fields)
{
    return append_row(arg, RESULT_ARCHIVE, RESULT_INDEX, ARCHIVE_RESULT_ELEMENT,
                      id, name, field, n_fields);
}

static int
sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

    rc = fd < 0 ? -1 : fsync(fd);
    if (rc != 0)
        log_errno("sync folder %s", path);
    if (fd >= 0)
        close(fd);
    return rc;
}

int
archive_sync(struct archive *a)
{
    bool fresh = false;

    for (int i = 0; i < N_FILES; i++) {
        struct archive_file *f = &a->file[i];

        fresh = fresh || f->commit == 0;
        if (flush_file(f, true) != 0)
            return -1;
        if (fsync(f->fd) != 0) {
            log_errno("sync %s.tmp", f->path.data);
            return -1;
        }
    }
    return fresh ? sync_folder(a->folder.data) : 0;
}

void
archive_commit(struct archive *a)
{
    for (int i = 0; i < N_FILES; i++)
        a->file[i].commit = a->file[i].size;
    a->workunits += a->batch_workunits;
    a->batch_workunits = 0;
}

/* If it cannot be cut, records stay that will come again: allowed. */
void
archive_rollback(struct archive *a)
{
    for (int i = 0; a->open && i < N_FILES; i++) {
        struct archive_file *f = &a->file[i];

        buf_reset(&f->pending);
        archive_pack_drop(f->pack);
        if (f->commit == 0)
            buf_add(&f->pending, kind[i].head);
        if (ftruncate(f->fd, f->commit) != 0 ||
            lseek(f->fd, f->commit, SEEK_SET) < 0)
            log_errno("cut %s.tmp", f->path.data);
        else
            f->size = f->commit;
    }
    a->batch_workunits = 0;
}

int64_t
archive_workunits(const struct archive *a)
{
    return a->open ? a->workunits : 0;
}

/* ---- close -------------------------------------------------------------- */

static int
finish_file(struct archive_file *f, const char *tail)
{
    struct buf tmp = BUF_INIT;
    int rc;

    buf_add(&f->pending, tail);
    rc = flush_file(f, true);
    if (rc == 0 && fsync(f->fd) != 0)
        rc = -1;
    if (close(f->fd) != 0)
        rc = -1;
    f->fd = -1;
    buf_addf(&tmp, "%s.tmp", f->path.data);
    if (rc == 0)
        rc = rename(tmp.data, f->path.data);
    if (rc != 0)
        log_errno("complete %s", f->path.data);
    buf_free(&tmp);
    buf_reset(&f->pending);
    return rc;
}

int
archive_close(struct archive *a)
{
    int rc = 0;

    if (!a->open)
        return 0;
    a->open = false;
    if (a->workunits == 0) {
        drop_files(a, N_FILES);
        return 0;
    }
    for (int i = 0; i < N_FILES; i++)
        if (finish_file(&a->file[i], kind[i].tail) != 0)
            rc = -1;
    if (sync_folder(a->folder.data) != 0)
        rc = -1;
    return rc;
}

void
archive_free(struct archive *a)
{
    if (a == NULL)
        return;
    archive_close(a);
    for (int i = 0; i < N_FILES; i++) {
        buf_free(&a->file[i].path);
        buf_free(&a->file[i].pending);
        archive_pack_free(a->file[i].pack);
    }
    buf_free(&a->folder);
    free(a->dir);
    free(a);
}
