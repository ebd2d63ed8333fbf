/* project.h - a project that is being made: what make_project was told, and the
 * steps that its parts are. */
#ifndef QUORATE_PROJECT_H
#define QUORATE_PROJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "install.h"

struct buf;

struct project {
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
extern const char project_platform[];

/* ---- project_files.c: folders, keys, links, copies ----------------------- */
int project_make_folders(const struct project *);
int project_make_keys(const struct project *);
int project_make_links(const struct project *);
int project_copy_example(const struct project *);

/* Write DIR/name unless it exists.  0; -1 (message printed). */
int project_put(const struct project *, const char *name, const char *text,
                unsigned mode);

/* ---- project_text.c: the texts of a new project -------------------------- */
void project_config_xml(const struct project *, struct buf *);
void project_project_xml(const struct project *, struct buf *);
void project_schedulers(const struct project *, struct buf *);
void project_cronjob(const struct project *, struct buf *);
void project_unit(const struct project *, struct buf *); /* systemd */
void project_readme(const struct project *, struct buf *);

/* ---- project_web.c: web servers ------------------------------------------ */
void project_lighttpd(const struct project *, struct buf *server,
                      struct buf *part);
void project_apache(const struct project *, struct buf *);
void project_nginx(const struct project *, struct buf *);

/* ---- project_db.c: database ---------------------------------------------- */
/* Make the database, its tables and indexes, where they are missing.
 * *ret_created: this call made the database (undo: project_db_drop()). */
int project_db_make(const struct project *, bool drop_first, bool *ret_created);
int project_db_drop(const struct project *);

#endif
