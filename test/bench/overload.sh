#!/bin/bash
# overload.sh - ten times as many requests as can be served, for SECONDS (30),
# from hosts of three kinds; TAP.
#
#   contact   brings nothing, wants nothing
#   linux     reports a job and takes another
#   windows   the same on the other platform
#
# QUORATE_TOP: the source folder, QUORATE_BUILDDIR: where it was built; WORKERS:
# FastCGI schedulers; CONNECTIONS of the three kinds together.
# shellcheck source=test/bench/lib.sh
. "${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}/test/bench/lib.sh"
load_seconds=${1:-30}
CONNECTIONS=${CONNECTIONS:-1500}
kinds='contact linux windows'
declare -A asks=(
	[contact]='-j 0 -r 0'
	[linux]='-j 1 -r 1'
	[windows]='-j 1 -r 1 -p windows_x86_64 -A windows_intelx86'
)

# load LABEL SECONDS CONNECTIONS RATE: the three kinds side by side, each with a
# third; lines in $T/LABEL.KIND.
load() {
	local label=$1 kind pids=
	for kind in $kinds; do
		# shellcheck disable=SC2086
		"$build/test/bench/rpcload" -u "$RPC_URL" -f "$T/hosts.$kind" \
			-o "$T/hosts.$kind.out" -H 600 -s "$2" -c $(($3 / 3)) \
			-R $(($4 / 3)) -e 200 ${asks[$kind]} \
			>"$T/$label.$kind" 2>&1 &
		pids="$pids $!"
	done
	# shellcheck disable=SC2086
	wait $pids
	for kind in $kinds; do
		mv "$T/hosts.$kind.out" "$T/hosts.$kind"
	done
}

value() { # LABEL KIND KEY
	sed -n "s/^.*[ ]$3=\([0-9.]*\).*/\1/p; s/^$3=\([0-9.]*\).*/\1/p" "$T/$1.$2" | head -n 1
}

put_off() { # LABEL KIND: how many
	sed -n 's/^  message x\([0-9]*\): The project.s server is busy.*/\1/p' \
		"$T/$1.$2" | grep . || echo 0
}

served() { # LABEL KIND
	echo $(($(value "$1" "$2" rpcs) - $(put_off "$1" "$2")))
}

sum() { # FUNCTION LABEL [KEY]
	local kind total=0
	for kind in $kinds; do
		total=$(awk "BEGIN { print $total + $("$1" "$2" "$kind" "${3:-}") }")
	done
	echo "$total"
}

# A few hosts, so few requests that they cost nothing.  p95 in $T/LABEL.probe
probe() { # LABEL SECONDS
	"$build/test/bench/rpcload" -u "$RPC_URL" -f "$T/hosts.probe" -H 50 \
		-s "$2" -c 4 -R 20 -j 0 -r 0 -o "$T/hosts.probe.out" >"$T/$1.probe"
	mv "$T/hosts.probe.out" "$T/hosts.probe"
}

# What the server holds, sampled: connections of the web server, of the database,
# memory of its own of both.
private_kb() { # PID…
	local pid
	for pid; do
		sed -n 's/^Private_[^:]*: *\([0-9]*\) kB/\1/p' \
			"/proc/$pid/smaps_rollup" 2>/dev/null
	done | awk '{ n += $1 } END { print n + 0 }'
}

watch_server() {
	local pids
	while sleep 1; do
		pids=$(children_of "$web_pid" scheduler)
		# shellcheck disable=SC2086,SC2012
		echo "$(ls "/proc/$web_pid/fd" | wc -l)" \
			"$(sql "SELECT COUNT(*) FROM information_schema.processlist
			    WHERE user = 'quorate'")" \
			"$(private_kb "$web_pid")" "$(private_kb $pids)" \
			"$(echo $pids | wc -w)"
	done >"$T/watch"
}

most() { # COLUMN
	awk -v c="$1" '$c > n { n = $c } END { print n + 0 }' "$T/watch"
}

at_most() { # NUMBER LIMIT
	awk "BEGIN { exit !($1 <= $2) }" && return
	echo "# $1 > $2"
	return 1
}

bench_new
bench_config "${OVERLOAD_CONFIG:-}"
hosts_new
mariadb_client "$T/db" -e "CREATE DATABASE scratch"
seed_job
sql "INSERT INTO platform SET id = 2, name = 'windows_x86_64';
	INSERT INTO app_version (id, appid, platformid, version_num, plan_class,
	    xml_doc) SELECT 12, appid, 2, version_num, plan_class, xml_doc
	    FROM app_version WHERE id = 11"
jobs_sql 20000
sed -n 1,600p "$T/hosts" >"$T/hosts.contact"
sed -n 601,1200p "$T/hosts" >"$T/hosts.linux"
sed -n 1201,1800p "$T/hosts" >"$T/hosts.windows"
sed -n 1801,1850p "$T/hosts" >"$T/hosts.probe"
feeder_up
filled 100
web_up fcgi

load warm 2 24 100000
load full 5 24 100000
rate=$(sum value full rpc_s)
rate=${rate%.*}
probe before 3
normal=$(value before probe p95)
echo "# $rate requests a second are served; p95 of a few is $normal ms"

watch_server &
watcher=$!
load over "$load_seconds" "$CONNECTIONS" $((10 * rate))
kill $watcher
sleep 5
probe after 3

for kind in $kinds; do
	echo "# $kind: $(head -n 1 "$T/over.$kind")"
	sed -n 's/^  failure/# &/p' "$T/over.$kind"
	echo "# $kind: served $(served over "$kind"), put off $(put_off over "$kind")"
done
echo "# at most $(most 1) connections of the web server, $(most 2) of the database, $(($(most 3) / 1024)) MB in the web server, $(($(most 4) / 1024)) MB in $(most 5) schedulers"
echo "# $(grep -c 'overload:' "$PROJECT/log/scheduler.log") lines about it in the log; p95 of a few afterwards is $(value after probe p95) ms"

sort "$T/lighttpd.log" | cut -d' ' -f3- | uniq -c | sort -rn | head -n 5 | sed 's/^/# /'
all=$(sum value over rpcs)
good=$(sum served over)
promise "more came than could be served" \
	at_most "$(awk "BEGIN { print 1.5 * $rate * $load_seconds }")" "$all"
for what in http_fail bad timeouts down; do
	promise "no reply is a failure: $what" same 0 "$(sum value over $what)"
done
# generator, web server and the short replies take their part of the machine
promise "at least a sixth of what can be served was served" \
	at_most "$((rate * load_seconds / 6))" "$good"
for kind in $kinds; do
	# a third of its share, whoever comes
	promise "$kind: no kind of hosts is neglected" at_most \
		$((good / 9)) "$(served over "$kind")"
	promise "$kind: nobody waits long" at_most "$(value over "$kind" p99)" 5000
done
promise "connections to the database: one for each scheduler" \
	at_most "$(most 2)" $((WORKERS + 2))
promise "none of them has more than 12 MB" at_most "$(most 4)" $((12288 * WORKERS))
promise "the web server has less than 200 MB" at_most "$(most 3)" 204800
promise "the log says so, briefly" at_most \
	"$(grep -c 'overload:' "$PROJECT/log/scheduler.log")" \
	$((WORKERS * (load_seconds / 10 + 2)))
promise "afterwards nobody is put off" same 0 "$(put_off after probe)"
promise "and the answers come as before" at_most "$(value after probe p95)" \
	"$(awk "BEGIN { print 2 * $normal + 20 }")"

# What was put off was not taken; what was acknowledged, was.
got=0 acks=0
for label in warm full over; do
	got=$((got + $(sum value $label jobs)))
	acks=$((acks + $(sum value $label acks)))
done
promise "each job that was given was received" equals "$got" \
	"SELECT COUNT(*) FROM result WHERE server_state >= 4"
promise "each report that was taken was acknowledged" equals "$acks" \
	"SELECT COUNT(*) FROM result WHERE server_state = 5"
no_audit "its jobs were made by SQL"
done_promising
