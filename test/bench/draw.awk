# draw.awk - a picture (SVG) of rates over time.
#
#   awk -v title=TEXT -v target=RATE -f draw.awk FILE
#
# The file's first line names its columns: the second, then what was counted
# until then.  Drawn is the mean rate of the last five seconds.

function x_of(t) {
	return left + (t - first) * width / (last > first ? last - first : 1)
}
function y_of(v) {
	return top + height - v * height / highest
}
# A round number that is not smaller.
function round_up(v,    base) {
	for (base = 1; base * 10 <= v; base *= 10)
		;
	return v <= base ? base : v <= 2 * base ? 2 * base : \
	    v <= 5 * base ? 5 * base : 10 * base
}
function text(x, y, anchor, s) {
	printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, s
}
function line(x1, y1, x2, y2, style) {
	printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n",
	    x1, y1, x2, y2, style
}
NR == 1 {
	for (i = 2; i <= NF; i++)
		name[i] = $i
	columns = NF
	next
}
{
	n++
	for (i = 1; i <= columns; i++)
		v[n, i] = $i
}
END {
	left = 60; top = 40; width = 780; height = 360; span = 5
	split("x #1b6ca8 #d1495b #66a182 #edae49 #7b4b94 #444444", colour, " ")
	highest = target + 0
	for (i = 2; i <= columns; i++)
		for (k = span + 1; k <= n; k++) {
			dt = v[k, 1] - v[k - span, 1]
			rate[k, i] = dt > 0 ? (v[k, i] - v[k - span, i]) / dt : 0
			if (rate[k, i] > highest)
				highest = rate[k, i]
		}
	highest = round_up(highest > 0 ? highest : 1)
	first = v[1, 1]; last = v[n, 1]
	print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 460\" " \
	    "font-family=\"sans-serif\" font-size=\"12\">\n"
	print "<rect width=\"1000\" height=\"460\" fill=\"#ffffff\"/>"
	text(left, 22, "start", title)
	for (i = 0; i <= 4; i++) {
		line(left, y_of(highest * i / 4), left + width, y_of(highest * i / 4),
		    "stroke=\"#dddddd\"")
		text(left - 6, y_of(highest * i / 4) + 4, "end", highest * i / 4)
	}
	step = round_up((last - first) / 10)
	for (k = 0; k <= last - first; k += step) {
		line(x_of(first + k), top + height, x_of(first + k), top + height + 4,
		    "stroke=\"#444444\"")
		text(x_of(first + k), top + height + 18, "middle", k)
	}
	text(left + width / 2, top + height + 38, "middle", "seconds")
	if (target > 0) {
		line(left, y_of(target), left + width, y_of(target),
		    "stroke=\"#000000\" stroke-dasharray=\"6 4\"")
		text(left + 4, y_of(target) - 4, "start", "target")
	}
	for (i = 2; i <= columns; i++) {
		printf "<polyline fill=\"none\" stroke-width=\"1.5\" stroke=\"%s\" points=\"",
		    colour[i]
		for (k = span + 1; k <= n; k++)
			printf "%.1f,%.1f ", x_of(v[k, 1]), y_of(rate[k, i])
		print "\"/>"
		line(left + width + 10, top + 40 + 20 * i, left + width + 34,
		    top + 40 + 20 * i, "stroke-width=\"3\" stroke=\"" colour[i] "\"")
		text(left + width + 40, top + 44 + 20 * i, "start", name[i])
	}
	print "</svg>"
}
