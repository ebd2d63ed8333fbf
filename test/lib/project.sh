# project.sh - a whole project for a demo or a test: private database, web
# server, daemons and real clients, all of which end with the script.
# Sourced by bash scripts; $top is the source folder, $prefix where Quorate is
# installed.
#
#   project_new NAME       make it: $T (data), $PROJECT (root), $URL (master URL)
#   project_up             web server and daemons
#   project_down           daemons and web server
#   version_new VERSION    publish the example application again
#   account_new EMAIL NAME make an account; prints its key
#   client_up NAME KEY [options of boinc]
#   client_down NAME
#   sql STATEMENT          rows, tab-separated
#   wait_for SECONDS CONDITION…   until the command is true
#
# Everything lies in a fresh folder under $TMPDIR that is removed at the end;
# with KEEP_LOGS=DIR the logs are copied there first.

# shellcheck source=test/lib/mariadb.sh
. "$top/test/lib/mariadb.sh"

PATH=$prefix/bin:$PATH:/usr/sbin:/sbin
export PATH
password=secret7

say() {
	printf '%s\n' "$*"
}

fail() {
	printf 'FAILED: %s\n' "$*" >&2
	exit 1
}

# free_port: a TCP port of loopback that nobody uses; no port twice in a script.
ports_given=" "
free_port() {
	local port
	while :; do
		port=$((20000 + (RANDOM * 32768 + RANDOM) % 30000))
		case $ports_given in *" $port "*) continue ;; esac
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && continue
		ports_given="$ports_given$port "
		ret_port=$port
		return
	done
}

wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.5
	done
}

sql() {
	mariadb_client "$T/db" --batch --skip-column-names "$DB_NAME" -e "$1"
}

project_new() {
	local name=$1
	shift
	T=$(mktemp -d "${TMPDIR:-/tmp}/quorate-$name.XXXXXX") || exit 1
	chmod 755 "$T"
	trap 'project_end $?' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	clients=()
	PROJECT=$T/project
	DB_NAME=$name
	DB_PASSWD=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
	mariadb_start "$T/db" || fail "no database"
	mariadb_new_database "$T/db" "$DB_NAME" quorate "$DB_PASSWD" ||
		fail "no database $DB_NAME"
	free_port
	HTTP_PORT=$ret_port
	make_project --project_root "$PROJECT" \
		--url_base "http://127.0.0.1:$HTTP_PORT/" --http_port "$HTTP_PORT" \
		--db_host "$T/db/db.sock" --db_name "$DB_NAME" --db_user quorate \
		--db_passwd "$DB_PASSWD" --no_query --test_app "$@" \
		"$name" "Quorate $name" >"$T/make_project.log" 2>&1 || {
		cat "$T/make_project.log" >&2
		fail "make_project"
	}
	URL=http://127.0.0.1:$HTTP_PORT/$name/
	export QUORATE_PROJECT_DIR=$PROJECT
	(cd "$PROJECT" && bin/xadd && bin/update_versions --noconfirm) \
		>"$T/publish.log" 2>&1 || {
		cat "$T/publish.log" >&2
		fail "publishing the example application"
	}
}

# project_option NAME VALUE: set an element of config.xml.
project_option() {
	sed -i -e "/<$1>.*<\/$1>/d" -e "/<$1\/>/d" \
		-e "s|^\( *\)</config>|\1    <$1>$2</$1>\n\1</config>|" \
		"$PROJECT/config.xml"
}

# version_new VERSION [elements of version.xml]: publish the example application
# once more.
version_new() {
	local platform dir
	platform=$(basename "$PROJECT"/apps/uppercase/1.0/*)
	dir=$PROJECT/apps/uppercase/$1/$platform
	mkdir -p "$dir"
	cp "$PROJECT/apps/uppercase/1.0/$platform/uppercase_1.0_$platform" \
		"$dir/uppercase_$1_$platform"
	cat >"$dir/version.xml" <<-EOF
		<version>
		   <file>
		      <physical_name>uppercase_$1_$platform</physical_name>
		      <main_program/>
		   </file>
		   ${2:-}
		</version>
	EOF
	(cd "$PROJECT" && bin/update_versions --noconfirm) >>"$T/publish.log" 2>&1 || {
		cat "$T/publish.log" >&2
		fail "publishing version $1"
	}
}

web_up() {
	lighttpd -D -f "$PROJECT/lighttpd.conf" >>"$T/lighttpd.log" 2>&1 &
	web_pid=$!
	wait_for 20 curl -sf -o "$T/master.html" "$URL" ||
		fail "the web server does not answer; see $T/lighttpd.log"
}

web_down() {
	[ -n "${web_pid:-}" ] || return 0
	kill "$web_pid" 2>/dev/null
	wait "$web_pid" 2>/dev/null
	web_pid=
}

project_up() {
	web_up
	(cd "$PROJECT" && bin/start) >>"$T/start.log" 2>&1 || {
		cat "$T/start.log" >&2
		fail "bin/start"
	}
}

project_down() {
	(cd "$PROJECT" && bin/stop) >>"$T/stop.log" 2>&1
	web_down
}

# account_new EMAIL NAME: make an account as a client does; prints its key.
account_new() {
	local hash
	hash=$(printf '%s%s' "$password" "$1" | md5sum | cut -c1-32)
	curl -sfG "${URL}create_account.php" --data-urlencode "email_addr=$1" \
		--data-urlencode "passwd_hash=$hash" --data-urlencode "user_name=$2" |
		sed -n 's|.*<authenticator>\(.*\)</authenticator>.*|\1|p'
}

# jobs_new COUNT PREFIX [options of create_work]: COUNT workunits with inputs.
jobs_new() {
	local count=$1 name=$2 i
	shift 2
	mkdir -p "$T/inputs"
	for i in $(seq 1 "$count"); do
		printf 'hello from workunit %s of %s\n' "$i" "$name" \
			>"$T/inputs/${name}_$i.in"
	done
	(
		cd "$PROJECT" || exit 1
		bin/stage_file --copy "$T/inputs" || exit 1
		for i in $(seq 1 "$count"); do
			printf -- '--wu_name %s_%s %s_%s.in\n' "$name" "$i" "$name" "$i"
		done | bin/create_work --appname uppercase --min_quorum 2 \
			--target_nresults 2 --max_error_results 5 --max_total_results 12 \
			--max_success_results 8 --rsc_fpops_est 5e9 \
			--rsc_fpops_bound 1e12 --delay_bound 86400 "$@" --stdin
	) >>"$T/jobs.log" 2>&1 || {
		cat "$T/jobs.log" >&2
		fail "creating jobs"
	}
	rm -rf "$T/inputs"
}

client_cmd() { # NAME, words of boinccmd
	local name=$1
	shift
	boinccmd --host "127.0.0.1:$(cat "$T/client_$name/port")" \
		--passwd "$(cat "$T/client_$name/gui_rpc_auth.cfg")" "$@"
}

client_prefs() { # NAME, extra elements
	cat >"$T/client_$1/global_prefs_override.xml" <<-EOF
		<global_preferences>
		   <run_if_user_active>1</run_if_user_active>
		   <run_on_batteries>1</run_on_batteries>
		   <suspend_cpu_usage>0</suspend_cpu_usage>
		   <cpu_usage_limit>100</cpu_usage_limit>
		   <max_ncpus_pct>100</max_ncpus_pct>
		   <disk_max_used_pct>100</disk_max_used_pct>
		   <disk_min_free_gb>0</disk_min_free_gb>
		   <ram_max_used_busy_pct>90</ram_max_used_busy_pct>
		   <ram_max_used_idle_pct>90</ram_max_used_idle_pct>
		   <work_buf_min_days>0.01</work_buf_min_days>
		   <work_buf_additional_days>0.01</work_buf_additional_days>
		   ${2:-}
		</global_preferences>
	EOF
}

# client_start NAME [options]: the program alone, in its folder.
client_start() {
	local dir=$T/client_$1
	shift
	(
		cd "$dir" || exit 1
		exec setsid boinc --dir "$dir" --gui_rpc_port "$(cat "$dir/port")" \
			--allow_multiple_clients --no_gpus --skip_cpu_benchmarks \
			--no_info_fetch --pers_retry_delay_min 3 --pers_retry_delay_max 6 \
			--sched_retry_delay_min 3 --sched_retry_delay_max 6 "$@" \
			>>"$dir/client.log" 2>&1
	) &
	echo $! >"$dir/pid"
}

client_answers() {
	[ -s "$T/client_$1/gui_rpc_auth.cfg" ] && client_cmd "$1" --get_host_info
}

client_up() { # NAME KEY [options]
	local name=$1 key=$2
	shift 2
	[ -n "$key" ] || fail "client $name has no account key"
	mkdir -p "$T/client_$name"
	free_port
	echo "$ret_port" >"$T/client_$name/port"
	[ -f "$T/client_$name/global_prefs_override.xml" ] || client_prefs "$name"
	cat >"$T/client_$name/cc_config.xml" <<-EOF
		<cc_config>
		   <log_flags><sched_op_debug>1</sched_op_debug>
		   <file_xfer_debug>1</file_xfer_debug><task_debug>1</task_debug></log_flags>
		   <options><report_results_immediately>1</report_results_immediately></options>
		</cc_config>
	EOF
	clients+=("$name")
	client_start "$name" "$@"
	wait_for 30 client_answers "$name" || fail "client $name does not start"
	client_cmd "$name" --project_attach "$URL" "$key" >>"$T/attach.log" 2>&1 ||
		fail "client $name: attach"
}

client_update() { # NAME: contact the scheduler now
	client_cmd "$1" --project "$URL" update
}

client_down() { # NAME
	local dir=$T/client_$1 pid i
	[ -s "$dir/pid" ] || return 0
	pid=$(cat "$dir/pid")
	kill -CONT -- "-$pid" 2>/dev/null
	client_cmd "$1" --quit >/dev/null 2>&1 || kill -TERM "$pid" 2>/dev/null
	for i in $(seq 1 50); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.2
	done
	kill -KILL -- "-$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	rm -f "$dir/pid"
}

# project_logs DIR: copy what tells the story.
project_logs() {
	local log
	mkdir -p "$1"
	cp "$T"/*.log "$1/" 2>/dev/null
	for log in "$PROJECT"/log_*/*; do
		[ -f "$log" ] && cp "$log" "$1/"
	done
	for log in "$T"/client_*/client.log "$T"/client_*/sched_re*.xml; do
		[ -f "$log" ] && cp "$log" \
			"$1/$(basename "$(dirname "$log")")_$(basename "$log")"
	done
	cp "$T/db"/*.log "$1/" 2>/dev/null
	return 0
}

project_end() { # status
	local name
	trap '' INT TERM HUP
	trap - EXIT
	for name in "${clients[@]}"; do
		client_down "$name"
	done
	[ -d "$PROJECT/bin" ] && (cd "$PROJECT" && timeout 60 bin/stop) \
		>>"$T/stop.log" 2>&1
	web_down
	mariadb_stop "$T/db" >/dev/null 2>&1 || mariadb_kill "$T/db" 2>/dev/null
	if [ -n "${KEEP_LOGS:-}" ]; then
		rm -rf "$KEEP_LOGS"
		project_logs "$KEEP_LOGS"
		[ "$1" = 0 ] || echo "logs: $KEEP_LOGS" >&2
	fi
	cd / && rm -rf "$T"
	exit "$1"
}

# no_critical: no line of any log of the project is marked critical.
no_critical() {
	! grep -H '\[CRITICAL\]' "$PROJECT"/log_*/* 
}
