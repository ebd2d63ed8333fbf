#!/bin/bash
# t1110-volunteer-aborts.sh - volunteers abort a job: that is no error of the
# workunit; each time a new instance follows.
. "$(dirname "$0")/../lib/scenario.sh"

project_new abort
# one error is allowed: two aborts would be one too many, if they were errors
jobs_new 1 abort --min_quorum 1 --target_nresults 1 --max_error_results 1 \
	--max_total_results 5 --max_success_results 2 --command_line "--sleep 60"
project_up

aborts() { # CLIENT USER COUNT
	running() {
		client_cmd "$1" --get_tasks |
			grep -q 'active_task_state: EXECUTING'
	}
	local name
	client_up "$1" "$(account_new "$1@example.org" "$2")"
	promise_in 90 "the job runs on $2's computer" running "$1"
	name=$(client_cmd "$1" --get_tasks | sed -n 's/^ *name: //p' | head -n 1)
	client_cmd "$1" --task "$URL" "$name" abort
	over() {
		client_update "$1"
		sleep 3
		equals "$2" "SELECT COUNT(*) FROM result WHERE server_state = 5
			AND outcome = 3 AND exit_status = 203"
	}
	promise_in 120 "it is reported as aborted by the user" over "$1" "$3"
	promise_in 20 "a new instance replaces it" \
		equals $(($3 + 1)) "SELECT COUNT(*) FROM result"
}

aborts alice Alice 1
aborts bob Bob 2
promise "the workunit has no error" equals 0 "SELECT error_mask FROM workunit"
done_promising
