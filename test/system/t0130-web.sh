#!/bin/bash
# t0130-web.sh - pages and web RPCs, as plain CGI: the bytes that clients look
# for, accounts, and requests that mean harm.
. "$(dirname "$0")/../lib/scenario.sh"

project_new web
cd "$PROJECT" || exit 1
web=$prefix/libexec/quorate/web

# get PATH[?QUERY]: $T/head, $T/body
get() {
	local query=
	case $1 in *\?*) query=${1#*\?} ;; esac
	env GATEWAY_INTERFACE=CGI/1.1 REQUEST_METHOD="${method:-GET}" \
		REQUEST_URI="/web/$1" QUERY_STRING="$query" \
		REMOTE_ADDR="${address:-192.0.2.1}" "$web" </dev/null >"$T/raw" || return 1
	sed -n '1,/^\r*$/p' "$T/raw" | tr -d '\r' >"$T/head"
	tail -c "+$(($(sed -n '1,/^\r*$/p' "$T/raw" | wc -c) + 1))" "$T/raw" >"$T/body"
}
body() { grep -q -- "$1" "$T/body" && return 0; sed 's/^/# /' "$T/body"; return 1; }
head_has() { grep -qi -- "$1" "$T/head" && return 0; sed 's/^/# /' "$T/head"; return 1; }
error() { body "<error_num>$1</error_num>"; }
answers() { get "$1" && body "$2"; }
fails_with() { get "$1" && error "$2"; }
fails_to_find() { ! grep -q -- "$1" "$2"; }
answers_over_http() {
	curl -s "${URL}lookup_account.php?$alice" -o "$T/body" && body "$key"
}
length_is_right() {
	test "$(sed -n 's/^Content-Length: //pI' "$T/head")" = "$(wc -c <"$T/body")"
}

# ---- the master page -----------------------------------------------------------------
scheduler=http://127.0.0.1:$HTTP_PORT/web_cgi/cgi
get ""
whole_line() { # exactly this line
	grep -qxF -- "$1" "$T/body"
}
promise "the master page has the link, at the start of a line, so spelled" \
	whole_line "<link rel=\"boinc_scheduler\" href=\"$scheduler\">"
promise "and the other notation on a line of its own" \
	whole_line "<scheduler>$scheduler</scheduler>"
promise "a browser is told that it is a page" head_has '^Content-Type: text/html'
promise "its length is told" length_is_right
promise "it may run no scripts" head_has "^Content-Security-Policy: default-src 'none'"
promise "index.php is the same" answers index.php "boinc_scheduler"
for i in 2 3; do
	echo "<scheduler>http://127.0.0.1:8$i/x_cgi/cgi</scheduler>" >>html/user/schedulers.txt
done
get ""
promise "more schedulers, more lines" \
	test "$(grep -c '^<link rel="boinc_scheduler" href="http' "$T/body")" = 3
cp "$prefix/share/quorate/html/pages/index.xsl" "$T/index.xsl"
printf '%s\n' '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">' \
	'<xsl:template match="/"><html><body>Our own page</body></html></xsl:template>' \
	'</xsl:stylesheet>' >html/pages/index.xsl
get ""
promise "a project's own page wins" body "Our own page"
promise "even if it forgets the scheduler, clients find it" \
	whole_line "<link rel=\"boinc_scheduler\" href=\"$scheduler\">"
echo '<xsl:stylesheet' >html/pages/index.xsl
get ""
promise "so they do if the page is broken" \
	whole_line "<scheduler>$scheduler</scheduler>"
printf '%s\n' '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>' \
	'<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">' \
	'<xsl:template match="/"><p><xsl:value-of select="document(&apos;/etc/passwd&apos;)"/></p></xsl:template>' \
	'</xsl:stylesheet>' >html/pages/index.xsl
get ""
promise "a stylesheet reads no other files" fails_to_find root: "$T/body"
rm html/pages/index.xsl

# ---- project config -------------------------------------------------------------------
get get_project_config.php
promise "clients learn the name" body "<name>Quorate web</name>"
promise "the master URL" body "<master_url>$URL</master_url>"
promise "the platforms with versions" body "<platform_name>x86_64-pc-linux-gnu</platform_name>"
promise "and how long a password must be" body "<min_passwd_length>6</min_passwd_length>"
promise "as XML" head_has '^Content-Type: text/xml'
promise "the project is not stopped" body "<sched_stopped>0</sched_stopped>"
touch stop_sched
promise "until it is" answers get_project_config.php "<sched_stopped>1</sched_stopped>"
rm stop_sched

# ---- accounts --------------------------------------------------------------------------
# alice@example.org, secret7: md5 of both, from the protocol's vectors
hash=c0359938626070c0538afe1ed09a3d3c
alice="email_addr=alice%40example%2Eorg&passwd_hash=$hash"
new="create_account.php?$alice&user_name=Alice"
promise "nobody is there at first" fails_with "lookup_account.php?$alice" -136
promise "an account is made" answers "$new" "<authenticator>[0-9a-f]\{32\}</authenticator>"
key=$(sed -n 's|.*<authenticator>\(.*\)</authenticator>.*|\1|p' "$T/body")
promise "asked again, it is the same" answers "$new" "<authenticator>$key<"
promise "an address has no capitals" answers \
	"create_account.php?email_addr=Alice%40Example.org&passwd_hash=$hash&user_name=Alice" "$key"
promise "with the password the key is given" answers "lookup_account.php?$alice" "$key"
promise "without, only that it is there" answers \
	"lookup_account.php?email_addr=alice%40example.org" "<success/>"
wrong=00000000000000000000000000000000
promise "a wrong password is one" fails_with \
	"lookup_account.php?email_addr=alice%40example.org&passwd_hash=$wrong" -206
promise "a short one, too" fails_with \
	"lookup_account.php?email_addr=alice%40example.org&passwd_hash=1" -206
by_key=$(printf '%salice@example.org' "$key" | md5sum | cut -c1-32)
promise "a digest of the key is a password, too" answers \
	"lookup_account.php?email_addr=alice%40example.org&passwd_hash=$by_key" "$key"
promise "the password is stored as bcrypt" equals 1 \
	"SELECT passwd_hash LIKE '\$2y\$%' FROM user"
sql "UPDATE user SET passwd_hash = '$hash'"
promise "the old plain form is understood" answers "lookup_account.php?$alice" "$key"
promise "and stays as it is" equals "$hash" "SELECT passwd_hash FROM user"
promise "the address with another password is taken" fails_with \
	"create_account.php?email_addr=alice%40example.org&passwd_hash=$wrong&user_name=Mallory" -137
sql "UPDATE user SET previous_email_addr = 'old@example.org'"
promise "a former address, too" fails_with \
	"create_account.php?email_addr=old%40example.org&passwd_hash=$hash&user_name=Old" -137
promise "a name is one user's" fails_with \
	"create_account.php?email_addr=b%40example.org&passwd_hash=$hash&user_name=Alice" -188
for name in "" "%20x" "x%20" "%3Cb%3E" "a%26b" "12345" "a%22b"; do
	promise "'$name' is no user's name" fails_with \
		"create_account.php?email_addr=b%40example.org&passwd_hash=$hash&user_name=$name" -188
done
for email in b b%40 %40example.org b%40example "b%40a%40example.org" "b%20c%40example.org" \
	"b%40example..org" "%C3%A9%40example.org" "b%00%0A%40example.org%0Ax"; do
	promise "'$email' is no address" fails_with \
		"create_account.php?email_addr=$email&passwd_hash=$hash&user_name=B" -205
done
promise "a hash has 32 digits" fails_with \
	"create_account.php?email_addr=b%40example.org&passwd_hash=${hash}0&user_name=B" -1
promise "all of this made one account" equals 1 "SELECT COUNT(*) FROM user"
promise "names of all the world are stored as they are" answers \
	"create_account.php?email_addr=b%40example.org&passwd_hash=$hash&user_name=J%C3%BCrgen%20%E6%97%A5%E6%9C%AC" authenticator
promise "(Jürgen 日本)" equals "Jürgen 日本" "SELECT name FROM user WHERE email_addr = 'b@example.org'"

project_option disable_account_creation_rpc 1
promise "an operator can close accounts" fails_with "$new" -208
promise "which clients are told" answers get_project_config.php "<client_account_creation_disabled/>"
project_option disable_account_creation_rpc 0
project_option account_creation_rpc_require_consent 1
c="create_account.php?email_addr=c%40example.org&passwd_hash=$hash&user_name=C"
promise "or demand consent" fails_with "$c" -242
promise "and have it" answers "$c&consent_flag=1&source=Manager" authenticator
promise "which is recorded" equals Manager "SELECT c.source FROM consent c JOIN user u ON u.id = c.userid
	WHERE u.email_addr = 'c@example.org'"
project_option account_creation_rpc_require_consent 0

# ---- harm ------------------------------------------------------------------------------
before=$(sql "CHECKSUM TABLE user, host, workunit, result, app, consent" | md5sum)
harmless() {
	get "$1" && head_has '^Content-Type:' && length_is_right
}
for q in "'" "%27%20OR%201%3D1--" "%00" "%" "%zz" "&&&=&" "email_addr" \
	"email_addr=%27%3B%20DROP%20TABLE%20user%3B--&passwd_hash=$hash" \
	"email_addr=alice%40example.org%27%20OR%20%271&passwd_hash=$wrong" \
	"email_addr=$(printf '%8000s' '' | tr ' ' a)%40example.org" \
	"email_addr=%FF%FE%40x.y&passwd_hash=%FF" "email_addr[]=x" \
	"email_addr=a%40b.c&email_addr=d%40e.f&passwd_hash[]="; do
	for page in lookup_account.php create_account.php server_status.php index.php; do
		promise "$page?$(printf '%.40s' "$q") does no harm" harmless "$page?$q"
	done
done
promise "no row was touched" test \
	"$(sql "CHECKSUM TABLE user, host, workunit, result, app, consent" | md5sum)" = "$before"
traversal() { get "$1"; head_has '^Status: 404' && ! grep -q 'db_passwd\|root:' "$T/body"; }
for path in static/../../config.xml static/..%2f..%2fconfig.xml \
	static/../../../../../../etc/passwd keys/upload_private config.xml \
	static/ static/style.xsl nothing.php; do
	promise "$path is not found" traversal "$path"
done
promise "style sheets are" answers static/style.css "body {"
method=PUT get ""
promise "other methods are refused" head_has '^Status: 405'
promise "a query is no command line" get "?--man"
promise "(the page)" body boinc_scheduler

# ---- guessing ---------------------------------------------------------------------------
# Over FastCGI, where one process sees many requests.
web_up
guess() {
	curl -s -o "$T/body" \
		"${URL}lookup_account.php?email_addr=b%40example.org&passwd_hash=$1"
}
begin=$SECONDS
seq 60 | xargs -P 8 -I{} curl -s -o /dev/null \
	"${URL}lookup_account.php?email_addr=b%40example.org&passwd_hash=$wrong"
guess "$hash"
promise "after too many wrong passwords the right one does not help, either" error -206
promise "others are still served" answers_over_http
promise "and all that took no minute" test $((SECONDS - begin)) -lt 30
web_down

# ---- status ------------------------------------------------------------------------------
get server_status.php?xml=1
promise "the status names the daemons" body "<command>feeder</command>"
promise "which do not run" body "<status>not running</status>"
promise "and the queues" body "<results_ready_to_send>0</results_ready_to_send>"
promise "format=xml is the same" answers "server_status.php?format=xml" "<tasks_by_app>"
promise "counts=1 is short" answers "server_status.php?counts=1" "<wus_need_validate>0</wus_need_validate>"
promise "for people it is a page" answers server_status.php "<td>uppercase_validator</td>"
well_formed() { command -v xmllint >/dev/null || return 0; xmllint --noout "$T/body"; }
for page in "server_status.php?xml=1" "server_status.php?counts=1" get_project_config.php \
	"index.php?format=xml" "lookup_account.php?$alice"; do
	get "$page"
	promise "$page is well-formed" well_formed
done
bin/start -q
promise "a daemon that runs is said to run" answers "server_status.php?xml=1" "<status>running</status>"
bin/stop -q

# ---- without a database -------------------------------------------------------------------
get get_project_config.php
mariadb_stop "$T/db"
promise "without a database clients still find the scheduler" answers "" boinc_scheduler
promise "and the platforms" answers get_project_config.php "<platform_name>x86_64-pc-linux-gnu<"
promise "accounts say why not" fails_with "lookup_account.php?$alice" -138
promise "status does not lie" get "server_status.php?xml=1"
promise "(no queues)" fails_to_find results_ready_to_send "$T/body"
mariadb_start "$T/db" >/dev/null

touch stop_web
promise "a closed site keeps the master page" answers "" boinc_scheduler
promise "its RPCs say that it is closed" fails_with "lookup_account.php?$alice" -183
promise "its pages, too" get server_status.php
promise "(503)" head_has '^Status: 503'
rm stop_web
done_promising
