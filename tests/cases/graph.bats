#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft graph: compares its counts and times with the kernel's own text of the same calls.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
file=$golden/6.12-function_graph.dat

setup()
{
	out=$BATS_TEST_TMPDIR/out
}

# Prints "FUNCTION CALLS TOTAL SELF", in ns, from the kernel's text: durations, and the callers by indentation, in each
# task.
calls_of()
{
	awk 'function flush_to(task, at) { while (depth[task] && level[task, depth[task]] >= at) depth[task]-- }
		NR == FNR { if (/ => /) { cpu = $1; if (!(cpu in first)) first[cpu] = key(cpu, $2) } next }
		/ => / { task[$1] = key($1, $4); next }
		!/^ *[0-9]+\) .*\|  / { next }
		{
			cpu = $1; if (!(cpu in task)) task[cpu] = (cpu in first) ? first[cpu] : cpu
			t = task[cpu]; body = $0; sub(/^[^|]*\|  /, "", body); match(body, /^ */); at = RLENGTH; sub(/^ */, "", body)
			head = $0; sub(/\|.*/, "", head); us = 0; if (match(head, /[0-9.]+ us/)) us = substr(head, RSTART, RLENGTH - 3)
			flush_to(t, at + 1)
			if (body ~ /\{$/) { flush_to(t, at); depth[t]++; level[t, depth[t]] = at; name[t, depth[t]] = substr(body, 1, index(body, "(") - 1)
				inside[t, depth[t]] = 0; next }
			own = us
			if (body ~ /^\}/ && depth[t] && level[t, depth[t]] == at) {
				fn = name[t, depth[t]]; own = us - inside[t, depth[t]]; depth[t]--
			} else if (body ~ /^\}/) {
				fn = body; sub(/^\} \/\* /, "", fn); sub(/ .*/, "", fn)
			} else {
				fn = substr(body, 1, index(body, "(") - 1); flush_to(t, at)
			}
			calls[fn]++; total[fn] += us; self[fn] += own
			if (depth[t] && level[t, depth[t]] == at - 2) inside[t, depth[t]] += us
		}
		function key(cpu, who) { return who ~ /-0$/ ? cpu who : who }
		END { for (fn in calls) printf "%s %d %.0f %.0f\n", fn, calls[fn], total[fn] * 1000, self[fn] * 1000 }' "$1" "$1" | sort
}

@test "graph: calls, total and own time of each function are those of the kernel's text" {
	need_command jq
	weft graph "$file" --format json > "$out"
	calls_of "$golden/6.12-function_graph.txt" > "$out.want"
	# The text has fewer digits for a duration above 10 ms.
	jq -r '.functions[] | "\(.function) \(.calls) \(.total_ns) \(.self_ns)"' "$out" | sort | join - "$out.want" > "$out.both"
	[ "$(wc -l < "$out.both")" -eq "$(jq '.functions | length' "$out")" ]
	[ "$(wc -l < "$out.both")" -eq "$(wc -l < "$out.want")" ]
	run -0 awk 'function far(a, b) { return a - b > 20 || b - a > 20 } $2 != $5 || far($3, $6) || far($4, $7)' "$out.both"
	[ -z "$output" ] || { echo "$output"; false; }
}

@test "graph: functions that the tracer function only counts are counted as in the kernel's text" {
	weft graph "$golden/6.12-function.dat" --format csv | tail -n +2 | tr , ' ' | sort > "$out"
	grep -v '^#' "$golden/6.12-function.txt" | sed -E 's/.*: ([a-z_0-9.]+) <-.*/\1/' | sort | uniq -c | awk '{ print $2, $1 }' | sort | diff - "$out"
}

@test "graph: prints a table with units, errors by number, the longest call, and what limits them" {
	weft graph "$file" > "$out"
	[ "$(sed -n 2p "$out" | awk '{ print $1, $2, $3, $4 }')" = "FUNCTION CALLS TOTAL SELF" ]
	[ "$(sed -n 3p "$out" | awk '{ print $1, $2, $3, $4 }')" = "schedule 7 21.3 ms" ]
	grep -qE '^path_openat +ENOENT +-2 +1 +6$' "$out"
	grep -q '^# longest call, of schedule_timeout: 10.7 ms, rcu_preempt-17 on CPU 0: weft report --since 14.729109839 --until 14.739809359 ' "$out"
	grep -q '^# cut by the start or the end: 4 calls open at the end$' "$out"
	grep -q '^# broken by lost events: none$' "$out"
	grep -q '^# wanted and not recorded: -e sched:sched_switch ' "$out"
	[ "$(weft graph "$file" --sort calls --table functions --format csv | sed -n 2p | cut -d, -f1,2)" = irq_enter_rcu,67 ]
}

@test "graph: says when there are no functions in the file" {
	run -1 weft graph "$golden/6.12-events-sched.dat"
	[[ "$output" == "weft: there are no functions among the events; record with -p function_graph" ]]
}

# From the kernel's text $1, for those calls of $2 that are not inside another one, prints "PATH CALLS NS" of what they
# called (down) or of their callers (up), or the NS of each call (each). PATH has the names from $2 on, joined by ';'.
tree_of()
{
	python3 - "$1" "$2" "$3" <<'PYTHON'
import re, sys
text, wanted, way = open(sys.argv[1]).read().split("\n"), sys.argv[2], sys.argv[3]
switch = re.compile(r"^ *(\d+)\) +(\S.*?) +=> +(\S.*?) *$")
line_of = re.compile(r"^ *(\d+)\)(.*?)\|( +)(.*)$")
key = lambda cpu, task: cpu + task if task.endswith("-0") else task
task, stacks, sums, each = {}, {}, {}, []
for line in text:
	if m := switch.match(line):
		task.setdefault(m[1], key(m[1], m[2]))
def add(sums, path, calls, ns):
	one = sums.setdefault(path, [0, 0])
	one[0] += calls
	one[1] += ns
# A call has ended; `below` is what it called itself, if it is the outermost of the wanted ones.
def end(stack, name, ns, below):
	names = [frame["name"] for frame in stack] + [name]
	if wanted not in names:
		return
	first = names.index(wanted)
	if first < len(stack):
		add(stack[first]["below"], ";".join(names[first:]), 1, ns)
		return
	each.append(ns)
	add(below, wanted, 1, ns)
	if way == "down":
		for path, (calls, total) in below.items():
			add(sums, path, calls, total)
	for at in range(len(names) if way == "up" else 0):
		add(sums, ";".join(reversed(names[at:])), 1, ns)
for line in text:
	if m := switch.match(line):
		task[m[1]] = key(m[1], m[3])
		continue
	m = line_of.match(line)
	if not m or m[4].startswith("/*"):
		continue
	stack = stacks.setdefault(task.get(m[1], m[1]), [])
	level, body, closes = len(m[3]), m[4], m[4].startswith("}")
	us = re.search(r"([0-9.]+) us", m[2])
	ns = round(float(us[1]) * 1000) if us else 0
	while stack and stack[-1]["level"] >= level + closes:
		stack.pop()
	if body.endswith("{"):
		stack.append({"name": body[:body.index("(")], "level": level, "below": {}})
	elif not closes:
		end(stack, body[:body.index("(")], ns, {})
	elif stack and stack[-1]["level"] == level:
		frame = stack.pop()
		end(stack, frame["name"], ns, frame["below"])
for path, (calls, total) in sorted(sums.items()):
	print(path, calls, total)
for ns in sorted(each, reverse=True) if way == "each" else []:
	print(ns)
PYTHON
}

# Prints the rows of a tree with their paths.
paths_of()
{
	jq -r --arg table "$1" '.[$table] | reduce .[] as $row ({ at: [], out: [] }; .at = .at[:$row.depth] + [$row.function]
		| .out += ["\(.at | join(";")) \($row.calls) \($row.total_ns)"]) | .out[]' | sort
}

@test "graph: --tree is the tree of the kernel's text, what a function called and who called it" {
	need_command jq python3
	for func in do_sys_openat2 path_openat vfs_statx schedule; do
		weft graph "$file" --tree "$func" --format json > "$out"
		for way in "callees down" "callers up"; do
			paths_of "${way% *}" < "$out" > "$out.have"
			tree_of "$golden/6.12-function_graph.txt" "$func" "${way#* }" | sort > "$out.want"
			[ -s "$out.want" ]
			[ "$(join "$out.have" "$out.want" | wc -l)" -eq "$(wc -l < "$out.want")" ] || { diff "$out.have" "$out.want"; false; }
			[ "$(wc -l < "$out.have")" -eq "$(wc -l < "$out.want")" ]
			# The text is rounded to a nanosecond; above 10 ms, to 10 ns.
			run -0 awk '{ far = $3 - $5; if ($2 != $4 || far > 20 || far < -20) print }' <(join "$out.have" "$out.want")
			[ -z "$output" ] || { echo "$func $way: $output"; false; }
		done
		# Parents and children add up.
		jq -e '.callees[0] as $root | ($root.total_ns - ([.callees[] | .self_ns] | add)) == 0' "$out"
	done
}

@test "graph: --slowest tells the longest calls of the kernel's text, and parts that are the whole" {
	need_command jq python3
	for func in path_openat irq_enter_rcu; do
		weft graph "$file" --slowest "$func" --top 3 --format json > "$out"
		tree_of "$golden/6.12-function_graph.txt" "$func" each | head -3 > "$out.want"
		jq -r '.calls[].lasted_ns' "$out" | paste - "$out.want" | awk '{ far = $1 - $2; if (far > 20 || far < -20) exit 1; n++ } END { exit n != 3 }'
		jq -e '. as $all | .calls[] | . as $call | [$all.split[] | select(.call == $call.call) | .self_ns] | add == $call.lasted_ns' "$out"
		[ "$(jq '.longest | length' "$out")" -eq 3 ]
	done
	# The command to paste shows that call in the kernel's text.
	weft graph "$file" --slowest path_openat --top 1 | sed -n 's/^# longest 1, .*: weft //p' > "$out"
	read -ra words < "$out"
	weft "${words[@]}" | grep -q 'path_openat() {'
}

@test "graph: --longer shows the calls that the kernel's text marks as long, below their callers" {
	need_command jq
	# The kernel marks what took more than 100 us with !, #, *, @ or $.
	weft graph "$file" --longer 100us --format json > "$out"
	[ "$(jq '.longer | length' "$out")" -eq "$(grep -c '[!#*@$] [0-9.]* us' "$golden/6.12-function_graph.txt")" ]
	jq -e '.longer | all(.lasted_ns > 100000)' "$out"
	weft graph "$file" --longer 1ms > "$out"
	[ "$(awk '/vfs_fstatat$/ { on = 1 } /path_lookupat$/ { print $2, $NF; exit } on { print $2, $NF }' "$out" | paste -sd ' ')" = \
		'7.5 vfs_fstatat 7.4 vfs_statx 1.3 path_lookupat' ]
	grep -q '  sh  *vfs_fstatat$' "$out"
	grep -q '  sh  *  vfs_statx$' "$out"
	[ "$(weft graph "$file" --longer 100us --top 3 | grep -c ' us \| ms ')" -eq 3 ]
	run -2 weft graph "$file" --longer 1ms --tree path_openat
	[[ "$output" == *'--longer cannot be combined'* ]]
}

@test "graph: a tree is drawn with branches, in ASCII where the locale has no more; small parts are left out and counted" {
	LC_ALL=C.UTF-8 weft graph "$file" --tree path_openat > "$out"
	grep -qE '^ +5 .* │  └─ path_get$' "$out"
	LC_ALL=C weft graph "$file" --tree path_openat > "$out"
	grep -qE '^ +5 .* \|  `- path_get$' "$out"
	grep -q '^# 1 row with less than 1.0 % of the time: left out here, not in JSON and CSV$' "$out"
	[ "$(LC_ALL=C weft graph "$file" --tree path_openat --top 0 | grep -cE '^ +[0-9]')" -eq \
		"$(weft graph "$file" --tree path_openat --format json | jq '[.callees, .callers | length] | add')" ]
	[ "$(weft graph "$file" --tree path_openat --table callees --format csv | sed -n 2p | cut -d, -f1,7)" = 6,path_openat ]
	# The first rows of a tree, which keep their order.
	LC_ALL=C weft graph "$file" --tree path_openat --table callees --top 3 > "$out.top"
	[ "$(grep -E '^ +[0-9]' "$out.top" | sed 's/.*%*  //')" = "$(LC_ALL=C weft graph "$file" --tree path_openat --table callees | grep -E '^ +[0-9]' | head -n 3 | sed 's/.*%*  //')" ]
	grep -qE '^\.\.\. and [0-9]+ more; --top 0 shows all$' "$out.top"
}

@test "graph: --by errno sums up errors of all functions by their number" {
	weft graph "$file" --by errno > "$out"
	weft graph "$file" --table errors --format csv | awk -F, '$2 == "ENOENT" { calls += $4; n++ } END { print "ENOENT -2", calls, n }' > "$out.want"
	[ "$(awk '$1 == "ENOENT" { print $1, $2, $3, $4 }' "$out")" = "$(cat "$out.want")" ]
}

@test "graph: --by module adds up the functions of the kernel itself, and of each module" {
	weft graph "$file" --by module --table modules --format csv > "$out"
	weft graph "$file" --table functions --format csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		NF { module = "kernel"; if ($1 ~ /\]$/) { module = $1; sub(/.*\[/, "", module); sub(/\]$/, "", module) }
			functions[module]++; calls[module] += $at["calls"]; self[module] += $at["self_ns"] }
		END { for (m in calls) print m, functions[m], calls[m], self[m] }' | sort > "$out.want"
	tail -n +2 "$out" | awk -F, 'NF { print $1, $2, $3, $4 }' | sort | diff "$out.want" -
	awk -F, 'NR > 1 && NF { sum += $5 } END { exit sum < 99.9 || sum > 100.1 }' "$out"
}

@test "graph: a function that is not there is named, with its neighbours; options that contradict are refused" {
	run -1 weft graph "$file" --tree path_opena
	[[ "$output" == "weft: the file has no call of 'path_opena'; did you mean 'path_openat'"* ]]
	run -2 weft graph "$file" --tree a --slowest b
	run -2 weft graph "$file" --tree a --sort calls
}
