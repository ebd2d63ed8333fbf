#!/bin/bash
# t0252-files-and-sizes.sh - jobs whose input files a host holds, and jobs of its
# size, are sent to it first (dispatch §9.1).
. "$(dirname "$0")/../lib/bare.sh"

bare_new filesize
bare_app
bare_user 7 alice $ALICE
bare_host 17 7
bare_host 18 7

# Jobs are made while no feeder runs, so that none is in the array half made.
again() {
	feeder_down
	: >"$PROJECT/log/feeder.log"
	sql "DELETE FROM result; DELETE FROM workunit"
}
fill() {
	feeder_up
	feeder_fill
}

# Jobs whose input is this file, and a small one of their own.
jobs_of() { # FILE COUNT [PRIORITY]
	bare_jobs "$2" "name = CONCAT('$1-', id - 5000000000), xml_doc = CONCAT(
	    '<file_info>\n<name>par_', id, '</name>\n</file_info>\n',
	    '<file_info>\n<name>$1</name>\n<sticky/>\n</file_info>\n', xml_doc),
	    priority = ${3:-0}"
}
lists() { # FILE…: what a client says that it has
	printf '<file_info><name>%s</name><nbytes>1e9</nbytes><status>1</status></file_info>' "$@"
}
# Kinds of the jobs in the last reply, by their names: "a 3 b 1".
kinds() {
	reply_of result/name | sed 's/-.*//' | sort | uniq -c |
		awk '{printf "%s%s %s", sep, $2, $1; sep = " "}'
}
sent_are() { same "$1" "$(kinds)"; }
secs() { echo "secs=$(($1 * 900 - 1))"; } # for so many jobs

# ---- files ----
sql "UPDATE app SET locality_scheduling = 1"
again
jobs_of sky_1 10
jobs_of sky_10 10
jobs_of sky_2 10
fill
promise "the array says that the application goes by files" \
	shmem '"locality_scheduling": 1'
ask hostid=17 name=a "$(secs 4)" "$(lists other sky_1)"
promise "a host gets the jobs of the file that it holds" sent_are "sky_1 4"
ask hostid=18 name=b "$(secs 7)" "$(lists sky_2)"
promise "another host those of its own" sent_are "sky_2 7"
ask hostid=17 name=a "$(secs 8)" "$(lists sky_1)"
promise "until there are none left" \
	same 6 "$(reply_of result/name | grep -c '^sky_1-')"
promise "then it gets others" sends 8
again
jobs_of sky_1 10
jobs_of sky_10 10
jobs_of sky_2 10
fill
ask hostid=18 name=b "$(secs 2)" "$(lists sky sky_ ky_10 SKY_10 sky_100 sky_2)"
promise "names like it are other names" sent_are "sky_2 2"
ask hostid=18 name=b "$(secs 3)" "$(lists sky_10 my_sky_2)"
promise "only the whole name counts" sent_are "sky_10 3"
left=$(sql "SELECT w.name FROM workunit w JOIN result r ON r.workunitid = w.id
	WHERE server_state = 2 AND w.name LIKE 'sky_10-%' LIMIT 1")
own=$(sql "SELECT CONCAT('par_', id) FROM workunit WHERE name = '$left'")
ask hostid=18 name=b "$(secs 1)" "$(lists "$own")"
promise "any input that the client lists counts" same "${left}_0" "$(reply_of result/name)"

again
jobs_of sky_1 5
jobs_of sky_2 5 9
fill
ask hostid=17 name=a "$(secs 5)" "$(lists sky_1)"
promise "a file is more than a priority that is higher by 9" sent_are "sky_1 5"
again
jobs_of sky_1 5
jobs_of sky_2 5 11
fill
ask hostid=17 name=a "$(secs 5)" "$(lists sky_1)"
promise "a priority that is higher by 11 is more than a file" sent_are "sky_2 5"

bare_config "<sched_old>1</sched_old>"
again
jobs_of sky_1 5
jobs_of sky_2 5
fill
ask hostid=17 name=a "$(secs 5)" "$(lists sky_2)"
promise "so it is in the old order" sent_are "sky_2 5"
bare_config ""

sql "UPDATE app SET locality_scheduling = 0"
again
bare_jobs 6 "name = CONCAT('first-', id), priority = 9"
jobs_of sky_1 6
fill
ask hostid=17 name=a "$(secs 6)" "$(lists sky_1)"
promise "an application that does not want it is sent by priority alone" \
	sent_are "first 6"

# ---- sizes: three classes, parted at 2 and 4 GFLOPS ----
sized_jobs() { # the same FLOPs, so that all hosts could do all
	local class
	for class in 0 1 2; do
		bare_jobs 6 "name = CONCAT('size$class-', id - 5000000000)"
		sql "UPDATE result SET size_class = $class WHERE name LIKE 'size$class-%'"
	done
	fill
}
census=$PROJECT/size_census_demo
logs() { grep -q "$1" "$PROJECT/log/feeder.log"; }
# jobs of 9e11 FLOP: at 1 GFLOPS 900 s each, at 4 GFLOPS 225 s
asks_for_six() { # FPOPS ON
	ask hostid=17 name=a fpops="$1" on="$2" active=1 \
		secs="$(awk "BEGIN {print 6 * 9e11 / $1 / $2 - 1}")"
}

bare_config "<size_classes>1</size_classes>"
sql "UPDATE app SET n_size_classes = 3"
again
bare_jobs 1
fill
promise "without quantiles the log names application and file" \
	logs "CRITICAL.*app demo.*$census.*No such file"
ask
promise "and its jobs are sent all the same" sends 1

echo "2e9" >"$census"
again
fill
promise "a quantile is missing: the log names the line" \
	logs "$census: line 2 is not a speed"
promise "and the application goes without" shmem '"size_quantiles": 0'

printf '2e9\n4e9\n' >"$census"
again
fill
promise "the quantiles are in the array" shmem '"size_quantiles": 2'
promise "nothing is wrong" eval '! logs CRITICAL'
again
sized_jobs
asks_for_six 1.99e9 1
promise "a host below the first quantile gets jobs of class 0" sent_are "size0 6"
again
sized_jobs
asks_for_six 2e9 1
promise "one at the first quantile jobs of class 1" sent_are "size1 6"
again
sized_jobs
asks_for_six 4e9 1
promise "one at the last quantile jobs of class 2" sent_are "size2 6"
again
sized_jobs
asks_for_six 4e9 0.75
promise "one that is switched on for three quarters of the time: class 1" \
	sent_are "size1 6"
again
sized_jobs # and those of class 1 are taken away
feeder_down
sql "UPDATE result SET server_state = 5, outcome = 5 WHERE name LIKE 'size1-%'"
fill
asks_for_six 4e9 0.75
promise "jobs too small for the host rather than those too large" \
	sent_are "size0 6"

bare_config ""
again
bare_jobs 6 "name = CONCAT('first-', id), priority = 1"
sized_jobs
asks_for_six 4e9 1
promise "without the option sizes do not count" sent_are "first 6"

done_promising
