#!/bin/bash
# t0232-kinds-of-clients.sh - what clients of all ages, on all kinds of
# computers, are sent: exactly these jobs, in these versions, with these
# messages.  The requests are captured ones, cut to what each kind sends.
. "$(dirname "$0")/../lib/bare.sh"

bare_new kinds
bare_app
bare_user 7 alice $ALICE
bare_host 17 7
# no version is tried at random
sure="<version_select_random_factor>0</version_select_random_factor>"
bare_config "$sure"
captured=$top/test/data/requests/sched_02_work_request_7.20.5.xml
captured_8=$top/test/data/requests/sched_20_first_contact_8.3.0.xml

# Applications: demo for three platforms, and four that ask for something.
sql "INSERT INTO platform (id, name) VALUES (2, 'i686-pc-linux-gnu'),
	    (3, 'aarch64-unknown-linux-gnu'), (4, 'anonymous');
	INSERT INTO app (id, name, user_friendly_name) VALUES (2, 'cuda', 'Cuda'),
	    (3, 'mt', 'Threads'), (4, 'young', 'Young'), (5, 'many', 'Many');
	INSERT INTO app_version (id, appid, platformid, version_num, plan_class,
	    min_core_version, xml_doc)
	    SELECT x.id, x.appid, x.platformid, 100, x.class, x.core, REPLACE(v.xml_doc,
	    '<app_name>demo', CONCAT('<app_name>', a.name))
	    FROM (SELECT 12 id, 1 appid, 2 platformid, '' class, 0 core
	    UNION SELECT 13, 1, 3, '', 0 UNION SELECT 21, 2, 1, 'cuda', 0
	    UNION SELECT 31, 3, 1, 'mt', 0 UNION SELECT 41, 4, 1, '', 70000
	    UNION SELECT 51, 5, 1, 'many', 0) x
	    JOIN app a ON a.id = x.appid JOIN app_version v ON v.id = 11"
cat >"$PROJECT/plan_class_spec.xml" <<-END
	<plan_classes>
	  <plan_class><name>mt</name><min_ncpus>2</min_ncpus>
	    <max_threads>64</max_threads><nthreads_cmdline/></plan_class>
	  <plan_class><name>many</name><min_ncpus>16</min_ncpus></plan_class>
	  <plan_class><name>cuda</name><gpu_type>nvidia</gpu_type><cuda/>
	    <min_gpu_ram_mb>256</min_gpu_ram_mb></plan_class>
	</plan_classes>
END
bare_jobs 7
# demo_1 demo_2, big (3.5 GB, for 64-bit programs), cuda, mt, young, many
sql "UPDATE workunit SET name = ELT(id - 5000000000, 'demo_1', 'demo_2', 'big',
	    'cuda', 'mt', 'young', 'many'),
	    appid = ELT(id - 5000000000, 1, 1, 1, 2, 3, 4, 5);
	UPDATE workunit SET rsc_memory_bound = 3.5e9 WHERE name = 'big';
	UPDATE result r JOIN workunit w ON w.id = r.workunitid
	    SET r.name = CONCAT(w.name, '_0'), r.appid = w.appid"
feeder_up
feeder_fill

# All jobs are there again.  A feeder passes over a result that has just left its
# slot, so this one begins anew.
again() {
	feeder_down
	sql "UPDATE result SET server_state = 2, hostid = 0, userid = 0,
		    sent_time = 0, report_deadline = 0, app_version_id = 0;
		UPDATE workunit SET app_version_id = 0, transition_time = 2147483647;
		DELETE FROM host_app_version;
		UPDATE host SET rpc_seqno = 0, rpc_time = 1700000000"
	feeder_up
	feeder_fill
}

# from FILE EDIT…: that request, edited with sed, asking for much work of all
# CPUs; the jobs that are sent for it, sorted.
from() {
	local file=$1 edit=()
	shift
	for word in "$@"; do
		edit+=(-e "$word")
	done
	again
	sed -e 's|<hostid>.*|<hostid>17</hostid>|' \
		-e 's|<\(work_req_seconds\)>.*|<\1>500000</\1>|' \
		-e 's|<\(cpu_req_secs\)>.*|<\1>500000</\1>|' \
		-e 's|<max_ncpus_pct>.*|<max_ncpus_pct>100</max_ncpus_pct>|' \
		-e '/<other_result>/,/<\/other_result>/d' \
		-e '/<app_version>/,/<\/app_version>/d' \
		"${edit[@]}" "$file" >"$T/req"
	rpc "$T/req"
	got=$(reply_of result/name | sed 's/_0$//' | sort | xargs)
}

version() { # MAJOR MINOR RELEASE: edits
	edits=("s|\(core_client_major_version>\).*|\1$1</core_client_major_version>|"
		"s|\(core_client_minor_version>\).*|\1$2</core_client_minor_version>|"
		"s|\(core_client_release>\).*|\1$3</core_client_release>|")
}
drop() { # ELEMENT…: edits that leave these out, with what is in them
	for element in "$@"; do
		edits+=("/<$element>.*<\/$element>/d" "/<$element>/,/<\/$element>/d")
	done
}
# What came with which client: no plan classes and resources before 6.x, no
# lists of jobs and platforms before 5.x.
not_in_6="session_active_duration session_gpu_active_duration wsl_available"
not_in_5="$not_in_6 allow_multiple_clients client_cap_plan_class cpu_req_secs
	cpu_req_instances gpu_active_frac app_versions p_features sandbox"
not_in_4="$not_in_5 alt_platform working_global_preferences other_results
	estimated_delay rrs_fraction prrs_fraction time_stats disk_usage"

gets() { # NAMES
	http_200 && same "$1" "$got"
}
says_nothing() {
	same '' "$(reply_of 'message')"
}
versions_are() { # IDS, of what is in progress
	equals "$1" "SELECT GROUP_CONCAT(DISTINCT app_version_id
		ORDER BY app_version_id) FROM result WHERE server_state = 4"
}
none() { # TEXT
	sends 0 && says "$1"
}

# ---- clients of all ages, two cores ----
from "$captured"
promise "client 7.20: what runs on two cores" gets "big demo_1 demo_2 mt young"
promise "and no message" says_nothing
promise "each in its version" versions_are 11,31,41
promise "mt uses both cores" same "--nthreads 2" "$(reply_of app_version/cmdline)"
from "$captured_8"
promise "client 8.3: the same" gets "big demo_1 demo_2 mt young"
promise "and no message" says_nothing
version 6 12 34
# shellcheck disable=SC2086
drop $not_in_6
from "$captured" "${edits[@]}"
promise "client 6.12: not what needs client 7" gets "big demo_1 demo_2 mt"
promise "and no message" says_nothing
version 5 10 45
# shellcheck disable=SC2086
drop $not_in_5
from "$captured" "${edits[@]}"
promise "client 5.10: nothing with a plan class" gets "big demo_1 demo_2"
promise "and no message" says_nothing
version 4 19 0
# shellcheck disable=SC2086
drop $not_in_4
edits+=("s|<host_info>|<time_stats><on_frac>1</on_frac></time_stats>\n&|")
from "$captured" "${edits[@]}"
promise "client 4.19: likewise" gets "big demo_1 demo_2"
promise "and no message" says_nothing
promise "it is not told a plan class" same '' "$(reply_of app_version/plan_class)"

# ---- 1 to 256 cores ----
cores() { from "$captured" "s|<p_ncpus>.*|<p_ncpus>$1</p_ncpus>|"; }
cores 1
promise "one core: nothing for several" gets "big demo_1 demo_2 young"
cores 15
promise "15 cores: not what needs 16" gets "big demo_1 demo_2 mt young"
cores 16
promise "16 cores: everything but GPUs" gets "big demo_1 demo_2 many mt young"
promise "mt uses 16" same "--nthreads 16" "$(reply_of app_version/cmdline)"
cores 256
promise "256 cores: the same" gets "big demo_1 demo_2 many mt young"
promise "as far as max_ncpus goes: 64" same "--nthreads 64" \
	"$(reply_of app_version/cmdline)"

# ---- not measured ----
for fpops in 0 1000000000.000000; do
	from "$captured" "s|<p_fpops>.*|<p_fpops>$fpops</p_fpops>|"
	promise "benchmark $fpops: as any other" gets "big demo_1 demo_2 mt young"
	promise "as fast as 1e9 ($fpops)" same "1000000000 1000000000 2000000000" \
		"$(reply_of app_version/flops | sed 's/\..*//' | sort | xargs)"
done

# ---- a GPU only ----
gpu_alone=("s|<\(cpu_req_secs\)>.*|<\1>0</\1>|"
	"s|<\(work_req_seconds\)>.*|<\1>0</\1>|"
	"s|<other_results>|<coprocs><coproc_cuda><count>2</count><name>Example</name>\
<available_ram>2e9</available_ram><have_cuda>1</have_cuda>\
<req_secs>500000</req_secs><req_instances>2</req_instances>\
<estimated_delay>0</estimated_delay><peak_flops>1e12</peak_flops>\
<cudaVersion>12020</cudaVersion><drvVersion>53512</drvVersion>\
<totalGlobalMem>2e9</totalGlobalMem><major>8</major><minor>6</minor>\
</coproc_cuda></coprocs>\n&|")
from "$captured" "${gpu_alone[@]}"
promise "who asks for a GPU alone gets that" gets cuda
promise "told by its name" same "NVIDIA 1.000000" \
	"$(reply_of app_version/coproc/type) $(reply_of app_version/coproc/count)"
version 6 12 34
from "$captured" "${gpu_alone[@]}" "${edits[@]}"
promise "client 6.12 calls it CUDA" same "cuda CUDA" \
	"$got $(reply_of app_version/coproc/type)"
sql "UPDATE user SET project_prefs =
	'<project_preferences><no_cuda>1</no_cuda></project_preferences>'"
from "$captured" "${gpu_alone[@]}"
promise "not against the user's preferences" none "preferences exclude"
sql "UPDATE user SET project_prefs = ''"

# ---- other platforms ----
on() { # PRIMARY [ALTERNATIVE]
	from "$captured" "s|<platform_name>.*|<platform_name>$1</platform_name>|" \
		"s|<name>i686-pc-linux-gnu</name>|<name>${2:-none}</name>|"
}
on aarch64-unknown-linux-gnu
promise "ARM: what there is for it" gets "big demo_1 demo_2"
promise "in that version" versions_are 13
promise "named so" same aarch64-unknown-linux-gnu "$(reply_of app_version/platform)"
on riscv64-unknown-linux-gnu i686-pc-linux-gnu
promise "an unknown platform whose alternative is known: not the job for 64 bits" \
	gets "demo_1 demo_2"
promise "in the version of the alternative" versions_are 12
on riscv64-unknown-linux-gnu
promise "unknown altogether" none "type riscv64-unknown-linux-gnu"
promise "come back tomorrow" grep -q '^request_delay 86400' "$T/reply.txt"
sql "UPDATE app_version SET deprecated = 1 WHERE id <> 12; UPDATE result SET
	server_state = 5, outcome = 5 WHERE name <> 'big_0'"
feeder_down
feeder_up
feeder_fill
again_all=$(declare -f again)
again() {
	sql "UPDATE host SET rpc_seqno = 0"
}
on i686-pc-linux-gnu
promise "the job for 64 bits alone: the reason" none "64-bit program"
eval "$again_all"
sql "UPDATE app_version SET deprecated = 0; UPDATE result SET outcome = 0"
feeder_down
feeder_up

# ---- anonymous platform ----
own() { # APP…: the client has version 300 of these
	local list=
	for app in "$@"; do
		list+="<app_version><app_name>$app</app_name>"
		list+="<version_num>300</version_num>"
		list+="<platform>x86_64-pc-linux-gnu</platform>"
		list+="<avg_ncpus>1</avg_ncpus><flops>2e9</flops></app_version>"
	done
	from "$captured" "s|<platform_name>.*|<platform_name>anonymous</platform_name>|" \
		"s|^<app_versions>|&$list|"
}
own demo
promise "anonymous with one of the applications: its jobs" gets "big demo_1 demo_2"
promise "no program of ours" same '' "$(reply_of app_version/version_num)"
promise "the client's own is named" same "300 300 300" \
	"$(reply_of result/version_num | xargs)"
promise "the database says so" versions_are -2
promise "and counts them for application and processor" equals "1000002 3" \
	"SELECT CONCAT_WS(' ', app_version_id, n_jobs_today) FROM host_app_version"
promise "no message" says_nothing
own demo alien
promise "one that we do not know beside it: named" says "application alien"
promise "the other one works" gets "big demo_1 demo_2"
own alien
promise "only one that we do not know: named, too" says "application alien"
promise "and why there is nothing" none "app_info.xml has no usable version"
own mt young demo
promise "of its own are what it says, not what we think" \
	gets "big demo_1 demo_2 mt young"
# 11 jobs of 0.25e-9 s for each FLOP: 4e9 FLOPS, not 2e9
again
own_statistics() {
	eval "$again_all"
	sql "INSERT INTO host_app_version (host_id, app_version_id, et_n, et_avg)
		VALUES (17, 1000002, 11, 0.25e-9)"
}
again() { own_statistics; }
own demo
promise "if it is faster than it says, the job is told as smaller" same \
	450000000000 "$(reply_of workunit/rsc_fpops_est | head -n 1 | sed 's/\..*//')"
eval "$again_all"
sql "UPDATE app SET homogeneous_app_version = 1 WHERE id = 1"
feeder_down
feeder_up
own demo
promise "own programs are not for results of one version" none "own program"

# ---- results of one version ----
sql "UPDATE result SET server_state = 5, outcome = 5 WHERE name <> 'demo_1_0'"
again() {
	sql "UPDATE result SET server_state = 2, outcome = 0, hostid = 0
		WHERE name = 'demo_1_0'; UPDATE host SET rpc_seqno = 0"
	feeder_down
	feeder_up
	feeder_fill
}
from "$captured"
promise "its first result pins a workunit" equals 11 \
	"SELECT app_version_id FROM workunit WHERE name = 'demo_1'"
sql "INSERT INTO app_version (id, appid, platformid, version_num, plan_class,
	xml_doc) SELECT 14, 1, 1, 101, '', xml_doc FROM app_version WHERE id = 11"
from "$captured"
promise "the next goes to that version, though there is a newer" \
	same "demo_1 100" "$got $(reply_of result/version_num)"
on aarch64-unknown-linux-gnu
promise "and to no other platform" none "not available for this kind"
sql "UPDATE workunit SET app_version_id = 0 WHERE name = 'demo_1'"
from "$captured"
promise "once released it gets the new version" \
	same "demo_1 101" "$got $(reply_of result/version_num)"

# ---- daily quota of host and version ----
sql "UPDATE app SET homogeneous_app_version = 0; UPDATE result SET
	server_state = 5, outcome = 5 WHERE appid <> 1; UPDATE result SET
	server_state = 2, outcome = 0, hostid = 0 WHERE appid = 1;
	UPDATE app_version SET deprecated = 1 WHERE id = 12;
	DELETE FROM host_app_version"
again() { sql "UPDATE host SET rpc_seqno = 0, rpc_time = UNIX_TIMESTAMP()"; }
bare_config "$sure<daily_result_quota>1</daily_result_quota>"
feeder_down
feeder_up
feeder_fill
cores 4
promise "quota 1 and four cores: one job" sends 1
cores 4
promise "and no more today: the limit is told" none "limit of 1 task"
bare_config "$sure"
cores 4
promise "without a quota there is no limit" sends 2

promise "nothing critical was logged" \
	same 0 "$(grep -c CRITICAL "$PROJECT/log/scheduler.log")"
done_promising
