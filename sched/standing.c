/* standing.c - the host's statistics with each app version: what this request
 * does to them, and whether they allow a job without a second host. */
#include "standing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "catalog.h"
#include "config.h"
#include "db_hav.h"
#include "log.h"
#include "quota.h"
#include "rpc.h"
#include "trust.h"

static void
apply(struct host_app_version *hav, enum standing_kind kind, int quota)
{
    switch (kind) {
    case STANDING_SUCCESS:
        quota_reported_success(hav, quota);
        break;
    case STANDING_ERROR:
        quota_reported_error(hav, quota);
        break;
    case STANDING_SENT:
        quota_sent(hav);
        break;
    }
}

static int
daily_quota(const struct rpc *rpc)
{
    return (int)rpc->cfg->daily_result_quota;
}

/* ---- what is noted --------------------------------------------------------
 */

static void
add_event(struct standing *s, int64_t key, enum standing_kind kind)
{
    size_t n = s->n_events;

    if ((n & (n - 1)) == 0) /* 0 or a power of two: full */
        s->event = xrealloc(s->event, (n > 0 ? 2 * n : 1) * sizeof(*s->event));
    s->event[s->n_events++] = (struct standing_event){key, kind};
}

static struct host_app_version *
find(struct standing *s, int64_t key)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->hav[i].app_version_id == key)
            return &s->hav[i];
    return NULL;
}

void
standing_note(struct rpc *rpc, int64_t appid, int64_t app_version_id,
              enum standing_kind kind)
{
    struct standing *s = &rpc->standing;
    int64_t key = quota_version_key(appid, app_version_id);
    struct host_app_version *hav;

    if (key == 0)
        return;
    add_event(s, key, kind);
    hav = find(s, key);
    if (hav != NULL)
        apply(hav, kind, daily_quota(rpc));
}

/* ---- who is trusted -------------------------------------------------------
 */

static bool
is_new_day(const struct rpc *rpc)
{
    return !rpc->new_host &&
           quota_is_new_day(rpc->host.id, rpc->old_host.rpc_time, rpc->now);
}

int
standing_load(struct rpc *rpc)
{
    struct standing *s = &rpc->standing;

    if (s->loaded)
        return 0;
    if (db_hav_lock_of_host(rpc->db, rpc->host.id, &s->hav, &s->n) != 0)
        return -1;
    s->stored = xcalloc(s->n + 1, sizeof(*s->stored));
    for (size_t i = 0; i < s->n; i++)
        s->stored[i] = s->hav[i];
    s->n_stored = s->n;
    s->loaded = true;
    for (size_t i = 0; i < s->n && is_new_day(rpc); i++)
        s->hav[i].n_jobs_today = 0;
    for (size_t i = 0; i < s->n_events; i++) {
        struct host_app_version *hav = find(s, s->event[i].key);

        if (hav != NULL)
            apply(hav, s->event[i].kind, daily_quota(rpc));
    }
    return 0;
}

const struct host_app_version *
standing_find(const struct rpc *rpc, int64_t key)
{
    for (size_t i = 0; i < rpc->standing.n; i++)
        if (rpc->standing.hav[i].app_version_id == key)
            return &rpc->standing.hav[i];
    return NULL;
}

/* The row of a version that is new to the host is made at once: it inherits
 * what is known of the version before. */
static int
find_or_make(struct rpc *rpc, int64_t key, struct host_app_version **ret)
{
    struct standing *s = &rpc->standing;

    if (standing_load(rpc) != 0)
        return -1;
    *ret = find(s, key);
    if (*ret != NULL)
        return 0;
    s->hav = xrealloc(s->hav, (s->n + 1) * sizeof(*s->hav));
    s->hav[s->n] = (struct host_app_version){.host_id = rpc->host.id,
                                             .app_version_id = key};
    *ret = &s->hav[s->n];
    if (db_hav_lock(rpc->db, *ret, 1) != 0)
        return -1;
    s->n++;
    return 0;
}

/* Does the workunit get a second host?  Then to how many instances? */
static int
decide(struct rpc *rpc, struct candidate *c)
{
    ptrdiff_t i = catalog_find_app(rpc->catalog, c->wu->appid);
    const struct app *app = i >= 0 ? &rpc->work.app[i] : NULL;
    struct host_app_version *hav;

    if (app == NULL ||
        !trust_replicates(app, c->wu->target_nresults, c->wu->min_quorum))
        return 0;
    if (find_or_make(rpc, quota_version_key(app->id, c->app_version_id),
                     &hav) != 0)
        return -1;
    if (!trust_alone(hav->consecutive_valid, rpc->draw))
        c->replicate_to = app->target_nresults;
    if (rpc->cfg->debug_send)
        log_normal(TAG_RESULT "host %" PRId64 ", %d valid in a row: %s",
                   c->result_id, c->result->name, rpc->host.id,
                   hav->consecutive_valid,
                   c->replicate_to > 0 ? "replicated" : "trusted");
    return 0;
}

int
standing_dispatch(struct rpc *rpc, struct candidate *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c[i].state == CANDIDATE_OK && decide(rpc, &c[i]) != 0)
            return -1;
    for (size_t i = 0; i < n; i++)
        if (c[i].state == CANDIDATE_OK)
            standing_note(rpc, c[i].wu->appid, c[i].app_version_id,
                          STANDING_SENT);
    return 0;
}

/* ---- the rows -------------------------------------------------------------
 */

/* Sort, drop doubles; how many are left. */
static size_t
unique_rows(struct host_app_version *row, size_t n)
{
    size_t kept = 0;

    qsort(row, n, sizeof(*row), db_hav_compare);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || db_hav_compare(&row[kept - 1], &row[i]) != 0)
            row[kept++] = row[i];
    return kept;
}

/* The rows that change: those of events; on a new day all. */
static size_t
list_rows(const struct rpc *rpc, bool new_day, struct host_app_version *ret)
{
    const struct standing *s = &rpc->standing;
    size_t n = 0;

    for (size_t i = 0; i < s->n_events; i++)
        ret[n++] = (struct host_app_version){.host_id = rpc->host.id,
                                             .app_version_id = s->event[i].key};
    for (size_t i = 0; i < s->n && new_day; i++)
        ret[n++] = s->hav[i];
    return unique_rows(ret, n);
}

static void
change_rows(const struct rpc *rpc, bool new_day, struct host_app_version *row,
            size_t n)
{
    const struct standing *s = &rpc->standing;
    int quota = daily_quota(rpc);

    for (size_t i = 0; i < n; i++) {
        if (new_day)
            row[i].n_jobs_today = 0;
        if (quota > 0 && row[i].max_jobs_per_day <= 0)
            row[i].max_jobs_per_day = quota;
    }
    for (size_t k = 0; k < s->n_events; k++)
        for (size_t i = 0; i < n; i++)
            if (row[i].app_version_id == s->event[k].key)
                apply(&row[i], s->event[k].kind, quota);
}

/* Fill the rows from what was locked when it was read.  False: some were not
 * there then. */
static bool
fill_rows(const struct standing *s, struct host_app_version *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct host_app_version *found =
            s->n_stored > 0 ? bsearch(&row[i], s->stored, s->n_stored,
                                      sizeof(*row), db_hav_compare)
                            : NULL;

        if (found == NULL)
            return false;
        row[i] = *found;
    }
    return true;
}

int
standing_store(struct rpc *rpc)
{
    struct standing *s = &rpc->standing;
    bool new_day = is_new_day(rpc);
    struct host_app_version *row;
    size_t n;
    int rc = 0;

    if (new_day && standing_load(rpc) != 0)
        return -1;
    row = xcalloc(s->n_events + s->n + 1, sizeof(*row));
    n = list_rows(rpc, new_day, row);
    if (n > 0 && !fill_rows(s, row, n))
        rc = db_hav_lock(rpc->db, row, n);
    if (n > 0 && rc == 0) {
        change_rows(rpc, new_day, row, n);
        rc = db_hav_store(rpc->db, row, n);
    }
    free(row);
    return rc;
}

void
standing_free(struct standing *s)
{
    free(s->hav);
    free(s->stored);
    free(s->event);
    *s = (struct standing){0};
}
