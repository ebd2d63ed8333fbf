#!/bin/bash
# t1030-output-too-large.sh - an output larger than max_nbytes is not uploaded:
# a client error, and a new instance follows.
. "$(dirname "$0")/../lib/scenario.sh"

project_new toobig
sed -i 's|<max_nbytes>.*</max_nbytes>|<max_nbytes>50000</max_nbytes>|' \
	"$PROJECT/templates/uppercase_out"
jobs_new 1 big --min_quorum 1 --target_nresults 1 --max_error_results 5 \
	--command_line "--out_size 200000"
project_up
client_up alice "$(account_new alice@example.org Alice)"

promise_in 150 "the result is a client error" equals 1 \
	"SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome = 3"
promise "the client said why" equals 1 \
	"SELECT COUNT(*) FROM result WHERE stderr_out LIKE '%file size too big%'"
promise "nothing of it was stored" test -z \
	"$(find "$PROJECT/upload" -type f -print -quit)"
promise_in 20 "a new instance replaces it" equals 2 "SELECT COUNT(*) FROM result"
done_promising
