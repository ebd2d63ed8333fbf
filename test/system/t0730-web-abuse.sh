#!/bin/bash
# t0730-web-abuse.sh - pages and web RPCs in the hands of people who mean harm:
# SQL and markup in each argument, headers, methods, guesses, floods of accounts,
# what errors and logs tell.  As plain CGI, where no process remembers anything.
. "$(dirname "$0")/../lib/bare.sh"

bare_new webabuse
bare_app
export QUORATE_DATADIR=$top
hash=c0359938626070c0538afe1ed09a3d3c
wrong=00000000000000000000000000000000
bare_config "<enable_privacy_by_default>1</enable_privacy_by_default>
	<trusted_proxy>10.0.0.0/8</trusted_proxy>"

# get PATH[?QUERY]; variables: method, address, forwarded, body (a file), length.
get() {
	local query=
	case $1 in *\?*) query=${1#*\?} ;; esac
	env GATEWAY_INTERFACE=CGI/1.1 REQUEST_METHOD="${method:-GET}" \
		REQUEST_URI="/$DB_NAME/$1" QUERY_STRING="$query" \
		HTTP_COOKIE="${cookie:-}" HTTP_X_FORWARDED_FOR="${forwarded:-}" \
		CONTENT_LENGTH="${length-}" REMOTE_ADDR="${address:-192.0.2.1}" \
		"$build/html/web" <"${body:-/dev/null}" >"$T/raw" 2>>"$T/web.err" ||
		return 1
	sed -n '1,/^\r*$/p' "$T/raw" | tr -d '\r' >"$T/head"
	tail -c "+$(($(sed -n '1,/^\r*$/p' "$T/raw" | wc -c) + 1))" "$T/raw" >"$T/page"
}
page() { grep -q -- "$1" "$T/page" && return 0; sed 's/^/# /' "$T/page" | head -n 20; return 1; }
head_has() { grep -qi -- "$1" "$T/head" && return 0; sed 's/^/# /' "$T/head"; return 1; }
answers() { get "$1" && page "$2"; }
fails_with() { answers "$1" "<error_num>$2</error_num>"; }
status() { get "$1"; head_has "^Status: $2"; }
# A well-formed answer of status 200 with our header lines and no others.
is_orderly() {
	[ "$(sed 's/:.*//' "$T/head" | paste -sd' ')" = "Content-Type Content-Length \
Content-Security-Policy X-Content-Type-Options X-Frame-Options Referrer-Policy \
Cache-Control " ] || {
		sed 's/^/# /' "$T/head"
		return 1
	}
	! grep -qi '<script' "$T/page" || return 1
	case $(head -c 14 "$T/page" | tr -d '\n') in
	'<!DOCTYPE html'*) ;;
	*) "$build/test/system/flat" "$T/page" >/dev/null 2>&1 ;;
	esac
}
rows() {
	sql "CHECKSUM TABLE app, host, result, workunit, team, x_audit;
		SELECT id, name, email_addr, authenticator FROM user ORDER BY id"
}
create() { # EMAIL NAME [MORE]
	get "create_account.php?email_addr=$1%40example.org&passwd_hash=$hash&user_name=$2${3:-}"
}

# ---- anything in each argument ----
create alice Alice
key=$(sed -n 's|.*<authenticator>\(.*\)</authenticator>.*|\1|p' "$T/page")
before=$(rows)
controls=$(printf '%%%02x' $(seq 1 31))
evils=("'" '%22' "%5C" "%27%3B%20DROP%20TABLE%20user%3B--%20" "%00a" "$controls"
	"%FF%FE%C0%AF%ED%A0%80" "%3Cscript%3Ealert(1)%3C/script%3E"
	"x%0d%0aSet-Cookie:%20a=b%0d%0a%0d%0a%3Cscript%3E" "]]%3E%26e;%3C!--"
	"%25s%25n%25s" "$(printf '%5000s' '' | tr ' ' a)" "-1e999" "../../etc/passwd")
disorder=0
for evil in "${evils[@]}"; do
	for query in "lookup_account.php?email_addr=$evil%40example.org&passwd_hash=$hash" \
		"lookup_account.php?email_addr=alice%40example.org&passwd_hash=$evil&ldap_auth=$evil" \
		"create_account.php?email_addr=$evil&passwd_hash=$hash&user_name=n" \
		"create_account.php?email_addr=n%40example.org&passwd_hash=$evil&user_name=n" \
		"create_account.php?email_addr=$evil&passwd_hash=$hash&user_name=$evil&team_name=$evil" \
		"server_status.php?xml=$evil&counts=&format=$evil" "index.php?format=$evil&$evil=$evil"; do
		get "$query" && is_orderly || {
			echo "# $query" | cut -c1-100
			disorder=$((disorder + 1))
		}
	done
done
promise "$((7 * ${#evils[@]})) evil arguments get an orderly answer" same 0 $disorder
promise "and change nothing" same "$before" "$(rows)"
while IFS='|' read -r name want; do
	create b "$name"
	promise "user name '$name'" same "${want:-refused}" "$(
		sql "SELECT name FROM user WHERE email_addr = 'b@example.org'" |
			sed 's/^$/empty/' | grep . || echo refused)"
	sql "DELETE FROM user WHERE email_addr = 'b@example.org'"
done <<'END'
a%3B%20DROP%20TABLE%20user%20--|a; DROP TABLE user --
%25s%5Cn%24%7Bx%7D|%s\\n${x}
J%FCrgen|Jürgen
a%00%01b|ab
a%27b|
a%3Cb%3E|
%E2%80%AEnimda|
a%E2%80%A8b|
a%0Ab|
END
create c C "&consent_flag=1&source=it's%22%3B%20DROP%20TABLE%20consent%3B%5C&team_name=%27%20OR%201%3D1"
promise "what a client says of itself is stored as itself" same \
	"it's\"; DROP TABLE consent;\\" "$(mariadb_client "$T/db" --raw --batch \
		--skip-column-names "$DB_NAME" -e 'SELECT source FROM consent')"
create d D "&consent_flag=1&source=$(printf '%300s' '' | tr ' ' s)"
promise "or cut" equals 255 "SELECT MAX(LENGTH(source)) FROM consent"

# ---- names of ours in pages ----
evil='</title><script>alert(1)</script>" ]]>&amp; \x01'
sql "UPDATE app SET user_friendly_name = '$evil', name = 'x\"<b>';
	UPDATE platform SET user_friendly_name = '$evil'"
sed -i "s|<long_name>.*</long_name>|<long_name>\&lt;script\&gt;alert(1)\&lt;/script\&gt;</long_name>|" \
	"$PROJECT/config.xml"
for path in '' server_status.php 'server_status.php?xml=1' get_project_config.php nothing.php; do
	get "$path"
	promise "'$path': names with markup are text" test \
		"$(grep -ci '<script' "$T/page")" = 0
done
get 'server_status.php?xml=1'
promise "and complete" page '<name>&lt;/title&gt;&lt;script&gt;alert(1)'
bare_config "<trusted_proxy>10.0.0.0/8</trusted_proxy>
	<max_accounts_per_address>3</max_accounts_per_address>"

# ---- methods, lengths, cookies ----
while IFS='|' read -r with path want promise; do
	eval "local_env=($with)"
	for word in "${local_env[@]}"; do export "${word?}"; done
	promise "$promise" status "$path" "$want"
	for word in "${local_env[@]}"; do unset "${word%%=*}"; done
done <<END
method=PUT||405|PUT is refused
method=DELETE|lookup_account.php?email_addr=alice%40example.org|405|DELETE is refused
method=TRACE||405|TRACE is refused
method=\$'GET\r\nX: y'||405|a method with a line's end in it is refused
method=POST|index.php|411|a form without a length
method=POST length=-5|index.php|411|a negative length
method=POST length=9999999999|index.php|413|a form of 10 GB
END
method=OPTIONS get ""
promise "what is allowed is told" head_has '^Allow: GET, HEAD, POST$'
method=HEAD get "server_status.php"
promise "HEAD has no body" same 0 "$(stat -c %s "$T/page")"
promise "but its length" head_has '^Content-Length: [1-9]'
printf 'email_addr=alice%%40example.org&passwd_hash=%s' $hash >"$T/form"
method=POST body=$T/form length=$(stat -c %s "$T/form") get lookup_account.php
promise "POST is as good as GET, and leaves no password in a URL" page "$key"
cookie=$(printf 'auth=%8000s' '' | tr ' ' a) get "index.php?$(printf '%100000s' '' | tr ' ' a)=1"
promise "huge queries and cookies do nothing" is_orderly
promise "nobody is given a cookie" test "$(grep -ci '^set-cookie' "$T/head")" = 0
for path in '' static/style.css nothing.php lookup_account.php; do
	get "$path"
	promise "'$path' has the headers that protect a browser" test "$(grep -c "^X-Content-Type-Options: nosniff$\|^X-Frame-Options: DENY$\|^Content-Security-Policy: default-src 'none'.*frame-ancestors 'none'" "$T/head")" = 3
done

# ---- guessing ----
look="lookup_account.php?email_addr=alice%40example.org&passwd_hash"
for i in $(seq 1 10); do
	address=2001:db8::$i get "$look=$wrong"
done
promise "ten wrong passwords: now the right one does not help" fails_with "$look=$hash" -206
promise "addresses of one IPv6 customer count as one" equals "2001:db8:: 10" \
	"SELECT CONCAT_WS(' ', who, times) FROM x_attempt WHERE kind = 1"
address=198.51.100.9
promise "nor does it from elsewhere" fails_with "$look=$hash" -206
promise "others are served" answers \
	"lookup_account.php?email_addr=c%40example.org&passwd_hash=$hash" authenticator
sql "UPDATE x_attempt SET since = since - 60"
promise "a minute later it does" answers "$look=$hash" "$key"
sql "DELETE FROM x_attempt; INSERT INTO x_attempt VALUES (1, '192.0.2.1', UNIX_TIMESTAMP(), 29)"
address=192.0.2.1
get "$look=$wrong"
promise "thirty from one address, for whatever accounts" fails_with \
	"lookup_account.php?email_addr=c%40example.org&passwd_hash=$hash" -206
forwarded=198.51.100.7
promise "which saying that one is another does not help" fails_with "$look=$hash" -206
address=10.1.2.3 forwarded="1.2.3.4, 192.0.2.1"
promise "behind a proxy that the project trusts it is the address that it saw" \
	fails_with "$look=$hash" -206
address=10.1.2.3 forwarded="192.0.2.1, 198.51.100.7"
promise "not the one that somebody told it" answers "$look=$hash" "$key"
address= forwarded=

# ---- floods ----
sql "DELETE FROM x_attempt"
for i in 1 2 3; do
	address=2001:db8:0:7::$i create "flood$i" "Flood $i"
done
promise "three accounts from an address" page authenticator
address=2001:db8:0:7:ffff::4
promise "not a fourth" fails_with \
	"create_account.php?email_addr=f4%40example.org&passwd_hash=$hash&user_name=F4" -1
promise "an account that is there is still told" answers \
	"create_account.php?email_addr=flood1%40example.org&passwd_hash=$hash&user_name=F1" authenticator
address=2001:db8:0:8::1
promise "others may" answers \
	"create_account.php?email_addr=f4%40example.org&passwd_hash=$hash&user_name=F4" authenticator
sql "UPDATE x_attempt SET since = since - 3600"
address=2001:db8:0:7::1
promise "and an hour later all may" answers \
	"create_account.php?email_addr=f5%40example.org&passwd_hash=$hash&user_name=F5" authenticator
address=
sql "INSERT INTO x_attempt SELECT 3, seq, 1, 1 FROM seq_1_to_25"
create f6 F6
promise "what is over is forgotten, bit by bit" equals 15 \
	"SELECT COUNT(*) FROM x_attempt WHERE since = 1"

# ---- what errors tell ----
tells_nothing() {
	! grep -q "$PROJECT\|$T\|$DB_PASSWD\|SELECT\|$build\|$top\|mysql\|mariadb\|\.c:" "$T/page" "$T/head"
}
sql "RENAME TABLE user TO user_away, app TO app_away"
for path in "$look=$hash" "server_status.php" "create_account.php?email_addr=z%40example.org&passwd_hash=$hash&user_name=Z"; do
	get "$path"
	promise "a database without tables: ${path%%\?*} tells nothing of it" tells_nothing
done
sql "RENAME TABLE user_away TO user, app_away TO app"
mkdir -p "$PROJECT/html/pages"
echo '<xsl:stylesheet' >"$PROJECT/html/pages/message.xsl"
get nothing.php
promise "nor does a broken stylesheet" tells_nothing
rm "$PROJECT/html/pages/message.xsl"
cp "$PROJECT/config.xml" "$T/good"
sed -i 's/<db_passwd>.*/<db_passwd>another<\/db_passwd>/' "$PROJECT/config.xml"
get "$look=$hash"
promise "nor a refused connection" tells_nothing
sed -i 's/<\/config>/<\/konfig>/' "$PROJECT/config.xml"
get "$look=$hash" || :
promise "nor a broken config.xml" tells_nothing
cp "$T/good" "$PROJECT/config.xml"

# ---- what logs tell ----
create "x" "a%0A2026-01-01%20[CRITICAL]%20forged"
cat "$PROJECT"/log/* "$T"/web.err >"$T/all.log" 2>/dev/null
promise "no line of a log can be forged" test \
	"$(grep -c '^2026-01-01 \[CRITICAL\] forged' "$T/all.log")" = 0
for secret in "$key" "$hash" "$DB_PASSWD"; do
	promise "no log holds a key or a password" test "$(grep -c "$secret" "$T/all.log")" = 0
done
promise "a log is text" same "$(iconv -f UTF-8 -t UTF-8 "$T/all.log" | md5sum)" "$(md5sum <"$T/all.log")"

done_promising
