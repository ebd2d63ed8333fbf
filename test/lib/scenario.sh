# scenario.sh - what every scenario in test/system starts with: the project
# library and TAP.  A scenario is a bash script that sources this file, makes a
# project and states promises:
#
#   . "$(dirname "$0")/../lib/scenario.sh"
#   project_new fails; …
#   promise "a failed result is replaced" two_results
#   done_promising
#
# QUORATE_PREFIX: where Quorate is installed (run-tests sets it; by hand:
# build/tests/inst after ./run-tests, or any make install).
set -u
top=${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
prefix=${QUORATE_PREFIX:-$top/build/tests/inst}
[ -x "$prefix/bin/make_project" ] || {
	echo "Bail out! Quorate is not installed in $prefix (set QUORATE_PREFIX)"
	exit 1
}
# shellcheck source=test/lib/project.sh
. "$top/test/lib/project.sh"
# shellcheck source=test/lib/audit.sh
. "$top/test/lib/audit.sh"

promises=0
broken=0

# promise TEXT COMMAND…: one line of TAP; a broken promise does not end the
# script.
promise() {
	local text=$1
	shift
	promises=$((promises + 1))
	if "$@"; then
		echo "ok $promises - $text"
	else
		echo "not ok $promises - $text"
		echo "# failed: $*"
		broken=$((broken + 1))
	fi
}

# promise_in SECONDS TEXT COMMAND…: becomes true within that time.
promise_in() {
	local seconds=$1 text=$2
	shift 2
	promise "$text" wait_for "$seconds" "$@"
}

# equals WANT SQL: the one value that a query gives.
equals() {
	local got
	got=$(sql "$2")
	[ "$got" = "$1" ] && return 0
	echo "# got '$got', want '$1': $2"
	return 1
}

# not COMMAND…: for promises that something is not so.
not() { ! "$@"; }

done_promising() {
	promise_audit "$prefix/bin/audit"
	echo "1..$promises"
	[ $broken -eq 0 ]
	exit $?
}
