#!/bin/bash
# t1150-cancelled-job.sh - a job is cancelled while it runs: its client aborts
# it at the next contact, and the workunit ends.
. "$(dirname "$0")/../lib/scenario.sh"

project_new cancelled
jobs_new 1 cancelled --min_quorum 1 --target_nresults 1 --max_error_results 1 \
	--command_line "--sleep 300"
project_up
client_up alice "$(account_new alice@example.org Alice)"

running() {
	client_cmd alice --get_tasks | grep -q 'active_task_state: EXECUTING'
}
promise_in 90 "the job runs" running
promise "it is cancelled by the name of its workunit" \
	"$PROJECT/bin/cancel_jobs" --name cancelled_1
promise "the workunit says so" equals 16 "SELECT error_mask FROM workunit"
over() {
	client_update alice
	sleep 3
	equals 202 "SELECT exit_status FROM result WHERE server_state = 5"
}
promise_in 120 "its client aborts it and reports that" over
promise "which is a client error, aborted" equals "3 6" \
	"SELECT CONCAT_WS(' ', outcome, client_state) FROM result"
promise_in 60 "the assimilator was told" equals "2 16" \
	"SELECT CONCAT_WS(' ', assimilate_state, error_mask) FROM workunit"
promise "no other result was made" equals 1 "SELECT COUNT(*) FROM result"
promise_in 60 "its files are deleted" equals 2 \
	"SELECT file_delete_state FROM workunit"
done_promising
