/* test_rules.c - may this job go to this host? dispatch §6, §8.1, §8.5, §8.7.
 *
 * `fitting` is an offer that every rule allows.  Each row changes what one rule
 * looks at: just below its limit, exactly at it, just above.  To add a rule,
 * add its rows here first and watch them fail. */
#include "rules.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define DAY 86400.0

static const struct app app = {.id = 3};
static const struct app dead_app = {.id = 3, .deprecated = true};
static const struct app_version version = {.id = 5, .appid = 3};

/* 3.6e12 FLOP at 1e9 FLOPS, half of the time: 7200 s; 1000 s to wait first. */
static const struct sendable job = {
    .result_id = 70,
    .wu_id = 7,
    .appid = 3,
    .delay_bound = 8200,
    .rsc_fpops_est = 3.6e12,
    .rsc_memory_bound = 500e6,
    .rsc_disk_bound = 200e6,
    .rsc_bandwidth_bound = 1e6,
};

static const struct offer_host host = {
    .usable_ram = 500e6,
    .disk_left = 200e6,
    .available_frac = 0.5,
    .estimated_delay[PROC_CPU] = 1000,
    .n_bwdown = 1e6,
    .count[PROC_CPU] = 4,
    .jobs_in_reply = 9,
    .max_jobs = 10,
    .seconds_left[PROC_CPU] = 3600,
};

struct scene {
    struct sendable job;
    struct offer_host host;
    struct offer offer;
};

/* Every limit is met exactly: equal is sent. */
static void
set_scene(struct scene *s)
{
    s->job = job;
    s->host = host;
    s->offer = (struct offer){
        .job = &s->job,
        .host = &s->host,
        .app = &app,
        .version = &version,
        .avg_ncpus = 1,
        .flops = 1e9,
        .one_result_per_user_per_wu = true,
        .one_result_per_host_per_wu = true,
    };
}

static const char *
refusal(const struct scene *s)
{
    const struct dispatch_rule *rule = dispatch_refusal(&s->offer);

    return rule == NULL ? "sent" : rule->name;
}

START_TEST(exactly_at_every_limit_is_sent)
{
    struct scene s;

    set_scene(&s);
    ck_assert_str_eq(refusal(&s), "sent");
}
END_TEST

/* ---- rules that compare numbers ------------------------------------------ */

enum field {
    JOBS_IN_REPLY,
    SECONDS_LEFT,
    INSTANCES_LEFT,
    MEMORY_BOUND,
    USABLE_RAM,
    DISK_BOUND,
    DISK_LEFT,
    BANDWIDTH_BOUND,
    N_BWDOWN,
    DELAY_BOUND,
    ESTIMATED_DELAY,
    FPOPS_EST,
    FLOPS,
    AVAILABLE_FRAC,
};

static void
set_field(struct scene *s, enum field f, double x)
{
    switch (f) {
    case JOBS_IN_REPLY:
        s->host.jobs_in_reply = (int)x;
        break;
    case SECONDS_LEFT:
        s->host.seconds_left[PROC_CPU] = x;
        break;
    case INSTANCES_LEFT:
        s->host.seconds_left[PROC_CPU] = 0;
        s->host.instances_left[PROC_CPU] = x;
        break;
    case MEMORY_BOUND:
        s->job.rsc_memory_bound = x;
        break;
    case USABLE_RAM:
        s->host.usable_ram = x;
        break;
    case DISK_BOUND:
        s->job.rsc_disk_bound = x;
        break;
    case DISK_LEFT:
        s->host.disk_left = x;
        break;
    case BANDWIDTH_BOUND:
        s->job.rsc_bandwidth_bound = x;
        break;
    case N_BWDOWN:
        s->host.n_bwdown = x;
        break;
    case DELAY_BOUND:
        s->job.delay_bound = (int64_t)x;
        break;
    case ESTIMATED_DELAY:
        s->host.estimated_delay[PROC_CPU] = x;
        break;
    case FPOPS_EST:
        s->job.rsc_fpops_est = x;
        break;
    case FLOPS:
        s->offer.flops = x;
        break;
    case AVAILABLE_FRAC:
        s->host.available_frac = x;
        break;
    }
}

/* clang-format off */
static const struct {
    enum field field;
    double x;
    const char *want;
} number_spec[] = {
    {JOBS_IN_REPLY,   8,             "sent"},
    {JOBS_IN_REPLY,   9,             "sent"},       /* the tenth */
    {JOBS_IN_REPLY,   10,            "job-limit"},
    {JOBS_IN_REPLY,   11,            "job-limit"},

    {SECONDS_LEFT,    1,             "sent"},
    {SECONDS_LEFT,    1e-6,          "sent"},
    {SECONDS_LEFT,    0,             "work-filled"},
    {SECONDS_LEFT,    -5,            "work-filled"},
    {INSTANCES_LEFT,  1,             "sent"},
    {INSTANCES_LEFT,  0,             "work-filled"},
    {INSTANCES_LEFT,  -1,            "work-filled"},

    {MEMORY_BOUND,    500e6 - 1,     "sent"},
    {MEMORY_BOUND,    500e6,         "sent"},
    {MEMORY_BOUND,    500e6 + 1,     "memory"},
    {USABLE_RAM,      500e6 + 1,     "sent"},
    {USABLE_RAM,      500e6 - 1,     "memory"},
    {USABLE_RAM,      NAN,           "memory"},

    {DISK_BOUND,      200e6 - 1,     "sent"},
    {DISK_BOUND,      200e6,         "sent"},
    {DISK_BOUND,      200e6 + 1,     "disk"},
    {DISK_LEFT,       200e6 + 1,     "sent"},
    {DISK_LEFT,       200e6 - 1,     "disk"},
    {DISK_LEFT,       0,             "disk"},

    {BANDWIDTH_BOUND, 1e6 - 1,       "sent"},
    {BANDWIDTH_BOUND, 1e6,           "sent"},
    {BANDWIDTH_BOUND, 1e6 + 1,       "bandwidth"},
    {BANDWIDTH_BOUND, 0,             "sent"},
    {N_BWDOWN,        1e6 - 1,       "bandwidth"},
    {N_BWDOWN,        0,             "sent"},       /* not measured yet */

    {DELAY_BOUND,     8201,          "sent"},
    {DELAY_BOUND,     8200,          "sent"},
    {DELAY_BOUND,     8199,          "deadline"},
    {ESTIMATED_DELAY, 999,           "sent"},
    {ESTIMATED_DELAY, 1001,          "deadline"},
    {FPOPS_EST,       3.5e12,        "sent"},
    {FPOPS_EST,       3.7e12,        "deadline"},
    {FLOPS,           1.1e9,         "sent"},
    {FLOPS,           0.9e9,         "deadline"},
    {AVAILABLE_FRAC,  0.51,          "sent"},
    {AVAILABLE_FRAC,  0.49,          "deadline"},
};
/* clang-format on */

START_TEST(limit_is_kept)
{
    struct scene s;

    set_scene(&s);
    set_field(&s, number_spec[_i].field, number_spec[_i].x);
    ck_assert_msg(strcmp(refusal(&s), number_spec[_i].want) == 0,
                  "row %d (%.10g): %s, not %s", _i, number_spec[_i].x,
                  refusal(&s), number_spec[_i].want);
}
END_TEST

/* ---- rules that ask yes or no -------------------------------------------- */

static void
no_app(struct scene *s)
{
    s->offer.app = NULL;
}

static void
deprecated_app(struct scene *s)
{
    s->offer.app = &dead_app;
}

static void
no_version(struct scene *s)
{
    s->offer.version = NULL;
}

static void
old_versions_only(struct scene *s)
{
    s->offer.version = NULL;
    s->offer.version_too_old = true;
}

static void
other_clients_only(struct scene *s)
{
    s->offer.version = NULL;
    s->offer.client_too_old = true;
}

static void
twin_in_reply(struct scene *s)
{
    s->offer.in_this_reply = true;
}

static void
twin_in_reply_one_per_host(struct scene *s)
{
    s->offer.in_this_reply = true;
    s->offer.one_result_per_user_per_wu = false;
}

static void
twin_in_reply_allowed(struct scene *s)
{
    s->offer.in_this_reply = true;
    s->offer.one_result_per_user_per_wu = false;
    s->offer.one_result_per_host_per_wu = false;
}

static void
user_has_one(struct scene *s)
{
    s->offer.user_has_result = true;
}

static void
user_has_one_allowed(struct scene *s)
{
    s->offer.user_has_result = true;
    s->offer.one_result_per_user_per_wu = false;
}

static void
host_has_one(struct scene *s)
{
    s->offer.host_has_result = true;
}

static void
host_has_one_allowed(struct scene *s)
{
    s->offer.host_has_result = true;
    s->offer.one_result_per_host_per_wu = false;
}

static void
late_but_ignored(struct scene *s)
{
    s->job.delay_bound = 1;
    s->host.ignore_delay_bound = true;
}

static void
late_on_an_idle_host(struct scene *s)
{
    s->job.delay_bound = 1;
    s->host.estimated_delay[PROC_CPU] = 0;
}

static void
two_reasons(struct scene *s)
{
    s->job.rsc_memory_bound = 1e18;
    s->job.rsc_disk_bound = 1e18;
}

static const struct {
    const char *promise;
    void (*change)(struct scene *);
    const char *want;
} yes_no_spec[] = {
    {"the app is unknown",                 no_app,                     "app"            },
    {"the app is deprecated",              deprecated_app,             "app"            },
    {"no version for the platform",        no_version,                 "platform"       },
    {"only versions below min_version",    old_versions_only,          "min-version"    },
    {"only versions for other clients",    other_clients_only,         "client-version" },
    {"a twin in this reply",               twin_in_reply,              "in-reply"       },
    {"… one per host is enough to stop", twin_in_reply_one_per_host,
     "in-reply"                                                                         },
    {"… if nobody minds",                twin_in_reply_allowed,      "sent"           },
    {"the user has one",                   user_has_one,               "user-has-result"},
    {"… if nobody minds",                user_has_one_allowed,       "sent"           },
    {"the host has one",                   host_has_one,               "host-has-result"},
    {"… if nobody minds",                host_has_one_allowed,       "sent"           },
    {"late, but deadlines are ignored",    late_but_ignored,           "sent"           },
    {"late is late on an idle host too",   late_on_an_idle_host,       "deadline"       },
    {"the first refusal wins",             two_reasons,                "memory"         },
};

START_TEST(condition_is_kept)
{
    struct scene s;

    set_scene(&s);
    yes_no_spec[_i].change(&s);
    ck_assert_msg(strcmp(refusal(&s), yes_no_spec[_i].want) == 0,
                  "broken: %s (%s)", yes_no_spec[_i].promise, refusal(&s));
}
END_TEST

/* ---- the table itself ---------------------------------------------------- */

/* What counts for "could not be sent to any host" (dispatch §9.5): what a host
 * is, never what a user chose or the moment brought. */
static const struct {
    const char *name;
    enum refusal_kind kind;
} kind_spec[] = {
    {"job-limit",       REFUSAL_STOP    },
    {"work-filled",     REFUSAL_STOP    },
    {"processor",       REFUSAL_OTHER   },
    {"app",             REFUSAL_OTHER   },
    {"platform",        REFUSAL_PLATFORM},
    {"min-version",     REFUSAL_PLATFORM},
    {"client-version",  REFUSAL_PLATFORM},
    {"in-reply",        REFUSAL_OTHER   },
    {"memory",          REFUSAL_RESOURCE},
    {"disk",            REFUSAL_RESOURCE},
    {"bandwidth",       REFUSAL_RESOURCE},
    {"deadline",        REFUSAL_RESOURCE},
    {"user-has-result", REFUSAL_OTHER   },
    {"host-has-result", REFUSAL_OTHER   },
};

START_TEST(rules_and_their_kinds)
{
    ck_assert_uint_eq(n_dispatch_rules, ARRAY_LEN(kind_spec));
    for (size_t i = 0; i < n_dispatch_rules; i++) {
        ck_assert_str_eq(dispatch_rules[i].name, kind_spec[i].name);
        ck_assert_int_eq(dispatch_rules[i].kind, kind_spec[i].kind);
    }
}
END_TEST

START_TEST(messages_can_be_read)
{
    for (size_t i = 0; i < n_dispatch_rules; i++) {
        const char *message = dispatch_rules[i].message;

        if (message == NULL)
            continue;
        ck_assert_uint_gt(strlen(message), 20);
        ck_assert_uint_le(strlen(message), 200);
        ck_assert_int_eq(message[strlen(message) - 1], '.');
        /* they go into XML and into logs: plain text in one line */
        ck_assert_ptr_null(strpbrk(message, "<>&\n%"));
    }
}
END_TEST

static size_t index_of(const char *name);

/* ---- the numbers behind a verdict ---------------------------------------- */

static const char *
detail(const char *rule, const struct scene *s)
{
    static char text[RULE_NUMBERS_SIZE];
    struct dispatch_rule row = dispatch_rules[index_of(rule)];

    row.unit = UNIT_NONE;
    dispatch_numbers(&row, &s->offer, text);
    return text;
}

static void
half_of_it(const struct offer *o, double *ret_needs, double *ret_has)
{
    *ret_needs = o->job->rsc_memory_bound;
    *ret_has = o->job->rsc_memory_bound / 2;
}

static void
silent(const struct offer *o, char *ret, size_t size)
{
    (void)o;
    (void)ret;
    (void)size;
}

static void
in_brackets(const struct offer *o, char *ret, size_t size)
{
    snprintf(ret, size, "(%d left)", o->host->max_jobs);
}

/* 3 GB = 3 x 2^30 bytes, and half of it. */
START_TEST(numbers_are_written_by_unit)
{
    static const struct {
        struct dispatch_rule row;
        double x;
        const char *want;
    } spec[] = {
        {{.unit = UNIT_NONE},                                                  1, ""                            },
        {{.unit = UNIT_NONE, .detail = silent},                                1, ""                            },
        {{.unit = UNIT_NONE, .detail = in_brackets},                           1, "(10 left)"                   },
        {{.unit = UNIT_COUNT},                                                 1, ""                            },
        {{.unit = UNIT_COUNT, .numbers = half_of_it},                          3, "needs 3, has 1.5"            },
        {{.unit = UNIT_BYTES, .numbers = half_of_it},
         3 * 1073741824.0,
         "needs 3.0 GB, has 1.5 GB"                                                                             },
        {{.unit = UNIT_BYTES_PER_SECOND, .numbers = half_of_it},
         2048,                                                                    "needs 2.0 KB/s, has 1.0 KB/s"},
        {{.unit = UNIT_SECONDS, .numbers = half_of_it, .detail = silent},
         7200,                                                                    "needs 2 h, has 1 h"          },
        {{.unit = UNIT_SECONDS, .numbers = half_of_it, .detail = in_brackets},
         7200,                                                                    "needs 2 h, has 1 h (10 left)"},
    };
    char text[RULE_NUMBERS_SIZE];
    struct scene s;

    set_scene(&s);
    for (size_t i = 0; i < ARRAY_LEN(spec); i++) {
        s.job.rsc_memory_bound = spec[i].x;
        memset(text, 'x', sizeof(text));
        dispatch_numbers(&spec[i].row, &s.offer, text);
        ck_assert_str_eq(text, spec[i].want);
    }
}
END_TEST

/* 1.5 GB of 2^30 bytes, half of it usable. */
START_TEST(memory_says_how_it_was_reckoned)
{
    struct scene s;

    set_scene(&s);
    s.host.m_nbytes = 1.5 * 1073741824;
    s.host.usable_ram = s.host.m_nbytes / 2;
    ck_assert_str_eq(detail("memory", &s), "= 1.5 GB x 50 %");
    s.host.m_nbytes = 0; /* the client did not say: something is assumed */
    ck_assert_str_eq(detail("memory", &s), "");
}
END_TEST

/* 3.6e12 FLOP at 1e9 FLOPS, half of the time: 7200 s. */
START_TEST(deadline_says_what_adds_up)
{
    struct scene s;

    set_scene(&s);
    ck_assert_str_eq(detail("deadline", &s),
                     "(waits 16 min 40 s, runs 2 h = 3.6e+12 FLOP / (1e+09 "
                     "FLOPS x 50 % of the time))");
    s.offer.version = NULL;
    ck_assert_str_eq(detail("deadline", &s),
                     "(speed unknown without a version)");
}
END_TEST

/* To explain a job every row is asked, whatever the rows above said. */
START_TEST(every_rule_takes_an_offer_without_app_and_version)
{
    struct scene s;
    char text[RULE_NUMBERS_SIZE];

    set_scene(&s);
    s.offer.app = NULL;
    s.offer.version = NULL;
    s.offer.flops = 0;
    s.offer.avg_ncpus = 0;
    for (size_t i = 0; i < n_dispatch_rules; i++) {
        dispatch_rules[i].allows(&s.offer);
        dispatch_numbers(&dispatch_rules[i], &s.offer, text);
        ck_assert_uint_lt(strlen(text), sizeof(text) - 1);
        ck_assert_ptr_null(strpbrk(text, "\n\t"));
    }
    ck_assert_str_eq(refusal(&s), "app");
}
END_TEST

/* The longest numbers fit as well. */
START_TEST(numbers_of_absurd_sizes_fit)
{
    struct scene s;
    char text[RULE_NUMBERS_SIZE];

    set_scene(&s);
    s.job = (struct sendable){
        .delay_bound = INT64_MIN,
        .rsc_fpops_est = -1e300,
        .rsc_memory_bound = -1e300,
        .rsc_disk_bound = 1e300,
        .rsc_bandwidth_bound = 1e300,
    };
    s.host.usable_ram = s.host.m_nbytes = s.host.d_free = 1e300;
    s.host.disk_left = s.host.n_bwdown = NAN;
    s.host.estimated_delay[PROC_CPU] = INFINITY;
    s.host.seconds_left[PROC_CPU] = 1e15;
    s.offer.flops = 1e-300;
    for (size_t i = 0; i < n_dispatch_rules; i++) {
        dispatch_numbers(&dispatch_rules[i], &s.offer, text);
        ck_assert_msg(strlen(text) < sizeof(text) - 1, "%s: cut off: %s",
                      dispatch_rules[i].name, text);
    }
}
END_TEST

static size_t
index_of(const char *name)
{
    size_t i = 0;

    while (i < n_dispatch_rules && strcmp(dispatch_rules[i].name, name) != 0)
        i++;
    ck_assert_msg(i < n_dispatch_rules, "no rule %s", name);
    return i;
}

START_TEST(the_job_that_came_furthest_is_the_reason)
{
    unsigned counts[64] = {0};

    ck_assert_ptr_null(dispatch_reason(counts));
    counts[index_of("platform")] = 80;
    ck_assert_str_eq(dispatch_reason(counts)->name, "platform");
    counts[index_of("deadline")] = 1;
    counts[index_of("memory")] = 40;
    ck_assert_str_eq(dispatch_reason(counts)->name, "deadline");
    counts[index_of("host-has-result")] = 1; /* the last row */
    ck_assert_str_eq(dispatch_reason(counts)->name, "host-has-result");
}
END_TEST

/* ---- what is asked for, and what is left --------------------------------- */

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
}
END_TEST

/* (seed) X seconds for all processors: 4 processors × 14400 s of jobs that take
 * 7200 s each are 8 jobs. */
START_TEST(all_processors_are_filled)
{
    const struct work_request request = {.work_req_seconds = 14400};
    struct scene s;
    int sent = 0;

    set_scene(&s);
    s.job.delay_bound = 1000000;
    s.host.disk_left = 1e12;
    s.host.jobs_in_reply = 0;
    s.host.max_jobs = 100;
    offer_host_set_request(&s.host, &request);
    while (dispatch_refusal(&s.offer) == NULL && sent < 100) {
        offer_host_take(&s.host, &s.offer);
        sent++;
    }
    ck_assert_int_eq(sent, 8);
    ck_assert_str_eq(refusal(&s), "work-filled");
}
END_TEST

/* Jobs that wait for each other miss the deadline in the end: after 1000 s, and
 * 1800 s more for each job before it, 7200 s must be over within 12600 s. */
START_TEST(queue_counts_for_the_deadline)
{
    struct scene s;
    int sent = 0;

    set_scene(&s);
    s.job.delay_bound = 12600; /* 1000 + 1800 × 2 + 7200 = 11800; × 3: 13600 */
    s.host.disk_left = 1e12;
    s.host.max_jobs = 100;
    s.host.seconds_left[PROC_CPU] = 1e6;
    while (dispatch_refusal(&s.offer) == NULL && sent < 100) {
        offer_host_take(&s.host, &s.offer);
        sent++;
    }
    ck_assert_int_eq(sent, 3);
    ck_assert_str_eq(refusal(&s), "deadline");
}
END_TEST

static Suite *
rules_suite(void)
{
    Suite *s = suite_create("rules");
    TCase *tc = tcase_create("offer");

    tcase_add_test(tc, exactly_at_every_limit_is_sent);
    tcase_add_loop_test(tc, limit_is_kept, 0, ARRAY_LEN(number_spec));
    tcase_add_loop_test(tc, condition_is_kept, 0, ARRAY_LEN(yes_no_spec));
    tcase_add_test(tc, rules_and_their_kinds);
    tcase_add_test(tc, messages_can_be_read);
    tcase_add_test(tc, memory_says_how_it_was_reckoned);
    tcase_add_test(tc, numbers_are_written_by_unit);
    tcase_add_test(tc, deadline_says_what_adds_up);
    tcase_add_test(tc, every_rule_takes_an_offer_without_app_and_version);
    tcase_add_test(tc, numbers_of_absurd_sizes_fit);
    tcase_add_test(tc, the_job_that_came_furthest_is_the_reason);
    tcase_add_loop_test(tc, request_is_set_up, 0, ARRAY_LEN(request_spec));
    tcase_add_test(tc, sent_job_is_accounted_for);
    tcase_add_test(tc, all_processors_are_filled);
    tcase_add_test(tc, queue_counts_for_the_deadline);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    SRunner *runner = srunner_create(rules_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
