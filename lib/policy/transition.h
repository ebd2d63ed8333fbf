/* transition.h - what happens next to a workunit: time out, give up, make more,
 * validate, assimilate, delete, when to look again (lifecycle §3.2).
 *
 * A pure function of the workunit, its results, the configuration and now.  It
 * says what must change; db_transition_apply() does it, each change guarded by
 * the old state. */
#ifndef QUORATE_TRANSITION_H
#define QUORATE_TRANSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workunit.h"

struct transition_config {
    int64_t delete_delay; /* s after the last report */
    int reliable_priority_on_over;
    int reliable_priority_on_over_except_error;
    bool hr_class_static; /* never release the pins */
};

/* The columns of a result that the decision needs. */
struct transition_result {
    int64_t id;
    enum server_state server_state;
    enum outcome outcome;
    enum validate_state validate_state;
    enum file_delete_state file_delete_state;
    int64_t report_deadline; /* Unix s, grace included */
    int64_t received_time;
    int64_t hostid;
    int64_t appid;
    int64_t app_version_id;
    int64_t sent_time;
    int exit_status;
    int suffix; /* number after the last '_' of the name; -1: none */
};

/* One change of a result: written only if the row still has the old states. */
struct result_change {
    size_t index; /* into the results given */
    enum server_state server_state;
    enum outcome outcome;
    enum validate_state validate_state;
    enum file_delete_state file_delete_state;
    bool penalise; /* timed out: host_app_version pays (lifecycle §3.4) */
};

struct transition {
    /* new values of the workunit's columns; equal to the old: no change */
    bool need_validate;
    unsigned error_mask;
    enum assimilate_state assimilate_state;
    enum file_delete_state file_delete_state;
    int hr_class;
    int64_t app_version_id;
    int64_t transition_time;

    int new_results;        /* how many to create */
    int first_suffix;       /* of the first new one */
    int new_priority;       /* of the new ones */
    bool canonical_missing; /* canonical_resultid names no result: alert */

    size_t n_changes; /* entries of the caller's array used */

    /* tally, for the log */
    int n_total, n_unsent, n_in_progress, n_over, n_success, n_error,
        n_no_reply, n_couldnt_send, n_didnt_need;
};

/* `changes` has room for n entries. */
void transition_decide(const struct workunit *wu,
                       const struct transition_result *results, size_t n,
                       const struct transition_config *cfg, int64_t now,
                       struct result_change *changes, struct transition *ret);

/* The number behind the last '_' of a result's name, -1 if there is none (no
 * '_', nothing or no digits behind it, more than 9 digits). */
int transition_name_suffix(const char *name);

#endif
