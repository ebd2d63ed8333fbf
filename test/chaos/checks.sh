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
	end=$((SECONDS + ${DRAIN:-300}))
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

# ---- nothing is left over ---------------------------------------------------------
slots_free() {
	local n
	n=$(cd "$PROJECT" && bin/show_shmem --json | grep -c '"state": "claimed"')
	[ "$n" = 0 ] || { echo "# $n slots are claimed"; return 1; }
}

processes_gone() {
	local pid
	for pid in /proc/[0-9]*; do
		is_ours "${pid#/proc/}" && tr '\0' ' ' <"$pid/cmdline" && echo
	done >"$T/ours.txt" 2>/dev/null
	nothing "$T/ours.txt"
}

locks_free() {
	local file inode
	find "$PROJECT" -name '*.lock' | while read -r file; do
		inode=$(stat -c %i "$file")
		grep -q ":$inode " /proc/locks && echo "$file"
	done >"$T/locks.txt"
	nothing "$T/locks.txt"
}

# What nobody will ever ask for: uploads that were cut off are kept until the
# client comes again, and go when they are too old.
temporary_files() {
	find "$PROJECT" "$PROJECT/upload" "$PROJECT/download" -type f \
		\( -name '*.tmp' -o -name '.*' -o -name '*.new' \) |
		sort -u >"$T/temporary.txt"
	nothing "$T/temporary.txt"
}

inputs_gone() {
	find "$PROJECT/download" -type f -name 'chaos_[0-9]*' >"$T/inputs.txt"
	nothing "$T/inputs.txt"
}

crashes() {
	{
		grep -h 'killed by signal' "$PROJECT/log_$H/supervisor.log" |
			grep -v 'killed by signal 9'
		grep -h 'child signalled:' "$PROJECT/log_$H/lighttpd.log" |
			grep -v 'signalled: 9'
		grep -hE 'Assertion|Sanitizer|runtime error' "$PROJECT/log_$H"/*
	} >"$T/crashes.txt"
	nothing "$T/crashes.txt"
}

left_over_checks() {
	local status
	promise "no slot stays claimed" slots_free
	promise "no program has more than $MOST_MB MB for itself" \
		test "$most_private" -le $((MOST_MB * 1024))
	(cd "$PROJECT" && timeout 60 bin/stop) >>"$T/stop.log" 2>&1
	status=$?
	promise "bin/stop stops" test $status = 0
	web_stop
	promise_in 10 "no process is left" processes_gone
	promise "no lock is held" locks_free
	promise "no shared memory is left" test -z "$(segment_files)"
	promise "no pid file is left" test -z \
		"$(find "$PROJECT/pid_$H" -name '*.pid')"
	promise_in 10 "no connection to the database is left" equals 0 \
		"SELECT COUNT(*) FROM information_schema.processlist
		WHERE user = 'quorate'"
	promise "no temporary file is left" temporary_files
	promise "no input file is left of what is over" inputs_gone
	promise "nothing crashed but what was killed" crashes
}

# ---- the rows, there or archived --------------------------------------------------
# archived ELEMENT COLUMN…: a line of the columns of each record; a record may be
# there twice, where db_purge was killed between archive and database.
archived() {
	local element=$1
	shift
	find "$PROJECT/archives" -name "${element/workunit/wu}_*.xml*" -print0 |
		xargs -0r zcat -f |
		awk -v element="$element" -v columns="$*" '
		BEGIN { n = split(columns, column, " ") }
		$0 ~ "<" element ">" { delete value }
		match($0, /<[a-z_]+>/) {
			name = substr($0, RSTART + 1, RLENGTH - 2)
			text = substr($0, RSTART + RLENGTH)
			sub(/<.*/, "", text)
			if (!(name in value)) value[name] = text
		}
		$0 ~ "</" element ">" {
			for (i = 1; i <= n; i++)
				printf "%s%s", value[column[i]], i < n ? "\t" : "\n"
		}'
}

collect_rows() {
	local of_result="name hostid server_state outcome validate_state
		granted_credit userid file_delete_state"
	local of_wu="name canonical_resultid error_mask assimilate_state
		file_delete_state"
	# shellcheck disable=SC2086
	{
		sql "SELECT $(echo $of_result | tr ' ' ,), 0 FROM result"
		archived result_archive $of_result | sed 's/$/\t1/'
	} | sort -u -k1,1 >"$T/results.txt"
	# shellcheck disable=SC2086
	{
		sql "SELECT $(echo $of_wu | tr ' ' ,) FROM workunit"
		archived workunit_archive $of_wu
	} | sort -u -k1,1 >"$T/workunits.txt"
	echo "# $(wc -l <"$T/workunits.txt") workunits and $(wc -l \
		<"$T/results.txt") results, $(sql "SELECT COUNT(*) FROM workunit")" \
		"and $(sql "SELECT COUNT(*) FROM result") of them not archived"
}

# A run of two minutes holds all of it, but for programs that hardly live long
# enough to be met.
everything_was_tried() {
	local name missing=
	for name in "${victims[@]}"; do
		case $name in create_work | start) continue ;; esac
		[ -n "${killed[$name]:-}" ] || missing="$missing $name"
	done
	for name in database_TERM database_KILL feeder_stopped \
		longer_than_its_lease full clock segment; do
		[ -n "${done_times[$name]:-}" ] || missing="$missing $name"
	done
	[ -z "$missing" ] || { echo "# not:$missing"; return 1; }
}

row_checks() {
	collect_rows
	promise "at least $((LEAST * MINUTES)) workunits were done in the chaos" \
		test "$in_chaos" -ge $((LEAST * MINUTES))
	promise "each job that was submitted is there once" test \
		"$(wc -l <"$T/workunits.txt")" = "$(cat "$T/produced")"
	awk -F'\t' '$2 == 0 || $3 != 0 || $4 != 2 || $5 != 2' "$T/workunits.txt" \
		>"$T/open.txt"
	promise "every workunit is final, and none has failed" nothing "$T/open.txt"
	awk -F'\t' '$3 != 5' "$T/results.txt" >"$T/open.txt"
	promise "no result is open" nothing "$T/open.txt"
	awk -F'\t' '$4 == 6' "$T/results.txt" >"$T/unreadable.txt"
	promise "no output was lost after it was acknowledged" \
		nothing "$T/unreadable.txt"
}

outputs_right() {
	local status
	"$build/volunteers" --outputs "$PROJECT/results" >"$T/outputs.txt"
	status=$?
	sed 's/^/# /' "$T/outputs.txt" | tail -n 5
	[ $status = 0 ] && grep -q "^good=$(cat "$T/produced") bad=0" "$T/outputs.txt"
}

credit_checks() {
	awk -F'\t' '($5 == 1) != ($6 > 0)' "$T/results.txt" >"$T/credit.txt"
	promise "each valid result got credit, no other" nothing "$T/credit.txt"
	for who in user host; do
		awk -F'\t' -v who=$who 'NR == FNR { total[$1] = $2; next }
			{ id = who == "user" ? $7 : $2; sum[id] += $6 }
			END { for (id in total) {
				d = total[id] - sum[id]
				if (d > 1e-6 || d < -1e-6) print id, total[id], sum[id] } }' \
			<(sql "SELECT id, total_credit FROM $who") "$T/results.txt" \
			>"$T/credit.txt"
		promise "credit of ${who}s is the ledger of what was granted" \
			nothing "$T/credit.txt"
	done
}

# ---- the journal against the rows ----------------------------------------------------
# against_rows AWK: with host[], state[], outcome[], verdict[] of each result.
against_rows() {
	awk -F'[\t ]' 'NR == FNR { host[$1] = $2; state[$1] = $3
		outcome[$1] = $4; verdict[$1] = $5; purged[$1] = $9; next } '"$1" \
		"$T/results.txt" "$T/journal" >"$T/breaches.txt"
	nothing "$T/breaches.txt"
}

journal_checks() {
	awk '$1 == "G" && ($2 in host) && host[$2] != $3 {
			print $2, host[$2], $3 }
		$1 == "G" { host[$2] = $3 }' "$T/journal" >"$T/two_hosts.txt"
	promise "no result was given to two hosts" nothing "$T/two_hosts.txt"
	awk '$1 == "?"' "$T/journal" >"$T/strange.txt"
	promise "no reply was strange, no upload refused" nothing "$T/strange.txt"
	# A volunteer whose state files are old gets another record, and reports
	# under it what was given to the first: H NUMBER FIRST NEXT.
	promise "what a host was given is its own in the database" against_rows \
		'function became(from, to, steps, at, i, n) {
			n = split(next_of[from], at, " ")
			for (i = 1; i <= n && steps < 20; i++)
				if (at[i] == to || became(at[i], to, steps + 1))
					return 1
			return 0
		}
		$1 == "H" { next_of[$3] = next_of[$3] " " $4 }
		$1 == "G" { given[$2 " " $3] }
		END {
			for (pair in given) {
				split(pair, g, " ")
				if (host[g[1]] != g[2] && !became(g[2], host[g[1]], 0))
					print "G", pair, "database:", host[g[1]]
			}
		}'
	# Of the host that it was given to: a copied host reports those of another.
	# What came when its deadline was over and db_purge had taken the workunit
	# away is archived as without a reply.
	promise "every report that was acknowledged is in the database" \
		against_rows '$1 == "A" && (state[$2] != 5 || host[$2] == $3 &&
		outcome[$2] != ($4 == "success" ? 1 : 3) &&
		!(purged[$2] && outcome[$2] == 4)) {
		print $0, "database:", state[$2], outcome[$2] }'
	promise "no wrong output was found valid" against_rows \
		'$1 == "W" && verdict[$2] == 1'
}

# ---- the ledger of the assimilator --------------------------------------------------
# A call may come twice if the program, or the transaction after it, came to
# nothing; each such event repeats at most a batch of 100, with the same answer.
ledger_checks() {
	local events twice ledger=$PROJECT/results.ledger
	awk '{ print $1 }' "$ledger" | sort -u >"$T/assimilated.txt"
	promise "each workunit was handed to the assimilator, no other" \
		cmp -s "$T/assimilated.txt" <(cut -f1 "$T/workunits.txt" | sort -u)
	awk 'NR == FNR { answer[$1] = $2 " " $3; next }
		answer[$1] != $2 " " $3' "$T/workunits.txt" "$ledger" >"$T/unlike.txt"
	promise "each time with its canonical result" nothing "$T/unlike.txt"
	events=$((${killed[assimilator]:-0} + ${killed[supervisor]:-0} +
		${done_times[database_TERM]:-0} + ${done_times[database_KILL]:-0}))
	twice=$(($(wc -l <"$ledger") - $(wc -l <"$T/assimilated.txt")))
	echo "# $twice calls were repeats, after $events interruptions"
	promise "only interruptions make a call come twice" \
		test $twice -le $((events * 100))
}

drained_audit() {
	(cd "$PROJECT" && with_chaos bin/audit --drained) >"$T/audit.txt" 2>&1 &&
		return 0
	sed 's/^/# /' "$T/audit.txt" | head -n 40
	return 1
}

# SABOTAGE: SQL that breaks a promise, to see by hand that a check notices.
check_all() {
	[ -z "${SABOTAGE:-}" ] || sql "$SABOTAGE"
	[ "$MINUTES" -lt 2 ] ||
		promise "all was killed and done" everything_was_tried
	left_over_checks
	row_checks
	promise "canonical outputs are what the workunits ask for" outputs_right
	credit_checks
	journal_checks
	ledger_checks
	promise "audit finds nothing" drained_audit
}

chaos_promises_end() {
	echo "1..$promises"
	[ $broken -eq 0 ]
	exit $?
}
