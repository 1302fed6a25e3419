#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Analyses read a file with a second thread where weft may run on several CPUs: the answers are those of one thread.
load lib

setup()
{
	need_command taskset
	[ "$(nproc)" -gt 1 ] || skip "one CPU here"
	first=$(taskset -pc $$ | grep -o '[0-9]*' | tail -n +2 | head -n 1)
	made=$BATS_TEST_TMPDIR/made.dat
}

# as_one_thread COMMAND...: the same bytes on both streams and the same exit status
as_one_thread()
{
	local one=0 many=0
	taskset -c "$first" "$WEFT" "$@" > "$BATS_TEST_TMPDIR/one" 2> "$BATS_TEST_TMPDIR/one-err" || one=$?
	"$WEFT" "$@" > "$BATS_TEST_TMPDIR/many" 2> "$BATS_TEST_TMPDIR/many-err" || many=$?
	echo "$*: $one, $many"
	cmp "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/many"
	cmp "$BATS_TEST_TMPDIR/one-err" "$BATS_TEST_TMPDIR/many-err"
	[ "$one" -eq "$many" ]
}

# every_answer FILE
every_answer()
{
	local what
	for what in summary sched latency syscalls irq graph block locks stacks memory power tasks; do
		as_one_thread "$what" "$1"
	done
	as_one_thread sched --timehist "$1"
	as_one_thread hist --input "$1" sched:sched_switch --keys next_pid
	as_one_thread diff "$1" "$1"
}

# The kernel's text of many switches, so that there are more pages than threads read ahead.
make_switches()
{
	awk 'BEGIN {
		print "# tracer: nop\n#"
		for (i = 0; i < 60000; i++)
			printf "          task%d-%d     [%03d] d..2.  %d.%06d: sched_switch: prev_comm=task%d prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=task%d next_pid=%d next_prio=120\n", i % 7, 100 + i % 7, i * i % 5 % 3, 100 + i / 100000, i % 100000 * 10, i % 7, 100 + i % 7, i % 3 ? "S" : "R", (i + 1) % 7, 101 + i % 7
	}' > "$BATS_TEST_TMPDIR/switches.txt"
	weft import -q -o "$BATS_TEST_TMPDIR/imported.dat" "$BATS_TEST_TMPDIR/switches.txt"
	weft convert -q --file-version "$1" -o "$made" "$BATS_TEST_TMPDIR/imported.dat"
}

# bats test_tags=long
@test "threads: every answer is the same with one thread and with several, of packed and of raw pages" {
	every_answer tests/fixtures/demo.dat
	every_answer tests/fixtures/golden/6.12-function_graph.dat
	make_switches 6
	every_answer "$made"
	make_switches 7
	every_answer "$made"
}

@test "threads: of a damaged file the answers and what is said of it are the same" {
	local whole=$BATS_TEST_TMPDIR/whole.dat size version at
	for version in 6 7; do
		make_switches $version
		cp "$made" "$whole"
		size=$(wc -c < "$whole")
		for at in $((size * 30 / 100)) $((size * 50 / 100)) $((size * 75 / 100)); do
			cp "$whole" "$made"
			head -c 5000 /dev/zero | dd of="$made" bs=1 seek="$at" conv=notrunc status=none
			as_one_thread sched "$made"
			[[ "$(< "$BATS_TEST_TMPDIR/many-err")" == *"is damaged: CPU "* ]]
			as_one_thread summary "$made"
			as_one_thread export -q --to jsonl -o - "$made"
			head -c "$at" "$whole" > "$made"
			as_one_thread sched "$made"
			[ -s "$BATS_TEST_TMPDIR/many-err" ]
		done
	done
}
