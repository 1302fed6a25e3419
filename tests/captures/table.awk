# SPDX-License-Identifier: GPL-2.0-only
# Prints the lines of tests/captures/scenario as a table with totals; with results=FILE, writes the figures as Markdown,
# too. Fields: kernel, scenario, variant, status, lines, lines that differ, note. The status "diff" shows a line that
# differs.
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

# Fills order[1..] with the keys of an array, sorted by value and then by name. Returns their number.
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

# Returns "identical / excepted / not" for a kernel's texts of a group; empty without texts.
function cell(kernel, group,    key, not) {
	key = kernel SUBSEP group
	if (!(key in families)) return ""
	not = by[key, "differ"] + by[key, "failed"]
	return sprintf("%d / %d / %d", by[key, "identical"], by[key, "excepted"], not)
}

# Returns the machine in a kernel's name, such as "s390x-6.1". Kernels without one are amd64.
function arch(kernel) {
	return match(kernel, /^[a-z][a-z0-9]*-/) ? substr(kernel, 1, RLENGTH - 1) : "amd64"
}

function write_matrix(    i, j, len, part, kernels, groups, nr_kernels, nr_groups, seen, line, k) {
	for (i = len = sorted(families); i; i--) {
		split(order[i], part, SUBSEP)
		if (!((1, part[1]) in seen)) { seen[1, part[1]]; kernels[++nr_kernels] = part[1] }
		if (!((2, part[2]) in seen)) { seen[2, part[2]]; groups[++nr_groups] = part[2] }
		for (k in statuses) sum[part[1], statuses[k]] += by[order[i], statuses[k]]
	}
	line = "| identical / excepted with proof / not |"
	for (j = 1; j <= nr_kernels; j++) line = line " " kernels[j] " |"
	print line > results
	gsub(/[^|]+/, "---", line)
	print line > results
	for (i = 1; i <= nr_groups; i++) {
		line = "| " groups[i] " |"
		for (j = 1; j <= nr_kernels; j++) line = line " " cell(kernels[j], groups[i]) " |"
		print line > results
	}
	line = "| **all** |"
	for (j = 1; j <= nr_kernels; j++)
		line = line sprintf(" %d / %d / %d |", sum[kernels[j], "identical"], sum[kernels[j], "excepted"],
				    sum[kernels[j], "differ"] + sum[kernels[j], "failed"])
	print line > results
	line = "| passed over |"
	for (j = 1; j <= nr_kernels; j++) {
		line = line " " sum[kernels[j], "skipped"] + 0 " |"
		of = arch(kernels[j])
		texts[of] += sum[kernels[j], "identical"]
		compared[of] += sum[kernels[j], "identical"] + sum[kernels[j], "excepted"] + sum[kernels[j], "differ"] + sum[kernels[j], "failed"]
		machines[of]
	}
	print line > results
}

# `make check-arch` tells for each machine whether weft builds and how its unit tests end. In the same log, `make
# check-kernels` tells for guests of that machine whether weft recorded there what the kernel printed.
function read_arch(    line, of) {
	while (archlog != "" && (getline line < archlog) > 0) {
		if (line ~ /^(ok|FAILED) [a-z0-9]+\/.*: the report is the kernel's text/) {
			of = line
			sub(/^[^ ]* /, "", of)
			sub(/\/.*/, "", of)
			guest_texts[of]++
			guest_same[of] += line ~ /^ok/
			machines[of]
			recorded[of] = "yes, " guest_same[of] " of " guest_texts[of] " texts"
		}
		# The line of `make unit` on this machine.
		if (sub(/^unit: /, "", line)) units["amd64"] = line
		if (line !~ /^(ok [a-z0-9]+:|FAILED arch\/|skip arch\/)/) continue
		of = line
		sub(/^(ok |FAILED arch\/|skip arch\/)/, "", of)
		sub(/:.*/, "", of)
		machines[of]
		if (line ~ /^skip/ && !(of in built)) built[of] = "not tried"
		else if (line ~ /: builds$/) built[of] = line ~ /^ok/ ? "yes" : "no"
		else if (line ~ /: unit tests: /) { units[of] = line; sub(/.*unit tests: /, "", units[of]) }
	}
	built["amd64"] = "yes"
	recorded["amd64"] = "yes (tests/guest/RESULTS.md)"
}

function write_arch(    of, i, j, names, swap, nr) {
	read_arch()
	for (of in machines) names[++nr] = of
	for (i = 1; i <= nr; i++)
		for (j = i + 1; j <= nr; j++)
			if (names[j] < names[i]) { swap = names[i]; names[i] = names[j]; names[j] = swap }
	print "\n## Machines\n\nBuilt and tested by `make check-arch`; *recorded* is whether the guest tests record on that machine; *identical* are the" > results
	print "texts above that a kernel of that machine printed.\n" > results
	print "| machine | built | unit tests | recorded | identical |\n|---|---|---|---|---:|" > results
	for (i = 1; i <= nr; i++) {
		of = names[i]
		printf "| %s | %s | %s | %s | %s |\n", of, of in built ? built[of] : "not tried", of in units ? units[of] : "-",
			of in recorded ? recorded[of] : "no", compared[of] ? texts[of] " of " compared[of] : "no texts" > results
	}
}

function write_results(    i) {
	split("identical hashed excepted differ failed skipped", statuses, " ")
	print "# What the kernel printed, and what weft prints\n" > results
	print "Made by `tests/captures/run DIR... --results FILE --arch LOG`. Every text is compared byte for byte. Of those that are identical," > results
	printf "%d are so but for hashes of pointers: `%%p` has a secret of each boot, and weft prints a placeholder. %d are texts of\n", n["hashed"], derived > results
	print "trace_pipe made from trace.txt by a rule that the scenarios `pipe-*` prove.\n" > results
	write_matrix()
	write_arch()
	print "\n## Exceptions\n\nEach is a line of `tests/captures/known`, which takes the excepted part out of both texts.\n" > results
	print "| texts | lines | why |\n|---:|---:|---|" > results
	for (i = sorted(why); i; i--) printf "| %d | %d | %s |\n", why[order[i]], why_lines[order[i]], order[i] > results
	print "\n## Passed over\n\n| texts | why |\n|---:|---|" > results
	for (i = sorted(passed_over); i; i--) printf "| %d | %s |\n", passed_over[order[i]], order[i] > results
}
