/* choice.h - which version of an application a job would run on the host of
 * this request (dispatch §7): what version.h needs to know is gathered once for
 * the request, and choices are remembered.
 *
 * Random numbers are drawn once for each version, so the same question has the
 * same answer throughout a request. */
#ifndef QUORATE_CHOICE_H
#define QUORATE_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include "sendable.h"
#include "version.h"

struct rpc;
struct offer;

enum { CHOICE_MEMOS = 8 }; /* for each application */

struct choice_class { /* a plan class that some version names */
    const char *name;
    const struct plan_class_spec *spec;
    struct plan_class_spec scratch;
    struct plan_class_verdict verdict;
};

struct choice_memo {
    bool used;
    bool needs_64bit, reliable_only, anyhow;
    unsigned asked, at_limit; /* bits by kind of processor */
    int app_version_num;
    int64_t app_version_id;
    struct version_choice choice;
};

struct choices {
    struct host_app_version *hav; /* copies: rows that are made meanwhile move
                                     the others */
    size_t n_havs;

    /* for each version of the catalog */
    struct version_on_host *on_host;
    struct choice_class **class_of; /* NULL: it has none */
    struct choice_class **class;
    size_t n_classes;

    /* anonymous platform: the client's own */
    bool anonymous;
    struct version_own *own;
    struct app_version *own_version; /* the same, as rules and reply see it */
    size_t n_own;

    struct choice_memo (*memo)[CHOICE_MEMOS]; /* for each application */
    unsigned *next_memo;
    bool *by_job;               /* likewise: see choice_is_by_job() */
    struct version_query query; /* what is the same for all jobs */
};

/* Gather, if the request wants work; rpc->work's platforms, catalog and offer
 * must be there.  The volunteer is told of own versions whose application we do
 * not know.  0, -1.
 */
int choice_setup(struct rpc *);
void choice_free(struct choices *);

/* The version for a job of the application (index into work.app).  `offer` says
 * what is asked for and which limits are reached, `anyhow` that it does not
 * matter. */
void choice_make(struct rpc *, size_t app, const struct sendable *,
                 const struct offer *, bool anyhow, struct version_choice *ret);

/* Has the application a version that is for certain workunits or batches only?
 * Then the choice is another for each of its jobs. */
bool choice_is_by_job(const struct rpc *, int64_t appid);

/* A job of this choice is taken: one more of it today. */
void choice_take(struct rpc *, const struct offer *);
/* Nothing was taken, after all. */
void choice_take_nothing(struct rpc *);

/* The version chosen; NULL: none. */
const struct app_version *choice_version(const struct rpc *,
                                         const struct version_choice *);

#endif
