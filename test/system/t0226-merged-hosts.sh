#!/bin/bash
# t0226-merged-hosts.sh - two records of one computer become one: by the tool,
# and for the client that knows the old id.
. "$(dirname "$0")/../lib/bare.sh"

bare_new merged
bare_app
bare_user 7 alice $ALICE
bare_user 8 bob $BOB
like="p_vendor = 'GenuineExample', p_model = 'Example CPU', os_name = 'Linux Debian', expavg_time = UNIX_TIMESTAMP()"
bare_host 17 7 "create_time = 1000, rpc_time = 2000, total_credit = 100, expavg_credit = 10, $like"
bare_host 18 7 "create_time = 3000, rpc_time = 4000, total_credit = 50, expavg_credit = 5, $like"
bare_host 19 7 "create_time = 3500, rpc_time = 5000, $like"
bare_host 20 8 "create_time = 6000, rpc_time = 7000, $like"
bare_host 21 7 "create_time = 6000, rpc_time = 7000, $like, os_name = 'Microsoft Windows 11'"
bare_host 22 7 "create_time = 6000, rpc_time = 7000, $like, p_model = 'Other CPU'"
sql "UPDATE user SET total_credit = 165 WHERE id = 7;
	INSERT INTO x_credit_base SELECT 1, id, total_credit FROM user"
bare_jobs 4
sql "UPDATE result SET server_state = 4, hostid = 17, userid = 7,
	report_deadline = UNIX_TIMESTAMP() + 86400, sent_time = 1500
	WHERE id < 5000000004;
	INSERT INTO msg_to_host SET create_time = 1, hostid = 17, variety = 'x', handled = 0, xml = '';
	INSERT INTO assignment SET create_time = 1, target_type = 1, target_id = 17,
	multi = 0, workunitid = 5000000004, resultid = 0"
feeder_up

merge() {
	(cd "$PROJECT" && "$build/tools/merge_hosts" "$@") >"$T/merge.out" 2>&1
}
refuses() { # STATUS WHY HOST HOST
	merge "$3" "$4"
	[ $? = "$1" ] && grep -q "$2" "$T/merge.out" && return
	sed 's/^/# /' "$T/merge.out"
	return 1
}
EXIT_NO=1

promise "hosts of two users stay two" refuses $EXIT_NO "two users" 17 20
promise "other systems too" refuses $EXIT_NO "different kinds" 17 21
promise "other CPUs too" refuses $EXIT_NO "CPUs are different" 17 22
promise "and those at work at the same time" refuses $EXIT_NO "at the same time" 18 19
promise "a host is not merged with itself" refuses $EXIT_NO "one and the same" 17 17
promise "nor with one that is not there" refuses $EXIT_NO "no host 99" 17 99
merge --dry_run 18 17
promise "it can be asked before" grep -q "17 would become part of host 18, with 3 results" "$T/merge.out"
promise "which changes nothing" equals 7 "SELECT userid FROM host WHERE id = 17"

promise "one after the other: merged, in whatever order they are named" merge 18 17
promise "results go to the newer one" equals 3 \
	"SELECT COUNT(*) FROM result WHERE hostid = 18"
promise "credit too" equals '150 15' \
	"SELECT CONCAT_WS(' ', total_credit, ROUND(expavg_credit)) FROM host WHERE id = 18"
promise "and messages and targeted jobs" equals '18 18' \
	"SELECT CONCAT_WS(' ', (SELECT hostid FROM msg_to_host),
	(SELECT target_id FROM assignment))"
promise "the old one says where it went" equals '0 18 0 0' \
	"SELECT CONCAT_WS(' ', userid, rpc_seqno, total_credit, expavg_credit) FROM host WHERE id = 17"
promise "the operator's log has it" equals 'host 17 into 18 3 results, 100 credits' \
	"SELECT CONCAT_WS(' ', object, detail) FROM x_audit WHERE action = 'merge_hosts'"
promise "it is not done twice" refuses $EXIT_NO "already" 17 18
sql "UPDATE host SET total_credit = 0 WHERE id = 19;
	DELETE FROM x_credit_base WHERE kind = 2 AND id = 19;
	UPDATE user SET total_credit = 160 WHERE id = 7;
	UPDATE x_credit_base SET credit = 160 WHERE kind = 1 AND id = 7"
promise "a host that has done nothing may have been there at the same time" \
	merge 18 19

# ---- the client with the old id ----
ask hostid=17 seqno=40 work=0 secs=0 other="<other_results>$(printf '<other_result><name>wu_500000000%d_0</name></other_result>' 1 2 3)</other_results>"
promise "is led along both records to the new one" same 19 "$(reply_of hostid)"
promise "and keeps its jobs" equals 3 \
	"SELECT COUNT(*) FROM result WHERE server_state = 4 AND hostid = 19"
ask hostid=19 seqno=1
promise "then it is that host" same '' "$(reply_of hostid)"

# ---- a circle, and a chain that is too long ----
sql "UPDATE host SET userid = 0, rpc_seqno = 22 WHERE id = 21;
	UPDATE host SET userid = 0, rpc_seqno = 21 WHERE id = 22"
ask hostid=21 seqno=5 name=lone cpid=dd112233445566778899aabbccddeeff
promise "a circle of records ends: a new host" same 23 "$(reply_of hostid)"
promise "and the operator reads of it" \
	grep -q "merged records that lead nowhere" "$PROJECT/log/scheduler.log"

# ---- keys ----
for key in "$ALICE'; DROP TABLE user" "$ALICE\"x"; do
	ask hostid=19 seqno=2 "key=$key"
	promise "a key is what stands before a quote: $key" \
		same alice "$(reply_of user_name)"
done
ask hostid=19 seqno=2 "key='$ALICE"
promise "a quote in front leaves none" says "account key"

audit_except host-circle "two hosts lead to each other here"
audit_except wu-forgotten "these jobs are none of the transitioner's"
audit_except result-deadline-watched "these jobs are none of the transitioner's"
done_promising
