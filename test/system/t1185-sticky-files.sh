#!/bin/bash
# t1185-sticky-files.sh - sticky files stay on the client after their job, are
# listed in its requests, and are deleted when the project says so.
. "$(dirname "$0")/../lib/scenario.sh"

project_new sticky
cd "$PROJECT/templates" || exit 1
sed 's|^    <file_info>$|&<sticky/>|' uppercase_in >sticky_in
sed 's|^    <file_info>$|&<sticky/>|' uppercase_out >sticky_out
cd "$T" || exit 1
jobs_new 1 sticky --min_quorum 1 --target_nresults 1 \
	--wu_template templates/sticky_in --result_template templates/sticky_out
jobs_new 1 plain --min_quorum 1 --target_nresults 1
project_up
client_up alice "$(account_new alice@example.org Alice)"
folder=$T/client_alice/projects/127.0.0.1_${HTTP_PORT}_sticky
files() { # PATTERN…: what the client has, one space between them
	(cd "$folder" && find . -name '*_[0-9]*' ! -name 'uppercase*' -printf '%f\n') |
		sed 's/_r[0-9]*_/_r_/' | sort | xargs
}
has() { # NAMES
	[ "$(files)" = "$*" ]
}
finished() {
	client_update alice
	sleep 2
	equals 2 "SELECT COUNT(*) FROM workunit WHERE assimilate_state = 2"
}
promise_in 120 "both jobs are done" finished
promise_in 30 "input and output of the sticky one stay, no other file" \
	has sticky_1.in sticky_1_0_r_0
listed() {
	client_update alice
	sleep 1
	tr -d ' \n' <"$(echo "$T/client_alice"/sched_request_*.xml)" >"$T/request"
	grep -q '<file_info><name>sticky_1.in</name>' "$T/request" &&
		grep -q '<file_info><name>sticky_1_0_r[0-9]*_0</name>' "$T/request"
}
promise_in 30 "they are listed in the requests" listed

echo '^sticky_.*[.]in$' >"$PROJECT/file_delete_regex"
goes() { # what is left
	client_update alice
	sleep 1
	has "$@"
}
promise_in 60 "what the project does not want any more is deleted" \
	goes sticky_1_0_r_0
echo '_r[0-9]*_0$' >>"$PROJECT/file_delete_regex"
promise_in 60 "and the other one, by a second line" goes
promise "two files were to be deleted" test 2 -le \
	"$(grep -c 'Got server request to delete file sticky_1' "$T/client_alice/client.log")"
done_promising
