#!/bin/bash
# t1160-two-computers-of-one-user.sh - two computers of one user ask for work at
# the same time: they never get results of one workunit.
. "$(dirname "$0")/../lib/scenario.sh"

project_new pair
jobs_new 4 pair
project_option one_result_per_user_per_wu 1
project_up
key=$(account_new alice@example.org Alice)
client_up desk "$key"
client_up lap "$key"
asked() {
	client_update desk
	client_update lap
	sleep 2
	equals 4 "SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome = 1"
}
promise_in 120 "one result of each workunit comes back" asked
promise "by two computers of one user" equals "2 1" \
	"SELECT CONCAT_WS(' ', COUNT(*), COUNT(DISTINCT userid)) FROM host"
told() {
	client_update desk
	client_update lap
	sleep 1
	grep -qs "different people" "$T/client_desk"/sched_reply_*.xml &&
		grep -qs "different people" "$T/client_lap"/sched_reply_*.xml
}
promise_in 60 "who asks for more is told why there is none" told
promise "no workunit has two results of the user" equals 0 \
	"SELECT COUNT(*) FROM (SELECT workunitid FROM result WHERE userid <> 0
	 GROUP BY workunitid HAVING COUNT(*) > 1) x"
promise "the others wait for somebody else" equals 4 \
	"SELECT COUNT(*) FROM result WHERE server_state = 2"
done_promising
