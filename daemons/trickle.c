/* trickle.c - the program around a scientist's trickle handler: hand over each
 * message, store what follows from it.
 *
 * It sweeps over the messages by id.  The handlers of a batch run first, then
 * one transaction stores their effects and marks the messages.
 *
 * A handler that takes the program down with it would do so for ever.  So a
 * program begins with batches of one, whose try is counted before it is made;
 * a batch that went well doubles the next. */
#include "trickle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "credit.h"
#include "daemon.h"
#include "db.h"
#include "db_trickle.h"
#include "log.h"

enum {
    BATCH = 100,
    SPEEDS_KEPT = 3600,  /* s */
    PURGE_EVERY = 3600,  /* s */
    PURGE_AT_ONCE = 5000 /* messages */
};

#define TAG_MSG "[MSG#%" PRId64 " host %" PRId64 "] "

/* The scientist's functions: of the one handler that this process is. */
static const struct trickle_hooks *hooks;

struct trickle_options {
    char *variety;
    int64_t max_tries;
    double keep_days;
};

struct handler {
    struct trickle_batch batch;
    int64_t last_id; /* of the sweep; 0: it begins */
    bool progress;   /* something was stored in this sweep */
    int limit;       /* messages in the next batch */
    double speed_50, speed_95;
    int64_t speeds_at, purged_at; /* Unix s */
};

struct trickle_effects {
    struct trickle_row *row;
};

/* ---- helpers for handlers -------------------------------------------------
 */

static void
trim(const char **begin, const char **end)
{
    static const char blanks[] = " \t\r\n";

    while (*begin < *end && strchr(blanks, **begin) != NULL)
        (*begin)++;
    while (*end > *begin && strchr(blanks, (*end)[-1]) != NULL)
        (*end)--;
}

/* The text is what some program wrote, not XML: looked for, never parsed. */
bool
trickle_text(const struct trickle *t, const char *element, char *ret,
             size_t size)
{
    struct buf tag = BUF_INIT;
    const char *begin, *end = NULL;

    buf_addf(&tag, "<%s>", element);
    begin = strstr(t->xml, buf_str(&tag));
    if (begin != NULL) {
        begin += tag.len;
        buf_reset(&tag);
        buf_addf(&tag, "</%s>", element);
        end = strstr(begin, buf_str(&tag));
    }
    buf_free(&tag);
    if (end == NULL || size == 0)
        return false;
    trim(&begin, &end);
    snprintf(ret, size, "%.*s", (int)(end - begin), begin);
    return true;
}

bool
trickle_number(const struct trickle *t, const char *element, double *ret)
{
    char text[64], *end;
    double x;

    if (!trickle_text(t, element, text, sizeof(text)))
        return false;
    x = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(x))
        return false;
    *ret = x;
    return true;
}

void
trickle_grant(struct trickle_effects *e, double credit, int64_t start)
{
    if (!isfinite(credit) || credit <= 0)
        return;
    e->row->credit += credit;
    e->row->start = start;
}

void
trickle_extend_deadline(struct trickle_effects *e, const char *result_name,
                        int64_t seconds, int64_t within)
{
    struct trickle_row *t = e->row;
    struct trickle_extension *x;

    if (seconds <= 0)
        return;
    t->extension =
        xrealloc(t->extension, (t->n_extensions + 1) * sizeof(*t->extension));
    x = &t->extension[t->n_extensions];
    *x = (struct trickle_extension){.seconds = seconds, .within = within};
    if (str_copy(x->result_name, sizeof(x->result_name), result_name))
        t->n_extensions++; /* else no result has such a name */
}

void
trickle_answer(struct trickle_effects *e, const char *xml)
{
    struct trickle_row *t = e->row;

    t->answer = xrealloc(t->answer, (t->n_answers + 1) * sizeof(*t->answer));
    t->answer[t->n_answers++] = xstrdup(xml);
}

double
trickle_credit_of(double flop)
{
    return flop * COBBLESTONE_SCALE;
}

/* ---- one message ----------------------------------------------------------
 */

static double
believable_speed(const struct handler *s, double p_fpops)
{
    if (!(p_fpops > 0))
        return s->speed_50;
    return p_fpops < s->speed_95 ? p_fpops : s->speed_95;
}

static enum trickle_status
call_handler(const struct handler *s, struct trickle_row *row)
{
    struct trickle_effects effects = {.row = row};
    char result_name[NAME_SIZE] = "";
    struct trickle t = {
        .id = row->id,
        .create_time = row->create_time,
        .host_id = row->hostid,
        .user_id = row->userid,
        .variety = row->variety,
        .xml = row->xml,
        .result_name = result_name,
        .host_flops = believable_speed(s, row->p_fpops),
    };

    trickle_text(&t, "result_name", result_name, sizeof(result_name));
    return hooks->handle(&t, &effects);
}

/* 1, 2, 4 … minutes, a day at most. */
static int64_t
next_try(int64_t now, int tries)
{
    int64_t wait = tries < 11 ? (int64_t)60 << tries : 86400;

    return now + (wait < 86400 ? wait : 86400);
}

static void
end_with(struct trickle_row *t, int state, int otherwise)
{
    t->ending = TRICKLE_END;
    t->state = state != 0 ? state : otherwise;
}

/* Nothing of what it asked for is done. */
static void
drop_effects(struct trickle_row *t)
{
    for (size_t k = 0; k < t->n_answers; k++)
        free(t->answer[k]);
    t->n_answers = t->n_extensions = 0;
    t->credit = 0;
}

static void
give_up(struct trickle_row *t)
{
    drop_effects(t);
    end_with(t, hooks->state_bad, 2);
    log_critical(TAG_MSG "%s: given up after %d tries", t->id, t->hostid,
                 t->variety, t->tries);
}

static void
failed(struct daemon *d, struct trickle_row *t)
{
    const struct trickle_options *o = d->options;

    drop_effects(t);
    t->tries++;
    if (t->tries >= o->max_tries) {
        give_up(t);
        return;
    }
    t->ending = TRICKLE_AGAIN;
    t->next_try = next_try(d->now, t->tries - 1);
    log_warning(TAG_MSG "%s: its handler failed, again in %" PRId64 " s", t->id,
                t->hostid, t->variety, t->next_try - d->now);
}

static void
handle(struct daemon *d, struct trickle_row *t)
{
    const struct trickle_options *o = d->options;
    const struct handler *s = d->state;

    if (t->tries >= o->max_tries) {
        give_up(t);
        return;
    }
    switch (call_handler(s, t)) {
    case TRICKLE_DONE:
        end_with(t, hooks->state_done, 1);
        log_normal(TAG_MSG "%s: handled, credit %g", t->id, t->hostid,
                   t->variety, t->credit);
        return;
    case TRICKLE_BAD:
        drop_effects(t);
        end_with(t, hooks->state_bad, 2);
        log_warning(TAG_MSG "%s: no good message", t->id, t->hostid,
                    t->variety);
        return;
    case TRICKLE_LATER:
        break;
    }
    failed(d, t); /* also a handler that answers nonsense */
}

/* ---- a batch --------------------------------------------------------------
 */

/* A batch of one is counted first.  If the handler then says that it failed,
 * storing that must not count again. */
static int
count_first(struct daemon *d)
{
    struct handler *s = d->state;
    struct trickle_row *t = &s->batch.row[0];
    const struct trickle_options *o = d->options;

    if (s->batch.n != 1 || t->tries >= o->max_tries)
        return 0;
    return db_trickle_count_try(d->db, t->id, d->now);
}

static int
handle_batch(struct daemon *d)
{
    struct handler *s = d->state;
    bool counted = s->limit == 1;
    int n = 0;

    if (counted && count_first(d) != 0)
        return -1;
    for (size_t i = 0; i < s->batch.n && !daemon_stopping(); i++) {
        handle(d, &s->batch.row[i]);
        n++;
    }
    if (counted && s->batch.row[0].ending == TRICKLE_AGAIN)
        s->batch.row[0].counted = true;
    if (db_trickle_store(d->db, &s->batch, d->now) != 0)
        return -1;
    s->progress = s->progress || n > 0;
    s->last_id = s->batch.row[s->batch.n - 1].id;
    s->limit = s->limit * 2 < BATCH ? s->limit * 2 : BATCH;
    return n > 0 ? n : 1;
}

static int
refresh_speeds(struct daemon *d)
{
    struct handler *s = d->state;

    if (s->speeds_at != 0 && d->now - s->speeds_at < SPEEDS_KEPT)
        return 0;
    s->speeds_at = d->now;
    return db_trickle_speeds(d->db, &s->speed_50, &s->speed_95);
}

/* Two handlers may purge at once: each row goes once. */
static int
purge(struct daemon *d)
{
    const struct trickle_options *o = d->options;
    struct handler *s = d->state;
    int64_t n;

    if (o->keep_days <= 0 || d->now - s->purged_at < PURGE_EVERY)
        return 0;
    n = db_trickle_purge(d->db, d->now - (int64_t)(o->keep_days * 86400),
                         PURGE_AT_ONCE);
    if (n < 0)
        return -1;
    if (n < PURGE_AT_ONCE)
        s->purged_at = d->now;
    if (n > 0)
        log_normal("%" PRId64 " old messages removed", n);
    return 0;
}

static int
one_pass(struct daemon *d)
{
    const struct trickle_options *o = d->options;
    struct handler *s = d->state;
    const struct trickle_query want = {
        .variety = o->variety[0] != '\0' ? o->variety : hooks->variety,
        .after_id = s->last_id,
        .now = d->now,
        .mod_n = d->mod_n,
        .mod_i = d->mod_i,
        .limit = s->limit,
    };
    bool again;

    if (refresh_speeds(d) != 0 || db_trickle_due(d->db, &want, &s->batch) != 0)
        return -1;
    if (s->batch.n > 0)
        return handle_batch(d);
    again = s->progress;
    s->last_id = 0;
    s->progress = false;
    return purge(d) != 0 ? -1 : again ? 1 : 0;
}

/* ---- the program ----------------------------------------------------------
 */

static int
start(struct daemon *d)
{
    struct handler *s;

    if (hooks->handle == NULL) {
        log_critical("trickle_hooks needs handle");
        return EXIT_USAGE;
    }
    s = xcalloc(1, sizeof(*s));
    s->limit = 1;
    d->state = s;
    return 0;
}

static void
stop(struct daemon *d)
{
    struct handler *s = d->state;

    trickle_batch_free(&s->batch);
    free(s);
}

#define CONF_STRUCT struct trickle_options
static const struct conf_option options[] = {
    OPTION(variety, CONF_STRING, NULL, 0, 0, 0, "NAME",
           "handle messages of this variety alone (default: the handler's)"),
    OPTION(max_tries, CONF_INT, "10", 1, 1000, 0, "",
           "give a message up when its handler failed so often"),
    OPTION(keep_days, CONF_DOUBLE, "30", 0, 36500, 0, "days",
           "remove handled messages that are older, 0 to keep them"),
};

int
trickle_main(int argc, char **argv, const struct trickle_hooks *given)
{
    struct buf text = BUF_INIT;
    struct daemon_spec spec = {
        .name = "trickle_handler",
        .summary = "handle messages that jobs send while they run",
        .account = DB_ACCOUNT_TRICKLE,
        .pass = one_pass,
        .start = start,
        .stop = stop,
        .idle_seconds = 5,
        .options = options,
        .n_options = ARRAY_LEN(options),
        .options_size = sizeof(struct trickle_options),
        .extra_args = given->init,
    };
    int rc;

    hooks = given;
    buf_add(&text,
            "Calls the project's handler for each message of a variety, in the "
            "order of their arrival.  Credit, deadlines and answers are stored "
            "together with the mark that the message is handled: once for each "
            "message.  One whose handler fails is tried again later and does "
            "not stop the others.");
    if (given->usage != NULL)
        buf_addf(&text, "\n\n%s", given->usage);
    spec.description = buf_str(&text);
    rc = daemon_main(argc, argv, &spec);
    buf_free(&text);
    return rc;
}
