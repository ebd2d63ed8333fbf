/* project_config.c - get_project_config.php: what a client or account manager
 * must know before it attaches (protocol §1.2).
 *
 * It works while the database is down: the list of platforms is kept in memory
 * for a minute, and in a file for worse times. */
#include <stdlib.h>
#include <string.h>

#include "build-config.h"
#include "clock.h"
#include "config.h"
#include "db.h"
#include "db_web.h"
#include "file.h"
#include "log.h"
#include "pages.h"
#include "xml.h"

#define PLATFORMS_AGE 60 /* s */
#define MAX_CACHE (1 << 20)
#define MAX_TERMS 65536

/* ---- platforms ------------------------------------------------------------
 */

static void
put_platforms(const struct web_platform *p, size_t n, struct buf *b)
{
    xml_open(b, "platforms");
    for (size_t i = 0; i < n; i++) {
        xml_open(b, "platform");
        xml_put_str(b, "platform_name", p[i].name);
        xml_put_str(b, "user_friendly_name", p[i].user_friendly_name);
        if (p[i].plan_class[0] != '\0')
            xml_put_str(b, "plan_class", p[i].plan_class);
        xml_close(b, "platform");
    }
    xml_close(b, "platforms");
}

static void
cache_path(const struct web *w, struct buf *path)
{
    buf_addf(path, "%s/html/cache/platforms.xml", w->root);
}

/* From the database.  False: it does not answer. */
static bool
ask_database(struct web *w)
{
    struct db *db = web_db(w);
    struct web_platform *list;
    struct buf text = BUF_INIT;
    struct buf path = BUF_INIT;
    size_t n;

    if (db == NULL || db_web_platforms(db, &list, &n) != 0)
        return false;
    put_platforms(list, n, &text);
    free(list);
    cache_path(w, &path);
    if ((w->platforms == NULL || strcmp(w->platforms, buf_str(&text)) != 0) &&
        file_write_nosync(buf_str(&path), buf_str(&text), text.len, 0664) != 0)
        log_warning("cannot write %s", buf_str(&path));
    free(w->platforms);
    w->platforms = buf_take(&text);
    buf_free(&path);
    return true;
}

static void
read_cache(struct web *w)
{
    struct buf path = BUF_INIT;
    struct buf text = BUF_INIT;

    cache_path(w, &path);
    if (file_read(buf_str(&path), MAX_CACHE, &text) != 0 ||
        strncmp(buf_str(&text), "<platforms>", 11) != 0) {
        buf_reset(&text);
        put_platforms(NULL, 0, &text);
    }
    w->platforms = buf_take(&text);
    buf_free(&path);
}

const char *
web_platforms(struct web *w)
{
    uint32_t now = clock_monotonic();

    if (w->platforms != NULL && now - w->platforms_time < PLATFORMS_AGE)
        return w->platforms;
    if (ask_database(w))
        w->platforms_time = now;
    else if (w->platforms == NULL)
        read_cache(w);
    return w->platforms;
}

/* ---- the document ---------------------------------------------------------
 */

static void
put_terms(const struct web *w, struct buf *b)
{
    struct buf path = BUF_INIT;
    struct buf text = BUF_INIT;

    buf_addf(&path, "%s/terms_of_use.txt", w->root);
    if (file_read(buf_str(&path), MAX_TERMS, &text) == 0 && text.len > 0) {
        buf_add(b, "<terms_of_use>\n");
        xml_escape(b, buf_str(&text));
        buf_add(b, "\n</terms_of_use>\n");
    }
    buf_free(&path);
    buf_free(&text);
}

static void
put_accounts(const struct config *cfg, struct buf *b)
{
    if (cfg->disable_account_creation)
        xml_put_empty(b, "account_creation_disabled");
    if (cfg->disable_account_creation_rpc)
        xml_put_empty(b, "client_account_creation_disabled");
    xml_put_i64(b, "min_passwd_length", cfg->min_passwd_length);
    if (cfg->account_manager)
        xml_put_empty(b, "account_manager");
}

void
page_project_config(struct web *w, const struct request *rq,
                    struct reply *reply)
{
    const struct config *cfg = w->cfg;
    struct buf *b = &reply->body;
    bool stopped = web_flag(w, "stop_web");

    (void)rq;
    reply->type = "text/xml";
    buf_add(b, "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n");
    xml_open(b, "project_config");
    xml_put_str(b, "name", cfg->long_name);
    xml_put_str(b, "master_url", cfg->master_url);
    xml_put_str(b, "web_rpc_url_base", cfg->master_url);
    xml_put_str(b, "server_version", PACKAGE_VERSION);
    if (stopped) {
        xml_put_i64(b, "error_num", RPC_PROJECT_DOWN);
        xml_put_str(b, "error_msg", "The project's web site is closed");
    }
    xml_put_i64(b, "web_stopped", stopped ? 1 : 0);
    put_accounts(cfg, b);
    xml_put_i64(b, "sched_stopped", web_flag(w, "stop_sched") ? 1 : 0);
    if (cfg->min_core_client_version > 0)
        xml_put_i64(b, "min_client_version", cfg->min_core_client_version);
    buf_add(b, web_platforms(w));
    put_terms(w, b);
    xml_close(b, "project_config");
}
