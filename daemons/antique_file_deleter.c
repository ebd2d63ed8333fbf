/* antique_file_deleter.c - delete uploaded files that belong to no job any
 * more: their results were purged before they came, or nobody recorded them.
 *
 * A file may go if it was last written 32 days ago, and a day before the oldest
 * workunit that there is was made: whatever it belonged to is gone.  Only files
 * of the account that the upload handler runs as are looked at; links are not
 * followed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "config.h"
#include "daemon.h"
#include "db_cleanup.h"
#include "log.h"

enum {
    DAY = 86400,
    KEEP_DAYS = 32,
};

struct options {
    bool dry_run;
    int64_t usleep; /* microseconds */
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(dry_run, CONF_BOOL, NULL, 0, 0, 0, "",
           "say what would be deleted, and delete nothing"),
    OPTION(usleep, CONF_INT, "50000", 0, 10000000, 0, "microseconds",
           "wait so long after each file, so that others get at the disk"),
};
#undef CONF_STRUCT

struct antique {
    const struct options *opt;
    uid_t owner;
    int64_t before; /* Unix s: files written earlier may go */
    int64_t n_files, n_deleted, n_failed;
    int64_t n_bytes;
};

/* ---- files ---------------------------------------------------------------
 */

static void
delete_file(struct antique *a, int dir, const char *path, const char *name,
            const struct stat *st)
{
    if (a->opt->dry_run) {
        log_normal("would delete %s/%s", path, name);
    } else if (unlinkat(dir, name, 0) != 0) {
        log_errno("delete %s/%s", path, name);
        a->n_failed++;
        return;
    } else {
        log_debug("deleted %s/%s", path, name);
    }
    a->n_deleted++;
    a->n_bytes += st->st_size;
    if (!a->opt->dry_run && a->opt->usleep > 0)
        usleep((useconds_t)a->opt->usleep);
}

/* A sub-folder of the fan-out: hexadecimal digits. */
static bool
is_fanout(const char *name)
{
    return name[0] != '\0' && name[strspn(name, "0123456789abcdef")] == '\0';
}

/* Both the folder and (at the top) its sub-folders. */
static int
sweep_folder(struct antique *a, const char *path, bool is_top)
{
    DIR *d = opendir(path);

    if (d == NULL) {
        log_errno("open folder %s", path);
        return -1;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL && !daemon_stopping();) {
        struct stat st;

        if (e->d_name[0] == '.' ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISDIR(st.st_mode) && is_top && is_fanout(e->d_name)) {
            struct buf below = BUF_INIT;

            buf_addf(&below, "%s/%s", path, e->d_name);
            if (sweep_folder(a, buf_str(&below), false) != 0)
                a->n_failed++;
            buf_free(&below);
        } else if (S_ISREG(st.st_mode)) {
            a->n_files++;
            if (st.st_uid == a->owner && st.st_mtime < a->before)
                delete_file(a, dirfd(d), path, e->d_name, &st);
        }
    }
    closedir(d);
    return 0;
}

/* ---- the program ----------------------------------------------------------
 */

/* Who runs the upload handler; if that account is not here, whose folder it
 * is. */
static int
find_owner(const struct config *cfg, uid_t *ret)
{
    const struct passwd *pw = getpwnam(cfg->httpd_user);
    struct stat st;

    if (pw != NULL) {
        *ret = pw->pw_uid;
        return 0;
    }
    if (stat(cfg->upload_dir, &st) != 0) {
        log_errno("look at %s", cfg->upload_dir);
        return -1;
    }
    log_warning("<httpd_user>: there is no account %s here; files of the owner "
                "of %s are looked at",
                cfg->httpd_user, cfg->upload_dir);
    *ret = st.st_uid;
    return 0;
}

static int
one_pass(struct daemon *d)
{
    struct antique a = {
        .opt = d->options,
        .before = d->now - KEEP_DAYS * (int64_t)DAY,
    };
    int64_t oldest;
    int rc = db_cleanup_oldest(d->db, &oldest);

    if (rc > 0)
        log_critical("there are no workunits: nothing is deleted");
    if (rc != 0 || find_owner(d->cfg, &a.owner) != 0)
        return -1;
    if (oldest - DAY < a.before)
        a.before = oldest - DAY;
    if (sweep_folder(&a, d->cfg->upload_dir, true) != 0)
        return -1;
    log_normal("%" PRId64 " of %" PRId64 " files %s, %" PRId64 " bytes; "
               "%" PRId64 " failures",
               a.n_deleted, a.n_files,
               a.opt->dry_run ? "would be deleted" : "deleted", a.n_bytes,
               a.n_failed);
    return a.n_failed > 0 ? -1 : 0;
}

/* A task: it ends when it is done. */
static int
start(struct daemon *d)
{
    d->one_pass = true;
    return 0;
}

int
main(int argc, char **argv)
{
    static const struct daemon_spec spec = {
        .name = "antique_file_deleter",
        .summary = "delete uploaded files that belong to no job any more",
        .description =
            "Deletes files in the upload folder that were last written 32 days "
            "ago, and more than a day before the oldest workunit was made "
            "(those with \"nodelete\" in their name do not count), if they "
            "belong to the account <httpd_user>.  If there is no workunit, "
            "nothing is deleted and that is a failure.\n\n"
            "It runs once and ends: a task for every day.",
        .account = DB_ACCOUNT_FILE_DELETER,
        .pass = one_pass,
        .start = start,
        .options = rows,
        .n_options = ARRAY_LEN(rows),
        .options_size = sizeof(struct options),
    };

    return daemon_main(argc, argv, &spec);
}
