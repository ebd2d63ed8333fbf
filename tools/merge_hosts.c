/* merge_hosts.c - make one record of two that are one computer. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "buf.h"
#include "clock.h"
#include "cmdline.h"
#include "config.h"
#include "db.h"
#include "db_audit.h"
#include "db_merge.h"
#include "jobs.h"
#include "merge.h"
#include "tool.h"

enum { TRIES = 5 };

struct options {
    int64_t first, second;
    bool dry_run;
    char *project_dir;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(first, CONF_INT, NULL, 1, 2147483647,
           CONF_POSITIONAL | CONF_REQUIRED, "", "id of a host"),
    OPTION(second, CONF_INT, NULL, 1, 2147483647,
           CONF_POSITIONAL | CONF_REQUIRED, "", "id of another"),
    OPTION(dry_run, CONF_BOOL, NULL, 0, 0, 0, "",
           "say whether they may be merged, change nothing"),
    OPTION(project_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "root of the project (default: this folder or the one above)"),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "merge_hosts",
    .section = 1,
    .summary = "make one record of two that are one computer",
    .synopsis = "[OPTION...] HOST HOST",
    .description =
        "A computer whose BOINC was installed anew may have two records. This "
        "makes one of them: results, credit, messages and targeted jobs go to "
        "the newer one, and a client that knows the old id is led there.\n\n"
        "Both must be of one user, with the same kind of operating system and "
        "the same CPU, and must not have been in use at the same time (unless "
        "one of them has neither credit nor results). What was done is noted "
        "in table x_audit.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

/* 0, or an exit status (told). */
static int
read_side(struct db *db, int64_t id, struct merge_side *ret)
{
    int rc = db_merge_read(db, id, ret);

    if (rc == DB_NONE) {
        tool_error("there is no host %" PRId64, id);
        return EXIT_NO;
    }
    return rc == 0 ? EXIT_OK : EXIT_TEMPFAIL;
}

static bool
is_new(const struct merge_side *s)
{
    return s->host.total_credit <= 0 && s->n_results == 0;
}

/* Which goes into which?  EXIT_OK, or another exit status (told). */
static int
look(struct db *db, const struct options *o, struct merge *ret)
{
    struct merge_side a, b;
    enum merge_refusal refusal;
    int rc = read_side(db, o->first, &a);

    if (rc == EXIT_OK)
        rc = read_side(db, o->second, &b);
    if (rc != EXIT_OK)
        return rc;
    refusal = merge_check(&a.host, is_new(&a), &b.host, is_new(&b));
    if (refusal != MERGE_OK) {
        tool_error("hosts %" PRId64 " and %" PRId64 " are not merged: %s",
                   o->first, o->second, merge_refusal_text(refusal));
        return EXIT_NO;
    }
    ret->from = merge_is_newer(&a.host, &b.host) ? b.host.id : a.host.id;
    ret->into = ret->from == a.host.id ? b.host.id : a.host.id;
    ret->n_results = ret->from == a.host.id ? a.n_results : b.n_results;
    return EXIT_OK;
}

static int
run(const struct config *cfg, struct db *db, void *arg)
{
    const struct options *o = arg;
    struct audit_line audit = {
        .time = clock_now(),
        .actor = jobs_actor(),
        .action = "merge_hosts",
    };
    struct merge m = {.now = clock_now(), .audit = &audit};
    int rc = DB_BUSY, status = EXIT_OK;

    (void)cfg;
    for (int i = 0; i < TRIES && rc == DB_BUSY; i++) {
        status = look(db, o, &m);
        if (status != EXIT_OK)
            return status;
        if (o->dry_run) {
            printf("host %" PRId64 " would become part of host %" PRId64
                   ", with %" PRId64 " results\n",
                   m.from, m.into, m.n_results);
            return EXIT_OK;
        }
        rc = db_merge_hosts(db, &m);
    }
    if (rc != 0) {
        tool_error("the hosts are as they were: %s",
                   rc == DB_BUSY ? "they are at work; try again"
                                 : "the database failed");
        return EXIT_TEMPFAIL;
    }
    printf("host %" PRId64 " is now part of host %" PRId64 ": %" PRId64
           " results, %g credits\n",
           m.from, m.into, m.n_results, m.credit);
    return EXIT_OK;
}

int
main(int argc, char **argv)
{
    struct options o = {.first = 0};
    int rc;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    rc = jobs_main(o.project_dir, argv[0], run, &o);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}
