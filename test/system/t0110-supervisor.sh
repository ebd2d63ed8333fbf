#!/bin/bash
# t0110-supervisor.sh - daemons stay up: started again after they were killed,
# more and more seldom if they cannot; a stop waits for the last of them; pids
# that belong to somebody else are left alone.
. "$(dirname "$0")/../lib/scenario.sh"

project_new watch
cd "$PROJECT" || exit 1
H=$(ls -d log_*)
H=${H#log_}

# Daemons of this test beside a real one: shell scripts of our own.
script() { # NAME TEXT
	rm -f "bin/$1"
	printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
	chmod 755 "bin/$1"
}
script good 'echo good starts; exec sleep 1000'
script crasher 'echo crash >&2; sleep 0.1; exit 3'
script refuser 'echo "option --x is wrong" >&2; exit 100'
script slow 'trap "sleep 2; echo slow ends; exit 0" HUP TERM
while :; do sleep 0.1; done'
script deaf 'trap "" HUP TERM; while :; do sleep 0.1; done'

daemons() { # COMMAND…: what config.xml starts
	local list= cmd
	for cmd in "$@"; do
		list="$list        <daemon><cmd>$cmd</cmd></daemon>\\n"
	done
	sed -i '/<daemons>/,/<\/daemons>/d' config.xml
	sed -i "s#^</boinc>#    <daemons>\\n$list    </daemons>\\n&#" config.xml
}
pid_of() { cat "pid_$H/$1.pid" 2>/dev/null; }
alive() { # and no zombie that nobody has waited for yet
	kill -0 "$1" 2>/dev/null && ! grep -q '^State:[[:blank:]]*Z' "/proc/$1/status"
}
gone() { ! alive "$1"; }
fails() { ! "$@" >"$T/out" 2>&1; }
says() { grep -q -- "$1" "$T/out" && return 0; sed 's/^/# /' "$T/out"; return 1; }
state() { # NAME: its state in status --json
	bin/status --json | sed -n "/\"name\": \"$1\"/,/}/s/.*\"state\": \"\\(.*\\)\".*/\\1/p"
}
is() { [ "$(state "$1")" = "$2" ]; }
supervisor() { bin/status --json | sed -n '/"supervisor"/,/}/s/.*"pid": \([0-9]*\).*/\1/p'; }

# ---- start, status ---------------------------------------------------------------
daemons feeder good
promise "nothing runs at first" fails bin/status
promise "cron does not start what nobody started" bin/start --cron
promise "(still nothing)" fails bin/status
promise "start starts" bin/start
promise "status says so" bin/status
promise "the feeder is up" is feeder up
promise "so is a plain program" is good up
beats() { bin/status --json | grep -q '"heartbeat_age": [0-9]'; }
promise_in 5 "the feeder's heartbeat is seen" beats
json_ok() { bin/status --json | python3 -m json.tool >/dev/null 2>&1 ||
	bin/status --json | grep -q '^}$'; }
promise "the JSON is whole" json_ok
queues() { bin/status --json | grep -q '"transition_backlog_seconds": 0'; }
promise "queues are in it" queues
promise "the segment is there" grep -q '"segment": "ok"' <(bin/status --json)
first=$(supervisor)
promise "a second start is harmless" bin/start
promise "and starts no second supervisor" test "$(supervisor)" = "$first"
promise "environment and folder are the project's" grep -q \
	"QUORATE_PROJECT_DIR=$PROJECT" <(tr '\0' '\n' <"/proc/$(pid_of good)/environ")
promise "(tmp_HOST)" test "$(readlink "/proc/$(pid_of good)/cwd")" = "$PROJECT/tmp_$H"

# ---- killed, and back --------------------------------------------------------------
old=$(pid_of good)
kill -KILL "$old"
back() { is "$1" up && [ -n "$(pid_of "$1")" ] && [ "$(pid_of "$1")" != "$old" ]; }
promise_in 5 "a killed daemon is started again" back good
promise "its restart is counted" grep -q '"restarts": 1' <(bin/status --json)
old=$(pid_of feeder)
kill -KILL "$old"
promise_in 10 "so is the feeder" back feeder

# ---- a new configuration ------------------------------------------------------------
old=$(pid_of good)
daemons feeder good slow
promise "start reads the configuration again" bin/start
promise_in 5 "what is new is started" is slow up
promise "what was there is not started twice" test "$(pid_of good)" = "$old"
daemons good slow
feeder=$(pid_of feeder)
promise "without the feeder" bin/start
promise_in 10 "it ends" gone "$feeder"

# ---- stop ----------------------------------------------------------------------------
slow=$(pid_of slow)
good=$(pid_of good)
promise "stop stops" bin/stop
promise "it has waited for the slow one" gone "$slow"
promise "which ended in its own way" grep -q "slow ends" "log_$H/slow.log"
promise "and for the others" gone "$good"
promise "and for the supervisor" gone "$first"
promise "pid files are gone" test -z "$(ls "pid_$H" | grep '\.pid$')"
promise "the scheduler is told to answer that the project is down" test -f stop_sched
promise "status says that nothing runs" fails bin/status
promise "cron does not start what was stopped" bin/start --cron
promise "(nothing)" fails bin/status
promise "no shared memory is left" test -z "$(ls /dev/shm | grep "$(
	printf '%s' "$PROJECT" | sha256sum | cut -c1-8)")"

# ---- failed starts are told -----------------------------------------------------------
daemons good refuser crasher no_such_program
promise "a failed start is a failure" fails bin/start
promise "what refused is named with its reason" says "refuser: exit status 100: option --x is wrong"
promise "what crashed, too" says "crasher: exit status 3: crash"
promise "and what is not there" says "no_such_program"
promise "the others run" is good up
promise "what refused waits for the operator" is refuser failed
times() { grep -c "started crasher" "log_$H/supervisor.log"; }
sleep 9
# after 0, 1, 3, 7 s: four starts in ten seconds, not a hundred
promise "a crash loop becomes slower and slower" test "$(times)" -ge 3 -a "$(times)" -le 5
promise_in 10 "and after five times it is an alarm" \
	grep -q "\[CRITICAL\] crasher ended 5 times" "log_$H/supervisor.log"
promise "what refused was not tried again" \
	test "$(grep -c 'started refuser' "log_$H/supervisor.log")" = 1
script refuser 'exec sleep 1000'
script crasher 'exec sleep 1000'
daemons good refuser crasher
promise "repaired and started again, all runs" bin/start
promise_in 5 "(refuser)" is refuser up
bin/stop -q

# ---- the supervisor itself is killed -----------------------------------------------------
daemons good
bin/start -q
good=$(pid_of good)
kill -KILL "$(supervisor)"
promise_in 10 "its programs do not outlive it" gone "$good"
promise "cron brings all back" bin/start --cron
promise_in 5 "(up)" is good up
bin/stop -q

# ---- pids of others ------------------------------------------------------------------------
sleep 1000 &
bystander=$!
echo $bystander >"pid_$H/good.pid"
promise "a stop with a stale pid file ends" bin/stop
promise "a process that has the old pid is left alone" alive $bystander
kill $bystander

# ---- what does not end -----------------------------------------------------------------------
daemons deaf
bin/start -q
deaf=$(pid_of deaf)
promise "a stop with a time limit gives up" fails bin/stop --timeout 2
promise "names what still runs" says "deaf"
promise "and kills nothing" alive "$deaf"
promise "with --force it is killed" bin/stop --force
promise "(gone)" gone "$deaf"

# ---- tasks ----------------------------------------------------------------------------------
daemons good
sed -i '/<tasks>/,/<\/tasks>/d' config.xml
sed -i 's|^</boinc>|    <tasks><task><cmd>ticker</cmd><period>1 days</period></task></tasks>\n&|' config.xml
script ticker 'echo tick'
bin/start -q
promise_in 5 "a task that is due runs" grep -q tick "log_$H/ticker.out"
bin/stop -q
bin/start -q
sleep 2
promise "once in its period, restarts or not" test "$(grep -c tick "log_$H/ticker.out")" = 1
bin/stop -q

# ---- commands for a shell -----------------------------------------------------------------
daemons 'good | cat'
promise "a pipe without use_shell is refused" fails bin/start
promise "with its line" says "config.xml:$(grep -n 'good | cat' config.xml | cut -d: -f1)"
daemons good
done_promising
