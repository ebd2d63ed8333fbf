/* test_edf.c - would this job, or one that the host has, miss its deadline?
 * dispatch §8.5. */
#include "edf.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

enum { MOST_JOBS = 8, MOST_PROCESSORS = 4 };

struct row {
    const char *promise;
    size_t n_processors;
    struct edf_job has[4]; /* to the first without a duration */
    double duration, deadline;
    bool allowed;
};

/* clang-format off */
static const struct row spec[] = {
    {"an idle host takes what it can do just in time",
     1, {{0, 0, 0}},                               100, 100, true},
    {"… and not what takes a second more",
     1, {{0, 0, 0}},                               101, 100, false},
    {"it waits behind what is due earlier: just in time",
     1, {{50, 60, 0}},                       50,  100, true},
    {"… a second too late",
     1, {{51, 60, 0}},                       50,  100, false},
    {"it goes before what is due later, which has just time enough",
     1, {{50, 200, 0}},                      150, 150, true},
    {"… which would then be a second late",
     1, {{51, 200, 0}},                      150, 150, false},
    {"what is late anyway must not be later",
     1, {{100, 50, 0}},                      1,   40,  false},
    {"… and does no harm to a job behind it",
     1, {{100, 50, 0}},                      10,  110, true},
    {"a second processor is free",
     2, {{100, 50, 0}},                      10,  10,  true},
    {"two processors, two jobs before it: behind the shorter one",
     2, {{30, 60, 0}, {50, 60, 0}},          70,  100, true},
    {"… a second too long",
     2, {{30, 60, 0}, {50, 60, 0}},          71,  100, false},
    {"of equal deadlines the one that was there comes first",
     1, {{50, 100, 0}},                      51,  100, false},
    {"a job of no length is never in the way",
     1, {{50, 50, 0}},                       0,   0,   true},
    {"a deadline that has passed cannot be met",
     1, {{0, 0, 0}},                               1,   -1,  false},
    {"no number is no",
     1, {{0, 0, 0}},                               1,   NAN, false},
};
/* clang-format on */

struct scene {
    struct edf_queue q;
    struct edf_job job[MOST_JOBS];
    double free_at[MOST_PROCESSORS];
};

static void
set_scene(struct scene *s, const struct row *r)
{
    *s = (struct scene){.q = {.n_processors = r->n_processors}};
    s->q.job = s->job;
    s->q.free_at = s->free_at;
    while (s->q.n < ARRAY_LEN(r->has) && r->has[s->q.n].duration > 0) {
        s->job[s->q.n] = r->has[s->q.n];
        s->q.n++;
    }
    edf_begin(&s->q);
}

START_TEST(a_job_is_judged)
{
    const struct row *r = &spec[_i];
    struct scene s;

    set_scene(&s, r);
    ck_assert_msg(edf_allows(&s.q, r->duration, r->deadline) == r->allowed,
                  "broken: %s", r->promise);
    /* asking changes nothing */
    ck_assert_msg(edf_allows(&s.q, r->duration, r->deadline) == r->allowed,
                  "asked twice: %s", r->promise);
}
END_TEST

START_TEST(what_is_taken_counts_for_the_next)
{
    const struct row row = {.n_processors = 2};
    struct scene s;
    int taken = 0;

    set_scene(&s, &row);
    while (taken < 7 && edf_allows(&s.q, 100, 250)) {
        edf_take(&s.q, 100, 250);
        taken++;
    }
    ck_assert_int_eq(taken,
                     4); /* two on each processor, the fifth ends at 300 */
}
END_TEST

START_TEST(what_is_no_easier_than_a_refused_job_is_refused)
{
    const struct row row = {.n_processors = 1};
    struct scene s;

    set_scene(&s, &row);
    ck_assert(!edf_allows(&s.q, 200, 100));
    ck_assert(!edf_allows(&s.q, 200, 99));
    ck_assert(!edf_allows(&s.q, 201, 100));
    ck_assert(edf_allows(&s.q, 100, 100));
    ck_assert(edf_allows(&s.q, 200, 200));
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("edf");
    TCase *tc = tcase_create("queue");
    SRunner *runner = srunner_create(s);
    int failed;

    tcase_add_loop_test(tc, a_job_is_judged, 0, ARRAY_LEN(spec));
    tcase_add_test(tc, what_is_taken_counts_for_the_next);
    tcase_add_test(tc, what_is_no_easier_than_a_refused_job_is_refused);
    suite_add_tcase(s, tc);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
