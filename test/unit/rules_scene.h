/* rules_scene.h - an offer that every rule allows: each limit is met exactly.
 * The tests of rules change what one rule looks at. */
#ifndef QUORATE_RULES_SCENE_H
#define QUORATE_RULES_SCENE_H

#include <check.h>
#include <string.h>

#include "plan_class.h"
#include "rules.h"
#include "version.h"

#ifndef ARRAY_LEN
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#endif
#define DAY 86400.0

struct scene {
    struct app app;
    struct app_version version;
    struct version_choice choice;
    struct plan_class_verdict verdict; /* of the choice, if it is refused */
    struct sendable job;
    struct offer_host host;
    struct job_room app_room;
    struct offer offer;
};

/* 3.6e12 FLOP at 1e9 FLOPS, half of the time: 7200 s; 1000 s to wait first. */
static inline void
set_scene(struct scene *s)
{
    *s = (struct scene){
        .app = {.id = 3,                 .name = "demo", .user_friendly_name = "Demo"},
        .version = {.id = 5,                       .appid = 3                              },
        .choice = {.index = 0,                       .version_id = 5,.fpops_scale = 1},
        .job =
            {
                .result_id = 70,
                .wu_id = 7,
                .appid = 3,
                .delay_bound = 8200,
                .rsc_fpops_est = 3.6e12,
                .rsc_memory_bound = 500e6,
                .rsc_disk_bound = 200e6,
                .rsc_bandwidth_bound = 1e6,
                },
        .host =
            {
                .usable_ram = 500e6,
                .disk_left = 200e6,
                .available_frac = 0.5,
                .gpu_available_frac = 0.25,
                .n_bwdown = 1e6,
                .count = {4, 2},
                .seconds_left = {3600},
                .estimated_delay = {1000},
                .jobs_in_reply = 9,
                .max_jobs = 10,
                .day_quota = 20,
                .day_left = 1,
                .user_limit = 5,
                .user_room = 1,
                .room = {1, {1, 1, 1, 1, 1}},
                .hr_class = {0, 267, 258, 1001},
                .has_credit = true,
                },
        .app_room = {1, {1, 1, 1, 1, 1}              },
    };
    s->offer = (struct offer){
        .job = &s->job,
        .host = &s->host,
        .app = &s->app,
        .version = &s->version,
        .choice = &s->choice,
        .app_room = &s->app_room,
        .avg_ncpus = 1,
        .flops = 1e9,
        .one_result_per_user_per_wu = true,
        .one_result_per_host_per_wu = true,
    };
}

/* Nothing but the request and the deadline ends what this one gets. */
static inline void
lift_limits(struct scene *s)
{
    const struct job_room none = {
        OFFER_NO_LIMIT,
        {OFFER_NO_LIMIT, OFFER_NO_LIMIT, OFFER_NO_LIMIT, OFFER_NO_LIMIT,
          OFFER_NO_LIMIT},
    };

    s->host.jobs_in_reply = 0;
    s->host.max_jobs = 1000;
    s->host.day_left = OFFER_NO_LIMIT;
    s->host.user_room = OFFER_NO_LIMIT;
    s->host.room = s->app_room = none;
    s->host.disk_left = 1e15;
}

static inline const char *
refusal(const struct scene *s)
{
    const struct dispatch_rule *rule = dispatch_refusal(&s->offer);

    return rule == NULL ? "sent" : rule->name;
}

/* How many such jobs are sent until a rule refuses. */
static inline int
fill(struct scene *s)
{
    int sent = 0;

    while (sent < 1000 && dispatch_refusal(&s->offer) == NULL) {
        offer_host_take(&s->host, &s->offer);
        sent++;
    }
    return sent;
}

static inline size_t
index_of(const char *name)
{
    size_t i = 0;

    while (i < n_dispatch_rules && strcmp(dispatch_rules[i].name, name) != 0)
        i++;
    ck_assert_msg(i < n_dispatch_rules, "no rule %s", name);
    return i;
}

#endif
