#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Small recordings of real kernels and what those kernels printed: tests/corpora/report/NAME.dat and .txt.
load lib

corpus=tests/corpora/report/accept

exact()
{
	weft report "$corpus/$1.dat" > "$BATS_TEST_TMPDIR/text"
	diff -u "tests/corpora/report/$1.txt" "$BATS_TEST_TMPDIR/text"
}

@test "report: the function graph of 6.1 PREEMPT_RT is exact, with leaves, tasks and open functions" {
	exact graph-6.1
}

@test "report: the function graph of 6.12 is exact, with events as comments and their stacks between" {
	exact graph-6.12
}

@test "report: user stacks are exact" {
	exact userstack-6.12
}

@test "report: hwlat entries are exact" {
	exact hwlat-6.12
}

@test "report: osnoise entries and their legend are exact" {
	exact osnoise-6.12
}

@test "report: the graph's text is the same with one thread and with many" {
	for threads in 1 2 7; do
		weft report --threads=$threads "$corpus/graph-6.12.dat" | cmp - tests/corpora/report/graph-6.12.txt
	done
}

@test "report: -O funcgraph-proc and funcgraph-tail change the graph's columns and ends" {
	run --separate-stderr weft report -O funcgraph-proc -O funcgraph-tail "$corpus/graph-6.1.dat"
	[ "$status" -eq 0 ]
	[ "${lines[2]}" = "# CPU  TASK/PID         DURATION                  FUNCTION CALLS" ]
	[[ "$output" == *" 1)     sh-418     |               |  vfs_write() {"* ]]
	weft report "$corpus/graph-6.12.dat" | grep -qE '\|  +}$'
	weft report -O funcgraph-tail "$corpus/graph-6.12.dat" > "$BATS_TEST_TMPDIR/tails"
	run -1 grep -E '\|  +}$' "$BATS_TEST_TMPDIR/tails"
}

@test "report: -O nofuncgraph-duration leaves the column out" {
	run --separate-stderr weft report -O nofuncgraph-duration "$corpus/graph-6.1.dat"
	[ "$status" -eq 0 ]
	[ "${lines[4]}" = " 0) vfs_open();" ]
}

@test "report: --raw prints the fields of the graph's entries and exits" {
	run --separate-stderr weft report --raw "$corpus/graph-6.1.dat"
	[ "$status" -eq 0 ]
	[[ "$output" == *"funcgraph_entry:"*"func="* ]]
	[[ "$output" == *"funcgraph_exit:"*"rettime="* ]]
}
