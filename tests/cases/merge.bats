#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft merge: makes one file from recordings of two kernels; each part still gives its own kernel's text.
load lib

GOLDEN=tests/fixtures/golden

@test "merge: each buffer prints the text of its own kernel" {
	local name

	weft merge -q -o "$BATS_TEST_TMPDIR/all.dat" $GOLDEN/6.12-events-sched.dat $GOLDEN/6.1-rt-events-sched.dat $GOLDEN/6.12-events-syscalls.dat
	weft check -q "$BATS_TEST_TMPDIR/all.dat"
	for name in 6.12-events-sched 6.1-rt-events-sched 6.12-events-syscalls; do
		weft report -B $name "$BATS_TEST_TMPDIR/all.dat" | cmp - $GOLDEN/$name.txt
	done
}

@test "merge: functions have the names that they have in their own kernel" {
	weft merge -q -o "$BATS_TEST_TMPDIR/all.dat" $GOLDEN/6.12-function.dat $GOLDEN/6.1-rt-function.dat
	weft report -B 6.12-function "$BATS_TEST_TMPDIR/all.dat" | cmp - $GOLDEN/6.12-function.txt
	weft report -B 6.1-rt-function "$BATS_TEST_TMPDIR/all.dat" | cmp - $GOLDEN/6.1-rt-function.txt
	weft check -q "$BATS_TEST_TMPDIR/all.dat"
}

@test "merge: trace-cmd finds all events of both files" {
	need_command trace-cmd
	local name

	for name in 6.12-events-sched 6.1-rt-events-sched; do
		trace-cmd report -i $GOLDEN/$name.dat 2> /dev/null
	done | grep -c '\[0' > "$BATS_TEST_TMPDIR/want"
	weft merge -q -o "$BATS_TEST_TMPDIR/all.dat" $GOLDEN/6.12-events-sched.dat $GOLDEN/6.1-rt-events-sched.dat
	trace-cmd report -i "$BATS_TEST_TMPDIR/all.dat" 2> /dev/null | grep -c '\[0' | cmp - "$BATS_TEST_TMPDIR/want"
	weft merge -q --file-version 6 -o "$BATS_TEST_TMPDIR/six.dat" $GOLDEN/6.12-events-sched.dat $GOLDEN/6.1-rt-events-sched.dat
	weft report "$BATS_TEST_TMPDIR/all.dat" | cmp - <(weft report "$BATS_TEST_TMPDIR/six.dat")
}

@test "merge: tables of several recordings ask for one, which then has the figures of its own file" {
	local all=$BATS_TEST_TMPDIR/all.dat command

	weft merge -q -o "$all" $GOLDEN/6.12-events-sched.dat $GOLDEN/6.1-rt-events-sched.dat
	for command in summary sched latency tasks 'export --to html -q -o /dev/null'; do
		run -1 weft $command "$all"
		[[ "$output" == *"merged from several recordings ('6.12-events-sched', '6.1-rt-events-sched')"*"choose one with -B"* ]]
	done
	weft sched --table tasks --format csv -B 6.1-rt-events-sched "$all" | cmp - <(weft sched --table tasks --format csv $GOLDEN/6.1-rt-events-sched.dat)
}

# Prints the times of a buffer in microseconds.
times()
{
	weft report -B "$1" "$2" | grep -v '^#' | sed -n 's/.* \([0-9]*\)\.\([0-9]\{6\}\): .*/\1\2/p'
}

@test "merge --offset: the times of that file move, and no other" {
	weft merge -q --offset $GOLDEN/6.1-rt-events-sched.dat=-2000000 -o "$BATS_TEST_TMPDIR/all.dat" \
		$GOLDEN/6.12-events-sched.dat $GOLDEN/6.1-rt-events-sched.dat
	grep -v '^#' $GOLDEN/6.1-rt-events-sched.txt | sed -n 's/.* \([0-9]*\)\.\([0-9]\{6\}\): .*/\1\2/p' |
		while read -r us; do echo $((us - 2000)); done > "$BATS_TEST_TMPDIR/want"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/want")" -gt 50 ]
	times 6.1-rt-events-sched "$BATS_TEST_TMPDIR/all.dat" | cmp - "$BATS_TEST_TMPDIR/want"
	weft report -B 6.12-events-sched "$BATS_TEST_TMPDIR/all.dat" | cmp - $GOLDEN/6.12-events-sched.txt
}

@test "merge --match: the first event of that name is at one time in all files, and the lines are in order of time" {
	local first

	weft merge -q --match sched_switch -o "$BATS_TEST_TMPDIR/all.dat" $GOLDEN/6.12-events-sched.dat $GOLDEN/6.1-rt-events-sched.dat
	first=$(sed -n 's/.* \([0-9]*\.[0-9]*\): sched_switch: .*/\1/p' $GOLDEN/6.12-events-sched.txt | head -n 1)
	[ "$(weft report -e sched_switch "$BATS_TEST_TMPDIR/all.dat" | grep -v '#' | head -n 2 | grep -c " $first: sched_switch: ")" -eq 2 ]
	weft report "$BATS_TEST_TMPDIR/all.dat" | sed -n 's/.* \([0-9]*\.[0-9]\{6\}\): .*/\1/p' > "$BATS_TEST_TMPDIR/times"
	sort -n "$BATS_TEST_TMPDIR/times" | cmp - "$BATS_TEST_TMPDIR/times"
}

@test "merge: files of one name have buffers of two" {
	mkdir "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
	cp $GOLDEN/6.12-events-sched.dat "$BATS_TEST_TMPDIR/a/t.dat"
	cp $GOLDEN/6.12-events-sched.dat "$BATS_TEST_TMPDIR/b/t.dat"
	weft merge -q -o "$BATS_TEST_TMPDIR/all.dat" "$BATS_TEST_TMPDIR/a/t.dat" "$BATS_TEST_TMPDIR/b/t.dat"
	weft report -B t "$BATS_TEST_TMPDIR/all.dat" | cmp - $GOLDEN/6.12-events-sched.txt
	weft report -B t-2 "$BATS_TEST_TMPDIR/all.dat" | cmp - $GOLDEN/6.12-events-sched.txt
}

@test "merge: the parts of a recording make it again, whatever divided it" {
	local file=tests/fixtures/demo.dat how command
	for how in "--every 5ms" "--count 30" "--by cpu" "--by event"; do
		rm -f "$BATS_TEST_TMPDIR"/*.dat
		weft split -q $how -o "$BATS_TEST_TMPDIR/p.dat" $file
		weft merge -o "$BATS_TEST_TMPDIR/all.dat" "$BATS_TEST_TMPDIR"/p.*.dat 2> "$BATS_TEST_TMPDIR/err"
		grep -q "130 events of .* parts of one recording, and make one again" "$BATS_TEST_TMPDIR/err"
		for command in report sched syscalls latency; do
			weft $command $file 2> /dev/null | grep -vF .dat > "$BATS_TEST_TMPDIR/want"
			[ "$(wc -l < "$BATS_TEST_TMPDIR/want")" -gt 10 ]
			weft $command "$BATS_TEST_TMPDIR/all.dat" 2> /dev/null | grep -vF .dat |
				cmp - "$BATS_TEST_TMPDIR/want" || { echo "$how: $command"; false; }
		done
	done
}

@test "merge: where a part is missing, events are lost" {
	weft split -q --count 30 -o "$BATS_TEST_TMPDIR/p.dat" tests/fixtures/demo.dat
	cd "$BATS_TEST_TMPDIR"
	weft merge -q -o all.dat p.005.dat p.001.dat p.003.dat
	weft report all.dat > all.txt
	# Two CPUs, each with events in all three parts.
	[ "$(grep -c 'LOST' all.txt)" = 4 ]
	# What is in two parts is no part of a whole: each file keeps a buffer of its own.
	weft split -q --count 40 -o q.dat p.001.dat
	weft merge -q -o all.dat p.001.dat q.001.dat
	[ "$(weft report -B p.001 all.dat | grep -vc '^#')" = 30 ]
}

@test "merge: a damaged file is told, what can be read is taken" {
	head -c 10000 $GOLDEN/6.12-function.dat > "$BATS_TEST_TMPDIR/cut.dat"
	run -1 weft merge -q -o "$BATS_TEST_TMPDIR/all.dat" $GOLDEN/6.12-events-sched.dat "$BATS_TEST_TMPDIR/cut.dat"
	[[ "$output" == *"cut.dat' is damaged"* ]]
	weft report -B 6.12-events-sched "$BATS_TEST_TMPDIR/all.dat" | cmp - $GOLDEN/6.12-events-sched.txt
}

@test "merge: wrong usage is told" {
	run -2 weft merge -o x a.dat
	[[ "$output" == *"only one file given"* ]]
	run -2 weft merge -o x
	[[ "$output" == *"no files given"* ]]
	run -2 weft merge a.dat b.dat
	[[ "$output" == *"-o FILE"* ]]
	run -2 weft merge --offset c.dat=5 -o x a.dat b.dat
	[[ "$output" == *"'c.dat' is not one of the files"* ]]
	run -2 weft merge --offset a.dat=soon -o x a.dat b.dat
	run -2 weft merge --offset a.dat=5 --match x -o x a.dat b.dat
	run -1 weft merge --match no_such_event -o "$BATS_TEST_TMPDIR/x" $GOLDEN/6.12-events-sched.dat $GOLDEN/6.1-rt-events-sched.dat
	[[ "$output" == *"no_such_event"* ]]
	run -1 weft merge --offset $GOLDEN/6.12-events-sched.dat=-9000000000000 -o "$BATS_TEST_TMPDIR/x" $GOLDEN/6.12-events-sched.dat \
		$GOLDEN/6.1-rt-events-sched.dat
	[[ "$output" == *"before the time 0"* ]]
}

@test "merge: what record --profile sampled stays that, in a buffer of weft's own" {
	cp "$BATS_TEST_DIRNAME/../fixtures/profile.dat" "$BATS_TEST_TMPDIR/p.dat"
	weft merge -q -o "$BATS_TEST_TMPDIR/all.dat" "$BATS_TEST_TMPDIR/p.dat" $GOLDEN/6.12-events-sched.dat
	cd "$BATS_TEST_TMPDIR"
	weft stacks --on-cpu p.dat | grep -o '^# [0-9,]* samples' > want
	weft stacks --on-cpu all.dat | grep -o '^# [0-9,]* samples' | cmp - want
	run ! grep -q hrtimer_expire_entry <(weft report all.dat)
	weft report -B weft/profile.p all.dat > text
	grep -q hrtimer_expire_entry text
}
