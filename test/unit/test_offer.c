/* test_offer.c - what a host has to offer, what a job takes of it, and how long
 * it may run: dispatch §6, §8.5, §8.7. */
#include <math.h>
#include <stdlib.h>

#include "edf.h"
#include "rules_scene.h"

/* ---- what is asked for ----------------------------------------------------
 */

static const struct {
    const char *promise;
    struct work_request given;
    double seconds, instances; /* wanted, on 4 processors */
} request_spec[] = {
    {"old form: all processors for so long",       {false, 1000, {0}, {0}},     4000,      0},
    {"… it knows no resources",                  {false, 1000, {777}, {3}},   4000,      0},
    {"… exactly 28 days",                        {false, 28 * DAY, {0}, {0}}, 112 * DAY, 0},
    {"… not more than 28 days",                  {false, 29 * DAY, {0}, {0}}, 112 * DAY, 0},
    {"… not less than nothing",                  {false, -1, {0}, {0}},       0,         0},
    {"… no number is nothing",                   {false, NAN, {0}, {0}},      0,         0},
    {"… without end is 28 days",                 {false, 1e308, {0}, {0}},    112 * DAY, 0},
    {"by resource: processor-seconds as they are",
     {true, 0, {1000}, {2}},
     1000,                                                                                 2},
    {"… the old figure is not looked at",        {true, 5000, {0}, {0}},      0,         0},
    {"… not more than 28 days",                  {true, 0, {29 * DAY}, {0}},  28 * DAY,  0},
    {"… not more processors than there are",     {true, 0, {10}, {5}},        10,        4},
    {"… not less than nothing",                  {true, 0, {-10}, {-5}},      0,         0},
    {"… no number is nothing",                   {true, 0, {NAN}, {NAN}},     0,         0},
};

START_TEST(request_is_set_up)
{
    struct offer_host h = {
        .count[PROC_CPU] = 4,
        .seconds_left[PROC_CPU] = 1,
        .instances_left[PROC_CPU] = 1,
    };

    offer_host_set_request(&h, &request_spec[_i].given);
    ck_assert_msg(h.seconds_left[PROC_CPU] == request_spec[_i].seconds &&
                      h.instances_left[PROC_CPU] == request_spec[_i].instances,
                  "broken: %s (%g, %g)", request_spec[_i].promise,
                  h.seconds_left[PROC_CPU], h.instances_left[PROC_CPU]);
}
END_TEST

/* Two GPUs of one kind, none of the others. */
START_TEST(each_kind_of_processor_is_asked_for)
{
    const struct work_request request = {
        .per_resource = true,
        .req_secs = {100, 200, 300},
        .req_instances = {9,   9,   9  },
    };
    struct offer_host h = {
        .count = {4, 2}
    };

    offer_host_set_request(&h, &request);
    ck_assert_double_eq(h.seconds_left[PROC_CPU], 100);
    ck_assert_double_eq(h.seconds_left[PROC_NVIDIA], 200);
    ck_assert_double_eq(h.seconds_left[PROC_AMD], 0);
    ck_assert_double_eq(h.instances_left[PROC_NVIDIA], 2);
    ck_assert_double_eq(h.instances_left[PROC_AMD], 0);
    ck_assert(offer_host_wants(&h, PROC_NVIDIA));
    ck_assert(!offer_host_wants(&h, PROC_AMD));
}
END_TEST

START_TEST(a_request_for_the_gpu_alone_is_none_for_the_cpu)
{
    const struct work_request request = {
        .per_resource = true, .req_secs = {0, 200}
    };
    struct offer_host h = {
        .count = {4, 2}
    };

    offer_host_set_request(&h, &request);
    ck_assert(!offer_host_wants(&h, PROC_CPU));
    ck_assert(offer_host_wants(&h, PROC_NVIDIA));
    ck_assert(offer_host_wants_any(&h));
}
END_TEST

/* The old form does not tell processors apart. */
START_TEST(the_old_form_asks_for_each_kind_there_is)
{
    const struct work_request request = {.work_req_seconds = 10};
    struct offer_host h = {
        .count = {4, 1}
    };

    offer_host_set_request(&h, &request);
    ck_assert(offer_host_wants(&h, PROC_CPU));
    ck_assert(offer_host_wants(&h, PROC_NVIDIA));
    ck_assert(!offer_host_wants(&h, PROC_AMD));
}
END_TEST

/* ---- what a job takes -----------------------------------------------------
 */

START_TEST(sent_job_is_accounted_for)
{
    struct scene s;

    set_scene(&s);
    s.offer.avg_ncpus = 2;
    s.host.seconds_left[PROC_CPU] = 20000;
    s.host.instances_left[PROC_CPU] = 3;
    offer_host_take(&s.host, &s.offer);
    ck_assert_int_eq(s.host.jobs_in_reply, 10);
    ck_assert_double_eq(s.host.seconds_left[PROC_CPU], 20000 - 7200 * 2);
    ck_assert_double_eq(s.host.instances_left[PROC_CPU], 1);
    ck_assert_double_eq(s.host.disk_left, 0);
    ck_assert_double_eq(s.host.estimated_delay[PROC_CPU],
                        1000 + 7200 * 2 / 4.0);
    ck_assert_int_eq(s.host.day_left, 0);
    ck_assert_int_eq(s.host.user_room, 0);
    ck_assert_int_eq(s.host.room.total, 0);
    ck_assert_int_eq(s.host.room.type[PROC_CPU], 0);
    ck_assert_int_eq(s.host.room.type[PROC_NVIDIA], 1);
    ck_assert_int_eq(s.app_room.total, 0);
    ck_assert_int_eq(s.app_room.type[PROC_CPU], 0);
}
END_TEST

/* 3.6e12 FLOP at 1e9 FLOPS a quarter of the time: 14400 s, on half a GPU. */
START_TEST(a_gpu_job_leaves_the_request_for_cpus_as_it_is)
{
    struct scene s;

    set_scene(&s);
    s.offer.type = PROC_NVIDIA;
    s.offer.gpu_usage = 0.5;
    s.host.seconds_left[PROC_NVIDIA] = 10000;
    s.host.instances_left[PROC_NVIDIA] = 2;
    offer_host_take(&s.host, &s.offer);
    ck_assert_double_eq(s.host.seconds_left[PROC_NVIDIA], 10000 - 14400 * 0.5);
    ck_assert_double_eq(s.host.instances_left[PROC_NVIDIA], 1.5);
    ck_assert_double_eq(s.host.estimated_delay[PROC_NVIDIA], 14400 * 0.5 / 2);
    ck_assert_double_eq(s.host.seconds_left[PROC_CPU], 3600);
    ck_assert_double_eq(s.host.estimated_delay[PROC_CPU], 1000);
    ck_assert_int_eq(s.host.room.type[PROC_NVIDIA], 0);
    ck_assert_int_eq(s.host.room.type[PROC_CPU], 1);
}
END_TEST

START_TEST(what_is_sent_again_is_no_job_more)
{
    struct scene s;

    set_scene(&s);
    s.offer.resend = true;
    offer_host_take(&s.host, &s.offer);
    ck_assert_int_eq(s.host.jobs_in_reply, 10);
    ck_assert_double_lt(s.host.seconds_left[PROC_CPU], 0);
    ck_assert_int_eq(s.host.day_left, 1);
    ck_assert_int_eq(s.host.user_room, 1);
    ck_assert_int_eq(s.host.room.total, 1);
    ck_assert_int_eq(s.app_room.total, 1);
}
END_TEST

START_TEST(no_limit_does_not_wear_off)
{
    struct scene s;

    set_scene(&s);
    lift_limits(&s);
    offer_host_take(&s.host, &s.offer);
    ck_assert_int_eq(s.host.day_left, OFFER_NO_LIMIT);
    ck_assert_int_eq(s.host.user_room, OFFER_NO_LIMIT);
    ck_assert_int_eq(s.host.room.total, OFFER_NO_LIMIT);
    ck_assert_int_eq(s.app_room.type[PROC_CPU], OFFER_NO_LIMIT);
}
END_TEST

START_TEST(a_job_that_hardly_computes_fills_no_request)
{
    struct scene s;

    set_scene(&s);
    s.app.non_cpu_intensive = true;
    offer_host_take(&s.host, &s.offer);
    ck_assert_double_eq(s.host.seconds_left[PROC_CPU], 3600);
    ck_assert_double_eq(s.host.estimated_delay[PROC_CPU], 1000);
    ck_assert_int_eq(s.host.jobs_in_reply, 10);
}
END_TEST

/* ---- how many are sent ----------------------------------------------------
 */

/* Jobs of 900 s at full speed, on 4 processors that work half of the time. */
static const struct {
    const char *promise;
    struct work_request request;
    double ncpus; /* of one job */
    int sent;
} fills[] = {
    {"old form, 3600 s for each of 4 processors: 14400 s of jobs of 1800 s",
     {.work_req_seconds = 3600},
     1,                                                                                                                  8},
    {"the same in processor-seconds",
     {.per_resource = true, .req_secs = {14400}},
     1,                                                                                                                  8},
    {"a second more is a job more",
     {.per_resource = true, .req_secs = {14401}},
     1,                                                                                                                  9},
    {"one second is one job",                                                {.per_resource = true, .req_secs = {1}}, 1, 1},
    {"four idle processors, hardly any seconds: four jobs",
     {.per_resource = true, .req_secs = {1}, .req_instances = {4}},
     1,                                                                                                                  4},
    {"jobs of two processors: half as many",
     {.per_resource = true, .req_secs = {14400}},
     2,                                                                                                                  4},
    {"one job for all processors",                                           {.work_req_seconds = 1800},              4, 1},
    {"nothing is nothing",                                                   {.per_resource = true},                  1, 0},
};

START_TEST(the_request_is_filled)
{
    struct scene s;

    set_scene(&s);
    lift_limits(&s);
    s.job.rsc_fpops_est = 9e11;
    s.job.delay_bound = 1000000;
    s.offer.avg_ncpus = fills[_i].ncpus;
    offer_host_set_request(&s.host, &fills[_i].request);
    ck_assert_msg(fill(&s) == fills[_i].sent, "broken: %s", fills[_i].promise);
    ck_assert_str_eq(refusal(&s), "work-filled");
}
END_TEST

/* 8 processors, 3600 s each; a job that takes all 8 for 3600 s: one. */
START_TEST(one_job_for_eight_processors)
{
    const struct work_request both[] = {
        {.work_req_seconds = 3600},
        { .per_resource = true,  .req_secs = {8 * 3600}},
    };

    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct scene s;

        set_scene(&s);
        lift_limits(&s);
        s.host.count[PROC_CPU] = 8;
        s.host.available_frac = 1;
        s.job.delay_bound = 1000000;
        s.offer.flops = 1e9;
        s.offer.avg_ncpus = 8; /* 3.6e12 FLOP at 1e9: 3600 s */
        offer_host_set_request(&s.host, &both[i]);
        ck_assert_int_eq(fill(&s), 1);
    }
}
END_TEST

/* Jobs that wait for each other miss the deadline in the end: after 1000 s, and
 * 1800 s more for each job before it, 7200 s must be over within 12600 s. */
START_TEST(queue_counts_for_the_deadline)
{
    struct scene s;

    set_scene(&s);
    lift_limits(&s);
    s.job.delay_bound = 12600; /* 1000 + 1800 × 2 + 7200 = 11800; × 3: 13600 */
    s.host.seconds_left[PROC_CPU] = 1e6;
    ck_assert_int_eq(fill(&s), 3);
    ck_assert_str_eq(refusal(&s), "queue");
}
END_TEST

/* Simulated, four processors do four jobs of 7200 s at once, and four more
 * within 14400 s; the sum of waits would have stopped at six. */
START_TEST(the_simulation_takes_jobs_as_they_come)
{
    struct edf_job jobs[16];
    double free_at[4];
    struct edf_queue queue = {
        .job = jobs, .free_at = free_at, .n_processors = 4};
    struct scene s;

    set_scene(&s);
    lift_limits(&s);
    s.host.queue = &queue;
    s.host.estimated_delay[PROC_CPU] = -1e6; /* the sum of waits never stops */
    s.host.seconds_left[PROC_CPU] = 1e6;
    s.job.delay_bound = 14400;
    edf_begin(&queue);
    ck_assert_int_eq(fill(&s), 8);
    ck_assert_str_eq(refusal(&s), "workload");
}
END_TEST

/* ---- deadlines ------------------------------------------------------------
 */

/* The job runs 7200 s, behind a wait of 1000 s. */
static const struct {
    const char *promise;
    bool hurry;
    double fraction; /* reliable_reduced_delay_bound */
    int64_t bound, want;
} bounds[] = {
    {"a usual job: its own bound",                false, 0.5,  100000, 100000},
    {"one in a hurry: the reduced bound",         true,  0.5,  100000, 50000 },
    {"not configured: its own",                   true,  0,    100000, 100000},
    {"a hundredth is no reduction",               true,  0.01, 100000, 100000},
    {"twice the run time is left to it",          true,  0.5,  20000,  14400 },
    {"but not more than twice the reduced bound", true,  0.1,  70000,  70000 },
    {"what cannot be kept is not told",           true,  0.5,  10000,  10000 },
    {"a reduced bound that is just kept",         true,  0.5,  16400,  14400 },
};

START_TEST(reliable_hosts_have_less_time)
{
    struct scene s;

    set_scene(&s);
    s.job.need_reliable = bounds[_i].hurry;
    s.job.delay_bound = bounds[_i].bound;
    s.host.reliable_reduced_delay_bound = bounds[_i].fraction;
    ck_assert_msg(offer_delay_bound(&s.offer) == bounds[_i].want,
                  "broken: %s (%ld)", bounds[_i].promise,
                  (long)offer_delay_bound(&s.offer));
    s.offer.resend = true; /* its time is what is left of the old */
    ck_assert_int_eq(offer_delay_bound(&s.offer), bounds[_i].bound);
}
END_TEST

START_TEST(a_hard_job_takes_longer)
{
    struct scene s;

    set_scene(&s);
    ck_assert_double_eq(offer_duration(&s.offer), 7200);
    s.app.weight = -1;
    ck_assert_double_eq_tol(offer_duration(&s.offer), 7200 * 1.3, 1e-6);
    s.app.weight = 0;
    s.offer.type = PROC_NVIDIA; /* a quarter of the time */
    ck_assert_double_eq(offer_duration(&s.offer), 14400);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("offer");
    TCase *tc = tcase_create("host");
    SRunner *runner = srunner_create(s);
    int failed;

    tcase_add_loop_test(tc, request_is_set_up, 0, ARRAY_LEN(request_spec));
    tcase_add_test(tc, each_kind_of_processor_is_asked_for);
    tcase_add_test(tc, a_request_for_the_gpu_alone_is_none_for_the_cpu);
    tcase_add_test(tc, the_old_form_asks_for_each_kind_there_is);
    tcase_add_test(tc, sent_job_is_accounted_for);
    tcase_add_test(tc, a_gpu_job_leaves_the_request_for_cpus_as_it_is);
    tcase_add_test(tc, what_is_sent_again_is_no_job_more);
    tcase_add_test(tc, no_limit_does_not_wear_off);
    tcase_add_test(tc, a_job_that_hardly_computes_fills_no_request);
    tcase_add_loop_test(tc, the_request_is_filled, 0, ARRAY_LEN(fills));
    tcase_add_test(tc, one_job_for_eight_processors);
    tcase_add_test(tc, queue_counts_for_the_deadline);
    tcase_add_test(tc, the_simulation_takes_jobs_as_they_come);
    tcase_add_loop_test(tc, reliable_hosts_have_less_time, 0,
                        ARRAY_LEN(bounds));
    tcase_add_test(tc, a_hard_job_takes_longer);
    suite_add_tcase(s, tc);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
