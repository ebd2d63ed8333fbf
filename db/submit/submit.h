/* submit.h - jobs from what a submitter says: templates, files, numbers ->
 * checked rows, many in one transaction.
 *
 *     struct submit *s = submit_open(cfg, db, "uppercase", &err);
 *     struct submit_spec spec;
 *     submit_spec_init(&spec);            … set what is wanted …
 *     if (submit_add(s, &spec, &warn, &err) != 0) …   refused: text in err
 *     submit_commit(s, true, done, arg);              all or none
 *     submit_close(s);
 *
 * A job whose name is a workunit's is refused unless it is the same job; then
 * nothing is done.  So a submission that was interrupted can be repeated. */
#ifndef QUORATE_SUBMIT_H
#define QUORATE_SUBMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db_submit.h"
#include "workunit.h"

struct buf;
struct config;
struct db;
struct submit;

struct submit_file {
    const char *name; /* staged file; NULL: remote */
    const char *url;  /* remote: where it is, and what it is */
    int64_t nbytes;
    const char *md5;
};

struct submit_spec {
    /* Name; batch, priority, canonical_credit (preset, for --credit_from_wu),
     * hr_class, app_version_num, keywords.  Bounds, delay_bound, quorum, limits
     * and size_class: -1 = not said (template, else default).  The template's
     * values win over these. */
    struct workunit wu;
    const char *wu_template;     /* paths, absolute or relative to the root; */
    const char *result_template; /* NULL: templates/APP_in, templates/APP_out */
    const char *command_line;    /* NULL: the template's */
    const char *sub_appname;     /* NULL: none */
    const struct submit_file *file;
    size_t n_files;
    bool assigned, broadcast;
    enum submit_target target;
    int64_t target_id;
    int64_t tag; /* the caller's: a line number */
};

void submit_spec_init(struct submit_spec *);

/* Ready to submit jobs of an application.  NULL and a text in err. */
struct submit *submit_open(const struct config *, struct db *,
                           const char *appname, struct buf *err);
void submit_close(struct submit *);

/* Check a job and keep it until submit_commit().  0; -1: refused, why is in
 * err.  Advice goes to warn, once for each cause. */
int submit_add(struct submit *, const struct submit_spec *, struct buf *warn,
               struct buf *err);

size_t submit_pending(const struct submit *);
/* Does a job that waits for the commit have this name? */
bool submit_has(const struct submit *, const char *name);

/* Write all that waits in one transaction, then call done for each job in the
 * order of their submission.  With `all`, one name that is taken refuses all:
 * nothing is written, done is called for those with taken names alone.  0;
 * DB_EXISTS: some were refused; -1: the database failed (logged), nothing was
 * written. */
typedef void submit_done(void *arg, const struct submit_job *, int64_t tag);
int submit_commit(struct submit *, bool all, submit_done *done, void *arg);

#endif
