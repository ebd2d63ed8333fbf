#!/bin/bash
# t0270-many-requests.sh - a file of saved requests is played to the scheduler,
# without hosts: again and again, and with jobs that are done at once.
. "$(dirname "$0")/../lib/bare.sh"

bare_new trial
bare_app
bare_user 7 alice $ALICE
bare_host 17 7 "rpc_seqno = 100"
bare_config "<max_wus_in_progress>1</max_wus_in_progress>
	<min_sendwork_interval>0</min_sendwork_interval>"
feeder_up
bare_jobs 9
feeder_fill

# batch OPTION…: the requests of $T/file; replies flat in $T/reply.txt
batch() {
	(cd "$PROJECT" && "$build/sched/scheduler" --batch "$@" <"$T/file" \
		>"$T/replies.xml" 2>"$T/batch.log")
	status=$?
	csplit -s -z -f "$T/reply." "$T/replies.xml" '/^<?xml\|^<scheduler_reply>/' '{*}'
	: >"$T/reply.txt"
	while [ -s "$T/replies.xml" ] && read -r one; do
		"$build/test/system/flat" "$one" >>"$T/reply.txt" 2>&1 ||
			echo "not XML: $one"
		rm "$one"
	done < <(find "$T" -name 'reply.[0-9]*' | sort)
	return $status
}
replies() {
	grep -c '^scheduler_reply' "$T/reply.txt"
}

request seqno=1 ncpus=1
{
	cat "$T/req"
	sed 's/<scheduler_request>/& <note>end tag within a line:<\/note>/' "$T/req"
	cat "$T/req"
} >"$T/file"

promise "three requests are played" batch
promise "each has its reply" same 3 "$(replies)"
promise "old sequence numbers make no new host" equals 1 "SELECT COUNT(*) FROM host"
promise "rules hold: one job in progress" equals 1 \
	"SELECT COUNT(*) FROM result WHERE server_state = 4"
promise "the log is on stderr" grep -q 'HOST#17.*sent 1' "$T/batch.log"

sql "UPDATE workunit SET transition_time = UNIX_TIMESTAMP() WHERE id =
	(SELECT workunitid FROM result WHERE server_state = 4);
	UPDATE result SET server_state = 5, outcome = 1, received_time = 1
	WHERE server_state = 4"
promise "with --mark_jobs_done" batch --mark_jobs_done
promise "each gets a job" sends 3
promise "which is done" equals 3 "SELECT COUNT(*) FROM result WHERE
	server_state = 5 AND outcome = 1 AND client_state = 5 AND hostid = 17 AND
	received_time > 1"
promise "and its workunit is due" equals 3 "SELECT COUNT(DISTINCT w.id) FROM
	workunit w JOIN result r ON r.workunitid = w.id WHERE received_time > 1
	AND w.transition_time <= UNIX_TIMESTAMP()"

head -n 5 "$T/req" >"$T/file"
promise "one that breaks off is answered" batch
promise "with what is wrong" grep -q '^message ' "$T/reply.txt"
: >"$T/file"
promise "no request: no reply" batch
promise "nothing is written" same '' "$(cat "$T/replies.xml")"

alone() {
	"$build/sched/scheduler" --mark_jobs_done 2>"$T/usage"
	same 100 $? && grep -q 'for --batch or --replay' "$T/usage"
}
promise "--mark_jobs_done alone is refused" alone
lines() {
	cat "$PROJECT"/log/scheduler.log 2>/dev/null | wc -l
}
debug_log() {
	local before
	before=$(lines)
	request seqno=101
	(cd "$PROJECT" && REQUEST_METHOD=POST CONTENT_LENGTH=$(wc -c <"$T/req") \
		REMOTE_ADDR=192.0.2.1 "$build/sched/scheduler" --debug_log <"$T/req" \
		>/dev/null 2>"$T/debug.log")
	grep -q 'HOST#17' "$T/debug.log" &&
		same "$before" "$(lines)"
}
promise "--debug_log: a client's request is logged to stderr" debug_log
done_promising
