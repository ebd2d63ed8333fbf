/* life.c - what a simulated computer does next: one thing at a time.
 *
 *   FETCH (input over HTTP) -> COMPUTE -> UPLOAD (size query, resume) -> REPORT
 *
 * and requests for work between them, as often as its pace allows. */
#include "volunteer.h"

#include <inttypes.h>
#include <string.h>

#include "digest.h"
#include "rng.h"
#include "truth.h"

#define TIME_LIMIT 20.0 /* s, for a request */

static bool
goes_wrong(struct host *h, double probability)
{
    return !fleet.perfect && rng_happens(&h->rng, probability);
}

static void
pause_for(struct host *h, double from, double to)
{
    h->pause_until = time_now() + rng_between(&h->rng, from, to);
}

/* ---- what has come back ---------------------------------------------------
 */

static void
input_came(struct host *h, struct task *t, enum exchange_end how)
{
    char md5[MD5_HEX];

    if (how != EXCHANGE_DONE) {
        pause_for(h, 0.5, 2);
        return;
    }
    digest_md5(h->x.body, h->x.body_len, md5);
    if (strcmp(md5, t->input_md5) != 0) {
        fleet.n.bad_inputs++;
        note("? input of %s is damaged\n", t->name);
        return;
    }
    buf_reset(&t->data);
    truth_output(h->x.body, h->x.body_len, &t->data);
    if (goes_wrong(h, h->traits.wrong)) {
        char who[NAME_SIZE + 64];

        snprintf(who, sizeof(who), "%s on %d, %" PRIx64, t->name, h->number,
                 rng_next(&h->rng));
        truth_spoil(&t->data, who);
        note("W %s\n", t->name);
        fleet.n.wrong++;
    }
    t->state = TASK_COMPUTE;
}

static void
size_came(struct host *h, struct task *t, enum exchange_end how)
{
    int status;
    long size;

    if (how != EXCHANGE_DONE || !hear_upload(h->x.body, &status, &size) ||
        status != 0 || size < 0) {
        fleet.n.upload_failed++;
        pause_for(h, 0.5, 3);
        return;
    }
    t->ask_size = false;
    t->offset = (size_t)size;
    if (t->offset > 0)
        fleet.n.resumed++;
    if (t->offset >= t->data.len) {
        note("U %s\n", t->output);
        t->state = TASK_REPORT;
    }
}

static void
upload_came(struct host *h, struct task *t, enum exchange_end how)
{
    int status = 1;
    long size;

    if (how == EXCHANGE_CUT)
        fleet.n.torn++;
    if (how == EXCHANGE_DONE && hear_upload(h->x.body, &status, &size) &&
        status == 0) {
        note("U %s\n", t->output);
        fleet.n.uploads++;
        t->state = TASK_REPORT;
        return;
    }
    if (status == -1) {
        /* a real client would give up the file; nobody should say so */
        note("? refused for ever: %s: %s\n", t->output, h->x.body);
        fleet.n.refused++;
    }
    fleet.n.upload_failed++;
    t->ask_size = true;
    pause_for(h, 0.5, 3);
}

static void
reply_came(struct host *h, enum exchange_end how)
{
    h->next_rpc = time_now();
    if (how == EXCHANGE_DONE && hear_reply(h, h->x.body)) {
        fleet.n.rpcs++;
        h->was_told = true;
        h->next_rpc += rng_between(&h->rng, 0, fleet.pace);
    } else {
        if (how == EXCHANGE_CUT)
            fleet.n.replies_lost++;
        else
            fleet.n.rpc_failed++;
        h->was_told = false;
        h->next_rpc += rng_between(&h->rng, 0.5, 3);
    }
    if (h->now.id != 0)
        h->now.seqno++;
    if (goes_wrong(h, h->traits.vanishes))
        host_vanish(h);
    else if (h->copy.id != 0 && h->copy.seqno + 3 < h->now.seqno &&
             goes_wrong(h, h->traits.copied))
        host_go_back(h);
}

static void
came_back(void *ctx, enum exchange_end how)
{
    struct host *h = ctx;
    struct task *t = h->current;
    enum doing doing = h->doing;

    h->doing = DOING_NOTHING;
    h->current = NULL;
    switch (doing) {
    case DOING_NOTHING:
        break;
    case DOING_FETCH:
        input_came(h, t, how);
        break;
    case DOING_SIZE:
        size_came(h, t, how);
        break;
    case DOING_UPLOAD:
        upload_came(h, t, how);
        break;
    case DOING_RPC:
        reply_came(h, how);
        break;
    }
}

/* ---- what is begun --------------------------------------------------------
 */

static void
begin(struct host *h, enum doing what, struct task *t)
{
    h->doing = what;
    h->current = t;
    h->x.cut_at = 0;
    h->x.drop_reply = false;
    h->x.ended = came_back;
}

static void
begin_rpc(struct host *h)
{
    struct buf body = BUF_INIT;

    begin(h, DOING_RPC, NULL);
    h->x.drop_reply = h->was_told && goes_wrong(h, h->traits.lost_reply);
    say_request(h, &body);
    exchange_start(&h->x, fleet.scheduler_url,
                   "application/x-www-form-urlencoded", &body, TIME_LIMIT);
    buf_free(&body);
}

static void
begin_upload(struct host *h, struct task *t)
{
    struct buf body = BUF_INIT;
    size_t head = 0;

    if (t->ask_size) {
        begin(h, DOING_SIZE, t);
        say_size_query(t, &body);
    } else {
        begin(h, DOING_UPLOAD, t);
        say_upload(h, t, &body, &head);
        if (goes_wrong(h, h->traits.torn_upload))
            h->x.cut_at = head + 1 + rng_next(&h->rng) % (body.len - head);
        else if (goes_wrong(h, h->traits.lost_reply))
            h->x.drop_reply = true;
    }
    exchange_start(&h->x, t->upload_url, "text/xml", &body, TIME_LIMIT);
    buf_free(&body);
}

static bool
go_on_with(struct host *h, struct task *t, double now)
{
    switch (t->state) {
    case TASK_FETCH:
        begin(h, DOING_FETCH, t);
        exchange_start(&h->x, t->input_url, NULL, NULL, TIME_LIMIT);
        return true;
    case TASK_COMPUTE:
        if (t->done_at > now && !fleet.stopping && !fleet.perfect)
            return false;
        if (t->done_at > now + 1)
            t->done_at = now; /* nobody is late any more */
        else if (t->done_at > now)
            return false;
        t->state = t->fails ? TASK_REPORT : TASK_UPLOAD;
        t->ask_size = t->data.len >= 8192;
        return go_on_with(h, t, now);
    case TASK_UPLOAD:
        begin_upload(h, t);
        return true;
    case TASK_REPORT:
        return false;
    }
    return false;
}

static bool
is_away(struct host *h, double now)
{
    if (fleet.perfect)
        return h->pause_until > now + 3 ? (h->pause_until = now, false)
                                        : h->pause_until > now;
    if (now > h->period_end) {
        h->period_end = now + rng_between(&h->rng, 5, 25);
        if (rng_happens(&h->rng, h->traits.away))
            h->pause_until = h->period_end;
    }
    return h->pause_until > now;
}

void
host_live(struct host *h)
{
    double now = time_now();

    if (h->doing != DOING_NOTHING || is_away(h, now))
        return;
    if (h->now.id != 0 && now > h->copy_at)
        host_copy(h);
    for (int i = 0; i < h->now.n_tasks; i++)
        if (go_on_with(h, h->now.task[i], now))
            return;
    if (h->next_rpc <= now)
        begin_rpc(h);
}
