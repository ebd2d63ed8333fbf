#!/bin/bash
# t0710-hostile-text.sh - SQL, markup, controls and broken UTF-8 in each text that
# a client sends: stored as itself or repaired by rule, and harmless wherever it
# turns up later: rows, replies, archives, logs.
. "$(dirname "$0")/../lib/bare.sh"

bare_new text
bare_app
bare_user 7 alice $ALICE
bare_host 17 7
bare_jobs 14
sql "UPDATE result SET server_state = 4, hostid = 17, userid = 7, app_version_id = 11,
	sent_time = UNIX_TIMESTAMP() - 1000, report_deadline = UNIX_TIMESTAMP() + 86400"
bare_config "<debug_request_details/><debug_request_headers/><debug_handle_results/>
	<debug_user_messages/><debug_client_files/><sched_debug_level>4</sched_debug_level>"
feeder_up
raw() { # SQL: bytes as they are
	mariadb_client "$T/db" --raw --batch --skip-column-names "$DB_NAME" -e "$1"
}

# ---- each text of a computer ----
# What is sent (printf codes) and what is stored of it.
fields="domain_name p_vendor p_model os_name os_version product_name"
before=$(sql "CHECKSUM TABLE user, app, app_version, workunit, result, team" | md5sum)
seqno=1
while IFS='|' read -r sent want; do
	want=$(printf "${want:-$sent}")
	sent=$(printf "$sent.") # the dot keeps trailing newlines
	request hostid=17 seqno=$((++seqno)) work=0 secs=
	sed -i 's|</host_info>|<product_name>x</product_name></host_info>|' "$T/req"
	FIELDS=$fields SENT=${sent%.} perl -pi -e '
		BEGIN { %is = map { $_ => 1 } split / /, $ENV{FIELDS} }
		s{<(\w+)>[^<]*</}{$is{$1} ? "<$1>$ENV{SENT}</" : $&}e' "$T/req"
	rpc "$T/req"
	promise "$(printf '%s' "${sent%.}" | tr -cd ' -~'): is answered" \
		grep -q '^user_name alice' "$T/reply.txt"
	for field in $fields; do
		same "$want" "$(raw "SELECT $field FROM host WHERE id = 17")" || break
	done
	promise "$(printf '%s' "${sent%.}" | tr -cd ' -~'): is stored as itself, in all fields" \
		same "$want" "$(raw "SELECT $field FROM host WHERE id = 17")"
done <<'END'
'
"
\\\\
'; DROP TABLE host; --
' OR ''='
%%s%%n%%99999d
${x}$(x)`x`
/* */ # --
a&lt;script&gt;b|a<script>b
a&amp;lt;b|a&lt;b
&xxe;
a\001\002\003\033\037\177b|ab
\377\376|ÿþ
a\300\257b|aÀ¯b
a\303\251\360\237\230\200b
a]]>b
END
promise "nothing else was touched" same "$before" \
	"$(sql "CHECKSUM TABLE user, app, app_version, workunit, result, team" | md5sum)"

# ---- document types and entities ----
bomb='<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
hash=$(printf alice@example.org | md5sum | cut -c1-32)
ask hostid=17 seqno=50 work=0 secs= "$(
	cat <<END
$bomb
<global_preferences>
$bomb
<mod_time>1900000000</mod_time>
<disk_max_used_gb>&b;&c;</disk_max_used_gb>
</global_preferences>
<global_prefs_source_email_hash>$hash</global_prefs_source_email_hash>
END
)"
promise "preferences with entities are read without" grep -q '^user_name alice' "$T/reply.txt"
ask hostid=17 seqno=51 work=0 secs=
promise "and given to other computers without" test \
	"$(grep -c 'root:\|aaaaaaaaaa.*aaaaaaaaaa\|DOCTYPE' "$T/reply.xml")" = 0
promise "in a reply that is well-formed" same 0 "$rpc_status"
cp "$PROJECT/config.xml" "$T/good"
mkdir -p "$PROJECT/templates"
for file in config.xml templates/in plan_class_spec.xml; do
	echo "$bomb<x>&b;&c;</x>" >"$PROJECT/$file"
done
echo '<output_template></output_template>' >"$PROJECT/templates/out"
ask hostid=17 seqno=52
promise "config.xml with entities: the project is down" grep -q '^project_is_down' "$T/reply.txt"
cp "$T/good" "$PROJECT/config.xml"
ask hostid=17 seqno=52
promise "plan classes with entities: there are none" \
	grep -q 'CRITICAL.*plan_class_spec.xml' "$PROJECT/log/scheduler.log"
promise "a client has its answer" grep -q '^user_name alice' "$T/reply.txt"
rm "$PROJECT/plan_class_spec.xml"
(cd "$PROJECT" && "$build/tools/create_work" --appname demo --wu_template templates/in \
	--result_template templates/out --wu_name bomb) >"$T/create.out" 2>&1
promise "a template is refused" grep -q 'templates/in:1: ' "$T/create.out"
promise "and makes no job" equals 0 "SELECT COUNT(*) FROM workunit WHERE name = 'bomb'"
promise "and tells nothing of other files" test "$(grep -c 'root:' "$T/create.out")" = 0

# ---- what applications print ----
report() { # RESULT STDERR: the text in both ways of writing it
	local escaped
	escaped=$(sed 's/&/\&amp;/g; s/</\&lt;/g' <<<"$2")
	ask hostid=17 seqno=$((++seqno)) work=0 secs= "<result><name>$1</name>
<exit_status>1</exit_status><state>3</state>
<stderr_out>
<![CDATA[
<stderr_txt>
$2
</stderr_txt>
]]>
</stderr_out>
<file_info><name>$1_r1_0</name><nbytes>1</nbytes><evil>$escaped</evil></file_info>
</result>"
}
seqno=100
job=5000000000
while IFS= read -r line; do
	job=$((job + 1))
	text=$(printf "$line")
	report "wu_${job}_0" "$text"
	promise "stderr '$(printf '%s' "$line" | cut -c1-40)': is taken" \
		grep -q "^result_ack/name wu_${job}_0" "$T/reply.txt"
	promise "of this result alone" equals 1 \
		"SELECT COUNT(*) FROM result WHERE id = $job AND outcome = 3 AND stderr_out <> ''"
done <<'END'
plain
a ]]> b
</stderr_txt> </stderr_out> </result>
</result><result><name>wu_5000000014_0</name><state>5</state><exit_status>0</exit_status></result>
]]>\\n</stderr_out>\\n<authenticator>x</authenticator>
a\001\033[31m\177b
\377\376\300\257\355\240\200
</result_archive>\n<result_archive>
<!-- <![CDATA[ <?x ?>
&#0; &#1; &#xFFFE; &lt;script&gt; &xxe;
<script>alert(1)</script> <b
'; DROP TABLE result; -- \\\\
END
promise "no report was taken for another job" equals 2 \
	"SELECT COUNT(*) FROM result WHERE server_state = 4"

# ---- in archives ----
sql "UPDATE result SET validate_state = 2, file_delete_state = 2 WHERE server_state = 5;
	UPDATE workunit SET error_mask = 1, assimilate_state = 2, file_delete_state = 2,
	    need_validate = 0, mod_time = '2020-01-01' WHERE id <= 5000000012;
	UPDATE workunit SET name = '</workunit_archive>&<x', mod_time = '2020-01-01' WHERE id = 5000000001"
raw "SELECT CONCAT(REPLACE(stderr_out, '\r', '\n')) FROM result WHERE server_state = 5
	ORDER BY workunitid, id" | tr -s '\n ' >"$T/stderr.want"
(cd "$PROJECT" && "$build/daemons/db_purge" --min_age_days 1 --one_pass) >"$T/purge.out" 2>&1
promise "all are archived and gone" equals 0 "SELECT COUNT(*) FROM result WHERE server_state = 5"
archive=$(find "$PROJECT/archives" -name 'result_archive*' -type f)
"$build/test/system/flat" "$archive" >"$T/archive.txt" 2>&1
promise "the archive is well-formed" same 0 $?
promise "it has a record for each" same 12 "$(grep -c '^ *<result_archive>' "$archive")"
if command -v xmllint >/dev/null; then
	xmllint --xpath '//stderr_out/text()' "$archive" 2>/dev/null |
		perl -pe 's/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&amp;/&/g' | tr -s '\n ' >"$T/stderr.got"
	promise "and each text as it was" same "$(md5sum <"$T/stderr.want")" "$(md5sum <"$T/stderr.got")"
fi
"$build/test/system/flat" "$(find "$PROJECT/archives" -name 'wu_archive*' -type f)" \
	>"$T/wu.txt" 2>&1
promise "so is that of the workunits" same 0 $?
promise "whose names are text" grep -qF '</workunit_archive>&<x' "$T/wu.txt"

# ---- in replies ----
evil='</user_name><code_sign_key>x</code_sign_key><message priority="high">&'
sql "INSERT INTO team SET id = 3, name = '$evil', userid = 7; UPDATE user SET name = '$evil', teamid = 3"
ask hostid=17 seqno=200 work=0 secs=
promise "names of users and teams are text" same "$evil $evil" \
	"$(reply_of user_name) $(reply_of team_name)"
promise "and no elements" test "$(grep -c '^message high\|^code_sign_key x' "$T/reply.txt")" = 0
report 'wu_x"]]&gt;&lt;/message>&amp;' x
promise "names of results too" grep -qF 'result_ack/name wu_x"]]></message>&' "$T/reply.txt"

# ---- in logs ----
forged=$'x\n2026-01-01 00:00:00.0000 [CRITICAL] forged\033[31m\302\2332J\342\200\256'
HTTP_USER_AGENT=$forged HTTP_X_FORWARDED_FOR=$forged CONTENT_TYPE=$forged \
	ask hostid=17 seqno=201 work=0 secs= "name=$forged" "<result><name>$forged</name></result>
<other_results><other_result><name>$forged</name></other_result></other_results>
<file_info><name>$forged</name><nbytes>1</nbytes></file_info>"
printf '<data_server_request>\n<file_upload>\n<name>\033\302\233x</name>\n<nbytes>1</nbytes>\n<data>\nx' >"$T/up"
upload "$T/up"
ask "key=$ALICE"0 hostid=17
log=$PROJECT/log/scheduler.log
cat "$PROJECT"/log/*.log >"$T/all.log"
promise "the forged line is in the log" grep -q 'forged' "$log"
promise "as part of others" test "$(grep -c '^2026-01-01 00:00:00.0000 \[CRITICAL\]' "$T/all.log")" = 0
promise "no log holds what a terminal obeys" test \
	"$(LC_ALL=C grep -c $'[\001-\010\013-\037\177]\|\302[\200-\237]\|\342\200\256' "$T/all.log")" = 0
promise "a log is UTF-8" same "$(iconv -f UTF-8 -t UTF-8 "$T/all.log" | md5sum)" "$(md5sum <"$T/all.log")"
secrets="$ALICE\|hash of alice\|alice@example"
promise "no log holds a key, a password hash or an address" \
	test "$(grep -c "$secrets\|$DB_PASSWD" "$T/all.log")" = 0
for table in $(sql "SHOW TABLES" | grep -vx user); do
	raw "SELECT * FROM \`$table\`"
done >"$T/dump"
raw "SELECT UNCOMPRESS(facts) FROM x_host_request" >>"$T/dump"
promise "tables are read" grep -q 'wu_5000000014_0' "$T/dump"
find "$PROJECT/archives" -type f -exec cat {} + >>"$T/dump"
promise "no archive does, and no table but that of the users" \
	test "$(grep -c "$secrets" "$T/dump")" = 0

# ---- afterwards ----
sql "UPDATE workunit SET transition_time = UNIX_TIMESTAMP() + 3600"
done_promising
