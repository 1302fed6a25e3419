#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft split: the parts together are the whole, for the kernel's own text and for trace-cmd.
load lib

# In a graph, an entry and its return may be on one line, and a part may end between them; a marker without a newline
# joins lines. The mips64 kernel prints bytes behind its stacks that come from earlier records, which a part does not have
# (weft-split(1)).
of_events()
{
	local text

	for text in tests/fixtures/golden/*.txt; do
		case $text in
		*function_graph* | *markers* | *mips64el*) continue ;;
		esac
		[ -e "${text%.txt}.dat" ] || continue
		weft report "${text%.txt}.dat" | cmp -s - "$text" && echo "$text"
	done
}

# reports FILE...: prints their texts, one after the other, without the lines with counts.
reports()
{
	local file

	for file; do
		weft report "$file"
	done | grep -av '^#'
}

@test "split: the kernel's own text is that of the parts, one after the other" {
	local text how count=0 ways=("--count 37" "--size 4096B" "--every 1ms" "--count 100 --file-version 6")

	# Each file is divided in one way, the next one in another: all ways are thousands of parts.
	for text in $(of_events); do
		grep -av '^#' "$text" > "$BATS_TEST_TMPDIR/want"
		how=${ways[count % 4]}
		rm -f "$BATS_TEST_TMPDIR"/part.*
		# shellcheck disable=SC2086 # words
		weft split -q $how -o "$BATS_TEST_TMPDIR/part.dat" "${text%.txt}.dat"
		reports "$BATS_TEST_TMPDIR"/part.*.dat | cmp - "$BATS_TEST_TMPDIR/want"
		count=$((count + 1))
	done
	[ $count -gt 4 ]
}

@test "split: a small part has few of the kernel's symbols, and all that its text names" {
	local text part count=0

	for text in tests/fixtures/golden/*-function.txt tests/fixtures/golden/6.12-event-stacktrace.txt; do
		rm -f "$BATS_TEST_TMPDIR"/*.dat
		weft split -q --count 20 -o "$BATS_TEST_TMPDIR/part.dat" "${text%.txt}.dat"
		for part in "$BATS_TEST_TMPDIR"/part.*.dat; do
			[ "$(stat -c %s "$part")" -lt 100000 ]
			weft check -q "$part"
			# A part of a part, and the part as trace-cmd's version 6.
			weft split -q --count 7 -o "$BATS_TEST_TMPDIR/again.dat" "$part"
			weft convert -q --file-version 6 -o "$BATS_TEST_TMPDIR/v6.dat" "$part"
			reports "$part" > "$BATS_TEST_TMPDIR/want"
			reports "$BATS_TEST_TMPDIR/v6.dat" | cmp - "$BATS_TEST_TMPDIR/want"
			reports "$BATS_TEST_TMPDIR"/again.*.dat | cmp - "$BATS_TEST_TMPDIR/want"
			rm "$BATS_TEST_TMPDIR"/again.*.dat
			count=$((count + 1))
			[ $((count % 5)) -lt 4 ] || break
		done
		grep -av '^#' "$text" > "$BATS_TEST_TMPDIR/want"
		reports "$BATS_TEST_TMPDIR"/part.*.dat | cmp - "$BATS_TEST_TMPDIR/want"
	done
	[ $count -gt 6 ]
}

@test "split: without an option that divides, the file is the same, heads and graphs too" {
	local text

	for text in tests/fixtures/golden/*function_graph.txt tests/fixtures/golden/*sched.txt; do
		weft split -q -o "$BATS_TEST_TMPDIR/one.dat" "${text%.txt}.dat"
		weft report "$BATS_TEST_TMPDIR/one.dat" | cmp - "$text"
		weft check -q "$BATS_TEST_TMPDIR/one.dat"
	done
}

@test "split: trace-cmd finds in the parts each event of the source once" {
	need_command trace-cmd
	local part

	trace-cmd report -i tests/fixtures/demo.dat 2> /dev/null | grep '\[0' > "$BATS_TEST_TMPDIR/want"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/want")" -gt 50 ]
	weft split -q --count 40 -o "$BATS_TEST_TMPDIR/part.dat" tests/fixtures/demo.dat
	for part in "$BATS_TEST_TMPDIR"/part.*.dat; do
		trace-cmd report -i "$part" 2> /dev/null | grep '\[0'
	done | cmp - "$BATS_TEST_TMPDIR/want"
}

@test "split --by cpu: trace-cmd finds in each part the events of that CPU" {
	need_command trace-cmd
	local part cpu total=0

	trace-cmd report -i tests/fixtures/demo.dat 2> /dev/null | grep '\[0' > "$BATS_TEST_TMPDIR/all"
	weft split -q --by cpu -o "$BATS_TEST_TMPDIR/part.dat" tests/fixtures/demo.dat
	for part in "$BATS_TEST_TMPDIR"/part.cpu*.dat; do
		cpu=${part##*.cpu}
		cpu=$(printf '%03d' "${cpu%.dat}")
		trace-cmd report -i "$part" 2> /dev/null | grep '\[0' > "$BATS_TEST_TMPDIR/got"
		grep "\[$cpu\]" "$BATS_TEST_TMPDIR/all" | cmp - "$BATS_TEST_TMPDIR/got"
		total=$((total + $(wc -l < "$BATS_TEST_TMPDIR/got")))
	done
	[ "$total" -eq "$(wc -l < "$BATS_TEST_TMPDIR/all")" ]
}

@test "split --by event: each part has the events of one type, all of them" {
	local text=tests/fixtures/golden/6.12-events-sched.txt part name

	weft split -q --by event -o "$BATS_TEST_TMPDIR/part.dat" "${text%.txt}.dat"
	for part in "$BATS_TEST_TMPDIR"/part.*.dat; do
		name=${part#"$BATS_TEST_TMPDIR"/part.}
		grep " ${name%.dat}: " "$text" > "$BATS_TEST_TMPDIR/want"
		reports "$part" | cmp - "$BATS_TEST_TMPDIR/want"
	done
	[ -e "$BATS_TEST_TMPDIR/part.sched_switch.dat" ]
	[ -e "$BATS_TEST_TMPDIR/part.sched_waking.dat" ]
}

@test "split: a selection becomes one file" {
	local text=tests/fixtures/golden/6.12-events-sched.txt at

	at=$(grep -av '^#' "$text" | sed -n '20s/.* \([0-9]*\.[0-9]*\): .*/\1/p')
	weft split -q -e sched_switch --since "$at" --limit 10 -o "$BATS_TEST_TMPDIR/some.dat" "${text%.txt}.dat"
	weft report -e sched_switch --since "$at" "${text%.txt}.dat" | grep -v '^#' | head -n 10 > "$BATS_TEST_TMPDIR/want"
	[ "$(grep -cxFf "$text" "$BATS_TEST_TMPDIR/want")" -eq 10 ]
	reports "$BATS_TEST_TMPDIR/some.dat" | cmp - "$BATS_TEST_TMPDIR/want"
}

@test "split: what goes to standard output is a file, too; of nothing it is one without events" {
	weft split -q --count 1000000 -o "$BATS_TEST_TMPDIR/all.dat" tests/fixtures/demo.dat
	weft split -q -o - tests/fixtures/demo.dat > "$BATS_TEST_TMPDIR/out.dat"
	weft report tests/fixtures/demo.dat | cmp - <(weft report "$BATS_TEST_TMPDIR/out.dat")
	weft split -q --pid 999999 -o "$BATS_TEST_TMPDIR/none.dat" tests/fixtures/demo.dat
	weft check "$BATS_TEST_TMPDIR/none.dat" | grep -q ' 0 events'
}

@test "split: the order of bytes and the size of words of another machine stay" {
	need_shared samples/v6-long32-8cpu.dat
	need_command trace-cmd
	local file=$SHARED/samples/v6-long32-8cpu.dat part

	trace-cmd report -i "$file" 2> /dev/null | grep -c '\[00' > "$BATS_TEST_TMPDIR/want"
	weft split -q --count 200 -o "$BATS_TEST_TMPDIR/part.dat" "$file"
	[ -e "$BATS_TEST_TMPDIR/part.002.dat" ]
	for part in "$BATS_TEST_TMPDIR"/part.*.dat; do
		trace-cmd report -i "$part" 2> /dev/null
	done | grep -c '\[00' | cmp - "$BATS_TEST_TMPDIR/want"
}

@test "split: what was lost is told once, in the part of the event behind it" {
	local file=tests/corpora/report/accept/lost-6.12.dat part

	weft report --format trace_pipe "$file" | grep -c LOST > "$BATS_TEST_TMPDIR/want"
	weft split -q --count 20 -o "$BATS_TEST_TMPDIR/part.dat" "$file"
	[ -e "$BATS_TEST_TMPDIR/part.002.dat" ]
	for part in "$BATS_TEST_TMPDIR"/part.*.dat; do
		weft report --format trace_pipe "$part"
	done | grep LOST > "$BATS_TEST_TMPDIR/got"
	grep -c . "$BATS_TEST_TMPDIR/got" | cmp - "$BATS_TEST_TMPDIR/want"
	grep -qx 'CPU:1 \[LOST 230 EVENTS\]' "$BATS_TEST_TMPDIR/got"
}

@test "split: of a damaged file what can be read is written, and the damage is told" {
	head -c 10000 tests/fixtures/golden/6.12-function.dat > "$BATS_TEST_TMPDIR/cut.dat"
	run -1 weft split -q -o "$BATS_TEST_TMPDIR/out.dat" "$BATS_TEST_TMPDIR/cut.dat"
	[[ "$output" == "weft: "* ]]
	[ -e "$BATS_TEST_TMPDIR/out.dat" ]
}

@test "split: wrong usage is told" {
	run -2 weft split --count 0 -o a.dat tests/fixtures/demo.dat
	[ "${lines[0]}" = "weft split: --count: 0 is too small; the smallest is 1" ]
	run -2 weft split tests/fixtures/demo.dat
	[[ "$output" == *"-o FILE"* ]]
	run -2 weft split --count 10 --by cpu -o x tests/fixtures/demo.dat
	[[ "$output" == *"only one of --every, --size, --count and --by is allowed"* ]]
	run -2 weft split --count 10 -o - tests/fixtures/demo.dat
	[[ "$output" == *"several files cannot be written to standard output"* ]]
	run -2 weft split --every 0s -o x tests/fixtures/demo.dat
	run -2 weft split --by task -o x tests/fixtures/demo.dat
	run -1 weft split -o "$BATS_TEST_TMPDIR/x" /nonexistent
}

# What is left out is no fact about what happened: the part names what chose its events, whatever is made of it.
@test "split: a part says what was left out, to info and to the analyses, also of files that are made of it" {
	local file=$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-sched.dat
	cd "$BATS_TEST_TMPDIR" || exit 1
	weft split -q -e 'sched_switch,sched/sched_wakeup' -o part.dat "$file"
	weft split -q --pid 66,67 -o pids.dat part.dat
	weft convert -q --file-version 6 -o old.dat pids.dat
	for made in pids.dat old.dat; do
		[ "$(weft info --setting weft/selected $made)" = $'-e sched_switch,sched/sched_wakeup\n--pid 66,67' ]
		weft info $made | grep -qx '  made of another file, with --pid 66,67'
	done
	weft sched pids.dat > out
	grep -q '^# the file was made with -e sched_switch,sched/sched_wakeup --pid 66,67: what that left out is in no figure' out
	# The recording had these events: they are not "recorded, and none occurred".
	grep -q '^# wanted and not recorded: -e sched:sched_waking ' out
	weft split -q -e sched_waking -o waking.dat "$file"
	run -1 weft sched waking.dat
	[[ "$output" == *"made of some of the events of another one"* ]]
	[[ "$output" != *"none occurred"* ]]
	# Parts of the time, and files without a choice, have all events of their time.
	weft split -q --every 5ms -o t.dat "$file"
	run -1 weft info --setting weft/selected t.001.dat
	weft split -q --by cpu -o c.dat "$file"
	[ "$(weft info --setting weft/selected c.cpu1.dat)" = "--cpu 1" ]
}

@test "split: with one side of the calls alone no call is broken or refused" {
	cd "$BATS_TEST_TMPDIR" || exit 1
	for side in sys_enter sys_exit; do
		weft split -q -e "syscalls:${side}_*" -o $side.dat "$BATS_TEST_DIRNAME/../fixtures/golden/6.12-events-syscalls.dat"
		weft syscalls $side.dat > out || true
		run -1 grep -E 'seccomp|lost events: [0-9]' out
	done
}

@test "split: too many parts for the limit of open files are told with what to do" {
	local file=$PWD/tests/fixtures/golden/6.12-events-sched.dat
	cd "$BATS_TEST_TMPDIR" || exit
	ulimit -n 64
	run -1 weft split -q --count 1 -o part.dat "$file"
	# A part takes one descriptor.
	[ "$(grep -o 'after [0-9]* parts' <<< "$output" | grep -o '[0-9]*')" -gt 45 ]
	[[ "$output" == *" parts; make them larger, or allow more open files with 'ulimit -n': "*"Too many open files"* ]]
}
