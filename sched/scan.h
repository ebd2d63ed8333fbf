/* scan.h - one request's look at the job array: which jobs the rules allow, in
 * which order, and why the others were turned down. */
#ifndef QUORATE_SCAN_H
#define QUORATE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules.h"
#include "version.h"

struct rpc;
struct job_slot;

struct scan_reason { /* what one rule has refused */
    unsigned count;
    double least; /* the smallest need among them, beside which … */
    char *text;   /* … this is what the volunteer is told */
};

struct scan_memo;

struct scan {
    struct scan_place {
        double score;
        uint32_t rank; /* of its slot: behind the first that is looked at */
    } * place;         /* what the rules allow, the best first */
    size_t n, next, room;
    size_t start; /* the first slot that is looked at: a random one */
    size_t ready; /* slots with a job, as seen at first */

    struct scan_memo *memo; /* by kind of job: what was found in this survey */
    uint32_t survey;        /* its number */
    uint64_t newest;        /* stamp, as it began */
    bool memo_off;          /* each job is judged by itself */
    bool partial; /* some job of a kind was not judged like the others */
    struct scan_reason *reason; /* for each dispatch rule */
    unsigned busy; /* jobs whose workunit another program had locked */
    bool stopped;  /* the host has enough */
    bool idle_apps_only;

    struct scan_sent { /* what is in the reply so far */
        int64_t wu_id, version_id;
    } * sent;
    size_t n_sent;

    /* Workunits that the user (or host) has a result of, as far as asked. */
    bool looks_ahead;
    size_t asked; /* places before this one */
    int64_t *taken;
    size_t n_taken;
};

/* Begin at a random slot, so that schedulers do not all want the same job. */
void scan_begin(struct scan *, struct rpc *);
void scan_end(struct scan *);

/* Look at all slots without claiming one: judge each job, put those that the
 * rules allow in order, count the refusals of the others. */
void scan_survey(struct scan *, struct rpc *);

/* May the job be sent?  NULL: yes; nothing is taken yet. */
const struct dispatch_rule *scan_judge(const struct scan *, struct rpc *,
                                       const struct sendable *,
                                       struct version_choice *ret_choice,
                                       struct offer *ret_offer);

/* Note that a rule has refused an offer; slot may be NULL. */
void scan_refuse(struct scan *, struct rpc *, const struct dispatch_rule *,
                 const struct offer *, struct job_slot *slot);

/* A result of this workunit and version goes into the reply; forget all. */
void scan_note_sent(struct scan *, int64_t wu_id, int64_t version_id);
void scan_forget_sent(struct scan *);

/* Once the database has refused a job because the user has one of its workunit,
 * more such jobs are likely: ask for the next places in one statement. */
int scan_look_ahead(struct scan *, struct rpc *);

/* Such a workunit, found by the way. */
void scan_note_taken(struct scan *, int64_t wu_id);

/* The slot of a place, whatever is in it now. */
struct job_slot *scan_slot(const struct scan *, const struct rpc *,
                           const struct scan_place *);

/* The binding rule (dispatch_reason()), and what the volunteer is told: NULL if
 * it says nothing, or if there is none. */
const struct dispatch_rule *scan_reason(const struct scan *,
                                        const char **ret_text);

#endif
