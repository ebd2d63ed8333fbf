/* filler_hr.c - slots for classes of equal hosts, and workunits that wait for a
 * class that does not come (dispatch §2.5).
 *
 * With <hr_allocate_slots>, hr_info.txt (written by census) says how much
 * credit the hosts of each class have; half of the slots of a type are for
 * workunits that are not committed yet, the rest for the classes in proportion.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "catalog.h"
#include "clock.h"
#include "config.h"
#include "daemon.h"
#include "db_refused.h"
#include "filler_private.h"
#include "jobarray.h"
#include "log.h"

enum { MAX_CLASSES = 4096, MAX_TYPE = 3 };

static int
hr_type_of(const struct filler *f, int64_t appid)
{
    ptrdiff_t a = catalog_find_app(f->catalog, appid);
    struct app app;

    if (f->d->cfg->homogeneous_redundancy > 0)
        return (int)f->d->cfg->homogeneous_redundancy;
    if (a < 0)
        return 0;
    catalog_app(f->catalog, (size_t)a, &app);
    return app.homogeneous_redundancy;
}

/* The part of all slots that apps of this type have by their weight. */
static size_t
slots_of_type(const struct filler *f, int type)
{
    double of_type = 0, all = 0;

    for (size_t i = 0; i < catalog_n_apps(f->catalog); i++) {
        struct app app;
        struct share share;

        catalog_app(f->catalog, i, &app);
        share.weight = app.weight;
        if (app.weight != 0)
            interleave_begin(&share, 1);
        all += share.weight;
        if (hr_type_of(f, app.id) == type)
            of_type += share.weight;
    }
    return all > 0 ? (size_t)((double)f->n_slots * of_type / all) : f->n_slots;
}

struct hr_line {
    int type, hr_class;
    double credit;
};

/* "type class credit", # comments.  How many, or -1 (logged). */
static int
read_lines(const struct filler *f, struct hr_line *ret)
{
    struct buf path = BUF_INIT;
    char line[256];
    FILE *file;
    int n = 0, number = 0;

    buf_addf(&path, "%s/hr_info.txt", f->d->cfg->project_root);
    file = fopen(buf_str(&path), "re");
    if (file == NULL)
        log_warning("%s cannot be read (census writes it): slots are not "
                    "allocated by class",
                    buf_str(&path));
    while (file != NULL && n < MAX_CLASSES &&
           fgets(line, sizeof(line), file) != NULL) {
        struct hr_line *l = &ret[n];

        number++;
        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (sscanf(line, "%d %d %lf", &l->type, &l->hr_class, &l->credit) !=
                3 ||
            l->type < 1 || l->type > MAX_TYPE || l->hr_class <= 0) {
            log_warning("%s, line %d: not \"type class credit\"",
                        buf_str(&path), number);
            continue;
        }
        n++;
    }
    buf_free(&path);
    if (file == NULL)
        return -1;
    fclose(file);
    return n;
}

static void
allocate_type(struct filler *f, int type, const struct hr_line *line, size_t n)
{
    double *credit = xcalloc(n + 1, sizeof(*credit));
    size_t *slots = xcalloc(n + 2, sizeof(*slots)), k = 0;

    for (size_t i = 0; i < n; i++)
        if (line[i].type == type)
            credit[k++] = line[i].credit;
    interleave_hr(credit, k, slots_of_type(f, type), slots);
    f->hr[f->n_hr++] =
        (struct hr_quota){.type = type, .hr_class = 0, .limit = slots[0]};
    k = 1;
    for (size_t i = 0; i < n; i++)
        if (line[i].type == type)
            f->hr[f->n_hr++] = (struct hr_quota){
                .type = type,
                .hr_class = line[i].hr_class,
                .limit = slots[k++],
            };
    free(credit);
    free(slots);
}

static bool
types_are_good(const struct filler *f)
{
    const struct feeder_options *o = f->d->options;
    int first = 0;

    for (size_t i = 0; i < catalog_n_apps(f->catalog); i++) {
        struct app app;

        catalog_app(f->catalog, i, &app);
        if (app.homogeneous_redundancy == 0)
            continue;
        if (f->d->cfg->homogeneous_redundancy > 0)
            log_warning("<homogeneous_redundancy> and that of app %s: the "
                        "former counts",
                        app.name);
        if (app.homogeneous_redundancy < 0 ||
            app.homogeneous_redundancy > MAX_TYPE) {
            log_critical("app %s: homogeneous_redundancy %d is no type",
                         app.name, app.homogeneous_redundancy);
            return false;
        }
        if (first != 0 && first != app.homogeneous_redundancy && !o->allapps &&
            f->d->cfg->hr_allocate_slots) {
            log_critical("apps with different types of homogeneous redundancy "
                         "and <hr_allocate_slots> need --allapps");
            return false;
        }
        first = app.homogeneous_redundancy;
    }
    return true;
}

void
hr_read(struct filler *f)
{
    struct hr_line *line;
    int n;

    if (!types_are_good(f) || !f->d->cfg->hr_allocate_slots)
        return;
    line = xcalloc(MAX_CLASSES, sizeof(*line));
    n = read_lines(f, line);
    if (n >= 0) {
        f->hr = xcalloc((size_t)n + MAX_TYPE, sizeof(*f->hr));
        for (int type = 1; type <= MAX_TYPE; type++)
            allocate_type(f, type, line, (size_t)n);
    }
    free(line);
}

static struct hr_quota *
quota_of(const struct filler *f, int type, int32_t hr_class)
{
    for (size_t i = 0; i < f->n_hr; i++)
        if (f->hr[i].type == type && f->hr[i].hr_class == hr_class)
            return &f->hr[i];
    return NULL;
}

void
hr_count(struct filler *f)
{
    for (size_t i = 0; i < f->n_hr; i++)
        f->hr[i].used = 0;
    for (size_t i = 0; i < f->n_slots && f->n_hr > 0; i++) {
        struct hr_quota *q;

        if (jobarray_state(jobarray_slot(f->array, i)) == SLOT_EMPTY)
            continue;
        q = quota_of(f, hr_type_of(f, f->held[i].appid), f->held[i].hr_class);
        if (q != NULL)
            q->used++;
    }
}

/* A class that the census does not know is not kept out. */
bool
hr_has_room(const struct filler *f, const struct sendable *job)
{
    const struct hr_quota *q =
        f->n_hr == 0 ? NULL
                     : quota_of(f, hr_type_of(f, job->appid), job->hr_class);

    return q == NULL || q->used < q->limit;
}

void
hr_note_placed(struct filler *f, const struct sendable *job)
{
    struct hr_quota *q =
        f->n_hr == 0 ? NULL
                     : quota_of(f, hr_type_of(f, job->appid), job->hr_class);

    if (q != NULL)
        q->used++;
}

/* ---- workunits that wait for a class --------------------------------------
 */

int
hr_purge_stale(struct filler *f, uint32_t seconds)
{
    int64_t *wu = xcalloc(f->n_slots + 1, sizeof(*wu));
    uint32_t now = clock_monotonic();
    size_t n = 0, purged = 0, released = 0;
    int rc = 0;

    for (size_t i = 0; i < f->n_slots; i++) {
        struct job_slot *slot = jobarray_slot(f->array, i);

        if (jobarray_state(slot) != SLOT_READY ||
            now - jobarray_time_added(slot) < seconds || !filler_take_out(f, i))
            continue;
        purged++;
        if (f->held[i].hr_class != 0)
            wu[n++] = f->held[i].wu_id;
        /* one that is released comes back as another job */
        atomic_store(&slot->result_id, 0);
        diverse_rest(f, f->held[i].result_id);
    }
    if (n > 0)
        rc = db_feed_uncommit(f->d->db, wu, n, f->d->now, &released);
    if (purged > 0)
        log_normal("%zu jobs were stale, %zu workunits released from their "
                   "class of hosts",
                   purged, released);
    free(wu);
    f->restart = f->restart || purged > 0;
    return rc < 0 ? -1 : notes_flush(f);
}
