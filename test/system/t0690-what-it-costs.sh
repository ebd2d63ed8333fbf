#!/bin/bash
# t0690-what-it-costs.sh - the measurements of test/bench run, in their smallest
# form: each row is there, and the pipeline brings results to their end.  Their
# rates mean nothing here.
set -u
top=${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${QUORATE_BUILDDIR:-$top/build/tests/gcc}
out=$(mktemp -d "${TMPDIR:-/tmp}/quorate-costs.XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
promises=0
broken=0

promise() {
	local text=$1
	shift
	promises=$((promises + 1))
	if "$@"; then
		echo "ok $promises - $text"
	else
		echo "not ok $promises - $text"
		broken=$((broken + 1))
	fi
}

make -s -C "$build/test/bench" certificates dbload rpcload >"$out/log" 2>&1 &&
	QUORATE_TOP=$top QUORATE_BUILDDIR=$build "$top/test/bench/bench.sh" --tiny \
		--out "$out" >>"$out/log" 2>&1
ended=$?
[ $ended -eq 0 ] || sed 's/^/# /' "$out/log"

# A row: its work, a rate above zero, and what it costs in statements.
row() { # WORK
	awk -v work="$1" 'index($0, work) == 1 {
		$0 = substr($0, length(work) + 1)
		found = $1 > 0 && $3 > 0
	} END { exit !found }' "$out/bench.txt"
}

promise "the measurements end well" test $ended -eq 0
for work in "1 reported + 1 sent" "upload handler, 4 KB, certificates" \
	"create_work --stdin" "transitioner, new: RSA certificates" \
	"transitioner, new: Ed25519 certificates" \
	"transitioner, new: no certificates" "transitioner, both results back" \
	"validator (trivial), with credit" "assimilator (dummy)" "file_deleter" \
	"db_purge, XML archive" "whole pipeline, 10 s, results"; do
	promise "there is a row for: $work" row "$work"
done
promise "the same rows are in the table for documents" test \
	"$(grep -c '^| .* | .*/s | [0-9]' "$out/bench.md")" -ge 11
for program in scheduler feeder transitioner db_purge; do
	promise "$program is told with its memory" \
		grep -Eq "^$program +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +yes" \
		"$out/bench.txt"
done
promise "the picture has a line for each step" test \
	"$(grep -c '<polyline .*points="[0-9]' "$out/bench.svg")" -eq 6
echo "1..$promises"
[ $broken -eq 0 ]
