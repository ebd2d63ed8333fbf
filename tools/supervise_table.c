/* supervise_table.c - what the supervisor does with a program: for each state
 * and each event an action and the next state. */
#include "supervise_table.h"

/* clang-format off */
static const struct unit_step table[N_UNIT_STATES][N_UNIT_EVENTS] = {
    [UNIT_DOWN] = {
        [UNIT_START]   = {UNIT_UP,     UNIT_SPAWN},
        [UNIT_STOP]    = {UNIT_DOWN,   UNIT_NOTHING},
        [UNIT_DIED]    = {UNIT_DOWN,   UNIT_NOTHING},
        [UNIT_REFUSED] = {UNIT_DOWN,   UNIT_NOTHING},
        [UNIT_TIME]    = {UNIT_DOWN,   UNIT_NOTHING},
        [UNIT_FORCE]   = {UNIT_DOWN,   UNIT_NOTHING},
    },
    [UNIT_UP] = {
        [UNIT_START]   = {UNIT_UP,     UNIT_NOTHING},
        [UNIT_STOP]    = {UNIT_ENDING, UNIT_HANGUP},
        [UNIT_DIED]    = {UNIT_WAIT,   UNIT_BACK_OFF},
        [UNIT_REFUSED] = {UNIT_FAILED, UNIT_COMPLAIN},
        [UNIT_TIME]    = {UNIT_UP,     UNIT_NOTHING},
        [UNIT_FORCE]   = {UNIT_ENDING, UNIT_KILL},
    },
    [UNIT_WAIT] = {
        [UNIT_START]   = {UNIT_UP,     UNIT_SPAWN},
        [UNIT_STOP]    = {UNIT_DOWN,   UNIT_NOTHING},
        [UNIT_DIED]    = {UNIT_WAIT,   UNIT_NOTHING},
        [UNIT_REFUSED] = {UNIT_WAIT,   UNIT_NOTHING},
        [UNIT_TIME]    = {UNIT_UP,     UNIT_SPAWN},
        [UNIT_FORCE]   = {UNIT_DOWN,   UNIT_NOTHING},
    },
    [UNIT_FAILED] = {
        [UNIT_START]   = {UNIT_UP,     UNIT_SPAWN},
        [UNIT_STOP]    = {UNIT_DOWN,   UNIT_NOTHING},
        [UNIT_DIED]    = {UNIT_FAILED, UNIT_NOTHING},
        [UNIT_REFUSED] = {UNIT_FAILED, UNIT_NOTHING},
        [UNIT_TIME]    = {UNIT_FAILED, UNIT_NOTHING},
        [UNIT_FORCE]   = {UNIT_DOWN,   UNIT_NOTHING},
    },
    [UNIT_ENDING] = {
        [UNIT_START]   = {UNIT_ENDING, UNIT_NOTHING},
        [UNIT_STOP]    = {UNIT_ENDING, UNIT_NOTHING},
        [UNIT_DIED]    = {UNIT_DOWN,   UNIT_FORGET},
        [UNIT_REFUSED] = {UNIT_DOWN,   UNIT_FORGET},
        [UNIT_TIME]    = {UNIT_ENDING, UNIT_TERMINATE},
        [UNIT_FORCE]   = {UNIT_ENDING, UNIT_KILL},
    },
};
/* clang-format on */

struct unit_step
unit_decide(enum unit_state state, enum unit_event event)
{
    return table[state][event];
}

const char *
unit_state_name(enum unit_state state)
{
    static const char *const name[N_UNIT_STATES] = {
        [UNIT_DOWN] = "down",     [UNIT_UP] = "up",
        [UNIT_WAIT] = "wait",     [UNIT_FAILED] = "failed",
        [UNIT_ENDING] = "ending",
    };

    return name[state];
}

int64_t
unit_backoff(int64_t failures)
{
    int64_t seconds = 1;

    while (--failures > 0 && seconds < 60)
        seconds *= 2;
    return seconds < 60 ? seconds : 60;
}
