/* assimilator.c - the program around a scientist's assimilator: hand over each
 * finished workunit, and mark it done when the handler has taken it.
 *
 * It sweeps over the application's workunits by id.  The handlers of a batch
 * run first, then one transaction marks what they took: killed in between, it
 * hands the same workunits over again. */
#include "assimilator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "daemon.h"
#include "db.h"
#include "db_assimilate.h"
#include "file.h"
#include "log.h"
#include "outputs.h"
#include "setaside.h"

enum {
    BATCH = 100,
    LOOK_AGAIN = 3600, /* at a failed workunit that was deferred, s */
};

/* The scientist's functions: of the one assimilator that this process is. */
static const struct assimilator_hooks *hooks;

struct assimilator_options {
    int64_t max_tries;
};

#define CONF_STRUCT struct assimilator_options
static const struct conf_option options_table[] = {
    OPTION(max_tries, CONF_INT, "10", 1, 1000, 0, "",
           "set a workunit aside after so many failed tries"),
};
#undef CONF_STRUCT

struct assimilator {
    struct assimilate_batch batch;
    int64_t last_id; /* of the sweep; 0: it begins */
    bool progress;   /* something was taken in this sweep */
};

/* ---- helpers for handlers -------------------------------------------------
 */

/* Append the path of folder/name; the folder is made.  0 or -1 (logged). */
static int
target_path(const struct finished *f, const char *folder, const char *name,
            struct buf *out)
{
    size_t name_at;

    if (folder[0] != '/')
        buf_addf(out, "%s/", f->project_dir);
    buf_add(out, folder);
    if (file_mkdirs(buf_str(out), 0775) != 0) {
        log_errno("make folder %s", buf_str(out));
        return -1;
    }
    buf_addc(out, '/');
    name_at = out->len;
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        buf_addc(out, '_');
    buf_add(out, name);
    for (char *c = out->data + name_at; *c != '\0'; c++)
        if (*c == '/')
            *c = '_';
    return 0;
}

int
finished_copy(const struct finished *f, size_t i, const char *folder,
              const char *name)
{
    struct buf to = BUF_INIT;
    int rc = target_path(f, folder, name, &to);

    if (rc == 0 && (rc = file_copy(f->file[i].path, buf_str(&to), 0)) != 0)
        log_errno("copy %s to %s", f->file[i].path, buf_str(&to));
    buf_free(&to);
    return rc;
}

int
finished_write(const struct finished *f, const char *folder, const char *name,
               const char *text)
{
    struct buf to = BUF_INIT;
    int rc = target_path(f, folder, name, &to);

    if (rc == 0 &&
        (rc = file_write(buf_str(&to), text, strlen(text), 0664)) != 0)
        log_errno("write %s", buf_str(&to));
    buf_free(&to);
    return rc;
}

/* ---- one workunit ---------------------------------------------------------
 */

static enum handle_status
call_handler(const struct config *cfg, const struct assimilate_wu *w,
             const struct outputs *o)
{
    struct finished_file *file = xcalloc(o->n + 1, sizeof(*file));
    char names[160];
    enum handle_status status;
    struct finished f = {
        .wu_id = w->wu.id,
        .wu_name = w->wu.name,
        .batch = w->wu.batch,
        .error_mask = w->wu.error_mask,
        .error_names = wu_error_names(w->wu.error_mask, names, sizeof(names)),
        .n_files = o->n,
        .file = file,
        .project_dir = cfg->project_root,
    };

    if (w->has_canonical) {
        f.canonical_id = w->canonical.id;
        f.credit = w->wu.canonical_credit;
        f.elapsed_time = w->canonical.elapsed_time;
    }
    for (size_t i = 0; i < o->n; i++)
        file[i] =
            (struct finished_file){o->path[i], o->logical[i], o->exists[i]};
    status = hooks->handle(&f);
    free(file);
    return status;
}

/* A failed workunit has no outputs, whatever its results left. */
static enum handle_status
hand_over(const struct daemon *d, const struct assimilate_wu *w, char *why,
          size_t size)
{
    const struct outputs_wanted want = {
        .xml_doc_in = w->canonical.xml_doc_in,
        .received_time = w->canonical.received_time,
        .now = d->now,
    };
    struct outputs o = {.n = 0};
    enum outputs_status found = OUTPUTS_OK;
    enum handle_status status = HANDLE_LATER;

    snprintf(why, size, "its handler failed");
    if (w->has_canonical && w->wu.error_mask == 0)
        found = outputs_find(d->cfg, &want, &o, why, size);
    if (found == OUTPUTS_OK)
        status = call_handler(d->cfg, w, &o);
    outputs_free(&o);
    return status;
}

/* It failed: again later, and after so many tries when an operator says so.
 * That is worth an alert, once. */
static void
set_aside(const struct daemon *d, struct assimilate_wu *w, const char *why)
{
    const struct assimilator_options *options = d->options;
    int64_t pause;

    w->ending = ENDING_FAILED;
    w->aside.tries++;
    str_copy(w->aside.error, sizeof(w->aside.error), why);
    if (w->aside.tries >= options->max_tries) {
        w->aside.next_try = SET_ASIDE_FOR_GOOD;
        log_critical(TAG_WU "set aside after %d tries: %s; see set_aside",
                     w->wu.id, w->wu.name, w->aside.tries, why);
        return;
    }
    pause = setaside_pause((unsigned)w->aside.tries);
    w->aside.next_try = d->now + pause;
    log_warning(TAG_WU "try %d failed, again in %" PRId64 " s: %s", w->wu.id,
                w->wu.name, w->aside.tries, pause, why);
}

/* It shall come again when all its results are over and checked.  If they are,
 * the transitioner would bring it back at once, and so for ever: that counts as
 * a failed try.  A failed workunit would come back at once too, whatever its
 * results are: it is looked at from time to time until they are over. */
static void
defer(const struct daemon *d, struct assimilate_wu *w)
{
    if (!w->is_open) {
        set_aside(d, w, "deferred though all its results are over");
    } else if (w->wu.error_mask == 0) {
        w->ending = ENDING_DEFER;
    } else {
        w->ending = ENDING_FAILED;
        w->aside.next_try = d->now + LOOK_AGAIN;
        str_copy(w->aside.error, sizeof(w->aside.error),
                 "deferred until its results are over");
    }
}

static void
assimilate(struct daemon *d, struct assimilate_wu *w)
{
    char why[512];

    switch (hand_over(d, w, why, sizeof(why))) {
    case HANDLE_DONE:
        w->ending = ENDING_DONE;
        break;
    case HANDLE_DEFER:
        defer(d, w);
        break;
    case HANDLE_LATER:
        set_aside(d, w, why);
        break;
    }
}

/* ---- the program ----------------------------------------------------------
 */

static void
log_endings(const struct assimilate_batch *b)
{
    char names[160];

    for (size_t i = 0; i < b->n; i++)
        if (b->wu[i].ending == ENDING_DONE || b->wu[i].ending == ENDING_DEFER)
            log_normal(
                TAG_WU "%s, errors: %s", b->wu[i].wu.id, b->wu[i].wu.name,
                b->wu[i].ending == ENDING_DONE ? "assimilated" : "deferred",
                wu_error_names(b->wu[i].wu.error_mask, names, sizeof(names)));
}

static int
assimilate_batch(struct daemon *d)
{
    struct assimilator *s = d->state;
    int n = 0;

    for (size_t i = 0; i < s->batch.n && !daemon_stopping(); i++) {
        struct assimilate_wu *w = &s->batch.wu[i];

        assimilate(d, w);
        n += w->ending != ENDING_LEAVE;
    }
    if (db_assimilate_store(d->db, &s->batch, d->now) != 0)
        return -1;
    log_endings(&s->batch);
    s->progress = s->progress || n > 0;
    s->last_id = s->batch.wu[s->batch.n - 1].wu.id;
    return n > 0 ? n : 1;
}

static int
one_pass(struct daemon *d)
{
    struct assimilator *s = d->state;
    const struct assimilate_query want = {
        .appid = d->appid,
        .now = d->now,
        .after_id = s->last_id,
        .mod_n = d->mod_n,
        .mod_i = d->mod_i,
        .limit = BATCH,
    };
    bool again;

    if (db_assimilate_due(d->db, &want, &s->batch) != 0)
        return -1;
    if (s->batch.n > 0)
        return assimilate_batch(d);
    again = s->progress;
    s->last_id = 0;
    s->progress = false;
    return again ? 1 : 0;
}

static int
start(struct daemon *d)
{
    if (hooks->handle == NULL) {
        log_critical("assimilator_hooks needs handle");
        return EXIT_USAGE;
    }
    d->state = xcalloc(1, sizeof(struct assimilator));
    return 0;
}

static void
stop(struct daemon *d)
{
    struct assimilator *s = d->state;

    assimilate_batch_free(&s->batch);
    free(s);
}

int
assimilator_main(int argc, char **argv, const struct assimilator_hooks *given)
{
    struct buf text = BUF_INIT;
    struct daemon_spec spec = {
        .name = "assimilator",
        .summary = "hand finished workunits to the project",
        .account = DB_ACCOUNT_ASSIMILATOR,
        .pass = one_pass,
        .start = start,
        .stop = stop,
        .idle_seconds = 10,
        .needs_app = true,
        .extra_args = given->init,
        .options = options_table,
        .n_options = ARRAY_LEN(options_table),
        .options_size = sizeof(struct assimilator_options),
    };
    int rc;

    hooks = given;
    buf_add(&text,
            "Calls the project's handler once for each workunit that has a "
            "canonical result or has failed.  One whose handler fails is "
            "called again later, more and more seldom, and does not stop the "
            "others; after --max_tries it is left alone until an operator "
            "releases it (set_aside).  If the program is killed, a handler "
            "may be called twice.");
    if (given->usage != NULL)
        buf_addf(&text, "\n\n%s", given->usage);
    spec.description = buf_str(&text);
    rc = daemon_main(argc, argv, &spec);
    buf_free(&text);
    return rc;
}
