#!/bin/bash
# t1060-download-damaged.sh - an input file that does not have the MD5 it should
# have: the client refuses it, the job is an error and is replaced.
. "$(dirname "$0")/../lib/scenario.sh"

project_new damaged
jobs_new 1 damaged --min_quorum 1 --target_nresults 1
input=$(find "$PROJECT/download" -name 'damaged_1.in')
tr a-z A-Z <"$input" >"$T/other" && cat "$T/other" >"$input"
project_up
client_up alice "$(account_new alice@example.org Alice)"

promise_in 150 "the client refuses the file: exit status -186" equals 1 \
	"SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome = 3
	 AND exit_status = -186"
promise "and names the reason" equals 1 \
	"SELECT COUNT(*) FROM result WHERE stderr_out LIKE '%md5 checksum failed%'"
promise_in 20 "a new instance replaces it" equals 2 "SELECT COUNT(*) FROM result"
done_promising
