/* dir_hier_path.c - print where a file lies in the download folders. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cmdline.h"
#include "config.h"
#include "path.h"
#include "tool.h"

struct options {
    char *project_dir;
    char *file;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(project_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "root of the project (default: this folder or the one above)"),
    OPTION(file, CONF_STRING, NULL, 0, 0, CONF_POSITIONAL | CONF_REQUIRED,
           "NAME", "name of the file"),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "dir_hier_path",
    .section = 1,
    .summary = "print where a file lies in the download folders",
    .description = "Prints the path of a job's input file in the download "
                   "folders, and makes its folder if it is missing.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

int
main(int argc, char **argv)
{
    struct options o = {.file = NULL};
    struct buf path = BUF_INIT;
    struct config *cfg;
    int rc = EXIT_USAGE;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    cfg = tool_config(o.project_dir, argv[0]);
    if (cfg != NULL && !path_good_name(o.file)) {
        tool_error("%s: no good name for a file of a job", o.file);
    } else if (cfg != NULL &&
               path_hier(cfg->download_dir, o.file, (int)cfg->uldl_dir_fanout,
                         true, &path) != 0) {
        tool_error("%s: %s", o.file, strerror(errno));
        rc = EXIT_NO;
    } else if (cfg != NULL) {
        puts(buf_str(&path));
        rc = EXIT_OK;
    }
    buf_free(&path);
    config_free(cfg);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}
