#!/bin/bash
# t0400-hooks.sh - the examples of docs/hooks.md, as they stand there: compiled
# against the installed library through pkg-config, run in each of their forms.
. "$(dirname "$0")/../lib/scenario.sh"

project_new hooks
cd "$PROJECT" || exit 1
doc=$top/docs/hooks.md
# a prefix that the system does not search
PKG_CONFIG_PATH=$(echo "$prefix"/lib*/pkgconfig)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir quorate 2>/dev/null ||
	PKG_CONFIG_PATH=$PKG_CONFIG_PATH pkg-config --variable=libdir quorate)
export PKG_CONFIG_PATH LD_LIBRARY_PATH
export CC=gcc

# block KIND NAME: the fenced block behind <!-- KIND: NAME -->.
block() {
	awk -v mark="<!-- $1: $2 -->" '
		$0 == mark { found = 1; next }
		found && /^```/ { if (inside) exit; inside = 1; next }
		found && inside' "$doc"
}

# step NAME K: line K of the commands NAME, comments left out, with our CC.
step() {
	local line
	line=$(block commands "$1" | grep -v '^#' | sed -n "$2p")
	[ -n "$line" ] || return 1
	bash -c "cc() { $CC -Wall -Wextra -Werror \"\$@\"; }; $line" \
		>"$T/out" 2>&1 && return 0
	sed 's/^/# /' "$T/out"
	return 1
}

says() { grep -q -- "$1" "$T/out" && return 0; sed 's/^/# /' "$T/out"; return 1; }
fails() { ! "$@"; }

# ---- the project ------------------------------------------------------------------
for name in pi_validator.c pi_assimilator.c pi_generator.c submit_one.c \
	pi_trickle.c; do
	block example $name >$name
done
for name in same_pi store_pi; do
	block example $name >bin/$name
	chmod +x bin/$name
done
cp templates/uppercase_in templates/pi_in
cp templates/uppercase_out templates/pi_out
sql "UPDATE app SET name = 'pi', user_friendly_name = 'Pi'"
for i in 1 2; do
	sql "INSERT INTO user (id, create_time, email_addr, name, authenticator,
		cross_project_id, passwd_hash, total_credit, expavg_credit,
		expavg_time, teamid, venue, send_email, show_hosts, posts, seti_id,
		seti_nresults, seti_last_result_time, seti_total_cpu, has_profile,
		email_validated, donated) VALUES ($i, 1, '$i', '$i', '$i', '', '', 0, 0,
		0, 0, '', 1, 1, 0, 0, 0, 0, 0, 0, 0, 0)"
	mariadb_client "$T/db" "$DB_NAME" -e "SET SESSION sql_mode = '';
		INSERT INTO host SET id = $i, userid = $i, create_time = 1,
		rpc_time = 1, p_fpops = 1e9"
done

# computed NAME A B: two volunteers computed the workunit and got A and B.
computed() {
	local k=0 value id file
	for value in "$2" "$3"; do
		id=$(sql "SELECT id FROM result WHERE name = '$1_$k'")
		file=$(sql "SELECT xml_doc_in FROM result WHERE id = $id" |
			grep -o "$1_${k}_r[0-9]*_0" | head -n 1)
		echo "$value" >"$(bin/dir_hier_path "$file" |
			sed 's|/download/|/upload/|')" || return 1
		k=$((k + 1))
		sql "UPDATE result SET server_state = 5, outcome = 1, hostid = $k,
			userid = $k, sent_time = UNIX_TIMESTAMP() - 600, received_time =
			UNIX_TIMESTAMP(), elapsed_time = 500, cpu_time = 500,
			flops_estimate = 1e9, client_state = 5, app_version_id = -2
			WHERE id = $id;
			UPDATE workunit w JOIN result r ON r.workunitid = w.id
			SET w.transition_time = UNIX_TIMESTAMP() WHERE r.id = $id"
	done
	bin/transitioner --one_pass
}
mkdir -p upload
dir_of_upload() { # the folders of the fan-out are made by the upload handler
	local i
	for ((i = 0; i < 1024; i++)); do
		printf 'upload/%x\n' $i
	done | xargs mkdir -p
}
dir_of_upload

states() { # NAME: of its two results, and whether there is a canonical one
	sql "SELECT CONCAT_WS(' ', MIN(r.validate_state), MAX(r.validate_state),
		w.canonical_resultid <> 0) FROM workunit w JOIN result r
		ON r.workunitid = w.id WHERE w.name = '$1' AND r.server_state = 5
		GROUP BY w.id"
}
same() {
	[ "$1" = "$2" ] && return 0
	echo "# '$1' is not '$2'"
	return 1
}

# ---- work generator, create_work() ------------------------------------------------
promise "the work generator compiles" step generator 1
promise "and runs" step generator 2
promise "it makes as many jobs as there is room" equals 6 \
	"SELECT COUNT(*) FROM workunit WHERE name LIKE 'pi_seed_%'"
promise "as it said" equals "2 5 10" "SELECT CONCAT_WS(' ', min_quorum,
	max_error_results, max_total_results) FROM workunit WHERE name = 'pi_seed_1'"
bin/transitioner --one_pass
promise "with enough unsent it makes none" step generator 2
promise "(six)" equals 6 "SELECT COUNT(*) FROM workunit"
echo 42 >seed_file
bin/stage_file --copy seed_file
promise "a program that submits compiles" step submit 1
promise "and submits" step submit 2
promise "a job" equals 1 "SELECT COUNT(*) FROM workunit WHERE name = 'from_c'"
promise "once, however often" step submit 2
promise "(one)" equals 7 "SELECT COUNT(*) FROM workunit"
refused() { ./submit_one . pi from_c nowhere >"$T/out" 2>&1; }
promise "a file that is not staged is refused" fails refused
promise "as create_work does" says "nowhere: is not staged"

# ---- validator ---------------------------------------------------------------------
computed pi_seed_1 3.14159265358979 3.14159265358980 || exit 1
promise "the validator compiles" step validator 1
promise "and runs, linked" step validator 2
promise "what differs by 1e-14 agrees" same "1 1 1" "$(states pi_seed_1)"
computed pi_seed_2 3.14159265358979 3.14159265358980
computed pi_seed_3 3.14 3.15
promise "it compiles as a module" step validator 3
promise "and runs, loaded" step validator 4
promise "with the same verdicts" same "1 1 1" "$(states pi_seed_2)"
promise "also about what differs" same "4 4 0" "$(states pi_seed_3)"
computed pi_seed_4 3.14159265358979 3.14159265358980
computed pi_seed_5 3.14 nonsense
promise "a script runs" step validator 5
promise "with the same verdict" same "1 1 1" "$(states pi_seed_4)"
promise "a script that fails says no" same "4 4 0" "$(states pi_seed_5)"
seventeen() { # the example's number, as our workunit's
	local id
	id=$(sql "SELECT id FROM workunit WHERE name = '$1'")
	bash -c "$(block commands try | sed "s/ 17$/ $id/")" >"$T/out" 2>&1
}
promise "a try against stored results runs" seventeen pi_seed_3
promise "it says what would be said" says "pi_seed_3_0: INCONCLUSIVE"
promise "and what is stored" says "(stored: INCONCLUSIVE)"
promise "also of what was judged" seventeen pi_seed_1
promise "(valid)" says "pi_seed_1_0: VALID, credit .*, canonical (stored: VALID, canonical)"
unknown() { bin/validator --hooks ./pi_validator.c --app pi >"$T/out" 2>&1; }
promise "a file that is no module is refused" fails unknown
none() { echo >empty.c && gcc -shared empty.c -o empty.so &&
	bin/validator --hooks empty.so --app pi >"$T/out" 2>&1; }
promise "one without hooks, too" fails none
promise "(it says so)" says "does not define"

# ---- assimilator -------------------------------------------------------------------
promise "the assimilator compiles" step assimilator 1
promise "and runs, linked" step assimilator 2
promise "outputs are where it puts them" test -s results/pi_seed_1
promise "all of them" test -s results/pi_seed_4
computed pi_seed_6 3.14159265358979 3.14159265358980
step validator 2
promise "it compiles as a module" step assimilator 3
promise "and runs, loaded" step assimilator 4
promise "with the same effect" test -s results/pi_seed_6
bin/transitioner --one_pass
sql "UPDATE workunit SET error_mask = 16, assimilate_state = 1
	WHERE name = 'pi_seed_5'"
promise "a script runs" step assimilator 5
promise "and is told of a failure" test -e failed_pi_seed_5
promise "all that ended are assimilated" equals 5 \
	"SELECT COUNT(*) FROM workunit WHERE assimilate_state = 2"

# ---- trickle handler ---------------------------------------------------------------
sql "INSERT INTO msg_from_host (create_time, hostid, variety, handled, xml) VALUES
	(UNIX_TIMESTAMP(), 1, 'pi', 0, '<flop>8.64e13</flop>'),
	(UNIX_TIMESTAMP(), 1, 'pi', 0, '<flop>8.64e33</flop>')"
before=$(sql "SELECT total_credit FROM user WHERE id = 1")
promise "the trickle handler compiles" step trickle 1
promise "and runs" step trickle 2
promise "8.64e13 FLOP are 200 credits" equals 1 "SELECT ABS(total_credit -
	$before - 200) < 1e-6 FROM user WHERE id = 1"
promise "the good message is done, the other bad" equals "1 2" \
	"SELECT GROUP_CONCAT(handled ORDER BY id SEPARATOR ' ') FROM msg_from_host"
promise "the good one is answered" equals 1 "SELECT COUNT(*) FROM msg_to_host"

# ---- other compilers, other programs -------------------------------------------------
if command -v clang >/dev/null; then
	CC=clang
	promise "clang compiles a program" step validator 1
	promise "that finds its hooks" step validator 2
	promise "and a module" step validator 3
	promise "that is found" step validator 4
fi
cat >own_main.c <<-'END'
	#include <quorate/validator.h>
	static enum read_status r(const struct output *o, void *v)
	{ (void)v; return output_find(o, "out") == 0 ? READ_OK : READ_BAD; }
	static bool s(const void *a, const void *b) { (void)a; (void)b; return true; }
	int main(int argc, char **argv)
	{
	    static const struct validator_hooks mine = {.read = r, .same = s};
	    return validator_main(argc, argv, &mine);
	}
END
own() { gcc own_main.c -o own $(pkg-config --cflags --libs quorate) &&
	./own --app pi --one_pass; }
promise "a program with a main() of its own works" own 2>"$T/own.log"
nothing() { gcc empty.c -o nothing -Wl,--no-as-needed \
	$(pkg-config --libs quorate) && ./nothing >"$T/out" 2>&1; }
promise "a program without hooks is told so" fails nothing
promise "(by name)" says "none of validator_hooks"
plus() {
	sed 's/.*validator.h.*/&\n#include <quorate\/assimilator.h>\n#include <quorate\/trickle.h>\n#include <quorate\/work_generator.h>/' \
		own_main.c | sed '/^#include/!d' >plus.cc &&
		echo 'int main() { const struct job *j = nullptr; return j != nullptr; }' >>plus.cc &&
		g++ -Wall -Werror plus.cc -o plus $(pkg-config --cflags --libs quorate) &&
		./plus
}
if command -v g++ >/dev/null; then
	promise "the headers are C++, too" plus
fi
promise "the library shows nothing but its functions" same "" "$(nm -D \
	--defined-only "$LD_LIBRARY_PATH/libquorate.so" | awk '{print $3}' |
	grep -vE '^(main|(validator|assimilator|trickle|work_generator)_main|job_init|create_work.*|(output|finished|trickle)_[a-z0-9_]*)$')"
promise "its man page is installed" test -s "$prefix/share/man/man3/quorate.3"
done_promising
