/* playfeeder.c - the test is the feeder. */
#include "playfeeder.h"

#include "clock.h"
#include "db_catalog.h"
#include "db_feed.h"
#include "jobarray.h"
#include "project.h"
#include "segment.h"

enum { SLOTS = 100 };

static struct segment *segment;

void
playfeeder_open(void)
{
    char name[32];

    segment_name(0, project_path(""), name);
    segment = segment_create(name, project_path("feeder.lock"));
    ck_assert_ptr_nonnull(segment);
}

void
playfeeder_fill(struct db *db)
{
    struct sendable job[SLOTS];
    struct feed_query query = {.started = false};
    struct db_catalog rows;
    struct catalog_source src;
    size_t n = 0;

    ck_assert_int_eq(db_catalog_load(db, &rows), 0);
    src = db_catalog_source(&rows);
    ck_assert_int_eq(segment_build(segment, &src, SLOTS, 100), 0);
    ck_assert_int_eq(segment_publish(segment), 0);
    db_catalog_free(&rows);
    ck_assert_int_ge(db_feed_page(db, &query, job, SLOTS, &n), 0);
    for (size_t i = 0; i < n; i++)
        ck_assert(jobarray_fill(segment_jobarray(segment),
                                jobarray_slot(segment_jobarray(segment), i),
                                &job[i], clock_monotonic()));
    segment_heartbeat(segment);
}

void
playfeeder_close(void)
{
    segment_destroy(segment);
    segment = NULL;
}
