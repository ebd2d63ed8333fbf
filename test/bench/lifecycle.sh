#!/bin/bash
# lifecycle.sh - what each program of a workunit's life costs; see README.md.
#
#   lifecycle.sh [N]       QUORATE_TOP: the source folder, QUORATE_BUILDDIR:
#                          where it was built
#   PROFILE=PROGRAM        run this one under `perf record`, to perf.data
N=${1:-100000}
case $N in
'' | *[!0-9]* | 0*)
	echo "usage: $0 [NUMBER_OF_WORKUNITS]" >&2
	exit 100
	;;
esac
# shellcheck source=test/bench/lib.sh
. "${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}/test/bench/lib.sh"
# shellcheck source=test/bench/life.sh
. "$top/test/bench/life.sh"

bench_new
yardstick
hosts_new
machine
echo "U = $U single-row transactions a second on 8 connections"
echo "$N workunits of two results"
rows_heading
life_all
exit $failed
