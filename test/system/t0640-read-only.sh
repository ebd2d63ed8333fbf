#!/bin/bash
# t0640-read-only.sh - folders and the database can be read only: everybody says
# so, nothing is lost, and later it goes on.
. "$(dirname "$0")/../lib/bare.sh"
. "$(dirname "$0")/../lib/faults.sh"

bare_new readonly
bare_app
bare_user 7 alice $ALICE
bare_host 17 7
cp "$top/test/data/keys/upload_private" "$PROJECT/keys/"
feeder_up
bare_jobs 4
feeder_fill
if fault_with read-only; then
	fault_in_upload
	fault_in_download
	fault_in_log 1
	job=$(reply_of result/name)
else
	ask
	job=$(reply_of result/name)
fi

# ---- the database ----
sql "UPDATE workunit SET transition_time = 0 WHERE id = 5000000004;
	SET GLOBAL read_only = 1"
(cd "$PROJECT" && exec "$build/daemons/transitioner" --sleep_interval 0.2 \
	>>"$PROJECT/log/transitioner.log" 2>&1) &
transitioner=$!
trap 'status=$?; kill $transitioner 2>/dev/null; fault_clean_up; bare_end $status' EXIT
report="<result><name>$job</name><state>5</state><exit_status>0</exit_status>
	</result>"
ask seqno=5 "$report"
promise "a read-only database: the client is told to come again" \
	grep -q '^project_is_down' "$T/reply.txt"
promise "the log says why" grep -q 'read-only' "$PROJECT/log/scheduler.log"
promise "the report is not acknowledged" same "" "$(reply_of result_ack/name)"
promise "no job is sent" sends 0
promise_in 10 "the transitioner says why" \
	grep -q 'read-only' "$PROJECT/log/transitioner.log"
promise "and lives" kill -0 $transitioner
promise "so does the feeder" kill -0 "$feeder_pid"
mkdir -p "$PROJECT/templates"
cat >"$PROJECT/templates/demo_in" <<-END
	<input_template><workunit></workunit></input_template>
END
cat >"$PROJECT/templates/demo_out" <<-END
	<output_template><result></result></output_template>
END
work() {
	(cd "$PROJECT" && "$build/tools/create_work" --appname demo --wu_name new) \
		>"$T/work.log" 2>&1
}
promise "a job cannot be made" eval '! work'
promise "which says why" grep -q 'read-only' "$T/work.log"

sql "SET GLOBAL read_only = 0"
ask seqno=5 "$report"
promise "later the report is taken" same "$job" "$(reply_of result_ack/name)"
promise "and a job is sent" sends 1
promise_in 70 "and the transitioner does its work" equals 0 \
	"SELECT COUNT(*) FROM workunit WHERE transition_time = 0"
promise "and a job can be made" work
promise "once" equals 1 "SELECT COUNT(*) FROM workunit WHERE name = 'new'"
kill $transitioner
wait $transitioner

feeder_down
[ -z "${fault_by:-}" ] || [ "$fault_by:$(id -u)" = shim:0 ] || fault_in_archive
done_promising
