#!/bin/bash
# t0202-whose-host.sh - which account and which host record a request belongs
# to: keys, first contacts and their retries, copied and merged clients.
. "$(dirname "$0")/../lib/bare.sh"

bare_new hosts
bare_app
bare_user 7 alice $ALICE
bare_user 8 bob $BOB
sql "UPDATE user SET venue = 'home' WHERE id = 7"
feeder_up

hosts() { # WANT
	equals "$1" "SELECT COUNT(*) FROM host"
}

# ---- keys ----
for key in '' wrong 0123456789abcdef0123456789abcde 0123456789ABCDEF0123456789ABCDEF \
	7_ 7_$ALICE 999_$ALICE _ 7_d41d8cd98f00b204e9800998ecf8427e; do
	ask hostid=0 "key=$key"
	promise "key '$key' is refused" says "account key"
	promise "for an hour" grep -q '^request_delay 3600' "$T/reply.txt"
	promise "and nothing is told" same '' "$(reply_of userid)"
done
promise "nobody of these got a host" hosts 0

# ---- first contact ----
ask hostid=0 seqno=0
promise "a first contact gets a host id" same 1 "$(reply_of hostid)"
promise "and is welcomed by name" same alice "$(reply_of user_name)"
promise "the host has the user's venue" same home "$(reply_of host_venue)"
promise "what the client said is stored" equals 'pc 4 16000000000 192.0.2.7 0' \
	"SELECT CONCAT_WS(' ', domain_name, p_ncpus, m_nbytes, external_ip_addr,
	 rpc_seqno) FROM host WHERE id = 1"
promise "the stored CPID is md5(CPID, e-mail)" equals \
	"$(printf '%s' 00112233445566778899aabbccddeeffalice@example.org | md5sum | cut -c1-32)" \
	"SELECT host_cpid FROM host WHERE id = 1"
ask hostid=0 seqno=0
promise "a retry gets the same host" same 1 "$(reply_of hostid)"
promise "and makes no second one" hosts 1

# Ten first contacts at once, as after a lost reply.
request hostid=0 seqno=0 cpid=ffeeddccbbaa99887766554433221100 name=other
for i in $(seq 1 10); do
	REQUEST_METHOD=POST CONTENT_LENGTH=$(stat -c %s "$T/req") \
		"$build/sched/scheduler" <"$T/req" >"$T/parallel.$i" &
	parallel[i]=$!
done
wait "${parallel[@]}"
promise "ten of them at once make one host" hosts 2
promise "and each has its reply" \
	same 10 "$(cat "$T"/parallel.* | grep -c '<hostid>2</hostid>')"

# ---- sequence numbers ----
ask hostid=1 seqno=1
promise "the id is not told again" same '' "$(reply_of hostid)"
ask hostid=1 seqno=1
promise "an equal sequence number is a retry" same '' "$(reply_of hostid)"
ask hostid=1 seqno=5
promise "numbers may be left out" equals 5 \
	"SELECT rpc_seqno FROM host WHERE id = 1"
ask hostid=1 seqno=3 name=copied
promise "one that goes back is a copied client: a new host" \
	same 3 "$(reply_of hostid)"
promise "whose own number begins at 0" equals 0 \
	"SELECT rpc_seqno FROM host WHERE id = 3"
promise "the first one's record is as it was" equals '5 pc' \
	"SELECT CONCAT_WS(' ', rpc_seqno, domain_name) FROM host WHERE id = 1"
ask hostid=1 seqno=3 name=copied
promise "the copy's retry finds the record that looks like it" \
	same 3 "$(reply_of hostid)"
ask hostid=1 seqno=3 name=copied "<allow_multiple_clients>1</allow_multiple_clients>"
promise "unless several clients run on one computer" same 4 "$(reply_of hostid)"

# ---- coming back without the id ----
# The newest of the records with its CPID is host 4.
sql "INSERT INTO workunit SET id = 5000000001, name = 'w1', appid = 1,
	transition_time = 2147483647, min_quorum = 1, target_nresults = 1,
	delay_bound = 86400;
	INSERT INTO result SET id = 5000000001, name = 'w1_0', server_state = 4,
	workunitid = 5000000001, appid = 1, hostid = 4, userid = 7"
ask hostid=0 seqno=0 other='<other_results><other_result><name>w1_0</name></other_result></other_results>'
promise "a client that has jobs keeps them" equals 4 \
	"SELECT server_state FROM result"
ask hostid=0 seqno=0
promise "one that has none gives them up" equals '5 7 1' \
	"SELECT CONCAT_WS(' ', server_state, outcome, received_time > 0) FROM result"
promise "and their workunits are due" equals 1 \
	"SELECT transition_time < 2147483647 FROM workunit"
ask hostid=0 seqno=0 ncpus=8 ram=32e9
promise "another machine under the same CPID is another host" \
	same 5 "$(reply_of hostid)"

# ---- whose host ----
ask hostid=1 seqno=9 key=$BOB name=bobs cpid=aa112233445566778899aabbccddeeff
promise "another user's id makes a host of one's own" same 6 "$(reply_of hostid)"
promise "that belongs to oneself" equals 8 "SELECT userid FROM host WHERE id = 6"
ask hostid=999 seqno=9 name=lost cpid=bb112233445566778899aabbccddeeff
promise "an unknown id likewise" same 7 "$(reply_of hostid)"
promise "with a word about it" says "no record"

# ---- merged records: 1 -> 3 ----
sql "UPDATE host SET userid = 0, rpc_seqno = 3 WHERE id = 1"
ask hostid=1 seqno=20 name=copied
promise "a merged record is followed, and the new id told" \
	same 3 "$(reply_of hostid)"
ask hostid=3 seqno=1 name=copied
promise "from then on it is that host" same '' "$(reply_of hostid)"
sql "UPDATE host SET userid = 0, rpc_seqno = 1 WHERE id = 3"
ask hostid=1 seqno=20 name=circle cpid=cc112233445566778899aabbccddeeff
promise "a circle of merged records ends in a new host" \
	same 8 "$(reply_of hostid)"

# ---- weak keys ----
weak=7_$(printf '%s' "${ALICE}hash of alice" | md5sum | cut -c1-32)
cpid=0123456789abcdef0123456789abcdef
prefs='<global_preferences>
<mod_time>1700000001</mod_time>
<disk_max_used_gb>5</disk_max_used_gb>
</global_preferences>
'
hash=$(printf alice@example.org | md5sum | cut -c1-32)
extra="<cross_project_id>$cpid</cross_project_id>$prefs<global_prefs_source_email_hash>$hash</global_prefs_source_email_hash>"
ask hostid=2 seqno=1 "key=$weak" name=other "$extra"
promise "a weak key is taken" same alice "$(reply_of user_name)"
promise "but changes neither the user's CPID nor preferences" \
	equals "$(printf 'c%.0s' $(seq 1 32)) 1" \
	"SELECT CONCAT_WS(' ', cross_project_id, global_prefs IS NULL) FROM user
	 WHERE id = 7"
ask hostid=2 seqno=2 name=other "$extra"
promise "the account key does" equals "$cpid 1" \
	"SELECT CONCAT_WS(' ', cross_project_id,
	 global_prefs LIKE '%<disk_max_used_gb>5</disk_max_used_gb>%') FROM user
	 WHERE id = 7"

# ---- preferences ----
ask hostid=2 seqno=3 name=other
promise "a client without preferences is sent the stored ones" \
	same 5 "$(reply_of global_preferences/disk_max_used_gb)"
ask hostid=2 seqno=4 name=other "<working_global_preferences>$prefs</working_global_preferences>"
promise "one that has them is not" \
	same '' "$(reply_of global_preferences/disk_max_used_gb)"
old=${extra/1700000001/1600000000}
ask hostid=2 seqno=5 name=other "${old/gb>5/gb>9}"
promise "older ones do not win" equals 1 \
	"SELECT global_prefs LIKE '%gb>5<%' FROM user WHERE id = 7"
other=${extra/$hash/00000000000000000000000000000000}
ask hostid=2 seqno=6 name=other "${other/1700000001/1700000009}"
promise "nor those of another account" equals 1 \
	"SELECT global_prefs LIKE '%1700000001%' FROM user WHERE id = 7"

bad=${extra/1700000001/1700000020}
while IFS= read -r line; do
	ask hostid=2 seqno=6 name=other "${bad/<disk/"$line"<disk}"
	promise "'$line' is no XML: those of before stay" equals 1 \
		"SELECT global_prefs LIKE '%1700000001%' FROM user WHERE id = 7"
	promise "and the volunteer learns why" says "not passed on"
done <<'END'
<name>R&D</name>
<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]><name>&a;</name>
<name>1 < 2</name>
END
ask hostid=2 seqno=6 name=other
promise "other computers get those" same 1700000001 "$(reply_of global_preferences/mod_time)"
sql "UPDATE user SET global_prefs = '<global_preferences>
<mod_time>1700000001</mod_time><name>R&D</name></global_preferences>' WHERE id = 7"
ask hostid=2 seqno=6 name=other
promise "what another program stored is not sent either, if it is no XML" \
	same ' 0' "$(reply_of global_preferences/mod_time) $rpc_status"

# ---- turned away ----
sql "UPDATE host SET max_results_day = -1 WHERE id = 2"
ask hostid=2 seqno=7 name=other
promise "a host on the black list is sent away for a day" \
	grep -q '^request_delay 86400' "$T/reply.txt"
sql "UPDATE host SET max_results_day = 0 WHERE id = 2"
mariadb_client "$T/db" "$DB_NAME" -e "START TRANSACTION;
	SELECT id FROM host WHERE id = 2 FOR UPDATE; SELECT SLEEP(3)" >/dev/null &
holder=$!
sleep 1
ask hostid=2 seqno=8 name=other
promise "a second request of a host at a time is told to come back" \
	says "Another request"
promise "in a minute" grep -q '^request_delay 60' "$T/reply.txt"
wait $holder

# ---- code-sign key ----
key=$(cat "$PROJECT/keys/code_sign_public")
ask hostid=2 seqno=9 name=other
promise "a client without the project's key gets it" \
	grep -q '^code_sign_key 1024' "$T/reply.txt"
ask hostid=2 seqno=9 name=other "<code_sign_key>
$key
</code_sign_key>"
promise "one that has it does not" \
	same '' "$(reply_of code_sign_key)"
cp "$PROJECT/keys/code_sign_public" "$PROJECT/keys/old_key_0"
cp "$top/test/data/keys/code_sign_new_public" "$PROJECT/keys/code_sign_public"
cp "$top/test/data/sign/newkey_stripped.sig" "$PROJECT/keys/signature_stripped_0"
ask hostid=2 seqno=9 name=other "<code_sign_key>
$key
</code_sign_key>"
promise "one that has the old key gets the new one, signed" \
	grep -q "^code_sign_key_signature $(head -n 1 "$PROJECT/keys/signature_stripped_0")" \
	"$T/reply.txt"
ask hostid=2 seqno=9 name=other "<code_sign_key>
1024
00
.
</code_sign_key>"
promise "one that has a strange key is told so" says "code-sign key"

# ---- maintenance ----
touch "$PROJECT/stop_sched"
ask hostid=2 seqno=10 name=other
promise "stop_sched: the project is down" \
	grep -q '^project_is_down' "$T/reply.txt"
promise "with the maintenance delay" \
	grep -Eq '^request_delay (3[6-9]|4[0-3])[0-9][0-9]\.' "$T/reply.txt"
rm "$PROJECT/stop_sched"
feeder_down
ask hostid=2 seqno=10 name=other
promise "no feeder: the project is down" \
	grep -q '^project_is_down' "$T/reply.txt"
feeder_up
mariadb_stop "$T/db"
ask hostid=2 seqno=10 name=other
promise "no database: the project is down" \
	grep -q '^project_is_down' "$T/reply.txt"
mariadb_start "$T/db"
ask hostid=2 seqno=10 name=other
promise "all back: it is up" same alice "$(reply_of user_name)"
echo nonsense >"$PROJECT/config.xml"
ask hostid=2 seqno=10 name=other
promise "a broken config.xml: the project is down" \
	grep -q '^project_is_down' "$T/reply.txt"

bare_config ""
audit_except host-circle "two hosts lead to each other here"
done_promising
