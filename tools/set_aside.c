/* set_aside.c - workunits that a program could not handle: list them, let them
 * be tried again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "buf.h"
#include "clock.h"
#include "cmdline.h"
#include "config.h"
#include "db_audit.h"
#include "db_set_aside.h"
#include "jobs.h"
#include "tool.h"

enum { AT_ONCE = 100 };

struct options {
    bool list, release, all;
    int64_t wu_id;
    char *program;
    char *project_dir;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(list, CONF_BOOL, NULL, 0, 0, 0, "", "print them (the default)"),
    OPTION(release, CONF_BOOL, NULL, 0, 0, 0, "",
           "let them be tried again at once"),
    OPTION(all, CONF_BOOL, NULL, 0, 0, 0, "", "release all"),
    OPTION(wu_id, CONF_INT, "0", 0, 9e18, 0, "ID", "this workunit alone"),
    OPTION(program, CONF_STRING, NULL, 0, 0, 0, "NAME",
           "only those of assimilator, or transitioner"),
    OPTION(project_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "root of the project (default: this folder or the one above)"),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "set_aside",
    .section = 1,
    .summary = "list and release workunits that a program could not handle",
    .synopsis = "[--list | --release {--wu_id ID | --all}] [--program NAME]",
    .description =
        "A workunit whose assimilator fails, or for which no results can be "
        "made because its template is unreadable, is set aside and tried again "
        "later, more and more seldom; the assimilator gives up after its "
        "--max_tries.  The list says why.  When the reason is gone, release "
        "it.  To end it instead, use cancel_jobs, then release it.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

/* ---- list -----------------------------------------------------------------
 */

static void
print_line(const struct set_aside_line *l, int64_t now)
{
    char when[64];

    if (l->row.next_try == SET_ASIDE_FOR_GOOD)
        snprintf(when, sizeof(when), "waits for release");
    else
        snprintf(when, sizeof(when), "again in %" PRId64 " s",
                 l->row.next_try > now ? l->row.next_try - now : 0);
    printf("[WU#%" PRId64 " %s] %s: %d tries, %s: %s\n", l->row.wu_id,
           l->wu_name, l->program, l->row.tries, when, l->row.error);
}

static bool
is_wanted(const struct options *o, const struct set_aside_line *l)
{
    return (o->wu_id == 0 || o->wu_id == l->row.wu_id) &&
           (o->program[0] == '\0' || strcmp(o->program, l->program) == 0);
}

static int
list(struct db *db, const struct options *o)
{
    struct set_aside_line *line = xcalloc(AT_ONCE, sizeof(*line));
    struct set_aside_line last = {.program = ""};
    size_t n;
    int rc;

    do {
        rc = db_set_aside_list(db, last.row.wu_id, last.program, line, AT_ONCE,
                               &n);
        for (size_t i = 0; rc == 0 && i < n; i++)
            if (is_wanted(o, &line[i]))
                print_line(&line[i], clock_now());
        if (n > 0)
            last = line[n - 1];
    } while (rc == 0 && n == AT_ONCE);
    free(line);
    return rc == 0 ? EXIT_OK : EXIT_TEMPFAIL;
}

/* ---- release --------------------------------------------------------------
 */

static int
release(struct db *db, const struct options *o)
{
    struct buf object = BUF_INIT, detail = BUF_INIT;
    struct audit_line audit = {
        .time = clock_now(),
        .actor = jobs_actor(),
        .action = "set_aside --release",
    };
    int64_t n;
    int rc = db_set_aside_release(db, o->wu_id,
                                  o->program[0] != '\0' ? o->program : NULL,
                                  clock_now(), &n);

    if (o->wu_id != 0)
        buf_addf(&object, "workunit %" PRId64, o->wu_id);
    else
        buf_add(&object, "all");
    if (o->program[0] != '\0')
        buf_addf(&object, ", %s", o->program);
    buf_addf(&detail, "%" PRId64 " released", n);
    audit.object = buf_str(&object);
    audit.detail = buf_str(&detail);
    if (rc == 0 && n > 0)
        rc = db_audit(db, &audit);
    if (rc == 0)
        printf("%s\n", buf_str(&detail));
    buf_free(&object);
    buf_free(&detail);
    if (rc != 0)
        return EXIT_TEMPFAIL;
    return n > 0 ? EXIT_OK : EXIT_NO;
}

static int
run(const struct config *cfg, struct db *db, void *arg)
{
    const struct options *o = arg;

    (void)cfg;
    return o->release ? release(db, o) : list(db, o);
}

int
main(int argc, char **argv)
{
    struct options o = {.list = false};
    int rc = EXIT_USAGE;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    if (o.list && o.release)
        tool_error("give one of --list and --release, not both");
    else if (o.release && (o.wu_id != 0) == o.all)
        tool_error("release which?  Give one of --wu_id and --all");
    else
        rc = jobs_main(o.project_dir, argv[0], run, &o);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}
