#!/bin/bash
# t1165-reply-lost.sh - a reply that carries work is lost after the scheduler
# has committed: the client gets the same job at its next contact.
. "$(dirname "$0")/../lib/scenario.sh"

project_new dropped
project_option resend_lost_results 1
jobs_new 2 dropped --min_quorum 1 --target_nresults 1

# The scheduler runs as a plain CGI program here, behind a script that keeps
# the first reply with a job to itself.
mkdir -m 777 "$T/kept"
cat >"$T/swallow" <<END
#!/bin/bash
export QUORATE_PROJECT_DIR='$PROJECT'
reply=\$(mktemp '$T/kept/reply.XXXXXX')
'$PROJECT/cgi-bin/fcgi' >"\$reply"
if grep -q '<workunit>' "\$reply" && mkdir '$T/kept/lost' 2>/dev/null; then
	cp "\$reply" '$T/kept/lost/reply.xml'
	exit 1
fi
cat "\$reply"
END
chmod 755 "$T/swallow"
awk -v cgi="/dropped_cgi/cgi" -v program="$T/swallow" '
	index($0, "/dropped_cgi/(cgi|fcgi)$") {
		print
		print "    alias.url = ( \"" cgi "\" => \"" program "\" )"
		print "    cgi.assign = ( \"\" => \"\" )"
		skipping = 1
		next
	}
	skipping && /^}/ { skipping = 0 }
	!skipping' "$PROJECT/dropped.lighttpd.conf" >"$T/part.conf"
cp "$T/part.conf" "$PROJECT/dropped.lighttpd.conf"
sed -i 's/"mod_fastcgi"/"mod_fastcgi", "mod_cgi"/' "$PROJECT/lighttpd.conf"

project_up
client_up alice "$(account_new alice@example.org Alice)"
promise_in 90 "a reply with a job is lost" test -s "$T/kept/lost/reply.xml"
lost=$(sed -n 's|.*<name>\(dropped_[12]_0\)</name>.*|\1|p' \
	"$T/kept/lost/reply.xml" | head -n 1)
promise "its job is in progress for the server" equals 1 \
	"SELECT COUNT(*) FROM result WHERE name = '$lost' AND sent_time > 0"
finished() {
	client_update alice
	sleep 2
	equals 2 "SELECT COUNT(*) FROM result WHERE server_state = 5 AND outcome = 1"
}
promise_in 120 "both jobs come back" finished
promise "the lost one was sent once more" equals "$lost 1" \
	"SELECT CONCAT_WS(' ', name, times) FROM x_resend x
	 JOIN result r ON r.id = x.result_id"
promise "its volunteer was told" grep -q "lost task $lost" \
	"$T/client_alice/client.log"
promise "no other result was made for it" equals 2 "SELECT COUNT(*) FROM result"
done_promising
