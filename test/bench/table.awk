# table.awk - the rows that were measured, as lines of text or as a table of
# markdown.
#
#   awk -v U=RATE [-v form=text|markdown] [-v head=0] -f table.awk FILE
#
# A row has 14 fields with tabs between (see row_save() of lib.sh): title, rate,
# what is counted, target, BOINC, statements, then milliseconds of CPU of the
# program, of web server, database, generator and feeder, then p50, p95, p99.
# A target is a ratio to U, or empty.

function number(x, digits) {
	return x == "" ? "" : sprintf("%.*f", digits, x)
}
# Three digits that count are enough.
function short(x) {
	return x == "" ? "" : number(x, x < 0.1 ? 4 : x < 1 ? 3 : x < 10 ? 2 : 1)
}
function latency() {
	return $12 == "" ? "" : number($12, 1) " / " number($13, 1) " / " number($14, 1)
}
function verdict() {
	if ($4 == "")
		return ""
	return ratio >= $4 ? "yes" : "no"
}
BEGIN {
	FS = "\t"
	if (form == "")
		form = "text"
	if (head == "")
		head = 1
	if (head && form == "text")
		printf "%-38s %8s %-9s %7s %6s %3s %-12s %7s %8s %7s %7s %7s %7s  %s\n",
		    "work", "rate", "", "x U", "target", "met", "BOINC, x U", "SQL",
		    "program", "web", "db", "load", "feeder", "p50 / p95 / p99 ms"
	if (head && form == "markdown") {
		print "| work | rate, 1/s | × U | target | met | BOINC, × U | " \
		    "statements each | CPU of the program, ms each | web server | " \
		    "database | load generator | feeder | p50 / p95 / p99, ms |"
		print "| --- | ---: | ---: | ---: | --- | --- | ---: | ---: | ---: | " \
		    "---: | ---: | ---: | --- |"
	}
}
{
	ratio = U > 0 ? $2 / U : 0
	if (form == "text")
		printf "%-38s %8.0f %-9s %7.3f %6s %3s %-12s %7s %8s %7s %7s %7s %7s  %s\n",
		    $1, $2, $3, ratio, $4, verdict(), $5, short($6), short($7),
		    short($8), short($9), short($10), short($11), latency()
	else
		printf "| %s | %.0f %s | %.3f | %s | %s | %s | %s | %s | %s | %s | " \
		    "%s | %s | %s |\n", $1, $2, $3, ratio, $4, verdict(), $5, short($6),
		    short($7), short($8), short($9), short($10), short($11), latency()
}
