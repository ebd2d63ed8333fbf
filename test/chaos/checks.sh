# checks.sh - the end of chaos.sh: everything is started cleanly, nobody fails any
# more, the clock goes on until all deadlines are over; then what must be true.
# Sourced.

unfinished() {
	sql "SELECT (SELECT COUNT(*) FROM workunit WHERE assimilate_state <> 2
		OR file_delete_state <> 2) + (SELECT COUNT(*) FROM result
		WHERE server_state <> 5 OR file_delete_state NOT IN (0, 2)
		OR (file_delete_state = 0 AND outcome = 1))"
}

all_over() {
	[ "$(unfinished)" = 0 ]
}

database_up() {
	[ ! -e "$T/db_down" ] && sql "DO 1" >/dev/null 2>&1
}

drain() {
	local turn end
	wait_for 60 database_up || fail "the database does not come back"
	touch "$T/stop_producer"
	for turn in $(seq 1 60); do
		kill -0 "$producer_pid" 2>/dev/null || break
		sleep 1
	done
	touch "$T/stop_keeper" "$T/give_up_producer"
	wait "$producer_pid" "$keeper_pid"
	(cd "$PROJECT" && timeout 60 bin/stop) >>"$T/stop.log" 2>&1
	web_stop
	web_start
	with_chaos "$PROJECT/bin/start" >>"$T/start.log" 2>&1
	kill -USR1 "$volunteers_pid"
	end=$((SECONDS + ${DRAIN:-180}))
	turn=0
	until all_over; do
		if [ $SECONDS -ge $end ]; then
			echo "# not drained: $(unfinished) rows"
			break
		fi
		# what was to happen within the hour happens now
		[ $((++turn % 12)) != 0 ] || control $((clock_offset + 3601)) 0
		sleep 1
	done
	memory_sample
	kill -TERM "$volunteers_pid"
	wait "$volunteers_pid"
	volunteers_pid=
	echo "# drained, the clock is $((clock_offset / 3600)) h ahead: $(progress)"
}

tell_counters() {
	local name line=
	sed 's/^/# /' "$T/volunteers.txt"
	for name in "${!killed[@]}"; do line="$line $name=${killed[$name]}"; done
	echo "# killed:$line"
	line=
	for name in "${!done_times[@]}"; do line="$line $name=${done_times[$name]}"; done
	echo "# done:$line"
	echo "# workunits done in the chaos: $in_chaos, produced: $(cat "$T/produced")"
	echo "# most private memory: $most_private KB, $most_private_of"
}

# nothing FILE: it is empty.
nothing() {
	[ -s "$1" ] || return 0
	echo "# $(wc -l <"$1") lines, among them:"
	head -n 5 "$1" | sed 's/^/#   /'
	return 1
}

outputs_right() {
	"$build/volunteers" --outputs "$PROJECT/results" >"$T/outputs.txt"
	local status=$?
	sed 's/^/# /' "$T/outputs.txt" | tail -n 5
	[ $status = 0 ] && grep -q "^good=$(cat "$T/produced") bad=0" "$T/outputs.txt"
}

# ---- the journal against the database ----------------------------------------------
journal_checks() {
	awk '$1 == "G" && ($2 in host) && host[$2] != $3 {
			print $2, host[$2], $3 }
		$1 == "G" { host[$2] = $3 }' "$T/journal" >"$T/two_hosts.txt"
	promise "no result was given to two hosts" nothing "$T/two_hosts.txt"
	awk '$1 == "?"' "$T/journal" >"$T/strange.txt"
	promise "no reply was strange, no upload refused" nothing "$T/strange.txt"

	sql "SELECT name, hostid, server_state, outcome, validate_state
		FROM result" >"$T/results.txt"
	awk -F'[\t ]' 'NR == FNR { host[$1] = $2; next }
		$1 == "G" && host[$2] != $3 { print $0, "database:", host[$2] }' \
		"$T/results.txt" "$T/journal" >"$T/other_host.txt"
	promise "what a host was given is its own in the database" \
		nothing "$T/other_host.txt"
	# of the host that it was given to: a copied host reports those of another
	awk -F'[\t ]' 'NR == FNR { host[$1] = $2; state[$1] = $3
			outcome[$1] = $4; next }
		$1 == "A" && host[$2] == $3 {
			good = state[$2] == 5 && ($4 == "success" ?
			       outcome[$2] == 1 : outcome[$2] == 3)
			if (!good) print $0, "database:", state[$2], outcome[$2] }' \
		"$T/results.txt" "$T/journal" >"$T/lost.txt"
	promise "every report that was acknowledged is in the database" \
		nothing "$T/lost.txt"
	awk -F'[\t ]' 'NR == FNR { valid[$1] = $5 == 1; next }
		$1 == "W" && valid[$2] { print }' \
		"$T/results.txt" "$T/journal" >"$T/wrong.txt"
	promise "no wrong output was found valid" nothing "$T/wrong.txt"
}

# ---- the ledger of the assimilator --------------------------------------------------
# A call may come twice if the program, or the transaction after it, came to
# nothing; each such event repeats at most a batch of 100, with the same answer.
ledger_checks() {
	local events twice
	awk '{ print $1 }' "$PROJECT/results.ledger" | sort -u | wc -l \
		>"$T/assimilated.txt"
	promise "each workunit was handed to the assimilator" \
		equals "$(cat "$T/assimilated.txt")" "SELECT COUNT(*) FROM workunit"
	awk '($1 in c) && c[$1] != $2 " " $3 { print } { c[$1] = $2 " " $3 }' \
		"$PROJECT/results.ledger" >"$T/unlike.txt"
	promise "if twice, then with the same result" nothing "$T/unlike.txt"
	awk 'NR == FNR { canonical[$1] = $2; next } canonical[$1] != $2' \
		<(sql "SELECT name, canonical_resultid FROM workunit") \
		"$PROJECT/results.ledger" >"$T/unlike.txt"
	promise "it is the canonical result" nothing "$T/unlike.txt"
	events=$((${killed[assimilator]:-0} + ${killed[supervisor]:-0} +
		${done_times[database_TERM]:-0} + ${done_times[database_KILL]:-0}))
	twice=$(($(wc -l <"$PROJECT/results.ledger") - $(cat "$T/assimilated.txt")))
	echo "# $twice calls were repeats, after $events interruptions"
	promise "only interruptions make a call come twice" \
		test $twice -le $((events * 100))
}

credit_checks() {
	promise "each valid result got credit, no other" equals 0 \
		"SELECT COUNT(*) FROM result WHERE (validate_state = 1) <>
		(granted_credit > 0)"
	promise "credit of users is the ledger of what was granted" equals 0 \
		"SELECT COUNT(*) FROM user u WHERE ABS(u.total_credit -
		(SELECT COALESCE(SUM(granted_credit), 0) FROM result r
		WHERE r.userid = u.id)) > 1e-6 * (1 + u.total_credit)"
	promise "credit of hosts too" equals 0 \
		"SELECT COUNT(*) FROM host h WHERE ABS(h.total_credit -
		(SELECT COALESCE(SUM(granted_credit), 0) FROM result r
		WHERE r.hostid = h.id)) > 1e-6 * (1 + h.total_credit)"
}

row_checks() {
	promise "at least $((LEAST * MINUTES)) workunits were done in the chaos" \
		test "$in_chaos" -ge $((LEAST * MINUTES))
	promise "each job that was submitted is there once" equals \
		"$(cat "$T/produced")" "SELECT COUNT(*) FROM workunit"
	promise "every workunit is final" equals 0 "SELECT COUNT(*) FROM workunit
		WHERE canonical_resultid = 0 OR error_mask <> 0
		OR assimilate_state <> 2 OR file_delete_state <> 2"
	promise "no result is open" equals 0 \
		"SELECT COUNT(*) FROM result WHERE server_state <> 5"
	promise "no output was lost after it was acknowledged" equals 0 \
		"SELECT COUNT(*) FROM result WHERE outcome = 6"
}

drained_audit() {
	(cd "$PROJECT" && with_chaos bin/audit --drained) >"$T/audit.txt" 2>&1 &&
		return 0
	sed 's/^/# /' "$T/audit.txt" | head -n 40
	return 1
}

# ---- nothing is left over ---------------------------------------------------------
slots_free() {
	local n
	n=$(cd "$PROJECT" && bin/show_shmem --json | grep -c '"state": "claimed"')
	[ "$n" = 0 ] || { echo "# $n slots are claimed"; return 1; }
}

ours() {
	local pid
	for pid in /proc/[0-9]*; do
		grep -qz "^QUORATE_CHAOS=$T/control" "$pid/environ" 2>/dev/null &&
			tr '\0' ' ' <"$pid/cmdline" && echo
	done >"$T/ours.txt" 2>/dev/null
	nothing "$T/ours.txt"
}

temporary_files() {
	find "$PROJECT" "$PROJECT/upload" \( -name '*.tmp' -o -name '*.sock' -o \
		-name '*.tmp.*' -o -name '.*.swp' \) | sort -u >"$T/temporary.txt"
	nothing "$T/temporary.txt"
}

left_over_checks() {
	promise "no slot stays claimed" slots_free
	promise "no program has more than 12 MB for itself" \
		test "$most_private" -le 12288
	(cd "$PROJECT" && timeout 60 bin/stop) >>"$T/stop.log" 2>&1
	promise "bin/stop stops" test $? = 0
	web_stop
	promise_in 10 "no process is left" ours
	promise "no shared memory is left" test -z "$(segment_files)"
	promise "no pid file is left" test -z \
		"$(find "$PROJECT/pid_$H" -name '*.pid')"
	promise_in 10 "no connection to the database is left" equals 0 \
		"SELECT COUNT(*) FROM information_schema.processlist
		WHERE user = 'quorate'"
	promise "no temporary file is left" temporary_files
}

check_all() {
	row_checks
	promise "canonical outputs are what the workunits ask for" outputs_right
	credit_checks
	journal_checks
	ledger_checks
	promise "audit finds nothing" drained_audit
	left_over_checks
}

chaos_promises_end() {
	echo "1..$promises"
	[ $broken -eq 0 ]
	exit $?
}
