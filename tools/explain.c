/* explain.c - why does a host get a job, or not?  The scheduler says it itself:
 * this is a short name for one of its options. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "buf.h"
#include "cmdline.h"
#include "config.h"
#include "log.h"
#include "tool.h"

struct options {
    int64_t host, workunit, days, debug_level;
    char *file, *project_dir, *scheduler;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(host, CONF_INT, "0", 0, 9e15, 0, "ID",
           "ask about this host, as it was at its last contact"),
    OPTION(workunit, CONF_INT, "0", 0, 9e15, 0, "ID",
           "ask about this workunit, whether or not it is in the job array"),
    OPTION(
        days, CONF_INT, "7", 1, 36500, 0, "N",
        "without a host or FILE: ask about all hosts that were in contact in "
        "the last N days"),
    OPTION(project_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "the project's folder (else where the program stands)"),
    OPTION(scheduler, CONF_STRING, NULL, 0, 0, 0, "PROGRAM",
           "the scheduler (else cgi-bin/cgi of the project)"),
    {"d|debug_level", CONF_INT,    offsetof(struct options, debug_level), "2",  1,
       4,                                                                               0, "", "log level 1 to 4"                         },
    {"file",          CONF_STRING, offsetof(struct options, file),        NULL, 0, 0,
       CONF_POSITIONAL,                                                                    "", "a saved scheduler request to be explained"},
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "explain",
    .section = 1,
    .summary = "say why a host gets a job, or not",
    .synopsis = "[OPTION...] [FILE]",
    .description =
        "Has the scheduler handle a request of a host without keeping anything "
        "of it, and prints the verdict of each rule on each job that is ready "
        "to be sent, with the numbers behind it.  Jobs with equal verdicts "
        "stand together; the first NO is the reason.\n\n"
        "With --host the request is made from what is known of the host: its "
        "row, what its last request said of it, its jobs in progress.  It asks "
        "for one second of each kind of processor, with an empty queue.  With "
        "FILE a saved request is handled (see debug_req_reply_dir in "
        "config.xml), and the reply is printed too.  --workunit asks about one "
        "workunit.\n\n"
        "With --workunit alone it counts how many of the hosts could take it, "
        "and which rule refuses the others.  There each host is taken as idle, "
        "without jobs in progress.\n\n"
        "The exit status is 0 if a job can be taken, 1 if none can.\n\n"
        "Nothing is changed: the database's transaction is rolled back, and "
        "the job array is read only.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

struct arguments {
    char *item[16];
    size_t n;
};

static void
add_text(struct arguments *a, const char *name, const char *value)
{
    if (name != NULL)
        a->item[a->n++] = xstrdup(name);
    if (value != NULL)
        a->item[a->n++] = xstrdup(value);
}

static void
add_number(struct arguments *a, const char *name, int64_t value)
{
    struct buf text = BUF_INIT;

    buf_addf(&text, "%lld", (long long)value);
    add_text(a, name, buf_str(&text));
    buf_free(&text);
}

/* Does not come back, unless it fails. */
static int
run(const struct options *o, const struct config *cfg)
{
    struct buf path = BUF_INIT;
    struct arguments a = {.n = 0};

    if (o->scheduler[0] != '\0')
        buf_add(&path, o->scheduler);
    else
        buf_addf(&path, "%s/cgi-bin/cgi", cfg->project_root);
    add_text(&a, buf_str(&path), "--explain");
    if (o->file[0] != '\0')
        add_text(&a, "--replay", o->file);
    if (o->host != 0)
        add_number(&a, "--host", o->host);
    if (o->workunit != 0)
        add_number(&a, "--workunit", o->workunit);
    add_number(&a, "--days", o->days);
    add_number(&a, "-d", o->debug_level);
    if (setenv("QUORATE_PROJECT_DIR", cfg->project_root, 1) == 0)
        execv(a.item[0], a.item);
    log_errno("run %s", buf_str(&path));
    for (size_t i = 0; i < a.n; i++)
        free(a.item[i]);
    buf_free(&path);
    return EXIT_USAGE;
}

int
main(int argc, char **argv)
{
    struct options o = {.host = 0};
    struct config *cfg = NULL;
    int rc = EXIT_USAGE;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    if (o.file[0] == '\0' && o.host == 0 && o.workunit == 0)
        tool_error("which host, workunit or FILE? Try --help");
    else if (o.file[0] != '\0' && o.host != 0)
        tool_error("a FILE or a host, not both");
    else if ((cfg = tool_config(o.project_dir, argv[0])) != NULL)
        rc = run(&o, cfg);
    if (cfg != NULL)
        config_free(cfg);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}
