# life.sh - the rows of a workunit's life: what each program makes of N
# workunits of two results, alone on the machine.  Sourced by lifecycle.sh,
# bench.sh and size.sh after lib.sh.
#
#   life_create [again]         N workunits by create_work --stdin
#   life_transition CERTIFICATES  results of new ones: none, rsa or ed25519
#   life_report                 all results come back, by SQL, not measured
#   life_rest                   from there to db_purge
#
# N: workunits; PROFILE=PROGRAM: run this one under `perf record`, to perf.data.
N=${N:-100000}
failed=0

expect() { # COUNT SQL
	local got
	got=$(sql "$2")
	[ "$got" = "$1" ] && return
	echo "expected $1, got $got: $2" >&2
	failed=1
}

# work TITLE TARGET BOINC COMMAND…: run it, make a row of it.
work() {
	local title=$1 target=$2 boinc=$3
	shift 3
	measured "$@" || {
		echo "$title failed:" >&2
		tail -n 3 "$T/out.log" >&2
		failed=1
	}
	row_save "$title" "$(awk "BEGIN { print $N / $elapsed }")" WU/s "$target" \
		"$boinc" "$N"
}

daemon() { # TITLE TARGET BOINC PROGRAM [OPTION…]
	local title=$1 target=$2 boinc=$3 program=$4 perf=
	shift 4
	[ "${PROFILE:-}" != "$program" ] || perf="perf record -q -g -o perf.data"
	# shellcheck disable=SC2086
	work "$title" "$target" "$boinc" $perf "$build/daemons/$program" \
		--one_pass "$@"
}

submit() {
	(cd "$PROJECT" && "$build/tools/create_work" --appname demo --stdin \
		<"$T/jobs")
}

life_create() { # [again: no row of the table]
	seq "$next_job" $((next_job + N - 1)) | sed 's/.*/--wu_name w&/' >"$T/jobs"
	next_job=$((next_job + N))
	if [ $# -gt 0 ]; then
		submit >"$T/out" 2>&1 || cat "$T/out" >&2
	else
		work "create_work --stdin" 1.5 0.81 submit
	fi
}

# Is there such a kind of certificate?
certificates_known() {
	[ "$1" != ed25519 ] || (cd "$PROJECT" &&
		"$build/daemons/transitioner" --show_config) 2>&1 |
		grep -qw upload_certificates
}

life_transition() { # CERTIFICATES
	local target=0.55 boinc=0.13 title="no certificates"
	case $1 in
	none)
		bench_config "<dont_generate_upload_certificates/>"
		;;
	rsa)
		target=0.25 boinc='' title="RSA certificates"
		bench_config ""
		;;
	ed25519)
		target=0.40 boinc='' title="Ed25519 certificates"
		bench_config "<upload_certificates>ed25519</upload_certificates>"
		;;
	esac
	daemon "transitioner, new: $title" "$target" "$boinc" transitioner
	expect 0 "SELECT COUNT(*) FROM workunit
	    WHERE transition_time <= UNIX_TIMESTAMP() - 10"
}

# As schedulers would have left them, a piece at a time.
life_report() {
	local from to
	from=$(sql "SELECT MIN(id) FROM workunit WHERE id > ${life_first:-0}")
	to=$(sql "SELECT MAX(id) FROM workunit")
	for (( ; from <= to; from += 20000)); do
		sql "UPDATE result SET server_state = 5, outcome = 1, client_state = 5,
		    hostid = (id * 7) % 2000 + 1, userid = (id * 7) % 1000 + 1,
		    teamid = ((id * 7) % 1000 + 1) % 50 + 1,
		    sent_time = UNIX_TIMESTAMP() - 7200,
		    received_time = UNIX_TIMESTAMP(),
		    report_deadline = UNIX_TIMESTAMP() + 86400, cpu_time = 3500,
		    elapsed_time = 3600, flops_estimate = 3e9, app_version_id = 11,
		    stderr_out = REPEAT('x', 1000)
		    WHERE workunitid >= $from AND workunitid < $from + 20000;
		    UPDATE workunit SET transition_time = UNIX_TIMESTAMP()
		    WHERE id >= $from AND id < $from + 20000"
	done
}

life_rest() {
	daemon "transitioner, both results back" 1.0 0.34 transitioner
	expect "$N" "SELECT COUNT(*) FROM workunit WHERE need_validate = 1"
	daemon "validator (trivial), with credit" 0.25 0.026 \
		sample_trivial_validator --app demo
	expect 0 "SELECT COUNT(*) FROM workunit WHERE need_validate = 1"
	expect "$N" "SELECT COUNT(*) FROM workunit WHERE canonical_resultid <> 0"
	daemon "assimilator (dummy)" 0.6 0.081 sample_dummy_assimilator --app demo
	expect 0 "SELECT COUNT(*) FROM workunit WHERE assimilate_state = 1"
	daemon "transitioner, after assimilation" "" 0.16 transitioner
	expect "$N" "SELECT COUNT(*) FROM workunit WHERE file_delete_state = 1"
	daemon "file_deleter" 0.5 0.13 file_deleter
	expect 0 "SELECT COUNT(*) FROM workunit WHERE file_delete_state = 1"
	# if it is to leave others, these are the old ones
	[ -z "${PURGE_OPTIONS:-}" ] || sql "UPDATE workunit
	    SET mod_time = '2020-01-01' WHERE id > $life_first"
	daemon "db_purge, XML archive" 0.4 0.08 db_purge ${PURGE_OPTIONS:-}
}

# Each kind of certificate, and the life of those made without.
life_all() {
	local kind again=
	for kind in rsa ed25519 none; do
		certificates_known $kind || {
			echo "  no $kind certificates: this build does not make them"
			continue
		}
		jobs_clear
		bench_config ""
		life_create $again
		again=again
		life_transition $kind
	done
	life_report
	life_rest
	expect 0 "SELECT COUNT(*) FROM workunit"
}
