#!/bin/bash
# t1100-deadline-passes.sh - a client sleeps past the deadline: a new instance
# replaces its result; its late report is still credited, as it agrees.
. "$(dirname "$0")/../lib/scenario.sh"

project_new late
project_option delete_delay_hours 24
jobs_new 1 late --min_quorum 2 --target_nresults 2 --delay_bound 40 \
	--command_line "--sleep 6"
project_up
client_up alice "$(account_new alice@example.org Alice)"
running() {
	client_cmd alice --get_tasks | grep -q 'active_task_state: EXECUTING'
}
promise_in 60 "Alice's client computes" running
kill -STOP -- "-$(cat "$T/client_alice/pid")"
promise_in 90 "her deadline passes: no reply" equals 1 \
	"SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome = 4"
promise_in 30 "a new instance replaces it" equals 3 "SELECT COUNT(*) FROM result"
client_up bob "$(account_new bob@example.org Bob)"
client_up carol "$(account_new carol@example.org Carol)"
promise_in 120 "two others agree" equals 2 \
	"SELECT COUNT(*) FROM result WHERE validate_state = 1"
promise_in 30 "the workunit is assimilated" equals 1 \
	"SELECT COUNT(*) FROM workunit WHERE assimilate_state = 2"
kill -CONT -- "-$(cat "$T/client_alice/pid")"
late() {
	client_update alice
	sleep 3
	equals 1 "SELECT COUNT(*) FROM result r JOIN user u ON u.id = r.userid
		WHERE u.name = 'Alice' AND r.outcome = 1 AND r.validate_state = 1"
}
promise_in 120 "Alice's late result is taken and valid" late
promise "it has the credit of the others" equals 1 \
	"SELECT COUNT(DISTINCT granted_credit) FROM result WHERE validate_state = 1"
promise "each user was credited once" equals 3 \
	"SELECT COUNT(*) FROM user u JOIN result r ON r.userid = u.id
	 WHERE ABS(u.total_credit - r.granted_credit) < 1e-9"
promise "the workunit was not assimilated again" equals 1 \
	"SELECT COUNT(*) FROM workunit WHERE assimilate_state = 2"
done_promising
