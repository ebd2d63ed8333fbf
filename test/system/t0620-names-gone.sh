#!/bin/bash
# t0620-names-gone.sh - no name server answers: clients are told to come again,
# daemons wait, say so, and go on when the name is there again.
. "$(dirname "$0")/../lib/bare.sh"

bare_new names
bare_app
bare_user 7 alice $ALICE
bare_host 17 7
cp "$top/test/data/keys/upload_private" "$PROJECT/keys/"
line=
transitioner=
end_line() {
	[ -z "$line" ] || kill "$line" $transitioner 2>/dev/null
}
trap 'status=$?; end_line; bare_end $status' EXIT

port=$((10000 + $$ % 20000))
echo 0 >"$T/ms"
"$build/test/system/slowline" $port "$T/db/db.sock" "$T/ms" 2>>"$T/line.log" &
line=$!
sed -i -e "s|<db_host>.*</db_host>|<db_host>database.test:$port</db_host>|" \
	-e 's|<master_url>.*</master_url>|<master_url>http://nowhere.invalid/p/</master_url>|' \
	"$PROJECT/config.xml"
touch "$T/names"
named() { # COMMAND…: with names of machines that can be looked up, or cannot
	LD_PRELOAD="$build/test/system/noname.so${ASAN_LIB:+:$ASAN_LIB}" \
		QUORATE_NAMES="$T/names" ASAN_OPTIONS=verify_asan_link_order=0 "$@"
}
named_feeder() {
	(cd "$PROJECT" && named exec "$build/daemons/feeder" --sleep_interval 0.1 \
		>>"$PROJECT/log/feeder.log" 2>&1) &
	feeder_pid=$!
}
transitioner_log() {
	grep -q "$1" "$PROJECT/log/transitioner.log"
}

named_feeder
(cd "$PROJECT" && named exec "$build/daemons/transitioner" --sleep_interval 0.2 \
	>>"$PROJECT/log/transitioner.log" 2>&1) &
transitioner=$!
promise_in 10 "daemons find the database by its name" shmem '"slots"'
promise_in 10 "both" transitioner_log 'started'
bare_jobs 3
feeder_fill
named ask
promise "so do schedulers; the master URL's name does not matter" sends 1

# ---- the name goes, and every connection with it ----
rm "$T/names"
mariadb_stop "$T/db"
mariadb_start "$T/db"
begin=$SECONDS
named ask seqno=2
promise "the client is told that the project is down" \
	grep -q '^project_is_down' "$T/reply.txt"
promise "and when to come again" says 'database is not available'
promise "soon" test $((SECONDS - begin)) -le 15
promise "the scheduler's log names the database's machine" grep -q \
	"cannot connect.*database.test" "$PROJECT/log/scheduler.log"
promise_in 20 "the transitioner says so" transitioner_log \
	'cannot connect.*database.test'
promise "and lives" kill -0 $transitioner
promise "so does the feeder" kill -0 "$feeder_pid"
start_one() {
	(cd "$PROJECT" && named "$build/daemons/file_deleter" --one_pass) \
		>"$T/start.log" 2>&1
}
promise "a daemon that is started now ends, for the supervisor to try again" \
	eval '! start_one'
promise "and says why" grep -q 'cannot connect.*database.test' "$T/start.log"

# ---- and comes back ----
touch "$T/names"
promise_in 70 "the transitioner goes on" transitioner_log 'connected.*again'
promise_in 70 "and the feeder" grep -q 'connected.*again' "$PROJECT/log/feeder.log"
named ask seqno=2
promise "and clients get work" sends 1
kill $transitioner
promise "the transitioner ends when it is told to" wait $transitioner
transitioner=
feeder_down
sed -i "s|<db_host>.*</db_host>|<db_host>$T/db/db.sock</db_host>|" \
	"$PROJECT/config.xml" # for audit
done_promising
