#!/bin/bash
# t0250-explain.sh - an operator asks who gets what and why; the answer is what
# would be done, and asking changes nothing.
. "$(dirname "$0")/../lib/bare.sh"

bare_new explain
bare_app
bare_user 7 alice $ALICE
bare_user 8 bob $BOB
bare_host 17 7
bare_host 18 8
bare_host 19 8
bare_jobs 4
bare_jobs 1 "rsc_memory_bound = 9e9"
feeder_up
feeder_fill
wu=5000000001
big=5000000005

# Every table, the generation's segment, and all of the fixed one but the
# heartbeat: NAME is 8 hex digits of the key.
segment=/dev/shm/quorate-$(printf %08x "$SHMEM_KEY")
state() {
	sql "CHECKSUM TABLE $(sql "SELECT GROUP_CONCAT(table_name ORDER BY
		table_name) FROM information_schema.tables
		WHERE table_schema = '$DB_NAME'")"
	sql "SELECT table_name, auto_increment FROM information_schema.tables
		WHERE table_schema = '$DB_NAME' AND table_name IN ('result',
		'workunit', 'msg_from_host') ORDER BY 1"
	md5sum "$segment".*
	od -An -tx1 -N 32 "$segment"
	od -An -tx1 -j 36 "$segment"
	find "$PROJECT" -type f ! -path '*/log/*' | sort
}

# explained WANTED_STATUS [ARGUMENT…]: the tool's answer in $T/why.  The feeder,
# which does write to the segment, stands still meanwhile.
explained() {
	local want=$1 before after status
	shift
	[ -z "${feeder_pid:-}" ] || kill -STOP "$feeder_pid"
	before=$(state)
	"$build/tools/explain" --project_dir "$PROJECT" \
		--scheduler "$build/sched/scheduler" "$@" >"$T/why" 2>"$T/why.err"
	status=$?
	after=$(state)
	[ -z "${feeder_pid:-}" ] || kill -CONT "$feeder_pid"
	same "$before" "$after" || return 1
	[ $status = "$want" ] && return 0
	echo "# exit status $status, not $want"
	sed 's/^/# /' "$T/why" "$T/why.err"
	return 1
}

why() { # PATTERN (a line of the answer)
	grep -Eq -- "$1" "$T/why" && return 0
	echo "# no line like '$1' in"
	sed 's/^/# /' "$T/why"
	return 1
}

# ---- a saved request ----
request secs=900 ram=8e9
cp "$T/req" "$T/saved"
promise "a request is explained, and nothing is changed" \
	explained 0 "$T/saved"
promise "jobs with equal verdicts stand together" why '^4 jobs:$'
promise "what can be sent is named" why '=> can be sent'
# 9e9 bytes are 8583 MB; 8e9 are 7.45 GB, of which preferences allow 90 %
promise "so is the rule that refuses, with its numbers" why \
	'NO +memory +needs 8\.4 GB, has 6\.7 GB = 7\.5 GB x 90 %'
promise "and the one job that goes into the reply" \
	same 1 "$(grep -c ': in this reply' "$T/why")"
promise "the reply is printed" why '^<scheduler_reply>'
promise "it is the whole one: with the job" why '<report_deadline>'
promise "the conclusion counts" why '^=> 4 of 5 jobs can be taken'
sql "UPDATE result SET priority = 9 WHERE id = 5000000003"
feeder_down
feeder_up
feeder_fill
promise "the reply is what a client would get" explained 0 "$T/saved"
name=$(sed -n 's/.*<wu_name>\(.*\)<.wu_name>.*/\1/p' "$T/why")
rpc "$T/saved"
promise "the same one gets it" same "$name" "$(reply_of result/wu_name)"
promise "which is the most urgent one" same wu_5000000003 "$name"
sql "UPDATE host SET rpc_seqno = 100 WHERE id = 17"
promise "a saved request is old: its sequence number does not count" \
	explained 0 "$T/saved"
promise "it is the same host" why '^host 17 \(pc\) of user 7; client 7.20.5'
sql "UPDATE host SET rpc_seqno = 1 WHERE id = 17"

# ---- why not: messages, and who ends early ----
request key=wrong
promise "a wrong key is explained" explained 1 "$T/req"
promise "by the message" why 'account key is missing or wrong'
request key=$BOB hostid=0 name=other cpid=ffffffffffffffffffffffffffffffff
promise "a new host is explained and not made" explained 0 "$T/req"
promise "as what it is" why '^a new host'
request version=4.19.0
bare_config "<min_core_client_version>70000</min_core_client_version>"
promise "a client that is too old gets nothing" explained 1 "$T/req"
promise "though rules would allow it" why 'see the message'
bare_config ""
echo "no request" >"$T/broken"
promise "what is no request is said to be none" explained 1 "$T/broken"
promise "a file that is not there is a usage error" explained 100 "$T/nothing"
promise "so is a question about nothing" explained 100
promise "and one about two things" explained 100 --host 17 "$T/saved"

# ---- a host ----
promise "a host that was never heard is not known" explained 1 --host 18
promise "and that is said" why 'no request yet'
promise "there is no host 99" explained 1 --host 99
promise "a host is asked for by its id" explained 0 --host 17
promise "as it was" why '^host 17 \(pc\).*platforms x86_64-pc-linux-gnu$'
promise "with its job in progress, which is not asked for again" why \
	'resent 0, sent 1'
promise "one workunit" explained 0 --host 17 --workunit $wu
promise "which is in the array" why "^workunit $wu .* in the job array"
promise "another has a rule against it" explained 1 --host 17 --workunit $big
promise "the one that it would meet" why '=> refused: memory'
bare_config "<one_result_per_host_per_wu>1</one_result_per_host_per_wu>"
promise "a workunit that it has" explained 1 --host 17 --workunit 5000000003
promise "is refused for that" why '=> refused: host-has-result'
promise "and has nothing to send" why 'no unsent result'
bare_config ""
sql "UPDATE result SET server_state = 1 WHERE id = $wu"
promise "there is no workunit 1" explained 1 --host 17 --workunit 1
feeder_down
promise "without a feeder there is nothing to explain with" \
	test ! -e "$segment"
"$build/tools/explain" --project_dir "$PROJECT" \
	--scheduler "$build/sched/scheduler" --host 17 >"$T/why" 2>&1
promise "and that is a failure, not an answer" same 111 $?
sql "UPDATE result SET server_state = 2 WHERE id = $wu"
bare_config "<shmem_work_items>2</shmem_work_items>"
feeder_up
sleep 0.3
for out in $wu 5000000002 5000000004; do
	shmem "\"workunit\": $out," || break
done
promise "a workunit that is not in the array is explained all the same" \
	explained 0 --host 17 --workunit "$out"
promise "and said to be out" why "^workunit $out .* not in the job array"

# ---- all hosts ----
promise "a workunit is asked for alone" explained 0 --workunit $wu
promise "of one host that was in contact" why '^1 hosts were in contact'
promise "it could take it" why '1  100.0 %  could take it +hosts 17'
ask hostid=18 key=$BOB ram=64e9 secs= work=0 name=large
ask hostid=19 key=$BOB secs= work=0 name=slow fpops=1
promise "a big one" explained 0 --workunit $big
promise "of three" why '^3 hosts'
promise "only the large host" why '1   33.3 %  could take it +hosts 18'
promise "one is refused for its memory" why '1   33.3 %  memory +hosts 17'
promise "one for its speed" why '1   33.3 %  deadline +hosts 19'
sql "UPDATE host SET rpc_time = rpc_time - 3 * 86400 WHERE id = 18"
promise "only those seen of late" explained 1 --workunit $big --days 2
promise "are counted" why '^2 hosts'
sql "DELETE FROM x_host_request WHERE host_id = 19"
promise "a host of an older server" explained 1 --workunit $big --days 2
promise "is not on record" why '1   50.0 %  not on record'

# ---- what is kept of requests ----
promise "facts are stored once for each computer" equals 2 \
	"SELECT COUNT(*) FROM x_host_request"
before=$(sql "SELECT hash, update_time FROM x_host_request WHERE host_id = 17")
sql "UPDATE x_host_request SET update_time = 5"
ask secs= work=0 ram=8e9 on=0.5 disk=1e9
promise "what changes by itself does not store them again" equals 5 \
	"SELECT update_time FROM x_host_request WHERE host_id = 17"
ask secs= work=0 ram=8e9 version=7.22.0
promise "a new client does" equals 7.22 "SELECT CONCAT(
	REGEXP_SUBSTR(UNCOMPRESS(facts), '(?<=major_version>)[0-9]+'), '.',
	REGEXP_SUBSTR(UNCOMPRESS(facts), '(?<=minor_version>)[0-9]+'))
	FROM x_host_request WHERE host_id = 17 AND update_time > 5"
promise "no key, name or address is among them" equals 0 \
	"SELECT COUNT(*) FROM x_host_request WHERE UNCOMPRESS(facts)
	RLIKE '$ALICE|192.0.2|<domain_name>|host_cpid'"
promise "nothing critical was logged" \
	same 0 "$(grep -c CRITICAL "$PROJECT/log/scheduler.log")"

done_promising
