#!/bin/bash
# t1120-signature-wrong.sh - an application file whose signature does not fit the
# project's key: the client refuses to run it.
. "$(dirname "$0")/../lib/scenario.sh"

project_new forged
jobs_new 1 forged --min_quorum 1 --target_nresults 1
# One who could write the database, but has not the signing key: change the
# first digit of the signature.
sql "UPDATE app_version SET xml_doc = REGEXP_REPLACE(xml_doc,
	'(<file_signature>[[:space:]]*)[0-9a-f]{4}', '\\\\1beef')"
promise "the stored signature is forged" equals 1 \
	"SELECT COUNT(*) FROM app_version WHERE xml_doc REGEXP
	 '<file_signature>[[:space:]]*beef'"
project_up
client_up alice "$(account_new alice@example.org Alice)"
refused() {
	equals 1 "SELECT COUNT(*) FROM result WHERE server_state = 5
		AND outcome = 3 AND client_state = 1"
}
promise_in 150 "the job fails on the client" refused
promise "because of the signature" grep -q -i 'signature' \
	"$T/client_alice/client.log"
promise "the application was never run" equals 0 \
	"SELECT COUNT(*) FROM result WHERE elapsed_time > 0"
named() {
	"$prefix/bin/audit" --only version-signed >"$T/audit.txt" 2>&1
	[ $? -eq 1 ] && grep -q 'signature of another key' "$T/audit.txt"
}
promise "audit names the forged signature" named
audit_except version-signed "the signature was forged above"
done_promising
