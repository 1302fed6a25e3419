#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The example of an analysis that CONTRIBUTING.md explains: its counts are those of the kernel's own text.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden
example=${BUILD:-$BATS_TEST_DIRNAME/../../build}/tests/examples/weft

# Prints "NAME PID CPU COUNT" from the kernel's text $1. Each line that is no comment is an event.
counts_of()
{
	sed -n -E 's/^ *(.*)-([0-9]+) +\[([0-9]+)\] .*/\1 \2 \3/p' "$1" |
		awk '{ n[$1 " " $2 " " $3 + 0]++ } END { for (k in n) print k, n[k] }' | sort
}

@test "example: a table of events per task and CPU has the counts of the kernel's text" {
	for name in 6.12-events-sched 6.1-rt-events-sched; do
		"$example" busiest --self --top 0 "$golden/$name.dat" > "$BATS_TEST_TMPDIR/out"
		[ "$(sed -n 2p "$BATS_TEST_TMPDIR/out" | tr -s ' ')" = "TASK PID CPU EVENTS" ]
		sed '1,2d; /^$/,$d' "$BATS_TEST_TMPDIR/out" | tr -d , | awk '{ print $1, $2, $3, $4 }' | sort | diff <(counts_of "$golden/$name.txt") -
	done
}

@test "example: the same table as JSON" {
	need_command jq
	"$example" busiest --self --format json "$golden/6.12-events-sched.dat" |
		jq -r '.busiest[] | "\(.comm) \(.pid) \(.cpu) \(.events)"' | sort | diff <(counts_of "$golden/6.12-events-sched.txt") -
}

@test "example: the options of all analyses choose the rows" {
	"$example" busiest --cpu 1 --comm sh "$golden/6.12-events-sched.dat" > "$BATS_TEST_TMPDIR/out"
	# What was called sh and what it became later, at the time that the table tells: the text's names are the last ones.
	at=$(sed -n "s/^# sh-67 was called .* from \([0-9.]*\):.*/\1/p" "$BATS_TEST_TMPDIR/out")
	counts_of "$golden/6.12-events-sched.txt" | grep '^sh 62 1 ' > "$BATS_TEST_TMPDIR/want"
	awk -v at="$at" '/-67 +\[001\]/ && $4 + 0 < at { n++ } END { print "sh 67 1", n }' "$golden/6.12-events-sched.txt" >> "$BATS_TEST_TMPDIR/want"
	sed '1,2d; /^$/,$d' "$BATS_TEST_TMPDIR/out" | awk '{ print $1, $2, $3, $4 }' | sort | diff "$BATS_TEST_TMPDIR/want" -
}

@test "example: its line in the list gives it --for, the columns of --sort, a place in help and intervals" {
	local first
	"$example" record --for nosuch true 2>&1 | grep -q ", .* and busiest"
	"$example" __describe | grep -qxF "columns	busiest	task|pid|cpu|events"
	"$example" help --all | grep -q busiest
	"$example" busiest --self --sort pid --format csv "$golden/6.12-events-sched.dat" | sed -n '2,$p' | cut -d, -f2 | sed '/^$/,$d' > "$BATS_TEST_TMPDIR/pids"
	sort -rn "$BATS_TEST_TMPDIR/pids" | diff - "$BATS_TEST_TMPDIR/pids"
	first=$("$example" busiest --every 10ms --format csv "$golden/6.12-events-sched.dat" | head -n 1)
	[[ "$first" == since,until,* ]]
}

@test "example: the same line gives it a table in the summary, and rows in a comparison" {
	"$example" summary --top 3 "$golden/6.12-events-sched.dat" > "$BATS_TEST_TMPDIR/out"
	grep -qxF "# tasks with the most events (more: weft busiest)" "$BATS_TEST_TMPDIR/out"
	"$example" busiest --top 0 "$golden/6.12-events-sched.dat" | tr -s ' ' > "$BATS_TEST_TMPDIR/rows"
	grep -qxF "$(tr -s ' ' < "$BATS_TEST_TMPDIR/out" | sed -n '/^# tasks with the most/,$p' | sed -n 3p)" "$BATS_TEST_TMPDIR/rows"
	# Rows of a task are added up over its CPUs.
	"$example" diff busiest --format json "$golden/6.12-events-sched.dat" "$golden/6.1-rt-events-sched.dat" > "$BATS_TEST_TMPDIR/json"
	for task in sh cat ls; do
		[ "$(jq -r --arg task "$task" '[.. | objects | select(.table == "busiest" and .row == $task) | .old_n][0]' "$BATS_TEST_TMPDIR/json")" = \
			"$(counts_of "$golden/6.12-events-sched.txt" | awk -v task="$task" '$1 == task { n += $4 } END { print n }')" ]
	done
	run -2 --separate-stderr "$example" diff nosuch a b
	[[ "$stderr" == *"there are summary, "*" and busiest"* ]]
}

@test "example: a file that is none is a failure that is told" {
	run -1 --separate-stderr "$example" busiest "$golden/6.12-events-sched.txt"
	[[ "$stderr" == "weft: "* ]]
}
