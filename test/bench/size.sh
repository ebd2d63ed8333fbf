#!/bin/bash
# size.sh - does it get slower when the tables are large?  See README.md.
#
#   size.sh WORKUNITS [--yes]      at least 2 000 000 for a claim
#
# Loads workunits in all states, two results each, measures each row when there
# are 100 000 and again when all are there, and says by what factor they differ.
# QUORATE_TOP: the source folder, QUORATE_BUILDDIR: where it was built;
# TMPDIR: where the data lie; SMALL: the small size; N: workunits of a daemon's
# row.
wus=${1:-10000000}
case $wus in
'' | *[!0-9]* | 0*)
	echo "usage: $0 [WORKUNITS]" >&2
	exit 100
	;;
esac
N=${N:-20000} SMALL=${SMALL:-100000} POOL=${POOL:-2G}
LIMIT=1.3
for part in lib rows life; do
	# shellcheck source=/dev/null
	. "${QUORATE_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}/test/bench/$part.sh"
done

# ---- the load ----------------------------------------------------------------

# Of twenty workunits eight are unsent, five are with computers, three have one
# result back, four are done and wait for db_purge.  Their computers are others
# than those that rpcload plays: 20 workunits for each.
others() { # FROM TO: computers
	sql "INSERT INTO user (id, create_time, name, email_addr, authenticator,
	    passwd_hash, cross_project_id, teamid)
	    SELECT seq, 1700000000, CONCAT('u', seq), CONCAT('u', seq), MD5(seq),
	    MD5(seq), MD5(seq), seq % 50 + 1 FROM seq_$1_to_$2;
	    INSERT INTO host (id, create_time, userid, rpc_time, p_ncpus, p_fpops,
	    m_nbytes, domain_name)
	    SELECT seq, 1700000000, seq, 1700000000, 16, 4.7e9, 33e9,
	    CONCAT('host', LPAD(seq - 1, 7, '0')) FROM seq_$1_to_$2"
}

bulk_columns() {
	local k over="seq % 20 >= 16" sent="seq % 20 >= 8"
	local over_0="seq % 20 >= 13" over_1="$over"
	bulk_wu=$(copy_columns workunit id seq name "CONCAT('w', seq)" \
		xml_doc "REPLACE(xml_doc, 'bseedb', CONCAT('w', seq))" \
		transition_time "UNIX_TIMESTAMP() + 604800" \
		canonical_resultid "IF($over, seq * 2 - 1, 0)" \
		canonical_credit "IF($over, 10, 0)" \
		assimilate_state "IF($over, 2, 0)" \
		file_delete_state "IF($over, 2, 0)")
	for k in 0 1; do
		local back="over_$k"
		back=${!back}
		bulk_result[k]=$(copy_columns result id "seq * 2 - 1 + $k" \
			workunitid seq name "CONCAT('w', seq, '_$k')" \
			random "FLOOR(RAND() * 2147483647)" \
			xml_doc_in "REPLACE(xml_doc_in, 'bseedb', CONCAT('w', seq))" \
			server_state "IF($back, 5, IF($sent, 4, 2))" \
			outcome "IF($back, 1, 0)" client_state "IF($back, 5, 0)" \
			validate_state "IF($over, 1, 0)" \
			file_delete_state "IF($over, 2, 0)" \
			granted_credit "IF($over, 10, 0)" \
			hostid "IF($sent, $HOSTS + 1 + (seq * 7 + $k) % $others, 0)" \
			userid "IF($sent, $HOSTS + 1 + (seq * 7 + $k) % $others, 0)" \
			sent_time "IF($sent, UNIX_TIMESTAMP() - 7200, 0)" \
			report_deadline "IF($sent, UNIX_TIMESTAMP() + 604800, 0)" \
			received_time "IF($back, UNIX_TIMESTAMP(), 0)" \
			elapsed_time "IF($back, 3600, 0)" cpu_time "IF($back, 3500, 0)" \
			app_version_id "IF($sent, 11, 0)" \
			flops_estimate "IF($sent, 3e9, 0)" \
			stderr_out "IF($back, REPEAT('x', 1000), stderr_out)")
	done
}

# bulk TO: workunits up to this number.
bulk() {
	local to k
	sql "SET GLOBAL innodb_flush_log_at_trx_commit = 0"
	while [ "$next_job" -le "$1" ]; do
		to=$((next_job + 19999))
		[ $to -le "$1" ] || to=$1
		sql "INSERT INTO workunit $bulk_wu FROM scratch.workunit,
		    seq_${next_job}_to_$to"
		for k in 0 1; do
			sql "INSERT INTO result ${bulk_result[k]} FROM scratch.result,
			    seq_${next_job}_to_$to WHERE name LIKE '%\\_$k'"
		done
		next_job=$((to + 1))
		if [ $((to % 1000000)) -eq 0 ]; then
			echo "  $to workunits, $(($(date +%s) - started)) s"
		fi
	done
	sql "SET GLOBAL innodb_flush_log_at_trx_commit = 1"
	settle
}

# What was loaded goes to the disk now, not while something is measured.
settle() {
	local _
	sql "SET GLOBAL innodb_max_dirty_pages_pct = 0;
	    SET GLOBAL innodb_io_capacity = 20000"
	for _ in $(seq 1 300); do
		[ "$(sql "SELECT variable_value FROM information_schema.global_status
		    WHERE variable_name = 'INNODB_BUFFER_POOL_PAGES_DIRTY'")" -gt 500 ] ||
			break
		sleep 1
	done
	sql "SET GLOBAL innodb_max_dirty_pages_pct = 90;
	    SET GLOBAL innodb_io_capacity = 200"
}

megabytes() {
	du -sm "$T/db/data" | cut -f1
}

# Load the small size, and say from that what the large one takes.
small_and_promise() {
	local before after begin free
	before=$(megabytes)
	begin=$(date +%s%N)
	bulk "$SMALL"
	after=$(megabytes)
	# pages that split are half full: some more than the first ones tell
	need=$(awk "BEGIN { printf \"%d\",
	    1.3 * ($after - $before) * $wus / $SMALL + $after }")
	minutes=$(awk "BEGIN { printf \"%d\",
	    1 + ($(date +%s%N) - $begin) / 6e10 * $wus / $SMALL }")
	free=$(df -m --output=avail "$T" | tail -n 1)
	echo "$wus workunits and $((2 * wus)) results: about $((need / 1024 + 1)) GB" \
		"in $T, of which $((free / 1024)) GB are free;" \
		"at least $minutes minutes to load"
	if [ "$need" -gt $((free - 2048)) ]; then
		echo "that is too much: set TMPDIR, or take fewer" >&2
		exit 1
	fi
}

# ---- the rows ----------------------------------------------------------------

scene() { # SLOTS
	feeder_down
	web_down
	bench_config "<shmem_work_items>$1</shmem_work_items>
	    <feeder_query_size>$((2 * $1))</feeder_query_size>"
	feeder_up
	filled "$1"
}

# There are too many rows to count them.
expect() {
	:
}

measure_all() {
	life_first=$(sql "SELECT MAX(id) FROM workunit")
	scene 1000
	web_up fcgi
	load "1 reported + 1 sent" 0.085 "" -j 1
	load "10 reported + 10 sent" 0.025 "" -j 10
	load "contact without work" 0.18 "" -j 0 -r 0
	load "no such platform, 1 000 slots" 0.15 "" -j 1 -r 0 \
		-p windows_x86_64 -A windows_intelx86
	scene 100
	web_up fcgi
	counts=job_s counts_what=jobs/s
	load "1 + 1, 100 slots" 0.085 "" -j 1
	counts='' counts_what=''
	scene 1000
	web_up cgi
	load "1 + 1, plain CGI" 0.02 "" -j 1
	feeder_down
	web_down
	bench_config ""
	life_create
	life_transition none
	life_report
	life_rest
}

started=$(date +%s)
bench_new
yardstick
hosts_new
seed_job
machine
others=$((wus / 20 + 1000))
others $((HOSTS + 1)) $((HOSTS + others))
bulk_result=()
bulk_columns
# what waits for db_purge waits a week; what is measured is older
PURGE_OPTIONS="--min_age_days 7"
small_and_promise
rows_heading
measure_all
mv "$T/rows" "$T/small"
# the rest, behind those that were measured
next_job=$(sql "SELECT GREATEST(MAX(id), (SELECT MAX(workunitid) FROM result),
    (SELECT (MAX(id) + 1) DIV 2 FROM result)) + 1 FROM workunit")
bulk $((wus - SMALL + next_job))
sql "ANALYZE TABLE workunit, result, host, user" >/dev/null
echo "$wus workunits, $(megabytes) MB, loaded after $(($(date +%s) - started)) s"
yardstick
measure_all

echo
machine
echo "U = $U; rates with $SMALL workunits and with $wus, pool of $POOL"
printf '%-38s %9s %9s %7s %s\n' work small large factor "<= $LIMIT"
paste "$T/small" "$T/rows" | awk -F '\t' -v limit=$LIMIT '{
	f = ($16 > 0 ? $2 / $16 : 0)
	printf "%-38s %9.0f %9.0f %7.2f %s\n", $1, $2, $16, f,
	    (f > 0 && f <= limit ? "yes" : "no") }' | tee "${OUT:-bench-size.txt}"
echo "$(($(date +%s) - started)) s"
