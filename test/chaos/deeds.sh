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
pid_of_daemon() {
	cat "$PROJECT/pid_$H/$1.pid" 2>/dev/null
}

web_programs() {
	pgrep -f "^$PROJECT/cgi-bin/"
}

one_of() { # the one that the sequence says, of the lines of stdin
	local list
	mapfile -t list
	[ ${#list[@]} -gt 0 ] || return 1
	echo "${list[$(($1 % ${#list[@]}))]}"
}

victim_pid() { # NAME NUMBER
	case $1 in
	lighttpd) cat "$T/web.pid" 2>/dev/null ;;
	supervisor) fuser_of "$PROJECT/pid_$H/supervisor.lock" ;;
	scheduler) pgrep -f "^$PROJECT/cgi-bin/fcgi" | one_of "$2" ;;
	file_upload_handler)
		pgrep -f "^$PROJECT/cgi-bin/file_upload_handler" | one_of "$2"
		;;
	create_work) pgrep -f "bin/create_work --appname uppercase .*--delay_bound $DEADLINE --stdin" | one_of "$2" ;;
	*) pid_of_daemon "$1" ;;
	esac
}

# Who has the lock: the supervisor says so itself.
fuser_of() {
	(cd "$PROJECT" && timeout 5 bin/status --json 2>/dev/null) |
		sed -n '/"supervisor"/,/}/s/.*"pid": \([0-9]*\).*/\1/p'
}

victims=(feeder transitioner sample_bitwise_validator assimilator file_deleter
	scheduler scheduler scheduler file_upload_handler file_upload_handler
	lighttpd supervisor create_work)

kill_somebody() {
	local name pid
	draw ${#victims[@]}
	name=${victims[$drawn]}
	draw 4
	[ "$name" = feeder ] && [ -n "$frozen" ] && return
	pid=$(victim_pid "$name" "$drawn")
	[ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null || return
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

freeze() { # SECONDS
	[ -z "$frozen" ] || return
	frozen=$(pid_of_daemon feeder)
	[ -n "$frozen" ] && kill -STOP "$frozen" 2>/dev/null || {
		frozen=
		return
	}
	thaw_at=$((SECONDS + $1))
	done_times[feeder_stopped]=$((${done_times[feeder_stopped]:-0} + 1))
	[ "$1" -le 60 ] ||
		done_times[longer_than_its_lease]=$((${done_times[longer_than_its_lease]:-0} + 1))
}

thaw_all() {
	[ -z "$frozen" ] || kill -CONT "$frozen" 2>/dev/null
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

# Beside the kill of each second, one in five does something else.
deeds_kinds=(database_TERM database_KILL database_KILL freeze full full full
	clock clock segment segment)

deeds() { # SECONDS
	local i name began=$SECONDS next
	deed_state=$((SEED * 7919 + 17))
	for ((i = 1; i <= $1; i++)); do
		kill_somebody
		draw 5
		if [ "$drawn" = 0 ]; then
			draw ${#deeds_kinds[@]}
			name=${deeds_kinds[$drawn]}
			draw 1000
			deed_of "$name" "$drawn"
		fi
		# longer than its lease: once in two minutes
		[ $((i % 240)) != 25 ] || deed_of long_freeze 0
		[ -z "$frozen" ] || [ $SECONDS -lt $thaw_at ] || thaw_all
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
	sql "SELECT CONCAT(COUNT(*), ' workunits, ',
		SUM(canonical_resultid <> 0), ' agreed, ',
		SUM(assimilate_state = 2), ' assimilated, ',
		SUM(file_delete_state = 2), ' deleted') FROM workunit" 2>/dev/null ||
		echo "the database is away"
}

# The most that a program of ours has for itself, KB.
memory_sample() {
	local pid private
	for pid in $(cat "$PROJECT/pid_$H"/*.pid 2>/dev/null) $(web_programs); do
		private=$(awk '/^Private_/ { n += $2 } END { print n + 0 }' \
			"/proc/$pid/smaps_rollup" 2>/dev/null)
		if [ "${private:-0}" -gt $most_private ]; then
			most_private=$private
			most_private_of=$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null |
				cut -d' ' -f1 | xargs basename 2>/dev/null)
		fi
	done
}
