/* set_priority.c - let jobs be sent earlier, or later, than others. */
#include <stddef.h>

#include "buf.h"
#include "clock.h"
#include "cmdline.h"
#include "config.h"
#include "db_audit.h"
#include "jobs.h"
#include "tool.h"

enum { NOT_GIVEN = 2147483647 };

struct options {
    struct jobs_options jobs;
    int64_t priority;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    {"min", CONF_INT, offsetof(struct options, jobs.min), NULL, 0, 0,
     CONF_POSITIONAL, "", "the first workunit of a range of ids"},
    {"max", CONF_INT, offsetof(struct options, jobs.max), NULL, 0, 0,
     CONF_POSITIONAL, "", "the last one"                        },
    OPTION(priority, CONF_INT, "2147483647", -2147483648.0, 2147483647, 0, "",
           "the new priority; jobs with a higher one are sent first"),
    JOBS_ROWS(jobs),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "set_priority",
    .section = 1,
    .summary = "let jobs be sent earlier or later than others",
    .synopsis = "--priority N [OPTION...] [MIN MAX]",
    .description =
        "Gives a priority to workunits, those that satisfy all conditions "
        "given, and to their results that were not sent yet.  It counts at "
        "once: the feeder puts the results into the order of the new "
        "priorities, also those that wait in shared memory.\n\n"
        "Workunits that have failed or are assimilated are left alone.  What "
        "was done is noted in table x_audit.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

static int
run(const struct config *cfg, struct db *db, void *arg)
{
    const struct options *o = arg;
    struct job_selection which;
    struct buf text = BUF_INIT, done = BUF_INIT;
    int rc = jobs_select(db, &o->jobs, &which, &text);
    struct audit_line audit = {
        .time = clock_now(),
        .actor = jobs_actor(),
        .action = "set_priority",
        .object = buf_str(&text),
    };
    struct job_work w = {
        .action = JOBS_PRIORITY,
        .which = &which,
        .priority = (int)o->priority,
        .audit = &audit,
    };

    buf_addf(&done, "given priority %d", w.priority);
    if (rc == EXIT_OK)
        rc = jobs_run(cfg, db, &w, o->jobs.dry_run, buf_str(&done));
    buf_free(&done);
    buf_free(&text);
    return rc;
}

int
main(int argc, char **argv)
{
    struct options o = {.jobs = {.min = 0}};
    int rc = EXIT_USAGE;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    if (o.priority == NOT_GIVEN)
        tool_error("which priority?  Give --priority N");
    else
        rc = jobs_main(o.jobs.project_dir, argv[0], run, &o);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}
