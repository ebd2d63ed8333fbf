# bare.sh - a project of the least that the programs of the web server need:
# private database, config.xml, keys, a feeder; no web server, no client.  They
# are run as plain CGI programs, straight from the build folder.  Sourced by
# bash scripts in test/system.
#
#   bare_new NAME            make it: $T (data), $PROJECT (root)
#   bare_app                 the application "demo", a version for $platform
#   bare_user ID NAME KEY    an account
#   bare_host ID USER [COLUMN = VALUE, …]
#   bare_jobs COUNT [COLUMN = VALUE, …]   workunits of one result each
#   feeder_up, feeder_fill, feeder_down
#   rpc FILE                 a scheduler request; reply in $T/reply.xml, flat in
#                            $T/reply.txt
#   upload FILE              an upload request; reply in $T/upload.txt
#   request [NAME=VALUE…]    write $T/req: a request of Alice's computer
#   sql STATEMENT            rows, tab-separated
#   promise TEXT COMMAND…    one line of TAP; done_promising ends the script
#
# QUORATE_TOP: the source folder; QUORATE_BUILDDIR: where it was built (by hand:
# build/tests/gcc after ./run-tests).
set -u
top=${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${QUORATE_BUILDDIR:-$top/build/tests/gcc}
[ -x "$build/sched/scheduler" ] || {
	echo "Bail out! nothing is built in $build (set QUORATE_BUILDDIR)"
	exit 1
}
# shellcheck source=test/lib/mariadb.sh
. "$top/test/lib/mariadb.sh"
# shellcheck source=test/lib/audit.sh
. "$top/test/lib/audit.sh"

platform=x86_64-pc-linux-gnu
# The keys of the accounts that tests make, as in the captured requests.
ALICE=0123456789abcdef0123456789abcdef
BOB=fedcba9876543210fedcba9876543210
promises=0
broken=0

bare_end() {
	trap - EXIT INT TERM HUP
	feeder_down
	mariadb_stop "$T/db" >/dev/null 2>&1 || mariadb_kill "$T/db"
	if [ -n "${KEEP_LOGS:-}" ]; then
		mkdir -p "$KEEP_LOGS"
		cp "$PROJECT"/log/* "$T"/*.log "$T"/db/*.log "$KEEP_LOGS/" 2>/dev/null
	fi
	rm -rf "$T"
	exit "$1"
}

bare_config() { # extra elements
	cat >"$PROJECT/config.xml" <<-END
		<?xml version="1.0" ?>
		<boinc>
		  <config>
		    <master_url>http://127.0.0.1/$DB_NAME/</master_url>
		    <long_name>Bare project</long_name>
		    <db_host>$T/db/db.sock</db_host>
		    <db_name>$DB_NAME</db_name>
		    <db_user>quorate</db_user>
		    <db_passwd>$DB_PASSWD</db_passwd>
		    <key_dir>$PROJECT/keys</key_dir>
		    <log_dir>$PROJECT/log</log_dir>
		    <download_dir>$PROJECT/download</download_dir>
		    <download_url>http://127.0.0.1/$DB_NAME/download</download_url>
		    <upload_dir>$PROJECT/upload</upload_dir>
		    <upload_url>http://127.0.0.1/${DB_NAME}_cgi/file_upload_handler</upload_url>
		    <uldl_dir_fanout>1024</uldl_dir_fanout>
		    <shmem_key>$SHMEM_KEY</shmem_key>
		    $1
		  </config>
		</boinc>
	END
}

bare_new() {
	T=$(mktemp -d "${TMPDIR:-/tmp}/quorate-$1.XXXXXX") || exit 1
	chmod 755 "$T"
	PROJECT=$T/project
	trap 'bare_end $?' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	DB_NAME=$1
	DB_PASSWD=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
	SHMEM_KEY=0x$(head -c 4 /dev/urandom | od -An -tx1 | tr -d ' \n')
	mkdir -p "$PROJECT"/{cgi-bin,keys,log,upload,download}
	cp "$top"/test/data/keys/{code_sign,upload}_public "$PROJECT/keys/"
	mariadb_start "$T/db" || exit 1
	mariadb_new_database "$T/db" "$DB_NAME" quorate "$DB_PASSWD" || exit 1
	for file in schema.sql indexes.sql; do
		mariadb_client "$T/db" "$DB_NAME" <"$top/db/$file" || exit 1
	done
	# rows of tests name only what matters
	mariadb_client "$T/db" -e "SET GLOBAL sql_mode = ''"
	bare_config ""
	export QUORATE_PROJECT_DIR=$PROJECT
}

sql() {
	mariadb_client "$T/db" --batch --skip-column-names "$DB_NAME" <<<"$1"
}

bare_app() {
	sql "INSERT INTO platform SET id = 1, name = '$platform';
	INSERT INTO app SET id = 1, name = 'demo', user_friendly_name = 'Demo';
	INSERT INTO app_version SET id = 11, appid = 1, platformid = 1,
	    version_num = 100, plan_class = '', xml_doc =
	'<file_info>
	    <name>demo_100</name>
	    <url>http://127.0.0.1/download/demo_100</url>
	    <executable/>
	    <nbytes>18</nbytes>
	</file_info>
	<app_version>
	    <app_name>demo</app_name>
	    <version_num>100</version_num>
	<file_ref>
	    <file_name>demo_100</file_name>
	    <main_program/>
	</file_ref>
	</app_version>
	'"
}

bare_user() {
	sql "INSERT INTO user SET id = $1, create_time = 1700000000, name = '$2',
	    email_addr = '$2@example.org', authenticator = '$3',
	    passwd_hash = 'hash of $2', cross_project_id = REPEAT('c', 32)"
}

bare_host() { # ID USER [COLUMN = VALUE, …]
	sql "INSERT INTO host SET id = $1, userid = $2, create_time = 1700000000,
	    rpc_time = 1700000000, total_credit = 5; ${3:+UPDATE host SET $3 WHERE id = $1};
	    REPLACE INTO x_credit_base SELECT 2, id, total_credit FROM host"
}

# Ids go on from what is there, and start above 2^32.
bare_jobs() {
	audit_except wu-forgotten "these jobs are none of the transitioner's"
	local first i values=
	first=$(sql "SELECT COALESCE(MAX(id), 5000000000) + 1 FROM workunit")
	for ((i = first; i < first + $1; i++)); do
		values="$values
		INSERT INTO workunit SET id = $i, appid = 1, name = 'wu_$i',
		    xml_doc = '<workunit>\n<file_ref>\n</file_ref>\n</workunit>\n',
		    transition_time = 2147483647, delay_bound = 86400,
		    rsc_fpops_est = 9e11, rsc_fpops_bound = 9e13,
		    rsc_memory_bound = 1e8, rsc_disk_bound = 1e8, min_quorum = 1,
		    target_nresults = 1, size_class = -1;
		UPDATE workunit SET ${2:-id = id} WHERE id = $i;
		INSERT INTO result (id, name, workunitid, server_state, appid,
		    priority, xml_doc_in, size_class)
		    SELECT id, CONCAT(name, '_0'), id, 2, 1, priority,
		    CONCAT('<result>\n<file_ref>\n<file_name>', name,
		    '_0_r1_0</file_name>\n</file_ref>\n</result>\n'), -1
		    FROM workunit WHERE id = $i;"
	done
	sql "START TRANSACTION; $values COMMIT"
}

# The feeder looks every 0.1 s, so that no test waits for it.
feeder_up() {
	(cd "$PROJECT" && exec "$build/daemons/feeder" --sleep_interval 0.1 \
		>>"$PROJECT/log/feeder.log" 2>&1) &
	feeder_pid=$!
	for _ in $(seq 1 100); do
		shmem '"slots"' && return
		sleep 0.1
	done
	echo "Bail out! the feeder does not start; see $PROJECT/log/feeder.log"
	cat "$PROJECT/log/feeder.log"
	exit 1
}

shmem() { # PATTERN
	(cd "$PROJECT" && "$build/tools/show_shmem" --json) 2>/dev/null |
		grep -q "$1"
}

# Wait until every unsent result lies in the array.
feeder_fill() {
	local want have
	want=$(sql "SELECT COUNT(*) FROM result WHERE server_state = 2")
	for _ in $(seq 1 300); do
		have=$(cd "$PROJECT" && "$build/tools/show_shmem" --json |
			grep -c '"result": ')
		[ "$have" = "$want" ] && return
		sleep 0.1
	done
	echo "Bail out! $have of $want results are in the array"
	exit 1
}

feeder_down() {
	[ -n "${feeder_pid:-}" ] || return 0
	kill "$feeder_pid" 2>/dev/null
	wait "$feeder_pid" 2>/dev/null
	feeder_pid=
}

# cgi PROGRAM FILE [METHOD [CONTENT_LENGTH]]: its output in $T/cgi.out.
cgi() {
	local length=${4:-$(stat -c %s "$2")}
	REQUEST_METHOD=${3:-POST} CONTENT_LENGTH=$length REMOTE_ADDR=192.0.2.7 \
		timeout "${CGI_TIMEOUT:-60}" "$build/sched/$1" <"$2" >"$T/cgi.out" 2>>"$T/cgi.log"
	cgi_status=$?
	# the reply without its header lines
	sed '1,/^\r*$/d' "$T/cgi.out" >"$T/cgi.body"
}

# Was it HTTP 200?  A CGI program says so by saying nothing else.
http_200() {
	[ "$cgi_status" = 0 ] &&
		! sed '/^\r*$/q' "$T/cgi.out" | grep -i '^Status:' | grep -qv ' 200'
}

# rpc FILE [METHOD [CONTENT_LENGTH]]
rpc() {
	cgi scheduler "$@"
	cp "$T/cgi.body" "$T/reply.xml"
	"$build/test/system/flat" "$T/reply.xml" >"$T/reply.txt" 2>&1
	rpc_status=$?
}

# Is the last reply well-formed, and does it say why?
says() { # [TEXT]
	http_200 && [ "$rpc_status" = 0 ] &&
		head -n 1 "$T/reply.txt" | grep -q '^scheduler_reply' &&
		grep -q "^message .*${1:-.}" "$T/reply.txt"
}

# One value of the last reply: reply_of result/name
reply_of() {
	sed -n "s|^$1 ||p" "$T/reply.txt"
}

upload() {
	cgi file_upload_handler "$@"
	cp "$T/cgi.body" "$T/upload.txt"
}

# The tables that a scheduler may write, as one number each.
checksum() {
	sql "CHECKSUM TABLE user, host, workunit, result, msg_from_host,
		msg_to_host, host_app_version, app, app_version, team" | sort
}

# request [NAME=VALUE…] [XML]: write $T/req, from the computer of user 7.  What
# is not named has a value that fits any job of bare_jobs; a word that begins
# with "<" is put in behind host_info.
request() {
	local key=$ALICE hostid=17 seqno=1 version=7.20.5 ncpus=4 fpops=1e9
	local ram=16e9 disk=250e9 on=1 active=1 work=1 secs=1 instances=0
	local platform_name=$platform other='<other_results></other_results>'
	local name=pc cpid=00112233445566778899aabbccddeeff extra= word
	for word in "$@"; do
		case $word in
		'<'*) extra=$extra$word ;;
		*) local "$word" ;;
		esac
	done
	cat >"$T/req" <<-END
		<scheduler_request>
		    <authenticator>$key</authenticator>
		    <hostid>$hostid</hostid>
		    <rpc_seqno>$seqno</rpc_seqno>
		    <core_client_major_version>${version%%.*}</core_client_major_version>
		    <core_client_minor_version>$(echo "$version" | cut -d. -f2)</core_client_minor_version>
		    <core_client_release>${version##*.}</core_client_release>
		    <work_req_seconds>$work</work_req_seconds>
		    ${secs:+<cpu_req_secs>$secs</cpu_req_secs>}
		    ${secs:+<cpu_req_instances>$instances</cpu_req_instances>}
		    <platform_name>$platform_name</platform_name>
		    <time_stats>
		        <on_frac>$on</on_frac>
		        <active_frac>$active</active_frac>
		    </time_stats>
		    <host_info>
		        <domain_name>$name</domain_name>
		        <ip_addr>192.0.2.10</ip_addr>
		        <host_cpid>$cpid</host_cpid>
		        <p_ncpus>$ncpus</p_ncpus>
		        <p_vendor>GenuineExample</p_vendor>
		        <p_model>Example CPU</p_model>
		        <p_fpops>$fpops</p_fpops>
		        <m_nbytes>$ram</m_nbytes>
		        <d_total>500e9</d_total>
		        <d_free>$disk</d_free>
		        <os_name>Linux Debian</os_name>
		        <os_version>12</os_version>
		    </host_info>
		    $extra
		    $other
		</scheduler_request>
	END
}

# ask [NAME=VALUE…] [XML]: the same, sent.
ask() {
	request "$@"
	rpc "$T/req"
}

n_sent() {
	grep -c '^result/name ' "$T/reply.txt"
}

sends() { # COUNT
	same "$1" "$(n_sent)"
}

# ---- promises ----
promise() {
	local text=$1
	shift
	promises=$((promises + 1))
	if "$@"; then
		echo "ok $promises - $text"
	else
		echo "not ok $promises - $text"
		echo "# failed: $*"
		sed 's/^/# /' "$T/reply.txt" 2>/dev/null | cut -c1-120 | head -n 30
		broken=$((broken + 1))
	fi
}

# promise_in SECONDS TEXT COMMAND…: becomes true within that time.
promise_in() {
	local tenths=$(($1 * 10)) text=$2
	shift 2
	while ! "$@" >/dev/null 2>&1 && [ $tenths -gt 0 ]; do
		tenths=$((tenths - 1))
		sleep 0.1
	done
	promise "$text" "$@"
}

equals() { # WANT SQL
	local got
	got=$(sql "$2")
	[ "$got" = "$1" ] && return 0
	echo "# got '$got', want '$1': $2"
	return 1
}

same() { # A B
	[ "$1" = "$2" ] && return 0
	echo "# '$1' is not '$2'"
	return 1
}

done_promising() {
	promise_audit "$build/tools/audit"
	echo "1..$promises"
	[ $broken -eq 0 ]
	exit $?
}
