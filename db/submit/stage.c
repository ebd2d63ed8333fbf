/* stage.c - input files of jobs in the download folders. */
#include "stage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "config.h"
#include "digest.h"
#include "file.h"
#include "gzip.h"
#include "path.h"
#include "template.h"

#define FILE_MODE 0664

static int
fail(struct buf *err, const char *path, const char *why)
{
    buf_addf(err, "%s: %s\n", path, why);
    return -1;
}

/* ---- NAME.md5 -------------------------------------------------------------
 */

static int
write_md5(const char *path, const char *md5, int64_t nbytes, struct buf *err)
{
    struct buf name = BUF_INIT;
    struct buf text = BUF_INIT;
    int rc = 0;

    buf_addf(&name, "%s.md5", path);
    buf_addf(&text, "%s %" PRId64 "\n", md5, nbytes);
    if (file_write(buf_str(&name), buf_str(&text), text.len, FILE_MODE) != 0)
        rc = fail(err, buf_str(&name), strerror(errno));
    buf_free(&name);
    buf_free(&text);
    return rc;
}

static bool
is_older(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec
                                  : a->tv_nsec < b->tv_nsec;
}

/* "MD5 NBYTES": believed if it is not older than the file and its size is the
 * file's. */
static bool
read_md5(const char *path, const struct stat *st, char md5[MD5_HEX])
{
    struct buf name = BUF_INIT;
    struct buf text = BUF_INIT;
    struct stat info;
    double nbytes = -1;
    bool good = false;

    buf_addf(&name, "%s.md5", path);
    if (stat(buf_str(&name), &info) == 0 &&
        !is_older(&info.st_mtim, &st->st_mtim) &&
        file_read(buf_str(&name), 256, &text) == 0 && text.len > 33 &&
        text.data[32] == ' ') {
        nbytes = strtod(text.data + 33, NULL);
        text.data[32] = '\0';
        good = strspn(text.data, "0123456789abcdef") == 32 &&
               nbytes == (double)st->st_size;
        if (good)
            str_copy(md5, MD5_HEX, text.data);
    }
    buf_free(&name);
    buf_free(&text);
    return good;
}

/* ---- bringing a file in ---------------------------------------------------
 */

static int
place_of(const struct config *cfg, const char *name, bool make_dir,
         struct buf *path, struct buf *err)
{
    if (!path_good_name(name))
        return fail(err, name, "no good name for a file of a job");
    if (path_hier(cfg->download_dir, name, (int)cfg->uldl_dir_fanout, make_dir,
                  path) != 0)
        return fail(err, name, strerror(errno));
    return 0;
}

/* Is the content of a file that is there the one that is to come? */
static int
compare(const char *place, const char *md5, int64_t nbytes, struct buf *err)
{
    char there[MD5_HEX];
    int64_t size;

    if (digest_md5_file(place, there, &size) != 0)
        return fail(err, place, strerror(errno));
    if (size == nbytes && strcmp(there, md5) == 0)
        return 0;
    return fail(err, place,
                "exists with another content; files of jobs never change: "
                "take another name");
}

static int
move_in(const char *from, const char *to, bool copy, struct buf *err)
{
    if (!copy && rename(from, to) == 0)
        return chmod(to, FILE_MODE) == 0 ? 0 : fail(err, to, strerror(errno));
    if (!copy && errno != EXDEV)
        return fail(err, from, strerror(errno));
    if (file_copy(from, to, FILE_MODE) != 0)
        return fail(err, from, strerror(errno));
    if (!copy && unlink(from) != 0)
        return fail(err, from, strerror(errno));
    return 0;
}

static int
make_gz(const char *place, struct buf *err)
{
    struct buf gz = BUF_INIT;
    int rc = 0;

    buf_addf(&gz, "%s.gz", place);
    if (!file_exists(buf_str(&gz)) &&
        gzip_file(place, buf_str(&gz), FILE_MODE) != 0)
        rc = fail(err, buf_str(&gz), strerror(errno));
    buf_free(&gz);
    return rc;
}

static int
bring_in(const struct config *cfg, const char *path, const char *name,
         const struct stage_options *o, enum stage_answer *ret, struct buf *err)
{
    struct buf place = BUF_INIT;
    char md5[MD5_HEX];
    int64_t nbytes;
    int rc = place_of(cfg, name, true, &place, err);

    if (rc == 0 && digest_md5_file(path, md5, &nbytes) != 0)
        rc = fail(err, path, strerror(errno));
    if (rc == 0 && file_exists(buf_str(&place))) {
        *ret = STAGE_SAME;
        rc = compare(buf_str(&place), md5, nbytes, err);
    } else if (rc == 0) {
        *ret = STAGE_NEW;
        rc = move_in(path, buf_str(&place), o->copy, err);
    }
    if (rc == 0)
        rc = write_md5(buf_str(&place), md5, nbytes, err);
    if (rc == 0 && o->gzip)
        rc = make_gz(buf_str(&place), err);
    buf_free(&place);
    return rc;
}

int
stage_put(const struct config *cfg, const char *path,
          const struct stage_options *o, enum stage_answer *ret,
          struct buf *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    struct stat st;
    int rc;

    if (stat(path, &st) != 0)
        return fail(err, path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return fail(err, path, "not a plain file");
    rc = bring_in(cfg, path, name, o, ret, err);
    if (rc == 0 && *ret == STAGE_SAME && !o->copy && unlink(path) != 0)
        rc = fail(err, path, strerror(errno));
    return rc;
}

/* ---- looking a file up ----------------------------------------------------
 */

static int64_t
size_of_gz(const char *place)
{
    struct buf gz = BUF_INIT;
    struct stat st;
    int64_t size = 0;

    buf_addf(&gz, "%s.gz", place);
    if (stat(buf_str(&gz), &st) == 0)
        size = st.st_size;
    buf_free(&gz);
    return size;
}

/* download/NAME -> download/SUB/NAME. */
static int
adopt(const struct config *cfg, const char *name, struct buf *err)
{
    static const struct stage_options copy = {.copy = true};
    struct buf top = BUF_INIT;
    enum stage_answer ignored;
    int rc;

    buf_addf(&top, "%s/%s", cfg->download_dir, name);
    if (cfg->uldl_dir_fanout > 0 && file_exists(buf_str(&top)))
        rc = bring_in(cfg, buf_str(&top), name, &copy, &ignored, err);
    else
        rc = fail(err, name, "is not staged; use stage_file first");
    buf_free(&top);
    return rc;
}

static int
describe(const struct config *cfg, const char *place, struct input_file *ret,
         struct buf *err)
{
    struct stat st;
    char md5[MD5_HEX];

    if (stat(place, &st) != 0)
        return fail(err, place, strerror(errno));
    ret->nbytes = st.st_size;
    if (!read_md5(place, &st, md5)) {
        if (digest_md5_file(place, md5, &ret->nbytes) != 0)
            return fail(err, place, strerror(errno));
        if (cfg->cache_md5_info && write_md5(place, md5, ret->nbytes, err) != 0)
            return -1;
    }
    str_copy(ret->md5, sizeof(ret->md5), md5);
    ret->gzipped_nbytes = size_of_gz(place);
    return 0;
}

int
stage_find(const struct config *cfg, const char *name, struct input_file *ret,
           struct buf *err)
{
    struct buf place = BUF_INIT;
    int rc = place_of(cfg, name, false, &place, err);

    memset(ret, 0, sizeof(*ret));
    ret->name = name;
    if (rc == 0 && !file_exists(buf_str(&place)))
        rc = adopt(cfg, name, err);
    if (rc == 0)
        rc = describe(cfg, buf_str(&place), ret, err);
    buf_free(&place);
    return rc;
}
