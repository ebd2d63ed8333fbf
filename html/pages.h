/* pages.h - what the web program knows while it answers, and the functions that
 * make answers; web.c has the table of names. */
#ifndef QUORATE_PAGES_H
#define QUORATE_PAGES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "buf.h"

struct config;
struct db;
struct render;

/* Error numbers of the web RPCs (protocol §1.3). */
enum rpc_error {
    RPC_OTHER = -1,
    RPC_NOT_FOUND = -136,
    RPC_NOT_UNIQUE = -137,
    RPC_NO_DATABASE = -138,
    RPC_PROJECT_DOWN = -183,
    RPC_BAD_USER_NAME = -188,
    RPC_BAD_EMAIL = -205,
    RPC_BAD_PASSWORD = -206,
    RPC_NO_CREATION = -208,
    RPC_NEEDS_CONSENT = -242,
};

struct web {
    char *root; /* of the project */
    struct config *cfg;
    struct timespec config_mtime;
    char datadir[PATH_MAX];
    char *project_pages, *installed_pages;
    struct render *render;
    struct db *db;           /* see web_db() */
    uint32_t db_tried;       /* monotonic s of the last failure */
    char *platforms;         /* XML, cached; NULL: not known yet */
    uint32_t platforms_time; /* monotonic s */
};

struct request {
    const char *page;    /* below the master URL: "", "index.php" */
    const char *query;   /* "a=1&b=2", of the URL or of a posted form */
    const char *address; /* of the client; "" unknown */
};

struct reply {
    int status;       /* of HTTP; 200 unless set */
    const char *type; /* "text/xml"; HTML unless set */
    bool cacheable;
    struct buf body;
};

/* ---- shared (web.c) -------------------------------------------------------
 */

/* The database, connected; NULL if it does not answer (tried again after 5 s).
 */
struct db *web_db(struct web *);
/* A file of the project's root exists (stop_web, stop_sched). */
bool web_flag(const struct web *, const char *name);

/* The page that a stylesheet makes of an XML document. */
void web_page(struct web *, const char *stylesheet, const struct buf *xml,
              struct reply *);
/* A page with a heading and a sentence. */
void web_message(struct web *, int status, const char *title, const char *text,
                 struct reply *);

/* <error>…</error>, status 200. */
void rpc_fail(struct reply *, enum rpc_error, const char *text);

/* Is argument `name` there and not empty or 0? */
bool web_arg_true(const struct request *, const char *name);

/* ---- answers --------------------------------------------------------------
 */
typedef void page_fn(struct web *, const struct request *, struct reply *);

page_fn page_index;          /* master.c */
page_fn page_project_config; /* project_config.c */
page_fn page_lookup_account; /* accounts.c */
page_fn page_create_account;
page_fn page_server_status; /* server_status.c */

/* <platforms>…</platforms>; from a file if the database is down
 * (project_config.c). */
const char *web_platforms(struct web *);

#endif
