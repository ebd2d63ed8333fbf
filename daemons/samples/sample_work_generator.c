/* sample_work_generator.c - keep some jobs unsent; each gets a small input file
 * of its own. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "work_generator.h"

static const char *in_template, *out_template;
static unsigned made;

/* A name that no run before and none beside this one has used. */
static int
make(struct create_work *work, int n)
{
    for (int i = 0; i < n; i++) {
        char name[100], text[64];
        struct job_file input = {.name = name};
        struct job job;

        snprintf(name, sizeof(name), "sample_%ld_%ld_%u", (long)time(NULL),
                 (long)getpid(), ++made);
        snprintf(text, sizeof(text), "This is the input of job %u.\n", made);
        if (create_work_stage_bytes(work, name, text, strlen(text), 0) != 0)
            return -1;
        job_init(&job);
        job.name = name;
        job.wu_template = in_template;
        job.result_template = out_template;
        job.file = &input;
        job.n_files = 1;
        job.max_error_results = 5;
        job.max_total_results = 10;
        if (create_work_add(work, &job) != 0)
            return -1;
    }
    return n;
}

static int
init(int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i] + strspn(argv[i], "-");

        if (strcmp(name, "in_template_file") == 0 && i + 1 < argc)
            in_template = argv[i + 1];
        else if (strcmp(name, "out_template_file") == 0 && i + 1 < argc)
            out_template = argv[i + 1];
        else
            return fprintf(stderr,
                           "%s: not --in_template_file FILE or "
                           "--out_template_file FILE\n",
                           argv[i]);
    }
    return 0;
}

const struct work_generator_hooks work_generator_hooks = {
    .make = make,
    .cushion = 10,
    .init = init,
    .usage = "--in_template_file FILE: the input template (default: "
             "templates/APP_in).\n\n"
             "--out_template_file FILE: the output template (default: "
             "templates/APP_out).",
};
