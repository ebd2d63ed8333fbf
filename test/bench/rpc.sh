#!/bin/bash
# rpc.sh - how many requests a second the schedulers answer, and what one costs;
# see README.md.
#
#   rpc.sh [--row NAME[,NAME…]] [--seconds S] [--flight C] [--hosts H]
#
# Rows: 1+1 10+10 contact none platform none10000 default cgi upload upload-cgi.
# QUORATE_TOP: the source folder, QUORATE_BUILDDIR: where it was built;
# WORKERS, POOL, U_SECONDS: see lib.sh; BENCH_CONFIG: elements for config.xml;
# PROFILE=1: run `perf record` on the schedulers meanwhile, to perf.data.
# shellcheck source=test/bench/lib.sh
. "${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}/test/bench/lib.sh"
# shellcheck source=test/bench/rows.sh
. "$top/test/bench/rows.sh"

rows='1+1 10+10 contact none platform none10000 default cgi upload upload-cgi'
while [ $# -gt 0 ]; do
	case $1 in
	--row) rows=${2//,/ } ;;
	--seconds) SECONDS_EACH=$2 ;;
	--flight) FLIGHT=$2 ;;
	--hosts) USED_HOSTS=$2 ;;
	*)
		sed -n '5,11s/^# \{0,1\}//p' "$0" >&2
		exit 100
		;;
	esac
	shift 2
done

bench_new
yardstick
hosts_new
seed_job
machine
echo "U = $U single-row transactions a second on 8 connections"
echo "$WORKERS FastCGI schedulers, $FLIGHT requests at a time of $USED_HOSTS computers"
rows_heading
for row in $rows; do
	rpc_row "$row"
done
