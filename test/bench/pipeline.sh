#!/bin/bash
# pipeline.sh - the whole pipeline at a steady rate; see README.md.
#
#   pipeline.sh [--seconds S] [--rate RESULTS_PER_SECOND | --ratio R]
#
# --ratio: the rate in units of U (0.072 by default).  Numbers of daemons are
# variables, see steady.sh: VALIDATORS=2 pipeline.sh.
# shellcheck source=test/bench/lib.sh
. "${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}/test/bench/lib.sh"
# shellcheck source=test/bench/rows.sh
. "$top/test/bench/rows.sh"
# shellcheck source=test/bench/steady.sh
. "$top/test/bench/steady.sh"

seconds=60 rate='' wanted=0.072
while [ $# -gt 0 ]; do
	case $1 in
	--seconds) seconds=$2 ;;
	--rate) rate=$2 ;;
	--ratio) wanted=$2 ;;
	*)
		sed -n '4,7s/^# \{0,1\}//p' "$0" >&2
		exit 100
		;;
	esac
	shift 2
done

bench_new
yardstick
hosts_new
machine
echo "U = $U single-row transactions a second on 8 connections"
[ -n "$rate" ] || rate=$(awk "BEGIN { printf \"%d\", $wanted * $U }")
rows_heading
pipeline "$seconds" "$rate"
pipeline_row
pipeline_processes
[ -z "${SVG:-}" ] || awk -F '\t' -v title="results a second, each step" \
	-v target="$rate" -f "$top/test/bench/draw.awk" "$T/series" >"$SVG"
