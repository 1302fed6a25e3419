#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft summary: one page, whose figures are those of the commands that tell more, and of the kernel's own text.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden

setup()
{
	out=$BATS_TEST_TMPDIR/out
}

@test "summary: counts events by their names as the kernel's text has them" {
	need_command jq
	weft summary "$golden/6.12-events-sched.dat" --format json > "$out"
	jq -r '.events[] | "\(.event | sub(".*:"; "")) \(.count)"' "$out" | sort |
		diff <(grep -v '^#' "$golden/6.12-events-sched.txt" | sed -E 's/^.*[0-9]: ([a-z_0-9]+): .*/\1/' | sort | uniq -c | awk '{ print $2, $1 }' | sort) -
	jq -e --argjson all "$(grep -vc '^#' "$golden/6.12-events-sched.txt")" '[.events[].count] | add == $all' "$out"
	diff <(jq -c .tasks "$out") <(weft sched "$golden/6.12-events-sched.dat" --format json | jq -c .tasks)
}

@test "summary: has what the file has the events for, and says how to record the rest" {
	weft summary "$golden/6.12-events-sched.dat" > "$out"
	[ "$(wc -l < "$out")" -le 60 ]
	grep -q '^# tasks: .* (more: weft sched)$' "$out"
	grep -q '^# weft syscalls: there are no system calls among the events; record with -e raw_syscalls$' "$out"
	weft summary "$golden/6.12-events-syscalls.dat" > "$out"
	grep -q '^# system calls (more: weft syscalls)$' "$out"
	grep -q '^# weft sched: there is no sched_switch ' "$out"
	# Of a file with neither, the recording and its events.
	weft summary "$golden/6.12-function.dat" > "$out"
	grep -q '^ftrace:function ' "$out"
	run -1 weft summary "$golden/6.12-function.txt"
}
