#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft export --to html.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden

# Runs the page's own script on the page's data.
slices()
{
	weft export -q --to html -o "$BATS_TEST_TMPDIR/timeline.html" "$@" || return
	node "$BATS_TEST_DIRNAME/export/html.js" "$BATS_TEST_TMPDIR/timeline.html"
}

@test "html: the page is well formed, has one policy, and names nothing outside of it" {
	need_command python3
	weft export -q --to html -o "$BATS_TEST_TMPDIR/timeline.html" "$golden/6.12-events-sched.dat"
	python3 - "$BATS_TEST_TMPDIR/timeline.html" <<- 'PY'
	import html.parser, json, sys
	class Page(html.parser.HTMLParser):
	    open, policies, scripts = [], [], []
	    def handle_starttag(self, tag, attributes):
	        attributes = dict(attributes)
	        assert not {"src", "href", "action", "style"} & set(attributes), attributes
	        if attributes.get("http-equiv") == "Content-Security-Policy":
	            self.policies.append(attributes["content"])
	        if tag == "script":
	            self.scripts.append("")
	        if tag not in ("meta", "input"):
	            self.open.append(tag)
	    def handle_endtag(self, tag):
	        assert self.open.pop() == tag, tag
	    def handle_data(self, data):
	        if self.open and self.open[-1] == "script":
	            self.scripts[-1] += data
	page = Page()
	text = open(sys.argv[1], encoding="utf-8").read()
	page.feed(text)
	page.close()
	assert not page.open and text.startswith("<!DOCTYPE html>")
	assert len(page.policies) == 1 and page.policies[0].startswith("default-src 'none';")
	assert len(page.scripts) == 4 and json.loads(page.scripts[0])["events"] == 78
	PY
	run -1 grep -E 'https?:|url\(|@import|innerHTML|eval\(' "$BATS_TEST_TMPDIR/timeline.html"
}

@test "html: turns of the CPUs are those between two switches of the kernel's text" {
	need_command node
	need_command python3
	slices "$golden/6.12-events-sched.dat" > "$BATS_TEST_TMPDIR/slices"
	python3 - "$golden/6.12-events-sched.txt" "$BATS_TEST_TMPDIR/slices" <<- 'PY'
	import collections, re, sys
	def us(ns):
	    return (ns + 500) // 1000
	got, loose = collections.Counter(), collections.Counter()
	for line in open(sys.argv[2]):
	    kind, row, cpu, start, lasted, count, name, text = line.rstrip("\n").split("\t")
	    if kind == "cpu":
	        got[(int(cpu), us(int(start)), us(int(start) + int(lasted)), name)] += 1
	on, want, switches = {}, collections.Counter(), collections.Counter()
	for line in open(sys.argv[1]):
	    match = re.match(r".*\[(\d+)\] \S+ +(\d+)\.(\d+): sched_switch: prev_comm=.* prev_pid=(\d+) .*next_comm=(.*) next_pid=(\d+) ", line)
	    if not match:
	        continue
	    cpu, at = int(match[1]), int(match[2]) * 1000000 + int(match[3])
	    switches[cpu] += 1
	    if cpu in on and on[cpu][1] == match[4] != "0":
	        want[(cpu, on[cpu][0], at, on[cpu][2])] += 1
	    on[cpu] = (at, match[6], match[5])
	assert sum(want.values()) > 10, want
	assert not want - got, want - got
	# The others began before the file or end after it.
	assert sum((got - want).values()) <= 2 * len(switches), got - want
	PY
}

@test "html: each event has its text, which is the kernel's" {
	need_command node
	for name in 6.12-events-sched 6.1-rt-events-sched 6.12-events-syscalls 6.12-user_events; do
		slices "$golden/$name.dat" | awk -F '\t' '$1 == "event" { print $8 }' | LC_ALL=C sort > "$BATS_TEST_TMPDIR/got"
		sed -nE '/^#/d; s/^ *([^[]*[^[ ]) +\[[0-9]+\] [^ ]+ +[0-9.]+: /\1 /p' "$golden/$name.txt" | LC_ALL=C sort | diff - "$BATS_TEST_TMPDIR/got"
		[ -s "$BATS_TEST_TMPDIR/got" ]
	done
}

@test "html: a system call is a slice from its entry to its return" {
	need_command node
	want=$(awk '/-> 0x/ { ended[$1]++ } END { for (task in ended) n += ended[task]; print n }' "$golden/6.12-events-syscalls.txt")
	got=$(slices "$golden/6.12-events-syscalls.dat" | grep -c '^call')
	# The first return in a task may belong to a call that began before the file.
	[ "$got" -le "$want" ]
	[ "$got" -ge $((want - 5)) ]
	[ "$got" -gt 50 ]
}

@test "html: each call of the function graph is a slice in a row of its depth" {
	need_command node
	slices "$golden/6.12-function_graph.dat" | awk -F '\t' '$1 == "graph" { print $2, $7 }' | LC_ALL=C sort > "$BATS_TEST_TMPDIR/got"
	sed -nE 's/^ *[0-9]+\) [^|]*\|  ( *)([A-Za-z_][A-Za-z0-9_.]*)\(\)( \{|;)( .*)?$/\1|\2/p' "$golden/6.12-function_graph.txt" |
		awk -F '|' '{ print length($1) / 2, $2 }' | LC_ALL=C sort | diff - "$BATS_TEST_TMPDIR/got"
	[ -s "$BATS_TEST_TMPDIR/got" ]
}

@test "html: --max-size is kept, and what is folded is still counted" {
	need_command node
	need_shared samples
	file=$SHARED/samples/v6-rtapp-6cpu.dat
	want=$(weft export --to csv --fields event "$file" 2> /dev/null | sed 1d | wc -l)
	for size in 128K 20M; do
		slices --max-size "$size" "$file" > "$BATS_TEST_TMPDIR/slices"
		awk -F '\t' '$1 == "event" { lines++; events += $6 } END { print events }' "$BATS_TEST_TMPDIR/slices" | grep -qx "$want"
	done
	slices --max-size 128K "$file" > "$BATS_TEST_TMPDIR/slices"
	[ "$(stat -c %s "$BATS_TEST_TMPDIR/timeline.html")" -le $((128 << 10)) ]
	[ "$(grep -c ^event "$BATS_TEST_TMPDIR/slices")" -lt "$want" ]
}

# page FILE STEP...: what the scripts of the page tell (tests/cases/export/html-page.js).
page()
{
	node "$BATS_TEST_DIRNAME/export/html-page.js" "$@"
}

@test "html: search counts what was merged under another name, too" {
	need_command node
	need_shared samples
	file=$SHARED/samples/v6-rtapp-6cpu.dat
	weft export -q --to html --max-size 128K -o "$BATS_TEST_TMPDIR/timeline.html" "$file"
	# The fewest events are the first to lose their name in a merged slice.
	for name in sched_switch cpu_frequency; do
		want=$(weft report "$file" 2> /dev/null | grep -c ": $name:")
		[ "$want" -gt 10 ]
		got=$(page "$BATS_TEST_TMPDIR/timeline.html" "search=:$name\$" | tr -d ,)
		[ "${got%% *}" = "$want" ]
	done
}

@test "html: the first picture needs only a coarse copy of large bands" {
	need_command node
	awk 'BEGIN {
		for (i = 0; i < 40000; i++) {
			at = 1000000 + i * 50
			printf "%16s-%-7d [000] d..2. %5d.%06d: sched_switch: prev_comm=t%d prev_pid=%d prev_prio=120 prev_state=S ==> next_comm=t%d next_pid=%d next_prio=120\n", "t" i % 2, 7 + i % 2, at / 1000000, at % 1000000, i % 2, 7 + i % 2, (i + 1) % 2, 7 + (i + 1) % 2
		}
	}' | weft import -o "$BATS_TEST_TMPDIR/many.dat" - 2> /dev/null
	weft export -q --to html -o "$BATS_TEST_TMPDIR/timeline.html" "$BATS_TEST_TMPDIR/many.dat"
	page "$BATS_TEST_TMPDIR/timeline.html" unpacked search=sched_switch unpacked > "$BATS_TEST_TMPDIR/told"
	[ "$(sed -n 1p "$BATS_TEST_TMPDIR/told")" -lt 20000 ]
	[ "$(sed -n 2p "$BATS_TEST_TMPDIR/told")" = '40,000 found' ]
	[ "$(sed -n 3p "$BATS_TEST_TMPDIR/told")" -gt 100000 ]
}

@test "html: sums of a range are those of the kernel's text, and a slice tells who woke its task" {
	need_command node
	weft export -q --to html -o "$BATS_TEST_TMPDIR/timeline.html" "$golden/6.12-events-sched.dat"
	# All of it: the events by name.
	page "$BATS_TEST_TMPDIR/timeline.html" key=v | sed -n 's/^events //p' | sed 's/ (/(/g; s/, and .*//' > "$BATS_TEST_TMPDIR/events"
	[ "$(cut -d: -f1 "$BATS_TEST_TMPDIR/events")" = "$(grep -vc '^#' "$golden/6.12-events-sched.txt")" ]
	for name in sched_switch sched_stat_runtime sched_waking; do
		grep -q "sched:$name($(grep -c ": $name:" "$golden/6.12-events-sched.txt"))" "$BATS_TEST_TMPDIR/events"
	done
	# The first turn of rcu_preempt: from 2.936898 to 2.937131, woken by the idle task of CPU 0 at 2.936595.
	row=$(page "$BATS_TEST_TMPDIR/timeline.html" 'row=CPU 0')
	page "$BATS_TEST_TMPDIR/timeline.html" "click=0.39463,$row" arrow key=r "hover=0.39463,$row" > "$BATS_TEST_TMPDIR/told"
	# Its moment is one that report takes.
	moment=$(sed -n 's/^moment //p' "$BATS_TEST_TMPDIR/told" | head -n 1)
	[ "$moment" = 6.12-events-sched.dat@2.936897995 ]
	weft report --before 0 --after 300us "$golden/$moment" | grep -v '^#' | head -n 1 | grep -q 'next_comm=rcu_preempt'
	grep -qx 'woken by <idle>-0 on CPU 0, 303\..* us before it ran' "$BATS_TEST_TMPDIR/told"
	grep -qx 'CPU 0 > rcu_preempt-17 > <idle>-0' "$BATS_TEST_TMPDIR/told"
	grep -qx 'CPU 0 busy 232\..* us (100.0 %): rcu_preempt 232\..* us (1)' "$BATS_TEST_TMPDIR/told"
	[ "$(tail -n 1 "$BATS_TEST_TMPDIR/told" | cut -d' ' -f1-2)" = 'rcu_preempt, 232.885' ]
}

@test "html: it has the tables of weft summary" {
	need_command node
	weft export -q --to html -o "$BATS_TEST_TMPDIR/timeline.html" "$golden/6.12-events-sched.dat"
	node -e 'const html = require("fs").readFileSync(process.argv[1], "utf8");
process.stdout.write(JSON.parse(/id="data">\n([\s\S]*?)<\/script>/.exec(html)[1]).tables)' "$BATS_TEST_TMPDIR/timeline.html" > "$BATS_TEST_TMPDIR/got"
	weft summary --top 10 "$golden/6.12-events-sched.dat" | diff - "$BATS_TEST_TMPDIR/got"
}

@test "html: node takes its scripts for such" {
	need_command node
	weft export -q --to html -o "$BATS_TEST_TMPDIR/timeline.html" "$golden/6.12-events-sched.dat"
	for id in model view graphs; do
		sed -n "/<script id=\"$id\">/,/<\/script>/p" "$BATS_TEST_TMPDIR/timeline.html" | sed '1d;$d' > "$BATS_TEST_TMPDIR/$id.js"
		[ -s "$BATS_TEST_TMPDIR/$id.js" ]
		node --check "$BATS_TEST_TMPDIR/$id.js"
	done
}

# bats test_tags=long
@test "html: clocks that count no time, and several instances, make a page, too" {
	need_command node
	slices tests/corpora/report/accept/lost-6.12.dat | grep -q '^lost'
	for file in tests/corpora/report/accept/*.dat "$golden"/*.dat; do
		slices "$file" > /dev/null
	done
}

@test "html: --max-size is for it alone, and has a least" {
	run -2 --separate-stderr weft export --to html --max-size 1K "$golden/6.12-events-sched.dat"
	[[ $stderr == *"--max-size: a timeline needs at least"* ]]
	run -2 --separate-stderr weft export --to csv --max-size 1M "$golden/6.12-events-sched.dat"
	[[ $stderr == *"--max-size: format 'csv'"* ]]
}

# flame: prints the page's flame graph, for each frame "WEIGHT-WITH-ALL-ABOVE OWN BELOW NAME". BELOW is the number of
# the frame on which it stands.
flame()
{
	weft export -q --to html -o "$BATS_TEST_TMPDIR/timeline.html" "$@" || return
	node -e 'const html = require("fs").readFileSync(process.argv[1], "utf8");
const flame = JSON.parse(/id="data">\n([\s\S]*?)<\/script>/.exec(html)[1]).flame;
for (const f of flame ? flame.frames : []) console.log(f[2], f[3], f[0], flame.names[f[1]]);' "$BATS_TEST_TMPDIR/timeline.html"
}

@test "html: its flame graph weighs what the kernel's text has: stacks counted, functions by their own time" {
	need_command node
	flame "$golden/6.12-function-stacktrace.dat" > "$BATS_TEST_TMPDIR/frames"
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/frames" | cut -d' ' -f1)" = "$(grep -c ' <stack trace>' "$golden/6.12-function-stacktrace.txt")" ]
	# The innermost function of a stack is its first line.
	awk '/<stack trace>/ { first = 1; next } first { first = 0; sub(/^ *=> /, ""); print tolower($0) }' "$golden/6.12-function-stacktrace.txt" | sort | uniq -c |
		awk '{ print $1, $2 }' | sort > "$BATS_TEST_TMPDIR/want"
	awk '$2 { own[$4] += $2 } END { for (name in own) print own[name], tolower(name) }' "$BATS_TEST_TMPDIR/frames" | sort | diff "$BATS_TEST_TMPDIR/want" -
	# Every frame is a function of the kernel's text, except tasks, which are above the root.
	flame "$golden/6.12-function_graph.dat" > "$BATS_TEST_TMPDIR/frames"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/frames")" -gt 20 ]
	awk '$3 { print $4 }' "$BATS_TEST_TMPDIR/frames" | while read -r name; do
		grep -qE "(^| )$name\(\)|/\* $name \*/" "$golden/6.12-function_graph.txt" || { echo "$name"; false; }
	done
	[ -z "$(flame "$golden/6.12-events-sched.dat")" ]
}

@test "html: a function that is called like the end of a script is a name in the flame graph, and no more" {
	need_command node
	name='</script><script>alert(1)</scr' function=entry_SYSCALL_64_after_hwframe
	[ ${#name} = ${#function} ]
	weft convert -q --file-version 6 -o "$BATS_TEST_TMPDIR/plain.dat" "$golden/6.12-event-stacktrace.dat"
	LC_ALL=C sed "s|$function|$name|" "$BATS_TEST_TMPDIR/plain.dat" > "$BATS_TEST_TMPDIR/hostile.dat"
	flame "$BATS_TEST_TMPDIR/hostile.dat" | cut -d' ' -f4- | grep -qxF "$name"
	[ "$(grep -o '</script' "$BATS_TEST_TMPDIR/timeline.html" | wc -l)" = 4 ]
	run -1 grep -F 'alert(1)</' "$BATS_TEST_TMPDIR/timeline.html"
}

# clickable FILE SCRIPT: makes clicked.html, the timeline of a recording with a script that uses it and tells in its title.
clickable()
{
	weft export -q --to html -o "$BATS_TEST_TMPDIR/timeline.html" "$1"
	{
		sed '/^<\/body>/,$d' "$BATS_TEST_TMPDIR/timeline.html"
		echo "<script>"
		cat "$BATS_TEST_DIRNAME/export/$2"
		echo "</script></body></html>"
	} > "$BATS_TEST_TMPDIR/clicked.html"
}

# opened BROWSER PATTERN: the title matches, and no script does anything wrong.
opened()
{
	need_command python3
	need_command "$1"
	timeout 240 python3 "$BATS_TEST_DIRNAME/export/browser.py" "$1" "$BATS_TEST_TMPDIR/profile" "file://$BATS_TEST_TMPDIR/clicked.html" "$2"
}

clicks='right [1-9][0-9]+ wrong 0 search true'
flames='shown true, up true, zoomed true, all true, right [1-9][0-9]+ wrong 0, matched: [0-9.]+% marked [1-9][0-9]*, back true'

# bats test_tags=long
@test "html: in Chromium, keys and clicks go through the flame graph, search adds up, and no script fails" {
	clickable "$golden/6.12-event-stacktrace.dat" html-flame.js
	opened chromium "$flames"
}

@test "html: in Chromium, a click on a slice tells of it, search finds, and no script fails" {
	clickable tests/fixtures/demo.dat html-clicks.js
	opened chromium "$clicks"
}

# bats test_tags=long
@test "html: in Firefox, keys and clicks go through the flame graph, search adds up, and no script fails" {
	clickable "$golden/6.12-event-stacktrace.dat" html-flame.js
	opened firefox-esr "$flames"
}

# bats test_tags=long
@test "html: in Firefox, a click on a slice tells of it, search finds, and no script fails" {
	clickable tests/fixtures/demo.dat html-clicks.js
	opened firefox-esr "$clicks"
}

@test "html: what the longest call waited for lies below its task, and adds up" {
	need_command node
	need_command jq
	file=$BATS_TEST_DIRNAME/../fixtures/session/why.dat
	slices "$file" | awk -F'\t' '$1 == "why"' > "$BATS_TEST_TMPDIR/slices"
	want=$(weft why --format json "$file" | jq -r '.intervals[0] | [.pid, .lasted_ns] | join(" ")')
	# The other intervals of the task are shorter than a hundredth.
	awk -F'\t' -v pid="${want% *}" '$3 == pid { ns += $5 } END { printf "%d\n", ns }' "$BATS_TEST_TMPDIR/slices" > "$BATS_TEST_TMPDIR/sum"
	[ "$(cat "$BATS_TEST_TMPDIR/sum")" -ge "${want#* }" ]
	[ "$(cat "$BATS_TEST_TMPDIR/sum")" -le $((${want#* } + ${want#* } / 20)) ]
	grep -q 'sleep slept its own timer' "$BATS_TEST_TMPDIR/slices"
	# A link that is clicked shows the whole path: an arrow from each depth to the next, as weft why --tree has them.
	weft export -q --to html -o "$BATS_TEST_TMPDIR/why.html" "$file"
	row=$(page "$BATS_TEST_TMPDIR/why.html" "row=deploy-${want% *} why")
	page "$BATS_TEST_TMPDIR/why.html" path "click=0.5,$((row + 2))" path key=Escape path > "$BATS_TEST_TMPDIR/told"
	grep -q '^sleep slept its own timer ' "$BATS_TEST_TMPDIR/told"
	weft why --tree --format json "$file" | jq -r '[.path[].depth] | . as $d | [range(1; length) | select($d[.] != $d[. - 1]) | "\($d[. - 1]) > \($d[.])"] | join(", ")' > "$BATS_TEST_TMPDIR/want"
	[ "$(grep -cE '^([0-9]+ > |none)' "$BATS_TEST_TMPDIR/told")" = 3 ]
	grep -E '^([0-9]+ > |none)' "$BATS_TEST_TMPDIR/told" | sed -n 2p | diff "$BATS_TEST_TMPDIR/want" -
}
