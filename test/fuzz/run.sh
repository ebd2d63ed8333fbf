#!/bin/bash
# run.sh - search for inputs that break a promise, two targets side by side.
#
#   run.sh [--seconds N] [--keep FOLDER] [TARGET…]      10 seconds each, all
#
# QUORATE_BUILDDIR: a build with clang and
# --enable-sanitizers=address,undefined,fuzzer-no-link, `make fuzzers` done.
# The kept inputs are where a search begins; what it finds beyond them goes to
# FOLDER/TARGET (and is forgotten without --keep).  An input that breaks a
# promise is named, and stays in FOLDER or in the current folder.
# TAP; exit status 0 if nothing was found.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${QUORATE_BUILDDIR:-$here/../../build/tests/clang}/test/fuzz
seconds=10 keep='' targets=()
while [ $# -gt 0 ]; do
	case $1 in
	--seconds) seconds=$2 && shift ;;
	--keep) keep=$2 && shift ;;
	-*)
		sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
		exit 100
		;;
	*) targets+=("$1") ;;
	esac
	shift
done
if [ ${#targets[@]} -eq 0 ]; then
	for source in "$here"/fuzz_*.c; do
		source=$(basename "$source" .c)
		targets+=("${source#fuzz_}")
	done
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/quorate-fuzzing.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export here build seconds keep work

one() { # TARGET
	local out=$work/$1.new crashes=${keep:-$PWD}/$1
	[ -z "$keep" ] || out=$keep/$1
	mkdir -p "$out"
	local dict=()
	[ ! -f "$here/dict/$1" ] || dict=("-dict=$here/dict/$1")
	[ -n "$keep" ] || crashes=$PWD/
	[ -z "$keep" ] || crashes=$keep/$1-
	"$build/fuzz_$1" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 \
		-max_len=65536 -print_final_stats=1 "${dict[@]}" \
		-artifact_prefix="$crashes" "$out" "$here/corpus/$1" \
		>"$work/$1.log" 2>&1
	echo $? >"$work/$1.status"
}
export -f one
printf '%s\n' "${targets[@]}" | xargs -P 2 -I{} bash -c 'one "$1"' _ {}

broken=0 n=0
for target in "${targets[@]}"; do
	n=$((n + 1))
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log")
	if [ "$(cat "$work/$target.status")" = 0 ] && [ "${runs:-0}" -gt 0 ]; then
		echo "ok $n - $target: $runs inputs, no promise broken"
	else
		broken=$((broken + 1))
		tail -n 40 "$work/$target.log" | sed 's/^/# /'
		echo "not ok $n - $target"
	fi
done
echo "1..$n"
[ $broken -eq 0 ]
