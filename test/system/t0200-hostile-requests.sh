#!/bin/bash
# t0200-hostile-requests.sh - requests that must never crash, hang or harm: each
# gets HTTP 200 and a well-formed reply with a reason, and changes nothing that
# it should not.
. "$(dirname "$0")/../lib/bare.sh"

bare_new hostile
bare_app
bare_user 7 alice $ALICE
bare_user 8 bob $BOB
bare_host 17 7
bare_host 18 8
bare_jobs 3
feeder_up
feeder_fill
requests=$top/test/data/requests
before=$(checksum)

unchanged() {
	same "$before" "$(checksum)"
}

# ---- what is no request at all ----
: >"$T/empty"
rpc "$T/empty"
promise "an empty body gets a reason" says "no <scheduler_request>"
promise "and a delay" grep -q '^request_delay [1-9]' "$T/reply.txt"
rpc "$T/empty" GET ""
promise "so does GET" says "for BOINC clients"
promise "and a delay, too" grep -q '^request_delay [1-9]' "$T/reply.txt"
rpc "$T/empty" POST nonsense
promise "so does a length that is no number" says

head -c 50000000 /dev/zero >"$T/big"
rpc "$T/big"
promise "50 MB are refused by their length" says "too long"
promise "with a delay" grep -q '^request_delay [1-9]' "$T/reply.txt"
rpc "$T/big" POST ""
promise "also where the length is not told" says
rm "$T/big"
for i in $(seq 1 20); do
	head -c $((i * 997)) /dev/urandom >"$T/noise"
	rpc "$T/noise"
	says || break
done
promise "noise gets a reason, 20 times" says
{
	echo '<scheduler_request>'
	head -c 100000 /dev/urandom
	echo '</scheduler_request>'
} >"$T/noise"
rpc "$T/noise"
promise "also between the right tags" says
promise "nothing of that changed the database" unchanged

# ---- each captured request, cut at every 64th byte ----
mkdir "$T/cut"
cuts=0
for file in "$requests"/sched_*.xml; do
	size=$(stat -c %s "$file")
	# the last two bytes are the end tag's line
	for ((at = 0; at < size - 2; at += 64)); do
		head -c $at "$file" |
			REQUEST_METHOD=POST CONTENT_LENGTH=$at \
				"$build/sched/scheduler" >"$T/cut/$cuts" ||
			echo "Status: exit status $?" >>"$T/cut/$cuts"
		cuts=$((cuts + 1))
	done
done
# header lines to one file, each body to a file of its own
find "$T/cut" -type f -exec awk -v all="$T/cut.headers" '
	FNR == 1 { close(body); body = FILENAME ".xml"; head = 1 }
	head && /^\r?$/ { head = 0; next }
	head { print >>all; next }
	{ print >body }' {} +
promise "$cuts cut requests are answered with HTTP 200" \
	same 0 "$(grep -i '^Status:' "$T/cut.headers" | grep -vc ' 200')"
find "$T/cut" -name '*.xml' -exec "$build/test/system/flat" {} + \
	>"$T/cut.txt" 2>&1
promise "each with a well-formed reply" \
	same $cuts "$(grep -c '^scheduler_reply$' "$T/cut.txt")"
promise "and a reason" same $cuts "$(grep -c '^message .' "$T/cut.txt")"
promise "none of them changed the database" unchanged

# ---- numbers ----
# Every numeric element of the captured request with two results.
sed "s|<hostid>.*</hostid>|<hostid>17</hostid>|" \
	"$requests/sched_03_report_success_7.20.5.xml" >"$T/base"
sql "UPDATE result SET name = '$(sed -n 's|^ *<name>\(.*\)</name>|\1|p' \
	"$T/base" | grep -m 1 -v _r)', server_state = 4, hostid = 17, userid = 7,
	sent_time = 1700000000 WHERE id = 5000000001"
out_of_range() {
	sql "SELECT COUNT(*) FROM host WHERE id = 17 AND NOT (
		p_ncpus BETWEEN 0 AND 65536 AND timezone BETWEEN -86400 AND 86400
		AND on_frac BETWEEN 0 AND 1 AND active_frac BETWEEN 0 AND 1
		AND connected_frac BETWEEN -1 AND 1
		AND gpu_active_frac BETWEEN 0 AND 1
		AND duration_correction_factor BETWEEN 0 AND 1e30
		AND p_fpops BETWEEN 0 AND 1e30 AND p_iops BETWEEN 0 AND 1e30
		AND p_membw BETWEEN 0 AND 1e30 AND m_nbytes BETWEEN 0 AND 1e30
		AND m_cache BETWEEN 0 AND 1e30 AND m_swap BETWEEN 0 AND 1e30
		AND d_total BETWEEN 0 AND 1e30 AND d_free BETWEEN 0 AND 1e30
		AND d_boinc_used_total BETWEEN 0 AND 1e30
		AND d_boinc_used_project BETWEEN 0 AND 1e30
		AND d_boinc_max BETWEEN 0 AND 1e30
		AND n_bwup BETWEEN 0 AND 1e30 AND n_bwdown BETWEEN 0 AND 1e30)
	  UNION ALL SELECT COUNT(*) FROM result WHERE NOT (
		cpu_time BETWEEN 0 AND 1e30 AND elapsed_time BETWEEN 0 AND 1e30
		AND flops_estimate BETWEEN 0 AND 1e30
		AND peak_working_set_size BETWEEN 0 AND 1e30
		AND peak_swap_size BETWEEN 0 AND 1e30
		AND peak_disk_usage BETWEEN 0 AND 1e30
		AND app_version_num >= 0)" | paste -sd' '
}
# what the other rows are must not change: all but host 17 and results of Alice
others() {
	sql "SELECT * FROM user; SELECT * FROM host WHERE id <> 17;
		SELECT * FROM app; SELECT * FROM app_version;
		SELECT * FROM result WHERE server_state = 2" | md5sum
}
others=$(others)
number='[-+]\{0,1\}[0-9][0-9.]*\(e[-+]*[0-9]*\)\{0,1\}'
for value in nan -nan inf -inf 1e999 -1 -1e308 1e308 '-nan(ind)' '1.#QNAN' \
	0x7fffffffffffffff 99999999999999999999 '1,5' ''; do
	# not who it is, nor whether work is wanted: those are below
	sed -e "/authenticator\|hostid\|seqno\|_req_\|core_client/!s|>$number<|>$value<|" \
		"$T/base" >"$T/req"
	rpc "$T/req"
	promise "'$value' in every number: an orderly reply" \
		grep -q '^result_ack/name ' "$T/reply.txt"
	promise "'$value': nothing out of range is stored" \
		same "0 0" "$(out_of_range)"
	sql "UPDATE result SET server_state = 4, outcome = 0, received_time = 0
		WHERE id = 5000000001"
done
for value in nan inf -1 1e308 ''; do
	ask "work=$value" secs= "<d>$value</d>"
	promise "work_req_seconds '$value': an orderly reply" \
		grep -q '^userid 7' "$T/reply.txt"
	ask "work=0" "secs=$value" "instances=$value"
	promise "cpu_req_secs '$value' likewise" \
		grep -q '^userid 7' "$T/reply.txt"
	sql "UPDATE result SET server_state = 2, hostid = 0, userid = 0,
		sent_time = 0, report_deadline = 0, flops_estimate = 0,
		app_version_id = 0 WHERE id > 5000000001"
	feeder_fill
done
ask work=-1 secs=-1
promise "-1 seconds are none" sends 0
ask hostid=-17
promise "a negative host id is none" grep -q '^hostid [1-9]' "$T/reply.txt"
ask hostid=99999999999999999999 key=$BOB name=bob
promise "nor is one out of range" grep -q '^hostid [1-9]' "$T/reply.txt"
ask seqno=-1
promise "a negative sequence number is 0" grep -q '^userid 7' "$T/reply.txt"

# ---- text ----
sql "DELETE FROM host WHERE id > 18; DELETE FROM result; DELETE FROM workunit"
others=$(others)
evil="it's \"quoted\"; DROP TABLE host; -- \\ %s \${x} é"
stored="$evil <b>&"
ask "name=$evil &lt;b&gt;&amp;" seqno=5
promise "text with quotes and SQL is taken" grep -q '^userid 7' "$T/reply.txt"
promise "and stored as itself" same "$stored" \
	"$(mariadb_client "$T/db" --raw --batch --skip-column-names "$DB_NAME" \
		-e 'SELECT domain_name FROM host WHERE id = 17')"
sed -e "/authenticator\|number/!s|>[A-Za-z][^<]*<|>' OR 1=1; -- \"\\\\<|" \
	-e "s|<hostid>.*</hostid>|<hostid>17</hostid>|" \
	-e "s|<rpc_seqno>.*<|<rpc_seqno>9<|" "$T/base" >"$T/req"
rpc "$T/req"
promise "SQL in every text is taken" grep -q '^userid 7' "$T/reply.txt"
promise "and stored as itself, too" equals "' OR 1=1; -- \"\\\\" \
	"SELECT p_model FROM host WHERE id = 17"
ask "key=' OR 1=1 -- "
promise "SQL in the account key is a wrong key" says "account key"
promise "no other row was touched" same "$others" "$(others)"
long=$(printf 'x%.0s' $(seq 1 2000))
ask "name=$long" "cpid=$long" seqno=20
promise "long text is cut" equals 254 \
	"SELECT LENGTH(domain_name) FROM host WHERE id = 17"

# ---- shape ----
deep=$(printf '<a>%.0s' $(seq 1 5000))
ask seqno=30 "<unknown><hostid>18</hostid><deep>x</deep></unknown>"
promise "unknown elements are skipped with what is in them" \
	equals 30 "SELECT rpc_seqno FROM host WHERE id = 17"
ask "$deep"
promise "5000 levels are refused with a reason" says
{
	echo '<scheduler_request>'
	for _ in $(seq 1 1000); do
		printf '<x></x>%.0s' $(seq 1 300)
	done
	echo '</scheduler_request>'
} >"$T/req"
rpc "$T/req"
promise "300000 elements are refused with a reason" says
cat >"$T/req" <<'END'
<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>
<scheduler_request><authenticator>&b;</authenticator><domain_name>&b;</domain_name>
</scheduler_request>
END
rpc "$T/req"
promise "entities are not expanded" says "account key"
promise "still no other row was touched" same "$others" "$(others)"

done_promising
