/* check_plan_classes.c - check plan_class_spec.xml, and say what it asks. */
#include <stdio.h>
#include <stdlib.h>

#include "buf.h"
#include "cmdline.h"
#include "file.h"
#include "plan_class_file.h"
#include "tool.h"

#define MOST_BYTES (4 * 1024 * 1024)

struct options {
    char *project_dir;
    bool reference;
    char *file;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(project_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "root of the project (default: this folder or the one above)"),
    OPTION(reference, CONF_BOOL, NULL, 0, 0, 0, "",
           "print all elements of a class; needs no project"),
    OPTION(file, CONF_STRING, NULL, 0, 0, CONF_POSITIONAL, "FILE",
           "check this file instead of the project's"),
};
#undef CONF_STRUCT

static const struct cmdline_exit exits[] = {
    {EXIT_NO, "the file has faults; each is told with its line"},
};

static const struct cmdline cmdline = {
    .name = "check_plan_classes",
    .section = 1,
    .summary = "check plan_class_spec.xml",
    .description =
        "Reads plan_class_spec.xml in the root of the project as the "
        "scheduler does, and tells every fault with the number of its line: "
        "elements that do not exist, with the nearest that does; values of a "
        "wrong type or out of bounds; elements that have no meaning in their "
        "class.  A class with a fault is not used, the others are.  If the "
        "file is not well-formed XML, no class is.\n\n"
        "Without a fault it lists the classes and what each uses.  The "
        "scheduler reads the file again when it changes.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
    .exits = exits,
    .n_exits = ARRAY_LEN(exits),
};

static const char *
processor(const struct plan_class_spec *spec)
{
    switch (spec->uses) {
    case PLAN_CLASS_CPU:
        break;
    case PLAN_CLASS_GPU:
        return proc_type_name((int)spec->gpu_type);
    case PLAN_CLASS_OTHER:
        return spec->gpu_other[0] != '\0' ? spec->gpu_other
                                          : spec->gpu_type_regex.text;
    }
    return spec->virtualbox ? "CPU, VirtualBox"
           : spec->docker   ? "CPU, Docker"
           : spec->wsl      ? "CPU, WSL"
                            : "CPU";
}

static void
list(const struct plan_class_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        printf("%-24s %s%s\n", set->spec[i].name, processor(&set->spec[i]),
               set->spec[i].faulty ? "  (not used)" : "");
}

static int
load(const struct options *o, const char *argv0, struct plan_class_set *set,
     struct buf *err)
{
    struct buf text = BUF_INIT;
    char *root;
    int rc = -1;

    if (o->file[0] == '\0') {
        root = tool_root(o->project_dir, argv0);
        if (root != NULL)
            rc = plan_class_file_load(root, set, err);
        free(root);
        return rc;
    }
    if (file_read(o->file, MOST_BYTES, &text) == 0)
        rc = plan_class_file_parse(buf_str(&text), text.len, o->file, set, err);
    else
        buf_addf(err, "%s cannot be read\n", o->file);
    buf_free(&text);
    return rc;
}

static int
check(const struct options *o, const char *argv0)
{
    struct plan_class_set set = {.from_file = true};
    struct buf err = BUF_INIT;
    int rc = load(o, argv0, &set, &err);

    tool_error_lines(&err);
    if (rc == 0 && !set.from_file)
        printf("there is no " PLAN_CLASS_FILE ": the built-in classes are "
               "used\n");
    list(&set);
    plan_class_set_free(&set);
    buf_free(&err);
    return rc == 0 ? EXIT_OK : EXIT_NO;
}

int
main(int argc, char **argv)
{
    struct options o = {.file = NULL};
    struct buf text = BUF_INIT;
    int rc = EXIT_OK;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    if (o.reference) {
        plan_class_file_reference(&text);
        fputs(buf_str(&text), stdout);
    } else {
        rc = check(&o, argv[0]);
    }
    buf_free(&text);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}
