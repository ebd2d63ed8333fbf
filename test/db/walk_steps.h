/* walk_steps.h - the steps of the walk on a database, with the functions of
 * db/: what schedulers, operators and daemons do in one transaction. */
#ifndef QUORATE_WALK_STEPS_H
#define QUORATE_WALK_STEPS_H

#include "db_assimilate.h"
#include "db_transition.h"
#include "db_validate.h"
#include "quorum.h"
#include "walk.h"

struct db;

/* What a volunteer or an operator does. */
struct walk_order {
    enum walk_event event;
    int64_t wu, result, host; /* ids; host i belongs to user i */
    int64_t now;
    int64_t amount; /* seconds, a priority, an exit status */
    enum read_verdict read;
    int answer;
};

/* 0 (also if it is refused) or -1: the database failed. */
int steps_obey(struct db *, const struct walk_order *);

/* A pass of a daemon.  What the slow ones have read is kept between events. */
struct steps {
    struct transition_config cfg;
    int app_target;
    struct transition_batch transition;
    struct validate_batch compared;
    struct assimilate_batch handled;
    struct walk_chance *chance; /* how handlers end, what cannot be deleted */
};

int steps_pass(struct db *, struct steps *, enum walk_event, int64_t now);
void steps_free(struct steps *);

#endif
