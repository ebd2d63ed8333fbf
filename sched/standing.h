/* standing.h - the host's statistics with each app version: what this request
 * does to them, and whether they allow a job without a second host (lifecycle
 * §6, dispatch §8.3).
 *
 * Events are noted while the request is handled.  standing_store() applies them
 * to the rows as they are under the lock: a request that wants work has it
 * since it read them, others take it now. */
#ifndef QUORATE_STANDING_H
#define QUORATE_STANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"

struct candidate;
struct rpc;

enum standing_kind {
    STANDING_SUCCESS, /* reported */
    STANDING_ERROR,
    STANDING_SENT,
};

struct standing_event {
    int64_t key; /* quota_version_key() */
    enum standing_kind kind;
};

struct standing {
    bool loaded;
    struct host_app_version *hav; /* as read, with the events so far */
    size_t n;
    struct host_app_version *stored; /* as read; locked */
    size_t n_stored;
    struct standing_event *event;
    size_t n_events;
};

/* Read the host's rows, once for each request; on a new day it has got no jobs
 * yet.  0, -1. */
int standing_load(struct rpc *);
/* The row of this key, as far as loaded; NULL: none.  It may move when jobs are
 * noted. */
const struct host_app_version *standing_find(const struct rpc *, int64_t key);

/* Note it.  A result without a version has no statistics. */
void standing_note(struct rpc *, int64_t appid, int64_t app_version_id,
                   enum standing_kind);

/* These are about to be sent: count those that are OK, and set replicate_to
 * where the host is not trusted to do the job alone.  0 or -1. */
int standing_dispatch(struct rpc *, struct candidate *, size_t n);

/* Store what was noted; begin a new day of the host.  0 or -1. */
int standing_store(struct rpc *);

void standing_free(struct standing *);

#endif
