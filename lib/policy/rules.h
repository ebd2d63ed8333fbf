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
#include "sendable.h"

/* What a host has left to offer in this RPC; shrinks with each job sent. */
struct offer_host {
    double usable_ram;       /* bytes */
    double disk_left;        /* bytes */
    double available_frac;   /* of wall time, 0.1 … 1 */
    double estimated_delay;  /* s until a CPU is free (client's, plus ours) */
    double n_bwdown;         /* bytes/s, 0 unknown */
    int ncpus;               /* usable processors */
    int jobs_in_reply;       /* results in the reply so far */
    int max_jobs;            /* limit on them */
    double seconds_left;     /* processor-seconds still asked for */
    double instances_left;   /* idle processors still asked for */
    bool ignore_delay_bound; /* config */
};

/* One job, the version chosen for it, and the host. */
struct offer {
    const struct sendable *job;
    const struct offer_host *host;
    const struct app *app;             /* NULL: unknown or deprecated */
    const struct app_version *version; /* NULL: none fits the platform */
    bool version_too_old; /* versions exist, all below app.min_version */
    bool client_too_old;  /* versions exist, all need a newer client */
    double avg_ncpus;     /* of the version on this host */
    double flops;         /* projected FLOPS of the version on this host */
    bool user_has_result; /* another result of the workunit is this user's */
    bool host_has_result; /* … is on this host */
    bool in_this_reply;   /* … is in this reply */
    bool one_result_per_user_per_wu; /* config */
    bool one_result_per_host_per_wu; /* config */
};

enum refusal_kind {
    REFUSAL_STOP, /* the host has enough: no further slot need be looked at */
    REFUSAL_PLATFORM, /* host kinds that cannot: counts for COULDNT_SEND */
    REFUSAL_RESOURCE, /* memory, disk, deadline: counts for COULDNT_SEND */
    REFUSAL_OTHER,    /* this user, this moment: never counts */
};

struct dispatch_rule {
    const char *name;
    enum refusal_kind kind;
    bool (*allows)(const struct offer *);
    const char *message; /* for the volunteer; NULL: says nothing */
};

extern const struct dispatch_rule dispatch_rules[];
extern const size_t n_dispatch_rules;

/* The rule that refuses, or NULL: send it. */
const struct dispatch_rule *dispatch_refusal(const struct offer *);

/* The one true reason when nothing was sent: of rules with counts[i] refusals
 * (index into dispatch_rules) the binding one - the rule that the job which
 * came furthest down the table failed at; NULL if all counts are 0. */
const struct dispatch_rule *dispatch_reason(const unsigned *counts);

/* What a request asks for. */
struct work_request {
    bool
        per_resource; /* it names each resource (cpu_req_secs); else old form */
    double work_req_seconds; /* old form: keep all processors busy so long, s */
    double cpu_req_secs;     /* processor-seconds */
    double cpu_req_instances; /* idle processors */
};

/* Set seconds_left and instances_left from the request; ncpus must be set.
 * Requests are clamped to 0 … 28 days, instances to 0 … ncpus; in the old form
 * the seconds are for each of the processors (dispatch §6). */
void offer_host_set_request(struct offer_host *, const struct work_request *);

/* Account for a job that is sent: one more in the reply; less to ask for, less
 * disk, a longer wait for the next job (§8.5, §8.7).  `host` may be o->host. */
void offer_host_take(struct offer_host *host, const struct offer *o);

#endif
