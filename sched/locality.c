/* locality.c - jobs for the files that a host holds.
 *
 * What a host holds is what its client lists, and what it got from us a short
 * while ago and may still be fetching (x_locality).  Its jobs come from there
 * first, file by file; then from one new file (lib/policy/locality.c says
 * which), of which the host becomes holder number n.  That number is a unique
 * key, so of two hosts that want one file at the same time one gets it, and the
 * other another file; what is promised of the jobs themselves is decided by
 * their rows as always.  A holder counts while it gets jobs of the file: one
 * that has been silent for send_timeout (or a day) is none. */
#include "locality.h"

#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "db.h"
#include "digest.h"
#include "locality_choice.h"
#include "log.h"
#include "rpc.h"

enum {
    HOLDER_TIMEOUT = 86400, /* s, if the configuration says nothing */
    WINDOW = 32,            /* files that are looked at together */
    FILES_MAX = 512,        /* in one request */
    MAX_USELESS = 5,        /* new files none of whose jobs could be sent */
    FULL_DISK_DELAY = 4 * 3600,
};

/* ---- what the host holds ---- */

static bool
matches_any(const struct conf_list *patterns, const char *name)
{
    bool found = false;

    for (size_t i = 0; i < patterns->n && !found; i++) {
        regex_t regex;

        /* checked when the configuration was read */
        if (regcomp(&regex, patterns->item[i], REG_EXTENDED | REG_NOSUB) != 0)
            continue;
        found = regexec(&regex, name, 0, NULL, 0) == 0;
        regfree(&regex);
    }
    return found;
}

static enum locality_use
use_of(const struct config *cfg, const char *name)
{
    return locality_use_of(
        matches_any(&cfg->locality_scheduling_workunit_file, name),
        matches_any(&cfg->locality_scheduling_sticky_file, name),
        cfg->locality_scheduling_workunit_file.n > 0,
        cfg->locality_scheduling_sticky_file.n > 0);
}

static struct held_file *
find_held(struct locality *l, const char *name)
{
    for (size_t i = 0; i < l->n_held; i++)
        if (strcmp(l->held[i].name.text, name) == 0)
            return &l->held[i];
    return NULL;
}

static void
add_held(struct locality *l, const char *name, bool listed)
{
    if (l->n_held == LOCALITY_HELD_MAX || find_held(l, name) != NULL)
        return;
    l->held[l->n_held] = (struct held_file){.listed = listed};
    str_copy(l->held[l->n_held].name.text, NAME_SIZE, name);
    l->n_held++;
}

static void
delete_file(struct rpc *rpc, const char *name, const char *why)
{
    reply_delete_file(&rpc->reply, name);
    if (rpc->cfg->debug_locality)
        log_normal(TAG_HOST "file %s is to be deleted: %s", rpc->host.id, name,
                   why);
}

static void
read_listed(struct locality *l, struct rpc *rpc)
{
    for (size_t i = 0; i < rpc->req->n_files; i++) {
        const char *name = rpc->req->file[i].name;

        switch (use_of(rpc->cfg, name)) {
        case LOCALITY_WORK:
            add_held(l, name, true);
            break;
        case LOCALITY_STAYS:
            break;
        case LOCALITY_GOES:
            delete_file(rpc, name, "no job needs such files");
            break;
        }
    }
}

/* Files on their way to the client. */
static int
read_given(struct locality *l, struct rpc *rpc)
{
    struct locality_holding given[LOCALITY_HELD_MAX];
    size_t n;

    if (db_locality_of_host(rpc->db, rpc->host.id, LOCALITY_HELD_MAX, given,
                            &n) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (given[i].time >= l->since)
            add_held(l, given[i].name.text, false);
        else if (find_held(l, given[i].name.text) == NULL &&
                 db_locality_release(rpc->db, given[i].name.text,
                                     rpc->host.id) != 0)
            return -1;
    }
    return 0;
}

static int
by_name(const void *a, const void *b)
{
    const struct held_file *x = a, *y = b;

    return strcmp(x->name.text, y->name.text);
}

/* By name; or from a random one on, so that hosts with the same files do not
 * all begin with the same. */
static void
order_held(struct locality *l, const struct config *cfg)
{
    size_t start;
    struct held_file *turned;

    if (l->n_held < 2)
        return;
    qsort(l->held, l->n_held, sizeof(*l->held), by_name);
    if (cfg->locality_scheduling_sorted_order)
        return;
    start = (size_t)random_below(l->n_held);
    turned = xmalloc(l->n_held * sizeof(*turned));
    for (size_t i = 0; i < l->n_held; i++)
        turned[i] = l->held[(start + i) % l->n_held];
    memcpy(l->held, turned, l->n_held * sizeof(*turned));
    free(turned);
}

static int64_t
overdue_before(const struct rpc *rpc)
{
    int64_t timeout = rpc->cfg->locality_scheduling_send_timeout;

    return timeout > 0 ? rpc->now - timeout : 0;
}

static int
read_waiting(struct locality *l, struct rpc *rpc)
{
    struct locality_name name[LOCALITY_HELD_MAX];
    struct locality_jobs jobs[LOCALITY_HELD_MAX];

    for (size_t i = 0; i < l->n_held; i++)
        name[i] = l->held[i].name;
    if (db_locality_waiting(rpc->db, name, l->n_held, 0, jobs) != 0)
        return -1;
    for (size_t i = 0; i < l->n_held; i++)
        l->held[i].jobs = jobs[i];
    return 0;
}

static bool
is_done(const struct held_file *f)
{
    return f->jobs.unsent == 0 && !f->jobs.in_progress;
}

/* No job of the file waits or runs, here or elsewhere (one that fails is
 * replaced): the client need not keep it. */
static int
delete_done(struct locality *l, struct rpc *rpc)
{
    for (size_t i = 0; i < l->n_held; i++) {
        struct held_file *f = &l->held[i];

        if (!is_done(f))
            continue;
        if (f->listed && rpc->cfg->file_deletion_strategy > 0)
            delete_file(rpc, f->name.text, "its jobs are done");
        if (db_locality_release(rpc->db, f->name.text, rpc->host.id) != 0)
            return -1;
    }
    return 0;
}

int
locality_begin(struct locality *l, struct rpc *rpc)
{
    const struct config *cfg = rpc->cfg;
    double share = cfg->locality_scheduler_fraction;
    int64_t timeout = cfg->locality_scheduling_send_timeout;

    memset(l, 0, sizeof(*l));
    l->array_too = true;
    if (!cfg->locality_scheduling)
        return 0;
    l->on = true;
    l->array_too = share > 0;
    l->first = share <= 0 || (double)random_below(1000000) < share * 1e6;
    l->since = rpc->now - (timeout > 0 ? timeout : HOLDER_TIMEOUT);
    l->held = xcalloc(LOCALITY_HELD_MAX, sizeof(*l->held));
    read_listed(l, rpc);
    if (read_given(l, rpc) != 0)
        return -1;
    order_held(l, cfg);
    if (read_waiting(l, rpc) != 0)
        return -1;
    return delete_done(l, rpc);
}

void
locality_free(struct locality *l)
{
    free(l->held);
    free(l->next);
    free(l->sent);
    memset(l, 0, sizeof(*l));
}

/* ---- the jobs of one file ---- */

static void
begin_file(struct locality *l, const struct locality_name *name, bool is_new)
{
    l->file = *name;
    l->has_file = true;
    l->is_new = is_new;
    l->is_held = !is_new;
    l->after[0] = '\0';
    l->n_page = l->next_page = 0;
    l->page_is_last = false;
}

static int
by_id(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* A file is the same for all copies of a workunit, so a user whose computer has
 * worked through a file would be offered the second copies of it one by one. */
static int
read_taken(struct locality *l, struct rpc *rpc)
{
    const struct config *cfg = rpc->cfg;
    const struct send_to to = {
        .userid = rpc->user.id,
        .hostid = rpc->host.id,
        .one_per_host = !cfg->one_result_per_user_per_wu,
    };
    int64_t wu[LOCALITY_PAGE], found[LOCALITY_PAGE];
    size_t n = 0;

    memset(l->taken, 0, sizeof(l->taken));
    if (!cfg->one_result_per_user_per_wu && !cfg->one_result_per_host_per_wu)
        return 0;
    for (size_t i = 0; i < l->n_page; i++)
        wu[i] = l->page[i].job.wu_id;
    if (l->n_page > 0 &&
        db_sched_workunits_of(rpc->db, wu, l->n_page, &to, found, &n) != 0)
        return -1;
    for (size_t i = 0; i < l->n_page && n > 0; i++)
        l->taken[i] = bsearch(&wu[i], found, n, sizeof(*found), by_id) != NULL;
    return 0;
}

static int
read_page(struct locality *l, struct rpc *rpc)
{
    if (db_locality_jobs(rpc->db, &l->file, l->after, LOCALITY_PAGE, l->page,
                         &l->n_page) != 0)
        return -1;
    l->next_page = 0;
    l->page_is_last = l->n_page < LOCALITY_PAGE;
    if (l->n_page > 0)
        str_copy(l->after, sizeof(l->after), l->page[l->n_page - 1].name);
    return read_taken(l, rpc);
}

/* ---- the next file ---- */

static int
next_held(struct locality *l)
{
    while (l->next_held < l->n_held) {
        const struct held_file *f = &l->held[l->next_held++];

        if (f->jobs.unsent > 0) {
            begin_file(l, &f->name, false);
            return 0;
        }
    }
    return DB_NONE;
}

/* The next ones behind those looked at so far. */
static int
look_further(struct locality *l, struct rpc *rpc)
{
    struct locality_name after = {.no_file = true}, name[WINDOW];
    struct locality_jobs jobs[WINDOW];
    struct locality_held holders[WINDOW];
    size_t n;

    if (l->n_next > 0)
        after = l->next[l->n_next - 1].name;
    if (db_locality_files(rpc->db, &after, WINDOW, name, &n) != 0 ||
        db_locality_waiting(rpc->db, name, n, overdue_before(rpc), jobs) != 0 ||
        db_locality_held(rpc->db, name, n, rpc->host.id, l->since, holders) !=
            0)
        return -1;
    l->next = xrealloc(l->next, (l->n_next + WINDOW) * sizeof(*l->next));
    for (size_t i = 0; i < n; i++)
        l->next[l->n_next++] = (struct next_file){
            .name = name[i],
            .jobs = jobs[i],
            .holders = holders[i],
            .tried = find_held(l, name[i].text) != NULL,
        };
    l->all_seen = n < WINDOW || l->n_next >= FILES_MAX;
    return 0;
}

static struct locality_file
as_choice(const struct next_file *f)
{
    return (struct locality_file){
        .unsent = f->jobs.unsent,
        .holders = f->holders.holders,
        .overdue = f->jobs.overdue,
        .refused = f->tried,
    };
}

static bool
sees_free_file(const struct locality *l)
{
    for (size_t i = 0; i < l->n_next; i++) {
        struct locality_file f = as_choice(&l->next[i]);

        if (locality_is_free(&f))
            return true;
    }
    return false;
}

static ptrdiff_t
choose(struct locality *l, const struct rpc *rpc)
{
    const struct locality_host host = {
        .fast = rpc->host.n_bwdown > LOCALITY_FAST,
        .sorted_order = rpc->cfg->locality_scheduling_sorted_order,
        .draw = (double)random_below(1000000) / 1e6,
        .min_share = rpc->cfg->locality_scheduling_min_share,
    };
    struct locality_file *file = xcalloc(l->n_next + 1, sizeof(*file));
    ptrdiff_t chosen;

    for (size_t i = 0; i < l->n_next; i++)
        file[i] = as_choice(&l->next[i]);
    chosen = locality_choose(file, l->n_next, &host);
    for (size_t i = 0; chosen < 0 && i < l->n_next; i++)
        l->kept = l->kept || (file[i].unsent > 0 && !file[i].refused);
    free(file);
    return chosen;
}

/* Files are looked at, by name, until one is found that nobody works on. */
static int
next_new(struct locality *l, struct rpc *rpc)
{
    if (l->useless >= MAX_USELESS)
        return DB_NONE;
    while (!l->all_seen && !sees_free_file(l))
        if (look_further(l, rpc) != 0)
            return -1;
    l->chosen = choose(l, rpc);
    if (l->chosen < 0)
        return DB_NONE;
    l->next[l->chosen].tried = true;
    begin_file(l, &l->next[l->chosen].name, true);
    return 0;
}

static int
next_file(struct locality *l, struct rpc *rpc)
{
    if (l->has_file && !l->is_held)
        l->useless++;
    l->has_file = false;
    return next_held(l) == 0 ? 0 : next_new(l, rpc);
}

/* ---- one job after another ---- */

int
locality_next(struct locality *l, struct rpc *rpc, struct sendable *ret,
              bool *ret_taken)
{
    int rc = l->has_file ? 0 : next_file(l, rpc);

    while (rc == 0 && l->next_page == l->n_page) {
        if (l->page_is_last)
            rc = next_file(l, rpc);
        if (rc == 0)
            rc = read_page(l, rpc);
    }
    if (rc != 0)
        return rc;
    *ret = l->page[l->next_page].job;
    *ret_taken = l->taken[l->next_page++];
    return 0;
}

void
locality_put_back(struct locality *l)
{
    l->next_page--;
}

int
locality_take(struct locality *l, struct rpc *rpc)
{
    int rc;

    if (l->is_held)
        return 0;
    l->is_held = true;
    if (l->file.no_file)
        return 0;
    if (db_locality_forget(rpc->db, l->file.text, l->since) != 0)
        return -1;
    rc = db_locality_hold(rpc->db, l->file.text,
                          l->next[l->chosen].holders.last_nth + 1, rpc->host.id,
                          rpc->now);
    if (rc == DB_EXISTS) {
        l->is_held = false;
        l->page_is_last = true; /* not this file */
        l->next_page = l->n_page;
    } else if (rpc->cfg->debug_locality) {
        log_normal(TAG_HOST "gets file %s", rpc->host.id, l->file.text);
    }
    return rc;
}

/* ---- the end ---- */

int
locality_sent(struct locality *l, struct rpc *rpc, const char *result_name)
{
    size_t n = locality_file_length(result_name);
    char file[NAME_SIZE];

    if (!l->on || n == 0)
        return 0;
    str_copy(file, sizeof(file), result_name);
    file[n] = '\0';
    for (size_t i = 0; i < l->n_sent; i++)
        if (strcmp(l->sent[i], file) == 0)
            return 0;
    l->sent = xrealloc(l->sent, (l->n_sent + 1) * sizeof(*l->sent));
    memcpy(l->sent[l->n_sent++], file, sizeof(file));
    return db_locality_touch(rpc->db, file, rpc->host.id, rpc->now);
}

/* Best one without jobs; or any, but not always the same on all hosts. */
static void
delete_some_file(struct locality *l, struct rpc *rpc)
{
    size_t first = l->n_held > 0 ? (size_t)rpc->host.id % l->n_held : 0;

    for (int with_jobs = 0; with_jobs < 2; with_jobs++)
        for (size_t i = 0; i < l->n_held; i++) {
            const struct held_file *f = &l->held[(first + i) % l->n_held];

            if (!f->listed || (f->jobs.unsent > 0) != (with_jobs != 0))
                continue;
            delete_file(rpc, f->name.text, "the disk is full");
            reply_delay(&rpc->reply, FULL_DISK_DELAY);
            return;
        }
}

void
locality_make_room(struct locality *l, struct rpc *rpc,
                   const struct dispatch_rule *rule)
{
    if (l->on && rule != NULL && strcmp(rule->name, "disk") == 0)
        delete_some_file(l, rpc);
}
