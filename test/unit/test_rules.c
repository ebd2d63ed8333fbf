/* test_rules.c - may this job go to this host? dispatch §6, §8.1, §8.5, §8.7.
 *
 * rules_scene.h has an offer that every rule allows.  Each row changes what one
 * rule looks at: just below its limit, exactly at it, just above.  To add a
 * rule, add its rows here first and watch them fail. */
#include <math.h>
#include <stdlib.h>

#include "refused.h"
#include "rules_scene.h"

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
    DAY_LEFT,
    USER_ROOM,
    ROOM_TOTAL,
    ROOM_CPU,
    APP_ROOM_TOTAL,
    APP_ROOM_CPU,
    SECONDS_LEFT,
    INSTANCES_LEFT,
    MEMORY_BOUND,
    MEM_USAGE,
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
    case DAY_LEFT:
        s->host.day_left = (int)x;
        break;
    case USER_ROOM:
        s->host.user_room = (int)x;
        break;
    case ROOM_TOTAL:
        s->host.room.total = (int)x;
        break;
    case ROOM_CPU:
        s->host.room.type[PROC_CPU] = (int)x;
        break;
    case APP_ROOM_TOTAL:
        s->app_room.total = (int)x;
        break;
    case APP_ROOM_CPU:
        s->app_room.type[PROC_CPU] = (int)x;
        break;
    case MEM_USAGE: /* the plan class's word counts, not the workunit's */
        s->job.rsc_memory_bound = 9e18;
        s->offer.mem_usage = x;
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
        if (x > 4e12)
            s->host.estimated_delay[PROC_CPU] = 0;
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

    {DAY_LEFT,        2,             "sent"},
    {DAY_LEFT,        1,             "sent"},
    {DAY_LEFT,        0,             "day-quota"},
    {DAY_LEFT,        -1,            "day-quota"},
    {USER_ROOM,       1,             "sent"},
    {USER_ROOM,       0,             "user-limit"},
    {USER_ROOM,       -3,            "user-limit"},
    {ROOM_TOTAL,      1,             "sent"},
    {ROOM_TOTAL,      0,             "project-limit"},
    {ROOM_CPU,        1,             "sent"},
    {ROOM_CPU,        0,             "project-limit"},
    {APP_ROOM_TOTAL,  1,             "sent"},
    {APP_ROOM_TOTAL,  0,             "type-limit"},
    {APP_ROOM_CPU,    1,             "sent"},
    {APP_ROOM_CPU,    0,             "type-limit"},

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
    {MEM_USAGE,       500e6 - 1,     "sent"},
    {MEM_USAGE,       500e6,         "sent"},
    {MEM_USAGE,       500e6 + 1,     "memory"},
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
    {DELAY_BOUND,     8199,          "queue"},
    {DELAY_BOUND,     7200,          "queue"},
    {DELAY_BOUND,     7199,          "deadline"},
    {ESTIMATED_DELAY, 999,           "sent"},
    {ESTIMATED_DELAY, 1001,          "queue"},
    {FPOPS_EST,       3.5e12,        "sent"},
    {FPOPS_EST,       3.7e12,        "queue"},
    {FPOPS_EST,       4.1e12,        "sent"},       /* 8200 s, no wait */
    {FPOPS_EST,       4.11e12,       "deadline"},
    {FLOPS,           1.1e9,         "sent"},
    {FLOPS,           0.9e9,         "queue"},
    {FLOPS,           0.8e9,         "deadline"},
    {AVAILABLE_FRAC,  0.51,          "sent"},
    {AVAILABLE_FRAC,  0.49,          "queue"},
    {AVAILABLE_FRAC,  0.4,           "deadline"},
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
    s->app.deprecated = true;
}

static void
no_choice(struct scene *s)
{
    s->offer.choice = NULL;
    s->offer.version = NULL;
}

static void
own_version(struct scene *s)
{
    s->offer.version = NULL; /* the choice is the client's own */
    s->choice.version_id = -2;
    s->choice.anonymous = true;
}

static void
only_own_jobs(struct scene *s)
{
    s->host.only_own_jobs = true;
}

static void
own_job(struct scene *s)
{
    s->host.only_own_jobs = true;
    s->offer.targeted = true;
}

static void
lost_job_over_quota(struct scene *s)
{
    s->offer.resend = true;
    s->host.day_left = s->host.user_room = s->host.room.total = 0;
    s->app_room.total = 0;
    s->host.seconds_left[PROC_CPU] = 0;
}

static void
gpu_has_room(struct scene *s)
{
    s->host.room.type[PROC_CPU] = 0;
    s->host.seconds_left[PROC_NVIDIA] = 1;
}

static void
gpu_job(struct scene *s)
{
    gpu_has_room(s);
    s->offer.type = PROC_NVIDIA;
    s->offer.gpu_usage = 1;
    s->job.delay_bound = 14400;
}

static void
gpu_job_not_asked(struct scene *s)
{
    s->offer.type = PROC_NVIDIA;
    s->offer.gpu_usage = 1;
}

static void
not_preferred(struct scene *s)
{
    s->offer.wish = APP_NOT_PREFERRED;
}

static void
not_preferred_but_nothing_else(struct scene *s)
{
    s->offer.wish = APP_NOT_PREFERRED;
    s->offer.takes_not_preferred = true;
}

static void
excluded_app(struct scene *s)
{
    s->offer.wish = APP_EXCLUDED;
    s->offer.takes_not_preferred = true;
}

static void
excluded_app_targeted(struct scene *s)
{
    s->offer.wish = APP_EXCLUDED;
    s->offer.targeted = true;
}

static void
idle_app_has_job(struct scene *s)
{
    s->app.non_cpu_intensive = true;
    s->offer.host_has_app_job = true;
}

static void
idle_app_not_asked(struct scene *s)
{
    s->app.non_cpu_intensive = true;
    s->host.seconds_left[PROC_CPU] = 0;
}

static void
idle_app_late(struct scene *s)
{
    s->app.non_cpu_intensive = true;
    s->job.delay_bound = 1;
}

static void
hr_host_unknown(struct scene *s)
{
    s->offer.hr_type = 1;
    s->host.hr_class[1] = 0;
}

static void
hr_uncommitted(struct scene *s)
{
    s->offer.hr_type = 1;
}

static void
hr_same_class(struct scene *s)
{
    s->offer.hr_type = 2;
    s->job.hr_class = 258;
}

static void
hr_class_of_another_type(struct scene *s)
{
    s->offer.hr_type = 2;
    s->job.hr_class = 267;
}

static void
hr_class_one_off(struct scene *s)
{
    s->offer.hr_type = 2;
    s->job.hr_class = 259;
}

static void
hr_table_class(struct scene *s)
{
    s->offer.hr_type = 3;
    s->job.hr_class = 1001;
}

static void
hr_does_not_count(struct scene *s)
{
    s->job.hr_class = 259;
    s->offer.other_class = true;
}

static void
hr_lost_the_race(struct scene *s)
{
    s->offer.hr_type = 2;
    s->offer.other_class = true;
}

static void
same_version(struct scene *s)
{
    s->app.homogeneous_app_version = true;
    s->job.app_version_id = 5;
}

static void
another_version(struct scene *s)
{
    s->app.homogeneous_app_version = true;
    s->job.app_version_id = 6;
}

static void
version_does_not_count(struct scene *s)
{
    s->job.app_version_id = 6;
}

static void
version_lost_the_race(struct scene *s)
{
    s->app.homogeneous_app_version = true;
    s->offer.other_version = true;
}

static void
class_takes_other_jobs(struct scene *s)
{
    s->choice.index = -1;
    s->choice.refusal = VERSION_PLAN_CLASS;
}

static void
keyword_refused(struct scene *s)
{
    s->offer.keyword_refused = true;
}

static void
keyword_refused_targeted(struct scene *s)
{
    s->offer.keyword_refused = true;
    s->offer.targeted = true;
}

static void
hard_app(struct scene *s)
{
    s->app.weight = -1;
    s->job.delay_bound = 10360; /* 1000 + 7200 × 1.3 */
}

static void
hard_app_a_second_late(struct scene *s)
{
    s->app.weight = -1;
    s->job.delay_bound = 10359;
}

static void
hard_app_new_host(struct scene *s)
{
    hard_app(s);
    s->host.has_credit = false;
}

static void
plain_app_new_host(struct scene *s)
{
    s->host.has_credit = false;
}

static void
slow_host(struct scene *s)
{
    s->offer.needs_fast_host = true;
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
late_on_an_idle_host_allowed(struct scene *s)
{
    late_on_an_idle_host(s);
    s->host.idle_host_skips_deadline = true;
}

static void
late_on_a_busy_host_allowed(struct scene *s)
{
    late_on_an_idle_host_allowed(s);
    s->host.estimated_delay[PROC_CPU] = 1;
}

static void
late_hard_job_on_an_idle_host(struct scene *s)
{
    late_on_an_idle_host_allowed(s);
    s->app.weight = -1;
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
two_reasons(struct scene *s)
{
    s->job.rsc_memory_bound = 1e18;
    s->job.rsc_disk_bound = 1e18;
}

/* clang-format off */
static const struct {
    const char *promise;
    void (*change)(struct scene *);
    const char *want;
} yes_no_spec[] = {
    {"the app is unknown",                          no_app,                         "app"},
    {"the app is deprecated",                       deprecated_app,                 "app"},
    {"no version is known",                         no_choice,                      "platform"},
    {"the client's own version",                    own_version,                    "sent"},
    {"the user wants targeted jobs only",           only_own_jobs,                  "own-jobs"},
    {"… and this is one",                         own_job,                        "sent"},
    {"what was lost counts for no limit again",     lost_job_over_quota,            "sent"},
    {"the CPU is at its limit, the GPU is not",     gpu_has_room,                   "type-limit"},
    {"… and the job is for the GPU",              gpu_job,                        "sent"},
    {"a GPU job, but only the CPU asks",            gpu_job_not_asked,              "type-filled"},
    {"an app that was not selected",                not_preferred,                  "app-choice"},
    {"… if there is no other",                    not_preferred_but_nothing_else, "sent"},
    {"an app that the user excludes",               excluded_app,                   "app-choice"},
    {"… whose job is meant for him",              excluded_app_targeted,          "sent"},
    {"one job of an idle app is enough",            idle_app_has_job,               "app-has-job"},
    {"an idle app needs no request",                idle_app_not_asked,             "sent"},
    {"an idle app has no deadline",                 idle_app_late,                  "sent"},
    {"a host of no class",                          hr_host_unknown,                "hr-unknown"},
    {"a workunit of no class yet",                  hr_uncommitted,                 "sent"},
    {"workunit and host of one class",              hr_same_class,                  "sent"},
    {"its class by another type",                   hr_class_of_another_type,       "hr-class"},
    {"the class next to it",                        hr_class_one_off,               "hr-class"},
    {"a class of the project's own",                hr_table_class,                 "sent"},
    {"classes do not count for this app",           hr_does_not_count,              "sent"},
    {"another class was faster",                    hr_lost_the_race,               "hr-class"},
    {"the workunit's version",                      same_version,                   "sent"},
    {"another than the workunit's version",         another_version,                "same-version"},
    {"… versions do not count for this app",      version_does_not_count,         "sent"},
    {"another version was faster",                  version_lost_the_race,          "same-version"},
    {"the plan class takes other workunits",        class_takes_other_jobs,         "class-job"},
    {"a keyword that the user excludes",            keyword_refused,                "keywords"},
    {"… of a job meant for him",                  keyword_refused_targeted,       "sent"},
    {"a hard job, just in time",                    hard_app,                       "sent"},
    {"… a second late",                           hard_app_a_second_late,         "queue"},
    {"… on a host without credit",                hard_app_new_host,              "hard-app"},
    {"another job on such a host",                  plain_app_new_host,             "sent"},
    {"a job in a hurry, a slow host",               slow_host,                      "accelerated"},
    {"late, but deadlines are ignored",             late_but_ignored,               "sent"},
    {"late is late on an idle host too",            late_on_an_idle_host,           "deadline"},
    {"… unless the project wishes otherwise",     late_on_an_idle_host_allowed,   "sent"},
    {"… and only if it is idle",                  late_on_a_busy_host_allowed,    "deadline"},
    {"… and never a hard job",                    late_hard_job_on_an_idle_host,  "deadline"},
    {"a twin in this reply",                        twin_in_reply,                  "in-reply"},
    {"… one per host is enough to stop",          twin_in_reply_one_per_host,     "in-reply"},
    {"… if nobody minds",                         twin_in_reply_allowed,          "sent"},
    {"the user has one",                            user_has_one,                   "user-has-result"},
    {"… if nobody minds",                         user_has_one_allowed,           "sent"},
    {"the host has one",                            host_has_one,                   "host-has-result"},
    {"… if nobody minds",                         host_has_one_allowed,           "sent"},
    {"the first refusal wins",                      two_reasons,                    "memory"},
};
/* clang-format on */

START_TEST(condition_is_kept)
{
    struct scene s;

    set_scene(&s);
    yes_no_spec[_i].change(&s);
    ck_assert_msg(strcmp(refusal(&s), yes_no_spec[_i].want) == 0,
                  "broken: %s (%s)", yes_no_spec[_i].promise, refusal(&s));
}
END_TEST

/* ---- why there is no version --------------------------------------------- */

static const struct {
    enum version_refusal why;
    const char *want;
} no_version_spec[] = {
    {VERSION_OK,             "platform"      }, /* nobody said why */
    {VERSION_NO_PLATFORM,    "platform"      },
    {VERSION_NOT_64_BIT,     "64-bit"        },
    {VERSION_TOO_OLD,        "min-version"   },
    {VERSION_CLIENT_TOO_OLD, "client-version"},
    {VERSION_CLIENT_TOO_NEW, "client-too-new"},
    {VERSION_PLAN_CLASS,     "plan-class"    },
    {VERSION_BETA,           "beta"          },
    {VERSION_EXCLUDED,       "excluded"      },
    {VERSION_UNRELIABLE,     "unreliable"    },
    {VERSION_QUOTA,          "quota"         },
    {VERSION_IN_PROGRESS,    "app-limit"     },
    {VERSION_NOT_ASKED,      "processor"     },
    {VERSION_ANONYMOUS,      "app-info"      },
    {VERSION_OWN_PROGRAM,    "own-program"   },
};

START_TEST(each_reason_has_its_rule)
{
    struct scene s;

    set_scene(&s);
    s.offer.version = NULL;
    s.choice.index = -1;
    s.choice.refusal = no_version_spec[_i].why;
    s.choice.verdict = &s.verdict;
    ck_assert_str_eq(refusal(&s), no_version_spec[_i].want);
}
END_TEST

/* The order of the reasons is that of the table: the last is the nearest. */
START_TEST(reasons_stand_in_the_order_of_nearness)
{
    for (size_t i = 2; i < ARRAY_LEN(no_version_spec); i++)
        ck_assert_uint_lt(index_of(no_version_spec[i - 1].want),
                          index_of(no_version_spec[i].want));
}
END_TEST

/* ---- the table itself ---------------------------------------------------- */

/* What counts for "could not be sent to any host" (dispatch §9.5): what a host
 * is, never what a user chose or the moment brought. */
static const struct {
    const char *name;
    enum refusal_kind kind;
    int counts_as;
} kind_spec[] = {
    {"job-limit",       REFUSAL_STOP,     0                  },
    {"own-jobs",        REFUSAL_STOP,     0                  },
    {"day-quota",       REFUSAL_STOP,     0                  },
    {"user-limit",      REFUSAL_STOP,     0                  },
    {"project-limit",   REFUSAL_STOP,     0                  },
    {"work-filled",     REFUSAL_STOP,     0                  },
    {"app",             REFUSAL_OTHER,    0                  },
    {"app-choice",      REFUSAL_OTHER,    0                  },
    {"app-has-job",     REFUSAL_OTHER,    0                  },
    {"platform",        REFUSAL_PLATFORM, REFUSED_NO_VERSION },
    {"64-bit",          REFUSAL_PLATFORM, REFUSED_NO_VERSION },
    {"min-version",     REFUSAL_PLATFORM, REFUSED_VERSION_OLD},
    {"client-version",  REFUSAL_PLATFORM, REFUSED_CLIENT     },
    {"client-too-new",  REFUSAL_PLATFORM, REFUSED_CLIENT     },
    {"plan-class",      REFUSAL_PLATFORM, REFUSED_PLAN_CLASS },
    {"class-job",       REFUSAL_OTHER,    0                  },
    {"beta",            REFUSAL_OTHER,    0                  },
    {"excluded",        REFUSAL_OTHER,    0                  },
    {"unreliable",      REFUSAL_OTHER,    0                  },
    {"quota",           REFUSAL_OTHER,    0                  },
    {"app-limit",       REFUSAL_OTHER,    0                  },
    {"processor",       REFUSAL_OTHER,    0                  },
    {"app-info",        REFUSAL_OTHER,    0                  },
    {"own-program",     REFUSAL_OTHER,    0                  },
    {"type-filled",     REFUSAL_OTHER,    0                  },
    {"type-limit",      REFUSAL_OTHER,    0                  },
    {"hr-unknown",      REFUSAL_PLATFORM, REFUSED_HR_UNKNOWN },
    {"hr-class",        REFUSAL_OTHER,    0                  },
    {"same-version",    REFUSAL_OTHER,    0                  },
    {"in-reply",        REFUSAL_OTHER,    0                  },
    {"keywords",        REFUSAL_OTHER,    0                  },
    {"hard-app",        REFUSAL_OTHER,    0                  },
    {"accelerated",     REFUSAL_OTHER,    0                  },
    {"memory",          REFUSAL_RESOURCE, REFUSED_MEMORY     },
    {"disk",            REFUSAL_RESOURCE, REFUSED_DISK       },
    {"bandwidth",       REFUSAL_RESOURCE, REFUSED_BANDWIDTH  },
    {"deadline",        REFUSAL_RESOURCE, REFUSED_DEADLINE   },
    {"queue",           REFUSAL_OTHER,    0                  },
    {"workload",        REFUSAL_OTHER,    0                  },
    {"user-has-result", REFUSAL_OTHER,    0                  },
    {"host-has-result", REFUSAL_OTHER,    0                  },
};

START_TEST(rules_and_their_kinds)
{
    struct scene s;

    set_scene(&s);
    s.verdict.refusal = PLAN_CLASS_HOST;
    s.choice.verdict = &s.verdict;
    ck_assert_uint_eq(n_dispatch_rules, ARRAY_LEN(kind_spec));
    for (size_t i = 0; i < n_dispatch_rules; i++) {
        const struct dispatch_rule *rule = &dispatch_rules[i];

        ck_assert_str_eq(rule->name, kind_spec[i].name);
        ck_assert_int_eq(rule->kind, kind_spec[i].kind);
        ck_assert_int_eq(dispatch_counts_as(rule, &s.offer),
                         kind_spec[i].counts_as);
    }
}
END_TEST

/* A plan class may ask for a preference, be faulty, or draw lots. */
START_TEST(a_plan_class_counts_if_it_speaks_of_the_computer)
{
    static const struct {
        enum plan_class_refusal refusal;
        int want;
    } classes[] = {
        {PLAN_CLASS_UNKNOWN, 0                 },
        {PLAN_CLASS_CHANCE,  0                 },
        {PLAN_CLASS_USER,    0                 },
        {PLAN_CLASS_JOB,     0                 },
        {PLAN_CLASS_CLIENT,  REFUSED_PLAN_CLASS},
        {PLAN_CLASS_DRIVER,  REFUSED_PLAN_CLASS},
        {PLAN_CLASS_HOST,    REFUSED_PLAN_CLASS},
    };
    const struct dispatch_rule *rule = &dispatch_rules[index_of("plan-class")];
    struct scene s;

    set_scene(&s);
    ck_assert_int_eq(dispatch_counts_as(rule, &s.offer), 0);
    s.choice.verdict = &s.verdict;
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        s.verdict.refusal = classes[i].refusal;
        ck_assert_int_eq(dispatch_counts_as(rule, &s.offer), classes[i].want);
    }
}
END_TEST

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

int
main(void)
{
    Suite *s = suite_create("rules");
    TCase *tc = tcase_create("offer");
    SRunner *runner = srunner_create(s);
    int failed;

    tcase_add_test(tc, exactly_at_every_limit_is_sent);
    tcase_add_loop_test(tc, limit_is_kept, 0, ARRAY_LEN(number_spec));
    tcase_add_loop_test(tc, condition_is_kept, 0, ARRAY_LEN(yes_no_spec));
    tcase_add_loop_test(tc, each_reason_has_its_rule, 0,
                        ARRAY_LEN(no_version_spec));
    tcase_add_test(tc, reasons_stand_in_the_order_of_nearness);
    tcase_add_test(tc, rules_and_their_kinds);
    tcase_add_test(tc, a_plan_class_counts_if_it_speaks_of_the_computer);
    tcase_add_test(tc, the_job_that_came_furthest_is_the_reason);
    suite_add_tcase(s, tc);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
