#!/bin/bash
# t0100-make-project.sh - a project from nothing: made whole or not at all,
# made again without harm; platforms, applications, versions, jobs published;
# faults of config.xml told with their lines.
. "$(dirname "$0")/../lib/scenario.sh"

project_new fresh
cd "$PROJECT" || exit 1

# ---- what make_project leaves -------------------------------------------------
mode() { # MODE FILE
	[ "$(stat -c %a "$PROJECT/$2")" = "$1" ] && return 0
	echo "# $2 has mode $(stat -c %a "$PROJECT/$2")"
	return 1
}
key_file() { # FILE LINES
	[ "$(head -n 1 "keys/$1")" = 1024 ] && [ "$(tail -n 1 "keys/$1")" = . ] &&
		[ "$(wc -l <"keys/$1")" = "$2" ]
}
promise "config.xml is not for everybody" mode 640 config.xml
promise "nor is the folder of keys" mode 750 keys
promise "the signing key is the owner's alone" mode 600 keys/code_sign_private
promise "the upload key is the group's, too" mode 640 keys/upload_private
promise "the private key has 22 lines of digits" key_file code_sign_private 24
promise "the public key has 8" key_file upload_public 10
promise "so is the other one" mode 640 keys/upload_ed25519_private
promise "which has its public half" test "$(head -n 1 keys/upload_ed25519_public)" = ed25519
promise "uploads belong to the group" mode 2770 upload
promise "config.xml is without faults" bin/show_config master_url
promise "certificates are on" test "$(bin/show_config ignore_upload_certificates)" = 0
promise "one result of a workunit for each user" \
	test "$(bin/show_config one_result_per_user_per_wu)" = 1
promise "the fan-out is 1024" test "$(bin/show_config uldl_dir_fanout)" = 1024
no_dangling() { test -z "$(find bin cgi-bin -xtype l)"; }
promise "every link leads to a program" no_dangling
promise "the database has its tables and a version" equals 1 \
	"SELECT MAX(version) > 0 FROM x_schema"

# ---- again ---------------------------------------------------------------------
again() {
	make_project --project_root "$PROJECT" --http_port "$HTTP_PORT" \
		--db_host "$T/db/db.sock" --db_name "$DB_NAME" --db_user quorate \
		--db_passwd "$DB_PASSWD" --test_app "$@"
}
before=$(cat config.xml keys/* | md5sum)
rm -f bin/xadd fresh.readme
promise "it can be made again" again fresh
promise "what was missing is back" test -x bin/xadd -a -f fresh.readme
promise "keys and configuration are the same" \
	test "$(cat config.xml keys/* | md5sum)" = "$before"

# ---- all or nothing -------------------------------------------------------------
fails() { ! "$@" >"$T/out" 2>&1; }
says() { grep -q "$1" "$T/out" && return 0; sed 's/^/# /' "$T/out"; return 1; }
nothing_left() { test -z "$(ls -d "$T"/half* 2>/dev/null)"; }

promise "without a database server there is no project" fails make_project \
	--project_root "$T/half" --db_host "$T/nowhere.sock" --http_port 9999 half
promise "nothing is left of it" nothing_left
promise "nor with a database that this account may not make" fails \
	make_project --project_root "$T/half" --db_host "$T/db/db.sock" \
	--db_name another --db_user quorate --db_passwd "$DB_PASSWD" \
	--http_port 9999 half
promise "nothing is left of it" nothing_left
promise "a name with blanks is refused" fails make_project --no_db 'a b'
promise "and the option is named" says "SHORT_NAME 'a b'"
promise "a host without a dot is refused: no client could attach" fails \
	make_project --no_db --project_root "$T/half" \
	--url_base http://localhost/ half
mkdir "$T/precious" && touch "$T/precious/file"
promise "a folder that is no project is not touched" fails make_project \
	--no_db --delete_prev_inst --http_port 9999 \
	--project_root "$T/precious" half
promise "its file is there" test -f "$T/precious/file"
promise "a project without database is made" make_project --no_db \
	--http_port 9999 --project_root "$T/bare" bare

# ---- faults of config.xml -------------------------------------------------------
cp config.xml "$T/config.xml"
sed -i 's|^    </config>|        <max_wus_to_sent>5</max_wus_to_sent>\n&|' config.xml
line=$(grep -n max_wus_to_sent config.xml | cut -d: -f1)
promise "an unknown element is a fault" fails bin/show_config
promise "told with its line" says "config.xml:$line:"
promise "and the name that was meant" says max_wus_to_send
promise "nothing starts with it" fails bin/start
promise "which is told with the line, too" says "config.xml:$line:"
promise "no tool works with it" fails bin/xadd
cp "$T/config.xml" config.xml
project_option shmem_work_items many
line=$(grep -n shmem_work_items config.xml | cut -d: -f1)
promise "a value of the wrong type is a fault" fails bin/show_config
promise "with its line" says "config.xml:$line:"
cp "$T/config.xml" config.xml

# ---- applications ---------------------------------------------------------------
promise "platforms and the application are there" equals "13 1" \
	"SELECT CONCAT_WS(' ', (SELECT COUNT(*) FROM platform),
	 (SELECT COUNT(*) FROM app))"
sed -i 's|<user_friendly_name>Upper case (example)|<min_version>100</min_version>\n        <weight>2</weight>\n        &|' project.xml
promise "xadd changes what differs" bin/xadd
promise "in every column given" equals "100 2" \
	"SELECT CONCAT_WS(' ', min_version, weight) FROM app"
sed -i 's|<weight>2|<wait>2|; s|2</weight>|2</wait>|' project.xml
promise "an unknown column is a fault" fails bin/xadd
promise "with its line" says "project.xml:$(grep -n '<wait>' project.xml | cut -d: -f1):"
promise "the feeder is told to look again" test -f reread_db

promise "the version was signed and published" equals 1 \
	"SELECT COUNT(*) FROM app_version WHERE version_num = 100
	 AND xml_doc LIKE '%<file_signature>%<main_program/>%'"
promise "again, there is nothing new" bin/update_versions --noconfirm
new=apps/uppercase/1.01/x86_64-pc-linux-gnu
mkdir -p $new
printf 'another' >"$new/$(ls download | head -n 1)"
promise "a published file cannot get another content" \
	fails bin/update_versions --noconfirm
promise "which is said" says immutable
rm -f $new/*
printf '#!/bin/sh\n' >$new/uppercase_1.01
mv keys/code_sign_private "$T/offline_key"
promise "without key and signature nothing is published" \
	fails bin/update_versions --noconfirm
promise "and the way out is named" says sign_executable
sign_executable $new/uppercase_1.01 "$T/offline_key" >$new/uppercase_1.01.sig
promise "a dry run writes nothing" bin/update_versions --dry_run
promise "(no file)" test ! -e download/uppercase_1.01
promise "signed on another machine it is published" \
	bin/update_versions --noconfirm
mkdir -p apps/uppercase/1.02/x86_64-pc-linux-gnu
printf 'x' >apps/uppercase/1.02/x86_64-pc-linux-gnu/uppercase_1.02
printf 'junk\n.\n' >apps/uppercase/1.02/x86_64-pc-linux-gnu/uppercase_1.02.sig
promise "a wrong signature is refused" fails bin/update_versions --noconfirm
promise "because clients would" says "clients would refuse it"
rm -r apps/uppercase/1.02
mkdir -p apps/uppercase/1.03/x86_64-pc-linux-gnu__mystery
cp $new/* apps/uppercase/1.03/x86_64-pc-linux-gnu__mystery/
promise "a plan class that nobody described is refused" \
	fails bin/update_versions --noconfirm
promise "by name" says "plan class mystery"
rm -r apps/uppercase/1.03
promise "two versions are published" equals 2 "SELECT COUNT(*) FROM app_version"

# ---- a first job ------------------------------------------------------------------
echo hello >"$T/first_input"
promise "an input is staged" bin/stage_file --copy "$T/first_input"
staged=$(bin/dir_hier_path first_input)
promise "at its place in the hierarchy" test -f "$staged"
promise "with MD5 and size beside it" \
	test "$(cat "$staged.md5")" = "$(md5sum <"$staged" | cut -c1-32) 6"
echo other >"$T/first_input"
promise "another content under the name is refused" \
	fails bin/stage_file "$T/first_input"
promise "a job is made" bin/create_work --appname uppercase --wu_name first \
	first_input
promise "its document has URL, MD5 and size of the input" equals 1 \
	"SELECT xml_doc LIKE '%<url>${URL}download/%/first_input</url>%<md5_cksum>$(
		md5sum <"$staged" | cut -c1-32)</md5_cksum>%<nbytes>6</nbytes>%'
	 FROM workunit"
done_promising
