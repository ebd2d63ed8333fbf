#!/bin/bash
# A scheduler judges one job of each kind and counts the others alike.  Nobody
# sees a difference: each request is answered once so, and once with each job
# judged by itself (as it is when <debug_send_job> wants a line for each).
. "${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}/test/lib/bare.sh"

bare_new verdicts
bare_app
bare_user 7 alice $ALICE
bare_host 17 7
bare_host 18 7

# 300 jobs, each too large for anybody in one way, and in the others for some.
RANDOM=7
small=(1e8 2e9 8e9)
large() { # which of the four is too much
	local pick=$1
	memory=${small[RANDOM % 3]} disk=${small[RANDOM % 3]}
	flops=${small[RANDOM % 3]} band=${small[RANDOM % 3]}
	case $pick in
	0) memory=9e15 ;;
	1) disk=9e15 ;;
	2) flops=9e18 ;;
	3) band=9e15 ;;
	esac
}
bare_jobs 300
values=
for ((i = 1; i <= 300; i++)); do
	large $((RANDOM % 4))
	values="$values UPDATE workunit SET rsc_memory_bound = $memory,
	    rsc_disk_bound = $disk, rsc_fpops_est = $flops,
	    rsc_bandwidth_bound = $band WHERE id = 5000000000 + $i;"
done
sql "START TRANSACTION; $values COMMIT"

settings() { # more elements
	bare_config "<shmem_work_items>300</shmem_work_items>
	    <could_not_send_hosts>100</could_not_send_hosts>
	    <could_not_send_min_age>31536000</could_not_send_min_age> $1"
}

seqno=0
counts() { # words for request: what the log says of the slots
	seqno=$((seqno + 1))
	ask seqno=$seqno secs=1000 "<net_stats><bwdown>1e9</bwdown></net_stats>" "$@"
	sed -n 's/.*; \(ready .*\); delay.*/\1/p' "$PROJECT/log/scheduler.log" |
		tail -n 1
}

refusals() { # COUNT: in all slots
	[ "$(cd "$PROJECT" && "$build/tools/show_shmem" --json |
		grep -c "\"refusals\": $1,\\?\$")" = 300 ]
}

hosts=(
	"ram=1e9" "ram=16e9 disk=1e9" "ram=16e9 fpops=1e3" "ram=4e9 disk=4e9"
	"ram=16e9" "ram=1e9 disk=1e8 fpops=1e2"
)

settings ""
feeder_up
feeder_fill

for ((i = 0; i < ${#hosts[@]}; i++)); do
	settings ""
	# shellcheck disable=SC2086
	like=$(counts ${hosts[i]})
	settings "<debug_send_job/>"
	# shellcheck disable=SC2086
	each=$(counts ${hosts[i]})
	promise "host $i: $like" same "$like" "$each"
	promise "host $i: all are judged" grep -q 'ready 300, scanned 300' <<<"$like"
done

promise "one host is counted once, however often it asks" refusals 1
settings ""
counts hostid=18 ram=1e9 name=other cpid=ffeeddccbbaa99887766554433221100 >/dev/null
promise "a second host is counted" refusals 2
counts hostid=18 ram=1e9 name=other cpid=ffeeddccbbaa99887766554433221100 >/dev/null
promise "... once" refusals 2
done_promising
