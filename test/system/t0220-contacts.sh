#!/bin/bash
# t0220-contacts.sh - what surrounds the work: clients that are not served,
# what a reply carries besides jobs, addresses, copies for operators.
. "$(dirname "$0")/../lib/bare.sh"

bare_new contacts
bare_app
bare_user 7 alice $ALICE
bare_host 17 7 "rpc_time = 0"
feeder_up

delay() { # SECONDS: the reply's delay
	grep -q "^request_delay $1[.]" "$T/reply.txt" && return
	grep '^request_delay' "$T/reply.txt" | sed 's/^/# /'
	return 1
}

priority() { # low|notice TEXT
	grep -q "^message .*priority=\"$1\"[^\"]*>.*$2" "$T/reply.xml" ||
		grep -q "<message priority=\"$1\">.*$2" "$T/reply.xml"
}

# One request more of host 17, a second after the last one.
seqno=1
contact() {
	seqno=$((seqno + 1))
	ask "seqno=$seqno" "$@"
}

no_message() { # TEXT
	! grep -q "^message .*$1" "$T/reply.txt"
}

report='<result><name>nobodys_0</name><state>5</state><exit_status>0</exit_status></result>'

# ---- a browser ----
rpc /dev/null GET
promise "a browser is told whom this address is for" says "for BOINC clients"

# ---- systems and CPUs that are banned ----
bare_config "<ban_os>^Linux Debian	12</ban_os><ban_cpu>^Genuine.*	Old CPU</ban_cpu>"
before=$(sql "SELECT rpc_time FROM host WHERE id = 17")
contact
promise "a banned system is told so" says "operating system, Linux Debian 12"
promise "as a notice" priority notice "operating system"
promise "and stays away for a day" delay 86400
promise "it costs no look at its record" \
	equals "$before" "SELECT rpc_time FROM host WHERE id = 17"
contact "$report"
promise "but what it reports is acknowledged" same nobodys_0 "$(reply_of result_ack/name)"
promise "and no work is sent" says "operating system"
bare_config "<ban_os>^Linux Debian	11</ban_os><ban_cpu>^Genuine.*	Example CPU</ban_cpu>"
contact
promise "a banned CPU likewise" says "CPU, GenuineExample Example CPU"
promise "for a day too" delay 86400
# ---- versions ----
bare_config "<min_core_client_version>72100</min_core_client_version>"
contact
promise "a client that is too old is told which version to install" says "7.21.0"
promise "and stays away for a day" delay 86400
contact version=7.21.0
promise "exactly this version is served" same alice "$(reply_of user_name)"

announced() { # SECONDS from now
	bare_config "<min_core_client_version_announced>80000</min_core_client_version_announced>
		<min_core_client_upgrade_deadline>$(($(date +%s) + $1))</min_core_client_upgrade_deadline>"
}
announced $((5 * 86400 + 600))
contact
promise "an announced version is told in time" says "In 5 days .* 8.0.0"
promise "in the log only" priority low "In 5 days"
promise "and the client is served" same alice "$(reply_of user_name)"
announced $((86400 + 600))
contact
promise "in the last three days as a notice" priority notice "In 1 day "
announced $((7200 + 600))
contact
promise "in the end by the hour" priority notice "In 2 hours"
contact version=8.0.0
promise "not to who has it" no_message "In 2 hours"
announced -5
contact
promise "nor after the date" no_message "8[.]0[.]0"

# ---- what the client does not say ----
bare_config ""
request "seqno=$((seqno += 1))"
sed -i '/<p_vendor>/d; /<os_name>/d' "$T/req"
rpc "$T/req"
promise "a missing CPU is noticed" says "does not tell the kind of CPU"
promise "a missing system too" says "does not tell the operating system"
promise "and the client is served" same alice "$(reply_of user_name)"

# ---- too soon ----
bare_jobs 1
feeder_fill
bare_config "<min_sendwork_interval>600</min_sendwork_interval>"
sql "UPDATE host SET rpc_time = UNIX_TIMESTAMP() - 10 WHERE id = 17"
contact "$report"
promise "who asks too soon is told" says "too recent"
promise "its reports are acknowledged" same nobodys_0 "$(reply_of result_ack/name)"
promise "it gets no work" sends 0
promise "and waits 1.01 times the interval" delay 606
promise "the message says the same" says "again in 606 s"
sql "UPDATE host SET rpc_time = UNIX_TIMESTAMP() - 600 WHERE id = 17"
contact
promise "exactly the interval is not too soon" sends 1
promise "and the delay is asked for all the same" delay 606
bare_config "<min_sendwork_interval>5</min_sendwork_interval><next_rpc_delay>7200</next_rpc_delay>"
contact
promise "a short interval is one second more" delay 6
promise "next_rpc_delay is passed on" same 7200.000000 "$(reply_of next_rpc_delay)"

# ---- no work, no database ----
bare_config "<nowork_skip>1</nowork_skip>"
sql "UPDATE host SET rpc_time = 1000 WHERE id = 17"
contact
promise "nowork_skip: there is no work" says "none at the moment"
promise "and nobody asked the database" equals 1000 \
	"SELECT rpc_time FROM host WHERE id = 17"
contact "$report"
promise "but a report is taken" same nobodys_0 "$(reply_of result_ack/name)"
contact work=0 secs=0
promise "and who wants no work is welcome" same alice "$(reply_of user_name)"
ask hostid=0 seqno=0 name=new cpid=aa112233445566778899aabbccddeeff
promise "a new host gets its record" equals 2 "SELECT COUNT(*) FROM host"

# ---- platforms ----
bare_config ""
alt='<alt_platform><name>windows_intelx86</name></alt_platform>
<alt_platform><name>'$platform'</name></alt_platform>'
bare_jobs 1
feeder_fill
contact platform_name=riscv64-unknown-plan9 "$alt"
promise "an unknown primary platform with a known alternative gets work" sends 1
promise "for the alternative" same "$platform" "$(reply_of app_version/platform)"
contact platform_name=riscv64-unknown-plan9
promise "without one it is told which platform is unknown" \
	says "riscv64-unknown-plan9"
promise "and stays away for a day" delay 86400

# ---- names full of quotes ----
name=$(printf "\"'%.0s" $(seq 1 127))
contact "name=$name"
promise "a host name of 254 quotes is stored whole" equals 254 \
	"SELECT CHAR_LENGTH(domain_name) FROM host WHERE id = 17"
contact "name=${name}xyz"
promise "a longer one is cut to what the column holds" equals 254 \
	"SELECT CHAR_LENGTH(domain_name) FROM host WHERE id = 17"

# ---- what the computer is besides ----
gpus='<coprocs><coproc_cuda><count>2</count><name>GeForce "X"</name>
<peak_flops>3e12</peak_flops><totalGlobalMem>8e9</totalGlobalMem>
<drvVersion>53512</drvVersion></coproc_cuda></coprocs>'
contact "$gpus"
promise "GPUs are counted, with their speed" equals '2 6000000000000' \
	"SELECT CONCAT_WS(' ', p_ngpus, ROUND(p_gpu_fpops)) FROM host WHERE id = 17"
promise "the rest is told as JSON" equals '1 GeForce "X" 2 7.20.5' \
	"SELECT CONCAT_WS(' ', JSON_VALID(misc), JSON_VALUE(misc, '\$.gpus[0].model'),
	JSON_VALUE(misc, '\$.gpus[0].count'), JSON_VALUE(misc, '\$.client_version'))
	FROM host WHERE id = 17"
contact
promise "and follows what changes" equals '1 0' "SELECT CONCAT_WS(' ', JSON_VALID(misc),
	JSON_LENGTH(misc, '\$.gpus')) FROM host WHERE id = 17"

# ---- preferences of a venue ----
prefs() { # MOD_TIME MAIN HOME: how much memory may be used, %
	echo "<global_preferences>
<mod_time>$1</mod_time>
<ram_max_used_busy_pct>$2</ram_max_used_busy_pct>
<ram_max_used_idle_pct>$2</ram_max_used_idle_pct>
<venue name=\"home\">
<ram_max_used_busy_pct>$3</ram_max_used_busy_pct>
<ram_max_used_idle_pct>$3</ram_max_used_idle_pct>
</venue>
</global_preferences>"
}
bare_jobs 2 "rsc_memory_bound = 4e9"
feeder_fill
sql "UPDATE user SET global_prefs = '$(prefs 1700000000 50 1)' WHERE id = 7;
	UPDATE host SET venue = 'home' WHERE id = 17"
contact
promise "a host at home may use what is allowed there" sends 0
promise "the volunteer's document is sent, all of it" same "50 1" \
	"$(reply_of global_preferences/ram_max_used_idle_pct) $(reply_of global_preferences/venue/ram_max_used_idle_pct)"
promise "and its venue" same home "$(reply_of host_venue)"
hash=$(printf alice@example.org | md5sum | cut -c1-32)
source="<global_prefs_source_email_hash>$hash</global_prefs_source_email_hash>"
contact "$(prefs 1700000001 1 50)$source"
promise "a newer one of the client counts at once" sends 1
promise "is stored" equals 1 \
	"SELECT global_prefs LIKE '%1700000001%' FROM user WHERE id = 7"
promise "and not sent back" same '' "$(reply_of global_preferences/mod_time)"
sql "UPDATE host SET venue = 'work' WHERE id = 17"
contact
promise "elsewhere the main part holds" sends 0
contact "<working_global_preferences>$(prefs 1600000000 90 90)</working_global_preferences>"
promise "what is in force on the host decides, however old" sends 1
sql "UPDATE host SET venue = '' WHERE id = 17; UPDATE user SET global_prefs = NULL"
contact "$(prefs 0 50 50)$source"
promise "any document is better than none" equals 1 \
	"SELECT global_prefs LIKE '%<mod_time>0</mod_time>%' FROM user WHERE id = 7"

# ---- messages of jobs, and to them ----
trickle='<msg_from_host>
<result_name>wu_1_0</result_name>
<time>1700000000</time>
<variety>progress</variety>
<text>
42 <of> 100
</text>
</msg_from_host>'
contact "$trickle"
promise "a message of a job is stored and acknowledged" same 1 \
	"$(grep -c '^message_ack' "$T/reply.txt")"
promise "with its variety" equals '17 progress 0' \
	"SELECT CONCAT_WS(' ', hostid, variety, handled) FROM msg_from_host"
contact "$trickle"
promise "sent again it is acknowledged again" grep -q '^message_ack' "$T/reply.txt"
promise "and not stored twice" equals 1 "SELECT COUNT(*) FROM msg_from_host"
sql "INSERT INTO msg_to_host SET create_time = 1, hostid = 17, variety = 'x', handled = 0,
	xml = '<trickle_down>\n<result_name>wu_1_0</result_name>\n</trickle_down>\n'"
contact
promise "messages are delivered if the project wants it" same '' \
	"$(reply_of trickle_down/result_name)"
bare_config "<msg_to_host/>"
contact
promise "then they are" same wu_1_0 "$(reply_of trickle_down/result_name)"
contact
promise "once" same '' "$(reply_of trickle_down/result_name)"
bare_config ""

# ---- sticky files ----
printf '^old_[0-9]+$\n(\n\n[.]tmp$\n' >"$PROJECT/file_delete_regex"
files='<file_info><name>old_1</name><nbytes>5</nbytes><status>1</status></file_info>
<file_info><name>older_1</name><nbytes>5</nbytes></file_info>
<file_info><name>x.tmp</name><nbytes>5</nbytes></file_info>'
contact "$files"
promise "files that match are deleted, line by line" \
	same "old_1 x.tmp" "$(reply_of delete_file_info | xargs)"
promise "a bad line is told with its number" \
	grep -q "file_delete_regex:2:" "$PROJECT/log/scheduler.log"
rm "$PROJECT/file_delete_regex"
contact "$files"
promise "without the file none is" same '' "$(reply_of delete_file_info)"

# ---- links, files of the project ----
cat >"$PROJECT/gui_urls.xml" <<'END'
<gui_urls>
    <gui_url>
        <name>Tasks of <user_name/></name>
        <url><master_url/>results.php?userid=<userid/>&amp;hostid=<hostid/></url>
    </gui_url>
    <ifteam>
    <gui_url>
        <name>Team <team_name/></name>
        <url><master_url/>team.php?id=<teamid/></url>
    </gui_url>
    </ifteam>
</gui_urls>
END
cat >"$PROJECT/project_files.xml" <<'END'
<file_info>
    <name>stat_icon_01.png</name>
    <url>http://127.0.0.1/stat_icon_01.png</url>
</file_info>
<project_files>
    <file_ref>
        <file_name>stat_icon_01.png</file_name>
        <open_name>stat_icon</open_name>
    </file_ref>
</project_files>
END
contact
promise "links are filled in" same "Tasks of alice" "$(reply_of gui_urls/gui_url/name)"
promise "with this volunteer's numbers" \
	same "http://127.0.0.1/contacts/results.php?userid=7&hostid=17" \
	"$(reply_of gui_urls/gui_url/url)"
promise "files of the project are sent" \
	same stat_icon "$(reply_of project_files/file_ref/open_name)"
sql "INSERT INTO team SET id = 4, userid = 7, name = 'A & B';
	UPDATE user SET teamid = 4 WHERE id = 7"
contact
promise "a member sees the team's" \
	same "Tasks of alice Team A & B" "$(reply_of gui_urls/gui_url/name | xargs)"
echo '<gui_urls><gui_url>' >"$PROJECT/gui_urls.xml"
contact
promise "a file that is no XML is left out, and the reply is whole" \
	same alice "$(reply_of user_name)"
promise "the operator reads of it" \
	grep -q "gui_urls.xml is left out" "$PROJECT/log/scheduler.log"
rm "$PROJECT/gui_urls.xml" "$PROJECT/project_files.xml"

# ---- flags of config.xml, in the reply ----
bare_config "<symstore>http://symbols.example/</symstore><non_cpu_intensive/>
	<strict_memory_bound/><verify_files_on_app_start/><ended>1</ended>
	<workload_sim/>"
contact
promise "flags of the project are passed on, in the reference's order" same \
	"ended send_full_workload symstore userid non_cpu_intensive strict_memory_bound verify_files_on_app_start no_rsc_apps" \
	"$(awk '{ sub("/.*", "", $1); if ($1 ~ /^(ended|send_full|symstore|userid|non_cpu|strict|verify|no_rsc)/ && $1 != last) print $1; last = $1 }' "$T/reply.txt" | xargs)"
promise "types of processors without versions are told" \
	same "NVIDIA ATI intel_gpu apple_gpu" "$(reply_of no_rsc_apps | xargs)"
contact version=7.0.39
promise "old clients are told in their way" \
	same "0 1 1" "$(reply_of no_cpu_apps) $(reply_of no_cuda_apps) $(reply_of no_ati_apps)"

# ---- mirrors ----
bare_config "<replace_download_url_by_timezone>http://127.0.0.1/download</replace_download_url_by_timezone>
	<max_download_urls_per_file>2</max_download_urls_per_file>"
printf '0 http://greenwich.example/dl\n3600 http://berlin.example/dl\n-18000 http://boston.example/dl\n' \
	>"$PROJECT/download_servers"
bare_jobs 1
feeder_fill
request "seqno=$((seqno += 1))"
sed -i 's|<host_info>|<host_info><timezone>7200</timezone>|' "$T/req"
rpc "$T/req"
promise "files come from the two servers nearest to the host" \
	same "http://berlin.example/dl/demo_100 http://greenwich.example/dl/demo_100" \
	"$(reply_of file_info/url | xargs)"
rm "$PROJECT/download_servers"

# ---- availability logs ----
now=$(date +%s)
log=$PROJECT/time_stats_log/17/17
bare_config ""
contact "<time_stats_log>
$((now - 9)) power_on
</time_stats_log>"
promise "a log that nobody asked for is not kept" test ! -e "$log"
promise "and none is asked for" same '' "$(reply_of send_time_stats_log)"
bare_config "<request_time_stats_log/>"
contact
promise "a log is asked for from the beginning" same 1 "$(reply_of send_time_stats_log)"
contact "<time_stats_log>
$((now - 9)).5 power_on
<rubbish>
$((now - 5)) net_up
$((now + 999999)) not_yet
</time_stats_log>"
promise "what comes is kept, but for rubbish and the future" \
	same "$((now - 9)).5 power_on $((now - 5)) net_up" "$(xargs <"$log")"
promise "next time the rest is asked for" \
	same $((now - 5)) "$(reply_of send_time_stats_log)"
contact "<time_stats_log>
$((now - 5)) net_up
$((now - 4)) power_off
</time_stats_log>"
promise "no line is kept twice" same 3 "$(wc -l <"$log")"

# ---- wrong keys, by address ----
bare_config "<max_key_failures>3</max_key_failures>"
wrong() {
	ask hostid=0 key=00000000000000000000000000000000
}
for i in 1 2 3; do wrong; done
promise "three wrong keys are three refusals" says "account key is missing or wrong"
promise "they are counted" equals '192.0.2.7 3' \
	"SELECT CONCAT_WS(' ', address, failures) FROM x_key_failure"
wrong
promise "the fourth is not looked up" says "Too many wrong account keys"
promise "and told to wait an hour" delay 3600
ask hostid=0 seqno=0 name=another cpid=bb112233445566778899aabbccddeeff
promise "nor is a right one of a new host" says "Too many wrong account keys"
contact
promise "a computer with its own id and key goes on" same alice "$(reply_of user_name)"
sql "UPDATE x_key_failure SET since = UNIX_TIMESTAMP() - 3600"
wrong
promise "after an hour it is counted anew" equals 1 \
	"SELECT failures FROM x_key_failure"

# ---- proxies ----
export HTTP_X_FORWARDED_FOR='203.0.113.9, 198.51.100.5'
bare_config ""
contact
promise "a stranger's X-Forwarded-For is not believed" equals 192.0.2.7 \
	"SELECT external_ip_addr FROM host WHERE id = 17"
bare_config "<trusted_proxy>192.0.2.0/24</trusted_proxy>"
contact
promise "that of a proxy of ours is, its last entry" equals 198.51.100.5 \
	"SELECT external_ip_addr FROM host WHERE id = 17"
unset HTTP_X_FORWARDED_FOR

# ---- copies for operators ----
bare_config "<debug_req_reply_dir>kept</debug_req_reply_dir><debug_user_messages/>
	<debug_request_details/><debug_request_headers/><debug_client_files/>"
contact "$files"
promise "the request is kept" cmp -s "$T/req" "$PROJECT"/kept/*_0_sched_request.xml
promise "and the reply" cmp -s "$T/reply.xml" "$PROJECT"/kept/*_0_sched_reply.xml
promise "and its lines of the log" grep -q "HOST#17" "$PROJECT"/kept/*_0_sched.log
promise "for the project's account alone" \
	same 600 "$(stat -c %a "$PROJECT"/kept/*_0_sched_request.xml)"
promise "the log tells what was asked" \
	grep -q "sequence $seqno, platform $platform" "$PROJECT/log/scheduler.log"
promise "which files the client has" \
	grep -q "HOST#17. has file old_1, 5 bytes" "$PROJECT/log/scheduler.log"
promise "and what the volunteer was told" \
	grep -q "HOST#17. is told: No tasks" "$PROJECT/log/scheduler.log"
bare_config ""
touch "$PROJECT/debug_sched"
contact
promise "a file debug_sched does it without a new configuration" \
	test -s "$(echo "$PROJECT"/log/requests/*_0_sched_reply.xml)"
rm "$PROJECT/debug_sched"

# ---- bytes that are no request ----
echo '<scheduler_request><hostid>1' >"$T/req"
rpc "$T/req"
promise "a request that breaks off is told so" says "could not be read"

# ---- preferences that no XML reader can read ----
sql "UPDATE user SET project_prefs =
	'<project_preferences><a></project_preferences></scheduler_reply>'"
contact work=0 secs=0
promise "unreadable project preferences are not passed on" \
	same 100 "$(reply_of project_preferences/resource_share)"
promise "the operator is told" grep -q 'USER#7.*project preferences are not XML' \
	"$PROJECT/log/scheduler.log"
sql "UPDATE user SET project_prefs = ''"

done_promising
