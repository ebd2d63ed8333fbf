#!/bin/bash
# t0500-batches.sh - a batch of 10 000 workunits, with results in every state:
# it is given priority, then cancelled, while a scheduler sends; other batches
# are not touched.
. "$(dirname "$0")/../lib/bare.sh"

MARIADB_HASTY=1
export MARIADB_HASTY
bare_new batches
bare_config "<send_result_abort>1</send_result_abort>
	<shmem_work_items>200</shmem_work_items>"
bare_app
bare_user 7 alice $ALICE
bare_host 17 7

tool() { # NAME [ARG…]: output in $T/tool.txt
	local name=$1
	shift
	(cd "$PROJECT" && "$build/tools/$name" "$@") >"$T/tool.txt" 2>&1
}

in_ten_seconds() { # COMMAND…
	local begin=$SECONDS
	"$@" || return 1
	[ $((SECONDS - begin)) -lt 10 ]
}

daemon() { # NAME [ARG…]: until nothing is due
	local name=$1
	shift
	(cd "$PROJECT" && "$build/daemons/$name" --one_pass "$@") \
		>>"$PROJECT/log/$name.log" 2>&1
}

assimilate() {
	daemon sample_copy_assimilator --app demo
}

# The first result of a workunit has the state of id % 10; the second one, which
# each third workunit has, is in progress on another host.
#   0 1  unsent           2 inactive       3 in progress on our host
#   4    success, INIT    5 client error   6 no reply
#   7    success, INCONCLUSIVE             8 not needed   9 detached
batch_of() { # BATCH COUNT FIRST_ID PRIORITY
	sql "INSERT INTO workunit (id, appid, name, xml_doc, batch, priority,
	    transition_time, delay_bound, min_quorum, target_nresults,
	    max_error_results, max_total_results, max_success_results, size_class,
	    rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound, rsc_disk_bound,
	    result_template_file)
	SELECT $3 + seq, 1, CONCAT('wu_', $3 + seq),
	    '<workunit>\n<file_ref>\n</file_ref>\n</workunit>\n', $1, $4,
	    UNIX_TIMESTAMP() + 18000, 86400, 1, 1, 100, 100, 100, -1, 9e11, 9e13, 1e8, 1e8, ''
	    FROM seq_0_to_$(($2 - 1));
	INSERT INTO result (id, name, workunitid, appid, batch, priority,
	    server_state, outcome, validate_state, hostid, userid, sent_time,
	    report_deadline, received_time, xml_doc_in, size_class)
	SELECT id, CONCAT(name, '_0'), id, 1, batch, priority,
	    ELT(id % 10 + 1, 2, 2, 1, 4, 5, 5, 5, 5, 5, 5),
	    ELT(id % 10 + 1, 0, 0, 0, 0, 1, 3, 4, 1, 5, 7),
	    ELT(id % 10 + 1, 0, 0, 0, 0, 0, 2, 0, 4, 0, 0),
	    IF(id % 10 IN (0, 1, 2, 8), 0, 17),
	    IF(id % 10 IN (0, 1, 2, 8), 0, 7),
	    IF(id % 10 IN (0, 1, 2, 8), 0, UNIX_TIMESTAMP() - 60),
	    IF(id % 10 IN (0, 1, 2, 8), 0,
	UNIX_TIMESTAMP() + IF(id % 10 = 6, -30, 86400)),
	    IF(id % 10 IN (4, 5, 7, 9), UNIX_TIMESTAMP() - 5, 0),
	    CONCAT('<result>\n<file_ref>\n<file_name>', name,
	    '_0_r1_0</file_name>\n</file_ref>\n</result>\n'), -1
	    FROM workunit WHERE batch = $1;
	INSERT INTO result (name, workunitid, appid, batch, priority, server_state,
	    hostid, userid, sent_time, report_deadline, xml_doc_in, size_class)
	SELECT CONCAT(name, '_1'), id, 1, batch, priority, 4, 99, 8,
	    UNIX_TIMESTAMP() - 60, UNIX_TIMESTAMP() + 86400, '', -1
	    FROM workunit WHERE batch = $1 AND id % 3 = 0"
}

first_sent() { # ids of the first COUNT results sent to our host
	ask secs=1 instances=1 >/dev/null
	reply_of result/name
}

untouched() { # BATCH
	sql "SELECT COUNT(*), SUM(CRC32(CONCAT_WS(' ', id, error_mask, priority,
	    transition_time, assimilate_state))) FROM workunit WHERE batch = $1;
	SELECT COUNT(*), SUM(CRC32(CONCAT_WS(' ', id, server_state, outcome,
	    validate_state, priority))) FROM result WHERE batch = $1"
}

# ---- batches ----
tool batch create --name "the large one" --app demo
BATCH=$(cat "$T/tool.txt")
promise "a new batch has a number" equals "0 the large one" \
	"SELECT CONCAT_WS(' ', state, name) FROM batch WHERE id = $BATCH"
tool batch create --name "another"
OTHER=$(cat "$T/tool.txt")
batch_of "$BATCH" 10000 5000000000 0
batch_of "$OTHER" 500 6000000000 5
# a plain number: there is no row of batch
batch_of 777 500 7000000000 5
sql "UPDATE batch SET njobs = 10000, state = 1 WHERE id = $BATCH;
	UPDATE batch SET njobs = 500, state = 1 WHERE id = $OTHER"
feeder_up
for _ in $(seq 1 100); do
	[ "$(cd "$PROJECT" && "$build/tools/show_shmem" --json |
		grep -c '"result": ')" = 200 ] && break
	sleep 0.1
done

# ---- priority ----
promise "before, those of higher priority go first" same 0 \
	"$(first_sent | grep -c wu_5)"
others=$(untouched "$OTHER" && untouched 777)
promise "--dry_run says how many" \
	eval 'tool set_priority --batch $BATCH --priority 9 --dry_run &&
		grep -q "^10000 workunits would be" "$T/tool.txt"'
promise "and changes nothing" equals 0 \
	"SELECT COUNT(*) FROM workunit WHERE priority = 9"
promise "a batch of 10000 gets a priority in less than 10 s" \
	in_ten_seconds tool set_priority --batch "$BATCH" --priority 9
promise "all its workunits have it" equals 10000 \
	"SELECT COUNT(*) FROM workunit WHERE batch = $BATCH AND priority = 9"
promise "and those of its results that were not sent, no other" equals 3000,3000 \
	"SELECT CONCAT_WS(',', SUM(priority = 9), SUM(server_state IN (1, 2)))
	 FROM result WHERE batch = $BATCH AND (priority = 9
	 OR server_state IN (1, 2))"
in_order() { # the array holds the batch's alone
	for _ in $(seq 1 30); do
		(cd "$PROJECT" && "$build/tools/show_shmem" --json) >"$T/shmem.json"
		[ "$(grep -c '"priority": 9' "$T/shmem.json")" = 200 ] && return
		sleep 0.1
	done
	return 1
}
promise "the job array follows at once" in_order
promise "from then on they are sent first" same 1 "$(first_sent | grep -c wu_5)"
promise "a line in the audit says so" equals 1 "SELECT COUNT(*) FROM x_audit
	WHERE action = 'set_priority' AND object = 'batch $BATCH' AND
	detail = 'priority 9: 10000 workunits, 3000 results never sent'"
tool set_priority --batch "$BATCH" --priority -1
lowered() { # all those of priority 5 are in the array
	local want
	want=$(sql "SELECT COUNT(*) FROM result WHERE server_state = 2 AND
		priority = 5")
	for _ in $(seq 1 30); do
		(cd "$PROJECT" && "$build/tools/show_shmem" --json) >"$T/shmem.json"
		[ "$(grep -c '"priority": 5' "$T/shmem.json")" = "$want" ] &&
			! grep -q '"priority": 9' "$T/shmem.json" && return
		sleep 0.1
	done
	return 1
}
promise "lowered, they make room for the others" lowered
tool set_priority --batch "$BATCH" --priority 9
promise "other batches are untouched" same "$others" \
	"$(untouched "$OTHER" && untouched 777)"

# ---- cancel, while the scheduler sends ----
sql "UPDATE result SET server_state = 5, outcome = 5 WHERE batch = 777 AND
	server_state = 2"
send_meanwhile() {
	while [ ! -e "$T/stop" ]; do
		first_sent >/dev/null
	done
}
send_meanwhile &
sender=$!
promise "a batch of 10000 is cancelled in less than 10 s" \
	in_ten_seconds tool cancel_jobs --batch "$BATCH"
touch "$T/stop"
wait $sender
# the sender wrote the same files
promise "all workunits have the error CANCELLED" equals 10000 "SELECT COUNT(*)
	FROM workunit WHERE batch = $BATCH AND error_mask = 16"
promise "the transitioner is to look at them" equals 0 "SELECT COUNT(*)
	FROM workunit WHERE batch = $BATCH AND transition_time > UNIX_TIMESTAMP()"
promise "no result is left to be sent" equals 0 "SELECT COUNT(*) FROM result
	WHERE batch = $BATCH AND server_state IN (1, 2)"
promise "what was never sent was not needed" equals 0 "SELECT COUNT(*)
	FROM result WHERE batch = $BATCH AND outcome = 5 AND sent_time <> 0"
promise "what is in progress stays so" equals 0 "SELECT COUNT(*) FROM result
	WHERE batch = $BATCH AND server_state = 4 AND (outcome <> 0 OR hostid = 0)"
promise "each result of each workunit is in one of the two states" equals 0 \
	"SELECT COUNT(*) FROM result WHERE batch = $BATCH AND server_state NOT IN
	 (4, 5)"
ask secs=1e6 instances=4
promise "nothing more of it is sent" same 0 "$(reply_of result/name | grep -c wu_5)"
promise "the batch counts them as failed, and is complete" equals \
	"10000 10000 1 2" "SELECT CONCAT_WS(' ', njobs, nerror_jobs,
	 fraction_done, state) FROM batch WHERE id = $BATCH"
promise "a line in the audit says who and what" equals 1 "SELECT COUNT(*)
	FROM x_audit WHERE action = 'cancel_jobs' AND actor = '$(id -un)' AND
	object = 'batch $BATCH' AND detail LIKE '10000 workunits, %'"
promise "once more finds nothing" eval \
	'! tool cancel_jobs --batch $BATCH && grep -q "^0 workunits" "$T/tool.txt"'

# ---- clients ----
sql "SELECT CONCAT('<other_result><name>', name, '</name></other_result>')
	FROM result WHERE hostid = 17 AND server_state = 4 AND batch = $BATCH
	ORDER BY id LIMIT 1000" >"$T/known"
seq -f '<other_result><name>invented_%.0f_0</name></other_result>' 1 1000 \
	>"$T/invented"
mine=$(sql "SELECT name FROM result WHERE hostid = 17 AND server_state = 4 AND
	batch = $OTHER LIMIT 1")
late=$(sql "SELECT name FROM result WHERE hostid = 17 AND outcome = 4 AND
	batch = $OTHER LIMIT 1")
detached=$(sql "SELECT name FROM result WHERE hostid = 17 AND outcome = 7 AND
	batch = $OTHER LIMIT 1")
foreign=$(sql "SELECT name FROM result WHERE hostid = 99 LIMIT 1")
done_wu=$(sql "SELECT name FROM result WHERE hostid = 17 AND server_state = 4 AND
	batch = $OTHER ORDER BY id DESC LIMIT 1")
sql "UPDATE workunit SET assimilate_state = 2 WHERE CONCAT(name, '_0') =
	'$done_wu'"
other="<other_results>
$(cat "$T/known" "$T/invented")
$(for name in $mine $late $detached $foreign $done_wu; do
	echo "<other_result><name>$name</name></other_result>"
done)
</other_results>"
ask secs= work=0 "other=$other"
aborts() { # NAME: abort, unless, or nothing
	reply_of result_abort/name | grep -qx "$1" && echo abort
	reply_of result_abort_if_not_started/name | grep -qx "$1" && echo unless
	true
}
# 1000 cancelled, 1000 unknown, one of another host, one detached
promise "of 2000 jobs, half of them invented, all are aborted" \
	same 2002 "$(reply_of result_abort/name | wc -l)"
promise "a job in progress goes on" same "" "$(aborts "$mine")"
promise "one that is late is aborted if it is not started" \
	same unless "$(aborts "$late")"
promise "one whose workunit is finished likewise" \
	same unless "$(aborts "$done_wu")"
promise "one that was detached is aborted" same abort "$(aborts "$detached")"
promise "one of another host is aborted" same abort "$(aborts "$foreign")"
statements() { # of the last request
	sed -n 's/.* \([0-9]*\) statements; .*/\1/p' "$PROJECT/log/scheduler.log" |
		tail -n 1
}
with=$(statements)
bare_config "<send_result_abort>0</send_result_abort>"
ask secs= work=0 "other=$other"
promise "without <send_result_abort> nothing is" same "" \
	"$(reply_of result_abort/name)"
promise "they are looked up in one statement" same $((with - 1)) \
	"$(statements)"

sql "UPDATE workunit SET assimilate_state = 0 WHERE CONCAT(name, '_0') =
	'$done_wu'"

# ---- the rest of their lives ----
cp "$top"/test/data/keys/upload_private "$PROJECT/keys/" 2>/dev/null
sql "UPDATE result SET server_state = 5, outcome = 3, exit_status = 202,
	received_time = UNIX_TIMESTAMP() WHERE batch = $BATCH AND server_state = 4"
promise "the transitioner takes them" daemon transitioner
# most of them are given to an assimilator that is faster than any
sql "UPDATE workunit SET assimilate_state = 2, transition_time = 0
	WHERE batch = $BATCH AND assimilate_state = 1 AND id % 20 > 0"
promise "the assimilator is called with the error" assimilate
promise "and is told so" same CANCELLED \
	"$(cat "$PROJECT"/results/wu_5000000100_error)"
promise "of each" equals 10000 "SELECT COUNT(*) FROM workunit WHERE
	batch = $BATCH AND assimilate_state = 2 AND error_mask = 16"
daemon transitioner
promise "files may go" equals 10000 "SELECT COUNT(*) FROM workunit WHERE
	batch = $BATCH AND file_delete_state = 1"
daemon file_deleter
daemon db_purge --no_archive
promise "rows stay until the batch is retired" equals 10000 "SELECT COUNT(*)
	FROM workunit WHERE batch = $BATCH"
tool batch retire "$BATCH"
daemon db_purge --no_archive
promise "then they go" equals 0 "SELECT COUNT(*) FROM workunit WHERE
	batch = $BATCH"
promise "the batch says what it was" eval \
	'tool batch show $BATCH && grep -qx "state: RETIRED" "$T/tool.txt" &&
	grep -qx "jobs: 10000" "$T/tool.txt"'
done_promising
