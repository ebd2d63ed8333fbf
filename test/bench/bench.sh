#!/bin/bash
# bench.sh - everything that is measured, one after the other, nothing else at
# work: schedulers, uploads, the programs of a workunit's life, the whole
# pipeline, memory; see README.md.
#
#   bench.sh [--quick|--tiny] [--out FOLDER]
#
# Writes bench.txt, bench.md and bench.svg.  --quick takes about three minutes,
# --tiny a quarter of one: they show that it works, their rates mean little.
# QUORATE_TOP: the source folder, QUORATE_BUILDDIR: where it was built; numbers
# of processes and sizes are variables, see lib.sh, rows.sh, life.sh, steady.sh.
out=.
rows='1+1 10+10 contact none platform none10000 default cgi upload upload-cgi'
steady_seconds=300
yardsticks=4
[ -z "${QUICK:-}" ] || set -- --quick "$@"
while [ $# -gt 0 ]; do
	case $1 in
	--quick)
		N=${N:-10000} SECONDS_EACH=${SECONDS_EACH:-2} WARM_UP=${WARM_UP:-1}
		U_SECONDS=${U_SECONDS:-1} steady_seconds=40
		PIPELINE_HOSTS=${PIPELINE_HOSTS:-500}
		;;
	--tiny)
		N=${N:-300} SECONDS_EACH=${SECONDS_EACH:-0.5} WARM_UP=${WARM_UP:-0.2}
		U_SECONDS=${U_SECONDS:-0.3} steady_seconds=10 yardsticks=1
		rows='1+1 upload' STOCK=${STOCK:-600} PIPELINE_RATIO=0.01
		USED_HOSTS=40 PIPELINE_HOSTS=10 PIPELINE_SLEEP=0.2 WORKERS=2
		MARIADB_MORE='innodb_log_file_size = 48M'
		;;
	--out)
		out=$2
		shift
		;;
	*)
		sed -n '6,9s/^# \{0,1\}//p' "$0" >&2
		exit 100
		;;
	esac
	shift
done
SECONDS_EACH=${SECONDS_EACH:-10} WARM_UP=${WARM_UP:-2} POOL=${POOL:-2G}
for part in lib rows life steady; do
	# shellcheck source=/dev/null
	. "${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}/test/bench/$part.sh"
done

u_again() {
	[ "$u_count" -ge "$yardsticks" ] || yardstick
}

# Rows with the mean of U over the run; rates of single rows were said before.
whole_table() {
	machine
	echo "U = $U single-row transactions a second on 8 connections," \
		"mean of $u_count measurements from $u_least to $u_most"
	tuning
	echo
	awk -v U="$U" -v form="$1" -f "$top/test/bench/table.awk" "$T/rows"
	echo
	[ "$1" = text ] || echo '```'
	cat "$T/pipeline"
	[ "$1" = text ] || echo '```'
}

tuning() {
	cat <<-END
		$WORKERS FastCGI schedulers and 4 upload handlers behind lighttpd,
		$FLIGHT requests at a time of $USED_HOSTS of $HOSTS computers,
		$SECONDS_EACH s each after $WARM_UP s; daemons: $N workunits of two
		results, one process each. Pipeline: $PIPELINE_SLOTS slots,
		transitioners $TRANSITIONERS, validators $VALIDATORS, assimilators
		$ASSIMILATORS, file_deleters $DELETERS, db_purge $PURGERS, looking
		every $PIPELINE_SLEEP s; $PIPELINE_HOSTS computers, which
		ask for $PIPELINE_BATCH jobs.
	END
}

started=$(date +%s)
bench_new
yardstick
hosts_new
seed_job
machine
rows_heading
for row in $rows; do
	rpc_row "$row"
done
feeder_down
web_down
u_again
life_all
u_again
pipeline "$steady_seconds" \
	"$(awk "BEGIN { printf \"%d\", ${PIPELINE_RATIO:-0.074} * $U }")"
pipeline_row | tee "$T/pipeline.row"
{
	sed 1d "$T/pipeline.row"
	echo
	pipeline_processes
} >"$T/pipeline"
web_down
u_again

mkdir -p "$out"
whole_table text >"$out/bench.txt"
whole_table markdown >"$out/bench.md"
awk -F '\t' -v target="$(awk "BEGIN { print 0.072 * $U }")" \
	-v title="Whole pipeline: results a second, each step" \
	-f "$top/test/bench/draw.awk" "$T/series" >"$out/bench.svg"
echo
cat "$out/bench.txt"
echo
echo "$(($(date +%s) - started)) s; written: $out/bench.txt, bench.md, bench.svg"
exit $failed
