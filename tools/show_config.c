/* show_config.c - check config.xml and print every option with its value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cmdline.h"
#include "config.h"
#include "tool.h"

struct options {
    char *project_dir;
    bool reference;
    char *name;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(project_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "root of the project (default: this folder or the one above)"),
    OPTION(reference, CONF_BOOL, NULL, 0, 0, 0, "",
           "print all options with their defaults; needs no project"),
    OPTION(name, CONF_STRING, NULL, 0, 0, CONF_POSITIONAL, "NAME",
           "print the value of this option alone"),
};
#undef CONF_STRUCT

static const struct cmdline_exit exits[] = {
    {EXIT_USAGE, "config.xml has faults; each is told with its line"},
};

static const struct cmdline cmdline = {
    .name = "show_config",
    .section = 1,
    .summary = "check config.xml and print every option with its value",
    .description = "Reads config.xml as all programs of the project do.  "
                   "Faults are told with the number of the line: unknown "
                   "elements with the nearest known name, values of a wrong "
                   "type or out of bounds.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
    .exits = exits,
    .n_exits = ARRAY_LEN(exits),
};

static int
show(const void *cfg, const char *name)
{
    struct buf out = BUF_INIT;
    const struct conf_option *row;
    int rc = EXIT_OK;

    if (name[0] == '\0') {
        conf_print(config_options, n_config_options, cfg, &out);
    } else {
        row = conf_find(config_options, n_config_options, name);
        if (row != NULL) {
            conf_value(row, cfg, &out);
            buf_addc(&out, '\n');
        } else {
            const struct conf_option *nearest =
                conf_nearest(config_options, n_config_options, name);

            tool_error("no option %s%s%s", name,
                       nearest != NULL ? "; did you mean " : "",
                       nearest != NULL ? nearest->name : "");
            rc = EXIT_USAGE;
        }
    }
    fputs(buf_str(&out), stdout);
    buf_free(&out);
    return rc;
}

static int
show_reference(const char *name)
{
    struct config *cfg = xcalloc(1, sizeof(*cfg));
    int rc;

    conf_defaults(config_options, n_config_options, cfg);
    rc = show(cfg, name);
    config_free(cfg);
    return rc;
}

int
main(int argc, char **argv)
{
    struct options o = {.name = NULL};
    struct config *cfg = NULL;
    int rc = EXIT_USAGE;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    if (o.reference)
        rc = show_reference(o.name);
    else if ((cfg = tool_config(o.project_dir, argv[0])) != NULL)
        rc = show(cfg, o.name);
    config_free(cfg);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}
