/* newproject.h - a project that is being made: what make_project was told, and
 * the steps that its parts are. */
#ifndef QUORATE_NEWPROJECT_H
#define QUORATE_NEWPROJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "install.h"

struct buf;

struct newproject {
    const char *name; /* short name: letters, digits, _ and - */
    const char *long_name;
    const char *root;       /* where it will be */
    const char *dir;        /* where it is being built: root, or beside it */
    const char *url_base;   /* "http://host/", with the slash */
    const char *master_url; /* URL_BASE/NAME/ */
    const char *ops_url;
    const char *host; /* short name of the main host */
    const char *key_dir;
    const char *db_name, *db_user, *db_passwd, *db_host;
    const char *user_name; /* who owns the project; start refuses others */
    int64_t http_port;     /* own lighttpd on loopback; 0: none */
    bool test_app;         /* with the example application */
    bool verbose;
    struct install install;
};

/* Platform name of the machine that this was compiled for. */
extern const char newproject_platform[];

/* ---- newproject_files.c: folders, keys, links, copies -----------------------
 */
int newproject_make_folders(const struct newproject *);
int newproject_make_keys(const struct newproject *);
int newproject_make_links(const struct newproject *);
int newproject_copy_samples(const struct newproject *);
int newproject_copy_example(const struct newproject *);

/* Write DIR/name unless it exists.  0; -1 (message printed). */
int newproject_put(const struct newproject *, const char *name,
                   const char *text, unsigned mode);

/* ---- newproject_text.c: the texts of a new project --------------------------
 */
void newproject_config_xml(const struct newproject *, struct buf *);
void newproject_project_xml(const struct newproject *, struct buf *);
void newproject_schedulers(const struct newproject *, struct buf *);
void newproject_cronjob(const struct newproject *, struct buf *);
void newproject_unit(const struct newproject *, struct buf *); /* systemd */
void newproject_readme(const struct newproject *, struct buf *);

/* ---- newproject_web.c: web servers ------------------------------------------
 */
void newproject_lighttpd(const struct newproject *, struct buf *server,
                         struct buf *part);
void newproject_apache(const struct newproject *, struct buf *);
void newproject_nginx(const struct newproject *, struct buf *);

/* ---- newproject_db.c: database ----------------------------------------------
 */
/* Make the database, its tables and indexes, where they are missing.
 * *ret_created: this call made the database (undo: newproject_db_drop()). */
int newproject_db_make(const struct newproject *, bool drop_first,
                       bool *ret_created);
int newproject_db_drop(const struct newproject *);

#endif
