#!/bin/bash
# t1180-new-key.sh - the project changes its code-sign key: a client that knows
# the old one accepts it, and runs an application that is signed with it.
. "$(dirname "$0")/../lib/scenario.sh"

project_new rekeyed
keys=$(sed -n 's|.*<key_dir>\(.*\)</key_dir>.*|\1|p' "$PROJECT/config.xml")
jobs_new 1 before --min_quorum 1 --target_nresults 1
project_up
client_up alice "$(account_new alice@example.org Alice)"
back() { # COUNT
	client_update alice
	sleep 2
	equals "$1" "SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome = 1"
}
promise_in 60 "a job runs under the old key" back 1

# The new key, signed with the old one: as it is, and as clients from 7 on see
# it, without white space at its ends.
mv "$keys/code_sign_public" "$keys/old_key_0"
mv "$keys/code_sign_private" "$T/old_private"
cp "$top/test/data/keys/code_sign_private" "$top/test/data/keys/code_sign_public" \
	"$keys/"
sign_executable "$keys/code_sign_public" "$T/old_private" >"$keys/signature_0"
printf '%s' "$(cat "$keys/code_sign_public")" >"$T/stripped"
sign_executable "$T/stripped" "$T/old_private" >"$keys/signature_stripped_0"
version_new 1.1
sql "UPDATE app_version SET deprecated = 1 WHERE version_num = 100"
# The feeder reads the versions when it starts.
project_down
project_up
jobs_new 1 after --min_quorum 1 --target_nresults 1
promise_in 90 "a job runs under the new key" back 2
promise "with the version that it signed" equals 1 "SELECT COUNT(*) FROM result r
	JOIN app_version v ON v.id = r.app_version_id WHERE version_num = 101
	AND r.name = 'after_1_0' AND outcome = 1"
known() {
	client_update alice
	sleep 1
	grep -qF "$(sed -n 2p "$keys/code_sign_public")" \
		"$T/client_alice"/sched_request_*.xml
}
promise_in 30 "the client asks with the new key from now on" known
promise "and has not been told to attach again" not \
	grep -q "code-sign key is not" "$T/client_alice/client.log"
audit_except version-signed "the first version was signed with the old key"
done_promising
