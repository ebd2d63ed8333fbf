#!/bin/bash
# t0260-locality.sh - large files go to few computers (dispatch §9.4): 50 files of
# 200 workunits each, 20 computers; how much do they fetch?
#
# The computers are played: each keeps the files of the jobs that it is sent,
# lists them in its next request, reports what it had, and deletes what it is
# told to.  A file counts when it comes to a computer that does not have it.
. "$(dirname "$0")/../lib/bare.sh"

FILES=50
EACH=200
HOSTS=20
TOTAL=$((FILES * EACH))

bare_new locality
bare_app
bare_user 7 alice $ALICE
for i in $(seq 1 $HOSTS); do
	bare_host $((100 + i)) 7
done
audit_except wu-forgotten "these jobs are none of the transitioner's"

# Workunits of all files in turn, as a generator makes them that goes through
# the sky: the worst case for computers that take what is next.
big_jobs() { # FIRST LAST
	sql "INSERT INTO workunit (id, appid, name, xml_doc, transition_time,
	    delay_bound, rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound,
	    rsc_disk_bound, min_quorum, target_nresults, size_class, create_time)
	    SELECT seq, 1, CONCAT('big_', LPAD(seq % $FILES, 2, '0'), '__', seq),
	    '<workunit>\n<file_ref>\n</file_ref>\n</workunit>\n', 2147483647,
	    864000, 9e11, 9e13, 1e8, 1e6, 1, 1, -1, UNIX_TIMESTAMP()
	    FROM seq_$1_to_$2;
	INSERT INTO result (id, name, workunitid, server_state, appid, xml_doc_in,
	    size_class, create_time) SELECT id, CONCAT(name, '_0'), id, 2, 1,
	    CONCAT('<result>\n<file_ref>\n<file_name>', name,
	    '_0_r1_0</file_name>\n</file_ref>\n</result>\n'), -1, create_time
	    FROM workunit WHERE id BETWEEN $1 AND $2"
}

fresh() { # [elements of config.xml]
	bare_config "<max_wus_to_send>1000</max_wus_to_send>
		<shmem_work_items>1000</shmem_work_items>$1"
	feeder_down
	sql "DELETE FROM result; DELETE FROM workunit; DELETE FROM x_locality"
	big_jobs 1 "${COUNT:-$TOTAL}"
	feeder_up
	fetched=0 deleted=0
	for i in $(seq 1 $HOSTS); do
		has[i]=" " jobs[i]=
	done
}

# One contact of computer i: it asks for 40 to 60 jobs of 900 s.
contact() {
	local i=$1 report= files= job
	for job in ${jobs[i]}; do
		report="$report<result><name>$job</name><exit_status>0</exit_status>
			<state>5</state><final_cpu_time>1</final_cpu_time></result>"
	done
	for job in ${has[i]}; do
		files="$files<file_info><name>$job</name><nbytes>1e9</nbytes>
			<status>1</status></file_info>"
	done
	ask hostid=$((100 + i)) name=pc$i fpops=1e9 secs=$(((38 + i) * 900 - 1)) \
		${files:+"$files"} ${report:+"$report"}
	jobs[i]=$(reply_of result/name)
	for job in $(printf '%s\n' ${jobs[i]} | sed 's/__.*//' | sort -u); do
		case ${has[i]} in *" $job "*) continue ;; esac
		has[i]="${has[i]}$job "
		fetched=$((fetched + 1))
	done
	for job in $(reply_of delete_file_info); do
		has[i]=${has[i]/ $job / }
		deleted=$((deleted + 1))
	done
}

ratio() { awk "BEGIN {printf \"%.2f\", $1 / $FILES}"; }
below() { awk "BEGIN {exit !($1 <= $2)}"; }
above() { awk "BEGIN {exit !($1 > $2)}"; }
left() { sql "SELECT COUNT(*) FROM result WHERE server_state = 2"; }

# The file whose jobs the last reply has ("a b": of two).
files_sent() { reply_of result/name | sed 's/__.*//' | sort -u | paste -s -d' '; }
file_is() { same "$1" "$(files_sent)"; }
lists() { # FILE…: what a client says that it has
	printf '<file_info><name>%s</name><nbytes>1e9</nbytes><status>1</status></file_info>' "$@"
}
deletes() { same "$1" "$(reply_of delete_file_info | paste -s -d' ')"; }

# ---- without: after one contact of each it is bad enough ----
fresh ""
for i in $(seq 1 $HOSTS); do
	contact "$i"
done
without=$(ratio $fetched)
echo "# without: $fetched files fetched for $((TOTAL - $(left))) of $TOTAL jobs," \
	"already $without times the optimum of $FILES"
promise "taking what is next costs more than 5 times the optimum" above "$without" 5

# ---- with ----
fresh "<locality_scheduling>1</locality_scheduling>
	<locality_scheduling_min_share>50</locality_scheduling_min_share>
	<file_deletion_strategy>1</file_deletion_strategy>"
rounds=0
while [ "$(left)" -gt 0 ] && [ $rounds -lt 40 ]; do
	for i in $(seq 1 $HOSTS); do
		contact "$i"
	done
	rounds=$((rounds + 1))
done
with=$(ratio $fetched)
echo "# with: $fetched files fetched for all $TOTAL jobs in $rounds rounds," \
	"$with times the optimum; $deleted deleted"
promise "all jobs were sent" equals 0 \
	"SELECT COUNT(*) FROM result WHERE server_state = 2"
promise "with locality scheduling it is at most 1.3 times" below "$with" 1.3

# ---- one thing after another: four files of three jobs ----
near="<locality_scheduling>1</locality_scheduling>
	<locality_scheduling_sorted_order>1</locality_scheduling_sorted_order>
	<locality_scheduling_min_share>2</locality_scheduling_min_share>"
FILES=4 COUNT=12
fresh "$near"
promise "the feeder has made the index" equals 2 "SELECT COUNT(*) FROM
	information_schema.statistics WHERE table_schema = DATABASE()
	AND index_name = 'x_res_state_name'"
ask hostid=101
promise "the first file in order is sent" file_is big_00
ask hostid=101
promise "the next job is one of that file, though the client has not got it yet" \
	file_is big_00
ask hostid=102
promise "another computer gets another file" file_is big_01
ask hostid=103 "$(lists big_03)"
promise "one that lists a file gets its jobs" file_is big_03
promise "and is a holder from now on" equals 103 \
	"SELECT hostid FROM x_locality WHERE file = 'big_03'"
ask hostid=104 secs=1e6
promise "who asks for much gets the last free file, and no file that few jobs \
are left of" file_is big_02
ask hostid=105
promise "who comes too late gets nothing" sends 0
promise "and is told why" says "other computers have already"
sql "UPDATE x_locality SET time = time - 86401 WHERE hostid = 102"
ask hostid=105
promise "a holder that was silent for a day is none" file_is big_01
promise "and forgotten" equals 105 \
	"SELECT hostid FROM x_locality WHERE file = 'big_01'"

fresh "$near"
sql "UPDATE workunit SET rsc_memory_bound = 1e12 WHERE name LIKE 'big_00%'"
ask hostid=101
promise "a file whose jobs the computer cannot do is passed over" file_is big_01
promise "and not held" equals 0 \
	"SELECT COUNT(*) FROM x_locality WHERE file = 'big_00'"
ask hostid=102 "$(lists big_00)"
promise "also by one that has it" file_is big_02
sql "UPDATE workunit SET rsc_disk_bound = 1e12"
ask hostid=102 "$(lists big_02 big_03)"
promise "if the disk is full, a file goes that has no jobs left, or one" \
	same 1 "$(reply_of delete_file_info | grep -c big_)"
promise "and there is time for it" grep -q '^request_delay 14400' "$T/reply.txt"

fresh "$near<one_result_per_user_per_wu>1</one_result_per_user_per_wu>"
sql "INSERT INTO result (id, name, workunitid, server_state, appid, xml_doc_in,
	size_class) SELECT id + 1000, CONCAT(LEFT(name, LENGTH(name) - 1), '1'),
	workunitid, 2, 1, xml_doc_in, -1 FROM result"
ask hostid=101 secs=2700
promise "of two results of a workunit a user gets one" \
	same "3 big_00" "$(n_sent) $(files_sent)"
ask hostid=102 "$(lists big_00)"
promise "so another computer of the user gets another file" file_is big_01

# ---- patterns, deletion ----
fresh "$near<file_deletion_strategy>1</file_deletion_strategy>
	<locality_scheduling_workunit_file>^big_</locality_scheduling_workunit_file>
	<locality_scheduling_sticky_file>^tool_</locality_scheduling_sticky_file>"
ask hostid=101 "$(lists big_02 tool_7 rubbish)"
promise "files of no kind that the project named go" deletes rubbish
sql "DELETE FROM result WHERE name LIKE 'big_02%' AND server_state = 2"
ask hostid=101 "$(lists big_02)"
promise "a file with a job in progress stays" deletes ""
sql "UPDATE result SET server_state = 5, outcome = 1 WHERE name LIKE 'big_02%'"
ask hostid=101 "$(lists big_02)"
promise "one whose jobs are done goes" deletes big_02

# ---- jobs without a file, the share of the job array ----
fresh "$near"
sql "UPDATE result SET name = REPLACE(name, '__', '-')"
ask hostid=101 secs=1e6
promise "jobs without a file are sent as they come" sends 12
fresh "$near<locality_scheduler_fraction>0.000001</locality_scheduler_fraction>"
feeder_fill
ask hostid=101 secs=1e6
promise "with a small fraction the job array comes first, nothing is sent twice" \
	same "12 12" "$(n_sent) $(reply_of result/name | sort -u | wc -l)"
promise "the files are noted all the same" equals 4 \
	"SELECT COUNT(*) FROM x_locality"

# ---- many at once ----
FILES=8 COUNT=64
fresh "<locality_scheduling>1</locality_scheduling>
	<locality_scheduling_sorted_order>1</locality_scheduling_sorted_order>"
parallel=()
for i in 1 2 3 4 5 6 7 8; do
	request hostid=$((100 + i)) secs=3600
	mv "$T/req" "$T/req.$i"
done
for i in 1 2 3 4 5 6 7 8; do
	REQUEST_METHOD=POST CONTENT_LENGTH=$(stat -c %s "$T/req.$i") \
		"$build/sched/scheduler" <"$T/req.$i" >"$T/parallel.$i" &
	parallel+=($!)
done
wait "${parallel[@]}"
promise "eight computers that ask at once get eight files" equals "8 8 1" \
	"SELECT CONCAT_WS(' ', COUNT(*), COUNT(DISTINCT file), MAX(nth))
	FROM x_locality"
promise "and no job twice" equals \
	"$(cat "$T"/parallel.* | grep -c '<report_deadline>')" \
	"SELECT COUNT(*) FROM result WHERE server_state = 4"

done_promising
