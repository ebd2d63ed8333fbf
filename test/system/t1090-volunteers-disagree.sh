#!/bin/bash
# t1090-volunteers-disagree.sh - two volunteers disagree: a third instance
# decides, and the wrong one gets no credit.
. "$(dirname "$0")/../lib/scenario.sh"

project_new disagree
# the example application salts its output where the file "wrong" tells it so
jobs_new 1 quarrel --command_line "--wrong_if $T/client_mallory/wrong"
project_up
mkdir -p "$T/client_mallory" && touch "$T/client_mallory/wrong"
client_up mallory "$(account_new mallory@example.org Mallory)"
promise_in 90 "the wrong result has come back" equals 1 \
	"SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome = 1"
rm "$T/client_mallory/wrong"
client_up alice "$(account_new alice@example.org Alice)"
promise_in 90 "the second result disagrees: both are inconclusive" equals 2 \
	"SELECT COUNT(*) FROM result WHERE validate_state = 4"
promise_in 20 "a third instance was made" equals 3 "SELECT COUNT(*) FROM result"
client_up bob "$(account_new bob@example.org Bob)"
promise_in 120 "two of three agree: valid" equals 2 \
	"SELECT COUNT(*) FROM result WHERE validate_state = 1"
promise "the third is invalid" equals Mallory \
	"SELECT u.name FROM result r JOIN user u ON u.id = r.userid
	 WHERE r.validate_state = 2"
promise "Alice and Bob have credit, Mallory has none" equals "Alice,Bob" \
	"SELECT GROUP_CONCAT(name ORDER BY name) FROM user WHERE total_credit > 0"
promise_in 30 "the workunit is assimilated" equals 1 \
	"SELECT COUNT(*) FROM workunit WHERE assimilate_state = 2"
promise "with the agreed output" grep -qr "HELLO FROM WORKUNIT 1 OF QUARREL" \
	"$PROJECT/results"
done_promising
