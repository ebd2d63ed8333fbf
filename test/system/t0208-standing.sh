#!/bin/bash
# t0208-standing.sh - what a host's record with a program means: jobs without a
# second host, jobs a day; and what reports do to it.
. "$(dirname "$0")/../lib/bare.sh"

bare_new standing
bare_config "<daily_result_quota>10</daily_result_quota>
	<resend_lost_results>1</resend_lost_results>"
bare_app
bare_user 7 alice $ALICE
bare_host 17 7
feeder_up
now=$(date +%s)

app() { # target_nresults
	sql "UPDATE app SET target_nresults = $1"
	feeder_down
	feeder_up
}

fresh_jobs() { # COUNT
	sql "DELETE FROM result; DELETE FROM workunit"
	feeder_down
	feeder_up
	bare_jobs "$@"
	feeder_fill
}

# The host's record with version 11: VALID in a row, MAX jobs a day, TODAY.
record() {
	sql "DELETE FROM host_app_version;
	INSERT INTO host_app_version SET host_id = 17, app_version_id = 11,
	    consecutive_valid = $1, max_jobs_per_day = $2, n_jobs_today = $3;
	UPDATE host SET rpc_time = $(date +%s) WHERE id = 17"
}

has() { # COLUMNS WANT
	equals "$2" "SELECT CONCAT_WS(' ', $1) FROM host_app_version
		WHERE host_id = 17 AND app_version_id = 11"
}

unit() { # WANT: instances, quorum, due now?
	equals "$1" "SELECT CONCAT_WS(' ', target_nresults, min_quorum,
		transition_time <= $now + 1000) FROM workunit"
}

# ---- jobs without a second host ----
app 2
fresh_jobs 1
sql "DELETE FROM host_app_version"
ask
promise "a host without a record gets a job" sends 1
promise "and somebody else does it as well, at once" unit "2 2 1"
promise "its record begins" has "max_jobs_per_day, n_jobs_today,
	consecutive_valid" "10 1 0"
fresh_jobs 1
record 9 10 0
ask
promise "nine valid results in a row are too few" unit "2 2 1"
fresh_jobs 1
record 1000000000 10 0
ask
promise "a host that never failed does it alone" unit "1 1 0"
promise "the job counts for its day" has "n_jobs_today, consecutive_valid" \
	"1 1000000000"
fresh_jobs 1 "min_quorum = 3, target_nresults = 4"
record 0 10 0
ask
promise "a job that needs more than that is left as it is" unit "4 3 0"
app 0
fresh_jobs 1
record 0 10 0
ask
promise "without adaptive replication nothing is changed" unit "1 1 0"
app 2

# ---- a failed result and a new job in one request ----
fresh_jobs 2
record 1000000000 10 0
sql "UPDATE result SET server_state = 4, hostid = 17, userid = 7,
	app_version_id = 11, sent_time = $now - 1000,
	report_deadline = $now + 85400 WHERE id = 5000000001"
feeder_down
feeder_up

report() { # NAME STATE EXIT
	echo "<result><name>$1</name><final_cpu_time>10</final_cpu_time>
		<final_elapsed_time>12</final_elapsed_time>
		<exit_status>$3</exit_status><state>$2</state>
		<version_num>100</version_num></result>"
}
wu=wu_5000000001_0

ask "$(report $wu 3 1)"
promise "it is taken" equals 3 "SELECT outcome FROM result WHERE id = 5000000001"
promise "a job is sent" sends 1
promise "the host is trusted no longer" equals "2 2" "SELECT CONCAT_WS(' ',
	target_nresults, min_quorum) FROM workunit WHERE id = 5000000002"
promise "it has lost a job a day" has "max_jobs_per_day, n_jobs_today,
	consecutive_valid" "9 1 0"

# ---- what reports do ----
in_progress() {
	sql "UPDATE result SET server_state = ${1:-4}, outcome = ${2:-0},
		hostid = 17, userid = 7, received_time = 0, app_version_id = 11,
		sent_time = $now - 1000, report_deadline = $now + 85400
		WHERE id = 5000000001"
}
# quota before, state, exit status -> quota, valid in a row
while read -r quota state exit_status want promise; do
	in_progress
	record 12 "$quota" 3
	ask work=0 secs= "$(report $wu "$state" "$exit_status")"
	promise "$promise" has "max_jobs_per_day, n_jobs_today,
		consecutive_valid" "${want//,/ }"
done <<END
10 3 1 9,3,0 a failed result costs a job a day, and all trust
1 3 1 1,3,0 but never the last one
15 3 1 9,3,0 what was earned above the quota is lost
10 6 202 10,3,12 what the project aborted costs nothing
3 5 0 6,3,12 a success doubles what was left
6 5 0 10,3,12 up to the quota
15 5 0 15,3,12 and leaves what was earned above it
END

# ---- a lost job, a new day, a new version ----
fresh_jobs 1
record 1000000000 10 3
ask
promise "one more today" has n_jobs_today 4
ask
promise "a job sent again" sends 1
promise "is not another one" has n_jobs_today 4
fresh_jobs 1
record 12 10 3
sql "UPDATE host SET rpc_time = rpc_time - 90000"
ask
promise "a new day begins with none" has n_jobs_today 1
fresh_jobs 1
record 1000000000 8 3
sql "INSERT INTO app_version (id, appid, platformid, version_num, plan_class,
	xml_doc) SELECT 12, appid, platformid, 101, plan_class, xml_doc
	FROM app_version WHERE id = 11"
feeder_down
feeder_up
feeder_fill
ask
promise "a new version inherits the record" equals "1000000000 8 4" \
	"SELECT CONCAT_WS(' ', consecutive_valid, max_jobs_per_day, n_jobs_today)
	FROM host_app_version WHERE app_version_id = 12"
promise "so the host is trusted with it" unit "1 1 0"
promise "the old one keeps its own" has "consecutive_valid, n_jobs_today" \
	"1000000000 3"

# ---- the same late report five times ----
app 0
fresh_jobs 1 "max_error_results = 9, max_total_results = 9,
	max_success_results = 9"
cp "$top/test/data/keys/upload_private" "$PROJECT/keys/"
name=$(sql "SELECT CONCAT(name, '_r1_0') FROM result")
wu=$(sql "SELECT name FROM result")
path=$(cd "$PROJECT" && "$build/tools/dir_hier_path" "$name" 2>/dev/null |
	sed 's,.*/\([0-9a-f]*/[^/]*\)$,\1,')
mkdir -p "$PROJECT/upload/$(dirname "$path")"
echo out >"$PROJECT/upload/$path"
sql "UPDATE result SET server_state = 5, outcome = 4, hostid = 17, userid = 7,
	app_version_id = 11, flops_estimate = 2e9, sent_time = $now - 1000,
	report_deadline = $now - 10"
record 3 3 0
daemons() {
	"$build/daemons/transitioner" --one_pass >>"$T/daemons.log" 2>&1 &&
	"$build/daemons/sample_trivial_validator" --one_pass --app demo \
		--credit_from_wu >>"$T/daemons.log" 2>&1
}
for _ in 1 2 3 4 5; do
	ask work=0 secs= "$(report "$wu" 5 0)"
	promise "a late report is acknowledged" \
		same "$wu" "$(reply_of result_ack/name)"
	promise "the daemons see it" daemons
done
# 9e11 FLOP / 8.64e13 x 200
promise "the user is credited once" equals 2.083333 \
	"SELECT ROUND(total_credit, 6) FROM user WHERE id = 7"
promise "the host, too" equals 7.083333 \
	"SELECT ROUND(total_credit, 6) FROM host WHERE id = 17"
# the success doubles 3 to 6, the verdict adds one
promise "and its record counts it once" has "max_jobs_per_day,
	consecutive_valid, et_n, turnaround_n" "7 4 1 1"

done_promising
