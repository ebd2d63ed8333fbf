#!/bin/bash
# choice.sh - how long a request looks for a job among 1 000, 10 000 and 100 000
# slots: when none suits the host, and when one does; see README.md.
#
#   choice.sh [SLOTS…]     QUORATE_TOP: the source folder, QUORATE_BUILDDIR:
#                          where it was built
#   PROFILE=1              run the last request under `perf record`, to perf.data
[ $# -gt 0 ] || set -- 1000 10000 100000
# shellcheck source=test/bench/lib.sh
. "${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}/test/bench/lib.sh"
TIMES=${TIMES:-9}

bench_new
bare_user 7 alice $ALICE
bare_host 17 7
yardstick
seed_job
machine
echo "U = $U single-row transactions a second on 8 connections"

# The median over the request's lines of what is not the database's, in ms.
median() {
	sed -n 's/.* database \([0-9.]*\) s, .* statements; \([0-9.]*\) s$/\1 \2/p' \
		"$PROJECT/log/scheduler.log" | tail -n "$TIMES" |
		awk '{ print ($2 - $1) * 1000, $1 * 1000 }' | sort -g |
		sed -n "$((TIMES / 2 + 1))p"
}

measure() { # SLOTS WHAT
	local i own db
	for ((i = 0; i < TIMES; i++)); do
		sql "UPDATE result SET server_state = 2, hostid = 0 WHERE server_state = 4"
		filled "$1"
		ask secs=1
	done
	read -r own db <<<"$(median)"
	awk -v slots="$1" -v what="$2" -v own="$own" -v db="$db" -v U="$U" 'BEGIN {
		printf "%8d  %-14s %9.2f %9.2f %10.0f %9.1f\n", slots, what, own, db,
		    1000000 * own / slots, (own + db) / 1000 * U }'
}

printf '%8s  %-14s %9s %9s %10s %9s\n' slots suitable 'own, ms' 'db, ms' \
	'ns/slot' 'in U'
for slots; do
	jobs_clear
	bench_config "<shmem_work_items>$slots</shmem_work_items>
	    <feeder_query_size>$((2 * slots))</feeder_query_size>"
	jobs_sql $((slots / 2)) "rsc_memory_bound = 9e15"
	feeder_up
	filled "$slots"
	measure "$slots" none
	feeder_down
	# one that fits, in place of another
	sql "UPDATE workunit SET rsc_memory_bound = 1e8 WHERE id = 1"
	feeder_up
	filled "$slots"
	measure "$slots" one
	if [ -n "${PROFILE:-}" ]; then
		request secs=1
		perf record -q -g -o perf.data "$build/sched/scheduler" \
			--replay "$T/req" >/dev/null 2>&1
	fi
	feeder_down
done
