# deeds.sh - what is done to the project in chaos.sh: one deed a second, the next
# of a sequence that the seed gives.  Sourced.
#
#   deeds SECONDS       do that
#   control OFFSET FULL the clock's offset (s), whether writing says ENOSPC
#   disk_mount          a small file system for uploads, if one may mount
#   thaw_all            nothing stands still any more

declare -A killed done_times
deed_state=0
clock_offset=0
shim_full=0
disk_by=shim
most_private=0
most_private_of=

# draw N: $drawn is 0 … N - 1, the next of the sequence.
draw() {
	deed_state=$((deed_state * 6364136223846793005 + 1442695040888963407))
	drawn=$((((deed_state >> 33) & 0x7fffffff) % $1))
}

control() {
	clock_offset=$1 shim_full=$2
	if [ -e "$T/control" ]; then
		printf '%-30d%d\n' "$1" "$2" 1<>"$T/control"
	else
		printf '%-30d%d\n' "$1" "$2" >"$T/control"
	fi
}

# ---- the disk -------------------------------------------------------------------
disk_mount() {
	[ -z "${CHAOS_NO_MOUNT:-}" ] || return 0
	mount -t tmpfs -o size=4g,mode="$(stat -c %a "$PROJECT/upload")" chaos \
		"$PROJECT/upload" 2>/dev/null || return 0
	chown --reference="$PROJECT" "$PROJECT/upload"
	disk_by="tmpfs and shim"
}

disk_unmount() {
	[ "$disk_by" = shim ] || umount "$PROJECT/upload" 2>/dev/null ||
		umount -l "$PROJECT/upload" 2>/dev/null
	return 0
}

# No size smaller than what is in it is taken, so this leaves at most 64 KB.
disk_fill() {
	if [ "$disk_by" = shim ] || [ "$1" = shim ]; then
		control "$clock_offset" 1
		return
	fi
	local used
	used=$(df -k --output=used "$PROJECT/upload" | tail -n 1)
	mount -o remount,size=$((used + 64))k "$PROJECT/upload" 2>/dev/null
}

disk_empty() {
	control "$clock_offset" 0
	[ "$disk_by" = shim ] || mount -o remount,size=4g "$PROJECT/upload"
}

# ---- who can be killed ------------------------------------------------------------
# is_ours PID: a process of this run and no other.  Pids are used again, and what
# a pid file says may be long gone.
is_ours() {
	[ "${1:-0}" -gt 1 ] &&
		grep -qz "^QUORATE_CHAOS=$T/control" "/proc/$1/environ" 2>/dev/null
}

ours_called() { # PATTERN: pids
	local pid
	for pid in $(pgrep -f "$1"); do
		! is_ours "$pid" || echo "$pid"
	done
}

web_programs() {
	ours_called "^$PROJECT/cgi-bin/"
}

pid_of_daemon() { # NAME
	local pid
	pid=$(cat "$PROJECT/pid_$H/$1.pid" 2>/dev/null)
	! is_ours "$pid" || echo "$pid"
}

# Who has the supervisor's lock.
pid_of_supervisor() {
	local inode
	inode=$(stat -c %i "$PROJECT/pid_$H/supervisor.lock" 2>/dev/null) || return
	awk -v inode=":$inode" '$2 == "POSIX" && $6 ~ inode "$" { print $5 }' /proc/locks
}

one_of() { # NUMBER: that one of the lines of stdin
	local list
	mapfile -t list
	[ ${#list[@]} -gt 0 ] || return 1
	echo "${list[$(($1 % ${#list[@]}))]}"
}

victim_pid() { # NAME NUMBER
	case $1 in
	lighttpd) web_servers | one_of "$2" ;;
	supervisor) pid_of_supervisor ;;
	scheduler) ours_called "^$PROJECT/cgi-bin/fcgi" | one_of "$2" ;;
	file_upload_handler)
		ours_called "^$PROJECT/cgi-bin/file_upload_handler" | one_of "$2"
		;;
	create_work) ours_called "^bin/create_work .*--stdin" | one_of "$2" ;;
	start) ours_called "bin/start" | one_of "$2" ;;
	*) pid_of_daemon "$1" ;;
	esac
}

victims=(feeder transitioner sample_bitwise_validator assimilator file_deleter
	db_purge scheduler scheduler scheduler file_upload_handler
	file_upload_handler lighttpd supervisor create_work start)

kill_somebody() {
	local name pid
	draw ${#victims[@]}
	name=${victims[$drawn]}
	draw 4
	[ "$name" = feeder ] && [ -n "$frozen" ] && return
	pid=$(victim_pid "$name" "$drawn")
	is_ours "$pid" && kill -KILL "$pid" 2>/dev/null || return
	killed[$name]=$((${killed[$name]:-0} + 1))
}

# ---- the database -------------------------------------------------------------------
# In the background: the killing goes on meanwhile.
database_restart() { # TERM or KILL
	[ ! -e "$T/db_down" ] || return
	touch "$T/db_down"
	(
		mariadb_end "$T/db" "$1"
		mariadb_start "$T/db" || touch "$T/db_lost"
		rm -f "$T/db_down"
	) >>"$T/db_restart.log" 2>&1 &
	done_times[database_$1]=$((${done_times[database_$1]:-0} + 1))
}

# ---- the feeder stands still, the clock is stepped, the segment is gone -----------------
frozen=
thaw_at=0
segment_due=

freeze() { # SECONDS
	[ -z "$frozen" ] || return
	frozen=$(pid_of_daemon feeder)
	# one that is at work: there is nothing to send before it began
	if [ -z "$(segment_files)" ] || [ -z "$frozen" ] ||
		[ "$(ps -o etimes= -p "$frozen")" -lt 3 ] 2>/dev/null; then
		frozen=
	fi
	is_ours "$frozen" && kill -STOP "$frozen" 2>/dev/null || {
		frozen=
		return
	}
	thaw_at=$((SECONDS + $1))
	done_times[feeder_stopped]=$((${done_times[feeder_stopped]:-0} + 1))
	[ "$1" -le 60 ] ||
		done_times[longer_than_its_lease]=$((${done_times[longer_than_its_lease]:-0} + 1))
}

thaw_all() {
	! is_ours "$frozen" || kill -CONT "$frozen" 2>/dev/null
	frozen=
}

full_until=0

deed_of() { # NAME NUMBER
	case $1 in
	database_TERM | database_KILL) database_restart "${1#database_}" && return ;;
	freeze) freeze $((3 + $2 % 10)) && return ;;
	long_freeze) freeze 65 && return ;;
	full)
		if [ $full_until -gt 0 ]; then return; fi
		full_until=$((SECONDS + 2 + $2 % 5))
		if [ $(($2 % 2)) = 0 ]; then disk_fill shim; else disk_fill mount; fi
		;;
	clock)
		if [ "$clock_offset" != 0 ]; then
			control 0 "$shim_full"
		elif [ $(($2 % 2)) = 0 ]; then
			control 3600 "$shim_full"
		else
			control -3600 "$shim_full"
		fi
		;;
	segment)
		# it is the feeder that makes it anew: as soon as it can
		segment_due=
		if [ -n "$frozen" ]; then
			segment_due=$2
			return
		fi
		# shellcheck disable=SC2046
		case $(($2 % 3)) in
		0) rm -f $(segment_files) ;;
		1) rm -f $(segment_files | head -n 1) ;;
		2) rm -f $(segment_files | tail -n 1) ;;
		esac
		;;
	esac
	done_times[$1]=$((${done_times[$1]:-0} + 1))
}

segment_files() {
	ls /dev/shm/quorate-"$(printf '%s' "$(realpath "$PROJECT")" |
		sha256sum | cut -c1-8)"* 2>/dev/null
}

# Beside the kill of each second, one in six does something else.
deeds_kinds=(database_TERM database_KILL freeze full full clock clock segment)
deck=()

# The next of a shuffled deck, so that none waits long for its turn: $drawn_deed.
draw_deed() {
	[ ${#deck[@]} -gt 0 ] || deck=("${deeds_kinds[@]}")
	draw ${#deck[@]}
	drawn_deed=${deck[$drawn]}
	unset "deck[$drawn]"
	deck=("${deck[@]}")
}

deeds() { # SECONDS
	local i began=$SECONDS next long=
	deed_state=$((SEED * 7919 + 17))
	for ((i = 1; i <= $1; i++)); do
		kill_somebody
		draw 6
		if [ "$drawn" = 0 ]; then
			draw_deed
			draw 1000
			deed_of "$drawn_deed" "$drawn"
		fi
		# longer than its lease, from time to time
		[ $((i % 240)) != 25 ] || long=yes
		if [ -n "$long" ] && [ -z "$frozen" ]; then
			deed_of long_freeze 0
			[ -z "$frozen" ] || long=
		fi
		[ -z "$frozen" ] || [ $SECONDS -lt $thaw_at ] || thaw_all
		[ -z "$segment_due" ] || [ -n "$frozen" ] ||
			deed_of segment "$segment_due"
		if [ $full_until -gt 0 ] && [ $SECONDS -ge $full_until ]; then
			disk_empty
			full_until=0
		fi
		[ $((i % 5)) != 0 ] || memory_sample
		[ $((i % 30)) != 0 ] || echo "# $i s: $(progress)"
		next=$((began + i))
		[ $SECONDS -ge $next ] || sleep 1
	done
	thaw_all
	disk_empty
	control 0 0
}

progress() {
	local rows
	rows=$(sql "SELECT CONCAT(COUNT(*), ' rows, ',
		COALESCE(SUM(canonical_resultid <> 0), 0), ' agreed, ',
		COALESCE(SUM(file_delete_state = 2), 0), ' deleted')
		FROM workunit" 2>/dev/null) || rows="the database is away"
	echo "$(cat "$T/produced") workunits, $(wc -l 2>/dev/null \
		<"$PROJECT/results.ledger") assimilated; $rows"
}

# The most that a program of ours has for itself, KB.
memory_sample() {
	local pid private
	for pid in $(cat "$PROJECT/pid_$H"/*.pid 2>/dev/null) $(web_programs); do
		is_ours "$pid" || continue
		private=$(awk '/^Private_/ { n += $2 } END { print n + 0 }' \
			"/proc/$pid/smaps_rollup" 2>/dev/null)
		if [ "${private:-0}" -gt $most_private ]; then
			most_private=$private
			most_private_of=$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null |
				cut -d' ' -f1 | xargs basename 2>/dev/null)
		fi
	done
}
