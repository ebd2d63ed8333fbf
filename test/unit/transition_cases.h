/* transition_cases.h - what results and workunits can be when the transitioner
 * comes by; for the tests of transition.c. */
#ifndef QUORATE_TRANSITION_CASES_H
#define QUORATE_TRANSITION_CASES_H

#include "transition.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define NOW INT64_C(1700000000)
#define DAY INT64_C(86400)
#define MAX_RESULTS 8
#define DEADLINE (NOW + 3000)   /* of results that are out */
#define REPORTED (NOW - 100)    /* of results that came back */
#define SAFETY (NOW + 10 * DAY) /* when an open workunit is looked at again */

/* What a result can be when the transitioner comes by. */
enum kind {
    END,
    INACTIVE,
    UNSENT,
    OUT,  /* in progress, deadline to come */
    DUE,  /* in progress, deadline is this second */
    LATE, /* in progress, deadline was a second ago */
    NEW,  /* success that nobody has looked at */
    VALID,
    INVALID,
    NO_CHECK,
    INCONCLUSIVE,
    TOO_LATE,
    COULDNT_SEND,
    FAILED,
    USER_ABORT,
    NO_REPLY,
    NO_REPLY_EARLY, /* given up before its deadline */
    NO_REPLY_DUE,   /* whose deadline is this second */
    DIDNT_NEED,
    UNREADABLE,
    DETACHED,
};

#define ALIVE(state, deadline)                                                 \
    {                                                                          \
        .server_state = (state), .report_deadline = (deadline)                 \
    }
#define OVER(what, checked, received, deadline, exit)                          \
    {                                                                          \
        .server_state = RESULT_OVER, .outcome = OUTCOME_##what,                \
        .validate_state = VALIDATE_##checked, .received_time = (received),     \
        .report_deadline = (deadline), .exit_status = (exit)                   \
    }

/* clang-format off */
static const struct transition_result kinds[] = {
    [INACTIVE] = ALIVE(RESULT_INACTIVE, 0),
    [UNSENT] = ALIVE(RESULT_UNSENT, 0),
    [OUT] = ALIVE(RESULT_IN_PROGRESS, DEADLINE),
    [DUE] = ALIVE(RESULT_IN_PROGRESS, NOW),
    [LATE] = ALIVE(RESULT_IN_PROGRESS, NOW - 1),
    [NEW] = OVER(SUCCESS, INIT, REPORTED, DEADLINE, 0),
    [VALID] = OVER(SUCCESS, VALID, REPORTED, DEADLINE, 0),
    [INVALID] = OVER(SUCCESS, INVALID, REPORTED, DEADLINE, 0),
    [NO_CHECK] = OVER(SUCCESS, NO_CHECK, REPORTED, DEADLINE, 0),
    [INCONCLUSIVE] = OVER(SUCCESS, INCONCLUSIVE, REPORTED, DEADLINE, 0),
    [TOO_LATE] = OVER(SUCCESS, TOO_LATE, REPORTED, DEADLINE, 0),
    [COULDNT_SEND] = OVER(COULDNT_SEND, INIT, 0, 0, 0),
    [FAILED] = OVER(CLIENT_ERROR, INVALID, REPORTED, DEADLINE, 1),
    [USER_ABORT] = OVER(CLIENT_ERROR, INVALID, REPORTED, DEADLINE, 203),
    [NO_REPLY] = OVER(NO_REPLY, INIT, 0, NOW - DAY, 0),
    [NO_REPLY_EARLY] = OVER(NO_REPLY, INIT, 0, DEADLINE, 0),
    [NO_REPLY_DUE] = OVER(NO_REPLY, INIT, 0, NOW, 0),
    [DIDNT_NEED] = OVER(DIDNT_NEED, INIT, 0, 0, 0),
    [UNREADABLE] = OVER(VALIDATE_ERROR, INVALID, REPORTED, DEADLINE, 0),
    [DETACHED] = OVER(CLIENT_DETACHED, INIT, REPORTED, DEADLINE, 0),
};
/* clang-format on */

#define N_KINDS ((int)ARRAY_LEN(kinds))

/* A pair of results, one error at most, four results at most. */
static const struct workunit pair = {
    .id = 12,
    .name = "pair",
    .min_quorum = 2,
    .target_nresults = 2,
    .max_error_results = 1,
    .max_total_results = 4,
    .max_success_results = 3,
    .delay_bound = DAY,
    .hr_class = 5,
    .app_version_id = 6,
    .priority = 10,
    .size_class = -1,
    .transition_time = NOW - 5,
};

static const struct transition_config plain = {0};

struct outcome_of {
    struct transition t;
    struct result_change change[MAX_RESULTS];
};

/* Decide on results of these kinds; ids are 1, 2, …, suffixes 0, 1, …. */
static inline struct outcome_of
decide_with(const struct workunit *wu, const enum kind *what,
            const struct transition_config *cfg)
{
    struct transition_result results[MAX_RESULTS] = {0};
    struct outcome_of ret;
    size_t n = 0;

    for (; n < MAX_RESULTS && what[n] != END; n++) {
        results[n] = kinds[what[n]];
        results[n].id = (int64_t)n + 1;
        results[n].suffix = (int)n;
    }
    transition_decide(wu, results, n, cfg, NOW, ret.change, &ret.t);
    return ret;
}

static inline struct outcome_of
decide(const struct workunit *wu, const enum kind *what)
{
    return decide_with(wu, what, &plain);
}

#endif
