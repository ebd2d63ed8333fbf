/* test_supervise.c - what the supervisor does with a program, state by state
 * and event by event. */
#include "unit_test.h"

#include "supervise_table.h"

static const struct {
    const char *promise;
    enum unit_state state;
    enum unit_event event;
    enum unit_state next;
    enum unit_action action;
} spec[] = {
    {"what is down and wanted is started",              UNIT_DOWN,   UNIT_START,   UNIT_UP,
     UNIT_SPAWN                                                                                               },
    {"what is down stays down when stopped",            UNIT_DOWN,   UNIT_STOP,    UNIT_DOWN,
     UNIT_NOTHING                                                                                             },
    {"a death that nobody waits for changes nothing",   UNIT_DOWN,   UNIT_DIED,
     UNIT_DOWN,                                                                                 UNIT_NOTHING  },
    {"force does nothing to what is down",              UNIT_DOWN,   UNIT_FORCE,   UNIT_DOWN,
     UNIT_NOTHING                                                                                             },

    {"what runs is not started twice",                  UNIT_UP,     UNIT_START,   UNIT_UP,
     UNIT_NOTHING                                                                                             },
    {"what runs is asked politely to end",              UNIT_UP,     UNIT_STOP,    UNIT_ENDING,
     UNIT_HANGUP                                                                                              },
    {"what died is started again after a while",        UNIT_UP,     UNIT_DIED,    UNIT_WAIT,
     UNIT_BACK_OFF                                                                                            },
    {"what refused to start waits for the operator",    UNIT_UP,     UNIT_REFUSED,
     UNIT_FAILED,                                                                               UNIT_COMPLAIN },
    {"time alone does nothing to what runs",            UNIT_UP,     UNIT_TIME,    UNIT_UP,
     UNIT_NOTHING                                                                                             },
    {"force kills what runs",                           UNIT_UP,     UNIT_FORCE,   UNIT_ENDING, UNIT_KILL     },

    {"what waits is started when its time comes",       UNIT_WAIT,   UNIT_TIME,    UNIT_UP,
     UNIT_SPAWN                                                                                               },
    {"start does not wait for that time",               UNIT_WAIT,   UNIT_START,   UNIT_UP,
     UNIT_SPAWN                                                                                               },
    {"what waits is forgotten when stopped",            UNIT_WAIT,   UNIT_STOP,    UNIT_DOWN,
     UNIT_NOTHING                                                                                             },

    {"time does not help what failed",                  UNIT_FAILED, UNIT_TIME,    UNIT_FAILED,
     UNIT_NOTHING                                                                                             },
    {"start gives what failed another chance",          UNIT_FAILED, UNIT_START,   UNIT_UP,
     UNIT_SPAWN                                                                                               },
    {"what failed is forgotten when stopped",           UNIT_FAILED, UNIT_STOP,    UNIT_DOWN,
     UNIT_NOTHING                                                                                             },

    {"what did not end in time gets the second signal", UNIT_ENDING, UNIT_TIME,
     UNIT_ENDING,                                                                               UNIT_TERMINATE},
    {"what ended is down, however it ended",            UNIT_ENDING, UNIT_DIED,    UNIT_DOWN,
     UNIT_FORGET                                                                                              },
    {"what ended with wrong use is down, too",          UNIT_ENDING, UNIT_REFUSED,
     UNIT_DOWN,                                                                                 UNIT_FORGET   },
    {"a second stop sends no second request",           UNIT_ENDING, UNIT_STOP,
     UNIT_ENDING,                                                                               UNIT_NOTHING  },
    {"force kills what is ending",                      UNIT_ENDING, UNIT_FORCE,   UNIT_ENDING,
     UNIT_KILL                                                                                                },
    {"what is ending ends before it can be started",    UNIT_ENDING, UNIT_START,
     UNIT_ENDING,                                                                               UNIT_NOTHING  },
};

START_TEST(keeps_its_promise)
{
    struct unit_step step = unit_decide(spec[_i].state, spec[_i].event);

    ck_assert_msg(step.next == spec[_i].next && step.action == spec[_i].action,
                  "broken: %s", spec[_i].promise);
}
END_TEST

START_TEST(only_a_stop_or_force_sends_signals)
{
    for (int state = 0; state < N_UNIT_STATES; state++)
        for (int event = 0; event < N_UNIT_EVENTS; event++) {
            struct unit_step step =
                unit_decide((enum unit_state)state, (enum unit_event)event);
            bool signals = step.action == UNIT_HANGUP ||
                           step.action == UNIT_TERMINATE ||
                           step.action == UNIT_KILL;

            ck_assert_msg(!signals || step.next == UNIT_ENDING,
                          "state %d event %d", state, event);
        }
}
END_TEST

START_TEST(a_program_is_spawned_only_into_up)
{
    for (int state = 0; state < N_UNIT_STATES; state++)
        for (int event = 0; event < N_UNIT_EVENTS; event++) {
            struct unit_step step =
                unit_decide((enum unit_state)state, (enum unit_event)event);

            if (step.action == UNIT_SPAWN)
                ck_assert_int_eq(step.next, UNIT_UP);
            else if (step.next == UNIT_UP)
                ck_assert_int_eq(state, UNIT_UP);
        }
}
END_TEST

/* failures in a row -> seconds: 1, 2, 4 … 60 */
static const struct {
    int64_t failures, seconds;
} backoff[] = {
    {0,         1 },
    {1,         1 },
    {2,         2 },
    {3,         4 },
    {4,         8 },
    {5,         16},
    {6,         32},
    {7,         60},
    {1000,      60},
    {INT64_MAX, 60}
};

START_TEST(waits_longer_each_time_up_to_a_minute)
{
    ck_assert_int_eq(unit_backoff(backoff[_i].failures), backoff[_i].seconds);
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_loop_test(tc, keeps_its_promise, 0,
                        (int)(sizeof(spec) / sizeof(spec[0])));
    tcase_add_test(tc, only_a_stop_or_force_sends_signals);
    tcase_add_test(tc, a_program_is_spawned_only_into_up);
    tcase_add_loop_test(tc, waits_longer_each_time_up_to_a_minute, 0,
                        (int)(sizeof(backoff) / sizeof(backoff[0])));
}

int
main(void)
{
    return unit_main("supervise", add_tests);
}
