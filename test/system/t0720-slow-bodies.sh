#!/bin/bash
# t0720-slow-bodies.sh - bodies that do not come, or come byte by byte: no worker
# waits for them for ever, neither as CGI nor as FastCGI program, and what is
# merely slow gets through.
. "$(dirname "$0")/../lib/bare.sh"

PATH=$PATH:/usr/sbin:/sbin
command -v lighttpd >/dev/null && command -v curl >/dev/null || {
	echo "1..0 # SKIP no lighttpd or no curl"
	exit 0
}
bare_new slow
bare_app
bare_user 7 alice $ALICE
bare_host 17 7
bare_config "<body_timeout>1</body_timeout>"
feeder_up
private=$top/test/data/keys/upload_private
export QUORATE_DATADIR=$top

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

# Pieces of FILE of BYTES each, a pause of SECONDS before each but the first;
# then nothing, but the line stays open until the reader is done.
drip() { # FILE BYTES SECONDS
	local size at
	size=$(stat -c %s "$1")
	for ((at = 0; at < size; at += $2)); do
		[ $at = 0 ] || sleep "$3"
		tail -c +$((at + 1)) "$1" | head -c "$2" 2>/dev/null || return
	done
	sleep 5 &
	wait $!
}

# slowly PROGRAM FILE BYTES SECONDS LENGTH: as CGI; milliseconds in $took.
slowly() {
	local begin dripper
	rm -f "$T/line"
	mkfifo "$T/line"
	drip "$2" "$3" "$4" >"$T/line" 2>/dev/null &
	dripper=$!
	begin=$(now_ms)
	REQUEST_METHOD=POST CONTENT_LENGTH=$5 REMOTE_ADDR=192.0.2.7 REQUEST_URI=/slow/ \
		timeout "${limit:-20}" "$build/$1" <"$T/line" >"$T/cgi.out" 2>>"$T/cgi.log"
	cgi_status=$?
	took=$(($(now_ms) - begin))
	kill $dripper 2>/dev/null
	wait $dripper 2>/dev/null
	sed '1,/^\r*$/d' "$T/cgi.out" >"$T/cgi.body"
}
in_time() { # MIN MAX: ms
	[ "$took" -ge "$1" ] && [ "$took" -le "$2" ] && return
	echo "# took $took ms, not $1 to $2"
	return 1
}
body_says() {
	grep -q -- "$1" "$T/cgi.body" && return
	sed 's/^/# /' "$T/cgi.out" | head -n 20
	return 1
}

# An upload of $T/bytes, with its certificate: in $T/up.
put() { # NAME
	local name=$1 size
	size=$(stat -c %s "$T/bytes")
	{
		printf '<data_server_request>\n<file_upload>\n<file_info>\n'
		printf '<name>%s</name>\n<xml_signature>\n%s</xml_signature>\n' "$name" \
			"$("$build/test/system/certify" "$private" "$name" "$size")"
		printf '<max_nbytes>%s</max_nbytes>\n</file_info>\n' "$size"
		printf '<nbytes>%s</nbytes>\n<offset>0</offset>\n<data>\n' "$size"
		cat "$T/bytes"
	} >"$T/up"
}
stored() { # NAME: how much of it lies in the upload folder
	find "$PROJECT/upload" \( -name "$1" -o -name "$1.part" \) -printf '%f %s\n'
}
head -c 20000 /dev/urandom >"$T/bytes"
put a_0_r1_0
length=$(stat -c %s "$T/up")
request
: >"$T/nothing"

# ---- CGI: nothing comes ----
while read -r program file want; do
	slowly "$program" "$T/$file" 100 5 100000
	promise "$program: a body that does not come is given up" in_time 900 4000
	promise "$program: with an answer" body_says "$want"
done <<'END'
sched/scheduler nothing <request_delay>
sched/scheduler req <request_delay>
sched/file_upload_handler nothing <status>1</status>
html/web nothing not understood
END
head -c 300 "$T/up" >"$T/head"
slowly sched/file_upload_handler "$T/head" 300 5 "$length"
promise "a header that stops in the middle" body_says "<status>1</status>"
promise "is waited for no longer than the rest" in_time 900 4000
head -c $((length - 5000)) "$T/up" >"$T/most"
slowly sched/file_upload_handler "$T/most" 100000 5 "$length"
promise "a file that stops in the middle: later" body_says "<status>1</status>"
promise "is waited for no longer" in_time 900 4000
promise "what came of it is kept" same "a_0_r1_0.part 15000" "$(stored a_0_r1_0)"
sed 's/^<max_nbytes>.*/<max_nbytes>7<\/max_nbytes>/' "$T/up" >"$T/forged"
head -c $((length - 5000)) "$T/forged" >"$T/most"
slowly sched/file_upload_handler "$T/most" 100000 5 "$length"
promise "a refused one is not waited for any longer" in_time 900 4000
promise "and stays refused" body_says "<status>-1</status>"

# a web server ends the program of a client that has gone
for program in sched/scheduler sched/file_upload_handler html/web; do
	limit=0.4 slowly $program "$T/nothing" 100 5 100000
	promise "$program goes when it is told to" same 124 $cgi_status
	promise "$program: at once" in_time 0 899
done

# ---- CGI: byte by byte ----
slowly sched/scheduler "$T/req" 10 0.3 "$(stat -c %s "$T/req")"
promise "a request that comes byte by byte is given up" in_time 900 4000
slowly sched/file_upload_handler "$T/up" 10 0.3 "$length"
promise "so is a header" in_time 900 4000
put b_0_r1_0
slowly sched/file_upload_handler "$T/up" 5100 0.8 "$(stat -c %s "$T/up")"
promise "a slow line is not" body_says "<status>0</status>"
promise "though it takes longer than a pause may" in_time 2000 15000
promise "and all of the file is there" same "b_0_r1_0 20000" "$(stored b_0_r1_0)"

# ---- FastCGI: one worker of each kind ----
port=
for _ in $(seq 1 50); do
	port=$((20000 + RANDOM % 30000))
	(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
done
part() { # NAME PROGRAM
	cat <<-END
		\$HTTP["url"] =~ "^/$1" {
		    server.stream-request-body = 2
		    fastcgi.server = ( "/" => (( "bin-path" => "$build/$2",
		        "socket" => "$T/$1.sock", "max-procs" => 1,
		        "check-local" => "disable", "bin-environment" => (
		            "QUORATE_PROJECT_DIR" => "$PROJECT",
		            "QUORATE_DATADIR" => "$top" ) )))
		}
	END
}
{
	echo "server.modules = ( \"mod_fastcgi\" )"
	echo "server.document-root = \"$T\""
	echo "server.bind = \"127.0.0.1\""
	echo "server.port = $port"
	echo "server.errorlog = \"$T/lighttpd.log\""
	part cgi sched/scheduler
	part upload sched/file_upload_handler
	part slow html/web
} >"$T/lighttpd.conf"
lighttpd -D -f "$T/lighttpd.conf" >>"$T/lighttpd.out" 2>&1 &
web=$!
url=http://127.0.0.1:$port
for _ in $(seq 1 100); do
	curl -s -o "$T/page" "$url/slow/" && break
	sleep 0.1
done

# hold PATH FILE LENGTH: a connection that sends FILE, and no more.
hold() {
	(
		exec 3<>"/dev/tcp/127.0.0.1/$port"
		printf 'POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %s\r\n\r\n' "$1" "$3" >&3
		cat "$2" >&3
		sleep 8
	) &
	holder=$!
}
served() { # PATH FILE WANT: milliseconds in $took
	local begin
	begin=$(now_ms)
	curl -s -m 20 -o "$T/cgi.body" --data-binary "@$2" "$url$1"
	took=$(($(now_ms) - begin))
	cp "$T/cgi.body" "$T/cgi.out"
	body_says "$3"
}
release() {
	kill $holder 2>/dev/null
	wait $holder 2>/dev/null
}
put c_0_r1_0
head -c 5000 "$T/up" >"$T/most"
printf 'format=xml' >"$T/form"
while read -r path half length whole want; do
	hold "$path" "$T/$half" "$length"
	sleep 0.3
	promise "$path: who comes behind one that sends nothing more is served" \
		served "$path" "$T/$whole" "$want"
	promise "$path: soon" in_time 0 4000
	release
done <<END
/cgi nothing 100000 req <user_name>alice
/upload nothing 100000 up <status>0</status>
/upload most 100000 up <status>0</status>
/slow nothing 100 form boinc_scheduler\|<index>
END
# large bodies still go through, in one piece and in many
head -c 3000000 /dev/urandom >"$T/bytes"
put d_0_r1_0
promise "3 MB at once" served /upload "$T/up" "<status>0</status>"
promise "are all there" same "d_0_r1_0 3000000" "$(stored d_0_r1_0)"
head -c 30000 /dev/urandom >"$T/bytes"
put e_0_r1_0
begin=$(now_ms)
curl -s -m 20 -o "$T/cgi.body" --limit-rate 12K --data-binary "@$T/up" "$url/upload"
took=$(($(now_ms) - begin))
promise "30 KB slowly" body_says "<status>0</status>"
promise "are all there, too" same "e_0_r1_0 30000" "$(stored e_0_r1_0)"
kill $web
wait $web 2>/dev/null

promise "each of these is told in the log" [ \
	"$(cat "$PROJECT"/log/*.log "$T"/*.log | grep -c 'a body does not come')" -ge 10 ]

done_promising
