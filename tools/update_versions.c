/* update_versions.c - publish the application versions of apps/ that the
 * database does not have.
 *
 * Everything is checked before anything is written: folders, names, signatures,
 * files that are published already.  Then the files are copied, then all
 * versions are inserted in one transaction.  Copied files without a version do
 * no harm: the next run finds them equal. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "cmdline.h"
#include "config.h"
#include "db.h"
#include "db_apps.h"
#include "file.h"
#include "log.h"
#include "plan_class.h"
#include "plan_class_file.h"
#include "sign.h"
#include "tool.h"
#include "version_dir.h"

struct options {
    bool noconfirm, dry_run, verbose;
    char *key;
    char *project_dir;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(noconfirm, CONF_BOOL, NULL, 0, 0, 0, "", "do not ask"),
    OPTION(dry_run, CONF_BOOL, NULL, 0, 0, 0, "",
           "check and show what would be done"),
    OPTION(verbose, CONF_BOOL, NULL, 0, 0, 0, "",
           "name each file, and the versions that are there already"),
    OPTION(key, CONF_STRING, NULL, 0, 0, 0, "FILE",
           "private key for files without FILE.sig (default: "
           "code_sign_private in the key folder, if it is there)"),
    OPTION(project_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "root of the project (default: this folder or the one above)"),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "update_versions",
    .section = 1,
    .summary = "publish new application versions",
    .description =
        "Looks for apps/NAME/VERSION/PLATFORM or ...PLATFORM__PLANCLASS, where "
        "VERSION is MAJOR.MINOR, and adds what the database does not have.  "
        "version.xml in the folder may name the main program and more; a "
        "single file is the main program.\n\n"
        "Each file needs a signature: FILE.sig beside it (sign_executable, on "
        "a machine without network), or the private key on this machine.  "
        "Every signature is checked against code_sign_public.\n\n"
        "Published files never change.  After any fault nothing has been "
        "added.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

struct candidate {
    struct version_dir dir;
    struct app_version av;
    struct buf doc;
};

struct update {
    const struct config *cfg;
    const struct options *o;
    struct db *db;
    struct candidate *version;
    size_t n;
    struct buf err;
    size_t n_known; /* versions that are there already */
};

/* ---- looking for versions -------------------------------------------------
 */

/* Do plan_class_spec.xml or, without one, the built-in classes describe it?  A
 * class with faults is none (check_plan_classes tells them). */
static bool
plan_class_is_known(const struct config *cfg, const char *name)
{
    struct plan_class_set set;
    struct plan_class_spec scratch;
    const struct plan_class_spec *spec;
    struct buf err = BUF_INIT;
    bool known;

    plan_class_file_load(cfg->project_root, &set, &err);
    spec = plan_class_find(&set, name, &scratch);
    known = spec != NULL && !spec->faulty;
    plan_class_set_free(&set);
    buf_free(&err);
    return known;
}

static void
fault(struct update *u, const char *path, const char *what, const char *name,
      const char *advice)
{
    buf_addf(&u->err, "%s: %s %s %s\n", path, what, name, advice);
}

/* The ids of application and platform.  0; 1: a fault, told; -1. */
static int
find_ids(struct update *u, struct candidate *c)
{
    struct app app;
    struct platform platform;
    int rc = db_app_by_name(u->db, c->dir.app, &app);

    if (rc == DB_NONE) {
        fault(u, c->dir.path, "no application", c->dir.app,
              "in the database: add it to project.xml and run xadd");
        return 1;
    }
    if (rc == 0)
        rc = db_platform_by_name(u->db, c->dir.platform, &platform);
    if (rc == DB_NONE) {
        fault(u, c->dir.path, "no platform", c->dir.platform,
              "in the database: add it to project.xml and run xadd");
        return 1;
    }
    if (rc != 0)
        return -1;
    c->av.appid = app.id;
    c->av.platformid = platform.id;
    c->av.version_num = c->dir.version_num;
    c->av.beta = c->dir.beta;
    str_copy(c->av.plan_class, sizeof(c->av.plan_class), c->dir.plan_class);
    return 0;
}

/* One folder.  0, also after a fault; -1: the database failed. */
static int
look_at(struct update *u, const char *path)
{
    struct candidate c = {.doc = BUF_INIT};
    int64_t id;
    int rc = 0;

    if (version_dir_read(path, &c.dir, &u->err) != 0 ||
        (rc = find_ids(u, &c)) != 0) {
        version_dir_free(&c.dir);
        return rc < 0 ? -1 : 0;
    }
    rc = db_app_version_find(u->db, &c.av, &id);
    if (rc == DB_NONE) {
        if (c.dir.plan_class[0] != '\0' &&
            !plan_class_is_known(u->cfg, c.dir.plan_class))
            fault(u, path, "plan class", c.dir.plan_class,
                  "is not described in plan_class_spec.xml: no host would be "
                  "given this version");
        u->version = xrealloc(u->version, (u->n + 1) * sizeof(*u->version));
        u->version[u->n++] = c;
        return 0;
    }
    if (rc == 0) {
        u->n_known++;
        if (u->o->verbose)
            printf("%s: is there already\n", path);
    }
    version_dir_free(&c.dir);
    return rc;
}

/* Call fn for each sub-folder, in order of the names. */
static int
each_folder(struct update *u, const char *path,
            int (*fn)(struct update *, const char *))
{
    struct dirent **entry;
    struct buf sub = BUF_INIT;
    int n = scandir(path, &entry, NULL, versionsort);
    int rc = 0;

    if (n < 0) {
        buf_addf(&u->err, "%s: %s\n", path, strerror(errno));
        return 0;
    }
    for (int i = 0; i < n; i++) {
        buf_reset(&sub);
        buf_addf(&sub, "%s/%s", path, entry[i]->d_name);
        if (rc == 0 && entry[i]->d_name[0] != '.' && file_is_dir(buf_str(&sub)))
            rc = fn(u, buf_str(&sub));
        free(entry[i]);
    }
    free(entry);
    buf_free(&sub);
    return rc;
}

static int
in_version(struct update *u, const char *path)
{
    return each_folder(u, path, look_at);
}

static int
in_app(struct update *u, const char *path)
{
    return each_folder(u, path, in_version);
}

/* ---- checking -------------------------------------------------------------
 */

static struct sign_key *
read_key(struct update *u, const char *path)
{
    struct sign_key *key = sign_key_read(path, &u->err);

    if (key == NULL)
        buf_addc(&u->err, '\n');
    return key;
}

static void
sign_all(struct update *u)
{
    struct buf path = BUF_INIT;
    struct sign_key *private_key = NULL;
    struct sign_key *public_key;

    buf_addf(&path, "%s/code_sign_public", u->cfg->key_dir);
    public_key = read_key(u, buf_str(&path));
    buf_reset(&path);
    if (u->o->key[0] != '\0')
        buf_add(&path, u->o->key);
    else
        buf_addf(&path, "%s/code_sign_private", u->cfg->key_dir);
    if (u->o->key[0] != '\0' || file_exists(buf_str(&path)))
        private_key = read_key(u, buf_str(&path));
    for (size_t i = 0; public_key != NULL && i < u->n; i++)
        version_dir_sign(&u->version[i].dir, private_key, public_key, &u->err);
    sign_key_free(private_key);
    sign_key_free(public_key);
    buf_free(&path);
}

/* Two new versions must not bring one name with two contents. */
static void
check_clashes(struct update *u, const struct version_dir *a,
              const struct version_dir *b)
{
    for (size_t i = 0; i < a->n_files; i++)
        for (size_t k = 0; k < b->n_files; k++)
            if (strcmp(a->file[i].name, b->file[k].name) == 0 &&
                strcmp(a->file[i].md5, b->file[k].md5) != 0)
                buf_addf(&u->err, "%s and %s have one name and two contents\n",
                         a->file[i].path, b->file[k].path);
}

static void
check_all(struct update *u)
{
    for (size_t i = 0; i < u->n; i++) {
        version_dir_check(&u->version[i].dir, u->cfg, &u->err);
        for (size_t k = i + 1; k < u->n; k++)
            check_clashes(u, &u->version[i].dir, &u->version[k].dir);
    }
}

/* ---- doing ----------------------------------------------------------------
 */

static void
show(const struct update *u)
{
    for (size_t i = 0; i < u->n; i++) {
        const struct version_dir *v = &u->version[i].dir;

        printf("%s %d.%02d %s%s%s%s\n", v->app, v->version_num / 100,
               v->version_num % 100, v->platform,
               v->plan_class[0] != '\0' ? " " : "", v->plan_class,
               v->beta ? " (beta)" : "");
        for (size_t k = 0; u->o->verbose && k < v->n_files; k++)
            printf("    %s%s\n", v->file[k].name,
                   v->file[k].main_program ? " (main program)" : "");
    }
    fflush(stdout);
}

static bool
confirmed(const struct update *u)
{
    char answer[16];

    if (u->o->noconfirm)
        return true;
    if (!isatty(STDIN_FILENO)) {
        tool_error("nobody to ask here: use --noconfirm");
        return false;
    }
    printf("Publish? [y/N] ");
    fflush(stdout);
    return fgets(answer, sizeof(answer), stdin) != NULL &&
           (answer[0] == 'y' || answer[0] == 'Y');
}

static int
insert_all(struct db *db, void *arg)
{
    struct update *u = arg;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < u->n; i++)
        rc = db_app_version_add(db, &u->version[i].av, clock_now(),
                                &u->version[i].av.id);
    return rc;
}

static int
publish(struct update *u)
{
    struct buf trigger = BUF_INIT;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < u->n; i++) {
        struct candidate *c = &u->version[i];

        rc = version_dir_publish(&c->dir, u->cfg, &u->err);
        if (rc != 0)
            break;
        version_dir_document(&c->dir, u->cfg, &c->doc);
        c->av.xml_doc = c->doc.data;
    }
    if (rc != 0) {
        tool_error_lines(&u->err);
        return EXIT_NO;
    }
    rc = db_transaction(u->db, insert_all, u);
    if (rc == DB_EXISTS)
        tool_error("somebody else added one of the versions meanwhile");
    if (rc != 0)
        return rc == DB_EXISTS ? EXIT_NO : EXIT_TEMPFAIL;
    buf_addf(&trigger, "%s/reread_db", u->cfg->project_root);
    if (file_write(buf_str(&trigger), "", 0, 0664) != 0)
        log_errno("write %s", buf_str(&trigger));
    buf_free(&trigger);
    printf("%zu versions added\n", u->n);
    return EXIT_OK;
}

static int
run(struct update *u)
{
    int rc = each_folder(u, u->cfg->app_dir, in_app);

    if (rc < 0)
        return EXIT_TEMPFAIL;
    if (u->n > 0) {
        sign_all(u);
        check_all(u);
    }
    if (u->err.len > 0) {
        tool_error_lines(&u->err);
        tool_error("nothing was added");
        return EXIT_NO;
    }
    if (u->n == 0) {
        printf("no new versions (%zu are there already)\n", u->n_known);
        return EXIT_OK;
    }
    show(u);
    if (u->o->dry_run)
        return EXIT_OK;
    return confirmed(u) ? publish(u) : EXIT_NO;
}

int
main(int argc, char **argv)
{
    struct options o = {.key = NULL};
    struct update u = {.o = &o, .err = BUF_INIT};
    struct config *cfg;
    int rc = EXIT_USAGE;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    cfg = tool_config(o.project_dir, argv[0]);
    if (cfg != NULL) {
        u.cfg = cfg;
        u.db = db_open(cfg, DB_ACCOUNT_OPERATOR);
        rc = u.db != NULL ? run(&u) : EXIT_TEMPFAIL;
        db_close(u.db);
    }
    for (size_t i = 0; i < u.n; i++) {
        version_dir_free(&u.version[i].dir);
        buf_free(&u.version[i].doc);
    }
    free(u.version);
    buf_free(&u.err);
    config_free(cfg);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}
