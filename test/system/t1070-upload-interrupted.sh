#!/bin/bash
# t1070-upload-interrupted.sh - the upload handler is killed while a slow client
# sends 300 KB: the upload resumes where it stopped, and the file is identical.
. "$(dirname "$0")/../lib/scenario.sh"

project_new upload
jobs_new 1 slow --min_quorum 1 --target_nresults 1 \
	--command_line "--out_size 300000"
project_up
mkdir -p "$T/client_alice"
client_prefs alice "<max_bytes_sec_up>25000</max_bytes_sec_up>"
client_up alice "$(account_new alice@example.org Alice)"

part() {
	local size
	size=$(find "$PROJECT/upload" -type f -printf '%s\n' | head -n 1)
	[ "${size:-0}" -gt 40000 ] && [ "${size:-0}" -lt 290000 ]
}
promise_in 120 "a part of the file has arrived" part
pkill -KILL -P "$web_pid" -f file_upload_handler
promise "the result has not been reported yet" equals 0 \
	"SELECT received_time FROM result"
promise_in 120 "the result is reported as a success" equals 1 \
	"SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome = 1"

same_file() {
	local want got
	want=$(sql "SELECT xml_doc_out FROM result WHERE outcome = 1" |
		sed -n 's|.*<md5_cksum>\([0-9a-f]*\)</md5_cksum>.*|\1|p')
	got=$(find "$PROJECT/upload" "$PROJECT/results" -type f -size +200k \
		-exec md5sum {} + | cut -c1-32 | sort -u)
	[ -n "$want" ] && [ "$got" = "$want" ] && return 0
	echo "# got '$got', want '$want'"
	return 1
}
promise_in 10 "the file on the server is the one the client made" same_file
promise "the client resumed the upload instead of starting again" \
	grep -q 'upload_offset [1-9]' "$T/client_alice/client.log"
promise_in 30 "it was valid and credited" equals 1 \
	"SELECT COUNT(*) FROM result WHERE validate_state = 1 AND granted_credit > 0"
promise "no partial file is left" test -z \
	"$(find "$PROJECT/upload" -name '*.part' -print -quit)"
done_promising
