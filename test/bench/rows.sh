# rows.sh - the rows of the programs behind the web server: what is asked of
# them, and the line that says what came of it.  Sourced by rpc.sh and bench.sh after lib.sh.
#
#   rpc_row NAME                measure and print a row
SECONDS_EACH=${SECONDS_EACH:-6}
WARM_UP=${WARM_UP:-1.5}
FLIGHT=${FLIGHT:-8}
USED_HOSTS=${USED_HOSTS:-300}

# rpc_scene SLOTS JOBS [COLUMN = VALUE, …]: so many slots and results to send.
rpc_scene() {
	feeder_down
	web_down
	jobs_clear
	bench_config "<shmem_work_items>$1</shmem_work_items>
	    <feeder_query_size>$((2 * $1))</feeder_query_size>"
	jobs_sql $((($2 + 1) / 2)) "${3:-}"
	feeder_up
	if [ "$2" -gt "$1" ]; then filled "$1"; else filled "$2"; fi
}

# stock JOBS_PER_U: results for a run, so many for each of the yardstick's
# transactions, and STOCK to keep the array full.
stock() {
	awk -v u="$U" -v s="$SECONDS_EACH" -v w="$WARM_UP" -v per="$1" \
		-v more="${STOCK:-4000}" \
		'BEGIN { printf "%d", u * per * (s + w) + more }'
}

# load TITLE TARGET BOINC [OPTION OF rpcload…]
load() {
	local title=$1 target=$2 boinc=$3 perf=
	shift 3
	# the first requests of each process make its connection
	rpcload 64 -c "$FLIGHT" -n 64 -s 1000 -j 0 -r 0 >/dev/null
	if [ -n "${PROFILE:-}" ]; then
		perf record -q -g -o perf.data -p "$(children_of "$web_pid" scheduler |
			sed 's/^ //; s/ /,/g')" & perf=$!
	fi
	measured rpcload "$USED_HOSTS" -c "$FLIGHT" -w "$WARM_UP" \
		-s "$SECONDS_EACH" "$@" || sed 's/^/  /' "$T/out.log"
	[ -z "$perf" ] || kill -INT "$perf"
	row_save "$title" "$(of "${counts:-rpc_s}")" "${counts_what:-RPC/s}" "$target" "$boinc" "$(of total)" \
		"$(of p50)" "$(of p95)" "$(of p99)"
	sed -n '/^  failure/p; /^  message.*is down/p' "$T/out"
}

rpc_row() {
	case $1 in
	1+1)
		rpc_scene 1000 "$(stock 0.2)"
		web_up fcgi
		load "1 reported + 1 sent" 0.085 0.011-0.024 -j 1
		;;
	10+10)
		rpc_scene 1000 "$(stock 0.5)"
		web_up fcgi
		load "10 reported + 10 sent" 0.025 0.0056 -j 10
		;;
	contact)
		rpc_scene 1000 2000
		web_up fcgi
		load "contact without work" 0.18 0.067-0.095 -j 0 -r 0
		;;
	none)
		rpc_scene 1000 1000 "rsc_memory_bound = 1e15"
		web_up fcgi
		load "nothing fits, 1 000 slots" 0.15 0.021 -j 1 -r 0
		;;
	platform)
		rpc_scene 1000 1000
		web_up fcgi
		load "no such platform, 1 000 slots" "" 0.021 -j 1 -r 0 \
			-p windows_x86_64 -A windows_intelx86
		;;
	none10000)
		rpc_scene 10000 10000 "rsc_memory_bound = 1e15"
		web_up fcgi
		load "nothing fits, 10 000 slots" 0.12 "" -j 1 -r 0
		;;
	default)
		rpc_scene 100 "$(stock 0.2)"
		bench_config ""
		feeder_down
		feeder_up
		filled 100
		web_up fcgi
		# what counts is what is sent: a feeder that starves sends less
		counts=job_s counts_what=jobs/s
		load "1 + 1, feeder's defaults" 0.085 0.001 -j 1
		printf '  %s RPC/s, %s of %s jobs asked for were sent\n' "$(of rpc_s)" \
			"$(of jobs)" "$(of asked)"
		counts='' counts_what=''
		;;
	cgi)
		rpc_scene 1000 "$(stock 0.1)"
		web_up cgi
		load "1 + 1, plain CGI" 0.02 0.006 -j 1
		;;
	upload)
		upload_row fcgi "upload handler, 4 KB, certificates" 0.2 ""
		;;
	upload-cgi)
		upload_row cgi "... as plain CGI" "" 0.042
		;;
	*)
		echo "no row $1" >&2
		exit 100
		;;
	esac
}

# Files of 4 KB, each with a certificate of its own that is checked.
upload_row() { # fcgi|cgi TITLE TARGET BOINC
	local count md5
	feeder_down
	web_down
	bench_config ""
	count=$(awk "BEGIN { printf \"%d\", 0.5 * $U * ($SECONDS_EACH + $WARM_UP) }")
	upload_runs=$((${upload_runs:-0} + 1))
	"$build/test/bench/certificates" "$PROJECT/keys/upload_private" \
		"up${upload_runs}" "$count" 8192 >"$T/certificates"
	md5=$(head -c 4096 /dev/zero | tr '\0' x | md5sum | cut -c1-32)
	web_up "$1"
	measured "$build/test/bench/rpcload" -U -u "$UPLOAD_URL" -b 4096 -m "$md5" \
		-C "$T/certificates" -c 4 -w "$WARM_UP" -s "$SECONDS_EACH"
	row_save "$2" "$(of rpc_s)" files/s "$3" "$4" "$(of total)" "$(of p50)" \
		"$(of p95)" "$(of p99)"
	sed -n '/^  failure/p; /^  message/p' "$T/out"
	web_down
	rm -rf "$PROJECT"/upload/*/*
}
