/* audit_folders.c - audit's walk through the folders of uploads and downloads:
 * no file without an owner, none half there for ever. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit.h"
#include "buf.h"
#include "config.h"
#include "file.h"
#include "log.h"

enum {
    NAMES_AT_ONCE = 500,
    PART_AGE = 7 * 86400, /* s */
};

typedef int file_fn(struct audit *, const char *path, const char *name,
                    const struct stat *);

/* ---- a folder and those below it ------------------------------------------
 */

static int walk_folder(struct audit *a, const char *dir, int depth,
                       file_fn *fn);

static int
visit(struct audit *a, const char *dir, const char *name, int depth,
      file_fn *fn)
{
    struct buf path = BUF_INIT;
    struct stat st;
    int rc = 0;

    buf_addf(&path, "%s/%s", dir, name);
    if (lstat(buf_str(&path), &st) == 0) { /* else it has just gone */
        if (S_ISDIR(st.st_mode) && depth > 0)
            rc = walk_folder(a, buf_str(&path), depth - 1, fn);
        else if (S_ISREG(st.st_mode))
            rc = fn(a, buf_str(&path), name, &st);
    }
    buf_free(&path);
    return rc;
}

static int
walk_folder(struct audit *a, const char *dir, int depth, file_fn *fn)
{
    DIR *d = opendir(dir);
    int rc = 0;

    if (d == NULL) {
        log_errno("open folder %s", dir);
        return -1;
    }
    for (struct dirent *e; rc == 0 && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.')
            rc = visit(a, dir, e->d_name, depth, fn);
    closedir(d);
    return rc;
}

static bool
is_older(const struct audit *a, const struct stat *st, int64_t age)
{
    return (int64_t)st->st_mtime < a->scope.now - age;
}

static bool
ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n > m && strcmp(name + n - m, end) == 0;
}

/* ---- uploads without an owner ---------------------------------------------
 */

/* Files whose owners are asked for together. */
struct asked {
    char *path[NAMES_AT_ONCE];
    char *result[NAMES_AT_ONCE];
    size_t n;
};
static struct asked asked; /* between two calls of the walk */

/* "wu_1_0_r12345_0" -> "wu_1_0"; other names as they are. */
static char *
owner_of(const char *file)
{
    char *name = xstrdup(file);
    char *p = name + strlen(name);

    if (ends_with(name, ".part"))
        *(p -= 5) = '\0';
    while (p > name && isdigit((unsigned char)p[-1]))
        p--;
    if (p == name || p[-1] != '_' || *p == '\0')
        return name;
    p--;
    while (p > name && isdigit((unsigned char)p[-1]))
        p--;
    if (p - name > 2 && p[-1] == 'r' && p[-2] == '_')
        p[-2] = '\0';
    return name;
}

static int
ask_for_owners(struct audit *a)
{
    bool known[NAMES_AT_ONCE];
    int rc = db_check_known_results(a->db, (const char *const *)asked.result,
                                    asked.n, known);

    for (size_t i = 0; i < asked.n; i++) {
        if (rc == 0 && !known[i])
            audit_report(a, "file", 0, asked.path[i],
                         "no result has such an output file");
        free(asked.path[i]);
        free(asked.result[i]);
    }
    asked.n = 0;
    return rc;
}

static int
upload_owner(struct audit *a, const char *path, const char *name,
             const struct stat *st)
{
    if (!is_older(a, st, a->scope.age) || strncmp(name, "sj_", 3) == 0)
        return 0;
    asked.path[asked.n] = xstrdup(path);
    asked.result[asked.n++] = owner_of(name);
    return asked.n == NAMES_AT_ONCE ? ask_for_owners(a) : 0;
}

static int
uploads_have_owners(struct audit *a)
{
    int rc = walk_folder(a, a->cfg->upload_dir, 1, upload_owner);

    return ask_for_owners(a) != 0 ? -1 : rc;
}

/* ---- parts ----------------------------------------------------------------
 */

static int
upload_part(struct audit *a, const char *path, const char *name,
            const struct stat *st)
{
    char detail[64];

    if (!ends_with(name, ".part") || !is_older(a, st, PART_AGE))
        return 0;
    snprintf(detail, sizeof(detail), "unchanged for %" PRId64 " days",
             (a->scope.now - (int64_t)st->st_mtime) / 86400);
    audit_report(a, "file", 0, path, detail);
    return 0;
}

static int
parts_are_young(struct audit *a)
{
    return walk_folder(a, a->cfg->upload_dir, 1, upload_part);
}

/* ---- NAME.md5 -------------------------------------------------------------
 */

static int
download_md5(struct audit *a, const char *path, const char *name,
             const struct stat *st)
{
    struct buf of = BUF_INIT, text = BUF_INIT;
    char md5[33], detail[96];
    int64_t nbytes;
    struct stat file;

    (void)st;
    if (!ends_with(name, ".md5"))
        return 0;
    buf_addn(&of, path, strlen(path) - 4);
    if (stat(buf_str(&of), &file) == 0 && file_read(path, 1024, &text) == 0 &&
        (sscanf(buf_str(&text), "%32s %" SCNd64, md5, &nbytes) != 2 ||
         nbytes != file.st_size)) {
        snprintf(detail, sizeof(detail), "is not that of a file of %jd bytes",
                 (intmax_t)file.st_size);
        audit_report(a, "file", 0, path, detail);
    }
    buf_free(&of);
    buf_free(&text);
    return 0;
}

static int
md5_files_fit(struct audit *a)
{
    return walk_folder(a, a->cfg->download_dir, 1, download_md5);
}

/* ---- the table ------------------------------------------------------------
 */

static const struct audit_check checks[] = {
    {"upload-owner",
     "an uploaded file older than --age is the output of a known result",       AUDIT_BREACH, NULL, uploads_have_owners},
    {"upload-part",  "an upload that was cut off goes on within seven days",
     AUDIT_BREACH,                                                                            NULL, parts_are_young    },
    {"download-md5", "a stored MD5 belongs to a file of the size that it says",
     AUDIT_BREACH,                                                                            NULL, md5_files_fit      },
};

const struct audit_check *
audit_folder_check(size_t i)
{
    return i < ARRAY_LEN(checks) ? &checks[i] : NULL;
}
