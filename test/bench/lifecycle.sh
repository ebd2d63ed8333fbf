#!/bin/bash
# lifecycle.sh - what each program of a workunit's life costs; see README.md.
#
#   lifecycle.sh [N]       QUORATE_TOP: the source folder, QUORATE_BUILDDIR:
#                          where it was built
#   PROFILE=PROGRAM        run this one under `perf record`, to perf.data
N=${1:-100000}
case $N in
'' | *[!0-9]* | 0*)
	echo "usage: $0 [NUMBER_OF_WORKUNITS]" >&2
	exit 100
	;;
esac
# shellcheck source=test/lib/bare.sh
. "${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}/test/lib/bare.sh"

# More memory than the tests' servers have: as a server for this would be set up.
MARIADB_EXTRA='innodb_buffer_pool_size = 1G
innodb_log_file_size = 512M
innodb_flush_method = O_DIRECT'
bare_new bench
bare_app
sql "UPDATE app SET target_nresults = 0"
sql "INSERT INTO user (id, create_time, name, email_addr, authenticator, teamid)
    SELECT seq, 1, CONCAT('u', seq), CONCAT('u', seq), MD5(seq), seq % 50 + 1
    FROM seq_1_to_1000;
    INSERT INTO team (id, create_time, userid, name, type)
    SELECT seq, 1, seq, CONCAT('t', seq), 1 FROM seq_1_to_50;
    INSERT INTO host (id, create_time, userid, rpc_time, p_ncpus, p_fpops)
    SELECT seq, 1, (seq - 1) % 1000 + 1, 1, 4, 4e9 FROM seq_1_to_2000"
mkdir -p "$PROJECT/templates"
cp "$top/test/data/keys/upload_private" "$PROJECT/keys/"
cat >"$PROJECT/templates/demo_in" <<-END
	<input_template>
	<workunit>
	    <min_quorum>2</min_quorum>
	    <target_nresults>2</target_nresults>
	    <max_total_results>4</max_total_results>
	    <rsc_fpops_est>1e13</rsc_fpops_est>
	    <rsc_fpops_bound>1e16</rsc_fpops_bound>
	</workunit>
	</input_template>
END
cat >"$PROJECT/templates/demo_out" <<-END
	<output_template>
	<result>
	</result>
	</output_template>
END

# ---- the server's counters ---------------------------------------------------

counters() { # statements, commits, microseconds of CPU
	local cpu
	cpu=$(awk -v hz="$(getconf CLK_TCK)" '{sub(/.*\) /, "")
		printf "%d", ($12 + $13) * 1000000 / hz}' \
		"/proc/$(cat "$T/db/mariadbd.pid")/stat")
	sql "SELECT SUM(IF(variable_name = 'QUESTIONS', variable_value, 0)),
		SUM(IF(variable_name = 'COM_COMMIT', variable_value, 0))
		FROM information_schema.global_status" |
		awk -v cpu="$cpu" '{print $1, $2, cpu}'
}

failed=0

# step TITLE COMMAND…: run it, print its row.
step() {
	local title=$1 before after times status
	shift
	before=$(counters)
	times=$( { TIMEFORMAT='%R %U %S'; time "$@" >"$T/step.out" 2>"$T/step.log"; } 2>&1)
	status=$?
	after=$(counters)
	if [ $status -ne 0 ]; then
		echo "$title failed:" >&2
		tail -n 3 "$T/step.log" >&2
		failed=1
	fi
	echo "$before $after $times" | awk -v n="$N" -v u="$U" -v title="$title" '{
		rate = n / $7
		printf "%-34s %8.0f %7.2f %8.3f %10.4f %9.1f %8.1f\n", title, rate,
		    rate / u, ($4 - $1 - 1) / n, ($5 - $2) / n,
		    ($8 + $9) * 1e6 / n, ($6 - $3) / n}'
}

daemon() { # TITLE PROGRAM [ARG…]
	local title=$1 program=$2
	shift 2
	if [ "${PROFILE:-}" = "$program" ]; then
		step "$title" perf record -q -g -o perf.data \
			"$build/daemons/$program" --one_pass "$@"
	else
		step "$title" "$build/daemons/$program" --one_pass "$@"
	fi
}

expect() { # COUNT SQL
	local got
	got=$(sql "$2")
	[ "$got" = "$1" ] && return
	echo "expected $1, got $got: $2" >&2
	failed=1
}

# ---- the yardstick -----------------------------------------------------------

mariadb_client "$T/db" -e "CREATE DATABASE scratch"
"$build/test/bench/dbload" -S "$T/db/db.sock" -u "$(id -un)" -d scratch \
	-s "${SECONDS_EACH:-1}" >"$T/dbload.out" || exit 1
mariadb_client "$T/db" -e "DROP DATABASE scratch"
U=$(sed -n 's/^update .*conns=8 .*rows_s=//p' "$T/dbload.out")
[ -n "$U" ] || {
	echo "dbload says nothing of 8 connections that update" >&2
	exit 1
}
echo "$(nproc) cores: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
echo "$(mariadb_client "$T/db" -N -e 'SELECT VERSION()'), $N workunits of two results"
echo "U = $U single-row transactions a second on 8 connections"
printf '%-34s %8s %7s %8s %10s %9s %8s\n' step WU/s 'x U' SQL/WU commits/WU \
	'own CPU' 'db CPU'

# ---- the life ----------------------------------------------------------------

seq "$N" | sed 's/.*/--wu_name w&/' >"$T/jobs"
submit() {
	(cd "$PROJECT" && "$build/tools/create_work" --appname demo --stdin <"$T/jobs")
}
step "create_work --stdin" submit
expect "$N" "SELECT COUNT(*) FROM workunit"
daemon "transitioner: makes results" transitioner
expect $((2 * N)) "SELECT COUNT(*) FROM result"
# As schedulers would have left them, a piece at a time.
for ((from = 0; from <= 2 * N; from += 20000)); do
	sql "UPDATE result SET server_state = 5, outcome = 1, client_state = 5,
	    hostid = (id * 7) % 2000 + 1, userid = (id * 7) % 1000 + 1,
	    sent_time = UNIX_TIMESTAMP() - 7200, received_time = UNIX_TIMESTAMP(),
	    report_deadline = UNIX_TIMESTAMP() + 86400, cpu_time = 3500,
	    elapsed_time = 3600, flops_estimate = 3e9, app_version_id = 11,
	    stderr_out = REPEAT('x', 1000) WHERE id > $from AND id <= $from + 20000;
	    UPDATE workunit SET transition_time = UNIX_TIMESTAMP()
	    WHERE id > $from AND id <= $from + 20000"
done
daemon "transitioner: both reported" transitioner
expect "$N" "SELECT COUNT(*) FROM workunit WHERE need_validate = 1"
daemon "validator (trivial), with credit" sample_trivial_validator --app demo
expect "$N" "SELECT COUNT(*) FROM workunit WHERE canonical_resultid <> 0"
daemon "assimilator (copy, no files)" sample_copy_assimilator --app demo
expect "$N" "SELECT COUNT(*) FROM workunit WHERE assimilate_state = 2"
daemon "transitioner: after assimilation" transitioner
expect "$N" "SELECT COUNT(*) FROM workunit WHERE file_delete_state = 1"
daemon "file_deleter" file_deleter
expect "$N" "SELECT COUNT(*) FROM workunit WHERE file_delete_state = 2"
daemon "db_purge, XML archive" db_purge
expect 0 "SELECT COUNT(*) FROM workunit"
exit $failed
