#!/bin/bash
# t0700-others-results.sh - clients that want what is not theirs: jobs, credit and
# records of others, credit twice, numbers beyond all bounds.
. "$(dirname "$0")/../lib/bare.sh"

bare_new others
bare_app
bare_user 7 alice $ALICE
bare_user 8 bob $BOB
like="p_vendor = 'GenuineExample', p_model = 'Example CPU', os_name = 'Linux Debian', expavg_time = UNIX_TIMESTAMP()"
bare_host 17 7 "total_credit = 0, create_time = 1000, rpc_time = 2000, p_fpops = 1e9, $like"
bare_host 18 7 "total_credit = 0, create_time = 3000, rpc_time = 4000, $like"
bare_host 19 8 "total_credit = 0, p_model = 'other'"
bare_jobs 3
sql "UPDATE result SET server_state = 4, hostid = 17, userid = 7, app_version_id = 11,
	flops_estimate = 1e9, sent_time = UNIX_TIMESTAMP() - 1000,
	report_deadline = UNIX_TIMESTAMP() + 50000 WHERE id < 5000000003;
	UPDATE user SET global_prefs = NULL"
feeder_up
wu=wu_5000000001_0
wu2=wu_5000000002_0
seqno=10

result() { # NAME [EXIT [CPU_TIME [STATE]]]
	echo "<result><name>$1</name><exit_status>${2:-0}</exit_status>
<final_cpu_time>${3:-900}</final_cpu_time><final_elapsed_time>${3:-900}</final_elapsed_time>
<state>${4:-5}</state><version_num>100</version_num></result>"
}
other() {
	echo "<other_results><other_result><name>$1</name></other_result></other_results>"
}
alices() {
	sql "SELECT * FROM result; SELECT * FROM workunit; SELECT * FROM user;
		SELECT * FROM host WHERE userid = 7" | md5sum
}

# ---- Bob and the jobs of Alice ----
before=$(alices)
bare_config "<send_result_abort/><resend_lost_results/><msg_to_host/>"
hash=$(printf alice@example.org | md5sum | cut -c1-32)
prefs='<global_preferences>
<mod_time>1900000000</mod_time>
<disk_max_used_gb>0</disk_max_used_gb>
</global_preferences>
'
while IFS='|' read -r promise host xml; do
	ask hostid="$host" key=$BOB name=bobs seqno=$((++seqno)) work=0 secs= \
		cpid=aa112233445566778899aabbccddeeff "$(eval "echo \"$xml\"")"
	promise "$promise: is answered" grep -q '^user_name bob' "$T/reply.txt"
	promise "$promise: changes nothing of hers" same "$before" "$(alices)"
done <<'END'
he reports her result|19|$(result $wu)
he reports it as failed|19|$(result $wu 1)
he reports it with her host's id|17|$(result $wu)
he sends preferences in her name|19|$prefs<global_prefs_source_email_hash>$hash</global_prefs_source_email_hash>
END
ask hostid=19 key=$BOB name=bobs seqno=50 work=0 secs= other="$(other $wu)"
promise "a job of hers that he has is one to abort, for him" \
	grep -q "^result_abort/name $wu" "$T/reply.txt"
promise "and goes on for her" same "$before" "$(alices)"
ask hostid=19 key=$BOB name=bobs seqno=51 work=0 secs= other='<other_results></other_results>'
promise "what she lost is not sent to him" sends 0
ask hostid=0 key=$BOB name=pc seqno=0 work=0 secs=
promise "her computer's own id makes a record of his" equals 8 \
	"SELECT userid FROM host WHERE id = $(reply_of hostid)"
trickle="<msg_from_host>
<result_name>$wu</result_name>
<time>1</time>
<variety>trickle_deadline</variety>
<text>
<result_name>$wu</result_name>
</text>
</msg_from_host>"
act_on_it() {
	(cd "$PROJECT" && "$build/daemons/trickle_deadline" --variety trickle_deadline --one_pass) \
		>>"$T/trickle.log" 2>&1
	equals 0 "SELECT COUNT(*) FROM msg_from_host WHERE handled = 0"
}
ask hostid=19 key=$BOB name=bobs seqno=52 work=0 secs= "$trickle"
promise "a message in the name of her job is his" equals 19 "SELECT hostid FROM msg_from_host"
promise "is looked at" act_on_it
promise "and moves no deadline" same "$before" "$(alices)"
deadline=$(sql "SELECT report_deadline FROM result WHERE name = '$wu'")
ask hostid=17 seqno=9 work=0 secs= "$trickle"
promise "one of hers is looked at, too" act_on_it
promise "and moves it" equals 1 "SELECT report_deadline > $deadline FROM result WHERE name = '$wu'"
bare_config ""

# ---- credit twice ----
seqno=100
ask hostid=17 seqno=$((++seqno)) work=0 secs= "$(result $wu) $(result $wu 0 90000)"
promise "a result twice in a request: stored once" equals '5 1 900' \
	"SELECT CONCAT_WS(' ', server_state, outcome, ROUND(cpu_time)) FROM result WHERE name = '$wu'"
output=$PROJECT/upload/$(printf '%x' $((0x$(printf ${wu}_r1_0 | md5sum | cut -c2-8) % 1024)))
mkdir -p "$output"
echo out >"$output/${wu}_r1_0"
validate() {
	(cd "$PROJECT" && "$build/daemons/sample_trivial_validator" --app demo --one_pass \
		--credit_from_wu) >>"$T/validator.log" 2>&1
}
sql "UPDATE workunit SET need_validate = 1 WHERE id = 5000000001"
validate
promise "validated, it has credit" equals '1 1' "SELECT CONCAT_WS(' ', validate_state,
	granted_credit > 0) FROM result WHERE name = '$wu'"
credit() {
	sql "SELECT id, server_state, outcome, validate_state, granted_credit, cpu_time,
		exit_status, received_time FROM result;
		SELECT SUM(total_credit) FROM host; SELECT SUM(total_credit) FROM user"
}
granted=$(credit)
while IFS='|' read -r promise args xml; do
	# shellcheck disable=SC2046
	ask seqno=$((++seqno)) work=0 secs= $(eval "echo $args") "$(eval "echo \"$xml\"")"
	promise "$promise: acknowledged" grep -q "^result_ack/name $wu" "$T/reply.txt"
	validate
	promise "$promise: no credit, no change" same "$granted" "$(credit)"
	[ "$promise" = "from the other computer" ] || continue
	sql "UPDATE host SET rpc_time = IF(id = 17, 2000, 4000) WHERE id IN (17, 18)"
	(cd "$PROJECT" && "$build/tools/merge_hosts" 17 18) >>"$T/merge.log" 2>&1
done <<'END'
reported again|hostid=17|$(result $wu)
with more time|hostid=17|$(result $wu 0 99999)
as a failure|hostid=17|$(result $wu 1)
as aborted|hostid=17|$(result $wu 203 1 6)
a thousand times|hostid=17|$(for i in $(seq 1000); do result $wu; done)
from the other computer|hostid=18|$(result $wu)
after the computers were merged|hostid=17|$(result $wu)
from the one that is left|hostid=18|$(result $wu)
from Bob|hostid=19 key=$BOB name=bobs|$(result $wu)
END
promise "the computers were merged" equals '0 1' "SELECT CONCAT_WS(' ', userid,
	(SELECT total_credit > 0 FROM host WHERE id = 18)) FROM host WHERE id = 17"
ask hostid=18 seqno=$((++seqno)) work=0 secs= "$(result $wu2 1 900 3)"
failed=$(credit)
ask hostid=18 seqno=$((++seqno)) work=0 secs= "$(result $wu2)"
promise "a failure does not become a success" same "$failed" "$(credit)"
sql "DELETE FROM host WHERE id > 19"

# ---- sequence numbers ----
while read -r value; do
	sql "UPDATE host SET rpc_seqno = 5 WHERE id = 18; DELETE FROM host WHERE id > 19"
	ask hostid=18 seqno="$value" work=0 secs=
	promise "rpc_seqno '$value': an orderly answer" grep -q '^user_name alice' "$T/reply.txt"
	ask hostid=18 seqno=6 work=0 secs=
	promise "rpc_seqno '$value': the next contact too" grep -q '^user_name alice' "$T/reply.txt"
	promise "rpc_seqno '$value': at most one new record" equals 1 \
		"SELECT COUNT(*) <= 1 FROM host WHERE id > 19"
done <<'END'
-1
-2147483649
2147483647
2147483648
4294967301
9223372036854775807
18446744073709551615
1e30
0x7f
5
END
sql "DELETE FROM host WHERE id > 19; UPDATE host SET rpc_seqno = 0"

# ---- more of everything ----
# In 2 GB of memory and 20 seconds, while sanitizers map terabytes.
grep -q __asan "$build/sched/.libs/scheduler" "$build/sched/scheduler" 2>/dev/null ||
	ulimit -v 2000000
many() { # COUNT TEXT
	yes "$2" | head -n "$1"
}
while IFS='|' read -r promise xml; do
	request hostid=18 seqno=1 work=1 secs=1 "<here/>"
	{
		sed '/<here\/>/,$d' "$T/req"
		eval "$xml"
		sed '1,/<here\/>/d' "$T/req"
	} >"$T/many"
	begin=$SECONDS
	rpc "$T/many"
	promise "$promise: an orderly answer" same 'scheduler_reply 0' \
		"$(head -n 1 "$T/reply.txt") $cgi_status"
	promise "$promise: in time" [ $((SECONDS - begin)) -le 20 ]
done <<'END'
100 000 results|seq 100000 | sed 's|.*|<result><name>x_&</name></result>|'
60 000 unknown results|seq 60000 | sed 's|.*|<result><name>y_&</name><state>5</state></result>|'
90 000 other results|echo "<other_results>"; seq 90000 | sed 's|.*|<other_result><name>z_&</name></other_result>|'; echo "</other_results>"
100 000 platforms|many 50000 '<alt_platform><name>x86_64-pc-linux-gnu</name></alt_platform>'
50 000 versions|echo "<app_versions>"; many 50000 '<app_version><app_name>demo</app_name><avg_ncpus>1e9</avg_ncpus></app_version>'; echo "</app_versions>"
50 000 GPUs of 10^9|echo "<coprocs>"; many 50000 '<coproc_cuda><count>1000000000</count><req_instances>1e9</req_instances><req_secs>1e300</req_secs></coproc_cuda>'; echo "</coprocs>"
10^9 processors that want work|echo "<host_info><p_ncpus>1000000000</p_ncpus></host_info><cpu_req_instances>1e9</cpu_req_instances>"
10^9 files|many 60000 '<file_info><name>f</name><nbytes>1e300</nbytes></file_info>'
60 000 messages|many 60000 '<msg_from_host><variety>v</variety></msg_from_host>' | sed 's|</msg|\n&|'
a result in a result in a result|many 10000 '<result><name>n</name>'
a name of a megabyte|echo "<result><name>$(printf '%1000000s' '' | tr ' ' n)</name></result>"
an attribute of a megabyte|echo "<result a=\"$(printf '%1000000s' '' | tr ' ' n)\"/>"
END
promise "none of this came from a client that has anything" equals 0 \
	"SELECT COUNT(*) FROM result WHERE name LIKE 'x%' OR name LIKE 'y%'"
sql "DELETE FROM msg_from_host"

done_promising
