#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft graph: its counts and times beside what the kernel's own text of the same calls says.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
file=$golden/6.12-function_graph.dat

setup()
{
	out=$BATS_TEST_TMPDIR/out
}

# "FUNCTION CALLS TOTAL SELF" in ns, by the kernel's text: durations, and who called by the indentation, in each task.
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
	# A duration above 10 ms has fewer digits in the text.
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
	grep -q '^# longest call, of schedule_timeout: 10.6 ms, rcu_preempt-17 on CPU 0: weft report --since 14.729109839 --until 14.739809359 ' "$out"
	grep -q '^# cut by the start or the end: 4 calls open at the end$' "$out"
	grep -q '^# broken by lost events: none$' "$out"
	grep -q '^# wanted and not recorded: -e sched:sched_switch ' "$out"
	[ "$(weft graph "$file" --sort calls --format csv | sed -n 2p | cut -d, -f1,2)" = irq_enter_rcu,67 ]
}

@test "graph: says when there are no functions in the file" {
	run -1 weft graph "$golden/6.12-events-sched.dat"
	[[ "$output" == "weft: there are no functions among the events; record with -p function_graph" ]]
}
