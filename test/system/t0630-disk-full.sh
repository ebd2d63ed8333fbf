#!/bin/bash
# t0630-disk-full.sh - no space for uploads, logs, staged files, archives, rows:
# everybody says so, nothing is half there, and later it goes on.
. "$(dirname "$0")/../lib/bare.sh"
. "$(dirname "$0")/../lib/faults.sh"

bare_new full
bare_app
bare_user 7 alice $ALICE
bare_host 17 7
fault_with full
feeder_up
bare_jobs 4
feeder_fill

fault_in_upload
fault_in_download
fault_in_log 1

# ---- the database's disk ----
cp "$top/test/data/keys/upload_private" "$PROJECT/keys/"
mkdir -p "$PROJECT/templates"
echo '<input_template><workunit></workunit></input_template>' \
	>"$PROJECT/templates/demo_in"
echo '<output_template><result></result></output_template>' \
	>"$PROJECT/templates/demo_out"
work() {
	seq 3000 | sed 's/^/--wu_name new_/' | (cd "$PROJECT" &&
		"$build/tools/create_work" --appname demo --stdin) >"$T/work.log" 2>&1
}
if [ $fault_by = mount ]; then
	mariadb_stop "$T/db"
	mv "$T/db/data" "$T/db/roomy"
	mkdir "$T/db/data"
	mount -t tmpfs -o size="$(($(du -sm --apparent-size "$T/db/roomy" | cut -f1) + 40))m",mode=700 \
		faults "$T/db/data"
	fault_mounted+=("$T/db/data")
	# without holes: what the server has written once it may write again
	cp -a --sparse=never "$T/db/roomy/." "$T/db/data/"
	chown --reference="$T/db/roomy" "$T/db/data"
	rm -rf "$T/db/roomy"
	mariadb_start "$T/db"
	mariadb_client "$T/db" -e "SET GLOBAL sql_mode = ''"
	# until a row of that size does not fit any more
	# (long rows, and MariaDB 10.11 aborts)
	sql "CREATE TABLE heap (id INT PRIMARY KEY AUTO_INCREMENT, b CHAR(200))"
	head -c 600m /dev/zero >"$T/db/data/.fill" 2>/dev/null
	for _ in $(seq 1 100); do
		sql "INSERT INTO heap (b) SELECT REPEAT('x', 200)
		    FROM seq_1_to_2000" 2>/dev/null || break
	done
	promise "a full database: jobs cannot be made" eval '! work'
	promise "which says why" grep -q "is full\|Disk full\|No space" "$T/work.log"
	rm -f "$T/db/data/.fill"
	sql "DROP TABLE heap"
	promise "later they can" work
	promise "each once" equals 3000 \
		"SELECT COUNT(*) FROM workunit WHERE name LIKE 'new_%'"
	ask seqno=9
	promise "and a client gets its job" sends 1
	sql "DELETE FROM workunit WHERE name LIKE 'new_%'"
fi

feeder_down
fault_in_archive
done_promising
