#!/bin/bash
# t0234-rules.sh - the rules that depend on quotas, limits, preferences, order
# and time: each at its limit, through the scheduler.
. "$(dirname "$0")/../lib/bare.sh"

bare_new rules
bare_app
bare_user 7 alice $ALICE
bare_user 8 bob $BOB
bare_host 17 7
bare_host 18 7
bare_host 19 8
feeder_up

feeder_restart() {
	feeder_down
	feeder_up
}

fresh_jobs() { # COUNT [COLUMN = VALUE, …]
	sql "DELETE FROM result; DELETE FROM workunit; DELETE FROM host_app_version;
		UPDATE host SET nresults_today = 0, rpc_time = UNIX_TIMESTAMP()"
	feeder_restart
	bare_jobs "$@"
	feeder_fill
}

none() { # TEXT: nothing is sent, and the reason is this one, and no other
	sends 0 && says "$1" && same 1 "$(grep -c '^message ' "$T/reply.txt")"
}

in_progress() { # COUNT
	equals "$1" "SELECT COUNT(*) FROM result WHERE server_state = 4"
}

prefs() { # XML: the user's preferences for the project
	sql "UPDATE user SET project_prefs = '<project_preferences>
<project_specific>
$1
</project_specific>
</project_preferences>' WHERE id = 7"
}

# ---- jobs a day ----
bare_config "<daily_result_quota_per_host>1</daily_result_quota_per_host>"
fresh_jobs 10
ask secs=1e6 instances=4
promise "quota 1, four processors ask: one job" sends 1
promise "it is counted" equals 1 "SELECT nresults_today FROM host WHERE id = 17"
ask secs=1e6
promise "then none, and the number is told" none "limit of 1 tasks a day"
delay=$(reply_of request_delay | cut -d. -f1)
promise "until the host's day ends" test "$delay" -ge 1 -a "$delay" -le 87000
sql "UPDATE host SET rpc_time = rpc_time - 86400 WHERE id = 17"
ask secs=1e6
promise "a day later it gets one again" sends 1
promise "and counts from the beginning" equals 1 \
	"SELECT nresults_today FROM host WHERE id = 17"
bare_config "<daily_result_quota_per_host>3</daily_result_quota_per_host>"
fresh_jobs 10
request secs=1
parallel=()
for i in 1 2 3 4 5 6 7 8; do
	REQUEST_METHOD=POST CONTENT_LENGTH=$(stat -c %s "$T/req") \
		"$build/sched/scheduler" <"$T/req" >"$T/parallel.$i" &
	parallel+=($!)
done
wait "${parallel[@]}"
for i in 1 2 3; do ask; done # what was busy asks again
promise "eight requests at once and three more: exactly the quota" in_progress 3
bare_config "<daily_result_quota_per_host>2</daily_result_quota_per_host>
	<resend_lost_results>1</resend_lost_results>"
fresh_jobs 10
ask secs=1800
ask
promise "what was lost is sent again, whatever the quota" sends 2
promise "and not counted twice" equals 2 \
	"SELECT nresults_today FROM host WHERE id = 17"

# ---- a host that only fails ----
bare_config "<daily_result_quota>4</daily_result_quota>"
fresh_jobs 20
failed() { # report what is in progress as failed
	local name
	for name in $(sql "SELECT name FROM result WHERE server_state = 4"); do
		printf '<result><name>%s</name><state>3</state>
			<exit_status>1</exit_status></result>' "$name"
	done
}
ask ncpus=1 secs=1e6
promise "a new host gets its quota" sends 4
for round in 1 2 3; do
	ask ncpus=1 secs= work=0 "$(failed)"
	sql "UPDATE host_app_version SET n_jobs_today = 0"
	ask ncpus=4 secs=1e6
done
promise "after failures only: one job a day, whatever its processors" sends 1
ask ncpus=4 secs=1e6
promise "it is told so" none "limit of 1 tasks of Demo a day"
delay=$(reply_of request_delay | cut -d. -f1)
promise "and when to come again" test "$delay" -ge 1 -a "$delay" -le 87000
sql "UPDATE host_app_version SET n_jobs_today = 0"
ask ncpus=1 secs=1e6 "<result><name>$(sql "SELECT name FROM result WHERE
	server_state = 4")</name><state>5</state><exit_status>0</exit_status>
	<cpu_time>5</cpu_time></result>"
promise "a success doubles what it may have" sends 2

# ---- limits on jobs in progress ----
bare_config "<max_wus_in_progress>2</max_wus_in_progress>
	<resend_lost_results>1</resend_lost_results>"
fresh_jobs 30
ask secs=1e6
promise "2 for each of 4 processors: 8" sends 8
for round in 1 2 3 4 5; do
	ask secs=1e6
	promise "a lost reply is repeated ($round)" sends 8
	promise "and never more than the limit is out ($round)" in_progress 8
done
bare_config "<max_wus_in_progress>2</max_wus_in_progress>"
ask secs=1e6
promise "without resending, too" none "limit on tasks in progress"
promise "nothing more is out" in_progress 8

cat >"$PROJECT/config_aux.xml" <<-END
	<config>
	  <max_jobs_in_progress>
	    <project>
	      <total_limit> <jobs>3</jobs> </total_limit>
	    </project>
	  </max_jobs_in_progress>
	</config>
END
bare_config ""
fresh_jobs 10
ask secs=1e6
promise "a total limit of config_aux.xml is for the host" sends 3
ask secs=1e6
promise "and holds" none "limit on tasks in progress"
ask secs=1e6 hostid=18
promise "another host has its own" sends 3
cat >"$PROJECT/config_aux.xml" <<-END
	<config>
	  <max_jobs_in_progress>
	    <app>
	      <app_name>demo</app_name>
	      <cpu_limit> <jobs>1</jobs> <per_proc/> </cpu_limit>
	    </app>
	  </max_jobs_in_progress>
	</config>
END
fresh_jobs 10
ask secs=1e6
promise "a limit of one application, for each processor" sends 4
ask secs=1e6
promise "the volunteer is told which application" none "tasks of Demo in progress"
sed -i 's/jobs>/job>/g' "$PROJECT/config_aux.xml"
ask secs=1e6
promise "without a limit that can be read, no work is sent" sends 0
promise "the log names the line" grep -q 'config_aux.xml:5: <cpu_limit> needs' \
	"$PROJECT/log/scheduler.log"
rm "$PROJECT/config_aux.xml"

# ---- the user's preferences ----
fresh_jobs 30
for max in 0 -3 1000000000; do
	prefs "<max_jobs>$max</max_jobs>"
	ask secs=5000
	promise "max_jobs $max is no limit" sends 6
done
prefs "<max_jobs>2</max_jobs>"
fresh_jobs 10
ask secs=1e6
promise "max_jobs 2: two jobs" sends 2
ask secs=1e6
promise "and no third" none "limit of 2 tasks that is set in your preferences"
prefs "<max_cpus>2</max_cpus>"
bare_config "<max_wus_in_progress>1</max_wus_in_progress>"
fresh_jobs 10
ask secs=1e6
promise "max_cpus 2: the other two processors do not count" sends 2
bare_config ""
prefs "<app_id>2</app_id>"
fresh_jobs 10
ask secs=1e6
promise "an application that is not selected" none "none of the applications"
prefs "<app_id>2</app_id><allow_non_preferred_apps>1</allow_non_preferred_apps>"
ask secs=900
promise "unless others are taken as well" sends 1
prefs "<app_id>1</app_id>"
ask secs=900
promise "the selected application" sends 1
prefs ""
sql "UPDATE user SET seti_id = 1 WHERE id = 7"
ask
promise "who takes his own jobs only gets no others" none "meant for it"
sql "UPDATE user SET seti_id = 0"

# ---- jobs in a hurry ----
bare_config "<reliable_on_priority>5</reliable_on_priority>
	<reliable_reduced_delay_bound>0.5</reliable_reduced_delay_bound>"
fresh_jobs 3 "priority = 5"
ask
promise "jobs in a hurry are not for a new host" none "in a hurry"
sql "INSERT INTO host_app_version SET host_id = 17, app_version_id = 11,
	consecutive_valid = 10"
ask
promise "ten valid results prove a host" sends 1
promise "which has half of the time" equals 43200 \
	"SELECT report_deadline - sent_time FROM result WHERE server_state = 4"
sql "UPDATE host_app_version SET consecutive_valid = 9"
ask
promise "nine do not" none "in a hurry"

bare_config "<batch_accel>1</batch_accel>"
fresh_jobs 1 "priority = 1"
sql "UPDATE host SET avg_turnaround = 43201 WHERE id = 17"
ask
promise "a batch in a hurry is not for a host that returns its jobs later than half of the bound" \
	none "return results fast"
sql "UPDATE host SET avg_turnaround = 43200 WHERE id = 17"
ask
promise "exactly half is fast" sends 1
sql "UPDATE host SET avg_turnaround = 0"

# ---- test applications, processors, clients ----
bare_config ""
sql "UPDATE app SET beta = 1"
fresh_jobs 1
ask
promise "a test application is not for everybody" none "test application Demo"
prefs "<allow_beta_work>1</allow_beta_work>"
ask
promise "but for those who want it" sends 1
bare_config "<distinct_beta_apps>1</distinct_beta_apps>"
fresh_jobs 1
ask
promise "or, where they are chosen one by one, for nobody else" none "test application Demo"
prefs "<app_id>1</app_id>"
ask
promise "than those who chose it" sends 1
bare_config ""
sql "UPDATE app SET beta = 0; UPDATE app_version SET max_core_version = 72004"
prefs "<no_cpu>1</no_cpu>"
fresh_jobs 1
ask
promise "a version for older clients" none "needs an older one"
sql "UPDATE app_version SET max_core_version = 72005"
fresh_jobs 1
ask
promise "processors that the user excludes" none "preferences"
prefs ""
ask
promise "exactly the last version of a client" sends 1
sql "UPDATE app_version SET max_core_version = 0"

# ---- deadlines, hard applications ----
bare_config ""
fresh_jobs 2 "delay_bound = 100"
ask
promise "an idle host must be in time, too" none "deadline: it would take 15 min"
bare_config "<idle_host_skips_deadline>1</idle_host_skips_deadline>"
ask
promise "unless the project wishes otherwise" sends 1
ask "<estimated_delay>1</estimated_delay>"
promise "a busy host must" none "deadline"
bare_config "<ignore_delay_bound>1</ignore_delay_bound>"
ask "<estimated_delay>1</estimated_delay>"
promise "ignore_delay_bound: none must" sends 1
bare_config ""
for fpops in 0 1000000000; do
	fresh_jobs 1 "delay_bound = 900"
	ask fpops=$fpops
	promise "benchmark $fpops: 900 s, just in time" sends 1
	fresh_jobs 1 "delay_bound = 899"
	ask fpops=$fpops
	promise "benchmark $fpops: a second late" none "deadline"
done
sql "UPDATE app SET weight = -1"
fresh_jobs 2 "delay_bound = 1170"
ask
promise "a hard job takes 1.3 times as long: just in time" sends 1
sql "UPDATE host SET total_credit = 0 WHERE id = 17;
	REPLACE INTO x_credit_base SELECT 2, id, total_credit FROM host"
ask
promise "and is not for a host without credit" none "hard tasks"
sql "UPDATE host SET total_credit = 5 WHERE id = 17; UPDATE app SET weight = 1;
	REPLACE INTO x_credit_base SELECT 2, id, total_credit FROM host"

# ---- jobs that hardly compute ----
sql "UPDATE app SET non_cpu_intensive = 1"
fresh_jobs 5
ask work=0 secs=
promise "one of them is sent without being asked for" sends 1
ask work=0 secs=
promise "one is enough" sends 0
promise "who asked for nothing is told nothing" same '' "$(reply_of message)"
sql "UPDATE app SET non_cpu_intensive = 0"

# ---- keywords, order ----
bare_config "<keyword_sched>1</keyword_sched>"
fresh_jobs 2 "keywords = '3 7'"
ask "<user_keywords><yes>3</yes><no>7</no></user_keywords>"
promise "a keyword that the user excludes" none "keyword"
ask "<user_keywords><no>8</no></user_keywords>"
promise "another one does not matter" sends 1
fresh_jobs 5
bare_jobs 1 "keywords = '4'"
feeder_fill
ask "<user_keywords><yes>4</yes></user_keywords>"
promise "what the user likes goes first" equals 4 "SELECT keywords FROM workunit w
	JOIN result r ON r.workunitid = w.id WHERE server_state = 4"
bare_config "<sched_old>1</sched_old>"
fresh_jobs 5 "priority = 1"
ask secs=1e6
promise "the old order of the scan sends them all, too" sends 5

# ---- the host's queue, simulated ----
bare_config "<workload_sim>1</workload_sim>"
fresh_jobs 9 "delay_bound = 2000"
working="<working_global_preferences><global_preferences>
	<work_buf_min_days>0</work_buf_min_days></global_preferences>
	</working_global_preferences>"
queue() { # SECONDS: one such job on each of 4 processors, due in an hour
	printf '<in_progress_results>'
	for _ in 1 2 3 4; do
		printf '<ip_result><name>x</name><report_deadline>%s</report_deadline>
			<time_remaining>%s</time_remaining></ip_result>' \
			$(($(date +%s) + 3600)) "$1"
	done
	printf '</in_progress_results>'
}
ask secs=1 "$working" "$(queue 3600)"
promise "every minute of the host is promised: nothing more" \
	none "would miss a deadline"
ask secs=1 "$working" "$(queue 2000)"
promise "there is time for it before the others" sends 1

done_promising
