#!/bin/bash
# t1175-trickles.sh - a job sends a message while it runs, a handler of the
# project answers, and the answer reaches the job.
. "$(dirname "$0")/../lib/scenario.sh"

project_new trickles
project_option msg_to_host 1
version_new 1.1 '<api_version>7.20.0</api_version>'
sed -i 's|</daemons>|<daemon><cmd>trickle_echo</cmd></daemon></daemons>|' \
	"$PROJECT/config.xml"
jobs_new 1 trickles --min_quorum 1 --target_nresults 1 \
	--command_line "--trickle halfway"
project_up
client_up alice "$(account_new alice@example.org Alice)"

promise_in 60 "the message of the running job arrives" equals 1 \
	"SELECT COUNT(*) FROM msg_from_host WHERE variety = 'trickle_echo'
	 AND xml LIKE '%<text>%halfway%</text>%'"
promise "it names its job" equals 1 "SELECT COUNT(*) FROM msg_from_host
	WHERE xml LIKE '%<result_name>trickles_1_0</result_name>%'"
promise_in 30 "it is handled, and answered" equals "1 1" \
	"SELECT CONCAT_WS(' ', (SELECT COUNT(*) FROM msg_from_host WHERE
	 handled = 1), COUNT(*)) FROM msg_to_host JOIN host ON host.id = hostid"
promise "the job waits for the answer" equals 4 "SELECT server_state FROM result"
over() {
	client_update alice
	sleep 2
	equals "5 1" "SELECT CONCAT_WS(' ', server_state, outcome) FROM result"
}
promise_in 60 "with the answer it ends" over
promise_in 30 "the answer is what it had said" \
	grep -qr "halfway" "$PROJECT/results"
promise_in 30 "the input is there as well" \
	grep -qr "HELLO FROM WORKUNIT 1 OF TRICKLES" "$PROJECT/results"
said() {
	client_update alice
	sleep 1
	equals 1 "SELECT COUNT(*) FROM msg_to_host WHERE handled = 1"
}
promise_in 30 "the answer is sent no more" said
promise "each was sent once" equals "1 1" "SELECT CONCAT_WS(' ', COUNT(*),
	(SELECT COUNT(*) FROM msg_to_host)) FROM msg_from_host"
done_promising
