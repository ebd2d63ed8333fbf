#!/bin/bash
# t1010-application-fails.sh - an application that ends with exit status 1, and
# one that dies of a signal: each is an error result, and a new instance follows.
. "$(dirname "$0")/../lib/scenario.sh"

project_new fails
jobs_new 1 exits --min_quorum 1 --target_nresults 1 --max_error_results 1 \
	--command_line "--exit 1"
jobs_new 1 dies --min_quorum 1 --target_nresults 1 --max_error_results 1 \
	--command_line "--abort"
project_up
client_up alice "$(account_new alice@example.org Alice)"
client_up bob "$(account_new bob@example.org Bob)"

errors_of() { # WU COUNT
	[ "$(sql "SELECT COUNT(*) FROM result r JOIN workunit w
		ON w.id = r.workunitid WHERE w.name = '$1' AND r.server_state = 5
		AND r.outcome = 3 AND r.validate_state = 2")" -ge "$2" ]
}

promise_in 150 "exit status 1 is reported as a client error" errors_of exits_1 1
promise_in 150 "death by a signal is reported as a client error" \
	errors_of dies_1 1
promise "the exit status is stored" equals 1 \
	"SELECT DISTINCT r.exit_status FROM result r JOIN workunit w
	 ON w.id = r.workunitid WHERE w.name = 'exits_1' AND r.outcome = 3"
promise "what the client said is stored" equals 1 \
	"SELECT COUNT(*) > 0 FROM result WHERE outcome = 3
	 AND stderr_out LIKE '%process exited with code 1%'"
promise_in 20 "a new instance replaces the failed one" \
	equals 1 "SELECT COUNT(*) >= 2 FROM result r JOIN workunit w
	 ON w.id = r.workunitid WHERE w.name = 'exits_1'"
# one error is allowed: the second one ends the workunit
promise_in 200 "one error more than allowed ends the workunit" \
	equals 2 "SELECT error_mask FROM workunit WHERE name = 'exits_1'"
promise_in 200 "and the other one" \
	equals 2 "SELECT error_mask FROM workunit WHERE name = 'dies_1'"
promise_in 30 "the assimilator was told of both" \
	equals 2 "SELECT COUNT(*) FROM workunit WHERE assimilate_state = 2"
promise "nobody was credited" equals 0 \
	"SELECT COUNT(*) FROM user WHERE total_credit <> 0"
done_promising
