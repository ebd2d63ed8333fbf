#!/bin/bash
# t0206-who-gets-what.sh - which jobs a host is sent, how many, and what it is
# told when it gets none.
. "$(dirname "$0")/../lib/bare.sh"

bare_new dispatch
bare_app
bare_user 7 alice $ALICE
bare_user 8 bob $BOB
bare_host 17 7
bare_host 18 7
bare_host 19 8
feeder_up

fresh_jobs() { # COUNT [COLUMN = VALUE, …]
	sql "DELETE FROM result; DELETE FROM workunit"
	feeder_restart
	bare_jobs "$@"
	feeder_fill
}

# The array forgets what is no longer in the database.
feeder_restart() {
	feeder_down
	feeder_up
}

all_ready() { # no slot stays claimed
	! shmem '"state": "claimed"'
}

none() { # TEXT: nothing is sent, and the reason is this one
	sends 0 && says "$1" && all_ready
}

# ---- the plain case ----
fresh_jobs 3
ask
promise "one second of work is one job" sends 1
promise "in progress at that host" equals '17 7 11 1000000000' "SELECT CONCAT_WS(' ',
	hostid, userid, app_version_id, flops_estimate) FROM result
	WHERE server_state = 4"
promise "the client is told the deadline that is stored" \
	equals "$(reply_of result/report_deadline)" \
	"SELECT report_deadline FROM result WHERE server_state = 4"
promise "which is the delay bound from now" equals 86400 \
	"SELECT report_deadline - sent_time FROM result WHERE server_state = 4"
promise "when the transitioner looks" equals 0 "SELECT w.transition_time -
	r.report_deadline FROM workunit w JOIN result r ON r.workunitid = w.id
	WHERE server_state = 4"
promise "application, version and workunit come with it" same "demo 100 demo" \
	"$(reply_of app/name) $(reply_of app_version/version_num) $(reply_of workunit/app_name)"
ask secs=1e9
promise "no job is sent twice" sends 2
ask
promise "none are left: the volunteer is told" none "has none at the moment"
ask "<dont_send_work>1</dont_send_work>"
promise "who wants no work is told nothing" same '' "$(reply_of message)"
bare_config "<report_grace_period>100</report_grace_period>"
fresh_jobs 1
ask
promise "a period of grace is stored, not told" equals \
	$(($(reply_of result/report_deadline) + 100)) \
	"SELECT report_deadline FROM result"
bare_config ""

# ---- what fits: exactly enough, and a little less ----
# the default preferences allow 90 % of the memory
fresh_jobs 2 "rsc_memory_bound = 9e8"
ask ram=999999999
promise "a host below the memory need gets nothing" none "more memory"
ask ram=1000000000
promise "exactly enough memory is enough" sends 1
# 1 GB (2^30) stays free
fresh_jobs 2 "rsc_disk_bound = 1e9"
ask disk=2073741823
promise "a host below the disk need gets nothing" none "more disk"
ask disk=2073741824
promise "exactly enough disk is enough" sends 1
# 9e11 FLOP at 1e9 FLOPS: 900 s
fresh_jobs 1 "delay_bound = 899"
ask
promise "a host that would be a second late gets nothing" none "deadline"
fresh_jobs 2 "delay_bound = 900"
ask "<estimated_delay>1</estimated_delay>"
promise "nor one that is busy before" none "deadline"
ask on=0.9
promise "nor one that is switched off at times" none "deadline"
ask fpops=999000000
promise "nor one that is too slow" none "deadline"
ask
promise "exactly enough time is enough" sends 1
fresh_jobs 2 "rsc_bandwidth_bound = 1e6"
ask "<net_stats><bwdown>999999</bwdown></net_stats>"
promise "a line too slow gets nothing" none "faster internet"
ask "<net_stats><bwdown>1000000</bwdown></net_stats>"
promise "one that is fast enough does" sends 1
fresh_jobs 1
ask platform_name=sparc-sun-solaris2.7
promise "a platform unknown to the project gets nothing" \
	none "computers of type sparc-sun-solaris2.7"
promise "for a day" grep -q '^request_delay 86400' "$T/reply.txt"
ask platform_name=windows_x86_64 "<alt_platform><name>$platform</name></alt_platform>"
promise "unless another of its platforms is known" sends 1

# ---- version numbers ----
sql "UPDATE app SET min_version = 101"
fresh_jobs 1
ask
promise "a version below min_version is not used" none "brought up to date"
sql "UPDATE app SET min_version = 100"
feeder_restart && feeder_fill
ask
promise "min_version itself is" sends 1
sql "UPDATE app_version SET min_core_version = 72006"
fresh_jobs 1
ask
promise "nor one made for newer clients" none "your version of BOINC"
ask version=7.20.6
promise "they get it" sends 1
sql "UPDATE app_version SET min_core_version = 0"
bare_config "<min_core_client_version>72006</min_core_client_version>"
fresh_jobs 1
ask
promise "a client that is too old is told which one it needs" none "7.20.6"
bare_config "<require_same_major>7</require_same_major>"
fresh_jobs 3
ask version=6.12.34
promise "so is one of another major version, of both numbers" \
	none "needs version 7 of BOINC; yours is version 6"
promise "and to stay away for a day" grep -q '^request_delay 86400' "$T/reply.txt"
ask version=8.0.0
promise "also a newer one" none "needs version 7 of BOINC; yours is version 8"
ask version=7.20.5
promise "that version gets work" sends 1
bare_config "<require_same_major>0</require_same_major>"
for version in 6.12.34 7.20.5 8.0.0; do
	fresh_jobs 1
	ask version=$version
	promise "without the rule client $version gets work" sends 1
done
bare_config ""

# ---- order ----
fresh_jobs 5
bare_jobs 1 "priority = 9"
bare_jobs 5 "priority = -3"
feeder_fill
high=$(sql "SELECT name FROM result WHERE priority = 9")
ask
promise "the job of higher priority goes first" same "$high" "$(reply_of result/name)"
ask secs=4500
promise "then those of the next" equals 6 \
	"SELECT COUNT(*) FROM result WHERE server_state = 4 AND priority >= 0"

# ---- how much ----
# 4 processors that work half of the time; 900 s at full speed is 1800 s
fresh_jobs 20
ask work=3600 secs= on=0.5
promise "old form, 3600 s for 4 processors at one half: 8 jobs of 900 s" sends 8
fresh_jobs 20
ask work=14400 secs=14400 on=0.5 active=1
promise "14400 processor-seconds likewise" sends 8
fresh_jobs 20
ask work=0 secs=0.5 instances=4
promise "four idle processors get one job each" sends 4
fresh_jobs 20
ask "secs=" work=0 "<coprocs><coproc_cuda><count>1</count><req_secs>9e3</req_secs></coproc_cuda></coprocs>"
promise "a request for the GPU alone gets none for the CPU" none "processor"
bare_config "<max_wus_to_send>2</max_wus_to_send>"
ask secs=1e6
promise "max_wus_to_send is for each processor" sends 8
fresh_jobs 20
bare_config "<max_results_per_rpc>3</max_results_per_rpc>"
ask secs=1e6
promise "max_results_per_rpc is for all" sends 3
bare_config "<dont_send_jobs>1</dont_send_jobs>"
ask
promise "dont_send_jobs sends none" none "sends none"
bare_config "<min_sendwork_interval>60</min_sendwork_interval>"
ask
promise "a request too soon after the last gets nothing" none "too recent"
promise "and is told when to come" grep -q '^request_delay 61' "$T/reply.txt"
sql "UPDATE host SET rpc_time = rpc_time - 61"
ask
promise "later it gets work" sends 1
bare_config ""
fresh_jobs 3 "rsc_disk_bound = 1e9"
ask secs=1e6 disk=3200000000
promise "each job takes its share of the disk" sends 2

# ---- one result of a workunit ----
# each workunit has a second result
twins() {
	sql "INSERT INTO result (id, name, workunitid, server_state, appid,
		xml_doc_in, size_class) SELECT id + 1000000, CONCAT(name, '_1'), id,
		2, 1, '<result>\n</result>\n', -1 FROM workunit"
	feeder_fill
}
fresh_jobs 3
twins
ask secs=1e6
promise "without a rule both results of a workunit may go to one host" sends 6
bare_config "<one_result_per_user_per_wu>1</one_result_per_user_per_wu>"
fresh_jobs 3
twins
ask secs=1e6
promise "one for each user: one of each workunit" sends 3
ask secs=1e6
promise "and no other one later" none "different people"
ask secs=1e6 hostid=18
promise "nor for another computer of the user" none "different people"
ask secs=1e6 hostid=19 key=$BOB
promise "another user gets them" sends 3
bare_config "<one_result_per_host_per_wu>1</one_result_per_host_per_wu>"
fresh_jobs 3
twins
ask secs=1e6
promise "one for each host: one of each workunit" sends 3
ask secs=1e6
promise "and no other one later" none "different computers"
ask secs=1e6 hostid=18
promise "another computer of the user gets them" sends 3

# Six workunits, two results each; two computers of one user ask at once.
bare_config "<one_result_per_user_per_wu>1</one_result_per_user_per_wu>"
for round in 1 2 3; do
	fresh_jobs 6
	twins
	for host in 17 18; do
		request hostid=$host secs=5000
		mv "$T/req" "$T/req.$host"
	done
	parallel=()
	for i in 1 2 3 4 5 6; do
		file=$T/req.$((17 + i % 2))
		REQUEST_METHOD=POST CONTENT_LENGTH=$(stat -c %s "$file") \
			"$build/sched/scheduler" <"$file" >"$T/parallel.$i" &
		parallel+=($!)
	done
	wait "${parallel[@]}"
	promise "two computers of a user race: no workunit is shared ($round)" \
		equals 0 "SELECT COUNT(*) FROM (SELECT workunitid FROM result
		WHERE userid = 7 GROUP BY workunitid HAVING COUNT(*) > 1) x"
	promise "and what was promised was stored ($round)" equals \
		"$(cat "$T"/parallel.* | grep -c '<report_deadline>')" \
		"SELECT COUNT(*) FROM result WHERE server_state = 4"
done

# ---- another program has the workunits: nobody waits for it ----
bare_config ""
fresh_jobs 20
mariadb_client "$T/db" "$DB_NAME" -e "START TRANSACTION;
	UPDATE workunit SET opaque = 1; SELECT SLEEP(3);
	UPDATE host SET total_credit = 6 WHERE id = 17; COMMIT" >/dev/null &
holder=$!
locked() {
	! sql "SELECT id FROM workunit WHERE id > 0 LIMIT 1 FOR UPDATE NOWAIT"
}
promise_in 10 "another program has locked the workunits" locked
ask secs=1800
promise "jobs of a workunit that another has locked are passed over" sends 0
promise "and the client is told so" \
	grep -q "at work on those" "$T/reply.txt"
promise "nothing was promised" equals 0 \
	"SELECT COUNT(*) FROM result WHERE server_state = 4"
wait $holder
promise "the other one's work was not lost" equals 6 \
	"SELECT total_credit FROM host WHERE id = 17"
sql "UPDATE x_credit_base SET credit = 6 WHERE kind = 2 AND id = 17"
ask secs=1800
promise "a moment later they are sent" sends 2
promise "no slot stays claimed" all_ready

# ---- a block of jobs that one user cannot have ----
bare_config "<one_result_per_user_per_wu>1</one_result_per_user_per_wu>
	<shmem_work_items>400</shmem_work_items>"
fresh_jobs 300 "priority = 5"
sql "INSERT INTO result (name, workunitid, server_state, appid, userid, hostid,
	outcome, size_class) SELECT CONCAT(name, '_9'), id, 5, 1, 7, 18, 1, -1
	FROM workunit"
bare_jobs 1
feeder_fill
ask
promise "300 jobs that the user has do not hide the one behind them" sends 1
promise "each of them was looked at" grep -q 'user-has-result 300' \
	"$PROJECT/log/scheduler.log"
promise "and stay for others" all_ready

# ---- decided meanwhile ----
bare_config ""
fresh_jobs 3
audit_except canonical-exists "a workunit is decided by hand"
audit_except canonical-unsent "a workunit is decided by hand"
sql "UPDATE workunit SET error_mask = 16 WHERE id = 5000000001;
	UPDATE workunit SET canonical_resultid = 1 WHERE id = 5000000002"
ask secs=1e6
promise "what is decided is not sent" same wu_5000000003_0 "$(reply_of result/name)"
# the feeder may have withdrawn the result of the failed workunit by now
promise "nor given to anybody" equals 1 \
	"SELECT COUNT(*) FROM result WHERE server_state = 4"

# ---- a stored document that is broken ----
cp "$PROJECT/log/scheduler.log" "$PROJECT/log/before.log"
fresh_jobs 2
sql "UPDATE workunit SET xml_doc = 'nothing' WHERE id = 5000000001"
ask secs=1e6
promise "a job whose document is broken is not sent, the other is" \
	same wu_5000000002_0 "$(reply_of result/name)"
promise "nor promised: it stays unsent" equals 2 \
	"SELECT server_state FROM result WHERE workunitid = 5000000001"
promise "and the log says so" grep -q 'CRITICAL.*document' \
	"$PROJECT/log/scheduler.log"
mv "$PROJECT/log/before.log" "$PROJECT/log/scheduler.log"

# ---- the line in the log ----
promise "each request has its line: asked, scanned, refused, sent" grep -Eq \
	'asked CPU 1000000 s; ready 3, scanned 3; refused: .*, sent 1,.* statements' \
	"$PROJECT/log/scheduler.log"
promise "nothing critical was logged" \
	same 0 "$(grep -c CRITICAL "$PROJECT/log/scheduler.log")"

done_promising
