/* work_generator.c - the program around a scientist's work generator: make jobs
 * whenever few are left to be sent. */
#include "work_generator.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "create_work_private.h"
#include "daemon.h"
#include "db.h"
#include "db_generate.h"
#include "log.h"

/* The scientist's functions: of the one generator that this process is. */
static const struct work_generator_hooks *hooks;

struct generator_options {
    int64_t cushion;
};

struct generator {
    struct create_work *work;
};

static void
log_lines(const char *text, void (*say)(const char *fmt, ...))
{
    char *all = xstrdup(text);
    char *rest = all;

    for (char *line; rest != NULL && (line = strsep(&rest, "\n")) != NULL;)
        if (line[0] != '\0')
            say("%s", line);
    free(all);
}

static void
log_job(void *arg, const struct created_job *job)
{
    (void)arg;
    if (!job->taken)
        log_normal(TAG_WU "%s", job->wu_id, job->name,
                   job->was_there ? "was there already" : "made");
}

/* After a failure the handle is opened anew: what it kept is dropped. */
static int
reopen(struct daemon *d)
{
    struct generator *s = d->state;
    int rc;

    create_work_close(s->work);
    rc = create_work_attach(d->cfg, d->db, d->app, &s->work);
    if (rc != 0)
        log_lines(create_work_error(s->work), log_critical);
    return rc == 0 ? 0 : -1;
}

static int
fail(struct daemon *d)
{
    struct generator *s = d->state;

    log_lines(create_work_error(s->work), log_critical);
    reopen(d);
    return -1;
}

static int
make_jobs(struct daemon *d, int n)
{
    struct generator *s = d->state;
    int made = hooks->make(s->work, n);

    if (made < 0)
        return fail(d);
    log_lines(create_work_advice(s->work), log_warning);
    if (create_work_commit(s->work, true, log_job, NULL) != 0)
        return fail(d);
    return made;
}

static int
one_pass(struct daemon *d)
{
    const struct generator_options *o = d->options;
    int64_t cushion = o->cushion > 0       ? o->cushion
                      : hooks->cushion > 0 ? hooks->cushion
                                           : 10;
    int64_t unsent;
    int made;

    if (db_generate_unsent(d->db, d->appid, d->now, cushion, &unsent) != 0)
        return -1;
    if (unsent >= cushion)
        return 0;
    made = make_jobs(d, (int)(cushion - unsent));
    /* one target may be several results: they are counted in the next pass */
    return made;
}

static int
start(struct daemon *d)
{
    struct generator *s;

    if (hooks->make == NULL) {
        log_critical("work_generator_hooks needs make");
        return EXIT_USAGE;
    }
    s = xcalloc(1, sizeof(*s));
    d->state = s;
    return reopen(d) == 0 ? 0 : EXIT_NO;
}

static void
stop(struct daemon *d)
{
    struct generator *s = d->state;

    create_work_close(s->work);
    free(s);
}

#define CONF_STRUCT struct generator_options
static const struct conf_option options[] = {
    OPTION(cushion, CONF_INT, "0", 0, 100000, 0, "N",
           "keep so many results unsent (default: the generator's, or 10)"),
};

int
work_generator_main(int argc, char **argv,
                    const struct work_generator_hooks *given)
{
    struct buf text = BUF_INIT;
    struct daemon_spec spec = {
        .name = "work_generator",
        .summary = "make jobs whenever few are left to be sent",
        .account = DB_ACCOUNT_SUBMITTER,
        .pass = one_pass,
        .start = start,
        .stop = stop,
        .idle_seconds = 5,
        .needs_app = true,
        .options = options,
        .n_options = ARRAY_LEN(options),
        .options_size = sizeof(struct generator_options),
        .extra_args = given->init,
    };
    int rc;

    hooks = given;
    buf_add(&text,
            "Counts the results of the application that wait to be sent, and "
            "those that the transitioner is about to make.  When there are "
            "fewer than the cushion, the project's function makes jobs, which "
            "are written in one transaction.");
    if (given->usage != NULL)
        buf_addf(&text, "\n\n%s", given->usage);
    spec.description = buf_str(&text);
    rc = daemon_main(argc, argv, &spec);
    buf_free(&text);
    return rc;
}
