/* newproject_files.c - a new project's folders, keys and links. */
#include "newproject.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "path.h"
#include "sign.h"
#include "tool.h"

#if defined(__aarch64__)
const char newproject_platform[] = "aarch64-unknown-linux-gnu";
#elif defined(__arm__)
const char newproject_platform[] = "arm-unknown-linux-gnueabihf";
#elif defined(__i386__)
const char newproject_platform[] = "i686-pc-linux-gnu";
#elif defined(__powerpc64__)
const char newproject_platform[] = "powerpc64le-unknown-linux-gnu";
#elif defined(__riscv)
const char newproject_platform[] = "riscv64-unknown-linux-gnu";
#else
const char newproject_platform[] = "x86_64-pc-linux-gnu";
#endif

static int
failed(const char *what, const char *path)
{
    tool_error("%s %s: %s", what, path, strerror(errno));
    return -1;
}

/* Set-group-id folders are written by the web server and the daemons alike:
 * what one makes belongs to the group of both. */
int
newproject_make_folders(const struct newproject *p)
{
    static const struct {
        const char *name;
        mode_t mode;
    } folder[] = {
        {"apps",        0755 },
        {"archives",    0750 },
        {"bin",         0755 },
        {"cgi-bin",     0755 },
        {"download",    02775},
        {"html",        0755 },
        {"html/cache",  02770},
        {"html/pages",  0755 },
        {"html/static", 0755 },
        {"html/user",   0755 },
        {"log_",        02770},
        {"pid_",        02770},
        {"results",     0755 },
        {"templates",   0755 },
        {"tmp_",        02770},
        {"upload",      02770},
    };
    struct buf path = BUF_INIT;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(folder); i++) {
        const char *name = folder[i].name;
        bool per_host = name[strlen(name) - 1] == '_';

        buf_reset(&path);
        buf_addf(&path, "%s/%s%s", p->dir, name, per_host ? p->host : "");
        if (file_is_dir(buf_str(&path)))
            continue;
        /* chmod: a umask must not take the group's rights away */
        if (file_mkdirs(buf_str(&path), folder[i].mode) != 0 ||
            chmod(buf_str(&path), folder[i].mode) != 0)
            rc = failed("make folder", buf_str(&path));
    }
    buf_free(&path);
    return rc;
}

int
newproject_put(const struct newproject *p, const char *name, const char *text,
               unsigned mode)
{
    struct buf path = BUF_INIT;
    int rc = 0;

    buf_addf(&path, "%s/%s", p->dir, name);
    if (!file_exists(buf_str(&path)) &&
        (file_write(buf_str(&path), text, strlen(text), mode) != 0 ||
         chmod(buf_str(&path), mode) != 0))
        rc = failed("write", buf_str(&path));
    buf_free(&path);
    return rc;
}

/* ---- keys -----------------------------------------------------------------
 */

static int
write_key(const char *dir, const char *pair, const char *kind,
          const struct buf *text, mode_t mode)
{
    struct buf path = BUF_INIT;
    int rc = 0;

    buf_addf(&path, "%s/%s_%s", dir, pair, kind);
    if (file_write(buf_str(&path), buf_str(text), text->len, mode) != 0 ||
        chmod(buf_str(&path), mode) != 0)
        rc = failed("write", buf_str(&path));
    buf_free(&path);
    return rc;
}

/* A pair of which one half exists is left alone: the public half of a signing
 * key whose private half is kept on another machine is the normal case. */
static int
make_pair(const char *dir, const char *pair, mode_t private_mode,
          int (*make)(struct buf *, struct buf *))
{
    struct buf path = BUF_INIT;
    struct buf private_key = BUF_INIT;
    struct buf public_key = BUF_INIT;
    int rc = 0;

    buf_addf(&path, "%s/%s_public", dir, pair);
    if (file_exists(buf_str(&path)))
        goto out;
    buf_reset(&path);
    buf_addf(&path, "%s/%s_private", dir, pair);
    if (file_exists(buf_str(&path))) {
        tool_error("%s exists, its public half is missing", buf_str(&path));
        rc = -1;
        goto out;
    }
    rc = make(&private_key, &public_key);
    if (rc != 0)
        tool_error("making a key pair failed: %s", pair);
    if (rc == 0)
        rc = write_key(dir, pair, "private", &private_key, private_mode);
    if (rc == 0)
        rc = write_key(dir, pair, "public", &public_key, 0644);
out:
    buf_free(&path);
    buf_free(&private_key);
    buf_free(&public_key);
    return rc;
}

/* upload_private and upload_ed25519_private are read by scheduler and
 * transitioner (the group); code_sign_private by nobody but the owner, best on
 * another machine. */
int
newproject_make_keys(const struct newproject *p)
{
    struct buf dir = BUF_INIT;
    size_t n = strlen(p->root);
    int rc = 0;

    if (strncmp(p->key_dir, p->root, n) == 0 && p->key_dir[n] == '/')
        buf_addf(&dir, "%s%s", p->dir, p->key_dir + n);
    else
        buf_add(&dir, p->key_dir);
    if (!file_is_dir(buf_str(&dir)) && (file_mkdirs(buf_str(&dir), 0750) != 0 ||
                                        chmod(buf_str(&dir), 0750) != 0))
        rc = failed("make folder", buf_str(&dir));
    if (rc == 0)
        rc = make_pair(buf_str(&dir), "upload", 0640, sign_key_make);
    if (rc == 0)
        rc = make_pair(buf_str(&dir), "upload_ed25519", 0640,
                       sign_key_make_ed25519);
    if (rc == 0)
        rc = make_pair(buf_str(&dir), "code_sign", 0600, sign_key_make);
    buf_free(&dir);
    return rc;
}

/* ---- links ----------------------------------------------------------------
 */

/* DIR/where/name -> folder/program; an existing link is made anew (a re-run
 * after the suite has moved), anything else is left alone. */
static int
make_link(const struct newproject *p, const char *where, const char *name,
          const char *folder, const char *program)
{
    struct buf path = BUF_INIT;
    struct buf target = BUF_INIT;
    struct stat st;
    int rc = 0;

    buf_addf(&path, "%s/%s/%s", p->dir, where, name);
    buf_addf(&target, "%s/%s", folder, program);
    if (lstat(buf_str(&path), &st) == 0) {
        if (!S_ISLNK(st.st_mode))
            goto out;
        unlink(buf_str(&path));
    }
    if (symlink(buf_str(&target), buf_str(&path)) != 0)
        rc = failed("make link", buf_str(&path));
out:
    buf_free(&path);
    buf_free(&target);
    return rc;
}

/* bin/ gets every program of the folder under its own name. */
static int
link_all(const struct newproject *p, const char *folder)
{
    DIR *dir = opendir(folder);
    struct buf path = BUF_INIT;
    int rc = 0;

    if (dir == NULL)
        return failed("open", folder);
    for (struct dirent *e; rc == 0 && (e = readdir(dir)) != NULL;) {
        struct stat st;

        buf_reset(&path);
        buf_addf(&path, "%s/%s", folder, e->d_name);
        if (stat(buf_str(&path), &st) == 0 && S_ISREG(st.st_mode) &&
            access(buf_str(&path), X_OK) == 0)
            rc = make_link(p, "bin", e->d_name, folder, e->d_name);
    }
    closedir(dir);
    buf_free(&path);
    return rc;
}

/* The tools by name: $(bindir) may be a folder that others use too.  One that
 * is not installed gets no link; a later run makes it. */
static int
link_tools(const struct newproject *p)
{
    static const char *const tools[][2] = {
        {"start",              "supervisor"        },
        {"stop",               "supervisor"        },
        {"status",             "supervisor"        },
        {"audit",              "audit"             },
        {"batch",              "batch"             },
        {"cancel_jobs",        "cancel_jobs"       },
        {"check_plan_classes", "check_plan_classes"},
        {"create_work",        "create_work"       },
        {"dir_hier_path",      "dir_hier_path"     },
        {"explain",            "explain"           },
        {"merge_hosts",        "merge_hosts"       },
        {"set_aside",          "set_aside"         },
        {"set_priority",       "set_priority"      },
        {"show_config",        "show_config"       },
        {"show_shmem",         "show_shmem"        },
        {"sign_executable",    "sign_executable"   },
        {"stage_file",         "stage_file"        },
        {"update_versions",    "update_versions"   },
        {"xadd",               "xadd"              },
    };
    struct buf path = BUF_INIT;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(tools); i++) {
        buf_reset(&path);
        buf_addf(&path, "%s/%s", p->install.bindir, tools[i][1]);
        if (access(buf_str(&path), X_OK) == 0)
            rc = make_link(p, "bin", tools[i][0], p->install.bindir,
                           tools[i][1]);
    }
    buf_free(&path);
    return rc;
}

int
newproject_make_links(const struct newproject *p)
{
    const char *libexec = p->install.libexecdir;

    if (link_all(p, libexec) != 0 || link_tools(p) != 0)
        return -1;
    if (make_link(p, "cgi-bin", "cgi", libexec, "scheduler") != 0 ||
        make_link(p, "cgi-bin", "fcgi", libexec, "scheduler") != 0 ||
        make_link(p, "cgi-bin", "file_upload_handler", libexec,
                  "file_upload_handler") != 0 ||
        make_link(p, "cgi-bin", "web", libexec, "web") != 0)
        return -1;
    return 0;
}

/* ---- samples, the example application --------------------------------------
 */

static int
copy(const struct newproject *p, const char *from, const char *to, mode_t mode)
{
    struct buf source = BUF_INIT;
    struct buf target = BUF_INIT;
    int rc = 0;

    buf_addf(&source, "%s/%s", p->install.datadir, from);
    buf_addf(&target, "%s/%s", p->dir, to);
    if (!file_exists(buf_str(&target)) &&
        (file_copy(buf_str(&source), buf_str(&target), mode) != 0 ||
         chmod(buf_str(&target), mode) != 0)) {
        tool_error("copy %s to %s: %s", buf_str(&source), buf_str(&target),
                   strerror(errno));
        rc = -1;
    }
    buf_free(&source);
    buf_free(&target);
    return rc;
}

int
newproject_copy_samples(const struct newproject *p)
{
    return copy(p, "plan_class_spec.xml.sample", "plan_class_spec.xml.sample",
                0644);
}

int
newproject_copy_example(const struct newproject *p)
{
    struct buf folder = BUF_INIT;
    struct buf program = BUF_INIT;
    struct buf version = BUF_INIT;
    int rc = 0;

    buf_addf(&folder, "%s/apps/uppercase/1.0/%s", p->dir, newproject_platform);
    buf_addf(&program, "apps/uppercase/1.0/%s/uppercase_1.0_%s",
             newproject_platform, newproject_platform);
    buf_addf(&version,
             "<version>\n"
             "    <file>\n"
             "        <physical_name>uppercase_1.0_%s</physical_name>\n"
             "        <main_program/>\n"
             "    </file>\n"
             "</version>\n",
             newproject_platform);
    if (file_mkdirs(buf_str(&folder), 0755) != 0)
        rc = failed("make folder", buf_str(&folder));
    if (rc == 0)
        rc = copy(p, "example/uppercase/uppercase", buf_str(&program), 0755);
    if (rc == 0)
        rc = copy(p, "example/uppercase/uppercase_in", "templates/uppercase_in",
                  0644);
    if (rc == 0)
        rc = copy(p, "example/uppercase/uppercase_out",
                  "templates/uppercase_out", 0644);
    buf_reset(&folder);
    buf_addf(&folder, "apps/uppercase/1.0/%s/version.xml", newproject_platform);
    if (rc == 0)
        rc = newproject_put(p, buf_str(&folder), buf_str(&version), 0644);
    buf_free(&folder);
    buf_free(&program);
    buf_free(&version);
    return rc;
}
