/* segment.c - files of shared memory: made, mapped and checked; the schedulers'
 * side.  The only user of shm_open.
 *
 * What can go wrong between processes that know nothing of each other, and what
 * is done about it:
 *
 * - A feeder is killed.  NAME stays, with its generation G.  The next feeder
 *   (only one holds the lock file) goes on from it: it builds NAME.G+1 while
 *   schedulers still use NAME.G, then stores G+1, then unlinks NAME.G.
 * - A feeder is killed between two of these steps.  Then NAME.G+1 lies there
 *   unpublished, or NAME.G-1 was not unlinked; whoever cleans up unlinks the
 *   neighbours of G as well.
 * - NAME is gone and made anew (stop and start).  A FastCGI scheduler still has
 *   the old one mapped.  It reads generation 0 there, or a heartbeat that
 * stands still; then it looks whether NAME is another file by now.
 * - Memory is short.  A sparse segment would kill its writer with SIGBUS; so
 * all of it is allocated when it is made.
 * - A segment is not ours, cut, or of another layout.  Nothing in it is read
 *   before size, magic and version were compared, and nothing behind its end is
 *   ever mapped. */
#include "segment_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "buf.h"
#include "catalog.h"
#include "clock.h"
#include "digest.h"
#include "jobarray.h"
#include "log.h"

#define SEGMENT_MODE 0660
#define FOLLOW_TRIES 100 /* reloads between two looks at the generation */

/* ---- names ----------------------------------------------------------------
 */

void
segment_name(int64_t shmem_key, const char *project_root, char ret[32])
{
    struct buf b = BUF_INIT;

    if (shmem_key != 0) {
        buf_addf(&b, "/quorate-%08x", (unsigned)(uint32_t)shmem_key);
    } else {
        char hex[SHA256_HEX];
        char *real = realpath(project_root, NULL);
        const char *root = real != NULL ? real : project_root;

        digest_sha256(root, strlen(root), hex);
        free(real);
        buf_addf(&b, "/quorate-%.8s", hex);
    }
    str_copy(ret, NAME_BYTES, buf_str(&b));
    buf_free(&b);
}

/* NAME.G in a buffer of the caller's. */
const char *
segment_generation_name(const char *name, uint64_t generation, struct buf *b)
{
    buf_reset(b);
    buf_addf(b, "%s.%" PRIu64, name, generation);
    return buf_str(b);
}

void
segment_unlink_generation(const char *name, uint64_t generation)
{
    struct buf b = BUF_INIT;

    segment_unlink_file(segment_generation_name(name, generation, &b));
    buf_free(&b);
}

bool
segment_unlink_file(const char *name)
{
    if (shm_unlink(name) == 0)
        return true;
    if (errno != ENOENT)
        log_errno("unlink shared memory %s", name);
    return false;
}

/* ---- mappings -------------------------------------------------------------
 */

void
segment_unmap(struct mapping *m)
{
    if (m->base != NULL)
        munmap(m->base, m->size);
    *m = (struct mapping){.base = NULL};
}

/* Map all of an open file.  0, or -1 with errno. */
static int
map_fd(int fd, bool read_only, struct mapping *ret)
{
    int access = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    struct mapping m;

    if (fstat(fd, &m.st) != 0)
        return -1;
    if (m.st.st_size <= 0) {
        errno = EAGAIN; /* made this moment, not yet sized */
        return -1;
    }
    m.size = (size_t)m.st.st_size;
    m.base = mmap(NULL, m.size, access, MAP_SHARED, fd, 0);
    if (m.base == MAP_FAILED)
        return -1;
    *ret = m;
    return 0;
}

static int
map_existing(const char *name, bool read_only, struct mapping *ret)
{
    int fd = shm_open(name, read_only ? O_RDONLY : O_RDWR, 0);
    int saved, rc;

    if (fd < 0)
        return -1;
    rc = map_fd(fd, read_only, ret);
    saved = errno;
    close(fd);
    errno = saved;
    return rc;
}

bool
segment_file_is(const char *name, const struct mapping *m)
{
    struct stat st;
    int fd = shm_open(name, O_RDWR, 0);
    bool same = fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == m->st.st_ino &&
                st.st_dev == m->st.st_dev;

    if (fd >= 0)
        close(fd);
    return same;
}

/* Mode and group whatever the umask: schedulers run as the web server. */
static int
set_access(int fd, gid_t group)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || fchmod(fd, SEGMENT_MODE) != 0)
        return -1;
    if (st.st_gid != group && fchown(fd, (uid_t)-1, group) != 0)
        log_warning("shared memory: cannot give it to group %u: %s",
                    (unsigned)group, strerror(errno));
    return 0;
}

static int
allocate(int fd, size_t size)
{
    int error;

    do
        error = posix_fallocate(fd, 0, (off_t)size);
    while (error == EINTR);
    errno = error;
    return error == 0 ? 0 : -1;
}

/* Make a segment of `size` zero bytes.  0, or -1 (logged), nothing left. */
int
segment_map_new(const char *name, size_t size, gid_t group, struct mapping *ret)
{
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, SEGMENT_MODE);

    if (fd < 0) {
        log_errno("create shared memory %s", name);
        return -1;
    }
    if (set_access(fd, group) != 0 || allocate(fd, size) != 0 ||
        map_fd(fd, false, ret) != 0) {
        log_errno("shared memory %s: get %zu bytes", name, size);
        close(fd);
        shm_unlink(name);
        return -1;
    }
    close(fd);
    return 0;
}

/* ---- the fixed segment ----------------------------------------------------
 */

static uint64_t
pid_namespace(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* Is this an anchor of our layout?  Says why not. */
static enum segment_state
check_anchor(const char *name, const struct mapping *m)
{
    const struct segment_anchor *anchor = m->base;

    if (m->size < sizeof(*anchor)) {
        log_critical("shared memory %s: %zu bytes, %zu expected: not a "
                     "project's segment, or cut",
                     name, m->size, sizeof(*anchor));
        return SEGMENT_FOREIGN;
    }
    uint32_t magic = __atomic_load_n(&anchor->magic, __ATOMIC_ACQUIRE);
    if (magic == 0)
        return SEGMENT_ABSENT; /* made this moment; the magic is written last */
    if (magic != SEGMENT_MAGIC) {
        log_critical("shared memory %s: magic number %08x, %08x expected: not "
                     "a project's segment",
                     name, (unsigned)magic, SEGMENT_MAGIC);
        return SEGMENT_FOREIGN;
    }
    if (anchor->version != SEGMENT_VERSION) {
        log_critical("shared memory %s: layout version %u, this program knows "
                     "%u: programs of two releases are mixed",
                     name, (unsigned)anchor->version, SEGMENT_VERSION);
        return SEGMENT_FOREIGN;
    }
    return SEGMENT_OK;
}

/* Map NAME.  *ret is set if SEGMENT_OK. */
enum segment_state
segment_open_anchor(const char *name, bool read_only, struct mapping *ret)
{
    struct mapping m;
    enum segment_state state;

    if (map_existing(name, read_only, &m) != 0) {
        if (errno != ENOENT && errno != EAGAIN)
            log_errno("open shared memory %s", name);
        return SEGMENT_ABSENT;
    }
    state = check_anchor(name, &m);
    if (state == SEGMENT_OK)
        *ret = m;
    else
        segment_unmap(&m);
    return state;
}

void
segment_use_anchor(struct segment *s, const struct mapping *m)
{
    segment_unmap(&s->anchor_map);
    s->anchor_map = *m;
    s->anchor = m->base;
}

static bool
is_stale(const struct segment_anchor *anchor)
{
    uint32_t beat =
        atomic_load_explicit(&anchor->heartbeat, memory_order_relaxed);

    /* Signed: it may have beaten after we read the clock. */
    return (int32_t)(clock_monotonic() - beat) > HEARTBEAT_LIMIT;
}

/* ---- one generation -------------------------------------------------------
 */

static bool
part_fits(const struct generation_header *h, uint64_t offset, uint64_t size)
{
    return size == 0 || (offset >= sizeof(*h) && offset % 64 == 0 &&
                         offset <= h->size && size <= h->size - offset);
}

/* Set s->catalog and s->jobs to the parts of a mapped generation, if all of it
 * is as it must be. */
bool
segment_find_parts(struct segment *s, const struct mapping *m,
                   uint64_t generation)
{
    const struct generation_header *h = m->base;
    char *base = m->base;

    if (m->size < sizeof(*h) || h->magic != SEGMENT_MAGIC ||
        h->version != SEGMENT_VERSION || h->generation != generation ||
        h->size < sizeof(*h) || h->size > m->size ||
        !part_fits(h, h->catalog_offset, h->catalog_size) ||
        !part_fits(h, h->jobs_offset, h->jobs_size))
        return false;
    s->catalog = NULL;
    s->jobs = NULL;
    if (h->catalog_size > 0 &&
        (s->catalog = catalog_check(base + h->catalog_offset,
                                    (size_t)h->catalog_size)) == NULL)
        return false;
    if (h->jobs_size > 0 &&
        (s->jobs = jobarray_check(base + h->jobs_offset,
                                  (size_t)h->jobs_size)) == NULL)
        return false;
    return true;
}

static void
drop_generation(struct segment *s)
{
    segment_unmap(&s->current);
    s->generation = 0;
    s->catalog = NULL;
    s->jobs = NULL;
}

/* Map NAME.G instead of what is mapped now.  ABSENT: it is not there. */
static enum segment_state
take_generation(struct segment *s, uint64_t generation)
{
    struct buf name = BUF_INIT;
    enum segment_state state = SEGMENT_ABSENT;
    struct mapping m;

    drop_generation(s);
    if (map_existing(segment_generation_name(s->name, generation, &name),
                     s->looking, &m) != 0) {
        if (errno != ENOENT)
            log_errno("open shared memory %s", buf_str(&name));
    } else if (!segment_find_parts(s, &m, generation)) {
        log_critical("shared memory %s: %zu bytes that are not a generation of "
                     "layout version %u",
                     buf_str(&name), m.size, SEGMENT_VERSION);
        s->catalog = NULL;
        s->jobs = NULL;
        segment_unmap(&m);
        state = SEGMENT_FOREIGN;
    } else {
        s->current = m;
        s->generation = generation;
        state = SEGMENT_OK;
    }
    buf_free(&name);
    return state;
}

struct segment *
segment_new(const char *name)
{
    struct segment *s = xcalloc(1, sizeof(*s));

    str_copy(s->name, sizeof(s->name), name);
    s->lock_fd = -1;
    s->my_namespace = pid_namespace();
    return s;
}

void
segment_unlink(const char *name)
{
    struct mapping m;

    if (segment_open_anchor(name, false, &m) == SEGMENT_OK) {
        struct segment_anchor *anchor = m.base;
        uint64_t generation = atomic_exchange(&anchor->generation, 0);

        if (generation > 1)
            segment_unlink_generation(name, generation - 1);
        segment_unlink_generation(name, generation);
        segment_unlink_generation(name, generation + 1);
        segment_unmap(&m);
    }
    /* Last, so that a clean-up that was cut short can be repeated. */
    segment_unlink_file(name);
}

/* ---- schedulers -----------------------------------------------------------
 */

/* Bring s to the generation that its anchor names. */
static enum segment_state
follow(struct segment *s)
{
    bool stale = is_stale(s->anchor);

    for (int i = 0; i < FOLLOW_TRIES; i++) {
        uint64_t generation =
            atomic_load_explicit(&s->anchor->generation, memory_order_acquire);
        enum segment_state state;

        if (generation == 0 || (stale && !s->looking)) {
            drop_generation(s);
            return generation == 0 ? SEGMENT_DOWN : SEGMENT_STALE;
        }
        if (generation != s->generation) {
            state = take_generation(s, generation);
            if (state == SEGMENT_ABSENT &&
                atomic_load(&s->anchor->generation) != generation)
                continue; /* another reload came between */
            if (state != SEGMENT_OK)
                return state;
        }
        return stale ? SEGMENT_STALE : SEGMENT_OK;
    }
    return SEGMENT_ABSENT;
}

/* Has NAME become another file?  Then go over to it. */
static bool
follow_name(struct segment *s)
{
    struct mapping m;

    if (segment_open_anchor(s->name, s->looking, &m) != SEGMENT_OK)
        return false;
    if (m.st.st_ino == s->anchor_map.st.st_ino &&
        m.st.st_dev == s->anchor_map.st.st_dev) {
        segment_unmap(&m);
        return false;
    }
    drop_generation(s); /* its number means nothing in the new file */
    segment_use_anchor(s, &m);
    return true;
}

enum segment_state
segment_refresh(struct segment *s)
{
    enum segment_state state = follow(s);

    if (state != SEGMENT_OK && follow_name(s))
        state = follow(s);
    return state;
}

static struct segment *
attach(const char *name, bool looking, enum segment_state *ret)
{
    struct segment *s;
    struct mapping m;

    *ret = segment_open_anchor(name, looking, &m);
    if (*ret != SEGMENT_OK)
        return NULL;
    s = segment_new(name);
    s->looking = looking;
    segment_use_anchor(s, &m);
    *ret = follow(s);
    if (*ret == SEGMENT_OK || (looking && *ret == SEGMENT_STALE))
        return s;
    segment_detach(s);
    return NULL;
}

struct segment *
segment_attach(const char *name, enum segment_state *ret)
{
    return attach(name, false, ret);
}

struct segment *
segment_look(const char *name, enum segment_state *ret)
{
    return attach(name, true, ret);
}

void
segment_wake_feeder(struct segment *s)
{
    atomic_fetch_add(&s->anchor->wakeup, 1);
    syscall(SYS_futex, &s->anchor->wakeup, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void
segment_jobs_changed(struct segment *s)
{
    atomic_fetch_add(&s->anchor->changes, 1);
    segment_wake_feeder(s);
}

void
segment_detach(struct segment *s)
{
    if (s == NULL)
        return;
    drop_generation(s);
    segment_unmap(&s->next);
    segment_unmap(&s->anchor_map);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    free(s);
}

/* ---- both -----------------------------------------------------------------
 */

void *
segment_data(struct segment *s, size_t *ret_size)
{
    const struct generation_header *h = s->current.base;

    *ret_size = h == NULL ? 0 : (size_t)h->size - sizeof(*h);
    return h == NULL ? NULL : (char *)s->current.base + sizeof(*h);
}

const struct catalog *
segment_catalog(const struct segment *s)
{
    return s->catalog;
}

struct jobarray *
segment_jobarray(const struct segment *s)
{
    return s->jobs;
}

uint64_t
segment_generation(const struct segment *s)
{
    return s->generation;
}

const struct segment_anchor *
segment_anchor(const struct segment *s)
{
    return s->anchor;
}

bool
segment_shares_pids(const struct segment *s)
{
    return s->my_namespace != 0 &&
           atomic_load(&s->anchor->feeder_pid_namespace) == s->my_namespace;
}

const char *
segment_state_text(enum segment_state state)
{
    switch (state) {
    case SEGMENT_OK:
        return "ready";
    case SEGMENT_ABSENT:
        return "no feeder";
    case SEGMENT_STALE:
        return "the feeder has stopped without a word";
    case SEGMENT_FOREIGN:
        return "shared memory of another layout";
    case SEGMENT_DOWN:
        return "the feeder was stopped";
    }
    return "unknown";
}
