#!/bin/bash
# t0204-reports.sh - results that clients report, twice, late, by the thousand;
# and those that they lost.
. "$(dirname "$0")/../lib/bare.sh"

bare_new reports
bare_app
bare_user 7 alice $ALICE
bare_user 8 bob $BOB
bare_host 17 7
bare_host 18 7
bare_host 19 8
now=$(date +%s)

# result NAME [STATE [EXIT [more XML]]]: a report.
result() {
	cat <<-END
		<result>
		<name>$1</name>
		<final_cpu_time>10</final_cpu_time>
		<final_elapsed_time>12</final_elapsed_time>
		<exit_status>${3:-0}</exit_status>
		<state>${2:-5}</state>
		<version_num>100</version_num>
		<stderr_out>
		<core_client_version>7.20.5</core_client_version>
		<![CDATA[
		<stderr_txt>
		all fine
		</stderr_txt>
		]]>
		</stderr_out>
		<file_info>
		<name>$1_r1_0</name>
		<nbytes>20</nbytes>
		</file_info>
		${4:-}
		</result>
	END
}

# Put each result in progress on host 17 of user 7, sent 1000 s ago.
in_progress() { # [COLUMN = VALUE, …]
	sql "UPDATE result SET server_state = 4, hostid = 17, userid = 7,
		outcome = 0, validate_state = 0, received_time = 0,
		client_state = 0, cpu_time = 0, elapsed_time = 0, exit_status = 0,
		sent_time = $now - 1000, report_deadline = $now + 85400
		${1:+, $1};
	UPDATE workunit SET transition_time = 2147483647"
}

acks() { # COUNT
	same "$1" "$(grep -c '^result_ack/name ' "$T/reply.txt")"
}

row() { # COLUMNS WANT
	equals "$2" "SELECT CONCAT_WS(' ', $1) FROM result WHERE id = 5000000001"
}

report() { # XML [NAME=VALUE…]
	local xml=$1
	shift
	ask work=0 secs= "$@" "$xml"
}

bare_jobs 3
in_progress
feeder_up
wu=wu_5000000001_0

# ---- one report ----
report "$(result $wu)"
promise "a success is acknowledged" acks 1
promise "and stored" row "server_state, outcome, client_state, exit_status,
	validate_state, app_version_num, cpu_time, elapsed_time" "5 1 5 0 0 100 10 12"
promise "with what the application said" \
	equals 1 "SELECT stderr_out LIKE '%all fine%' FROM result WHERE id = 5000000001"
promise "and its files" equals 1 "SELECT xml_doc_out LIKE
	'%<file_info>%<name>${wu}_r1_0</name>%' FROM result WHERE id = 5000000001"
promise "its workunit is due now" equals 1 "SELECT transition_time BETWEEN $now
	AND $now + 100 FROM workunit WHERE id = 5000000001"
promise "the others are not" equals 2 \
	"SELECT COUNT(*) FROM workunit WHERE transition_time = 2147483647"
sql "UPDATE result SET received_time = received_time - 5"
first=$(sql "SELECT * FROM result" | md5sum)
report "$(result $wu 3 194)"
promise "reported again, with another content: acknowledged" acks 1
promise "and nothing changed" same "$first" "$(sql "SELECT * FROM result" | md5sum)"
sql "UPDATE result SET file_delete_state = 2 WHERE id = 5000000001"
report "$(result $wu 3 194)"
promise "its files were deleted, and none came again" row file_delete_state 2
report "$(result $wu)"
promise "uploaded and reported again: deleted again" row file_delete_state 1
sql "UPDATE result SET file_delete_state = 0"

# ---- what is a success? ----
# state, exit status -> outcome, validate_state
while read -r state exit_status outcome validate promise; do
	in_progress
	xml=$(result $wu "$state" "$exit_status")
	[ "$exit_status" != absent ] ||
		xml=$(result $wu "$state" 0 | grep -v exit_status)
	report "$xml"
	promise "$promise" row "server_state, outcome, validate_state" \
		"5 $outcome $validate"
done <<END
5 0 1 0 state 5 and exit status 0 are a success
3 7 3 2 the application failed: an error
5 1 3 2 exit status 1 is an error, whatever the state
3 0 3 2 an output is missing: an error
6 202 3 2 aborted by the project: an error
5 absent 3 2 no exit status is never a success
5 0x 3 2 nor is one that is no number
5 0.5 3 2 nor one that is not whole
END

# ---- times ----
while IFS='|' read -r cpu elapsed want promise; do
	in_progress
	report "$(result $wu | sed -e "s|cpu_time>[^<]*|cpu_time>$cpu|" \
		-e "s|elapsed_time>[^<]*|elapsed_time>$elapsed|")"
	promise "$promise" row "ROUND(cpu_time), ROUND(elapsed_time)" "$want"
done <<END
10|12|10 12|times that can be are kept
10|5|10 10|one processor cannot compute longer than it ran
10|0|10 10|no elapsed time: that of the processor
10|-5|10 10|nor a negative one
-10|12|0 12|a negative processor time is none
END
in_progress
report "$(result $wu | sed -e "s|_time>1[02]|_time>1e9|")"
promise "nothing ran longer than it was out" equals 1 "SELECT elapsed_time
	BETWEEN 1000 AND 1600 AND cpu_time <= 4 * elapsed_time
	FROM result WHERE id = 5000000001"

# ---- whose result? ----
in_progress "server_state = 5, outcome = 4"
report "$(result $wu)"
promise "a late report is still taken" row "server_state, outcome" "5 1"
in_progress
report "$(result $wu)" hostid=18
promise "one from another host of the user is taken" row "outcome, hostid" "1 18"
in_progress
report "$(result $wu)" hostid=19 key=$BOB
promise "one from another user is acknowledged" acks 1
promise "and ignored" row "server_state, userid, hostid" "4 7 17"
in_progress "server_state = 2, hostid = 0, userid = 0"
report "$(result $wu)"
promise "one of a result never sent is acknowledged" acks 1
promise "and ignored, too" row "server_state" "2"
report "$(result file_upload_x)"
promise "so is the transfer of a file" acks 1
in_progress
report "$(result $wu)$(result $wu 3 194)"
promise "named twice in one request: acknowledged" acks 1
promise "and the first one counts" row "outcome, exit_status" "1 0"

# ---- trickles ----
report "<msg_from_host>
<result_name>$wu</result_name>
<time>1700000000</time>
<variety>progress</variety>
<text>half & half</text>
</msg_from_host>"
promise "a trickle is acknowledged" grep -q '^message_ack' "$T/reply.txt"
promise "and stored as it came" equals "17 progress 0 1" "SELECT CONCAT_WS(' ',
	hostid, variety, handled, xml LIKE '%<text>half & half</text>%')
	FROM msg_from_host"

# ---- thousands ----
bare_jobs 1497
in_progress
result NAME >"$T/one"
for i in $(seq 1 1500); do
	echo $((5000000000 + i))
done | awk -v one="$T/one" '
	BEGIN { while ((getline line <one) > 0) text = text line "\n" }
	{
		known = text; gsub(/NAME/, "wu_" $1 "_0", known)
		unknown = text; gsub(/NAME/, "no_such_result_" $1, unknown)
		printf "%s%s", known, unknown
	}' >"$T/many"
request work=0 secs=
sed -i "/<other_results>/{
	r $T/many
}" "$T/req"
rpc "$T/req"
promise "3000 results, half of them unknown: all acknowledged" acks 3000
promise "those that we know are stored" equals 1500 \
	"SELECT COUNT(*) FROM result WHERE outcome = 1 AND server_state = 5"
promise "their workunits are due" equals 0 \
	"SELECT COUNT(*) FROM workunit WHERE transition_time = 2147483647"
statements=$(sed -n 's/.*database .* s, \([0-9]*\) statements.*/\1/p' \
	"$PROJECT/log/scheduler.log" | tail -n 1)
promise "in fewer than 100 statements ($statements)" [ "$statements" -lt 100 ]
rpc "$T/req"
promise "all of them again: all acknowledged" acks 3000
sql "DELETE FROM result WHERE id > 5000000003; DELETE FROM workunit WHERE id > 5000000003"

# ---- lost ----
bare_config "<resend_lost_results>1</resend_lost_results>"
has() {
	echo "<other_results><other_result><name>$1</name></other_result></other_results>"
}
in_progress
ask "other=$(has wu_5000000002_0)"
promise "what the client lost is sent again, all of it" sends 2
promise "and what it has is not" \
	same 0 "$(grep -c '^result/name wu_5000000002_0' "$T/reply.txt")"
promise "half of the time is not over: the deadline stays" row report_deadline \
	$((now + 85400))
promise "the reply says so" says "lost task"
ask work=0 secs=
promise "nothing is sent again to a client that wants no work" sends 0
ask other= secs=1e6
promise "nor to one that does not say what it has" sends 0
in_progress "sent_time = $now - 86000, report_deadline = $now + 400"
ask "other=$(has wu_5000000002_0)$(has wu_5000000003_0)"
promise "a result that has no time left" equals 1 "SELECT report_deadline
	BETWEEN $now + 43000 AND $now + 43400 FROM result WHERE id = 5000000001"
in_progress
sql "UPDATE workunit SET error_mask = 16 WHERE id = 5000000001;
	UPDATE workunit SET canonical_resultid = 9 WHERE id = 5000000002;
	UPDATE workunit SET rsc_fpops_est = 1e20 WHERE id = 5000000003"
ask secs=1e6
promise "nothing that is not needed or would come too late" sends 0
promise "it is over, without reply" equals 3 "SELECT COUNT(*) FROM result WHERE
	server_state = 5 AND outcome = 4 AND received_time = 0"
promise "and the transitioner told" equals 3 \
	"SELECT COUNT(*) FROM workunit WHERE transition_time < 2147483647"
bare_config ""
sql "UPDATE workunit SET error_mask = 0, canonical_resultid = 0, rsc_fpops_est = 9e11"
in_progress
ask secs=1e6
promise "nothing is sent again unless the project wants it" sends 0
sql "UPDATE result SET server_state = 5, outcome = 1, received_time = 1
	WHERE id = 5000000003"
ask secs=1e6 "$(result wu_5000000003_0)"
promise "or a success came twice: then the reply to it was lost" sends 2

done_promising
