#!/bin/bash
# t0224-lost-jobs.sh - jobs whose reply did not arrive: sent again, a limited
# number of times, or over with a word about each; and jobs that a client has
# and should not.
. "$(dirname "$0")/../lib/bare.sh"

bare_new lost
bare_app
bare_user 7 alice $ALICE
bare_host 17 7 "rpc_time = 0"
bare_config "<resend_lost_results>1</resend_lost_results>
	<max_wus_to_send>2</max_wus_to_send><debug_resend>1</debug_resend>"
feeder_up

seqno=1
contact() {
	seqno=$((seqno + 1))
	ask "seqno=$seqno" "$@"
}
has() { # NAMES
	echo "<other_results>"
	printf '<other_result><name>%s</name></other_result>\n' "$@"
	echo "</other_results>"
}
over() { # COUNT: results that ended without reply
	equals "$1" "SELECT COUNT(*) FROM result WHERE server_state = 5 AND
		outcome = 4 AND received_time = 0"
}

# ---- five replies lost in a row, two jobs per processor and request ----
bare_jobs 12
feeder_fill
contact ncpus=2 secs=1e6
promise "two processors get two jobs each" sends 4
first=$(reply_of result/name | sort | xargs)
for i in 1 2 3 4 5; do
	contact ncpus=2 secs=1e6
	promise "reply $i was lost: the same four come again, and no other" \
		same "$first" "$(reply_of result/name | sort | xargs)"
done
promise "they are in progress, and no more" equals 4 \
	"SELECT COUNT(*) FROM result WHERE server_state = 4"
promise "it is counted" equals '4 5 5' \
	"SELECT CONCAT_WS(' ', COUNT(*), MIN(times), MAX(times)) FROM x_resend"

# ---- enough is enough ----
bare_config "<resend_lost_results>1</resend_lost_results><max_resends>5</max_resends>"
sql "UPDATE x_resend SET times = 4 WHERE result_id = (SELECT MAX(id) FROM result
	WHERE server_state = 4)"
contact secs=1e6
promise "what was sent again five times is given up" over 3
promise "one that was lost four times has a last chance" sends 1
promise "each that is given up is named" same 3 \
	"$(grep -c '^message Lost task .* It was lost too often' "$T/reply.txt")"
promise "and its workunit is due" equals 3 "SELECT COUNT(*) FROM workunit
	WHERE transition_time < UNIX_TIMESTAMP() + 5"
sql "UPDATE result SET server_state = 5, outcome = 5; DELETE FROM x_resend;
	UPDATE workunit SET transition_time = 2147483647"

# ---- why a lost one is not sent again ----
lose() { # COLUMN = VALUE of the workunit: reason in the reply
	sql "UPDATE result SET server_state = 4, outcome = 0, hostid = 17,
		userid = 7, sent_time = UNIX_TIMESTAMP() - 100,
		report_deadline = UNIX_TIMESTAMP() + 9000 WHERE id = $one;
		UPDATE workunit SET $1 WHERE id = $one"
	contact secs=1e6
}
one=$(sql "SELECT MIN(id) FROM result")
lose "error_mask = 16"
promise "one that was cancelled" says "Lost task wu_${one}_0 is not sent again. It is not needed"
promise "is over at once" over 1
sql "UPDATE workunit SET error_mask = 0"
lose "canonical_resultid = 5"
promise "one that is decided" says "Lost task wu_${one}_0 .* not needed"
sql "UPDATE workunit SET canonical_resultid = 0"
lose "rsc_memory_bound = 1e12"
promise "one that does not fit any more: with the reason" \
	says "Lost task wu_${one}_0 .*[Mm]emory\|Lost task wu_${one}_0 .*RAM"
sql "UPDATE workunit SET rsc_memory_bound = 1e8"
lose "rsc_fpops_est = 1e16"
promise "one that would come too late" says "Lost task wu_${one}_0"
promise "is over as well" over 1
sql "UPDATE workunit SET rsc_fpops_est = 9e11"
lose "id = id"
promise "one that fits and is needed is sent" \
	same "wu_${one}_0" "$(reply_of result/name)"
promise "and the volunteer told which" says "lost task wu_${one}_0"

# ---- what the client has and should not: 2 000 names, half of them invented
bare_config "<send_result_abort>1</send_result_abort>"
sql "UPDATE result SET server_state = 5, outcome = 5 WHERE server_state = 2"
sql "INSERT INTO workunit (id, name, appid, transition_time, delay_bound,
	min_quorum, target_nresults, max_total_results, max_error_results,
	max_success_results, rsc_fpops_est)
	SELECT 6000000000 + seq, CONCAT('big_', seq), 1, 2147483647, 86400,
	1, 1, 1, 1, 1, 9e11
	FROM seq_1_to_1000;
	INSERT INTO result (id, name, workunitid, appid, server_state, hostid, userid,
	sent_time, report_deadline) SELECT id, CONCAT(name, '_0'), id, 1, 4, 17, 7,
	UNIX_TIMESTAMP(), UNIX_TIMESTAMP() + 86400 FROM workunit WHERE id > 6000000000"
names=$(seq -f 'big_%g_0' 1 1000; seq -f 'invented_%g_0' 1 1000; echo "wu_${one}_0")
contact work=0 secs=0 "other=$(has $names)"
promise "the thousand that nobody knows are to be aborted" \
	same 1000 "$(grep -c '^result_abort/name invented_' "$T/reply.txt")"
promise "and no other" same 1000 "$(grep -c '^result_abort' "$T/reply.txt")"
promise "the first are named to the volunteer" says "Task invented_1_0 is aborted"
statements=$(tail -n 1 "$PROJECT/log/scheduler.log" | sed 's/.* \([0-9]*\) statements.*/\1/')
contact work=0 secs=0 "other=$(has big_1_0 invented_1_0)"
few=$(tail -n 1 "$PROJECT/log/scheduler.log" | sed 's/.* \([0-9]*\) statements.*/\1/')
promise "two thousand cost as many statements as two" same "$few" "$statements"
sql "UPDATE result SET server_state = 5, outcome = 4 WHERE name = 'big_1_0';
	UPDATE workunit SET error_mask = 16 WHERE name = 'big_2';
	UPDATE workunit SET assimilate_state = 2, error_mask = 1 WHERE
	name = 'big_3';
	UPDATE result SET hostid = 99 WHERE name = 'big_4_0'"
contact work=0 secs=0 "other=$(has big_1_0 big_2_0 big_3_0 big_4_0 big_5_0)"
promise "late ones and those of finished workunits: if not started" \
	same "big_1_0 big_3_0" "$(reply_of result_abort_if_not_started/name | xargs)"
promise "cancelled ones and those of another host: at once" \
	same "big_2_0 big_4_0" "$(reply_of result_abort/name | xargs)"

audit_except wu-forgotten "these jobs are none of the transitioner's"
audit_except result-deadline-watched "these jobs are none of the transitioner's"
done_promising
