# SPDX-License-Identifier: GPL-2.0-only
# The lines of tests/captures/scenario as a table with totals; with results=FILE, also as figures in Markdown.
# Fields: kernel, scenario, variant, status, lines, lines that differ, note. Status "diff" shows a line that differs.
BEGIN { FS = "\t" }

function family(scene) {
	if (scene ~ /^(wakeup_|wakeup-|irqsoff|preemptoff|preemptirqsoff|latency-raw|modtest-delay)/) return "wakeup, irqsoff and their kind"
	if (scene ~ /^(function_graph|funcgraph|smp-graph|record-tgid-graph)/) return "function graph"
	if (scene ~ /^(function|instance-function|record-tgid-function|modtest-function)/) return "functions"
	if (scene ~ /^(hwlat|osnoise|timerlat)/) return "hwlat, osnoise, timerlat"
	if (scene ~ /^(blk|mmiotrace)/) return "blk, mmiotrace"
	if (scene ~ /^(kprobe|uprobe|fprobe|synth|user_events|inject|modtest)/) return "probes, synthetic, user and module events"
	if (scene ~ /stack/) return "stacks"
	if (scene ~ /^clock|^time|^ts-|^delta/) return "clocks and time stamps"
	if (scene ~ /^events|^smp-sched|^event-filter|^triggers|^markers/) return "events and markers"
	if (scene ~ /^lost|^pipe|^percpu|^snapshot|^instances|^empty|^header|^bin-option/) return "buffers, losses, headers, trace_pipe"
	return "tasks, CPUs and the rest"
}

function count(what, key) {
	n[what]++
	by[key, what]++
	by["", what]++
	families[key] = 0
}

$4 == "end" { next }
$4 == "diff" { print "    " $7; next }
{
	key = $1 SUBSEP family($2)
	if ($4 == "identical") text = "identical  " $5 " lines"
	else if ($4 == "hashed") text = "identical  " $5 " lines, " $6 " of them with a hash"
	else if ($4 == "excepted") { text = "excepted   " $6 " of " $5 " lines: " $7; why[$7]++; why_lines[$7] += $6 }
	else if ($4 == "skipped") { text = "skipped    " $7; passed_over[$7]++ }
	else if ($4 == "differ") text = "DIFFERS    " $6 " of " $5 " lines"
	else text = "FAILED     " $7
	printf "%-7s %-25s %-32s %s\n", $1, $2, $3, text
	count($4, key)
	if ($4 == "hashed") count("identical", key)
	if ($3 ~ /\*$/ && ($4 == "identical" || $4 == "hashed")) derived++
	if ($4 != "skipped") n["compared"]++
}

END {
	n["failed"] += 0
	if (lost != "") { printf "FAILED     these broke off: %s\n", lost; n["failed"]++ }
	print "exceptions:"
	for (i = sorted(why); i; i--) printf "%6d texts, %5d lines: %s\n", why[order[i]], why_lines[order[i]], order[i]
	print "passed over:"
	for (i = sorted(passed_over); i; i--) printf "%6d texts: %s\n", passed_over[order[i]], order[i]
	printf "captures: %d texts compared: %d identical (%d but for hashed pointers, %d of them texts of trace_pipe made from trace.txt), " \
		"%d excepted, %d differ, %d failed; %d passed over\n", n["compared"], n["identical"], n["hashed"], derived,
		n["excepted"], n["differ"], n["failed"], n["skipped"]
	if (results != "") write_results()
	exit n["differ"] + n["failed"] > 0
}

# Fills order[1..] with the keys of an array: by value and then by name; returns how many there are.
function sorted(counts,    key, len, i) {
	split("", order)
	for (key in counts) {
		for (i = ++len; i > 1 && (counts[order[i - 1]] > counts[key] ||
					  (counts[order[i - 1]] == counts[key] && order[i - 1] < key)); i--)
			order[i] = order[i - 1]
		order[i] = key
	}
	return len
}

function row(kernel, name, key) {
	printf "| %s | %s | %d | %d | %d | %d | %d |\n", kernel, name, by[key, "identical"], by[key, "hashed"], by[key, "excepted"],
		by[key, "differ"] + by[key, "failed"], by[key, "skipped"] > results
}

function write_results(    i, len, part) {
	print "# What the kernel printed, and what weft prints\n" > results
	print "Made by `tests/captures/run DIR --results FILE`. Every text is compared byte for byte. *hashed* are those of the identical" > results
	print "ones where the kernel printed a hash for `%p`, which has a secret of its boot, and weft a placeholder.\n" > results
	print "| kernel | scenarios | identical | of them hashed | excepted | differ | passed over |" > results
	print "|---|---|---:|---:|---:|---:|---:|" > results
	len = sorted(families)
	for (i = 1; i <= len; i++) {
		split(order[i], part, SUBSEP)
		row(part[1], part[2], order[i])
	}
	row("both", "all", "")
	printf "\n%d of the identical ones are texts of trace_pipe made from trace.txt by a rule that the scenarios `pipe-*` prove.\n", derived > results
	print "\n## Exceptions\n\nEach is a line of `tests/captures/known`, which takes the excepted part out of both texts.\n" > results
	print "| texts | lines | why |\n|---:|---:|---|" > results
	for (i = sorted(why); i; i--) printf "| %d | %d | %s |\n", why[order[i]], why_lines[order[i]], order[i] > results
	print "\n## Passed over\n\n| texts | why |\n|---:|---|" > results
	for (i = sorted(passed_over); i; i--) printf "| %d | %s |\n", passed_over[order[i]], order[i] > results
}
