#!/bin/bash
# t0210-upload-handler.sh - files that clients upload: whole, in parts, damaged,
# forged, too large, with names that lead elsewhere.
. "$(dirname "$0")/../lib/bare.sh"

bare_new uploads
private=$top/test/data/keys/upload_private
data=$top/test/data/requests

# Where a file of this name lies (fan-out 1024: md5 digits 2 to 8).
place() {
	local hash
	hash=$(printf '%s' "$1" | md5sum | cut -c2-8)
	printf '%s/upload/%x/%s' "$PROJECT" $((0x$hash % 1024)) "$1"
}

# put NAME FILE [OFFSET [BYTES [NAME=VALUE…]]]: upload BYTES of FILE from
# OFFSET.  Variables: nbytes, max, md5, signature; "" leaves the element out.
put() {
	local name=$1 file=$2 offset=${3:-0} bytes=${4:-}
	local nbytes max=1000000 md5 signature word
	nbytes=$(stat -c %s "$file")
	md5=$(md5sum <"$file" | cut -c1-32)
	signature=unset
	for word in "${@:5}"; do
		local "$word"
	done
	[ "$signature" != unset ] ||
		signature=$("$build/test/system/certify" "$private" "$name" "$max")
	[ -n "$bytes" ] || bytes=$((nbytes - offset))
	{
		printf '<data_server_request>\n'
		printf '    <core_client_major_version>7</core_client_major_version>\n'
		printf '<file_upload>\n<file_info>\n'
		[ -z "$name" ] || printf '<name>%s</name>\n' "$name"
		[ -z "$signature" ] ||
			printf '<xml_signature>\n%s</xml_signature>\n' "$signature"
		[ -z "$max" ] || printf '<max_nbytes>%s</max_nbytes>\n' "$max"
		printf '</file_info>\n'
		[ -z "$nbytes" ] || printf '<nbytes>%s</nbytes>\n' "$nbytes"
		[ -z "$md5" ] || printf '<md5_cksum>%s</md5_cksum>\n' "$md5"
		printf '<offset>%s</offset>\n<data>\n' "$offset"
		tail -c +$((offset + 1)) "$file" | head -c "$bytes"
	} >"$T/up"
	upload "$T/up"
}

size_of() {
	printf '<data_server_request>\n<get_file_size>%s</get_file_size>\n</data_server_request>\n' \
		"$1" >"$T/up"
	upload "$T/up"
}

status() { # WANT [TEXT]
	http_200 && grep -q "<status>$1</status>" "$T/upload.txt" &&
		grep -q "${2:-.}" "$T/upload.txt"
}

told_size() { # WANT
	status 0 && grep -q "<file_size>$1</file_size>" "$T/upload.txt"
}

stored() { # NAME FILE
	cmp -s "$(place "$1")" "$2" && [ ! -e "$(place "$1").part" ]
}

nothing_stored() {
	same '' "$(find "$PROJECT/upload" -type f -newer "$T/mark")"
}

mark() {
	touch "$T/mark"
	sleep 0.02
}

# ---- as the client sends it ----
tail -c 19 "$data/upload_02_small_file_7.20.5.txt" >"$T/small"
upload "$data/upload_02_small_file_7.20.5.txt"
promise "a captured upload is taken" status 0
promise "byte for byte" stored wu_ok_1_0_r123456789_0 "$T/small"
promise "in the folder of its name, readable" same 664 \
	"$(stat -c %a "$(place wu_ok_1_0_r123456789_0)")"
head -c 300000 /dev/urandom >"$T/big"
head -c 150000 "$T/big" >"$T/half"
size_of big_0_r1_0
promise "nothing there: 0 bytes" told_size 0
put big_0_r1_0 "$T/big" 0 150000
promise "an upload that breaks off is told to come again" status 1
promise "what arrived is kept" cmp -s "$(place big_0_r1_0).part" "$T/half"
promise "but is not the file" test ! -e "$(place big_0_r1_0)"
size_of big_0_r1_0
promise "the client learns how much is there" told_size 150000
put big_0_r1_0 "$T/big" 150000
promise "and sends the rest" status 0
promise "300 KB in two parts are identical" stored big_0_r1_0 "$T/big"
size_of big_0_r1_0
promise "its size is told" told_size 300000
put parts_0_r1_0 "$T/big" 0 200000
put parts_0_r1_0 "$T/big" 100000
promise "going on from an earlier byte is fine" stored parts_0_r1_0 "$T/big"
put gap_0_r1_0 "$T/big" 0 100000
put gap_0_r1_0 "$T/big" 150000
promise "a gap is not" status 1 "less of the file"
size_of gap_0_r1_0
promise "and the part stays as it was" told_size 100000
: >"$T/nothing"
put empty_0_r1_0 "$T/nothing"
promise "an empty file is a file" stored empty_0_r1_0 "$T/nothing"
put nomd5_0_r1_0 "$T/big" 0 "" md5=
promise "old clients send no MD5" stored nomd5_0_r1_0 "$T/big"
put over_0_r1_0 "$T/big" 300000
promise "an offset at the end brings nothing" status 0
promise "and stores nothing" test ! -e "$(place over_0_r1_0)"

# ---- complete files ----
mark
put big_0_r1_0 "$T/half"
promise "a complete file is not written again: success" status 0
promise "but it stays as it is" stored big_0_r1_0 "$T/big"
promise "and is not even touched" nothing_stored

# ---- damage ----
mark
put damaged_0_r1_0 "$T/big" 0 "" md5=00000000000000000000000000000000
promise "a wrong MD5: the client is to send again" status 1 damaged
promise "what came is dropped" nothing_stored
put damaged_0_r1_0 "$T/big"
promise "sent again, it is taken" stored damaged_0_r1_0 "$T/big"
put late_0_r1_0 "$T/half" 0 100000 nbytes=300000
put late_0_r1_0 "$T/big" 100000 "" md5="$(md5sum <"$T/half" | cut -c1-32)"
promise "the MD5 is that of the whole file, parts before included" status 1 damaged

# ---- refused by the header ----
while IFS='|' read -r name args want promise; do
	mark
	# shellcheck disable=SC2086
	put "$name" "$T/big" 0 "" $args
	promise "$promise" status "$want"
	promise "$promise: nothing is stored" nothing_stored
done <<'END'
x_0_r1_0|signature=|-1|no certificate
x_0_r1_0|signature=00|-1|a wrong certificate
x_0_r1_0|max=|-1|no limit
x_0_r1_0|max=299999|-1|one byte more than allowed
x_0_r1_0|nbytes=|-1|no size
x_0_r1_0|nbytes=-1|-1|a negative size
x_0_r1_0|nbytes=99999999999999999999|-1|a size of more than 64 bits
|signature=00|-1|no name
../x|nbytes=300000|-1|a name that leads upward
/etc/x|nbytes=300000|-1|an absolute name
a/../../x|nbytes=300000|-1|a name with a way out inside
..|nbytes=300000|-1|the folder above
.|nbytes=300000|-1|the folder itself
a%2e%2e|nbytes=300000|-1|a percent sign
x_0_r1_0.part|nbytes=300000|-1|the name of a part
END
mark
certificate=$("$build/test/system/certify" "$private" other_0_r1_0 1000000)
put x_0_r1_0 "$T/big" 0 "" "signature=$certificate"
promise "the certificate of another file" status -1
certificate=$("$build/test/system/certify" "$private" x_0_r1_0 1000)
put x_0_r1_0 "$T/big" 0 "" "signature=$certificate"
promise "the certificate of a smaller limit" status -1
certificate=$("$build/test/system/certify" "$top/test/data/keys/code_sign_private" \
	x_0_r1_0 1000000)
put x_0_r1_0 "$T/big" 0 "" "signature=$certificate"
promise "a certificate of another key" status -1
certificate=$("$build/test/system/certify" \
	"$top/test/data/keys/upload_ed25519_private" x_0_r1_0 1000000)
put x_0_r1_0 "$T/big" 0 "" "signature=$certificate"
promise "a kind of certificate that the project has no key for" status -1
put "$(printf 'a%.0s' $(seq 1 300))" "$T/big"
promise "a name of 300 characters" status -1
put "$(printf 'a%.0s' $(seq 1 253))" "$T/big"
promise "one that has no room for its part" status -1
put "$(printf 'a\001b')" "$T/big"
promise "a control character" status -1
put $'a\n../b' "$T/big"
promise "a line's end" status -1
certificate=$("$build/test/system/certify" "$private" a 1000000)
put "a@b" "$T/big" 0 "" "signature=$certificate"
perl -pi -e 's/<name>a@b/<name>a\0b/' "$T/up"
upload "$T/up"
promise "a NUL behind a name that has a certificate" status -1
promise "nothing of these is stored" nothing_stored
for name in ../x /etc/passwd .. x.part "a/../../../etc/passwd" a%2e%2e %2e%2e%2fx \
	$'\n/etc/passwd' "$(printf 'a%.0s' $(seq 1 300))" "$PROJECT/config.xml"; do
	size_of "$name"
	promise "size query of $(printf %q "${name:0:40}")" status -1
done
printf '<data_server_request>\n<get_file_size>x\0y</get_file_size>\n</data_server_request>\n' >"$T/up"
upload "$T/up"
promise "size query of a name with a NUL" status -1
size_of $'gap_0_r1_0\n../x'
promise "a name ends with its line" told_size 100000

# ---- links in the upload folder ----
mkdir "$T/outside"
folder=$(dirname "$(place link_0_r1_0)")
mkdir -p "$folder"
ln -s "$T/outside/taken" "$(place link_0_r1_0).part"
put link_0_r1_0 "$T/big"
promise "a link is not followed when a part is written" test ! -e "$T/outside/taken"
promise "the client is to come again" status 1
echo secret >"$T/outside/secret"
rm "$(place link_0_r1_0).part"
ln -s "$T/outside/secret" "$(place link_0_r1_0)"
size_of link_0_r1_0
promise "nor when a size is asked for" status 1
put link_0_r1_0 "$T/big"
promise "nor when a file is there" same secret "$(cat "$T/outside/secret")"
folder=$(dirname "$(place dir_0_r1_0)")
[ -e "$folder" ] || ln -s "$T/outside" "$folder"
put dir_0_r1_0 "$T/big"
promise "nor a folder" test ! -e "$T/outside/dir_0_r1_0"

# ---- requests that are none ----
mark
: >"$T/up"
upload "$T/up"
promise "an empty body" status 1
upload "$T/up" GET
promise "GET" status 1
head -c 100000 /dev/urandom >"$T/up"
upload "$T/up"
promise "noise" http_200
head -c 300 "$data/upload_02_small_file_7.20.5.txt" >"$T/up"
upload "$T/up" POST 1000
promise "a header that breaks off may come again" status 1
{
	echo '<data_server_request>'
	echo '<file_upload>'
	echo '<file_info>'
	echo '<name>x</name>'
	echo '</file_info>'
} >"$T/up"
upload "$T/up"
promise "no data at all" status -1
head -c 1000000 /dev/zero | tr '\0' 'x' >>"$T/up"
upload "$T/up"
promise "a header without end" status -1
promise "nothing of these is stored" nothing_stored
size=$(stat -c %s "$data/upload_02_small_file_7.20.5.txt")
bad=0
for ((at = 0; at < size - 19; at += 7)); do
	head -c $at "$data/upload_02_small_file_7.20.5.txt" |
		REQUEST_METHOD=POST CONTENT_LENGTH=$size \
			"$build/sched/file_upload_handler" >"$T/cgi.out" || bad=$((bad + 1))
	grep -q '<status>1</status>' "$T/cgi.out" || bad=$((bad + 1))
done
promise "a header cut at any 7th byte may come again" same 0 $bad

# ---- drained ----
# 200 MB with a wrong certificate, in less memory than that.
head -c 200000000 /dev/zero >"$T/huge"
mark
(
	# sanitizers map terabytes
	grep -q __asan "$build/sched/.libs/file_upload_handler" \
		"$build/sched/file_upload_handler" 2>/dev/null || ulimit -v 150000
	put huge_0_r1_0 "$T/huge" 0 "" signature=00 md5= max=300000000
	cp "$T/upload.txt" "$T/drained.txt"
)
promise "200 MB that are refused are read to their end" \
	grep -q '<status>-1</status>' "$T/drained.txt"
promise "and nothing is stored" nothing_stored
rm "$T/huge" "$T/up"

# ---- two at a time; killed ----
mkfifo "$T/slow"
put busy_0_r1_0 "$T/big" 0 100000
head -c -100000 "$T/up" >"$T/head"
length=$(($(stat -c %s "$T/head") + 300000))
REQUEST_METHOD=POST CONTENT_LENGTH=$length "$build/sched/file_upload_handler" \
	<"$T/slow" >"$T/slow.out" 2>>"$T/cgi.log" &
slow=$!
exec 9>"$T/slow"
cat "$T/head" >&9
head -c 150000 "$T/big" >&9
sleep 0.5
put busy_0_r1_0 "$T/big"
promise "a second upload of a file at a time is to come again" status 1 "at work"
size_of busy_0_r1_0
promise "so is a size query" status 1 "at work"
kill -KILL $slow
exec 9>&-
wait $slow 2>/dev/null
size_of busy_0_r1_0
kept=$(sed -n 's|.*<file_size>\(.*\)</file_size>|\1|p' "$T/upload.txt")
promise "a handler that is killed leaves what came ($kept bytes)" \
	[ "$((${kept:-0} > 0 && ${kept:-0} <= 150000))" = 1 ]
put busy_0_r1_0 "$T/big" "$kept"
promise "and the upload goes on from there" stored busy_0_r1_0 "$T/big"
# killed between its last byte and the end
cp "$T/big" "$(place last_0_r1_0).part" 2>/dev/null || {
	mkdir -p "$(dirname "$(place last_0_r1_0)")"
	cp "$T/big" "$(place last_0_r1_0).part"
}
chmod 1664 "$(place last_0_r1_0).part"
size_of last_0_r1_0
promise "a part that may be whole is never told as whole" told_size 299999
put last_0_r1_0 "$T/big" 299999
promise "so it gets finished" stored last_0_r1_0 "$T/big"
promise "and its mark goes" same 664 "$(stat -c %a "$(place last_0_r1_0)")"

# ---- configuration ----
touch "$PROJECT/stop_upload"
put stop_0_r1_0 "$T/big"
promise "stop_upload: later" status 1
rm "$PROJECT/stop_upload"
bare_config "<fuh_set_initial_permission>0777</fuh_set_initial_permission>
	<fuh_set_completed_permission>0444</fuh_set_completed_permission>"
put mode_0_r1_0 "$T/big" 0 1000
promise "a new file's mode, never executable" same 666 \
	"$(stat -c %a "$(place mode_0_r1_0).part")"
put mode_0_r1_0 "$T/big" 1000
promise "a complete file's mode" same 444 "$(stat -c %a "$(place mode_0_r1_0)")"
mv "$PROJECT/keys/upload_public" "$T/key"
put key_0_r1_0 "$T/big"
promise "no key: later" status 1
mv "$T/key" "$PROJECT/keys/upload_public"

# either kind of certificate is good, whichever new results get
cp "$top/test/data/keys/upload_ed25519_public" "$PROJECT/keys/"
both_kinds() { # NAME OF CONFIGURATION
	local kind
	for kind in upload upload_ed25519; do
		private=$top/test/data/keys/${kind}_private
		put "$1_${kind}_0_r1_0" "$T/big"
		promise "$1: a file with a certificate by $kind" \
			stored "$1_${kind}_0_r1_0" "$T/big"
	done
	mark
	private=$top/test/data/keys/upload_ed25519_private
	certificate=$("$build/test/system/certify" "$private" x_0_r1_0 1000)
	put x_0_r1_0 "$T/big" 0 "" "signature=$certificate"
	promise "$1: an Ed25519 certificate of a smaller limit" status -1 wrong
	certificate=$("$build/test/system/certify" "$private" y_0_r1_0 1000000)
	put x_0_r1_0 "$T/big" 0 "" "signature=$certificate"
	promise "$1: an Ed25519 certificate of another file" status -1 wrong
	promise "$1: nothing of these is stored" nothing_stored
}
bare_config ""
both_kinds rsa
bare_config "<upload_certificates>ed25519</upload_certificates>"
both_kinds ed25519
mv "$PROJECT/keys/upload_ed25519_public" "$T/key"
put nokey_0_r1_0 "$T/big"
promise "Ed25519 is the project's choice and has no key: later" status 1
private=$top/test/data/keys/upload_private
put older_0_r1_0 "$T/big"
promise "RSA is verified nevertheless" stored older_0_r1_0 "$T/big"

# without certificates the database must expect the file
bare_config "<ignore_upload_certificates>1</ignore_upload_certificates>"
sql "INSERT INTO result SET name = 'wu_0', server_state = 4, xml_doc_in =
'<file_info>
<name>wu_0_r7_0</name>
<max_nbytes>300000</max_nbytes>
<url>http://127.0.0.1/file_upload_handler</url>
</file_info>
<result>
<file_ref>
<file_name>wu_0_r7_0</file_name>
<open_name>out</open_name>
</file_ref>
</result>
'"
mark
put any_0_r1_0 "$T/big" 0 "" signature=
promise "without certificates: a file that nobody expects" status -1 "not expected"
put wu_0_r8_0 "$T/big" 0 "" signature=
promise "a guessed name" status -1 "not expected"
head -c 300001 /dev/urandom >"$T/bigger"
put wu_0_r7_0 "$T/bigger" 0 "" signature= max=400000
promise "one byte more than the result may bring" status -1 "too large"
promise "nothing of these is stored" nothing_stored
put wu_0_r7_0 "$T/big" 0 "" signature= max=
promise "the file that is expected" stored wu_0_r7_0 "$T/big"
audit_except result-workunit "results stand alone here"
audit_except result-reported "results stand alone here"
sql "UPDATE result SET server_state = 5, outcome = 1, received_time = 1,
	name = 'old_0'"
put old_0_r7_0 "$T/big" 0 "" signature=
promise "not after its result is over" status -1 "not expected"

promise "nothing critical but what was provoked" same 0 \
	"$(grep CRITICAL "$PROJECT/log/file_upload_handler.log" |
		grep -vc 'link_0_r1_0\|upload_public\|upload_ed25519_public\|dir_0\|upload/')"

done_promising
