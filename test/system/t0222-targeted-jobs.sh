#!/bin/bash
# t0222-targeted-jobs.sh - jobs for one host, user or team, and jobs for every
# host: their results are made when the host that is meant asks, exactly once.
. "$(dirname "$0")/../lib/bare.sh"

bare_new targeted
cp "$top/test/data/keys/upload_private" "$PROJECT/keys/"
bare_app
bare_user 7 alice $ALICE
bare_user 8 bob $BOB
sql "INSERT INTO team SET id = 4, userid = 7, name = 'Team';
	UPDATE user SET teamid = 4"
for host in 17 18 19; do bare_host $host 7 "rpc_time = 0"; done
for host in 27 28; do bare_host $host 8 "rpc_time = 0"; done
mkdir "$PROJECT/templates"
cat >"$PROJECT/templates/demo_in" <<'END'
<input_template>
    <workunit>
        <rsc_fpops_est>9e11</rsc_fpops_est>
        <rsc_fpops_bound>9e13</rsc_fpops_bound>
        <rsc_memory_bound>1e8</rsc_memory_bound>
        <rsc_disk_bound>1e8</rsc_disk_bound>
    </workunit>
</input_template>
END
cat >"$PROJECT/templates/demo_out" <<'END'
<output_template>
    <file_info>
        <name><OUTFILE_0/></name>
        <generated_locally/>
        <upload_when_present/>
        <max_nbytes>1000</max_nbytes>
        <url><UPLOAD_URL/></url>
    </file_info>
    <result>
        <file_ref>
            <file_name><OUTFILE_0/></file_name>
            <open_name>out</open_name>
        </file_ref>
    </result>
</output_template>
END
on="<enable_assignment>1</enable_assignment><enable_assignment_multi>1</enable_assignment_multi>"
bare_config "$on"
# ids of what is made here, apart from those of bare_jobs
sql "ALTER TABLE workunit AUTO_INCREMENT = 7000000001;
	ALTER TABLE result AUTO_INCREMENT = 9000000001"
feeder_up

work() {
	(cd "$PROJECT" && "$build/tools/create_work" --appname demo \
		--min_quorum 1 --target_nresults 1 --max_success_results 9 \
		--max_error_results 9 --max_total_results 9 "$@") >>"$T/work.log" 2>&1 ||
		echo "# create_work $*: $(tail -n 1 "$T/work.log")"
}

# host ID [NAME=VALUE…] [XML]: it asks for work.
host() {
	local id=$1
	shift
	case $id in
	2*) set -- key=$BOB "$@" ;;
	esac
	request hostid="$id" seqno=$((seqno += 1)) name=pc$id \
		cpid="$(printf '%032d' "$id")" "$@"
	rpc "$T/req"
}
seqno=1

gets() { # NAMES
	same "$1" "$(reply_of result/name | sort | xargs)"
}

# ---- one user's, one host's, one team's ----
work --wu_name for_user --target_user 7
work --wu_name for_host --target_host 18
work --wu_name for_team --target_team 4
promise "nobody has to look at such a workunit, and it has no result" \
	equals '3 2147483647 0' "SELECT CONCAT_WS(' ', COUNT(*), MIN(transition_time),
	(SELECT COUNT(*) FROM result)) FROM workunit"
host 27
promise "another user's host gets what is for its team" gets for_team_0
promise "it is in progress there" equals '4 27 8' \
	"SELECT CONCAT_WS(' ', server_state, hostid, userid) FROM result"
promise "with a certificate for its upload" \
	grep -q '^file_info/xml_signature' "$T/reply.txt"
promise "and a deadline at which the transitioner looks" equals 1 \
	"SELECT transition_time < 2147483647 FROM workunit WHERE name = 'for_team'"
host 18
promise "a host gets its user's and its own" gets "for_host_0 for_user_0"
for host in 17 18 19 27 28; do
	host $host
	promise "host $host then finds none" sends 0
done
promise "each was sent once" equals 3 "SELECT COUNT(*) FROM result"

# ---- three requests at once ----
work --wu_name at_once --target_user 7
for host in 17 18 19; do
	request hostid=$host seqno=50 name=pc$host cpid="$(printf '%032d' $host)"
	cp "$T/req" "$T/req.$host"
done
for host in 17 18 19; do
	REQUEST_METHOD=POST CONTENT_LENGTH=$(stat -c %s "$T/req.$host") \
		"$build/sched/scheduler" <"$T/req.$host" >"$T/parallel.$host" &
	parallel[host]=$!
done
wait "${parallel[@]}"
promise "three hosts of the user ask at once: one gets it" \
	same 1 "$(cat "$T"/parallel.* | grep -c '<name>at_once_0</name>')"
promise "and there is one result" equals 1 \
	"SELECT COUNT(*) FROM result WHERE name LIKE 'at\\_once\\_%'"
seqno=50

# ---- as many as its target ----
work --wu_name two --target_user 7 --target_nresults 2
host 17
promise "a job of two instances: the first host" gets two_0
host 17
promise "which gets no second one" sends 0
host 18
promise "the second host" gets two_1
host 19
promise "the third finds none" sends 0

# ---- failures are replaced, while somebody asks ----
sql "UPDATE result SET server_state = 5, outcome = 3, received_time = 1,
	validate_state = 2 WHERE name = 'two_0';
	UPDATE workunit SET transition_time = UNIX_TIMESTAMP() WHERE name = 'two'"
host 19
promise "while the transitioner has to look at it, it waits" sends 0
sql "UPDATE workunit SET transition_time = 2147483647 WHERE name = 'two'"
host 19
promise "then a failed instance is replaced" gets two_2
sql "UPDATE result SET server_state = 5, outcome = 1, received_time = 1,
	validate_state = 1 WHERE name IN ('two_1', 'two_2')"
bare_host 20 7 "rpc_time = 0"
host 20
promise "good ones are not" sends 0
work --wu_name three_strikes --target_user 7 --max_total_results 1 \
	--max_error_results 1 --max_success_results 1
host 17
promise "no more instances than there may be at all: the first" gets three_strikes_0
sql "UPDATE result SET server_state = 5, outcome = 3, received_time = 1,
	validate_state = 2 WHERE name = 'three_strikes_0'"
host 18
promise "and no second" sends 0

# ---- what is over, what does not fit ----
work --wu_name cancelled --target_user 7
work --wu_name decided --target_user 7
work --wu_name watched --target_user 7
work --wu_name big --target_user 7
work --wu_name gone --target_user 7
sql "UPDATE workunit SET error_mask = 16 WHERE name = 'cancelled';
	UPDATE workunit SET canonical_resultid = 1 WHERE name = 'decided';
	UPDATE workunit SET need_validate = 1 WHERE name = 'watched';
	UPDATE workunit SET rsc_memory_bound = 1e12 WHERE name = 'big';
	DELETE FROM workunit WHERE name = 'gone'"
host 17
promise "nothing is made of cancelled, decided, validated or too big ones" sends 0
promise "nor is a row left behind" equals 0 \
	"SELECT COUNT(*) FROM result WHERE server_state = 2"
promise "an assignment of a workunit that is gone is deleted" equals 0 \
	"SELECT COUNT(*) FROM assignment AS a LEFT JOIN workunit AS w
	ON w.id = a.workunitid WHERE w.id IS NULL"
sql "DELETE FROM assignment; DELETE FROM workunit WHERE name IN
	('cancelled', 'decided', 'watched', 'big')"

# ---- targeted jobs come first, and alone ----
bare_jobs 2
feeder_fill
work --wu_name first --target_host 17
host 17 secs=100000
promise "who has a targeted job gets no other with it" gets first_0
host 17
promise "the next time it does" sends 1
sql "UPDATE user SET seti_id = 1 WHERE id = 7"
host 18
promise "who takes only his own jobs gets no others" sends 0
work --wu_name mine --target_user 7
host 18
promise "but his own" gets mine_0
sql "UPDATE user SET seti_id = 0 WHERE id = 7"
host 17 work=0 secs=0
promise "who asks for nothing gets nothing" sends 0
work --wu_name off --target_host 19
bare_config ""
sql "UPDATE result SET server_state = 5, outcome = 5 WHERE server_state = 2"
host 19
promise "without enable_assignment it waits" sends 0
bare_config "$on"
host 19
promise "with it, it is sent" gets off_0

# ---- every host ----
work --wu_name all --broadcast
for host in 17 18 27; do
	host $host
	promise "a broadcast job goes to host $host" gets all_$host
done
host 17
promise "once" sends 0
sql "UPDATE result SET server_state = 5, outcome = 3, received_time = 1,
	validate_state = 2 WHERE name = 'all_17'; UPDATE workunit SET transition_time = 1 WHERE name = 'all'"
host 28
promise "and goes on when one has come back" gets all_28
work --wu_name of_bob --broadcast_user 8
host 17
promise "a broadcast to a user is not for others" sends 0
host 27
promise "but for his hosts" gets of_bob_27
host 28
promise "all of them" gets of_bob_28
work --wu_name of_team --broadcast_team 4
host 17
promise "a broadcast to a team" gets of_team_17
sql "UPDATE user SET teamid = 0 WHERE id = 7"
host 18
promise "is not for who has left it" sends 0
sql "UPDATE user SET seti_id = 1 WHERE id = 8"
work --wu_name all2 --broadcast
host 27
promise "who takes only his own jobs gets no broadcast ones" sends 0
bare_jobs 1
feeder_fill
host 17 secs=100000
promise "other jobs come with them" sends 2

audit_except wu-forgotten "these jobs are none of the transitioner's"
done_promising
