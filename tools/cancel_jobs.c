/* cancel_jobs.c - cancel jobs that nobody wants any more. */
#include <stddef.h>

#include "buf.h"
#include "clock.h"
#include "cmdline.h"
#include "config.h"
#include "db_audit.h"
#include "jobs.h"
#include "tool.h"

struct options {
    struct jobs_options jobs;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    {"min", CONF_INT, offsetof(struct options, jobs.min), NULL, 0, 0,
     CONF_POSITIONAL, "", "the first workunit of a range of ids"},
    {"max", CONF_INT, offsetof(struct options, jobs.max), NULL, 0, 0,
     CONF_POSITIONAL, "", "the last one"                        },
    JOBS_ROWS(jobs),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "cancel_jobs",
    .section = 1,
    .summary = "cancel jobs",
    .synopsis = "[OPTION...] [MIN MAX]",
    .description =
        "Cancels workunits: those that satisfy all conditions given.  Results "
        "that were not sent are withdrawn at once, and no new ones are made.  "
        "Computers that work on one are told to abort it when they next "
        "contact the server, if <send_result_abort> is set in config.xml.  The "
        "assimilator is called with the error CANCELLED; then files and rows "
        "go the way of all finished jobs.\n\n"
        "A workunit that has been assimilated is finished: it is left alone.  "
        "What was done is noted in table x_audit.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

static int
run(const struct config *cfg, struct db *db, void *arg)
{
    const struct options *o = arg;
    struct job_selection which;
    struct buf text = BUF_INIT;
    int rc = jobs_select(db, &o->jobs, &which, &text);
    struct audit_line audit = {
        .time = clock_now(),
        .actor = jobs_actor(),
        .action = "cancel_jobs",
        .object = buf_str(&text),
    };
    struct job_work w = {
        .action = JOBS_CANCEL,
        .which = &which,
        .audit = &audit,
    };

    if (rc == EXIT_OK)
        rc = jobs_run(cfg, db, &w, o->jobs.dry_run, "cancelled");
    buf_free(&text);
    return rc;
}

int
main(int argc, char **argv)
{
    struct options o = {.jobs = {.min = 0}};
    int rc;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    rc = jobs_main(o.jobs.project_dir, argv[0], run, &o);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}
