#!/bin/bash
# t0236-equal-hosts.sh - workunits that belong together with one class of hosts,
# one version, or different users: whoever races for them.
. "$(dirname "$0")/../lib/bare.sh"

bare_new equal
bare_app
bare_user 7 alice $ALICE
bare_user 8 bob $BOB
bare_host 17 7
bare_host 18 7
bare_host 19 8
feeder_up

feeder_restart() {
	feeder_down
	feeder_up
}

fresh_jobs() { # COUNT [COLUMN = VALUE, …]: each workunit has two results
	sql "DELETE FROM result; DELETE FROM workunit"
	feeder_restart
	bare_jobs "$@"
	sql "INSERT INTO result (id, name, workunitid, server_state, appid,
		xml_doc_in, size_class) SELECT id + 1000000, CONCAT(name, '_1'), id,
		2, 1, '<result>\n</result>\n', -1 FROM workunit"
	feeder_fill
}

none() { # TEXT: nothing is sent, and the reason is this one, and no other
	sends 0 && says "$1" && same 1 "$(grep -c '^message ' "$T/reply.txt")"
}

# request_as VENDOR MODEL OS [NAME=VALUE…] [XML]
request_as() {
	local vendor=$1 model=$2 os=$3
	shift 3
	request "$@"
	sed -i "s/GenuineExample/$vendor/; s/Example CPU/$model/; s/Linux Debian/$os/" \
		"$T/req"
}

ask_as() {
	request_as "$@"
	rpc "$T/req"
}

# storm REQUESTS FILE…: so many requests, half a dozen at a time, of each file in
# turn.
storm() {
	local each=$(($1 / 6)) worker workers=() files=("${@:2}")
	for worker in 1 2 3 4 5 6; do
		file=${files[$((worker % ${#files[@]}))]}
		size=$(stat -c %s "$file")
		(for _ in $(seq "$each"); do
			REQUEST_METHOD=POST CONTENT_LENGTH=$size \
				"$build/sched/scheduler" <"$file" >/dev/null
		done) &
		workers+=($!)
	done
	wait "${workers[@]}"
}

# ---- classes of equal hosts ----
sql "UPDATE app SET homogeneous_redundancy = 1"
fresh_jobs 2
ask
promise "a host of no class gets nothing" none "the project does not know yours"
ask_as GenuineIntel "Intel(R) Xeon(R) E5" "Linux"
promise "a host of a class gets a job" sends 1
promise "and its workunit belongs to the class: Linux 256, Xeon 11" equals 267 \
	"SELECT hr_class FROM workunit WHERE hr_class <> 0"
ask_as AuthenticAMD "AMD Opteron(tm)" "Linux" hostid=19 key=$BOB secs=1e6
promise "another class gets what is uncommitted: both results" sends 2
promise "Linux 256, Opteron 8" equals 264 \
	"SELECT MAX(hr_class) FROM workunit WHERE hr_class <> 267"
ask_as AuthenticAMD "AMD Opteron(tm)" "Linux" hostid=19 key=$BOB secs=1e6
promise "and is told where the rest went" none "committed to other kinds"
ask_as AuthenticAMD "AMD Opteron(tm)" "Linux" hostid=19 key=$BOB secs=1e6
promise "each time" none "committed to other kinds"
ask_as GenuineIntel "Intel(R) Xeon(R) X5" "Linux" hostid=18
promise "the rest is for the first class" sends 1
sql "UPDATE app SET homogeneous_redundancy = 2"
fresh_jobs 1
ask_as GenuineIntel "Intel(R) Xeon(R) E5" "Linux"
ask_as AuthenticAMD "AMD Opteron(tm)" "Linux" hostid=19 key=$BOB
promise "coarse classes do not tell Intel from AMD" sends 1
promise "Linux 256, Intel 2" equals 258 "SELECT hr_class FROM workunit"

cat >"$PROJECT/hr_classes.xml" <<-END
	<hr_classes>
	  <class> <id>1001</id> <os>Linux</os> <feature>avx2</feature> </class>
	  <class> <id>1002</id> <os>Linux</os> <vendor>Example</vendor> </class>
	</hr_classes>
END
sql "UPDATE app SET homogeneous_redundancy = 3"
fresh_jobs 2
ask
promise "a class of the project's own, by vendor" equals 1002 \
	"SELECT hr_class FROM workunit WHERE hr_class <> 0"
request
sed -i 's|<p_fpops>|<p_features>fpu avx2 sse</p_features><p_fpops>|' "$T/req"
rpc "$T/req"
promise "and by what the processor can do" equals 1001 \
	"SELECT MIN(hr_class) FROM workunit WHERE hr_class <> 0"
echo "<hr_classes><class><os>Linux</os></class></hr_classes>" \
	>"$PROJECT/hr_classes.xml"
ask
promise "a table with a fault sends no work" sends 0
promise "and the log names the line" grep -q 'hr_classes.xml:1: a class needs' \
	"$PROJECT/log/scheduler.log"
rm "$PROJECT/hr_classes.xml"

# Two hosts of different classes ask for two results of each workunit.
sql "UPDATE app SET homogeneous_redundancy = 1"
bare_config "<shmem_work_items>200</shmem_work_items>"
fresh_jobs 60
request_as GenuineIntel "Intel(R) Xeon(R) E5" "Linux" secs=1800
mv "$T/req" "$T/req.intel"
request_as AuthenticAMD "AMD Opteron(tm)" "Linux" hostid=19 key=$BOB secs=1800
mv "$T/req" "$T/req.amd"
storm 120 "$T/req.intel" "$T/req.amd"
promise "both got some" equals 2 \
	"SELECT COUNT(DISTINCT hostid) FROM result WHERE server_state = 4"
promise "no workunit went to two classes" equals 0 "SELECT COUNT(*) FROM
	(SELECT workunitid FROM result WHERE hostid > 0 GROUP BY workunitid
	HAVING COUNT(DISTINCT hostid) > 1) x"
promise "each belongs to the class of its host" equals 0 "SELECT COUNT(*)
	FROM workunit w JOIN result r ON r.workunitid = w.id
	WHERE hostid = 17 AND hr_class <> 267 OR hostid = 19 AND hr_class <> 264"
sql "UPDATE app SET homogeneous_redundancy = 0"

# ---- one version for all results of a workunit ----
sql "UPDATE app SET homogeneous_app_version = 1;
	INSERT INTO platform SET id = 2, name = 'windows_x86_64';
	INSERT INTO app_version (id, appid, platformid, version_num, xml_doc)
	SELECT 12, appid, 2, version_num, xml_doc FROM app_version"
fresh_jobs 1
ask
promise "the first result sets the version" equals 11 \
	"SELECT app_version_id FROM workunit"
ask hostid=19 key=$BOB platform_name=windows_x86_64
promise "a host of another platform gets no other" sends 0
promise "and there is one reason" same 1 "$(grep -c '^message ' "$T/reply.txt")"
ask hostid=18
promise "a host that runs this version does" sends 1
sql "UPDATE app SET homogeneous_app_version = 0"

# ---- two hosts of one user ----
bare_config "<one_result_per_user_per_wu>1</one_result_per_user_per_wu>
	<shmem_work_items>800</shmem_work_items>"
fresh_jobs 300
request hostid=17
mv "$T/req" "$T/req.17"
request hostid=18
mv "$T/req" "$T/req.18"
storm 1000 "$T/req.17" "$T/req.18"
promise "a thousand requests of two hosts of one user: no workunit is shared" \
	equals 0 "SELECT COUNT(*) FROM (SELECT workunitid FROM result
	WHERE userid = 7 GROUP BY workunitid HAVING COUNT(*) > 1) x"
promise "and each workunit went to one of them" equals 300 \
	"SELECT COUNT(*) FROM result WHERE server_state = 4 AND userid = 7"

promise "nothing critical was logged but the fault of the file" same 0 \
	"$(grep CRITICAL "$PROJECT/log/scheduler.log" | grep -vc hr_classes.xml)"

done_promising
