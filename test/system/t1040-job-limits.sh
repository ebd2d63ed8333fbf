#!/bin/bash
# t1040-job-limits.sh - a job over rsc_disk_bound (196) and one over
# rsc_fpops_bound (197) are stopped by the client and replaced.  The second
# takes two minutes: clients put 12 h in the place of a shorter limit.
. "$(dirname "$0")/../lib/scenario.sh"

project_new limits
jobs_new 1 disk --min_quorum 1 --target_nresults 1 \
	--rsc_disk_bound 5e6 --command_line "--disk 20000000"
# 1e9 FLOPS without a benchmark: 130 s
jobs_new 1 time --min_quorum 1 --target_nresults 1 \
	--rsc_fpops_bound 1.3e11 --command_line "--spin"
project_up
client_up alice "$(account_new alice@example.org Alice)"

over() { # WU STATUS
	equals 1 "SELECT COUNT(*) FROM result r JOIN workunit w
		ON w.id = r.workunitid WHERE w.name = '$1' AND r.server_state = 5
		AND r.outcome = 3 AND r.exit_status = $2"
}
replaced() {
	equals 1 "SELECT COUNT(*) >= 2 FROM result r JOIN workunit w
		ON w.id = r.workunitid WHERE w.name = '$1'"
}

promise_in 240 "a job over its disk bound is stopped with 196" over disk_1 196
promise_in 20 "and replaced" replaced disk_1
promise_in 300 "a job over its FLOP bound is stopped with 197" over time_1 197
promise_in 20 "and replaced" replaced time_1
done_promising
