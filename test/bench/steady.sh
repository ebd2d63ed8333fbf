# steady.sh - the whole pipeline at once, with as many new workunits each second
# as are to go: create_work, transitioner, feeder, schedulers, computers,
# validator, assimilator, file_deleter, db_purge.  Sourced by pipeline.sh and
# bench.sh after lib.sh.
#
#   pipeline SECONDS RATE       RATE: results a second
#   pipeline_row                its row of the table
#   pipeline_processes          CPU and private memory of each program
#
# Leaves $T/series: seconds, then how many results were created, sent, reported,
# validated, assimilated, purged until then.
TRANSITIONERS=${TRANSITIONERS:-1}
VALIDATORS=${VALIDATORS:-1}
ASSIMILATORS=${ASSIMILATORS:-1}
DELETERS=${DELETERS:-1}
PURGERS=${PURGERS:-1}
PIPELINE_SLOTS=${PIPELINE_SLOTS:-1000}
PIPELINE_SLEEP=${PIPELINE_SLEEP:-1} # of daemons, when nothing is due
PIPELINE_BATCH=${PIPELINE_BATCH:-10} # jobs that a computer asks for
PIPELINE_HOSTS=${PIPELINE_HOSTS:-2000}
# Computers ask for so much more than there is.
EAGERNESS=${EAGERNESS:-1.1}

# pipeline_daemons COUNT PROGRAM [OPTION…]
pipeline_daemons() {
	local count=$1 program=$2 i mod
	shift 2
	for ((i = 0; i < count; i++)); do
		mod=
		[ "$count" = 1 ] || mod="--mod $count $i"
		# shellcheck disable=SC2086
		(cd "$PROJECT" && exec "$build/daemons/$program" $mod \
			--sleep_interval "$PIPELINE_SLEEP" "$@" \
			>>"$PROJECT/log/$program.log" 2>&1) &
		bench_pids="${bench_pids:-} $!"
		pipeline_pids="$pipeline_pids $program:$!"
	done
}

# create RATE: so many results' workunits each second, until killed.
create() {
	local start now due made=0
	start=$(date +%s%N)
	while :; do
		now=$(date +%s%N)
		due=$(((now - start) / 1000 * $1 / 2000000))
		if [ $due -gt $made ]; then
			seq $((made + 1)) $due | sed 's/.*/--wu_name p&/' >"$T/jobs"
			submit || return 1
			made=$due
		fi
		sleep 1
	done
}

submit() {
	(cd "$PROJECT" && exec "$build/tools/create_work" --appname demo --stdin \
		<"$T/jobs") >>"$T/create.log" 2>&1
}

# Counted without locks, and without a view that purging would have to keep.
look() { # START
	mariadb_client "$T/db" -N -B "$DB_NAME" <<-END |
		SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;
		SELECT COALESCE(MAX(id), 0), COUNT(*),
		    COALESCE(SUM(canonical_resultid <> 0), 0),
		    COALESCE(SUM(assimilate_state = 2), 0) FROM workunit;
		SELECT COUNT(*), COALESCE(SUM(server_state > 2), 0),
		    COALESCE(SUM(server_state = 5), 0) FROM result;
	END
		awk -v start="$1" -v now="$(date +%s.%N)" '
		NR == 1 { gone = 2 * ($1 - $2); valid = 2 * $3; done = 2 * $4 }
		NR == 2 { printf "%.2f\t%d\t%d\t%d\t%d\t%d\t%d\n", now - start,
		    gone + $1, gone + $2, gone + $3, gone + valid, gone + done, gone }'
}

# The clock of the pipeline: a look each second, costs at the begin of the part
# that counts and at its end.
watch_pipeline() { # SECONDS WARM_UP
	local start i
	start=$(date +%s.%N)
	printf 'seconds\tcreated\tsent\treported\tvalidated\tassimilated\tpurged\n' \
		>"$T/series"
	for ((i = 0; i <= $1; i++)); do
		[ "$i" != "$2" ] || pipeline_costs >"$T/costs.0"
		look "$start" >>"$T/series"
		sleep "$(awk -v s="$start" -v n="$(date +%s.%N)" -v i="$i" \
			'BEGIN { d = s + i + 1 - n; print (d > 0 ? d : 0) }')"
	done
	pipeline_costs >"$T/costs.1"
}

private_kb() { # PID
	awk '/^Private_(Clean|Dirty|Hugetlb)/ { n += $2 } END { print n + 0 }' \
		"/proc/$1/smaps_rollup" 2>/dev/null
}

# Lines: name, ticks, private kB (the most that one of them has), statements.
pipeline_costs() {
	local name pid
	for pid in $(children_of "$web_pid" scheduler); do
		echo "scheduler $(ticks "$pid") $(private_kb "$pid")"
	done
	for name in $pipeline_pids; do
		pid=${name#*:}
		echo "${name%:*} $(ticks "$pid") $(private_kb "$pid")"
	done
	echo "feeder $(ticks "$feeder_pid") $(private_kb "$feeder_pid")"
	echo "create_work $(ticks "$create_pid") 0"
	echo "lighttpd $(ticks "$web_pid") $(private_kb "$web_pid")"
	pid=$(cat "$T/db/mariadbd.pid")
	echo "mariadbd $(ticks "$pid") $(private_kb "$pid")"
	echo "statements $(sql "SELECT variable_value FROM
	    information_schema.global_status WHERE variable_name = 'QUESTIONS'") 0"
	echo "seconds $(date +%s.%N) 0"
}

pipeline() { # SECONDS RATE
	local warm=$(($1 / 5)) load_pid watch_pid
	[ $warm -le 60 ] || warm=60
	pipeline_seconds=$1 pipeline_rate=$2 pipeline_warm=$warm
	feeder_down
	web_down
	jobs_clear
	bench_config "<shmem_work_items>$PIPELINE_SLOTS</shmem_work_items>
	    <feeder_query_size>$((2 * PIPELINE_SLOTS))</feeder_query_size>"
	feeder_up
	web_up fcgi
	pipeline_pids=
	pipeline_daemons "$TRANSITIONERS" transitioner
	pipeline_daemons "$VALIDATORS" sample_trivial_validator --app demo
	pipeline_daemons "$ASSIMILATORS" sample_dummy_assimilator --app demo
	pipeline_daemons "$DELETERS" file_deleter
	pipeline_daemons "$PURGERS" db_purge
	create "$2" &
	create_pid=$!
	sleep 3
	rpcload "$PIPELINE_HOSTS" -c "$FLIGHT" -j "$PIPELINE_BATCH" -w "$warm" \
		-s $(($1 - warm + 1)) -R "$(awk \
			"BEGIN { print $2 * $EAGERNESS / $PIPELINE_BATCH }")" >"$T/out" 2>&1 &
	load_pid=$!
	watch_pipeline "$1" "$warm" &
	watch_pid=$!
	wait $watch_pid
	kill "$create_pid"
	wait "$create_pid" 2>/dev/null
	wait $load_pid
	pipeline_stop
	pipeline_sum
}

pipeline_stop() {
	local pid
	for pid in $pipeline_pids; do
		kill "${pid#*:}"
	done
	for pid in $pipeline_pids; do
		wait "${pid#*:}"
	done
	bench_pids=
	feeder_down
}

# Over the part that counts, from means of five seconds: rates of each step, of
# which the least is the rate of the whole, and what waits between two steps.
pipeline_sum() {
	awk -F '\t' -v warm="$pipeline_warm" -v want="$pipeline_rate" '
	NR == 1 { for (i = 2; i <= NF; i++) name[i] = $i; next }
	$1 >= warm { n++; for (i = 1; i <= NF; i++) v[n, i] = $i }
	function mean(from, i,    k, sum) {
		for (k = from; k < from + span; k++)
			sum += v[k, i]
		return sum / span
	}
	END {
		span = n >= 20 ? 5 : 1
		t = mean(n - span + 1, 1) - mean(1, 1)
		for (i = 2; i <= 7; i++) {
			rate[i] = (mean(n - span + 1, i) - mean(1, i)) / t
			if (i == 2 || rate[i] < least)
				least = rate[i]
		}
		steady = rate[7] >= 0.98 * rate[2] && rate[2] >= 0.98 * want
		printf "rate=%.1f steady=%s\n", least, steady ? "yes" : "no"
		for (i = 2; i <= 7; i++)
			printf "  %-12s %8.1f/s%s\n", name[i], rate[i], i == 2 ? "" : \
			    sprintf("   waiting for it: %6.0f, then %6.0f", \
			    mean(1, i - 1) - mean(1, i), \
			    mean(n - span + 1, i - 1) - mean(n - span + 1, i))
	}' "$T/series" >"$T/sum"
	# CPU of each program, in seconds, and its memory at both ends
	awk -v hz="$hz" '
	NR == FNR { t[$1] += $2; kb[$1] = $3 > kb[$1] ? $3 : kb[$1]; next }
	{ n[$1]++; end[$1] += $2; now[$1] = $3 > now[$1] ? $3 : now[$1] }
	END {
		for (name in end)
			printf "%s\t%d\t%.3f\t%d\t%d\n", name, n[name],
			    (end[name] - t[name]) / (name ~ /^(seconds|statements)$/ ? \
			    1 : hz), kb[name], now[name]
	}' "$T/costs.0" "$T/costs.1" | sort >"$T/processes"
}

cost_of() { # PROGRAM…: seconds of CPU of all of them
	local name
	for name; do
		awk -F '\t' -v name="$name" '$1 == name { print $3 }' "$T/processes"
	done | awk '{ sum += $1 } END { print sum + 0 }'
}

pipeline_row() {
	local rate
	rate=$(sed -n 's/^rate=\([0-9.]*\).*/\1/p' "$T/sum")
	elapsed=$(cost_of seconds)
	statements=$(cost_of statements)
	cpu_sched=$(cost_of scheduler create_work transitioner file_deleter db_purge \
		sample_trivial_validator sample_dummy_assimilator)
	cpu_web=$(cost_of lighttpd)
	cpu_db=$(cost_of mariadbd)
	cpu_feeder=$(cost_of feeder)
	cpu_own=$(awk "BEGIN { print $(of gen_cpu) / 100 * $elapsed }")
	feeder_pid=-
	row_save "whole pipeline, $pipeline_seconds s, results" "$rate" results/s 0.072 \
		0.015 "$(awk "BEGIN { print $rate * $elapsed }")" "$(of p50)" \
		"$(of p95)" "$(of p99)"
	feeder_pid=
	if grep -q steady=yes "$T/sum"; then
		echo "  steady: no backlog grows"
	else
		echo "  NOT steady at $pipeline_rate results/s"
	fi
	sed 1d "$T/sum"
	sed -n '/^  failure/p' "$T/out"
}

pipeline_processes() {
	local elapsed
	elapsed=$(cost_of seconds)
	printf '%-28s %5s %8s %12s %12s %6s\n' 'program, in the pipeline' count 'CPU, %' \
		'private, MB' 'at the end' '<= 12'
	awk -F '\t' -v s="$elapsed" '$1 !~ /^(seconds|statements)$/ {
		ours = $1 !~ /^(lighttpd|mariadbd|create_work)$/
		printf "%-28s %5d %8.1f %12.1f %12.1f %6s\n", $1, $2, 100 * $3 / s,
		    $4 / 1024, $5 / 1024, !ours ? "" : $5 <= 12 * 1024 ? "yes" : "no" }' \
		"$T/processes"
}
