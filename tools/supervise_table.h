/* supervise_table.h - what the supervisor does with a program: for each state
 * and each event an action and the next state.  Nothing else decides. */
#ifndef QUORATE_SUPERVISE_TABLE_H
#define QUORATE_SUPERVISE_TABLE_H

#include <stdint.h>

enum unit_state {
    UNIT_DOWN,   /* does not run and is not wanted */
    UNIT_UP,     /* runs */
    UNIT_WAIT,   /* ended by itself; is started again when its time comes */
    UNIT_FAILED, /* ended for wrong use: only an operator can help */
    UNIT_ENDING, /* was asked to end */
    N_UNIT_STATES,
};

enum unit_event {
    UNIT_START,   /* wanted */
    UNIT_STOP,    /* not wanted any more */
    UNIT_DIED,    /* its process ended */
    UNIT_REFUSED, /* … with EXIT_USAGE: trying again makes no sense */
    UNIT_TIME,    /* what it waited for has come */
    UNIT_FORCE,   /* the operator's patience is at its end */
    N_UNIT_EVENTS,
};

enum unit_action {
    UNIT_NOTHING,
    UNIT_SPAWN,     /* start the program */
    UNIT_BACK_OFF,  /* note when to start it again */
    UNIT_COMPLAIN,  /* tell the operator */
    UNIT_HANGUP,    /* SIGHUP: the polite request to end */
    UNIT_TERMINATE, /* SIGTERM: for what does not know the first */
    UNIT_KILL,      /* SIGKILL */
    UNIT_FORGET,    /* ended as wanted */
};

struct unit_step {
    enum unit_state next;
    enum unit_action action;
};

struct unit_step unit_decide(enum unit_state, enum unit_event);

const char *unit_state_name(enum unit_state);

/* Seconds until a program that ended `failures` times in a row is started
 * again: 1, 2, 4 … 60. */
int64_t unit_backoff(int64_t failures);

/* A program that ran so long (s) has had a good start: its failures are
 * forgotten. */
#define UNIT_GOOD_RUN 60

#endif
