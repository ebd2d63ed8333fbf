#!/bin/bash
# choice.sh - how long a request looks for a job among 1 000, 10 000 and 100 000
# slots: when none suits the host, and when one does; see README.md.
#
#   choice.sh [SLOTS…]     QUORATE_TOP: the source folder, QUORATE_BUILDDIR:
#                          where it was built
#   PROFILE=1              run the last request under `perf record`, to perf.data
[ $# -gt 0 ] || set -- 1000 10000 100000
# shellcheck source=test/lib/bare.sh
. "${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}/test/lib/bare.sh"
TIMES=${TIMES:-9}

MARIADB_EXTRA='innodb_buffer_pool_size = 512M'
bare_new bench
bare_app
bare_user 7 alice $ALICE
bare_host 17 7

# ---- the yardstick ----
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
echo "U = $U single-row transactions a second on 8 connections"

# jobs FIRST COUNT COLUMN = VALUE, …
jobs() {
	sql "INSERT INTO workunit (id, appid, name, xml_doc, transition_time,
		delay_bound, rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound,
		rsc_disk_bound, min_quorum, target_nresults, size_class)
		SELECT seq, 1, CONCAT('wu_', seq),
		'<workunit>\n<file_ref>\n</file_ref>\n</workunit>\n', 2147483647,
		86400, 9e11, 9e13, $3, 1e8, 1, 1, -1
		FROM seq_$1_to_$(($1 + $2 - 1));
	INSERT INTO result (id, name, workunitid, server_state, appid, xml_doc_in,
		size_class) SELECT id, CONCAT(name, '_0'), id, 2, 1,
		CONCAT('<result>\n<file_ref>\n<file_name>', name,
		'_0_r1_0</file_name>\n</file_ref>\n</result>\n'), -1
		FROM workunit WHERE id >= $1"
}

filled() { # COUNT
	for _ in $(seq 1 600); do
		[ "$(cd "$PROJECT" && "$build/tools/show_shmem" --json |
			grep -c '"result": ')" -ge "$1" ] && return
		sleep 0.2
	done
	echo "the feeder does not fill $1 slots" >&2
	exit 1
}

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
	sql "DELETE FROM result; DELETE FROM workunit"
	bare_config "<shmem_work_items>$slots</shmem_work_items>"
	jobs 1000001 "$slots" 9e15
	feeder_up
	filled "$slots"
	measure "$slots" none
	feeder_down
	# one that fits, in place of another
	sql "UPDATE workunit SET rsc_memory_bound = 1e8 WHERE id = 1000001"
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
