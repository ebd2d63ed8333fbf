/* test_rules_text.c - what a rule says: to the volunteer, and to the operator
 * who asks for its numbers. dispatch §15. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "rules_scene.h"

/* ---- for the volunteer --------------------------------------------------- */

START_TEST(messages_can_be_read)
{
    for (size_t i = 0; i < n_dispatch_rules; i++) {
        const char *message = dispatch_rules[i].message;

        if (message == NULL)
            continue;
        ck_assert_uint_gt(strlen(message), 20);
        ck_assert_uint_le(strlen(message), 240);
        ck_assert_int_eq(message[strlen(message) - 1], '.');
        /* they go into XML and into logs: plain text in one line */
        ck_assert_ptr_null(strpbrk(message, "<>&\n%"));
    }
}
END_TEST

/* What stands for names and numbers in them: MB and GB are powers of two. */
static const struct {
    const char *rule;
    double needs; /* memory, disk, bandwidth or s */
    const char *want;
} told[] = {
    {"memory",      953 * 1048576.0,
     "There are tasks, but they need more memory: Demo needs 953 MB, and BOINC "
     "may use 790 MB on this computer."                                                       },
    {"disk",        3 * 1073741824.0,
     "There are tasks, but they need more disk space: Demo needs 3.0 GB, and "
     "BOINC may use 2.0 GB more on this computer."                                            },
    {"bandwidth",   2 * 1048576.0,
     "There are tasks, but they need a faster internet connection: 2.0 MB/s "
     "instead of 1.0 MB/s."                                                                   },
    {"deadline",    86400,
     "There are tasks, but this computer would not finish one before its "
     "deadline: it would take 2 d and may take 1 d."                                          },
    {"queue",       86400,
     "There are tasks, but behind the work that this computer has, one would "
     "not be finished before its deadline: after 2 d 1 h, not 1 d."                           },
    {"day-quota",   0,                "This computer has reached its limit of 20 tasks a day."},
    {"user-limit",  0,
     "This computer has reached the limit of 5 tasks that is set in your "
     "preferences for this project."                                                          },
    {"job-limit",   0,                "One contact brings no more than 10 tasks."             },
    {"platform",    0,
     "There are tasks, but Demo is not available for this kind of computer."                  },
    {"plan-class",  0,
     "There are tasks, but Demo does not run on this computer: needs 16 "
     "processors, 4 may be used."                                                             },
    {"work-filled", 0,                ""                                                      },
};

START_TEST(the_volunteer_is_told)
{
    const struct dispatch_rule *rule = &dispatch_rules[index_of(told[_i].rule)];
    char text[RULE_MESSAGE_SIZE];
    struct scene s;

    set_scene(&s);
    (void)snprintf(s.verdict.why, sizeof(s.verdict.why),
                   "needs 16 processors, 4 may be used");
    s.choice.verdict = &s.verdict;
    s.choice.quota = 7;
    s.host.usable_ram = 790 * 1048576.0;
    s.host.disk_left = 2 * 1073741824.0;
    s.host.n_bwdown = 1048576;
    s.host.estimated_delay[PROC_CPU] = 3600;
    s.job.rsc_memory_bound = s.job.rsc_disk_bound = s.job.rsc_bandwidth_bound =
        told[_i].needs;
    s.job.delay_bound = 86400;
    s.job.rsc_fpops_est = told[_i].needs * 1e9; /* half of the time */
    dispatch_message(rule, &s.offer, text);
    ck_assert_str_eq(text, told[_i].want);
}
END_TEST

START_TEST(a_name_without_end_does_not_burst_the_message)
{
    char text[RULE_MESSAGE_SIZE];
    struct scene s;

    set_scene(&s);
    memset(s.verdict.why, 'y', sizeof(s.verdict.why) - 1);
    memset(s.app.user_friendly_name, 'n', NAME_SIZE - 1);
    s.choice.verdict = &s.verdict;
    for (size_t i = 0; i < n_dispatch_rules; i++) {
        dispatch_message(&dispatch_rules[i], &s.offer, text);
        ck_assert_uint_lt(strlen(text), sizeof(text));
    }
    s.offer.app = NULL;
    s.offer.choice = NULL;
    dispatch_message(&dispatch_rules[index_of("plan-class")], &s.offer, text);
    ck_assert_str_eq(text,
                     "There are tasks, but the application does not run on "
                     "this computer: no reason is given.");
}
END_TEST

/* ---- for the operator: the numbers behind a verdict ---------------------- */

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

static bool
never(const struct offer *o)
{
    (void)o;
    return false;
}

static bool
always(const struct offer *o)
{
    (void)o;
    return true;
}

/* needs more than there is, or there is nothing: a limit that is not set */
START_TEST(numbers_of_no_limit_are_not_written)
{
    static const struct dispatch_rule row = {
        .unit = UNIT_COUNT, .allows = always, .numbers = half_of_it};
    char text[RULE_NUMBERS_SIZE];
    struct scene s;

    set_scene(&s);
    s.job.rsc_memory_bound = 3;
    dispatch_numbers(&row, &s.offer, text);
    ck_assert_str_eq(text, "");
    s.job.rsc_memory_bound = 0;
    dispatch_numbers(&row, &s.offer, text);
    ck_assert_str_eq(text, "");
}
END_TEST

/* 3 GB = 3 x 2^30 bytes, and half of it. */
START_TEST(numbers_are_written_by_unit)
{
    static const struct {
        struct dispatch_rule row;
        double x;
        const char *want;
    } spec[] = {
        {{.unit = UNIT_NONE},                                          1, ""                            },
        {{.unit = UNIT_NONE, .detail = silent},                        1, ""                            },
        {{.unit = UNIT_NONE, .detail = in_brackets},                   1, "(10 left)"                   },
        {{.unit = UNIT_COUNT},                                         1, ""                            },
        {{.unit = UNIT_COUNT, .allows = never, .numbers = half_of_it},
         3,                                                               "needs 3, has 1.5"            },
        {{.unit = UNIT_BYTES, .allows = never, .numbers = half_of_it},
         3 * 1073741824.0,
         "needs 3.0 GB, has 1.5 GB"                                                                     },
        {{.unit = UNIT_BYTES_PER_SECOND,
          .allows = never,
          .numbers = half_of_it},
         2048,                                                            "needs 2.0 KB/s, has 1.0 KB/s"},
        {{.unit = UNIT_SECONDS,
          .allows = never,
          .numbers = half_of_it,
          .detail = silent},
         7200,                                                            "needs 2 h, has 1 h"          },
        {{.unit = UNIT_SECONDS,
          .allows = never,
          .numbers = half_of_it,
          .detail = in_brackets},
         7200,                                                            "needs 2 h, has 1 h (10 left)"},
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
    char text[RULE_NUMBERS_SIZE];
    struct scene s;

    set_scene(&s);
    s.host.m_nbytes = 1.5 * 1073741824;
    s.host.usable_ram = s.host.m_nbytes / 2;
    ck_assert_str_eq(detail("memory", &s), "= 1.5 GB x 50 %");
    s.job.rsc_memory_bound = 1e9;
    dispatch_numbers(&dispatch_rules[index_of("memory")], &s.offer, text);
    ck_assert_str_eq(text, "needs 954 MB, has 768 MB = 1.5 GB x 50 %");
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
                     "= 3.6e+12 FLOP / (1e+09 FLOPS x 50 % of the time)");
    ck_assert_str_eq(detail("queue", &s), "(waits 16 min 40 s, runs 2 h)");
    s.choice.index = -1;
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
    s.offer.choice = NULL;
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

int
main(void)
{
    Suite *s = suite_create("rules_text");
    TCase *tc = tcase_create("text");
    SRunner *runner = srunner_create(s);
    int failed;

    tcase_add_test(tc, messages_can_be_read);
    tcase_add_loop_test(tc, the_volunteer_is_told, 0, ARRAY_LEN(told));
    tcase_add_test(tc, a_name_without_end_does_not_burst_the_message);
    tcase_add_test(tc, numbers_are_written_by_unit);
    tcase_add_test(tc, numbers_of_no_limit_are_not_written);
    tcase_add_test(tc, memory_says_how_it_was_reckoned);
    tcase_add_test(tc, deadline_says_what_adds_up);
    tcase_add_test(tc, every_rule_takes_an_offer_without_app_and_version);
    tcase_add_test(tc, numbers_of_absurd_sizes_fit);
    suite_add_tcase(s, tc);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
