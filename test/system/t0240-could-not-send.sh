#!/bin/bash
# t0240-could-not-send.sh - a result that enough hosts could not take for what
# they are ends as "could not send"; what users chose never counts.
. "$(dirname "$0")/../lib/bare.sh"

bare_new couldnotsend
bare_app
bare_user 7 alice $ALICE
bare_user 8 bob $BOB
many_hosts() { # FIRST LAST
	local i
	for ((i = $1; i <= $2; i++)); do
		echo "INSERT INTO host SET id = $i, userid = 7, create_time = 1700000000,
		    rpc_time = 1700000000;"
	done
}
sql "$(many_hosts 101 210)"

fresh_jobs() { # CONFIG COUNT [COLUMN = VALUE, …]
	feeder_down
	bare_config "$1"
	sql "DELETE FROM result; DELETE FROM workunit; DELETE FROM x_refused_host;
		DELETE FROM x_could_not_send"
	shift
	bare_jobs "$@"
	feeder_up
	feeder_fill
}

few="<could_not_send_hosts>4</could_not_send_hosts>"

refuse() { # FIRST LAST [NAME=VALUE…]: these hosts ask
	local i first=$1 last=$2
	shift 2
	for ((i = first; i <= last; i++)); do
		ask hostid=$i "$@"
		sends 0 || return 1
	done
}

ended() { # results that could not be sent, of all
	equals "$1" "SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome = 2"
}

waits() { # still so after the feeder has looked a few times
	sleep 0.5
	ended 0 && equals "$1" "SELECT COUNT(*) FROM result WHERE server_state = 2"
}

counted() { # TEXT: what show_shmem says of a slot
	shmem "\"refused\": \"$1\""
}

# ---- a hundred hosts, as by default ----
cp "$top"/test/data/keys/upload_private "$PROJECT/keys/"
fresh_jobs "" 1 "rsc_memory_bound = 8e9, max_error_results = 1,
	max_total_results = 3, max_success_results = 1"
refuse 101 163 ram=1e9
refuse 164 199 platform_name=pdp11-unix
promise "99 hosts that could not take it do nothing" waits 1
promise "what they lack can be seen" counted "63 memory, 36 no app version"
refuse 101 101 ram=1e9
promise "one that asks again is not the hundredth" waits 1
refuse 200 200 platform_name=pdp11-unix
promise_in 5 "the hundredth ends the result" ended 1
promise "its workunit is due" equals 1 "SELECT COUNT(*) FROM workunit
	WHERE transition_time <= UNIX_TIMESTAMP()"
why="63 memory, 37 no app version"
promise "the breakdown is stored" equals "$why" \
	"SELECT breakdown FROM x_could_not_send"
promise "and logged" grep -q "100 hosts could not take it: $why" \
	"$PROJECT/log/feeder.log"
unsendable() {
	(cd "$PROJECT" && "$build/tools/show_shmem" --unsendable 10) |
		grep -q "wu_.*: 100 hosts: $why"
}
promise "and shown" unsendable
"$build/daemons/transitioner" --one_pass >>"$T/daemons.log" 2>&1
promise "the workunit fails with bit 1 and goes to the assimilator" equals "1 1" \
	"SELECT CONCAT_WS(' ', error_mask, assimilate_state) FROM workunit"
promise "nothing is noted of the result any more" equals 0 \
	"SELECT COUNT(*) FROM x_refused_host"

# ---- reasons that count ----
fresh_jobs "$few" 1 "rsc_disk_bound = 1e12"
refuse 101 104 disk=250e9
promise_in 5 "disk counts" ended 1
fresh_jobs "$few" 1 "rsc_fpops_est = 9e14"
refuse 101 103
promise "three are too few" waits 1
refuse 104 104
promise_in 5 "a delay bound shorter than any host needs ends it" ended 1
promise "and says so" equals "4 deadline" "SELECT breakdown FROM x_could_not_send"
fresh_jobs "$few" 1 "app_version_num = 99"
refuse 101 104
promise_in 5 "a version that nobody has counts" ended 1

# ---- and those that do not ----
fresh_jobs "$few<daily_result_quota_per_host>1</daily_result_quota_per_host>" 1 \
	"rsc_memory_bound = 8e9"
sql "UPDATE host SET nresults_today = 1, rpc_time = UNIX_TIMESTAMP()"
refuse 101 106
promise "a quota never counts" waits 1
sql "UPDATE host SET nresults_today = 0, rpc_time = 1700000000"
sql "UPDATE user SET project_prefs =
	'<project_preferences><no_cpu>1</no_cpu></project_preferences>' WHERE id = 7"
fresh_jobs "$few" 1
refuse 101 106
promise "what its user has chosen never counts" waits 1
promise "not even in the slot" equals 0 "SELECT COUNT(*) FROM x_refused_host"
sql "UPDATE user SET project_prefs = '' WHERE id = 7"
ask hostid=107 secs= work=0 platform_name=pdp11-unix
promise "who wants no work does not count" waits 1
ask hostid=108
promise "after all that a host that can takes it" sends 1

# ---- how old, how often in a slot ----
fresh_jobs "$few" 1 "rsc_memory_bound = 8e9"
sql "UPDATE result SET create_time = UNIX_TIMESTAMP()"
feeder_down
feeder_up
feeder_fill
refuse 101 106 ram=1e9
promise "a result younger than a day waits" waits 1
fresh_jobs "$few" 1 "rsc_memory_bound = 8e9"
refuse 101 103 ram=1e9
feeder_down
promise "a feeder that stops notes the hosts" equals 3 \
	"SELECT COUNT(*) FROM x_refused_host"
feeder_up
feeder_fill
promise_in 5 "the next one knows them" counted "3 memory"
refuse 103 103 ram=1e9
promise "each counts once, whatever happened" waits 1
refuse 104 104 ram=1e9
promise_in 5 "and the fourth ends it" ended 1
fresh_jobs "$few" 1 "rsc_memory_bound = 8e9"
refuse 101 103 ram=1e9
touch "$PROJECT/reread_db"
sleep 1
refuse 104 104 ram=1e9
promise_in 5 "tables read again forget nothing" ended 1
fresh_jobs "<could_not_send_hosts>0</could_not_send_hosts>" 1 \
	"rsc_memory_bound = 8e9"
refuse 101 120 ram=1e9
promise "0 hosts: never" waits 1

# ---- a block of jobs for others ----
# 1 000 jobs for another kind of computer, then one that this host can do, and
# an array of ten slots
feeder_down
sql "INSERT INTO platform SET id = 2, name = 'windows_x86_64';
	INSERT INTO app SET id = 2, name = 'win', user_friendly_name = 'Win';
	INSERT INTO app_version (id, appid, platformid, version_num, plan_class,
	    xml_doc) SELECT 21, 2, 2, 100, '', xml_doc FROM app_version WHERE id = 11;
	DELETE FROM result; DELETE FROM workunit"
bare_config "<shmem_work_items>10</shmem_work_items>"
bare_jobs 1000 "appid = 2"
sql "UPDATE result SET appid = 2"
bare_jobs 1
feeder_up
full() {
	same 10 "$(cd "$PROJECT" && "$build/tools/show_shmem" --json |
		grep -c '"result": ')"
}
promise_in 5 "the array is full" full
ask hostid=101
promise "1000 jobs for others do not hide the one behind them" sends 1
promise "it is that one" same 1 "$(reply_of app/name | grep -c demo)"
done_promising
