#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

setup()
{
	need_tracefs
	cd "$BATS_TEST_TMPDIR" || exit 1
}

@test "recover: a killed recording becomes a file that is whole, and its instance goes" {
	weft record -o k.dat -e sched -e syscalls -- sleep 60 3>&- &
	pid=$!
	await_tracing $pid
	ls / > ls.txt
	kill -9 $pid
	wait $pid || true
	run -0 weft recover k.dat
	[[ "$output" == *"recovered 'k.dat'"* ]]
	weft check k.dat
	[ ! -e /sys/kernel/tracing/instances/weft-$pid ]
	[ -z "$(ls -d ./*.parts 2> /dev/null)" ]
}

@test "recover: an existing file is not replaced unasked" {
	weft record -o k.dat -e sched -- sleep 60 3>&- &
	pid=$!
	await_tracing $pid
	run -1 weft recover k.dat
	[[ "$output" == *"still running"* ]]
	kill -9 $pid
	wait $pid || true
	echo old > k.dat
	run -1 weft recover k.dat
	[ "$(cat k.dat)" = old ]
	run -0 weft recover k.dat -o new.dat
	weft check new.dat
}

@test "recover: nothing to recover is said" {
	run -1 weft recover none.dat
	[[ "$output" == *"nothing to recover"* ]]
}

@test "recover: a directory that is not a recording's loses nothing, whatever its name ends with" {
	dead=$(sh -c 'echo $$')
	for dir in "backup-$dead" "backup.weft-$dead" "k.dat.weft-$dead-0badcafe.parts.old"; do
		mkdir "$dir"
		touch "$dir/2024" "$dir/1.0"
		echo mine > "$dir/metadata"
		run -1 weft recover "$dir"
		[ "$(ls "$dir")" = $'1.0\n2024\nmetadata' ]
		[ "$(cat "$dir/metadata")" = mine ]
	done
}

@test "recover: parts that never held anything are removed once their recorder is dead" {
	dead=k.dat.weft-$(sh -c 'echo $$')-0badcafe.parts
	living=k.dat.weft-$$-0badcafe.parts
	mkdir "$dead" "$living"
	run -1 weft recover "$dead/"
	[[ "$output" == *"the directory is removed" ]]
	[ ! -e "$dead" ]
	run -1 weft recover "$living"
	[ -d "$living" ]
}

@test "recover: what the kernel holds of a recording waits until its parts are named, wherever they were moved" {
	mkdir before other
	cd before
	weft record -o k.dat -e sched_process_exec -- sh -c 'echo $$ > child; exec sleep 600' 3>&- &
	pid=$!
	instance=/sys/kernel/tracing/instances/weft-$pid
	until [ -s child ] && grep -q '^entries: [1-9]' $instance/per_cpu/cpu*/stats; do sleep 0.05; done
	kill -9 $pid "$(cat child)"
	wait $pid || true
	cd ..
	mv before after
	run -1 weft recover other/k.dat
	[[ "$output" == *"the kernel still holds "*" of a killed recording whose parts are not at "*"/before/k.dat.weft-$pid-"* ]]
	[[ "$output" == *"nothing to recover"* ]]
	[ -e $instance ]
	run -0 weft recover after/k.dat
	[[ "$output" == *"were still in the kernel's buffers"* ]]
	[ ! -e $instance ]
	weft report after/k.dat | grep -q "sched_process_exec: .*/sleep "
}

@test "recover: it says what could not be read any more" {
	weft record -o k.dat -e sched_process_exec -- sh -c 'echo $$ > child; exec sleep 600' 3>&- &
	pid=$!
	until [ -s child ]; do sleep 0.05; done
	kill -9 $pid "$(cat child)"
	wait $pid || true
	run -0 weft reset
	run -0 weft recover k.dat
	[[ "$output" == *"the file lacks what the kernel still held"* ]]
}

# killed_parts: kills a recording and sets `parts` to what it has left.
killed_parts()
{
	weft record -o k.dat -e sched_process_exec -- sleep 60 3>&- &
	pid=$!
	await_tracing $pid
	kill -9 $pid
	wait $pid || true
	parts=$(echo k.dat.weft-$pid-*.parts)
	[ -e "$parts/0.0" ]
}

@test "recover: torn data is told, with -q, too" {
	killed_parts
	# Behind the head of a spool, which is as long as a page.
	truncate -s ">4096" "$parts/0.0"
	printf '%-100s' torn >> "$parts/0.0"
	run -0 weft recover -q k.dat
	[[ "$output" == *"100 B at the end of parts were torn and left out"* ]]
	weft check k.dat
}

@test "recover: a spool that somebody has removed is a loss that is told, with -q, too; that of a CPU never seen is none" {
	killed_parts
	rm "$parts/0.0"
	run -1 weft recover -q k.dat
	[[ "$output" == *"lost: CPU 0 had been recorded, and its data is not among the parts"* ]]
	weft check k.dat
	[ ! -e "$parts" ]
	[ ! -e /sys/kernel/tracing/instances/weft-$pid ]
}

@test "recover: without a name, settings alone that a killed weft left are put back" {
	weft stream -q -e sched_process_exec > /dev/null 3>&- &
	pid=$!
	instance=/sys/kernel/tracing/instances/weft-$pid
	await_tracing $pid
	kill -9 $pid
	wait $pid || true
	run -0 weft recover
	[[ "$output" == *"put back the tracing settings of 1 killed recording"* ]]
	[[ "$output" != *"nothing to recover"* ]]
	[ ! -e $instance ]
}
