/* filler_private.h - what the parts of the filler share: filler.c (walk and
 * slots), filler_diverse.c (who must not be starved), filler_notes.c (hosts
 * that could not take a job), filler_hr.c (classes of equal hosts). */
#ifndef QUORATE_FILLER_PRIVATE_H
#define QUORATE_FILLER_PRIVATE_H

#include "db_refused.h"
#include "filler.h"
#include "idset.h"
#include "sendable.h"
#include "streams.h"

struct catalog;
struct daemon;
struct jobarray;
struct segment;

struct low_job {
    int32_t priority;
    size_t slot;
};

/* What we have put into a slot; its job is the schedulers' to copy. */
struct held {
    int64_t result_id, wu_id, create_time, appid;
    uint32_t feasibility;
    int32_t hr_class;
    size_t stream;
    bool diverse; /* put there for its class, not for its place in the order */
    uint32_t saved; /* hosts that are noted in the database */
};

/* Jobs of one feasibility class in the array. */
struct class_count {
    uint32_t feasibility;
    size_t jobs;  /* 0: a free place of the table */
    size_t stuck; /* that several hosts could not take */
};

struct hr_quota {
    int type;
    int32_t hr_class; /* 0 uncommitted */
    size_t limit, used;
};

struct filler {
    struct segment *segment; /* for its heartbeat */
    struct jobarray *array;
    const struct catalog *catalog;
    const struct daemon *d;
    size_t n_slots;
    uint32_t *emptied; /* for each slot: when it was first seen EMPTY, or 0 */
    struct held *held;

    struct idset known;
    struct streams *streams;
    double top_time; /* monotonic s: began at the top */
    bool above_only; /* it looks for higher priorities only */
    bool more;       /* there were jobs without a place */

    size_t empty_from;   /* no slot before this one is EMPTY */
    struct low_job *low; /* READY slots, lowest priority first */
    size_t n_low;

    double check_time;
    size_t check_from; /* slot */
    uint32_t changes;  /* of the segment, that we have answered */
    bool restart;      /* the walk is to begin at the top */

    /* filler_diverse.c */
    struct class_count *class_of; /* open addressing */
    size_t class_size;
    size_t n_diverse;
    struct feed_query deep; /* a second walk, through all that is unsent */
    struct sendable *deep_page;
    size_t deep_size;
    double deep_time, evict_time;
    bool deep_began;         /* it has looked once */
    size_t pages_skipped;    /* pages' worth of stuck classes passed over */
    bool lenient;            /* take them after all */
    struct idset resting[2]; /* taken out, not to come back at once */
    double rest_time;

    /* filler_notes.c */
    struct refused_row *note; /* to be saved */
    size_t n_notes;
    size_t *placed; /* slots filled in this round */
    size_t n_placed;
    double save_time, clean_time;
    int64_t clean_from;

    /* filler_hr.c */
    struct hr_quota *hr;
    size_t n_hr;
};

/* ---- filler.c ---- */
/* May it be in the array, and is it not there yet? */
bool filler_accepts(const struct filler *, const struct sendable *);
void filler_note_known(struct filler *);
/* Put a job into this slot, if it is EMPTY. */
bool filler_fill_slot(struct filler *, size_t i, const struct sendable *,
                      size_t stream, bool diverse);
bool filler_place_in_empty(struct filler *, const struct sendable *,
                           size_t stream, bool diverse);
/* Take a READY job out, keep what is known of hosts.  False: it is claimed. */
bool filler_take_out(struct filler *, size_t i);

/* ---- filler_diverse.c ---- */
void diverse_count(struct filler *); /* what is in the array, by class */
/* Slots that the walk in order leaves to other classes, of `empty` ones. */
size_t diverse_room(const struct filler *, size_t empty);
/* Look for jobs of classes that are not in the array and place some.  How many,
 * or -1. */
int diverse_fill(struct filler *);
/* Should the walk pass over this one, since its class has slots enough that
 * nobody can use? */
bool diverse_passes_over(struct filler *, const struct sendable *);
void diverse_note_placed(struct filler *, const struct sendable *);
/* Take out some jobs that several hosts could not take, if others wait. */
void diverse_evict(struct filler *);
bool diverse_is_resting(const struct filler *, int64_t result_id);
void diverse_rest(struct filler *, int64_t result_id);
void diverse_free(struct filler *);

/* ---- filler_notes.c ---- */
void notes_keep(struct filler *, size_t i); /* of this slot; saved later */
int notes_flush(struct filler *);           /* save what was kept */
int notes_load(struct filler *);            /* for the slots in f->placed */
int notes_save_old(struct filler *); /* of jobs that are there for a while */
int notes_settle(struct filler *);   /* end what nobody can take */
int notes_clean(struct filler *);

/* ---- filler_hr.c ---- */
void hr_read(struct filler *); /* hr_info.txt, with hr_allocate_slots */
void hr_count(struct filler *);
bool hr_has_room(const struct filler *, const struct sendable *);
void hr_note_placed(struct filler *, const struct sendable *);
/* Take out jobs that are there for `seconds`; release their workunits. */
int hr_purge_stale(struct filler *, uint32_t seconds);

#endif
