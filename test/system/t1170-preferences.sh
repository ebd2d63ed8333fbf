#!/bin/bash
# t1170-preferences.sh - preferences that are changed on the server reach the
# client, those of its venue; newer ones of the client reach the database.
. "$(dirname "$0")/../lib/scenario.sh"

# preferences MOD_TIME KB_PER_SECOND: limits of downloads, one for all and a
# smaller one for computers at work.
preferences() {
	cat <<-END
		<global_preferences>
		<mod_time>$1</mod_time>
		<run_if_user_active>1</run_if_user_active>
		<max_bytes_sec_down>900000</max_bytes_sec_down>
		<venue name="work">
		<run_if_user_active>1</run_if_user_active>
		<max_bytes_sec_down>${2}000</max_bytes_sec_down>
		</venue>
		</global_preferences>
	END
}
store() { sql "UPDATE user SET global_prefs = '$(preferences "$@")'"; }

project_new prefs
project_up
key=$(account_new alice@example.org Alice)
sql "UPDATE user SET venue = 'work'"
now=$(date +%s)
store $((now - 3000)) 300
client_up alice "$key"
uses() { # KB per second
	client_update alice
	sleep 1
	grep -q "max download rate: ${1}[0-9]* *bytes/sec" "$T/client_alice/client.log"
}
promise_in 60 "what is stored reaches a new client, its venue's part" uses 300
promise "its host is at work" equals work "SELECT venue FROM host"
store $((now - 2000)) 500
promise_in 60 "a change on the server reaches it" uses 500
promise "the client has the whole document" \
	grep -q 'max_bytes_sec_down>900000<' "$T/client_alice/global_prefs.xml"

stored() { # SECONDS before the start: the mod_time in the database
	client_update alice
	sleep 1
	equals 1 "SELECT COUNT(*) FROM user WHERE
		global_prefs LIKE '%<mod_time>$((now - $1))%'"
}
# change SECONDS KB: as if another project had sent newer ones to the client.
change() {
	client_down alice
	sed -i -e "s|<mod_time>.*</mod_time>|<mod_time>$((now - $1))</mod_time>|" \
		-e "s|>500000<|>${2}000<|" "$T/client_alice/global_prefs.xml"
	client_start alice
	wait_for 30 client_answers alice
}
change 1000 700
promise_in 60 "a newer change at the client reaches the database" stored 1000
promise "with its value" equals 1 "SELECT COUNT(*) FROM user WHERE
	global_prefs LIKE '%<max_bytes_sec_down>700000%'"
store $((now - 1500)) 800
promise_in 60 "what is older on the server does not win" stored 1000
promise "nor ever reach the client" \
	grep -q '>700000<' "$T/client_alice/global_prefs.xml"
done_promising
