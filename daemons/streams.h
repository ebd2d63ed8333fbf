/* streams.h - where the feeder's jobs come from: one stream of results, or one
 * for each application, batch or submitter, and whose turn it is. */
#ifndef QUORATE_STREAMS_H
#define QUORATE_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf.h"
#include "db_feed.h"
#include "interleave.h"

struct catalog;
struct daemon;

/* The feeder's own options. */
struct feeder_options {
    bool allapps;
    char *appids; /* "3,5" */
    struct conf_list wmod;
    bool random_order, random_order_db, priority_asc;
    bool priority_order, priority_order_create_time, batch_accel; /* usual */
    bool by_batch, by_submitter;
    struct conf_list user;
    int64_t purge_stale; /* minutes, 0 never */
};

/* 0, or an exit status (logged): options that exclude each other, or make no
 * sense. */
int feeder_options_check(const struct feeder_options *, const struct daemon *);

struct stream {
    struct feed_query query; /* where its walk is */
    struct sendable *page;   /* candidates: page[next … n - 1] */
    size_t next, n;
    bool at_end;
    double query_time; /* monotonic s */
    double dry_until;  /* an empty stream rests */
};

enum turn {
    TURN_BEST,   /* whose next job is the most urgent; or there is one only */
    TURN_WEIGHT, /* by weight of what is in the array */
    TURN_USAGE,  /* by share of what was ever placed */
};

struct streams {
    enum turn turn;
    struct stream *stream;
    struct share *share;
    size_t n, page_size;
    struct feed_query base; /* what all have in common */
    int64_t *app;           /* only these; n_apps 0: all */
    double *weight;         /* of them */
    size_t n_apps;
    int64_t *user; /* only these submitters; n_users 0: all */
    size_t n_users;
    bool by_batch, by_submitter;
    double list_time; /* batches, submitters: read then */
};

/* May these jobs be taken?  Asked again when it is a job's turn. */
struct stream_user {
    void (*before_page)(void *);
    bool (*accepts)(void *, const struct sendable *);
    void *arg;
};

struct streams *streams_new(const struct daemon *, const struct catalog *);
void streams_free(struct streams *);

/* Walk from the top again; held[i]: slots that stream i has now (NULL: none).
 * 0 or -1. */
int streams_restart(struct streams *, const struct daemon *, bool above,
                    int32_t above_priority);
void streams_hold(struct streams *, size_t stream, size_t jobs);

/* The next job and its stream; *ret NULL at the end.  It stays the next until
 * streams_took() or streams_skip().  0 or -1. */
int streams_next(struct streams *, const struct daemon *,
                 const struct stream_user *, const struct sendable **ret,
                 size_t *ret_stream);
void streams_took(struct streams *, size_t stream);
void streams_skip(struct streams *, size_t stream);

bool streams_at_end(const struct streams *);
double streams_query_time(const struct streams *);

/* By options (and weights) alone, may this job be in the array?  And which
 * stream does it belong to? */
bool streams_wants(const struct streams *, const struct sendable *,
                   size_t *ret_stream);

#endif
