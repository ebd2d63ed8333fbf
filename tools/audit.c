/* audit.c - does every invariant of the database and the files hold? */
#include "audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "buf.h"
#include "clock.h"
#include "cmdline.h"
#include "config.h"
#include "db.h"
#include "log.h"
#include "tool.h"

enum { MAX_CHECKS = 128 };

struct options {
    char *project_dir;
    struct conf_list only, except;
    bool list, json, drained, repair;
    int64_t max, since, limit, age;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(project_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "root of the project (default: this folder or the one above)"),
    OPTION(only, CONF_LIST, NULL, 0, 0, 0, "NAME",
           "run this check; may be given several times (default: all)"),
    OPTION(except, CONF_LIST, NULL, 0, 0, 0, "NAME",
           "leave this check out; may be given several times"),
    OPTION(list, CONF_BOOL, NULL, 0, 0, 0, "",
           "print the names of the checks and what each promises, a tab "
           "between; \"repair\" behind another tab: --repair mends it"),
    OPTION(repair, CONF_BOOL, NULL, 0, 0, 0, "",
           "mend what can be mended without a decision: let a program look "
           "again, or copy again what another row says"),
    OPTION(drained, CONF_BOOL, NULL, 0, 0, 0, "",
           "all work should be over: whatever is not final is a breach"),
    OPTION(max, CONF_INT, "20", 0, 1e9, 0, "",
           "print at most so many breaches of a check; the total is printed "
           "in any case"),
    OPTION(age, CONF_INT, "86400", 1, 1e9, 0, "s",
           "what waits longer was forgotten"),
    OPTION(since, CONF_INT, "0", 0, 1e10, 0, "s",
           "look only at workunits, results, users, teams and hosts that "
           "changed in the last so many seconds (0: at all)"),
    OPTION(limit, CONF_INT, "0", 0, 1e15, 0, "",
           "look only at so many rows of each table, the newest (0: at all)"),
    OPTION(json, CONF_BOOL, NULL, 0, 0, 0, "", "print JSON"),
};
#undef CONF_STRUCT

static const struct cmdline_exit exits[] = {
    {EXIT_NO, "there are breaches; each is told"},
};

/* ---- the checks -----------------------------------------------------------
 */

static struct audit_check
check_of_rule(const struct audit_rule *rule)
{
    return (struct audit_check){
        .name = rule->name,
        .promise = rule->promise,
        .weight = rule->weight,
        .rule = rule,
    };
}

/* All of them, in their order; how many. */
static size_t
all_checks(struct audit_check ret[MAX_CHECKS])
{
    const struct audit_check *check;
    size_t n = 0;

    for (const struct audit_rule *rule;
         n < MAX_CHECKS && (rule = db_check_rule(n)) != NULL;)
        ret[n++] = check_of_rule(rule);
    for (size_t i = 0; n < MAX_CHECKS && (check = audit_file_check(i)) != NULL;
         i++)
        ret[n++] = *check;
    for (size_t i = 0;
         n < MAX_CHECKS && (check = audit_folder_check(i)) != NULL; i++)
        ret[n++] = *check;
    return n;
}

static bool
is_in(const struct conf_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->item[i], name) == 0)
            return true;
    return false;
}

static bool
is_wanted(const struct options *o, const struct audit_check *check)
{
    if (is_in(&o->except, check->name))
        return false;
    if (o->only.n > 0)
        return is_in(&o->only, check->name);
    return check->weight != AUDIT_DRAINED || o->drained;
}

/* Each name of the list must be that of a check. */
static bool
names_are_known(const struct conf_list *list, const struct audit_check *check,
                size_t n)
{
    bool good = true;

    for (size_t i = 0; i < list->n; i++) {
        size_t k = 0;

        while (k < n && strcmp(check[k].name, list->item[i]) != 0)
            k++;
        if (k == n) {
            tool_error("no check %s; --list prints them", list->item[i]);
            good = false;
        }
    }
    return good;
}

static void
print_list(const struct audit_check *check, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%s\t%s%s\n", check[i].name, check[i].promise,
               check[i].rule != NULL && check[i].rule->repair != NULL
                   ? "\trepair"
                   : "");
}

/* ---- run ------------------------------------------------------------------
 */

/* The breaches of a page, kept for repair. */
struct page_breaches {
    struct audit *a;
    int64_t *id;
    size_t n, room;
};

static int
found(void *arg, int64_t id, const char *label, const char *detail)
{
    struct page_breaches *b = arg;

    audit_report(b->a, db_check_table_name(b->a->on->rule->table), id, label,
                 detail);
    if (b->n == b->room) {
        b->room = b->room == 0 ? 64 : 2 * b->room;
        b->id = xrealloc(b->id, b->room * sizeof(*b->id));
    }
    b->id[b->n++] = id;
    return 0;
}

static int
run_rule(struct audit *a, const struct audit_rule *rule)
{
    struct page_breaches b = {.a = a};
    struct audit_page page;
    int rc = db_check_begin(a->db, rule->table, &a->scope, &page);

    while (rc == 0 &&
           (rc = db_check_next(a->db, rule->table, AUDIT_PAGE, &page)) == 0) {
        b.n = 0;
        a->scope.now = clock_now();
        rc = db_check_find(a->db, rule, &a->scope, &page, found, &b);
        if (rc == 0 && a->repair && rule->repair != NULL)
            rc = db_check_repair(a->db, rule, a->scope.now, b.id, b.n);
    }
    free(b.id);
    return rc == DB_NONE ? 0 : -1;
}

static int
run_check(struct audit *a, const struct audit_check *check)
{
    bool mends =
        a->repair && check->rule != NULL && check->rule->repair != NULL;
    int rc;

    audit_report_begin(a, check);
    rc = check->rule != NULL ? run_rule(a, check->rule) : check->compare(a);
    audit_report_end(a, mends ? check->rule->repair->what : NULL);
    return rc;
}

static int
run(struct audit *a, const struct options *o, const struct audit_check *check,
    size_t n)
{
    int rc = 0;

    a->scope = (struct audit_scope){
        .now = clock_now(),
        .age = o->age,
        .since = o->since > 0 ? clock_now() - o->since : 0,
        .limit = o->limit,
    };
    for (size_t i = 0; i < n && rc == 0; i++)
        if (is_wanted(o, &check[i]))
            rc = run_check(a, &check[i]);
    if (rc != 0)
        return EXIT_TEMPFAIL;
    audit_report_summary(a);
    return a->n_breaches > 0 ? EXIT_NO : EXIT_OK;
}

static int
audit_project(const struct options *o, const char *argv0,
              const struct audit_check *check, size_t n)
{
    struct config *cfg = tool_config(o->project_dir, argv0);
    struct audit a = {
        .cfg = cfg,
        .drained = o->drained,
        .repair = o->repair,
        .json = o->json,
        .max = o->max,
    };
    int rc = EXIT_TEMPFAIL;

    if (cfg == NULL)
        return EXIT_USAGE;
    a.db = db_open(cfg, DB_ACCOUNT_OPERATOR);
    if (o->json)
        a.list = json_array();
    if (a.db != NULL)
        rc = run(&a, o, check, n);
    json_decref(a.list);
    db_close(a.db);
    config_free(cfg);
    return rc;
}

/* ---- the program ----------------------------------------------------------
 */

/* The man page tells all promises. */
static char *
describe(const struct audit_check *check, size_t n)
{
    struct buf text = BUF_INIT;

    buf_add(&text,
            "Checks a project, running or stopped: that no workunit is "
            "forgotten, no row is in a state that no program leads to, credit "
            "adds up, canonical results are valid, and files are where rows "
            "say.  Prints each breach with its id, and changes nothing "
            "without --repair.\n\n"
            "Tables are read in pieces, and no row is locked.  Run it every "
            "night, with --since on a large project, and after a crash.");
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "\n\n%s%s: %s%s.", check[i].name,
                 check[i].weight == AUDIT_DRAINED ? " (--drained)"
                 : check[i].weight == AUDIT_NOTE  ? " (a note, no breach)"
                                                  : "",
                 check[i].promise,
                 check[i].rule != NULL && check[i].rule->repair != NULL
                     ? " (--repair mends it)"
                     : "");
    return buf_take(&text);
}

int
main(int argc, char **argv)
{
    struct audit_check check[MAX_CHECKS];
    size_t n = all_checks(check);
    char *description = describe(check, n);
    const struct cmdline cmdline = {
        .name = "audit",
        .section = 1,
        .summary = "does every invariant of database and files hold?",
        .description = description,
        .options = rows,
        .n_options = ARRAY_LEN(rows),
        .exits = exits,
        .n_exits = ARRAY_LEN(exits),
    };
    struct options o = {.project_dir = NULL};
    int rc = EXIT_USAGE;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    if (o.list) {
        print_list(check, n);
        rc = EXIT_OK;
    } else if (names_are_known(&o.only, check, n) &&
               names_are_known(&o.except, check, n)) {
        rc = audit_project(&o, argv[0], check, n);
    }
    conf_free(rows, ARRAY_LEN(rows), &o);
    free(description);
    return fflush(stdout) == 0 ? rc : EXIT_TEMPFAIL;
}
