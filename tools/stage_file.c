/* stage_file.c - bring input files of jobs into the download folders. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cmdline.h"
#include "config.h"
#include "file.h"
#include "stage.h"
#include "tool.h"

struct options {
    bool copy, gzip, verbose;
    char *project_dir;
    struct conf_list path;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(copy, CONF_BOOL, NULL, 0, 0, 0, "",
           "leave the source where it is (default: move it)"),
    OPTION(gzip, CONF_BOOL, NULL, 0, 0, 0, "",
           "make a compressed copy for clients, too"),
    OPTION(verbose, CONF_BOOL, NULL, 0, 0, 0, "", "say each file"),
    OPTION(project_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "root of the project (default: this folder or the one above)"),
    OPTION(path, CONF_LIST, NULL, 0, 0, CONF_POSITIONAL | CONF_REQUIRED, "PATH",
           "files, or folders whose files are meant"),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "stage_file",
    .section = 1,
    .summary = "bring input files of jobs into the download folders",
    .description =
        "Moves or copies each file to its place in the download folders, "
        "where clients will fetch it, and writes FILE.md5 beside it.  A file "
        "that is there already must have the same content: files of jobs never "
        "change, because volunteers' computers keep them by name.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

static int
put_one(const struct config *cfg, const struct options *o, const char *path)
{
    struct stage_options how = {.copy = o->copy, .gzip = o->gzip};
    struct buf err = BUF_INIT;
    enum stage_answer answer;
    int rc = stage_put(cfg, path, &how, &answer, &err);

    if (rc != 0)
        tool_error_lines(&err);
    else if (o->verbose)
        printf("%s: %s\n", path,
               answer == STAGE_NEW ? "staged" : "was there already");
    buf_free(&err);
    return rc;
}

/* All plain files of a folder; names that begin with a dot are left out. */
static int
put_folder(const struct config *cfg, const struct options *o, const char *path)
{
    struct dirent **entry;
    struct buf file = BUF_INIT;
    int n = scandir(path, &entry, NULL, alphasort);
    int rc = 0;

    if (n < 0) {
        tool_error("%s: %s", path, strerror(errno));
        return -1;
    }
    for (int i = 0; i < n; i++) {
        buf_reset(&file);
        buf_addf(&file, "%s/%s", path, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.' && !file_is_dir(buf_str(&file)) &&
            put_one(cfg, o, buf_str(&file)) != 0)
            rc = -1;
        free(entry[i]);
    }
    free(entry);
    buf_free(&file);
    return rc;
}

int
main(int argc, char **argv)
{
    struct options o = {.copy = false};
    struct config *cfg;
    int rc = EXIT_USAGE;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    cfg = tool_config(o.project_dir, argv[0]);
    if (cfg != NULL) {
        rc = EXIT_OK;
        for (size_t i = 0; i < o.path.n; i++) {
            const char *path = o.path.item[i];

            if ((file_is_dir(path) ? put_folder(cfg, &o, path)
                                   : put_one(cfg, &o, path)) != 0)
                rc = EXIT_NO;
        }
    }
    config_free(cfg);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}
