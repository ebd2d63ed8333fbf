/* streams.c - where the feeder's jobs come from, and whose turn it is. */
#include "streams.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "catalog.h"
#include "config.h"
#include "daemon.h"
#include "filler.h"
#include "log.h"

enum {
    MAX_STREAMS = 1000, /* batches or submitters at a time */
    MIN_PAGE = 4,       /* results of a stream's page, at least */
    DRY_PAUSE = 15,     /* s that an empty stream of a submitter rests */
    LIST_INTERVAL = 60, /* s between lists of batches or submitters */
};

/* ---- options --------------------------------------------------------------
 */

static int
usage(const char *text)
{
    log_critical("feeder: %s", text);
    return EXIT_USAGE;
}

/* "3,5" -> ids; how many, or -1. */
static int
parse_ids(const char *text, int64_t *ret)
{
    int n = 0;

    while (*text != '\0') {
        char *end;
        int64_t id = strtoll(text, &end, 10);

        if (end == text || id <= 0 || (*end != ',' && *end != '\0'))
            return -1;
        if (ret != NULL)
            ret[n] = id;
        n++;
        text = *end == ',' ? end + 1 : end;
    }
    return n;
}

static bool
share_is_good(const struct conf_list *mod)
{
    return mod->n == 0 ||
           (mod->n == 2 && atoi(mod->item[0]) > 0 && atoi(mod->item[1]) >= 0 &&
            atoi(mod->item[1]) < atoi(mod->item[0]));
}

int
feeder_options_check(const struct feeder_options *o, const struct daemon *d)
{
    int orders =
        o->random_order + o->random_order_db + o->priority_asc +
        (o->priority_order || o->priority_order_create_time || o->batch_accel);
    int kinds = o->allapps + o->by_batch + (o->by_submitter || o->user.n > 0);

    if (orders > 1)
        return usage("--random_order, --random_order_db, --priority_asc and "
                     "--priority_order exclude each other");
    if (kinds > 1)
        return usage("--allapps, --by_batch and --by_submitter (or --user) "
                     "exclude each other");
    if (!share_is_good(&o->wmod))
        return usage("--wmod n i: n from 1, i from 0 to n - 1");
    if (o->wmod.n > 0 && d->mod_n > 0)
        return usage("--mod and --wmod exclude each other");
    if (parse_ids(o->appids, NULL) < 0)
        return usage("--appids: ids of applications with commas between");
    for (size_t i = 0; i < o->user.n; i++)
        if (parse_ids(o->user.item[i], NULL) != 1)
            return usage("--user: the id of a user");
    return 0;
}

static enum feed_order
order_of(const struct feeder_options *o)
{
    if (o->random_order)
        return FEED_RANDOM;
    if (o->random_order_db)
        return FEED_SHUFFLE;
    return o->priority_asc ? FEED_WORST : FEED_BEST;
}

/* ---- which streams --------------------------------------------------------
 */

static bool
app_is_wanted(const struct streams *s, int64_t appid)
{
    for (size_t i = 0; i < s->n_apps; i++)
        if (s->app[i] == appid)
            return true;
    return s->n_apps == 0;
}

/* --appids: those; --allapps: those, or all that the catalog has. */
static void
list_apps(struct streams *s, const struct feeder_options *o,
          const struct catalog *catalog)
{
    size_t n = catalog_n_apps(catalog), kept = 0;
    int64_t *wanted = xcalloc(strlen(o->appids) + 1, sizeof(*wanted));

    s->app = xcalloc(n + strlen(o->appids) + 1, sizeof(*s->app));
    s->weight = xcalloc(n + strlen(o->appids) + 1, sizeof(*s->weight));
    s->n_apps = (size_t)parse_ids(o->appids, s->app);
    memcpy(wanted, s->app, s->n_apps * sizeof(*wanted));
    for (size_t i = 0; i < n && (o->allapps || s->n_apps > 0); i++) {
        struct app app;

        catalog_app(catalog, i, &app);
        if (!app_is_wanted(s, app.id))
            continue;
        wanted = xrealloc(wanted, (kept + 1) * sizeof(*wanted));
        wanted[kept] = app.id;
        s->weight[kept++] = app.weight;
    }
    if (kept > 0) { /* else those asked for, which have no jobs now */
        memcpy(s->app, wanted, kept * sizeof(*wanted));
        s->n_apps = kept;
    }
    free(wanted);
}

static void
free_pages(struct streams *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->stream[i].page);
    free(s->stream);
    free(s->share);
    s->stream = NULL;
    s->share = NULL;
    s->n = 0;
}

static void
make_streams(struct streams *s, size_t n, size_t query_size)
{
    free_pages(s);
    s->n = n;
    s->stream = xcalloc(n + 1, sizeof(*s->stream));
    s->share = xcalloc(n + 1, sizeof(*s->share));
    s->page_size = n > 0 ? query_size / n : query_size;
    if (s->page_size < MIN_PAGE)
        s->page_size = query_size < MIN_PAGE ? query_size : MIN_PAGE;
    for (size_t i = 0; i < n; i++) {
        s->stream[i].query = s->base;
        s->stream[i].page = xcalloc(s->page_size, sizeof(struct sendable));
        s->share[i].weight = 1;
    }
}

static void
stream_for_each_app(struct streams *s, const struct feeder_options *o,
                    size_t query_size)
{
    make_streams(s, s->n_apps, query_size);
    for (size_t i = 0; i < s->n; i++) {
        s->stream[i].query.appid = s->app[i];
        s->share[i].weight = o->allapps ? s->weight[i] : 1;
    }
    s->turn = o->allapps || s->base.order == FEED_RANDOM ||
                      s->base.order == FEED_SHUFFLE
                  ? TURN_WEIGHT
                  : TURN_BEST;
    interleave_begin(s->share, s->n);
}

struct streams *
streams_new(const struct daemon *d, const struct catalog *catalog)
{
    const struct feeder_options *o = d->options;
    struct streams *s = xcalloc(1, sizeof(*s));
    size_t query_size = (size_t)d->cfg->feeder_query_size;

    s->base.order = order_of(o);
    s->base.mod_n = d->mod_n;
    s->base.mod_i = d->mod_i;
    if (o->wmod.n == 2) {
        s->base.mod_of_wu = true;
        s->base.mod_n = atoi(o->wmod.item[0]);
        s->base.mod_i = atoi(o->wmod.item[1]);
    }
    list_apps(s, o, catalog);
    s->user = xcalloc(o->user.n + 1, sizeof(*s->user));
    for (size_t i = 0; i < o->user.n; i++)
        parse_ids(o->user.item[i], &s->user[s->n_users++]);
    s->by_batch = o->by_batch;
    s->by_submitter = o->by_submitter || o->user.n > 0;
    if (s->by_batch || s->by_submitter) {
        s->turn = s->by_batch ? TURN_WEIGHT : TURN_USAGE;
        s->list_time = -LIST_INTERVAL;
    } else if (s->n_apps > 0) {
        stream_for_each_app(s, o, query_size);
    } else {
        make_streams(s, 1, query_size);
    }
    return s;
}

void
streams_free(struct streams *s)
{
    if (s == NULL)
        return;
    free_pages(s);
    free(s->app);
    free(s->weight);
    free(s->user);
    free(s);
}

static int
list_batches(struct streams *s, const struct daemon *d)
{
    int64_t *batch = xcalloc(MAX_STREAMS, sizeof(*batch));
    size_t n;
    int rc = db_feed_batches(d->db, batch, MAX_STREAMS, &n);

    if (rc == 0) {
        make_streams(s, n, (size_t)d->cfg->feeder_query_size);
        for (size_t i = 0; i < n; i++) {
            s->stream[i].query.one_batch = true;
            s->stream[i].query.batch = batch[i];
        }
    }
    free(batch);
    return rc;
}

static bool
user_is_wanted(const struct streams *s, int64_t id)
{
    for (size_t i = 0; i < s->n_users; i++)
        if (s->user[i] == id)
            return true;
    return s->n_users == 0;
}

static bool
same_users(const struct streams *s, const struct submitter *who, size_t n)
{
    bool same = s->n == n;

    for (size_t i = 0; i < n && same; i++)
        same = s->stream[i].query.user_id == who[i].user_id;
    return same;
}

/* Usage counts for as long as the submitters stay the same. */
static int
list_submitters(struct streams *s, const struct daemon *d)
{
    struct submitter *who = xcalloc(MAX_STREAMS, sizeof(*who));
    size_t n, kept = 0;
    int rc = db_feed_submitters(d->db, who, MAX_STREAMS, &n);

    for (size_t i = 0; rc == 0 && i < n; i++)
        if (user_is_wanted(s, who[i].user_id))
            who[kept++] = who[i];
    if (rc == 0 && !same_users(s, who, kept)) {
        make_streams(s, kept, (size_t)d->cfg->feeder_query_size);
        for (size_t i = 0; i < kept; i++) {
            s->stream[i].query.user_id = who[i].user_id;
            s->share[i].weight = who[i].quota;
        }
        interleave_begin(s->share, s->n);
    }
    for (size_t i = 0; rc == 0 && i < kept; i++)
        s->share[i].weight = who[i].quota;
    free(who);
    return rc;
}

/* ---- walking --------------------------------------------------------------
 */

static void
rewind_stream(struct stream *stream)
{
    stream->query.started = false;
    stream->next = stream->n = 0;
    stream->at_end = false;
}

int
streams_restart(struct streams *s, const struct daemon *d, bool above,
                int32_t above_priority)
{
    double t = filler_clock();

    if ((s->by_batch || s->by_submitter) && t - s->list_time >= LIST_INTERVAL) {
        if ((s->by_batch ? list_batches : list_submitters)(s, d) != 0)
            return -1;
        s->list_time = t;
    }
    for (size_t i = 0; i < s->n; i++) {
        s->stream[i].query.above = above;
        s->stream[i].query.above_priority = above_priority;
        rewind_stream(&s->stream[i]);
        if (s->turn == TURN_WEIGHT)
            s->share[i].x = 0;
        s->share[i].dry = t < s->stream[i].dry_until;
    }
    return 0;
}

void
streams_hold(struct streams *s, size_t stream, size_t jobs)
{
    if (s->turn == TURN_WEIGHT && stream < s->n)
        interleave_holds(&s->share[stream], jobs);
}

static int
read_page(struct streams *s, struct stream *stream, const struct daemon *d,
          const struct stream_user *user)
{
    int rc;

    user->before_page(user->arg);
    rc = db_feed_page(d->db, &stream->query, stream->page, s->page_size,
                      &stream->n);
    stream->query_time = filler_clock();
    stream->next = 0;
    if (rc < 0) {
        stream->n = 0;
        return -1;
    }
    stream->at_end = rc != 0; /* DB_NONE: no more */
    for (size_t i = 0; i < stream->n; i++)
        stream->page[i].need_reliable =
            d->cfg->reliable_on_priority != 0 &&
            stream->page[i].priority >= d->cfg->reliable_on_priority;
    return 0;
}

/* Let the next of the stream's page be one that is accepted, if there is one.
 * 0 or -1. */
static int
find_next(struct streams *s, struct stream *stream, const struct daemon *d,
          const struct stream_user *user)
{
    while (!daemon_stopping()) {
        while (stream->next < stream->n &&
               !user->accepts(user->arg, &stream->page[stream->next]))
            stream->next++;
        if (stream->next < stream->n || stream->at_end)
            break;
        if (read_page(s, stream, d, user) != 0)
            return -1;
    }
    return 0;
}

static bool
is_before(const struct streams *s, const struct sendable *a,
          const struct sendable *b)
{
    bool high_first = s->base.order != FEED_WORST;

    if (a->priority != b->priority)
        return (a->priority > b->priority) == high_first;
    return (a->wu_id < b->wu_id) == high_first;
}

static ptrdiff_t
most_urgent(const struct streams *s)
{
    ptrdiff_t best = -1;

    for (size_t i = 0; i < s->n; i++) {
        const struct stream *x = &s->stream[i];

        if (x->next < x->n &&
            (best < 0 ||
             is_before(s, &x->page[x->next],
                       &s->stream[best].page[s->stream[best].next])))
            best = (ptrdiff_t)i;
    }
    return best;
}

/* Whose turn is it?  The share is charged when the job was taken. */
static ptrdiff_t
whose_turn(const struct streams *s)
{
    ptrdiff_t best = -1;

    if (s->turn == TURN_BEST)
        return most_urgent(s);
    for (size_t i = 0; i < s->n; i++)
        if (s->share[i].weight > 0 && !s->share[i].dry &&
            (best < 0 || s->share[i].x > s->share[best].x))
            best = (ptrdiff_t)i;
    return best;
}

int
streams_next(struct streams *s, const struct daemon *d,
             const struct stream_user *user, const struct sendable **ret,
             size_t *ret_stream)
{
    ptrdiff_t turn;

    *ret = NULL;
    for (size_t i = 0; i < s->n; i++) {
        struct stream *x = &s->stream[i];

        if (s->share[i].dry || s->share[i].weight <= 0)
            continue;
        if (find_next(s, x, d, user) != 0)
            return -1;
        if (x->next == x->n) {
            s->share[i].dry = true;
            if (s->turn == TURN_USAGE)
                x->dry_until = filler_clock() + DRY_PAUSE;
        }
    }
    turn = whose_turn(s);
    if (turn >= 0 && s->stream[turn].next < s->stream[turn].n) {
        const struct stream *x = &s->stream[turn];

        *ret = &x->page[x->next];
        *ret_stream = (size_t)turn;
    }
    return 0;
}

void
streams_took(struct streams *s, size_t stream)
{
    if (s->turn != TURN_BEST) {
        ptrdiff_t charged = interleave_next(s->share, s->n);

        (void)charged; /* the same that whose_turn() found */
    }
    s->stream[stream].next++;
}

void
streams_skip(struct streams *s, size_t stream)
{
    s->stream[stream].next++;
}

bool
streams_at_end(const struct streams *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!s->share[i].dry && !s->stream[i].at_end)
            return false;
    return true;
}

double
streams_query_time(const struct streams *s)
{
    double last = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->stream[i].query_time > last)
            last = s->stream[i].query_time;
    return last;
}

bool
streams_wants(const struct streams *s, const struct sendable *job,
              size_t *ret_stream)
{
    *ret_stream = 0;
    if (!app_is_wanted(s, job->appid) || !user_is_wanted(s, job->user_id))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        const struct feed_query *q = &s->stream[i].query;

        if ((q->appid == 0 || q->appid == job->appid) &&
            (q->user_id == 0 || q->user_id == job->user_id) &&
            (!q->one_batch || q->batch == job->batch)) {
            *ret_stream = i;
            return s->share[i].weight > 0;
        }
    }
    return false;
}
