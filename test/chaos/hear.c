/* hear.c - what a client takes from replies. */
#include "volunteer.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

/* A part of the reply: between two tags. */
struct part {
    const char *from, *to;
};

/* The next <tag>…</tag> in `in`, from *at on; *at goes behind it. */
static bool
next_part(const struct part *in, const char **at, const char *tag,
          struct part *ret)
{
    char open[64], close[64];
    const char *begin, *end;

    snprintf(open, sizeof(open), "<%s>", tag);
    snprintf(close, sizeof(close), "</%s>", tag);
    begin = strstr(*at, open);
    if (begin == NULL || begin >= in->to)
        return false;
    begin += strlen(open);
    end = strstr(begin, close);
    if (end == NULL || end > in->to)
        return false;
    ret->from = begin;
    ret->to = end;
    *at = end;
    return true;
}

/* Its text without white space around it. */
static bool
text_of(const struct part *in, const char *tag, char *ret, size_t size)
{
    const char *at = in->from;
    struct part p;
    size_t n;

    ret[0] = '\0';
    if (!next_part(in, &at, tag, &p))
        return false;
    while (p.from < p.to && isspace((unsigned char)*p.from))
        p.from++;
    while (p.to > p.from && isspace((unsigned char)p.to[-1]))
        p.to--;
    n = (size_t)(p.to - p.from);
    if (n >= size)
        return false;
    memcpy(ret, p.from, n);
    ret[n] = '\0';
    return true;
}

/* The <tag> whose <name> is this one. */
static bool
part_named(const struct part *reply, const char *tag, const char *name,
           struct part *ret)
{
    const char *at = reply->from;
    char found[NAME_SIZE];

    while (next_part(reply, &at, tag, ret))
        if (text_of(ret, "name", found, sizeof(found)) &&
            strcmp(found, name) == 0)
            return true;
    return false;
}

/* ---- jobs ---------------------------------------------------------------- */

static bool
fill_task(const struct part *reply, const struct part *result, struct task *t)
{
    struct part wu, file;
    char input[NAME_SIZE], signature[2048];

    if (!text_of(result, "name", t->name, sizeof(t->name)) ||
        !text_of(result, "wu_name", t->wu, sizeof(t->wu)) ||
        !text_of(result, "file_name", t->output, sizeof(t->output)) ||
        !part_named(reply, "workunit", t->wu, &wu) ||
        !text_of(&wu, "file_name", input, sizeof(input)) ||
        !part_named(reply, "file_info", input, &file) ||
        !text_of(&file, "url", t->input_url, sizeof(t->input_url)) ||
        !text_of(&file, "md5_cksum", t->input_md5, sizeof(t->input_md5)) ||
        !part_named(reply, "file_info", t->output, &file) ||
        !text_of(&file, "url", t->upload_url, sizeof(t->upload_url)) ||
        !text_of(&file, "max_nbytes", t->max_nbytes, sizeof(t->max_nbytes)) ||
        !text_of(&file, "xml_signature", signature, sizeof(signature)))
        return false;
    t->signature = xstrdup(signature);
    return true;
}

static void
decide_fate(struct host *h, struct task *t)
{
    double now = time_now();

    t->given_at = now;
    t->done_at = now + rng_between(&h->rng, 1, 8);
    if (fleet.perfect) {
        t->done_at = now + rng_between(&h->rng, 0.3, 1);
    } else if (rng_happens(&h->rng, h->traits.error)) {
        t->fails = true;
        fleet.n.errors++;
    } else if (rng_happens(&h->rng, h->traits.late)) {
        t->done_at = now + fleet.deadline + rng_between(&h->rng, 2, 20);
        fleet.n.late++;
    }
}

static void
take_jobs(struct host *h, const struct part *reply)
{
    const char *at = reply->from;
    struct part result;

    while (next_part(reply, &at, "result", &result)) {
        struct task *t = xcalloc(1, sizeof(*t));
        struct part whole = *reply;

        /* the files of a result stand before it */
        if (!fill_task(&whole, &result, t)) {
            note("? unreadable %s of %" PRId64 "\n", t->name, h->now.id);
            free(t);
            continue;
        }
        note("G %s %" PRId64 "\n", t->name, h->now.id);
        if (h->now.n_tasks == MAX_TASKS || host_task(h, t->name) != NULL) {
            free(t->signature);
            free(t);
            continue;
        }
        decide_fate(h, t);
        h->now.task[h->now.n_tasks++] = t;
        fleet.n.given++;
    }
}

/* ---- what became of ours ------------------------------------------------- */

static void
take_acks(struct host *h, const struct part *reply)
{
    const char *at = reply->from;
    char name[NAME_SIZE];
    struct part ack;

    while (next_part(reply, &at, "result_ack", &ack)) {
        const struct task *t;

        if (!text_of(&ack, "name", name, sizeof(name)))
            continue;
        t = host_task(h, name);
        if (t == NULL)
            continue;
        note("A %s %" PRId64 " %s\n", name, h->now.id,
             t->fails ? "error" : "success");
        fleet.n.acknowledged++;
        host_drop(h, name);
    }
}

static void
take_aborts(struct host *h, const struct part *reply, const char *tag)
{
    const char *at = reply->from;
    char name[NAME_SIZE];
    struct part abort;

    while (next_part(reply, &at, tag, &abort)) {
        if (!text_of(&abort, "name", name, sizeof(name)) ||
            host_task(h, name) == NULL)
            continue;
        note("X %s %" PRId64 "\n", name, h->now.id);
        fleet.n.aborted++;
        host_drop(h, name);
    }
}

static void
take_id(struct host *h, const struct part *reply)
{
    char text[32];
    int64_t id = 0;

    if (text_of(reply, "hostid", text, sizeof(text)))
        id = strtoll(text, NULL, 10);
    if (id == 0 || id == h->now.id)
        return;
    note("H %d %" PRId64 " %" PRId64 "\n", h->number, h->now.id, id);
    fleet.n.new_ids++;
    h->now.id = id;
    h->now.seqno = -1; /* the caller adds one: the first is 0 */
}

bool
hear_reply(struct host *h, const char *text)
{
    struct part reply = {text, text + strlen(text)};
    char number[32];
    double delay = 0;

    if (strstr(text, "<scheduler_reply>") == NULL ||
        strstr(text, "</scheduler_reply>") == NULL)
        return false;
    take_id(h, &reply);
    take_acks(h, &reply);
    take_aborts(h, &reply, "result_abort");
    take_jobs(h, &reply);
    if (strstr(text, "<project_is_down/>") != NULL)
        fleet.n.down++;
    if (text_of(&reply, "request_delay", number, sizeof(number)))
        delay = strtod(number, NULL);
    /* simulated time runs faster than that of the server */
    if (delay > fleet.pace)
        delay = fleet.pace;
    h->next_rpc = time_now() + delay;
    return true;
}

bool
hear_upload(const char *text, int *ret_status, long *ret_size)
{
    const char *status = strstr(text, "<status>");
    const char *size = strstr(text, "<file_size>");

    *ret_size = size != NULL ? strtol(size + 11, NULL, 10) : -1;
    if (status == NULL)
        return false;
    *ret_status = (int)strtol(status + 8, NULL, 10);
    return true;
}
