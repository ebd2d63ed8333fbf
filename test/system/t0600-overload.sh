#!/bin/bash
# t0600-overload.sh - ten times as many requests as can be served, for half a
# minute: see test/bench/overload.sh.
set -u
top=${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${QUORATE_BUILDDIR:-$top/build/tests/gcc}
PATH=$PATH:/usr/sbin:/sbin
command -v lighttpd >/dev/null || {
	echo "1..0 # SKIP no lighttpd"
	exit 0
}
make -s -C "$build/test/bench" dbload rpcload >&2 || exit 1
QUORATE_TOP=$top QUORATE_BUILDDIR=$build exec "$top/test/bench/overload.sh" 30
