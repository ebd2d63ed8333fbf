#!/bin/bash
# t1140-everything-is-killed.sh - each daemon, the scheduler and the upload handler
# are killed with SIGKILL ten times at random while 20 workunits are computed:
# nothing is lost, each is credited exactly once and has one complete output.
. "$(dirname "$0")/../lib/scenario.sh"

project_new killed
jobs_new 20 killed
project_up
client_up alice "$(account_new alice@example.org Alice)"
client_up bob "$(account_new bob@example.org Bob)"

victims="feeder transitioner uppercase_validator sample_copy_assimilator
	file_deleter db_purge scheduler file_upload_handler"
declare -A deaths
for victim in $victims; do deaths[$victim]=0; done

pid_of() { # a program of this project
	local pid
	for pid in $(pgrep -f "$1"); do
		case $1 in
		scheduler) tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null |
			head -n 1 | grep -q '/fcgi$\|/scheduler$' || continue ;;
		esac
		grep -qz "QUORATE_PROJECT_DIR=$PROJECT" "/proc/$pid/environ" \
			2>/dev/null || continue
		[ "$pid" != $$ ] && echo "$pid" && return 0
	done
	return 1
}

assimilated() {
	equals 20 "SELECT COUNT(*) FROM workunit WHERE assimilate_state = 2
		AND canonical_resultid <> 0" >/dev/null
}

all_died() {
	local victim
	for victim in $victims; do
		[ "${deaths[$victim]}" -ge 10 ] || return 1
	done
}

end=$((SECONDS + 400))
until all_died && assimilated; do
	[ $SECONDS -lt $end ] || break
	set -- $victims
	shift $((RANDOM % $#))
	victim=$1
	pattern=$victim
	[ "$victim" = scheduler ] && pattern='cgi-bin/fcgi'
	if [ "${deaths[$victim]}" -lt 10 ]; then
		pid=$(pid_of "$pattern") && kill -KILL "$pid" 2>/dev/null &&
			deaths[$victim]=$((deaths[$victim] + 1))
	fi
	sleep 0.3
	# back-off makes a daemon that died often wait: start again, as one would
	(cd "$PROJECT" && bin/start) >>"$T/start.log" 2>&1
	client_update alice
	client_update bob
done
for victim in $victims; do echo "# $victim died ${deaths[$victim]} times"; done
promise "each of them was killed ten times" all_died
promise_in 200 "all 20 workunits are assimilated" assimilated
promise "each has two valid results of two users" equals 20 \
	"SELECT COUNT(*) FROM (SELECT workunitid FROM result
	 WHERE validate_state = 1 GROUP BY workunitid
	 HAVING COUNT(DISTINCT userid) >= 2) x"
promise "credit of users is the sum of what was granted" equals 0 \
	"SELECT COUNT(*) FROM user u WHERE ABS(u.total_credit -
	 (SELECT COALESCE(SUM(granted_credit), 0) FROM result r
	  WHERE r.userid = u.id)) > 1e-6"
promise "credit of hosts too" equals 0 \
	"SELECT COUNT(*) FROM host h WHERE ABS(h.total_credit -
	 (SELECT COALESCE(SUM(granted_credit), 0) FROM result r
	  WHERE r.hostid = h.id)) > 1e-6"
promise "one output for each workunit" test \
	"$(find "$PROJECT/results" -type f ! -name '.*' | wc -l)" = 20
complete() {
	local i n=0
	for i in $(seq 1 20); do
		grep -rqsx "HELLO FROM WORKUNIT $i OF KILLED" "$PROJECT/results" &&
			n=$((n + 1))
	done
	[ $n -eq 20 ]
}
promise "each of them complete" complete
done_promising
