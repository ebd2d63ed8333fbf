# faults.sh - folders that cannot be written to, because the disk is full or
# read-only, and what becomes of an upload, a log, a staged file, an archive.
# Sourced by bash scripts after bare.sh and bare_new.
#
#   fault_with full|read-only   which it is; false: it cannot be made here
#   fault_begin FOLDER          its disk is so from now on, what is in it stays
#   fault_end FOLDER            …and no more
#   fault_in_upload, …_log, …_download, …_archive   the promises
#
# A full disk is a small tmpfs, or, where nothing may be mounted, a shim that
# answers ENOSPC (one folder at a time).
fault_mounted=()

fault_clean_up() {
	local folder
	for folder in "${fault_mounted[@]}"; do
		umount "$folder" 2>/dev/null || umount -l "$folder" 2>/dev/null
	done
	fault_mounted=()
}

fault_may_mount() {
	mkdir -p "$T/mount" &&
		mount -t tmpfs -o size=64k faults "$T/mount" 2>/dev/null &&
		umount "$T/mount"
}

fault_with() {
	fault_kind=$1
	fault_by=mount
	trap 'status=$?; fault_clean_up; bare_end $status' EXIT
	fault_may_mount && return
	fault_by=shim
	case $1:$(id -u) in
	read-only:0) return 1 ;; # root writes where it likes
	esac
}

fault_begin() {
	case $fault_kind:$fault_by in
	full:mount)
		cp -a "$1" "$T/copy" &&
			mount -t tmpfs -o size=256k,mode="$(stat -c %a "$1")" faults "$1" &&
			cp -a "$T/copy/." "$1/"
		rm -rf "$T/copy"
		fault_mounted+=("$1")
		# no page left
		head -c 300k /dev/zero >"$1/.fill" 2>/dev/null
		;;
	full:shim)
		printf '%-30d%d\n' 0 1 >"$T/control"
		export LD_PRELOAD=$build/test/system/chaos_shim.so
		export QUORATE_CHAOS=$T/control QUORATE_CHAOS_DISK=$1
		export ASAN_OPTIONS=verify_asan_link_order=0
		;;
	read-only:mount)
		mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"
		fault_mounted+=("$1")
		;;
	read-only:shim) chmod a-w "$1" ;;
	esac
}

fault_end() {
	case $fault_kind:$fault_by in
	full:mount)
		rm -f "$1/.fill"
		cp -a "$1" "$T/copy"
		fault_clean_up
		cp -a "$T/copy/." "$1/"
		rm -rf "$T/copy"
		;;
	full:shim) unset LD_PRELOAD QUORATE_CHAOS ;;
	read-only:mount) fault_clean_up ;;
	read-only:shim) chmod u+w "$1" ;;
	esac
}

# ---- the promises ------------------------------------------------------------------

fault_in_upload() {
	local where="$PROJECT/upload" name=wu_1_0_r1_0
	head -c 100000 /dev/urandom >"$T/bytes"
	{
		printf '<data_server_request>\n<file_upload>\n<file_info>\n'
		printf '<name>%s</name>\n<xml_signature>\n%s</xml_signature>\n' $name \
			"$("$build/test/system/certify" \
				"$top/test/data/keys/upload_private" $name 100000)"
		printf '<max_nbytes>100000</max_nbytes>\n</file_info>\n'
		printf '<nbytes>100000</nbytes>\n<md5_cksum>%s</md5_cksum>\n' \
			"$(md5sum <"$T/bytes" | cut -c1-32)"
		printf '<offset>0</offset>\n<data>\n'
		cat "$T/bytes"
	} >"$T/up"
	fault_begin "$where"
	upload "$T/up"
	promise "$fault_kind: an upload is told to come again" \
		grep -q '<status>1</status>' "$T/upload.txt"
	promise "$fault_kind: the log names file and cause" grep -q \
		"\($name\|$where\).*\(disk is full\|Read-only\|Permission\)" \
		"$PROJECT/log/file_upload_handler.log"
	promise "$fault_kind: nothing stands under the file's name" same "" \
		"$(find "$where" -name $name -size -100000c)"
	fault_end "$where"
	upload "$T/up"
	promise "$fault_kind: later it is taken" \
		grep -q '<status>0</status>' "$T/upload.txt"
	promise "$fault_kind: whole" cmp -s "$T/bytes" \
		"$(find "$where" -name $name | head -n 1)"
	find "$where" -name $name -delete
}

fault_in_log() { # a request of host 17 with this SEQNO gets a job
	local where="$PROJECT/log"
	fault_begin "$where"
	ask seqno="$1"
	promise "$fault_kind log: a client gets its job all the same" sends 1
	fault_end "$where"
	ask seqno=$(($1 + 1))
	promise "$fault_kind log: later, too" sends 1
	promise "$fault_kind log: and is in the log" \
		grep -q "sent 1" "$PROJECT/log/scheduler.log"
}

fault_stage() {
	(cd "$PROJECT" && "$build/tools/stage_file" "$T/staged") >"$T/stage.log" 2>&1
}

fault_in_download() {
	local where="$PROJECT/download"
	head -c 100000 /dev/urandom >"$T/as_it_is"
	cp "$T/as_it_is" "$T/staged"
	fault_begin "$where"
	promise "$fault_kind: a file cannot be staged" eval '! fault_stage'
	promise "$fault_kind: which says why" \
		grep -q "No space left\|Read-only\|Permission" "$T/stage.log"
	promise "$fault_kind: no piece of it stands there" same "" \
		"$(find "$where" -name staged)"
	fault_end "$where"
	promise "$fault_kind: later it can" fault_stage
	promise "$fault_kind: whole" cmp -s "$T/as_it_is" \
		"$(find "$where" -name staged | head -n 1)"
	find "$where" -name 'staged*' -delete
}

fault_purge() {
	(cd "$PROJECT" && "$build/daemons/db_purge" --one_pass) >"$T/purge.log" 2>&1
}

# Makes as many workunits whose time has come as an archive of 256 KB does not
# hold.
fault_in_archive() {
	local where="$PROJECT/archives" before
	mkdir -p "$where"
	sql "DELETE FROM result WHERE server_state = 2;
	    DELETE FROM workunit WHERE id NOT IN (SELECT workunitid FROM result)"
	bare_jobs 40 "file_delete_state = 2, assimilate_state = 2,
	    error_mask = 16, mod_time = '2020-01-01'"
	sql "UPDATE result SET server_state = 5, outcome = 5, file_delete_state = 2,
	    stderr_out = REPEAT('x', 20000) WHERE server_state = 2;
	    UPDATE workunit SET mod_time = '2020-01-01' WHERE file_delete_state = 2"
	before=$(sql "SELECT COUNT(*) FROM result WHERE file_delete_state = 2")
	fault_begin "$where"
	promise "$fault_kind archive: db_purge fails" eval '! fault_purge'
	promise "$fault_kind archive: and says why" \
		grep -q "No space left\|Read-only\|Permission" "$T/purge.log"
	promise "$fault_kind archive: what is not archived is not deleted" equals \
		"$before" "SELECT COUNT(*) FROM result WHERE file_delete_state = 2"
	fault_end "$where"
	promise "$fault_kind archive: later it works" fault_purge
	promise "$fault_kind archive: rows are gone" equals 0 \
		"SELECT COUNT(*) FROM result WHERE file_delete_state = 2"
	promise "$fault_kind archive: and stand in it, once and whole" same \
		"$before $before" "$(cat "$where"/result_archive* |
			grep -c '<result_archive>') $(cat "$where"/result_archive* |
			grep -c '</result_archive>')"
	rm -rf "$where"
}
