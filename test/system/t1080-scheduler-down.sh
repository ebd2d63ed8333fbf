#!/bin/bash
# t1080-scheduler-down.sh - the web server goes away while clients compute, then
# the feeder: clients wait, come back, and nothing is lost.
. "$(dirname "$0")/../lib/scenario.sh"

project_new down
project_option maintenance_delay 10
jobs_new 4 down --min_quorum 1 --target_nresults 1 --command_line "--sleep 10"
project_up
client_up alice "$(account_new alice@example.org Alice)"

promise_in 60 "the client has got work" equals 1 \
	"SELECT COUNT(*) > 0 FROM result WHERE server_state = 4"
web_down
sleep 20
promise "nothing arrives while the web server is down" equals 0 \
	"SELECT COUNT(*) FROM result WHERE received_time > 0"
web_up
promise_in 120 "after it is up again the results arrive" equals 1 \
	"SELECT COUNT(*) > 0 FROM result WHERE received_time > 0"
(cd "$PROJECT" && bin/stop) >>"$T/stop.log" 2>&1
client_update alice
told() {
	client_update alice
	sleep 2
	grep -q 'project_is_down' "$T"/client_alice/sched_reply_*.xml
}
promise_in 60 "a client is told that the project is down" told
(cd "$PROJECT" && bin/start) >>"$T/start.log" 2>&1
finished() {
	client_update alice
	sleep 3
	equals 4 "SELECT COUNT(*) FROM workunit WHERE assimilate_state = 2
		AND canonical_resultid <> 0"
}
promise_in 180 "all four workunits are finished" finished
promise "each was computed once" equals 4 "SELECT COUNT(*) FROM result"
done_promising
