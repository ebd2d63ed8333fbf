/* xadd.c - bring platforms and applications of project.xml into the database:
 * inserts what is new, changes what differs, deletes nothing. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "cmdline.h"
#include "config.h"
#include "db.h"
#include "db_apps.h"
#include "file.h"
#include "log.h"
#include "tool.h"
#include "xml.h"

#define MAX_COLUMNS 32

struct options {
    char *project_dir;
    char *file;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(project_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "root of the project (default: this folder or the one above)"),
    OPTION(file, CONF_STRING, NULL, 0, 0, CONF_POSITIONAL, "FILE",
           "description of platforms and applications (default: project.xml "
           "of the project)"),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "xadd",
    .section = 1,
    .summary = "add platforms and applications of project.xml to the database",
    .description =
        "Reads <platform> (name, user_friendly_name) and <app> (name and any "
        "column of table app: user_friendly_name, min_version, weight, beta, "
        "homogeneous_redundancy, ...) from project.xml.  What is new is "
        "inserted, what differs is changed; nothing is ever deleted.\n\n"
        "All of the file is one transaction: after an error nothing has "
        "changed.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

/* One element of project.xml, checked. */
struct item {
    bool is_app;
    char name[192];
    char friendly[255];
    struct db_app_value value[MAX_COLUMNS];
    size_t n_values;
};

struct work {
    struct item *item;
    size_t n;
    struct buf report; /* printed after the commit */
};

static void
fault(struct buf *err, const char *file, const struct xml_node *node,
      const char *what)
{
    buf_addf(err, "%s:%d: <%s>: %s\n", file, xml_line(node), xml_name(node),
             what);
}

/* Names become file and folder names, and words of the protocol. */
static bool
good_name(const char *name)
{
    if (name[0] == '\0' || strstr(name, "..") != NULL)
        return false;
    for (const char *p = name; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && strchr("_-.+", *p) == NULL)
            return false;
    return true;
}

static const struct db_app_column *
find_column(const char *name)
{
    for (size_t i = 0; i < n_db_app_columns; i++)
        if (strcmp(db_app_columns[i].name, name) == 0)
            return &db_app_columns[i];
    return NULL;
}

/* "", "1", "2.5": a number within the column's bounds. */
static bool
read_number(const char *text, const struct db_app_column *column, double *ret)
{
    char *end;

    if (text[0] == '\0') { /* <beta/> */
        *ret = 1;
        return true;
    }
    *ret = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*ret) &&
           *ret >= column->min && *ret <= column->max &&
           (column->kind == DB_COLUMN_DOUBLE || *ret == floor(*ret));
}

static void
read_column(struct item *item, const struct xml_node *node, const char *file,
            struct buf *err)
{
    const struct db_app_column *column = find_column(xml_name(node));
    struct db_app_value *v = &item->value[item->n_values];
    struct buf text = BUF_INIT;

    xml_text(node, &text);
    if (column == NULL) {
        fault(err, file, node, "no such column of an application");
    } else if (item->n_values == MAX_COLUMNS) {
        fault(err, file, node, "too many elements");
    } else if (column->kind == DB_COLUMN_TEXT) {
        if (str_copy(item->friendly, sizeof(item->friendly), buf_str(&text))) {
            v->text = item->friendly;
            v->column = column;
            item->n_values++;
        } else {
            fault(err, file, node, "longer than 254 bytes");
        }
    } else if (read_number(buf_str(&text), column, &v->number)) {
        v->column = column;
        item->n_values++;
    } else {
        buf_addf(err, "%s:%d: <%s>%s: must be a number from %g to %g\n", file,
                 xml_line(node), xml_name(node), buf_str(&text), column->min,
                 column->max);
    }
    buf_free(&text);
}

/* <platform> and <app>: the values keep pointers into *item, so it is filled
 * where it will stay. */
static void
read_item(struct item *item, const struct xml_node *node, const char *file,
          struct buf *err)
{
    memset(item, 0, sizeof(*item));
    item->is_app = strcmp(xml_name(node), "app") == 0;
    if (!xml_get_str(node, "name", item->name, sizeof(item->name)) ||
        !good_name(item->name))
        fault(err, file, node,
              "needs a <name> of at most 191 letters, digits, _ - . +");
    if (!item->is_app) {
        if (!xml_get_str(node, "user_friendly_name", item->friendly,
                         sizeof(item->friendly)))
            str_copy(item->friendly, sizeof(item->friendly), item->name);
        return;
    }
    for (const struct xml_node *c = xml_first(node); c != NULL; c = xml_next(c))
        if (strcmp(xml_name(c), "name") != 0)
            read_column(item, c, file, err);
}

static int
read_file(const char *path, struct work *w, struct buf *err)
{
    struct xml_doc *doc = xml_parse_file(path, err);
    const struct xml_node *node;
    size_t count = 0;

    if (doc == NULL)
        return -1;
    for (node = xml_first(xml_root(doc)); node != NULL; node = xml_next(node))
        count++;
    w->item = xcalloc(count + 1, sizeof(*w->item));
    for (node = xml_first(xml_root(doc)); node != NULL; node = xml_next(node)) {
        if (strcmp(xml_name(node), "app") != 0 &&
            strcmp(xml_name(node), "platform") != 0)
            fault(err, path, node, "unknown element: <platform> or <app>?");
        else
            read_item(&w->item[w->n++], node, path, err);
    }
    xml_free(doc);
    return err->len == 0 ? 0 : -1;
}

static int
put_all(struct db *db, void *arg)
{
    static const char *const what[] = {
        [DB_PUT_SAME] = "unchanged",
        [DB_PUT_ADDED] = "added",
        [DB_PUT_CHANGED] = "changed",
    };
    struct work *w = arg;
    int rc = 0;

    buf_reset(&w->report);
    for (size_t i = 0; rc == 0 && i < w->n; i++) {
        struct item *item = &w->item[i];
        enum db_put put;

        if (item->is_app)
            rc = db_app_put(db, item->name, item->value, item->n_values,
                            clock_now(), &put);
        else
            rc = db_platform_put(db, item->name, item->friendly, clock_now(),
                                 &put);
        if (rc == 0)
            buf_addf(&w->report, "%s %s: %s\n",
                     item->is_app ? "application" : "platform", item->name,
                     what[put]);
    }
    return rc;
}

static int
run(const struct config *cfg, const char *file)
{
    struct work w = {.item = NULL, .report = BUF_INIT};
    struct buf err = BUF_INIT;
    struct buf trigger = BUF_INIT;
    struct db *db = NULL;
    int rc = EXIT_USAGE;

    if (read_file(file, &w, &err) != 0) {
        tool_error_lines(&err);
        goto out;
    }
    rc = EXIT_TEMPFAIL;
    db = db_open(cfg, DB_ACCOUNT_OPERATOR);
    if (db == NULL || db_transaction(db, put_all, &w) != 0)
        goto out;
    fputs(buf_str(&w.report), stdout);
    buf_addf(&trigger, "%s/reread_db", cfg->project_root);
    if (file_write(buf_str(&trigger), "", 0, 0664) != 0)
        log_errno("write %s", buf_str(&trigger));
    else
        rc = EXIT_OK;
out:
    db_close(db);
    free(w.item);
    buf_free(&w.report);
    buf_free(&trigger);
    buf_free(&err);
    return rc;
}

int
main(int argc, char **argv)
{
    struct options opt = {.file = NULL};
    struct buf path = BUF_INIT;
    struct config *cfg;
    int rc = EXIT_USAGE;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &opt);
    cfg = tool_config(opt.project_dir, argv[0]);
    if (cfg != NULL) {
        if (opt.file[0] != '\0')
            buf_add(&path, opt.file);
        else
            buf_addf(&path, "%s/project.xml", cfg->project_root);
        rc = run(cfg, buf_str(&path));
    }
    config_free(cfg);
    buf_free(&path);
    conf_free(rows, ARRAY_LEN(rows), &opt);
    return rc;
}
