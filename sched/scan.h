/* scan.h - the order in which one request looks at the slots of the job array,
 * and why it turned jobs down. */
#ifndef QUORATE_SCAN_H
#define QUORATE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules.h"

struct rpc;
struct job_slot;

struct scan {
    struct scan_place {
        struct job_slot *slot;
        int32_t priority;
        uint32_t rank; /* among equals */
    } * place;         /* READY slots, the most urgent first */
    size_t n, next;
    unsigned *refused; /* for each dispatch rule */
    unsigned busy;     /* jobs whose workunit another program had locked */
    bool stopped;      /* the host has enough */

    /* Workunits that the user (or host) has a result of, as far as asked. */
    bool looks_ahead;
    size_t asked; /* places before this one */
    int64_t *taken;
    size_t n_taken;
};

/* Note the READY slots: by priority, among equals from a random one on, so that
 * schedulers do not all want the same slot. */
void scan_begin(struct scan *, struct rpc *);
void scan_end(struct scan *);

/* Once the database has refused a job because the user has one of its workunit,
 * more such jobs are likely: ask for the next places in one statement. */
int scan_look_ahead(struct scan *, struct rpc *);
bool scan_is_taken(const struct scan *, int64_t wu_id);

void scan_count(struct scan *, const struct dispatch_rule *);

#endif
