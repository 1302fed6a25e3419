#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What report prints when a selection leaves no event. Counts and times are those of the complete text of the file.
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

# nothing LINE OPTION...: standard output has the head only, standard error the two lines, and the status is 0.
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
	# A name that exists, except for one letter.
	name=$(sed -E 's/^ *(.*)-[0-9]+ +\[.*/\1/' "$BATS_TEST_TMPDIR/all" | grep -E '^[a-z_]{4,}$' | sort -u | head -n 1)
	nothing "weft: none is of a task called '${name}x'; did you mean '$name'?" --comm "${name}x"
	[ -n "$name" ]
}

@test "report: of choices that contradict one another it says so" {
	local name

	# The first task has no event at the end.
	name=$(sed -nE '1s/^ *(.*)-[0-9]+ +\[.*/\1/p' "$BATS_TEST_TMPDIR/all")
	run ! grep -q "^ *$name-" <(tail -n 1 "$BATS_TEST_TMPDIR/all")
	nothing "weft: each criterion has matching events, but no event meets all of them" --since "${last%: }" --comm "$name"
}

@test "report: it is quiet where something is printed, and where nothing was asked for" {
	weft report --since "${last%: }" "$file" 2> "$BATS_TEST_TMPDIR/err" > /dev/null
	weft report --limit 0 -e sched_switch "$file" 2>> "$BATS_TEST_TMPDIR/err" > /dev/null
	weft report "$file" 2>> "$BATS_TEST_TMPDIR/err" > /dev/null
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
}

@test "export and the answers say so, too; where a choice has events, an empty answer is no question of it" {
	local command
	for command in "export --to csv" sched latency syscalls; do
		# shellcheck disable=SC2086 # words
		weft $command --pid 99999 "$file" > "$BATS_TEST_TMPDIR/out" 2> "$BATS_TEST_TMPDIR/err"
		printf '%s\n' "$told" 'weft: none is of the task 99999' | diff - "$BATS_TEST_TMPDIR/err"
	done
	weft export --to csv --since 900 "$file" 2> "$BATS_TEST_TMPDIR/err"
	printf '%s\n' "$told" 'weft: all are before --since 900' | diff - "$BATS_TEST_TMPDIR/err"
	run weft sched --since 900 "$file"
	[ "$status" = 1 ]
	[[ $output == *'weft: all are before --since 900'* ]]
	run weft summary --since 900 "$file"
	[ "$status" -eq 0 ]
	[[ $output == *'weft: all are before --since 900'* ]]
	weft latency --comm lss "$file" 2>&1 > "$BATS_TEST_TMPDIR/out" | grep -q "none is of a task called 'lss'; did you mean 'ls'"
	weft export --to csv -e 'sched_*' "$file" 2>&1 > "$BATS_TEST_TMPDIR/out" | diff - /dev/null
	weft syscalls --pid 17 "$file" 2>&1 > "$BATS_TEST_TMPDIR/out" | diff - /dev/null
}
