#!/bin/bash
# t1190-made-on-the-client.sh - a job makes a file that stays on the client, and
# the next job uses it: it is never transferred.
. "$(dirname "$0")/../lib/scenario.sh"

project_new local
cat >"$PROJECT/templates/make_out" <<'END'
<output_template>
    <file_info>
        <name><OUTFILE_0/></name>
        <max_nbytes>1000000</max_nbytes>
        <url><UPLOAD_URL/></url>
    </file_info>
    <file_info>
        <name>table_1</name>
        <generated_locally/>
        <sticky/>
        <max_nbytes>1000000</max_nbytes>
    </file_info>
    <result>
        <file_ref>
            <file_name><OUTFILE_0/></file_name>
            <open_name>out</open_name>
            <copy_file/>
        </file_ref>
        <file_ref>
            <file_name>table_1</file_name>
            <open_name>table</open_name>
            <copy_file/>
            <no_validate/>
        </file_ref>
        <report_immediately/>
    </result>
</output_template>
END
cat >"$PROJECT/templates/use_in" <<'END'
<input_template>
    <file_info>
    </file_info>
    <file_info>
        <physical_name>table_1</physical_name>
        <generate_locally/>
        <sticky/>
    </file_info>
    <workunit>
        <file_ref>
            <open_name>in</open_name>
            <copy_file/>
        </file_ref>
        <file_ref>
            <open_name>table</open_name>
            <optional/>
        </file_ref>
    </workunit>
</input_template>
END
jobs_new 1 make --min_quorum 1 --target_nresults 1 \
	--result_template templates/make_out --command_line "--make table"
project_up
client_up alice "$(account_new alice@example.org Alice)"
back() { # COUNT
	client_update alice
	sleep 2
	equals "$1" "SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome = 1"
}
promise_in 90 "the first job comes back" back 1
table=$T/client_alice/projects/127.0.0.1_${HTTP_PORT}_local/table_1
promise "what it made is on the client" \
	grep -q "HELLO FROM WORKUNIT 1 OF MAKE" "$table"
promise "and was not uploaded" test -z \
	"$(find "$PROJECT/upload" "$PROJECT/results" -name 'table*' -print -quit)"
jobs_new 1 use --min_quorum 1 --target_nresults 1 \
	--wu_template templates/use_in --command_line "--append table"
promise_in 90 "the second job comes back" back 2
promise_in 60 "both are assimilated" equals 2 "SELECT COUNT(*) FROM workunit
	WHERE assimilate_state = 2 AND canonical_resultid <> 0"
promise "the second with its own input" \
	grep -qr "HELLO FROM WORKUNIT 1 OF USE" "$PROJECT/results"
both() {
	grep -lr "HELLO FROM WORKUNIT 1 OF USE" "$PROJECT/results" |
		xargs grep -q "HELLO FROM WORKUNIT 1 OF MAKE"
}
promise "and what the first had made" both
promise "the file stays for the next one" test -s "$table"
done_promising
