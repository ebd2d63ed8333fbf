# lib.sh - a project to be measured: private MariaDB set up as a server for this
# would be, accounts, computers, an application, jobs, feeder, schedulers behind
# lighttpd; the yardstick U; what a command costs.  Sourced by the scripts of
# test/bench, on top of test/lib/bare.sh.
#
#   bench_new                   make it: $T (data), $PROJECT (root)
#   bench_config [ELEMENTS]     config.xml with these besides
#   yardstick                   measure U again; $U is the mean so far
#   hosts_new                   1 000 accounts and 2 000 computers, by SQL
#   seed_job                    a workunit by create_work and transitioner, the
#                               pattern of all that jobs_sql makes
#   jobs_sql COUNT [COLUMN = VALUE, …]   workunits of two unsent results each
#   jobs_clear                  no workunits any more
#   feeder_up, feeder_down; filled COUNT: wait for so many jobs in the array
#   web_up fcgi|cgi [WORKERS]   schedulers: $RPC_URL, uploads: $UPLOAD_URL
#   web_down
#   rpcload HOSTS [OPTION…]     as so many of the computers
#   measured COMMAND…           run it; sets statements, commits, cpu_* (s) and
#                               elapsed (s); its output is in $T/out
#   of KEY                      a value from the line of rpcload in $T/out
#   row_save …                  a row of the table, with what measured() found
#
# Options of scripts are variables in capitals; their defaults are below.
# shellcheck source=test/lib/bare.sh
. "${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}/test/lib/bare.sh"

POOL=${POOL:-1G}           # of MariaDB
U_SECONDS=${U_SECONDS:-2}  # for each measurement of the yardstick
WORKERS=${WORKERS:-8}      # FastCGI schedulers
HOSTS=2000
USERS=1000

PATH=$PATH:/usr/sbin:/sbin
hz=$(getconf CLK_TCK)
web_pid=
U=
u_sum=0
u_count=0

bench_end() {
	web_down
	if [ -n "${bench_pids:-}" ]; then
		# shellcheck disable=SC2086
		kill $bench_pids 2>/dev/null
		# shellcheck disable=SC2086
		wait $bench_pids 2>/dev/null
	fi
	bare_end "$1"
}

bench_new() {
	local program
	for program in "$build/test/bench/dbload" "$build/test/bench/rpcload"; do
		[ -x "$program" ] || {
			echo "$program is not built: make bench builds it" >&2
			exit 1
		}
	done
	MARIADB_EXTRA="innodb_buffer_pool_size = $POOL
		innodb_log_file_size = 1G
		innodb_flush_log_at_trx_commit = 1
		innodb_flush_method = O_DIRECT
		${MARIADB_MORE:-}"
	bare_new bench
	trap 'bench_end $?' EXIT
	bare_app
	sql "UPDATE app SET target_nresults = 0"
	mkdir -p "$PROJECT/templates"
	cp "$top"/test/data/keys/upload{,_ed25519}_private "$PROJECT/keys/"
	# the folders of a project that has been at work for long
	(cd "$PROJECT/upload" && seq 0 1023 | xargs printf '%x ' | xargs mkdir)
	templates
	bench_config ""
}

# The limits of config.xml are open, since a few hundred computers do the work of
# many more; the rest is as in the measurements of BOINC that we compare with.
bench_config() { # ELEMENTS
	bare_config "<daily_result_quota>1000000</daily_result_quota>
		    <max_wus_in_progress>100000</max_wus_in_progress>
		    <max_wus_to_send>50</max_wus_to_send>
		    <send_result_abort>1</send_result_abort>
		    ${BENCH_CONFIG:-} ${1:-}"
}

# One output file, which may be missing: nobody uploads any, and programs still
# look for it.
templates() {
	cat >"$PROJECT/templates/demo_in" <<-END
		<input_template>
		<workunit>
		    <min_quorum>2</min_quorum>
		    <target_nresults>2</target_nresults>
		    <max_total_results>4</max_total_results>
		    <rsc_fpops_est>1e13</rsc_fpops_est>
		    <rsc_fpops_bound>1e16</rsc_fpops_bound>
		    <rsc_memory_bound>1e8</rsc_memory_bound>
		    <rsc_disk_bound>1e8</rsc_disk_bound>
		    <delay_bound>604800</delay_bound>
		</workunit>
		</input_template>
	END
	cat >"$PROJECT/templates/demo_out" <<-END
		<output_template>
		<file_info>
		    <name><OUTFILE_0/></name>
		    <generated_locally/>
		    <upload_when_present/>
		    <max_nbytes>1000000</max_nbytes>
		    <url><UPLOAD_URL/></url>
		</file_info>
		<result>
		    <file_ref>
		        <file_name><OUTFILE_0/></file_name>
		        <open_name>out</open_name>
		        <optional/>
		    </file_ref>
		</result>
		</output_template>
	END
}

# ---- the yardstick -----------------------------------------------------------

yardstick() {
	local u
	mariadb_client "$T/db" -e "CREATE DATABASE IF NOT EXISTS scratch"
	u=$("$build/test/bench/dbload" -S "$T/db/db.sock" -u "$(id -un)" \
		-d scratch -s "$U_SECONDS" -y | sed -n 's/^update .*rows_s=//p')
	[ -n "$u" ] || {
		echo "dbload says nothing of 8 connections that update" >&2
		exit 1
	}
	u_sum=$((u_sum + u))
	u_count=$((u_count + 1))
	U=$((u_sum / u_count))
	[ "$u" -ge "${u_least:=$u}" ] || u_least=$u
	[ "$u" -le "${u_most:=$u}" ] || u_most=$u
}

machine() {
	echo "$(nproc) cores: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo |
		head -n 1), $(sed -n 's/PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
	echo "MariaDB $(sql 'SELECT VERSION()'), flush_log_at_trx_commit = 1, pool $POOL"
}

# ---- rows --------------------------------------------------------------------

# Computers that were here once; rpcload plays them.
hosts_new() {
	sql "INSERT INTO user (id, create_time, name, email_addr, authenticator,
	    passwd_hash, cross_project_id, teamid)
	    SELECT seq, 1700000000, CONCAT('u', seq), CONCAT('u', seq), MD5(seq),
	    MD5(seq), MD5(seq), seq % 50 + 1 FROM seq_1_to_$USERS;
	    INSERT INTO team (id, create_time, userid, name, type)
	    SELECT seq, 1700000000, seq, CONCAT('t', seq), 1 FROM seq_1_to_50;
	    INSERT INTO host (id, create_time, userid, rpc_time, p_ncpus, p_fpops,
	    m_nbytes, domain_name)
	    SELECT seq, 1700000000, (seq - 1) % $USERS + 1, 1700000000, 16, 4.7e9,
	    33e9, CONCAT('host', LPAD(seq - 1, 7, '0')) FROM seq_1_to_$HOSTS"
	sql "SELECT h.id, u.authenticator, 0 FROM host h JOIN user u
	    ON u.id = h.userid ORDER BY h.id" | tr '\t' ' ' >"$T/hosts"
}

seed_job() {
	(cd "$PROJECT" && "$build/tools/create_work" --appname demo \
		--wu_name bseedb) >"$T/seed.log" 2>&1 || {
		cat "$T/seed.log" >&2
		exit 1
	}
	"$build/daemons/transitioner" --one_pass >>"$T/seed.log" 2>&1
	sql "CREATE TABLE scratch.workunit SELECT * FROM workunit;
	    CREATE TABLE scratch.result SELECT * FROM result;
	    DELETE FROM result; DELETE FROM workunit"
	next_job=1
}

# copy_columns TABLE [NAME EXPRESSION]…: "columns) SELECT expressions" that copy
# a row of scratch.TABLE but for these.
copy_columns() {
	local table=$1 name names='' values=''
	declare -A changed=()
	shift
	while [ $# -gt 0 ]; do
		changed[$1]=$2
		shift 2
	done
	for name in $(sql "SELECT column_name FROM information_schema.columns
	    WHERE table_schema = 'scratch' AND table_name = '$table'"); do
		names="$names, \`$name\`"
		values="$values, ${changed[$name]:-\`$name\`}"
	done
	echo "(${names#, }) SELECT ${values#, }"
}

# Workunit n is "wn"; its results are 2n - 1 and 2n.  The texts of the seed are
# those of the real programs, its name "bseedb" in them is replaced.
jobs_sql() { # COUNT [COLUMN = VALUE, …]
	local first=$next_job last wu result k
	last=$((next_job + $1 - 1))
	wu=$(copy_columns workunit id seq name "CONCAT('w', seq)" \
		xml_doc "REPLACE(xml_doc, 'bseedb', CONCAT('w', seq))" \
		transition_time "${JOBS_TRANSITION:-UNIX_TIMESTAMP() + 604800}")
	while [ "$first" -le "$last" ]; do
		local to=$((first + 19999))
		[ $to -le "$last" ] || to=$last
		sql "INSERT INTO workunit $wu FROM scratch.workunit, seq_${first}_to_$to;
		${2:+UPDATE workunit SET $2 WHERE id >= $first;}"
		for k in 0 1; do
			result=$(copy_columns result id "seq * 2 - 1 + $k" \
				workunitid seq name "CONCAT('w', seq, '_$k')" \
				random "FLOOR(RAND() * 2147483647)" xml_doc_in \
				"REPLACE(xml_doc_in, 'bseedb', CONCAT('w', seq))")
			sql "INSERT INTO result $result FROM scratch.result,
			seq_${first}_to_$to WHERE name LIKE '%_$k'"
		done
		first=$((to + 1))
	done
	next_job=$((last + 1))
}

jobs_clear() {
	sql "TRUNCATE result; TRUNCATE workunit"
	next_job=1
}

# ---- programs ----------------------------------------------------------------

filled() { # COUNT
	local _
	for _ in $(seq 1 600); do
		[ "$(cd "$PROJECT" && "$build/tools/show_shmem" --json |
			grep -c '"result": ')" -ge "$1" ] && return
		sleep 0.1
	done
	echo "the feeder does not fill $1 slots" >&2
	exit 1
}

# The feeder as it is by default; bare.sh's looks more often.
feeder_up() {
	(cd "$PROJECT" && exec "$build/daemons/feeder" ${FEEDER_OPTIONS:-} \
		>>"$PROJECT/log/feeder.log" 2>&1) &
	feeder_pid=$!
	local _
	for _ in $(seq 1 100); do
		shmem '"slots"' && return
		sleep 0.1
	done
	cat "$PROJECT/log/feeder.log" >&2
	exit 1
}

# Below the range from which outgoing connections take theirs.
free_port() {
	local port
	while :; do
		port=$((10000 + RANDOM % 20000))
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
	done
	ret_port=$port
}

fastcgi_part() { # URL PROGRAM WORKERS
	cat <<-END
		\$HTTP["url"] == "/$1" {
		    server.stream-request-body = 2
		    fastcgi.server = ( "/" => ((
		        "bin-path" => "$build/sched/$2",
		        "socket" => "$T/$1.sock",
		        "min-procs" => $3, "max-procs" => $3,
		        "check-local" => "disable",
		        "bin-environment" => ( "QUORATE_PROJECT_DIR" => "$PROJECT" )
		    )))
		}
	END
}

cgi_part() { # URL PROGRAM
	cat <<-END
		\$HTTP["url"] == "/$1" {
		    alias.url = ( "/$1" => "$build/sched/$2" )
		    cgi.assign = ( "" => "" )
		    setenv.set-environment = ( "QUORATE_PROJECT_DIR" => "$PROJECT" )
		}
	END
}

# As make_project configures it, but for the number of schedulers.
web_up() { # fcgi|cgi [WORKERS]
	web_kind=$1
	free_port
	mkdir -p "$T/web"
	{
		cat <<-END
			server.modules = ( "mod_alias", "mod_setenv",
			    "mod_fastcgi", "mod_cgi" )
			server.document-root = "$T/web"
			server.port = $ret_port
			server.bind = "127.0.0.1"
			server.errorlog = "$T/lighttpd.log"
			server.breakagelog = "$T/cgi_stderr.log"
			server.upload-dirs = ( "$T/web" )
			server.tag = ""
			server.max-keep-alive-idle = 5
			server.max-fds = 16384
			server.max-connections = ${WEB_CONNECTIONS:-4096}
		END
		if [ "$1" = fcgi ]; then
			fastcgi_part cgi scheduler "${2:-$WORKERS}"
			fastcgi_part upload file_upload_handler 4
		else
			cgi_part cgi scheduler
			cgi_part upload file_upload_handler
		fi
	} >"$T/lighttpd.conf"
	lighttpd -D -f "$T/lighttpd.conf" >>"$T/lighttpd.log" 2>&1 &
	web_pid=$!
	RPC_URL=http://127.0.0.1:$ret_port/cgi
	UPLOAD_URL=http://127.0.0.1:$ret_port/upload
	local _
	for _ in $(seq 1 100); do
		(exec 3<>"/dev/tcp/127.0.0.1/$ret_port") 2>/dev/null && return
		sleep 0.1
	done
	cat "$T/lighttpd.log" >&2
	exit 1
}

web_down() {
	[ -n "$web_pid" ] || return 0
	kill "$web_pid" 2>/dev/null
	wait "$web_pid" 2>/dev/null
	web_pid=
}

children_of() { # PID PROGRAM
	local pid list=
	for pid in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "${2:0:15}" ] &&
			list="$list $pid"
	done
	echo "$list"
}

rpcload() { # HOSTS [OPTION…]
	local n=$1 status
	shift
	head -n "$n" "$T/hosts" >"$T/hosts.in"
	"$build/test/bench/rpcload" -u "$RPC_URL" -f "$T/hosts.in" -H "$n" \
		-o "$T/hosts.out" "$@"
	status=$?
	tail -n +$((n + 1)) "$T/hosts" >>"$T/hosts.out"
	mv "$T/hosts.out" "$T/hosts"
	return $status
}

# ---- costs -------------------------------------------------------------------

# ticks PID…: CPU of these, and of the children that they have waited for.
ticks() {
	local pid line sum=0
	for pid; do
		line=$(cat "/proc/$pid/stat" 2>/dev/null) || continue
		# shellcheck disable=SC2086
		set -- ${line##*) }
		sum=$((sum + ${12} + ${13} + ${14} + ${15}))
	done
	echo $sum
}

counters() { # statements, commits, ticks of: database, schedulers, web, feeder
	# shellcheck disable=SC2046
	echo $(sql "SELECT SUM(IF(variable_name = 'QUESTIONS', variable_value, 0)),
		SUM(IF(variable_name = 'COM_COMMIT', variable_value, 0))
		FROM information_schema.global_status") \
		"$(ticks "$(cat "$T/db/mariadbd.pid")")" \
		"$(ticks $(children_of "${web_pid:-0}" scheduler) \
			$(children_of "${web_pid:-0}" file_upload_handler))" \
		"$(ticks ${web_pid:-})" "$(ticks ${feeder_pid:-})"
}

measured() {
	local a b status times
	read -ra a <<<"$(counters)"
	times=$( { TIMEFORMAT='%R %U %S'; time "$@" >"$T/out" 2>"$T/out.log"; } 2>&1)
	status=$?
	read -ra b <<<"$(counters)"
	read -r elapsed cpu_own cpu_system <<<"$times"
	statements=$((b[0] - a[0] - 1))
	commits=$((b[1] - a[1]))
	read -r cpu_own cpu_db cpu_sched cpu_web cpu_feeder <<<"$(awk -v hz="$hz" \
		"BEGIN { print $cpu_own + $cpu_system, $((b[2] - a[2])) / hz,
		$((b[3] - a[3])) / hz, $((b[4] - a[4])) / hz, $((b[5] - a[5])) / hz }")"
	return $status
}

# row_save TITLE RATE WHAT TARGET BOINC COUNT [P50 P95 P99]: a row for the table,
# with the costs of what was measured() for each of COUNT; say it now, too.
row_save() {
	local title=$1 rate=$2 what=$3 target=$4 boinc=$5 count=$6 program=$cpu_own
	local generator=
	# behind a web server the command that was run made the requests
	if [ -n "$web_pid" ]; then
		generator=$cpu_own
		program=$cpu_sched
		# web server and CGI programs are one account: it waits for them
		[ "$web_kind" = fcgi ] || program=
	fi
	awk -v n="$count" -v title="$title" -v rate="$rate" -v what="$what" \
		-v target="$target" -v boinc="$boinc" -v sql="$statements" \
		-v program="$program" -v web="${web_pid:+$cpu_web}" \
		-v db="$cpu_db" -v generator="$generator" \
		-v feeder="${feeder_pid:+$cpu_feeder}" -v late="${7:-}	${8:-}	${9:-}" '
		function each(seconds) {
			return seconds == "" || n == 0 ? "" : 1000 * seconds / n
		}
		BEGIN {
			OFS = "\t"
			print title, rate, what, target, boinc, (n > 0 ? sql / n : ""), each(program),
			    each(web), each(db), each(generator), each(feeder), late
		}' | tee -a "$T/rows" | awk -v U="$U" -v head=0 -f "$top/test/bench/table.awk"
}

rows_heading() {
	awk -f "$top/test/bench/table.awk" /dev/null
}

of() { # KEY
	sed -n "s/.*\b$1=\([0-9.]*\).*/\1/p" "$T/out" | head -n 1
}
