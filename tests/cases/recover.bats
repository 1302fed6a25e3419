#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

setup()
{
	need_tracefs
	cd "$BATS_TEST_TMPDIR" || exit 1
}

@test "recover: a killed recording becomes a file that is whole, and its instance goes" {
	weft record -o k.dat -e sched -e syscalls -- sleep 5 3>&- &
	pid=$!
	until [ -e /sys/kernel/tracing/instances/weft-$pid ] &&
		[ "$(cat /sys/kernel/tracing/instances/weft-$pid/tracing_on)" = 1 ]; do sleep 0.05; done
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
	weft record -o k.dat -e sched -- sleep 5 3>&- &
	pid=$!
	until compgen -G "k.dat.weft-$pid-*.parts" > /dev/null && [ -e /sys/kernel/tracing/instances/weft-$pid ] &&
		[ "$(cat /sys/kernel/tracing/instances/weft-$pid/tracing_on)" = 1 ]; do sleep 0.05; done
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
	[[ "$output" == *"it is removed" ]]
	[ ! -e "$dead" ]
	run -1 weft recover "$living"
	[ -d "$living" ]
}
