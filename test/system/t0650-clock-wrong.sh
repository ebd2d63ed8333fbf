#!/bin/bash
# t0650-clock-wrong.sh - the clock of a host, then that of the server, goes wrong
# by hours and by a year, there and back: what was promised holds, nothing is
# locked for a year, and the log says so.
. "$(dirname "$0")/../lib/bare.sh"

YEAR=31536000
bare_new clock
bare_app
bare_user 7 alice $ALICE
bare_host 17 7
cp "$top/test/data/keys/upload_private" "$PROJECT/keys/"
bare_config "<min_sendwork_interval>60</min_sendwork_interval>
	<daily_result_quota_per_host>2</daily_result_quota_per_host>
	<max_key_failures>3</max_key_failures>"
feeder_up
bare_jobs 8 "result_template_file = 'templates/demo_out', max_error_results = 3,
	max_total_results = 5, max_success_results = 5"
mkdir "$PROJECT/templates"
echo '<output_template><result></result></output_template>' \
	>"$PROJECT/templates/demo_out"
feeder_fill
at() { # SECONDS COMMAND…: as if the server's clock were so much ahead
	local offset=$1
	shift
	QUORATE_CLOCK_OFFSET=$offset "$@"
}
step() { # SECONDS: of the daemons that run
	printf '%-30d0\n' "$1" 1<>"$T/control"
}
says_interval() {
	says "too recent"
}

# ---- the host's clock ----
ask "<completed_time>4102444800</completed_time>" seqno=1
promise "a host gets a job" sends 1
job=$(reply_of result/name)
ask seqno=2 work=0 secs= "<result><name>$job</name><state>5</state>
	<exit_status>0</exit_status><completed_time>4102444800.5</completed_time>
	<final_elapsed_time>10</final_elapsed_time></result>"
promise "a report from the year 2100 by its clock is taken" same "$job" \
	"$(reply_of result_ack/name)"
promise "at the time that it is here" equals 1 "SELECT
	ABS(received_time - UNIX_TIMESTAMP()) < 60 FROM result WHERE name = '$job'"

# ---- the server's clock, seen by hosts ----
ask seqno=3
promise "another request at once is too recent" says_interval
at -$YEAR ask seqno=4
promise "a year back, none is too recent for a year" eval '! says_interval'
promise "a job is sent" sends 1
at -$((YEAR - 1)) ask seqno=5
promise "and the interval counts again" says_interval
at 0 ask seqno=6
promise "back in time: a job" sends 1
at 3600 ask seqno=7
at $((YEAR)) ask seqno=8
promise "a year ahead it is another day: the quota is new" sends 1
at 0 ask seqno=9
promise "and after that, too" sends 1

for n in 1 2 3 4; do
	at $YEAR ask seqno=1$n hostid=0 key=00000000000000000000000000000000
done
ask seqno=20 hostid=0 cpid=11112233445566778899aabbccddeeff name=other
promise "keys that were wrong next year block no address now" \
	equals 2 "SELECT COUNT(*) FROM host"

# ---- daemons ----
printf '%-30d0\n' 0 >"$T/control"
sql "UPDATE workunit SET transition_time = UNIX_TIMESTAMP() + 86400 WHERE id IN (SELECT workunitid FROM result WHERE server_state = 4)"
in_progress=$(sql "SELECT COUNT(*) FROM result WHERE server_state = 4")
(cd "$PROJECT" && LD_PRELOAD="$build/test/system/chaos_shim.so" \
	QUORATE_CHAOS="$T/control" ASAN_OPTIONS=verify_asan_link_order=0 \
	exec "$build/daemons/transitioner" --sleep_interval 0.2 \
	>>"$PROJECT/log/transitioner.log" 2>&1) &
transitioner=$!
trap 'status=$?; kill $transitioner 2>/dev/null; bare_end $status' EXIT
log_says() {
	grep -q "$1" "$PROJECT/log/transitioner.log"
}
promise_in 10 "the transitioner works" log_says started
sleep 0.5
step -$YEAR
promise_in 10 "a year back: it says so" log_says 'clock was put back by 31536000'
sql "UPDATE workunit SET transition_time = 0 WHERE id = 5000000008"
promise_in 10 "and goes on with what is due" equals 0 \
	"SELECT COUNT(*) FROM workunit WHERE transition_time = 0"
promise "no deadline has passed" equals "$in_progress" \
	"SELECT COUNT(*) FROM result WHERE server_state = 4"
step 3600
promise_in 10 "an hour ahead: it says so" log_says 'clock was put forward by 3153'
promise "no deadline of a day has passed" equals "$in_progress" \
	"SELECT COUNT(*) FROM result WHERE server_state = 4"
late=$(sql "SELECT name FROM result WHERE server_state = 4 AND hostid = 17
	ORDER BY sent_time DESC LIMIT 1")
step $YEAR
promise_in 10 "a year ahead: all that is in progress is late but what was sent then" equals 1 \
	"SELECT COUNT(*) FROM result WHERE server_state = 4"
promise "and is given to others" eval \
	'[ "$(sql "SELECT COUNT(*) FROM result WHERE server_state = 2")" -ge 1 ]'
step 0
promise_in 10 "back: it says so" log_says 'clock was put back by 31536000'
ask seqno=21 work=0 secs= "<result><name>$late</name><state>5</state>
	<exit_status>0</exit_status></result>"
promise "what was called late then is taken now" same "$late" \
	"$(reply_of result_ack/name)"
promise "as a success" equals "5	1" \
	"SELECT server_state, outcome FROM result WHERE name = '$late'"
sql "UPDATE workunit SET transition_time = 0 WHERE id = 5000000007"
promise_in 10 "and the transitioner does what is due" equals 0 \
	"SELECT COUNT(*) FROM workunit WHERE transition_time = 0"
kill $transitioner
promise "it ends when it is told to" wait $transitioner
feeder_down
done_promising
