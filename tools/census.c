/* census.c - count the hosts: hr_info.txt and size_census_<app>. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "census.h"
#include "cmdline.h"
#include "config.h"
#include "db.h"
#include "db_size.h"
#include "file.h"
#include "hr.h"
#include "tool.h"

enum { MAX_HR_CLASS = HR_TABLE_MOST_ID + 1 };

struct options {
    char *project_dir;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(project_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "root of the project (default: this folder or the one above)"),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "census",
    .section = 1,
    .summary = "count the hosts by class and speed, for the feeder",
    .description =
        "Writes hr_info.txt, the recent credit of the hosts of each class of "
        "homogeneous redundancy (\"type class credit\"), and for each "
        "application with several size classes size_census_NAME, the speeds "
        "that part its hosts into as many classes of equal numbers.  The "
        "feeder reads both when it starts and when reread_db is made.\n\n"
        "Hosts with a recent credit above 10 count.  Run it once a day.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

/* ---- classes of equal hosts -----------------------------------------------
 */

struct tally {
    double credit[N_HR_TYPES][MAX_HR_CLASS];
    struct hr_table table;
};

static void
count_host(void *arg, const struct census_host *h)
{
    struct tally *t = arg;
    const struct hr_host host = {
        .os_name = h->os_name,
        .p_vendor = h->p_vendor,
        .p_model = h->p_model,
        .p_features = "",
        .platform = "",
    };

    for (int type = HR_FINE; type < N_HR_TYPES; type++) {
        int hr = hr_class((enum hr_type)type, &host, &t->table);

        if (hr > 0 && hr < MAX_HR_CLASS)
            t->credit[type][hr] += h->credit;
    }
}

static int
write_file(const char *root, const char *name, const struct buf *text)
{
    struct buf path = BUF_INIT;
    int rc;

    buf_addf(&path, "%s/%s", root, name);
    rc = file_write(buf_str(&path), text->data, text->len, 0664);
    if (rc != 0)
        tool_error("%s cannot be written", buf_str(&path));
    else
        printf("%s\n", buf_str(&path));
    buf_free(&path);
    return rc;
}

static int
write_classes(struct db *db, const char *root)
{
    struct tally *t = xcalloc(1, sizeof(*t));
    struct buf text = BUF_INIT, err = BUF_INIT;
    int rc = hr_table_load(root, &t->table, &err);

    if (rc != 0)
        tool_error_lines(&err);
    else
        rc = db_census_hosts(db, count_host, t);
    buf_add(&text, "# hr_info.txt - written by census: type class credit\n");
    for (int type = HR_FINE; type < N_HR_TYPES; type++)
        for (int k = 1; k < MAX_HR_CLASS; k++)
            if (t->credit[type][k] > 0)
                buf_addf(&text, "%d %d %.6g\n", type, k, t->credit[type][k]);
    if (rc == 0)
        rc = write_file(root, "hr_info.txt", &text);
    hr_table_free(&t->table);
    buf_free(&text);
    buf_free(&err);
    free(t);
    return rc;
}

/* ---- size classes ---------------------------------------------------------
 */

static int
write_sizes(struct db *db, const char *root, const struct sized_app *app)
{
    double quantile[APP_MAX_SIZE_CLASSES], *speed = NULL;
    struct buf name = BUF_INIT, text = BUF_INIT;
    size_t n = 0, classes = (size_t)app->n_size_classes;
    int rc = -1;

    if (classes > APP_MAX_SIZE_CLASSES) {
        tool_error("app %s: %d size classes, at most %d are known", app->name,
                   app->n_size_classes, APP_MAX_SIZE_CLASSES);
        return -1;
    }
    if (db_census_speeds(db, app->id, &speed, &n) != 0)
        return -1;
    if (!census_quantiles(speed, n, classes, quantile)) {
        printf("app %s: %zu hosts are too few for %zu size classes\n",
               app->name, n, classes);
        rc = 0;
    } else {
        for (size_t i = 0; i + 1 < classes; i++)
            buf_addf(&text, "%.6e\n", quantile[i]);
        buf_addf(&name, "size_census_%s", app->name);
        rc = write_file(root, buf_str(&name), &text);
    }
    free(speed);
    buf_free(&name);
    buf_free(&text);
    return rc;
}

static int
write_all(struct db *db, const char *root)
{
    struct sized_app *app = NULL;
    size_t n = 0;
    int rc = write_classes(db, root);

    if (rc == 0)
        rc = db_sized_apps(db, &app, &n);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = write_sizes(db, root, &app[i]);
    free(app);
    return rc;
}

int
main(int argc, char **argv)
{
    struct options options = {.project_dir = NULL};
    struct config *cfg;
    struct db *db;
    int rc;

    tool_begin(argv[0]);
    if (cmdline_parse(&cmdline, argc, argv, &options) != argc) {
        tool_error("takes no arguments; try --help");
        return EXIT_USAGE;
    }
    cfg = tool_config(options.project_dir, argv[0]);
    if (cfg == NULL)
        return EXIT_USAGE;
    db = db_open(cfg, DB_ACCOUNT_READER);
    rc = db == NULL ? -1 : write_all(db, cfg->project_root);
    if (db != NULL)
        db_close(db);
    config_free(cfg);
    conf_free(rows, ARRAY_LEN(rows), &options);
    return rc == 0 ? EXIT_OK : EXIT_TEMPFAIL;
}
