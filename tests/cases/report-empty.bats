#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What report says where a choice leaves nothing. The counts and times are those of the text of the whole file.
load lib

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || return
	file=tests/fixtures/demo.dat
	weft report "$file" | grep -v '^#' > "$BATS_TEST_TMPDIR/all"
	events=$(wc -l < "$BATS_TEST_TMPDIR/all")
	first=$(grep -oE '[0-9]+\.[0-9]{6}: ' "$BATS_TEST_TMPDIR/all" | head -n 1)
	last=$(grep -oE '[0-9]+\.[0-9]{6}: ' "$BATS_TEST_TMPDIR/all" | tail -n 1)
	told="weft: 0 of $events events are selected; they span ${first%: } to ${last%: }, CPUs 0-1"
}

# Nothing on standard output but the head, the two lines on the other, and no failure.
nothing() # LINE OPTION...
{
	local line=$1
	shift
	weft report "$@" "$file" > "$BATS_TEST_TMPDIR/out" 2> "$BATS_TEST_TMPDIR/err"
	run ! grep -qv '^#' "$BATS_TEST_TMPDIR/out"
	printf '%s\n' "$told" "$line" | diff - "$BATS_TEST_TMPDIR/err"
}

@test "report: where nothing is selected it says what there is, and which choice nothing meets" {
	local name
	nothing "weft: all are before --since 900" --since 900
	nothing "weft: all are after --until 1" --until 1
	nothing "weft: none is of these CPUs" --cpu 7
	nothing "weft: none is of the task 999999" --pid 999999
	nothing "weft: none is a sched:sched_process_fork" -e sched:sched_process_fork
	nothing "weft: none is of a task called 'zzzzzz'" --comm zzzzzz
	# A name that is there, but for one letter.
	name=$(sed -E 's/^ *(.*)-[0-9]+ +\[.*/\1/' "$BATS_TEST_TMPDIR/all" | grep -E '^[a-z_]{4,}$' | sort -u | head -n 1)
	nothing "weft: none is of a task called '${name}x'; did you mean '$name'?" --comm "${name}x"
	[ -n "$name" ]
}

@test "report: of choices that contradict one another it says so" {
	nothing "weft: each choice has some, but none has all that was chosen" --since "${last%: }" --until "$(awk -v t="${first%: }" 'BEGIN { printf "%.6f", t + 0.001 }')"
}

@test "report: it is quiet where something is printed, and where nothing was asked for" {
	weft report --since "${last%: }" "$file" 2> "$BATS_TEST_TMPDIR/err" > /dev/null
	weft report --limit 0 -e sched_switch "$file" 2>> "$BATS_TEST_TMPDIR/err" > /dev/null
	weft report "$file" 2>> "$BATS_TEST_TMPDIR/err" > /dev/null
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
}
