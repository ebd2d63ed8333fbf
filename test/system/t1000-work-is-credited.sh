#!/bin/bash
# t1000-work-is-credited.sh - the plain case: two clients of two users compute
# a workunit, agree, are credited; its output reaches science; files and rows
# are cleaned up.
. "$(dirname "$0")/../lib/scenario.sh"

project_new plain
# a minute: long enough to look at the rows before they go
sed -i 's/--min_age_days 7/--min_age_days 0.0007 --sleep 2/' "$PROJECT/config.xml"
jobs_new 2 plain --credit 12.5
project_up
client_up alice "$(account_new alice@example.org "Zoë Brien")"
client_up bob "$(account_new bob@example.org Bób)"

promise_in 120 "four results come back as successes" equals 4 \
	"SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome = 1"
promise_in 30 "all are valid, with the credit of the workunit" equals 4 \
	"SELECT COUNT(*) FROM result WHERE validate_state = 1
	 AND granted_credit = 12.5"
promise "each workunit was computed by two users on two hosts" equals 2 \
	"SELECT COUNT(*) FROM (SELECT workunitid FROM result GROUP BY workunitid
	 HAVING COUNT(DISTINCT userid) = 2 AND COUNT(DISTINCT hostid) = 2) x"
promise "each user has 25 credits" equals "25 25" \
	"SELECT GROUP_CONCAT(total_credit SEPARATOR ' ') FROM user"
promise "so has each host" equals "25 25" \
	"SELECT GROUP_CONCAT(total_credit SEPARATOR ' ') FROM host"
promise "names are stored as they were given" equals "Zoë Brien,Bób" \
	"SELECT GROUP_CONCAT(name ORDER BY id) FROM user"
promise_in 30 "the outputs are with science" \
	grep -qr "HELLO FROM WORKUNIT 2 OF PLAIN" "$PROJECT/results"
promise "what the host is was stored" equals 2 \
	"SELECT COUNT(*) FROM host WHERE p_ncpus > 0 AND m_nbytes > 1e8
	 AND os_name LIKE 'Linux%' AND p_fpops > 0"
purged() { equals 0 "SELECT COUNT(*) FROM workunit"; }
promise_in 150 "workunits and results are archived and purged" purged
promise "the archive has all four results" test \
	"$(cat "$PROJECT"/archives/result_archive_* | grep -c '<result_archive>')" = 4
promise "uploaded files are gone" test -z \
	"$(find "$PROJECT/upload" -type f -print -quit)"
promise "input files are gone" test -z \
	"$(find "$PROJECT/download" -name 'plain_*' -print -quit)"
promise "no log has a critical line" no_critical
done_promising
