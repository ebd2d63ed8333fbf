/* segment_feeder.c - the feeder's side of the segments: lock, adopt, build,
 * publish, wait, destroy. */
#include "segment_private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <linux/futex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "catalog.h"
#include "clock.h"
#include "jobarray.h"
#include "log.h"

#define LOCK_MODE 0660

/* ---- feeder ---------------------------------------------------------------
 */

/* The group that may use the segment: that of the folder of the lock file,
 * which is the project's. */
static gid_t
group_of(const char *lock_path)
{
    char *copy = xstrdup(lock_path);
    struct stat st;
    gid_t group = stat(dirname(copy), &st) == 0 ? st.st_gid : getegid();

    free(copy);
    return group;
}

static int
take_lock(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, LOCK_MODE);

    if (fd < 0) {
        log_errno("open %s", path);
        return -1;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            log_critical("%s is locked: another feeder runs", path);
        else
            log_errno("lock %s", path);
        close(fd);
        return -1;
    }
    if (ftruncate(fd, 0) != 0 || dprintf(fd, "%ld\n", (long)getpid()) < 0)
        log_warning("%s: cannot note the pid: %s", path, strerror(errno));
    return fd;
}

/* A NAME that is there already: may we go on with it?  One of generation 0 was
 * given up by a clean stop; schedulers are told to look for another file. */
static bool
adopt_anchor(struct segment *s)
{
    struct mapping m;
    const struct segment_anchor *anchor;

    if (segment_open_anchor(s->name, false, &m) != SEGMENT_OK)
        return false;
    anchor = m.base;
    if (m.st.st_uid != geteuid() || atomic_load(&anchor->generation) == 0) {
        segment_unmap(&m);
        return false;
    }
    segment_use_anchor(s, &m);
    log_normal("shared memory %s: going on from generation %" PRIu64, s->name,
               atomic_load(&anchor->generation));
    return true;
}

static int
make_anchor(struct segment *s)
{
    struct mapping m;
    struct segment_anchor *anchor;

    if (segment_unlink_file(s->name))
        log_warning("shared memory %s: replaced one that was not usable",
                    s->name);
    if (segment_map_new(s->name, sizeof(*anchor), s->group, &m) != 0)
        return -1;
    segment_use_anchor(s, &m);
    anchor = s->anchor;
    anchor->version = SEGMENT_VERSION;
    __atomic_store_n(&anchor->magic, SEGMENT_MAGIC, __ATOMIC_RELEASE);
    return 0;
}

static void
sign_anchor(struct segment *s)
{
    atomic_store(&s->anchor->feeder_pid, (int32_t)getpid());
    atomic_store(&s->anchor->feeder_pid_namespace, s->my_namespace);
    s->wakeup_seen = atomic_load(&s->anchor->wakeup);
}

struct segment *
segment_create(const char *name, const char *lock_path)
{
    struct segment *s = segment_new(name);

    s->group = group_of(lock_path);
    s->lock_fd = take_lock(lock_path);
    if (s->lock_fd < 0 || (!adopt_anchor(s) && make_anchor(s) != 0)) {
        segment_detach(s);
        return NULL;
    }
    sign_anchor(s);
    return s;
}

void *
segment_begin(struct segment *s, size_t size)
{
    struct buf name = BUF_INIT;
    uint64_t generation = atomic_load(&s->anchor->generation) + 1;
    size_t all = size + sizeof(struct generation_header);
    int rc;

    segment_unmap(&s->next);
    segment_unlink_generation(s->name,
                              generation); /* a feeder died before publishing */
    rc = segment_map_new(segment_generation_name(s->name, generation, &name),
                         all, s->group, &s->next);
    buf_free(&name);
    if (rc != 0)
        return NULL;
    s->next_generation = generation;
    *(struct generation_header *)s->next.base = (struct generation_header){
        .magic = SEGMENT_MAGIC,
        .version = SEGMENT_VERSION,
        .generation = generation,
        .size = all,
    };
    return (char *)s->next.base + sizeof(struct generation_header);
}

int
segment_build(struct segment *s, const struct catalog_source *src,
              size_t n_slots, size_t hosts)
{
    size_t catalog_bytes = catalog_size(src);
    size_t job_bytes = jobarray_size(n_slots, hosts);
    char *data = segment_begin(s, catalog_bytes + job_bytes);
    struct generation_header *h = s->next.base;

    if (data == NULL)
        return -1;
    h->catalog_offset = sizeof(*h);
    h->catalog_size = catalog_bytes;
    h->jobs_offset = sizeof(*h) + catalog_bytes;
    h->jobs_size = job_bytes;
    catalog_write(data, src);
    jobarray_init(data + catalog_bytes, n_slots, hosts);
    return 0;
}

int
segment_publish(struct segment *s)
{
    uint64_t before = atomic_load(&s->anchor->generation);
    struct mapping old = s->current;

    if (s->next.base == NULL) {
        log_critical("shared memory %s: nothing was begun", s->name);
        return -1;
    }
    if (!segment_find_parts(s, &s->next, s->next_generation))
        assert(0 &&
               "what segment_begin() and segment_build() made is complete");
    s->current = s->next;
    s->generation = s->next_generation;
    s->next = (struct mapping){.base = NULL};
    segment_unmap(&old);
    segment_heartbeat(s);
    atomic_store_explicit(&s->anchor->generation, s->generation,
                          memory_order_release);
    if (before > 0)
        segment_unlink_generation(s->name, before);
    if (before > 1)
        segment_unlink_generation(s->name,
                                  before - 1); /* died before unlinking */
    return 0;
}

void
segment_heartbeat(struct segment *s)
{
    atomic_store_explicit(&s->anchor->heartbeat, clock_monotonic(),
                          memory_order_relaxed);
}

bool
segment_was_removed(struct segment *s)
{
    if (segment_file_is(s->name, &s->anchor_map))
        return false;
    log_critical("shared memory %s was removed while the feeder runs; it is "
                 "made anew",
                 s->name);
    atomic_store(&s->anchor->generation, 0); /* who still has it: look again */
    if (s->generation > 0)
        segment_unlink_generation(s->name, s->generation);
    if (make_anchor(s) != 0)
        return false; /* logged; tried again with the next look */
    sign_anchor(s);
    return true;
}

uint32_t
segment_changes(const struct segment *s)
{
    return atomic_load(&s->anchor->changes);
}

bool
segment_wait(struct segment *s, double seconds)
{
    double whole = floor(seconds);
    struct timespec limit = {
        .tv_sec = (time_t)whole,
        .tv_nsec = (long)((seconds - whole) * 1e9),
    };
    uint32_t seen = s->wakeup_seen;

    if (seconds > 0 && atomic_load(&s->anchor->wakeup) == seen)
        syscall(SYS_futex, &s->anchor->wakeup, FUTEX_WAIT, seen, &limit, NULL,
                0);
    s->wakeup_seen = atomic_load(&s->anchor->wakeup);
    return s->wakeup_seen != seen;
}

void
segment_destroy(struct segment *s)
{
    uint64_t generation;

    if (s == NULL)
        return;
    generation = atomic_exchange(&s->anchor->generation, 0);
    if (s->next.base != NULL)
        segment_unlink_generation(s->name, s->next_generation);
    if (generation > 0)
        segment_unlink_generation(s->name, generation);
    segment_unlink_file(s->name);
    segment_detach(s);
}
