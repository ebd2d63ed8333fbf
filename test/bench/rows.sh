# rows.sh - the rows of the schedulers: what is asked, and the line that says
# what came of it.  Sourced by rpc.sh and bench.sh after lib.sh.
#
#   rpc_heading
#   rpc_row NAME                measure and print a row
SECONDS_EACH=${SECONDS_EACH:-6}
WARM_UP=${WARM_UP:-1.5}
FLIGHT=${FLIGHT:-8}
USED_HOSTS=${USED_HOSTS:-300}

rpc_heading() {
	printf '%-34s %7s %7s %6s %6s %4s %7s | %s\n' 'requests of schedulers' \
		RPC/s jobs/s 'x U' target met SQL/RPC \
		'ms/RPC: sched, web, db, generator | p50 / p95 / p99 ms'
}

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
# transactions, and some to keep the array full.
stock() {
	awk -v u="$U" -v s="$SECONDS_EACH" -v w="$WARM_UP" -v per="$1" \
		'BEGIN { printf "%d", u * per * (s + w) + 4000 }'
}

# load TITLE TARGET [OPTION OF rpcload…]
load() {
	local title=$1 target=$2 perf=
	shift 2
	# the first requests of each process make its connection
	rpcload 64 -c "$FLIGHT" -n 64 -s 1000 -j 0 -r 0 >/dev/null
	if [ -n "${PROFILE:-}" ]; then
		perf record -q -g -o perf.data -p "$(children_of "$web_pid" scheduler |
			sed 's/^ //; s/ /,/g')" & perf=$!
	fi
	measured rpcload "$USED_HOSTS" -c "$FLIGHT" -w "$WARM_UP" \
		-s "$SECONDS_EACH" "$@" || sed 's/^/  /' "$T/out.log"
	[ -z "$perf" ] || kill -INT "$perf"
	rpc_line "$title" "$target"
	sed -n '/^  failure/p; /^  message.*is down/p' "$T/out"
}

rpc_line() { # TITLE TARGET
	ratio=$(awk "BEGIN { printf \"%.4f\", $(of rpc_s) / $U }")
	awk -v title="$1" -v target="$2" -v ratio="$ratio" -v rpc="$(of rpc_s)" \
		-v jobs="$(of job_s)" -v n="$(of total)" -v sql="$statements" \
		-v sched="$cpu_sched" -v web="$cpu_web" -v db="$cpu_db" \
		-v own="$cpu_own" -v p50="$(of p50)" -v p95="$(of p95)" \
		-v p99="$(of p99)" 'BEGIN {
		printf "%-34s %7.0f %7.0f %6.3f %6s %4s %7.2f | %.3f %.3f %.3f %.3f" \
		    " | %.1f / %.1f / %.1f\n", title, rpc, jobs, ratio, target,
		    target == "" ? "" : ratio >= target ? "yes" : "no", sql / n,
		    1000 * sched / n, 1000 * web / n, 1000 * db / n, 1000 * own / n,
		    p50, p95, p99 }'
}

rpc_row() {
	case $1 in
	1+1)
		rpc_scene 1000 "$(stock 0.2)"
		web_up fcgi
		load "1 reported + 1 sent" 0.085 -j 1
		;;
	10+10)
		rpc_scene 1000 "$(stock 0.5)"
		web_up fcgi
		load "10 reported + 10 sent" 0.025 -j 10
		;;
	contact)
		rpc_scene 1000 2000
		web_up fcgi
		load "contact without work" 0.18 -j 0 -r 0
		;;
	none)
		rpc_scene 1000 1000 "rsc_memory_bound = 1e15"
		web_up fcgi
		load "nothing fits, 1 000 slots" 0.15 -j 1 -r 0
		;;
	platform)
		rpc_scene 1000 1000
		web_up fcgi
		load "no such platform, 1 000 slots" "" -j 1 -r 0 \
			-p windows_x86_64 -A windows_intelx86
		;;
	none10000)
		rpc_scene 10000 10000 "rsc_memory_bound = 1e15"
		web_up fcgi
		load "nothing fits, 10 000 slots" 0.12 -j 1 -r 0
		;;
	default)
		rpc_scene 100 "$(stock 0.2)"
		bench_config ""
		feeder_down
		feeder_up
		filled 100
		web_up fcgi
		load "1 + 1, feeder's defaults" 0.085 -j 1
		;;
	cgi)
		rpc_scene 1000 "$(stock 0.1)"
		web_up cgi
		load "1 + 1, plain CGI" 0.02 -j 1
		;;
	*)
		echo "no row $1" >&2
		exit 100
		;;
	esac
}
