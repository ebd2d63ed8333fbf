#!/bin/bash
# t0610-database-slow.sh - each statement takes two seconds: clients are answered
# long before they would go away, nothing is lost, and daemons go on.
. "$(dirname "$0")/../lib/bare.sh"

bare_new slow
bare_app
bare_user 7 alice $ALICE
bare_host 17 7
cp "$top/test/data/keys/upload_private" "$PROJECT/keys/"
line=
end_line() {
	[ -z "$line" ] || kill "$line" 2>/dev/null
}
trap 'status=$?; end_line; bare_end $status' EXIT

port=$((10000 + $$ % 20000))
echo 0 >"$T/ms"
"$build/test/system/slowline" $port "$T/db/db.sock" "$T/ms" 2>>"$T/line.log" &
line=$!
config() { # elements
	bare_config "$1"
	sed -i "s|<db_host>.*</db_host>|<db_host>127.0.0.1:$port</db_host>|" \
		"$PROJECT/config.xml"
}
took() { # COMMAND…: seconds in $took
	local begin=$SECONDS
	"$@"
	took=$((SECONDS - begin))
	echo "# $took s"
}
took_between() { # LEAST MOST
	[ $took -ge "$1" ] && [ $took -le "$2" ] && return
	echo "# took $took s, not $1 to $2"
	return 1
}
in_reply() { # LEAST MOST: request_delay
	local delay
	delay=$(reply_of request_delay)
	delay=${delay%.*}
	[ "${delay:-0}" -ge "$1" ] && [ "$delay" -le "$2" ] && return
	echo "# delay '$delay'"
	return 1
}

config "<resend_lost_results>0</resend_lost_results>"
feeder_up
bare_jobs 3 "max_error_results = 3, max_total_results = 5, max_success_results = 5"
feeder_fill
ask
promise "with a fast database a job is sent" sends 1
job=$(reply_of result/name)
report="<result><name>$job</name><state>5</state><exit_status>0</exit_status>
	<final_cpu_time>1</final_cpu_time></result>"

echo 2000 >"$T/ms"

# ---- no time for it ----
config "<max_rpc_time>8</max_rpc_time><overload_delay>100</overload_delay>"
request seqno=2 "$report"
took rpc "$T/req"
promise "a request that takes too long is given up" says "is busy"
promise "in little more than its time, as the roll-back is slow, too" \
	took_between 8 40
promise "the client is told when to come again" in_reply 100 200
promise "its report is not acknowledged" same "" "$(reply_of result_ack/name)"
promise "and not taken" equals 4 \
	"SELECT server_state FROM result WHERE name = '$job'"
promise "no job is sent" sends 0
promise "the log says why" grep -q "database: too slow, no time left for" \
	"$PROJECT/log/scheduler.log"
promise_in 20 "nothing stays locked or open" equals 0 \
	"SELECT COUNT(*) FROM information_schema.innodb_trx"

# ---- enough time, and daemons meanwhile ----
CGI_TIMEOUT=280
config "<max_rpc_time>270</max_rpc_time>"
sql "UPDATE workunit SET transition_time = 0 WHERE id = 5000000003"
(cd "$PROJECT" && "$build/daemons/transitioner" --one_pass \
	>"$T/transitioner.log" 2>&1) &
transitioner=$!
request seqno=2 "$report"
took rpc "$T/req"
promise "with enough time it is handled" same "$job" "$(reply_of result_ack/name)"
promise "before the client goes away" took_between 10 240
promise "and a job is sent" sends 1
promise "which is the client's, in the database" equals 1 "SELECT COUNT(*) FROM
	result WHERE server_state = 4 AND hostid = 17
	AND name = '$(reply_of result/name)'"
promise "the slow transitioner does its work" wait $transitioner
promise "no workunit is due any more" equals 0 \
	"SELECT COUNT(*) FROM workunit WHERE transition_time = 0"

# ---- fast again ----
echo 0 >"$T/ms"
config ""
promise "when the database is fast again, so are we" took ask seqno=3
promise "within seconds" took_between 0 5
promise "the slot that was claimed and given back is sent" sends 1
feeder_down
done_promising
