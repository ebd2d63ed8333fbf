/* rules.h - may this job go to this host?  A table of rules: name, predicate,
 * message; the first refusal wins.  The row's name is what we log and count,
 * its message what the volunteer reads.  Judging changes nothing.
 *
 * To add a rule: a function above the table in rules.c, a row in it, a row in
 * test/unit/test_rules.c. */
#ifndef QUORATE_RULES_H
#define QUORATE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app.h"
#include "names.h"
#include "sendable.h"

struct edf_queue;
struct version_choice;

/* How many jobs more may be in progress, by a limit of the project or of one of
 * its applications (§8.4).  OFFER_NO_LIMIT: none is set. */
#define OFFER_NO_LIMIT 2147483647

struct job_room {
    int total;
    int type[N_PROC_TYPES];
};

/* What a host has left to offer in this RPC; shrinks with each job sent. */
struct offer_host {
    double usable_ram;         /* bytes */
    double disk_left;          /* bytes */
    double available_frac;     /* of wall time, CPU jobs run, 0.1 … 1 */
    double gpu_available_frac; /* … GPU jobs */
    double n_bwdown;           /* bytes/s, 0 unknown */

    /* By type of processor.  In the old form of request (any_type) the seconds
     * of PROC_CPU are for jobs of every type. */
    int count[N_PROC_TYPES];             /* usable processors */
    double seconds_left[N_PROC_TYPES];   /* processor-seconds still asked for */
    double instances_left[N_PROC_TYPES]; /* idle processors still asked for */
    double estimated_delay[N_PROC_TYPES]; /* s until one is free (client's, plus
                                             ours) */
    bool any_type;
    int only_type; /* 0, or 1 + the type that is looked for just now */

    int jobs_in_reply;       /* results in the reply so far */
    int max_jobs;            /* limit on them */
    int day_quota;           /* jobs a day (daily_result_quota_per_host) */
    int day_left;            /* … of them still free today */
    int user_limit;          /* jobs in progress by the user's preference */
    int user_room;           /* … jobs more */
    struct job_room room;    /* jobs more by the project's limits */
    int hr_class[4];         /* class by type of homogeneous redundancy; 0: the
                                host is of no known class */
    bool has_credit;         /* it has done something for the project */
    bool only_own_jobs;      /* the user takes targeted jobs alone */
    bool ignore_delay_bound; /* config */
    bool idle_host_skips_deadline;       /* config */
    double reliable_reduced_delay_bound; /* config; 0 off */
    struct edf_queue *queue; /* simulation of the host's jobs; NULL off */

    /* what usable_ram and disk_left were made of; only for dispatch_numbers()
     */
    double m_nbytes; /* bytes */
    double d_free;   /* bytes */
};

enum app_wish { /* what the user's preferences say of an application */
                APP_SELECTED,
                APP_NOT_PREFERRED, /* only if there is nothing of the selected
                                      ones */
                APP_EXCLUDED,
};

/* One job, the version chosen for it, and the host. */
struct offer {
    const struct sendable *job;
    const struct offer_host *host;
    const struct app *app;               /* NULL: unknown or deprecated */
    const struct app_version *version;   /* NULL: none, or the client's own */
    const struct version_choice *choice; /* or why there is no version */
    struct job_room *app_room; /* jobs more of the app; NULL: no limit */
    enum proc_type type;       /* the version's processor */
    double avg_ncpus;          /* of the version on this host */
    double gpu_usage;          /* GPUs of `type` */
    double mem_usage;          /* bytes; 0: the workunit's rsc_memory_bound */
    double flops;              /* projected FLOPS of the version on this host */

    /* what the user wants */
    enum app_wish wish;
    bool takes_not_preferred; /* nothing of the selected apps was found */
    bool keyword_refused;     /* a keyword of the job that the user excludes */

    /* homogeneous redundancy, homogeneous app version */
    int hr_type;        /* of the app (or project); 0 none */
    bool other_class;   /* the workunit has, meanwhile, another class */
    bool other_version; /* … another version */

    /* other results of the workunit */
    bool user_has_result; /* another result of the workunit is this user's */
    bool host_has_result; /* … is on this host */
    bool in_this_reply;   /* … is in this reply */
    bool one_result_per_user_per_wu; /* config */
    bool one_result_per_host_per_wu; /* config */

    bool host_has_app_job; /* non-CPU-intensive: one job of the app a host */
    bool needs_fast_host;  /* batch_accel: for hosts of low turnaround, and this
                              is none */
    bool targeted;         /* meant for this host, user or team */
    bool resend;           /* the host had it already, and lost it; delay_bound
                              is what is left to it */
};

enum refusal_kind {
    REFUSAL_STOP, /* the host has enough: no further slot need be looked at */
    REFUSAL_PLATFORM, /* host kinds that cannot: counts for COULDNT_SEND */
    REFUSAL_RESOURCE, /* memory, disk, deadline: counts for COULDNT_SEND */
    REFUSAL_OTHER,    /* this user, this moment: never counts */
};

enum rule_unit {            /* what a rule compares */
                 UNIT_NONE, /* yes or no: no numbers */
                 UNIT_BYTES,
                 UNIT_BYTES_PER_SECOND,
                 UNIT_SECONDS,
                 UNIT_COUNT,
};

#define RULE_NUMBERS_SIZE 240

/* All three functions are also asked about offers that a row above refuses (to
 * explain every row), so they take an offer without app, version or choice. */
struct dispatch_rule {
    const char *name;
    enum refusal_kind kind;
    bool (*allows)(const struct offer *);
    /* For the volunteer, one sentence; {app}, {needs}, {has} and {why} stand
     * for what this offer has there.  NULL: says nothing. */
    const char *message;
    enum rule_unit unit; /* of the numbers */
    void (*numbers)(const struct offer *, double *ret_needs, double *ret_has);
    /* What the operator wants to know besides: how a number was reckoned ("=
     * 1.5 GB x 50 %"), a name.  One line; NULL: nothing. */
    void (*detail)(const struct offer *, char *ret, size_t size);
};

/* Does a refusal say what the computer is?  Then what it counts as (§9.5, enum
 * refused_for); 0: it never counts. */
int dispatch_counts_as(const struct dispatch_rule *, const struct offer *);

/* Will the refusal be lifted when the host's day ends? */
bool dispatch_waits_for_day(const struct dispatch_rule *);
/* Did the job's workunit go to another class of hosts, or another version? */
bool dispatch_is_conflict(const struct dispatch_rule *);

extern const struct dispatch_rule dispatch_rules[];
extern const size_t n_dispatch_rules;

/* What the volunteer is told: the rule's message with the offer's names and
 * numbers in it.  "" if the rule says nothing. */
#define RULE_MESSAGE_SIZE 400
void dispatch_message(const struct dispatch_rule *, const struct offer *,
                      char ret[RULE_MESSAGE_SIZE]);

/* The rule that refuses, or NULL: send it. */
const struct dispatch_rule *dispatch_refusal(const struct offer *);

/* The numbers behind the verdict of this rule, for the operator: "needs 953 MB,
 * has 768 MB = 1.5 GB x 50 %"; "" if there are none. */
void dispatch_numbers(const struct dispatch_rule *, const struct offer *,
                      char ret[RULE_NUMBERS_SIZE]);

/* The one true reason when nothing was sent: of rules with counts[i] refusals
 * (index into dispatch_rules) the binding one - the rule that the job which
 * came furthest down the table failed at; NULL if all counts are 0. */
const struct dispatch_rule *dispatch_reason(const unsigned *counts);

/* What a request asks for. */
struct work_request {
    bool per_resource;       /* it names a resource; else the old form */
    double work_req_seconds; /* old form: keep all processors busy so long, s */
    double req_secs[N_PROC_TYPES];      /* processor-seconds */
    double req_instances[N_PROC_TYPES]; /* idle processors */
};

/* Set seconds_left, instances_left and any_type from the request; the counts
 * must be set.  Requests are clamped to 0 … 28 days, instances to 0 … count; in
 * the old form the seconds are for each of the CPUs (dispatch §6). */
void offer_host_set_request(struct offer_host *, const struct work_request *);

/* Has a job for this type of processor been asked for (and none of the kinds of
 * limit is reached for it)? */
bool offer_host_wants(const struct offer_host *, enum proc_type);
/* … for any type? */
bool offer_host_wants_any(const struct offer_host *);

/* May no more jobs of an app (its room; NULL: no limit) for this type of
 * processor be in progress? */
bool offer_host_at_limit(const struct offer_host *, const struct job_room *app,
                         enum proc_type);

/* How long the job would run, s of wall time. */
double offer_duration(const struct offer *);

/* The delay bound to be told to the host, s: the job's own, or a shorter one
 * for a reliable host that can keep it (§8.5). */
int64_t offer_delay_bound(const struct offer *);

/* Account for a job that is sent: one more in the reply; less to ask for, less
 * disk, less room within the limits (also o->app_room), a longer wait for the
 * next job (§8.5, §8.7).  `host` may be o->host. */
void offer_host_take(struct offer_host *host, const struct offer *o);

#endif
