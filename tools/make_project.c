/* make_project.c - make a project: folders, keys, links, configuration,
 * database.
 *
 * A new project is built in a folder beside its place and renamed when all of
 * it is there, the database included; so there is a whole project or none.
 * Called again for an existing project, it adds what is missing and changes
 * nothing that is there (but links, which are made anew: the suite may have
 * moved). */
#include <ctype.h>
#include <errno.h>
#include <ftw.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "cmdline.h"
#include "config.h"
#include "file.h"
#include "path.h"
#include "newproject.h"
#include "tool.h"

struct options {
    char *project_root, *project_host, *url_base;
    char *html_user_url, *html_ops_url;
    char *key_dir;
    char *db_name, *db_user, *db_passwd, *db_passwd_file, *db_host;
    char *user_name;
    char *srcdir;
    int64_t http_port;
    bool delete_prev_inst, drop_db_first, no_query, no_db, test_app;
    bool web_only, verbose;
    char *short_name, *long_name;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(project_root, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "root folder of the project (default: $HOME/projects/SHORT_NAME)"),
    OPTION(project_host, CONF_STRING, NULL, 0, 0, 0, "HOST",
           "short name of the main host (default: this one's)"),
    OPTION(url_base, CONF_STRING, NULL, 0, 0, 0, "URL",
           "begin of all URLs (default: https://HOST/, or "
           "http://127.0.0.1:PORT/ with --http_port)"),
    OPTION(html_user_url, CONF_STRING, NULL, 0, 0, 0, "URL",
           "master URL (default: URL_BASE/SHORT_NAME/)"),
    OPTION(html_ops_url, CONF_STRING, NULL, 0, 0, 0, "URL",
           "pages of operators (default: URL_BASE/SHORT_NAME_ops/)"),
    OPTION(http_port, CONF_INT, "0", 0, 65535, 0, "PORT",
           "lighttpd.conf serves the project alone, on this port of 127.0.0.1"),
    OPTION(key_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "folder of the keys (default: ROOT/keys)"),
    OPTION(db_name, CONF_STRING, NULL, 0, 0, 0, "NAME",
           "database (default: SHORT_NAME)"),
    OPTION(db_user, CONF_STRING, NULL, 0, 0, 0, "NAME",
           "database account (default: the user name)"),
    OPTION(db_passwd, CONF_STRING, NULL, 0, 0, CONF_SECRET, "PASSWORD",
           "its password; visible in the process list: better is"),
    OPTION(db_passwd_file, CONF_STRING, NULL, 0, 0, 0, "FILE",
           "file whose first line is the password"),
    OPTION(db_host, CONF_STRING, NULL, 0, 0, 0, "HOST",
           "database server: HOST, HOST:PORT or the path of its socket"),
    OPTION(user_name, CONF_STRING, NULL, 0, 0, 0, "USER",
           "owner of the project; nobody else can start it (default: you)"),
    OPTION(test_app, CONF_BOOL, NULL, 0, 0, 0, "",
           "with the example application uppercase, its validator and a "
           "copying assimilator"),
    OPTION(no_db, CONF_BOOL, NULL, 0, 0, 0, "", "make no database"),
    OPTION(drop_db_first, CONF_BOOL, NULL, 0, 0, 0, "",
           "destroy a database of that name first"),
    OPTION(delete_prev_inst, CONF_BOOL, NULL, 0, 0, 0, "",
           "destroy a project at that place first"),
    OPTION(no_query, CONF_BOOL, NULL, 0, 0, 0, "",
           "ask nothing (accepted; nothing is ever asked)"),
    OPTION(srcdir, CONF_STRING, NULL, 0, 0, CONF_DEPRECATED, "DIR",
           "has no effect: programs are linked from where they are installed"),
    OPTION(web_only, CONF_BOOL, NULL, 0, 0, CONF_DEPRECATED, "",
           "has no effect"),
    OPTION(verbose, CONF_BOOL, NULL, 0, 0, 0, "", "say each step"),
    OPTION(short_name, CONF_STRING, NULL, 0, 0, CONF_POSITIONAL | CONF_REQUIRED,
           "SHORT_NAME",
           "letters, digits, _ and -; part of URLs and file names"),
    OPTION(long_name, CONF_STRING, NULL, 0, 0, CONF_POSITIONAL, "LONG_NAME",
           "what volunteers see (default: SHORT_NAME)"),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "make_project",
    .section = 1,
    .summary = "make a project: folders, keys, configuration, database",
    .description =
        "Makes a whole project or, if anything fails, none.  For a project "
        "that exists it adds what is missing and changes nothing else, so it "
        "can be run again after an upgrade.\n\n"
        "NAME.readme in the new folder says what is left to do: the web "
        "server, xadd, update_versions, bin/start.\n\n"
        "Environment: QUORATE_BINDIR, QUORATE_LIBEXECDIR and QUORATE_DATADIR "
        "say where the suite is installed, if it is not where it was "
        "configured to be.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

static volatile sig_atomic_t interrupted;

static void
on_signal(int sig)
{
    interrupted = sig;
}

static void
step(const struct newproject *p, const char *text)
{
    if (p->verbose)
        printf("%s\n", text);
}

/* ---- what was asked for -------------------------------------------------- */

/* Set *field to formatted text if nothing was given. */
static void deflt(char **field, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void
deflt(char **field, const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list ap;

    if ((*field)[0] != '\0')
        return;
    va_start(ap, fmt);
    buf_vaddf(&text, fmt, ap);
    va_end(ap);
    free(*field);
    *field = xstrdup(buf_str(&text));
    buf_free(&text);
}

static void
end_with_slash(char **url)
{
    size_t n = strlen(*url);
    struct buf text = BUF_INIT;

    if (n > 0 && (*url)[n - 1] == '/')
        return;
    buf_addf(&text, "%s/", *url);
    free(*url);
    *url = buf_take(&text);
}

static const char *
me(void)
{
    const struct passwd *pw = getpwuid(geteuid());

    return pw != NULL ? pw->pw_name : "root";
}

static void
make_absolute(char **path)
{
    char cwd[PATH_MAX];
    struct buf text = BUF_INIT;

    if ((*path)[0] == '/' || getcwd(cwd, sizeof(cwd)) == NULL)
        return;
    buf_addf(&text, "%s/%s", cwd, *path);
    free(*path);
    *path = buf_take(&text);
}

static void
fill_defaults(struct options *o)
{
    const char *home = getenv("HOME");

    deflt(&o->long_name, "%s", o->short_name);
    deflt(&o->user_name, "%s", me());
    deflt(&o->project_host, "%s", path_short_host());
    deflt(&o->project_root, "%s/projects/%s", home != NULL ? home : "",
          o->short_name);
    make_absolute(&o->project_root);
    if (o->http_port > 0)
        deflt(&o->url_base, "http://127.0.0.1:%d/", (int)o->http_port);
    deflt(&o->url_base, "https://%s/", o->project_host);
    end_with_slash(&o->url_base);
    deflt(&o->html_user_url, "%s%s/", o->url_base, o->short_name);
    end_with_slash(&o->html_user_url);
    deflt(&o->html_ops_url, "%s%s_ops/", o->url_base, o->short_name);
    deflt(&o->key_dir, "%s/keys", o->project_root);
    make_absolute(&o->key_dir);
    deflt(&o->db_name, "%s", o->short_name);
    deflt(&o->db_user, "%s", o->user_name);
}

static bool
only_of(const char *text, const char *more)
{
    for (const char *p = text; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && strchr(more, *p) == NULL)
            return false;
    return text[0] != '\0';
}

/* These texts go into configuration files, crontabs and scripts: rather than
 * quote for each of them, we take what needs no quotes anywhere. */
static int
check(const struct options *o)
{
    const struct {
        const char *what, *text, *more;
    } test[] = {
        {"SHORT_NAME",      o->short_name,    "_-"        },
        {"--project_root",  o->project_root,  "_-./+,@:=~"},
        {"--project_host",  o->project_host,  "_-."       },
        {"--key_dir",       o->key_dir,       "_-./+,@:=~"},
        {"--url_base",      o->url_base,      "_-./:[]~"  },
        {"--html_user_url", o->html_user_url, "_-./:[]~"  },
        {"--user_name",     o->user_name,     "_-."       },
        {"--db_name",       o->db_name,       "_-$"       },
    };
    const char *colon = strstr(o->url_base, "://");

    for (size_t i = 0; i < ARRAY_LEN(test); i++)
        if (!only_of(test[i].text, test[i].more)) {
            tool_error("%s '%s': use letters, digits and %s", test[i].what,
                       test[i].text, test[i].more);
            return -1;
        }
    if (colon == NULL || strchr(colon, '.') == NULL) {
        tool_error("--url_base %s: clients accept no host without a dot; give "
                   "the full name or an address",
                   o->url_base);
        return -1;
    }
    if (o->db_passwd[0] != '\0' && o->db_passwd_file[0] != '\0') {
        tool_error("give --db_passwd or --db_passwd_file, not both");
        return -1;
    }
    return 0;
}

static int
read_password(struct options *o)
{
    struct buf text = BUF_INIT;

    if (o->db_passwd_file[0] == '\0')
        return 0;
    if (file_read(o->db_passwd_file, 4096, &text) != 0) {
        tool_error("%s: %s", o->db_passwd_file, strerror(errno));
        return -1;
    }
    free(o->db_passwd);
    o->db_passwd = xstrdup(buf_str(&text));
    o->db_passwd[strcspn(o->db_passwd, "\r\n")] = '\0';
    buf_free(&text);
    return 0;
}

static void
to_newproject(const struct options *o, struct newproject *p)
{
    p->name = o->short_name;
    p->long_name = o->long_name;
    p->root = p->dir = o->project_root;
    p->url_base = o->url_base;
    p->master_url = o->html_user_url;
    p->ops_url = o->html_ops_url;
    p->host = o->project_host;
    p->key_dir = o->key_dir;
    p->db_name = o->db_name;
    p->db_user = o->db_user;
    p->db_passwd = o->db_passwd;
    p->db_host = o->db_host;
    p->user_name = o->user_name;
    p->http_port = o->http_port;
    p->test_app = o->test_app;
    p->verbose = o->verbose;
}

/* ---- making it ------------------------------------------------------------
 */

static int
put_text(const struct newproject *p, const char *suffix,
         void (*text)(const struct newproject *, struct buf *), unsigned mode)
{
    struct buf name = BUF_INIT;
    struct buf body = BUF_INIT;
    int rc;

    buf_addf(&name, "%s%s", suffix[0] == '.' ? p->name : "", suffix);
    text(p, &body);
    rc = newproject_put(p, buf_str(&name), buf_str(&body), mode);
    buf_free(&name);
    buf_free(&body);
    return rc;
}

static int
put_lighttpd(const struct newproject *p)
{
    struct buf name = BUF_INIT;
    struct buf server = BUF_INIT;
    struct buf part = BUF_INIT;
    int rc;

    buf_addf(&name, "%s.lighttpd.conf", p->name);
    newproject_lighttpd(p, &server, &part);
    rc = newproject_put(p, buf_str(&name), buf_str(&part), 0644);
    if (rc == 0)
        rc = newproject_put(p, "lighttpd.conf", buf_str(&server), 0644);
    buf_free(&name);
    buf_free(&server);
    buf_free(&part);
    return rc;
}

static int
put_texts(const struct newproject *p)
{
    if (put_text(p, "config.xml", newproject_config_xml, 0640) != 0 ||
        put_text(p, "project.xml", newproject_project_xml, 0644) != 0 ||
        put_text(p, "html/user/schedulers.txt", newproject_schedulers, 0644) !=
            0 ||
        put_text(p, ".cronjob", newproject_cronjob, 0644) != 0 ||
        put_text(p, ".service", newproject_unit, 0644) != 0 ||
        put_text(p, ".readme", newproject_readme, 0644) != 0 ||
        put_text(p, ".httpd.conf", newproject_apache, 0644) != 0 ||
        put_text(p, ".nginx.conf", newproject_nginx, 0644) != 0)
        return -1;
    return put_lighttpd(p);
}

static int
make_files(const struct newproject *p)
{
    step(p, "folders");
    if (newproject_make_folders(p) != 0 || interrupted)
        return -1;
    step(p, "keys");
    if (newproject_make_keys(p) != 0 || interrupted)
        return -1;
    step(p, "links to the programs");
    if (newproject_make_links(p) != 0 || interrupted)
        return -1;
    if (p->test_app) {
        step(p, "example application");
        if (newproject_copy_example(p) != 0)
            return -1;
    }
    step(p, "configuration");
    if (interrupted || newproject_copy_samples(p) != 0)
        return -1;
    return put_texts(p);
}

static uid_t new_uid;
static gid_t new_gid;

static int
give_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)type;
    (void)ftw;
    if (lchown(path, new_uid, new_gid) != 0)
        return -1;
    /* chown takes set-group-id away */
    return S_ISDIR(st->st_mode) ? chmod(path, st->st_mode & 07777) : 0;
}

/* root makes a project for somebody else. */
static int
give_away(const struct newproject *p)
{
    const struct passwd *pw = getpwnam(p->user_name);

    if (pw == NULL) {
        tool_error("--user_name %s: no such user", p->user_name);
        return -1;
    }
    if (geteuid() == pw->pw_uid)
        return 0;
    if (geteuid() != 0) {
        tool_error("--user_name %s: only root can make a project for somebody "
                   "else",
                   p->user_name);
        return -1;
    }
    new_uid = pw->pw_uid;
    new_gid = pw->pw_gid;
    if (nftw(p->dir, give_one, 16, FTW_PHYS) != 0) {
        tool_error("give %s to %s: %s", p->dir, p->user_name, strerror(errno));
        return -1;
    }
    return 0;
}

static int
move_into_place(const struct newproject *p)
{
    if (interrupted)
        return -1;
    if (rename(p->dir, p->root) == 0)
        return 0;
    tool_error("rename %s to %s: %s", p->dir, p->root, strerror(errno));
    return -1;
}

static int
make_parent(const char *root)
{
    char *parent = xstrdup(root);
    char *slash = strrchr(parent, '/');
    int rc = 0;

    if (slash != NULL && slash != parent) {
        *slash = '\0';
        rc = file_mkdirs(parent, 0755);
        if (rc != 0)
            tool_error("make folder %s: %s", parent, strerror(errno));
    }
    free(parent);
    return rc;
}

/* Built beside its place; the rename is the last step. */
static int
make_new(struct newproject *p, const struct options *o)
{
    struct buf dir = BUF_INIT;
    bool db_created = false;
    int rc = -1;

    buf_addf(&dir, "%s.new.%ld", p->root, (long)getpid());
    p->dir = buf_str(&dir);
    if (make_parent(p->root) == 0 && make_files(p) == 0 && give_away(p) == 0)
        rc = 0;
    if (rc == 0 && !o->no_db) {
        step(p, "database");
        rc = newproject_db_make(p, o->drop_db_first, &db_created);
    }
    if (rc == 0)
        rc = move_into_place(p);
    if (rc != 0) {
        if (interrupted)
            tool_error("interrupted");
        if (file_remove_tree(p->dir) != 0)
            tool_error("%s is left: %s", p->dir, strerror(errno));
        if (db_created)
            newproject_db_drop(p);
        tool_error("no project was made");
    }
    p->dir = p->root;
    buf_free(&dir);
    return rc;
}

/* The existing config.xml says where the database is, not our options. */
static int
complete(struct newproject *p, const struct options *o)
{
    struct buf err = BUF_INIT;
    struct config *cfg = config_load(p->root, &err);
    bool created;
    int rc = -1;

    printf("%s exists: adding what is missing\n", p->root);
    if (cfg == NULL) {
        tool_error_lines(&err);
        goto out;
    }
    p->db_name = cfg->db_name;
    p->db_user = cfg->db_user;
    p->db_passwd = cfg->db_passwd;
    p->db_host = cfg->db_host;
    p->key_dir = cfg->key_dir;
    p->host = cfg->host;
    rc = make_files(p);
    if (rc == 0 && !o->no_db)
        rc = newproject_db_make(p, false, &created);
out:
    buf_free(&err);
    config_free(cfg);
    return rc;
}

/* Remove a project; anything else at its place is not ours to remove. */
static int
delete_old(const struct newproject *p)
{
    struct buf path = BUF_INIT;
    int rc = 0;

    buf_addf(&path, "%s/config.xml", p->root);
    if (file_is_dir(p->root)) {
        if (!file_exists(buf_str(&path))) {
            tool_error("%s is no project: not deleted", p->root);
            rc = -1;
        } else if (file_remove_tree(p->root) != 0) {
            tool_error("delete %s: %s", p->root, strerror(errno));
            rc = -1;
        }
    }
    buf_free(&path);
    return rc;
}

static int
run(struct newproject *p, const struct options *o)
{
    struct buf path = BUF_INIT;
    int rc = 0;

    if (o->delete_prev_inst)
        rc = delete_old(p);
    buf_addf(&path, "%s/config.xml", p->root);
    if (rc == 0 && file_exists(buf_str(&path))) {
        rc = complete(p, o);
    } else if (rc == 0 && file_exists(p->root) && rmdir(p->root) != 0) {
        tool_error("%s exists and is no project", p->root);
        rc = -1;
    } else if (rc == 0) {
        rc = make_new(p, o);
    }
    if (rc == 0)
        printf("project %s is in %s; what is left to do: %s/%s.readme\n",
               p->name, p->root, p->root, p->name);
    buf_free(&path);
    return rc == 0 ? EXIT_OK : EXIT_NO;
}

int
main(int argc, char **argv)
{
    struct options o = {.short_name = NULL};
    struct newproject p = {.name = NULL};
    struct sigaction sa = {.sa_handler = on_signal};
    struct buf err = BUF_INIT;
    int rc = EXIT_USAGE;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    fill_defaults(&o);
    if (check(&o) == 0 && read_password(&o) == 0) {
        to_newproject(&o, &p);
        rc = EXIT_NO;
        if (install_find(&p.install, &err) == 0)
            rc = run(&p, &o);
        else
            tool_error_lines(&err);
    }
    buf_free(&err);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}
