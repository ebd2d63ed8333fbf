#!/bin/bash
# t0120-create-work.sh - jobs are checked, stored as said, made once; thousands
# in a few transactions; ids beyond 32 bits.
. "$(dirname "$0")/../lib/scenario.sh"

project_new work
cd "$PROJECT" || exit 1
for i in 1 2 3; do echo "input $i" >"$T/in_$i"; done
bin/stage_file "$T"/in_1 "$T"/in_2 "$T"/in_3 || exit 1

work() { bin/create_work --appname uppercase "$@" >"$T/out" 2>&1; }
fails() { ! "$@"; }
says() { grep -q -- "$1" "$T/out" && return 0; sed 's/^/# /' "$T/out"; return 1; }
lines() { bin/create_work --appname uppercase --stdin "$@" >"$T/out" 2>&1; }
jobs() { equals "$1" "SELECT COUNT(*) FROM workunit"; }

# ---- one job ---------------------------------------------------------------------
promise "a job is made" work --wu_name one --ids --batch 7 --priority 3 \
	--credit 12.5 --min_quorum 2 --target_nresults 3 --max_error_results 4 \
	--max_total_results 10 --max_success_results 5 --rsc_fpops_est 1e12 \
	--rsc_fpops_bound 1e13 --rsc_memory_bound 1e8 --rsc_disk_bound 2e8 \
	--delay_bound 3600 --command_line "--sleep 1" in_1
promise "its name is printed" says "^workunit name: one$"
promise "and its id" says "^workunit id: 1$"
promise "every attribute is stored" equals \
	"1 7 3 12.5 2 3 4 10 5 1000000000000 10000000000000 100000000 200000000 3600" \
	"SELECT CONCAT_WS(' ', appid, batch, priority, canonical_credit,
	 min_quorum, target_nresults, max_error_results, max_total_results,
	 max_success_results, rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound,
	 rsc_disk_bound, delay_bound) FROM workunit"
promise "the transitioner looks at it at once" equals 1 \
	"SELECT transition_time <= UNIX_TIMESTAMP() FROM workunit"
promise "the command line is in its document" equals 1 \
	"SELECT xml_doc LIKE '%<command_line>\n--sleep 1\n</command_line>%' FROM workunit"

# ---- names -----------------------------------------------------------------------
same() {
	work --wu_name one --verbose --batch 7 --priority 3 --credit 12.5 \
		--min_quorum 2 --target_nresults 3 --max_error_results 4 \
		--max_total_results 10 --max_success_results 5 --rsc_fpops_est 1e12 \
		--rsc_fpops_bound 1e13 --rsc_memory_bound 1e8 --rsc_disk_bound 2e8 \
		--delay_bound 3600 --command_line "--sleep 1" "$@"
}
promise "the same job again is no fault" same in_1
promise "and nothing is made" says "was there already: one"
promise "(one workunit)" jobs 1
promise "another job of that name is refused" fails same in_2
promise "naming who has it" says "the name one is in use: workunit 1 has it"
promise "a name in other letters is the same name" fails work --wu_name ONE in_1
promise "a blank in a name is refused" fails work --wu_name "a b" in_1
promise "a word of the protocol, too" fails work --wu_name my_upload_job in_1
promise "a name that leads out of a folder, too" fails work --wu_name ../x in_1
promise "(still one)" jobs 1

# ---- limits ----------------------------------------------------------------------
promise "a target below the quorum is refused" \
	fails work --wu_name q --min_quorum 3 --target_nresults 2 in_1
promise "naming both" says "target_nresults 2 is less than min_quorum 3"
promise "a target equal to the quorum is taken" \
	work --wu_name q --min_quorum 3 --target_nresults 3 in_1
promise "more errors allowed than results is refused" fails work --wu_name r \
	--max_error_results 6 --max_total_results 5 in_1
promise "more successes allowed than results is refused" fails work \
	--wu_name r --max_success_results 6 --max_total_results 5 in_1
promise "a target above the successes is refused" fails work --wu_name r \
	--target_nresults 3 --max_success_results 2 --max_total_results 9 in_1
for option in rsc_fpops_est rsc_fpops_bound rsc_disk_bound delay_bound \
	min_quorum max_error_results max_total_results max_success_results; do
	promise "$option 0 is refused" fails work --wu_name r --$option 0 in_1
	promise "by name" says "$option is 0"
done
promise "nan is no number" fails work --wu_name r --rsc_fpops_est nan in_1
promise "inf neither" fails work --wu_name r --rsc_memory_bound inf in_1
promise "an estimate above its bound is refused" fails work --wu_name r \
	--rsc_fpops_est 1e15 in_1
promise "what is not said is large enough for what is" work --wu_name roomy \
	--min_quorum 2 --max_error_results 5 in_1
promise "(2 at first, 5 errors, 5 in all)" equals "2 5 2 5" \
	"SELECT CONCAT_WS(' ', target_nresults, max_error_results,
	 max_success_results, max_total_results) FROM workunit
	 WHERE name = 'roomy'"
promise "defaults are the protocol's" equals "3600000000000 86400000000000 604800 1 1 1 1 1" \
	"SELECT CONCAT_WS(' ', rsc_fpops_est, rsc_fpops_bound, delay_bound,
	 min_quorum, target_nresults, max_error_results, max_total_results,
	 max_success_results) FROM workunit WHERE name = '$(
		work --wu_name plain in_1 && echo plain)'"

# ---- files -----------------------------------------------------------------------
promise "a file that is not staged is refused" fails work --wu_name f nowhere
promise "by name" says "nowhere: is not staged"
promise "too few files are refused" fails work --wu_name f
promise "too many, too" fails work --wu_name f in_1 in_2
promise "a path is no file name" fails work --wu_name f ../config.xml
promise "a remote file is taken" work --wu_name remote --remote_file \
	http://example.org/data 10 0123456789abcdef0123456789abcdef
promise "under the name of its MD5" equals 1 \
	"SELECT xml_doc LIKE '%<name>jf_0123456789abcdef0123456789abcdef</name>%<url>http://example.org/data</url>%' FROM workunit WHERE name = 'remote'"
promise "with a wrong MD5 it is not" fails work --wu_name f --remote_file \
	http://example.org/data 10 0123
cat >templates/generated_in <<-END
	<input_template>
	    <file_info><physical_name>made_before</physical_name>
	        <generate_locally/><sticky/></file_info>
	    <workunit><file_ref><open_name>in</open_name><optional/></file_ref>
	    </workunit>
	</input_template>
END
promise "a file that an earlier job makes needs no staging" work \
	--wu_name generated --wu_template templates/generated_in
promise "and gets no URL" equals 1 "SELECT xml_doc LIKE '%made_before%'
	AND xml_doc NOT LIKE '%<url>%' FROM workunit WHERE name = 'generated'"
promise "an output template must be there" fails work --wu_name f \
	--result_template templates/none in_1
none() { bin/create_work --appname none in_1 >"$T/out" 2>&1; }
promise "an application, too" fails none

# ---- targets ---------------------------------------------------------------------
promise "a host that is not there is no target" fails work --wu_name t \
	--target_host 1 in_1
sql "INSERT INTO user (create_time, email_addr, name, authenticator, total_credit,
	expavg_credit, expavg_time, teamid, venue, send_email, show_hosts, posts,
	seti_id, seti_nresults, seti_last_result_time, seti_total_cpu, has_profile,
	cross_project_id, passwd_hash, email_validated, donated) VALUES
	(1, 'a', 'a', 'a', 0, 0, 0, 0, '', 1, 1, 0, 0, 0, 0, 0, 0, '', '', 0, 0)"
promise "a user that is there is one" work --wu_name t --target_user 1 in_1
promise "such a job waits for its user" equals "2 2147483647 2 1 0" \
	"SELECT CONCAT_WS(' ', w.transitioner_flags, w.transition_time,
	 a.target_type, a.target_id, a.multi) FROM workunit w
	 JOIN assignment a ON a.workunitid = w.id"
promise "two targets are one too many" fails work --wu_name t2 --target_user 1 \
	--broadcast in_1

# ---- lines -----------------------------------------------------------------------
n=$(sql "SELECT COUNT(*) FROM workunit")
promise "a line has its own name, priority, command line" lines \
	--command_line "-a" <<-'END'
	--wu_name line_1 --priority 5 --command_line '-b "c d"' in_1

	# a comment
	--wu_name line_2 in_2
END
promise "command lines are joined" equals 1 "SELECT priority = 5 AND xml_doc
	LIKE '%\n-a -b \"c d\"\n%' OR xml_doc LIKE '%-a -b%c d%'
	FROM workunit WHERE name = 'line_1'"
promise "blank lines and comments are none" jobs $((n + 2))
promise "lines without names are numbered" lines --wu_name batch <<<"in_1"
promise "(batch_1)" equals 1 "SELECT COUNT(*) FROM workunit WHERE name = 'batch_1'"
n=$(sql "SELECT COUNT(*) FROM workunit")
promise "a refused line ends the run" fails lines <<-END
	--wu_name g_1 in_1
	--wu_name g_2 in_9
	--wu_name g_3 in_3
END
promise "with its number" says "line 2: in_9: is not staged"
promise "before anything of its group is written" jobs "$n"
promise "unless it is to go on" fails lines --continue_on_error <<-END
	--wu_name g_1 in_1
	--wu_name g_2 in_9
	--nonsense
	--wu_name one in_1
	--wu_name g_3 in_3
END
promise "then the good ones are made" jobs $((n + 2))
promise "and each other is told" says "line 3: no option of a line"
promise "(taken)" says "line 4: the name one is in use"
promise "one name twice in one input: the same job is a repeat" lines <<-END
	--wu_name twice in_1
	--wu_name twice in_1
END
promise "another job is refused" fails lines <<-END
	--wu_name twice_b in_1
	--wu_name TWICE_B in_2
END
promise "a line of 5000 bytes is refused" fails lines <<<"$(
	printf '%5000s' '' | tr ' ' x)"
promise "with its number" says "line 1: longer than 4095"

# ---- many ------------------------------------------------------------------------
sql "ALTER TABLE workunit AUTO_INCREMENT = 5000000000"
seq 5000 | sed 's/.*/--wu_name many_& in_3/' >"$T/many"
seconds=$SECONDS
promise "5000 jobs are made" lines --ids <"$T/many"
promise "in a few seconds" test $((SECONDS - seconds)) -lt 30
promise "each with its id" test "$(grep -c '^workunit id: 50000' "$T/out")" = 5000
promise "and its name" test "$(grep -c '^workunit name: many_' "$T/out")" = 5000
promise "ids are beyond 32 bits, all different" equals "5000 5000000000" \
	"SELECT CONCAT_WS(' ', COUNT(DISTINCT id), MIN(id)) FROM workunit
	 WHERE name LIKE 'many%'"
n=$(sql "SELECT COUNT(*) FROM workunit")
promise "submitted again, nothing is made" lines <"$T/many"
promise "(as many as before)" jobs "$n"

# Killed in the middle and repeated: each job once.
seq 20000 | sed 's/.*/--wu_name killed_& in_3/' >"$T/killed"
bin/create_work --appname uppercase --stdin <"$T/killed" >/dev/null 2>&1 &
sleep 1
kill -KILL $! && wait $! 2>/dev/null
promise "a submission that was killed can be repeated" lines <"$T/killed"
promise "and makes each job once" equals 20000 \
	"SELECT COUNT(*) FROM workunit WHERE name LIKE 'killed%'"
lines <<<"--wu_name x1 in_1" # two at a time
(seq 1500 | sed 's/.*/--wu_name race_& in_3/' |
	bin/create_work --appname uppercase --stdin >/dev/null 2>"$T/race1") &
other=$!
seq 1500 | sed 's/.*/--wu_name race_& in_3/' |
	bin/create_work --appname uppercase --stdin >/dev/null 2>"$T/race2"
first=$?
wait $other
second=$?
promise "two that submit the same at once do not fail" test $first$second = 00
promise "and make each job once" equals 1500 \
	"SELECT COUNT(*) FROM workunit WHERE name LIKE 'race%'"
done_promising
