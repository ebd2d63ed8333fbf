#!/bin/bash
# chaos.sh - a whole project under 500 simulated volunteers while programs are
# killed, the database is restarted, the feeder is stopped, the disk is full, the
# clock is stepped and the shared memory is removed; then it is drained, and
# nothing may be lost, doubled or left over.
#
#   chaos.sh [MINUTES [SEED]]         by hand: make chaos MINUTES=20 SEED=2
#
# The seed gives the sequence of deeds and the traits of the volunteers; how they
# meet is the machine's affair.  TAP on stdout.  KEEP_LOGS=DIR: logs go there;
# else to chaos-logs in the build folder if it fails.
#
# CHAOS_BUILD: where test/chaos was built.  QUORATE_PREFIX: the installation.
MINUTES=${1:-2}
SEED=${2:-1}
HOSTS=${HOSTS:-500}
DEADLINE=${DEADLINE:-30} # of jobs, s
PACE=${PACE:-6}          # s between two requests of a volunteer
CUSHION=${CUSHION:-600}  # results that wait to be sent
LEAST=${LEAST:-100}      # workunits that must finish in each minute
MOST_MB=${MOST_MB:-12}   # private memory of a program
# shellcheck source=test/lib/scenario.sh
. "$(dirname "$0")/../lib/scenario.sh"
# shellcheck source=test/chaos/deeds.sh
. "$top/test/chaos/deeds.sh"
# shellcheck source=test/chaos/checks.sh
. "$top/test/chaos/checks.sh"
build=${CHAOS_BUILD:-$top/build/tests/gcc/test/chaos}
[ -x "$build/volunteers" ] || {
	echo "Bail out! test/chaos is not built in $build (make chaos does it)"
	exit 1
}

# ---- the project ----------------------------------------------------------------
chaos_config() {
	project_option min_sendwork_interval 0
	project_option daily_result_quota 1000000
	project_option max_wus_to_send 4
	project_option shmem_work_items 1000
	project_option feeder_query_size 2000
	project_option one_result_per_host_per_wu 1
	project_option maintenance_delay 5
	sed -i '/<daemons>/,/<\/daemons>/d' "$PROJECT/config.xml"
	local cmd list=
	for cmd in "feeder --sleep_interval 1" \
		"transitioner --sleep_interval 1" \
		"sample_bitwise_validator --app uppercase --credit_from_wu --sleep_interval 1" \
		"assimilator --hooks $build/ledger.so --app uppercase --sleep_interval 1" \
		"file_deleter --sleep_interval 1" \
		"db_purge --min_age_days 0.0005 --gzip --max_wu_per_file 300 --sleep_interval 2"; do
		list="$list        <daemon><cmd>$cmd</cmd></daemon>\\n"
	done
	sed -i "s#^</boinc>#    <daemons>\\n$list    </daemons>\\n&#" \
		"$PROJECT/config.xml"
}

# 250 accounts of two computers each.
accounts_new() {
	local i values=
	for i in $(seq 1 $((HOSTS / 2))); do
		values="$values${values:+,}($i, UNIX_TIMESTAMP(), 'u$i@example.org',
			'User $i', MD5('key $i'), MD5('cpid $i'), 'x')"
	done
	mariadb_client "$T/db" "$DB_NAME" <<-END || fail "no accounts"
		SET sql_mode = '';
		INSERT INTO user (id, create_time, email_addr, name, authenticator,
		    cross_project_id, passwd_hash) VALUES $values;
	END
	sql "SELECT authenticator FROM user ORDER BY id" >"$T/keys"
}

# Everything that this shell starts from now on runs under the shim.
shim_on() {
	export LD_PRELOAD=$build/chaos_shim.so QUORATE_CHAOS=$T/control \
		QUORATE_CHAOS_DISK=$PROJECT/upload
}

with_chaos() { # COMMAND…
	(
		shim_on
		exec "$@"
	)
}

# ---- what keeps it going ----------------------------------------------------------
# Each is a loop in a process of its own until the file $T/stop_NAME is there.

# Work: a batch is submitted again until it is known to be in.
producer() {
	local first=1 n=50 waiting
	while [ ! -e "$T/stop_producer" ]; do
		waiting=$(sql "SELECT COUNT(*) FROM result WHERE server_state = 2" \
			2>/dev/null)
		if [ "${waiting:-999999}" -gt "$CUSHION" ]; then
			sleep 0.5
			continue
		fi
		mkdir -p "$T/inputs"
		"$build/volunteers" --inputs "$T/inputs" $first $n
		until submit; do
			[ -e "$T/give_up_producer" ] && return
			sleep 0.5
		done
		rm -rf "$T/inputs"
		first=$((first + n))
		echo $((first - 1)) >"$T/produced"
	done
}

submit() {
	(
		cd "$PROJECT" || exit 1
		with_chaos bin/stage_file --copy "$T/inputs" &&
			(cd "$T/inputs" && ls) |
			sed 's/\(.*\)\.in/--wu_name \1 &/' | with_chaos bin/create_work --appname uppercase \
				--min_quorum 2 --target_nresults 2 \
				--max_error_results 100 --max_total_results 200 \
				--max_success_results 100 --rsc_fpops_est 4e9 \
				--rsc_fpops_bound 1e15 --rsc_disk_bound 1e7 \
				--delay_bound "$DEADLINE" --stdin >/dev/null
	) >>"$T/producer.log" 2>&1
}

# What a service manager does: web server and supervisor are started again if
# they died, and programs that died so often that they have to wait, at once.
keeper() {
	local turn=0
	while [ ! -e "$T/stop_keeper" ]; do
		web_alive || web_start
		if [ $((turn++ % 3)) = 0 ] && [ ! -e "$T/db_down" ]; then
			(cd "$PROJECT" && with_chaos timeout 20 bin/start) \
				>>"$T/start.log" 2>&1
		fi
		sleep 1
	done
}

web_servers() {
	ours_called "^lighttpd -D -f $PROJECT/"
}

web_alive() {
	[ -n "$(web_servers)" ]
}

# The programs of a web server that was killed go with it, as in a unit of
# systemd.  Returns when the new one is there to be seen, or else a slow machine
# would get two.
web_start() {
	local pid
	for pid in $(web_servers) $(web_programs); do
		kill -KILL "$pid" 2>/dev/null
	done
	(
		shim_on
		exec setsid lighttpd -D -f "$PROJECT/lighttpd.conf"
	) >>"$T/lighttpd.log" 2>&1 </dev/null &
	disown
	wait_for 10 web_alive
}

web_stop() {
	local pid
	for pid in $(web_servers); do
		kill "$pid" 2>/dev/null
	done
	wait_for 5 web_gone
	for pid in $(web_servers) $(web_programs); do
		kill -KILL "$pid" 2>/dev/null
	done
}

web_gone() {
	[ -z "$(web_servers)$(web_programs)" ]
}

# ---- the end of the script --------------------------------------------------------
chaos_end() { # status
	trap '' INT TERM HUP
	touch "$T/stop_producer" "$T/give_up_producer" "$T/stop_keeper"
	[ -z "${volunteers_pid:-}" ] || kill -KILL "$volunteers_pid" 2>/dev/null
	sleep 1
	kill "${keeper_pid:-}" "${producer_pid:-}" 2>/dev/null
	thaw_all
	web_stop
	if [ "$1" != 0 ] || [ $broken -gt 0 ]; then
		KEEP_LOGS=${KEEP_LOGS:-$build/chaos-logs}
		mkdir -p "$T/keep"
		cp "$PROJECT/config.xml" "$PROJECT/results.ledger" "$T/journal" \
			"$T/audit.txt" "$T/keep/" 2>/dev/null
		mariadb-dump --no-defaults --socket="$T/db/db.sock" \
			--user="$(id -un)" "$DB_NAME" workunit result host user \
			>"$T/keep/rows.sql" 2>/dev/null
	fi
	(cd "$PROJECT" && timeout 60 bin/stop --force) >>"$T/stop.log" 2>&1
	disk_unmount
	if [ -d "$T/keep" ]; then
		rm -rf "$KEEP_LOGS"
		project_logs "$KEEP_LOGS"
		cp -r "$T/keep/." "$KEEP_LOGS/"
		echo "# logs: $KEEP_LOGS"
		KEEP_LOGS=
	fi
	project_end "$1"
}

# ---- the run ------------------------------------------------------------------------
project_new chaos
disown -a # the database: no word about its deaths
trap 'chaos_end $?' EXIT
H=$(basename "$PROJECT"/log_*)
H=${H#log_}
control 0 0
disk_mount
chaos_config
accounts_new
web_start
with_chaos "$PROJECT/bin/start" >>"$T/start.log" 2>&1 || {
	cat "$T/start.log" >&2
	fail "bin/start"
}
echo 0 >"$T/produced"
producer &
producer_pid=$!
keeper &
keeper_pid=$!
wait_for 30 web_alive
"$build/volunteers" --scheduler "http://127.0.0.1:$HTTP_PORT/chaos_cgi/cgi" \
	--keys "$T/keys" --journal "$T/journal" --hosts "$HOSTS" --seed "$SEED" \
	--deadline "$DEADLINE" --pace "$PACE" >"$T/volunteers.txt" \
	2>"$T/volunteers.log" &
volunteers_pid=$!

echo "# seed $SEED, $MINUTES minutes, $HOSTS volunteers, full disk by $disk_by"
started=$SECONDS
deeds $((MINUTES * 60))
echo "# chaos ends after $((SECONDS - started)) s: $(progress)"
in_chaos=$(awk '{ print $1 }' "$PROJECT/results.ledger" | sort -u | wc -l)
drain
tell_counters
check_all
chaos_promises_end
