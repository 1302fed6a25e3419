#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What differs from boot, in an instance of this machine's own tracefs.
load lib

T=/sys/kernel/tracing

setup()
{
	need_tracefs
	SOME=weft-test-stat-$$
	mkdir $T/instances/$SOME
}

teardown()
{
	[ -n "${SOME:-}" ] || return 0
	[ -z "${READER:-}" ] || kill "$READER" 2> /dev/null || true
	echo 0 > $T/instances/$SOME/events/enable
	echo '!traceoff' > $T/instances/$SOME/events/sched/sched_switch/trigger || true
	for try in $(seq 100); do rmdir $T/instances/$SOME 2> /dev/null && return; done
}

# Prints the lines below the instance's name, with single blanks.
of_instance()
{
	sed -n "/^instance $SOME\$/,/^[a-z]/p" <<< "$output" | sed -n 's/^  *//p' | tr -s ' '
}

@test "stat: an instance that nobody has touched differs in nothing" {
	run --separate-stderr weft stat
	[ "$status" -eq 0 ]
	grep -qx "instance $SOME" <<< "$output"
	[ -z "$(of_instance)" ]
	run weft stat -B $SOME
	[ "$output" = "instance $SOME" ]
}

@test "stat: settings, events, filters and triggers are told as the kernel has them" {
	cd $T/instances/$SOME
	echo 0 > tracing_on
	echo mono > trace_clock
	echo 300 > buffer_size_kb
	echo nooverwrite > trace_options
	echo 1 > events/sched/enable
	echo 1 > events/irq/irq_handler_entry/enable
	echo 'prev_prio < 50' > events/sched/sched_switch/filter
	echo 'traceoff if prev_pid == -5' > events/sched/sched_switch/trigger
	cd "$BATS_TEST_DIRNAME/../.."
	run --separate-stderr weft stat -B $SOME
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	of_instance > "$BATS_TEST_TMPDIR/stat"
	grep -qx 'tracing_on 0' "$BATS_TEST_TMPDIR/stat"
	grep -qx 'trace_clock mono' "$BATS_TEST_TMPDIR/stat"
	grep -qE '^buffer_size_kb 30[0-9]$' "$BATS_TEST_TMPDIR/stat"
	grep -qx 'options nooverwrite' "$BATS_TEST_TMPDIR/stat"
	grep -qx 'events 1 sched' "$BATS_TEST_TMPDIR/stat"
	grep -qx 'events X irq' "$BATS_TEST_TMPDIR/stat"
	grep -qx 'events 1 irq:irq_handler_entry' "$BATS_TEST_TMPDIR/stat"
	grep -qx 'filter sched:sched_switch prev_prio < 50' "$BATS_TEST_TMPDIR/stat"
	grep -qx 'trigger sched:sched_switch traceoff:unlimited if prev_pid == -5' "$BATS_TEST_TMPDIR/stat"
}

@test "stat: who holds a file of the instance open is named" {
	sleep 60 < $T/instances/$SOME/trace_pipe 3>&- &
	READER=$!
	for try in $(seq 500); do
		[ "$(readlink /proc/$READER/exe)" = "$(realpath "$(command -v sleep)")" ] && break
	done
	run weft stat -B $SOME
	[ "$(of_instance)" = "in use by sleep (process $READER): trace_pipe" ]
}

@test "stat: --check tells by its status whether anything differs" {
	run weft stat --check
	[ "$status" -eq 1 ]
}

@test "stat: an unknown instance and a word too many are errors" {
	run --separate-stderr weft stat -B ${SOME}x
	[ "$status" -eq 1 ]
	[[ "$stderr" == "weft: no instance '${SOME}x'"* ]]
	run weft stat word
	[ "$status" -eq 2 ]
}

# Changes to /run/weft inside are visible to no other process.
own_run()
{
	need_mounts
	mkdir -p /run/weft
}

@test "stat, doctor: what a journal knows is told by kind" {
	own_run
	run -0 unshare -m sh -c 'mount -t tmpfs -o mode=755 tmpfs /run/weft
		printf "weft-undo 1 99999999 1 -\np 0 6 0\n\nweft/x\n\ns 0 10 2\n\ntracing_on\n1\n\n" > /run/weft/held-99999999-1-001
		printf "weft-undo 1 99999998 1 -\ni 6 0 0\nweft-9\n\n\ni 6 0 0\nweft-8\n\n\n" > /run/weft/undo-99999998-1
		weft stat && weft doctor'
	[[ "$output" == *"weft (process 99999999) was asked for 1 setting, 1 probe; 'weft reset' puts that back"* ]]
	[[ "$output" == *"weft (process 99999998) was killed and left behind 2 instances; 'weft reset' puts that back"* ]]
	[[ "$output" == *"process 99999998 was killed and left behind 2 instances"* ]]
}

@test "snapshot show, stack show: they need no journal" {
	own_run
	for what in "snapshot show" "snapshot clear" "stack show"; do
		# shellcheck disable=SC2086
		run unshare -m sh -c 'mount -t tmpfs -o ro tmpfs /run && exec weft "$@"' - $what
		[[ "$output" != *"/run/weft"* ]]
	done
}

@test "status: a command behind it, as perf stat takes one, is refused with the way to record it" {
	run -2 weft stat -- true
	[ "$output" = "weft status runs no command: 'weft record -- COMMAND' records one, and 'weft summary' then tells what it did" ]
}
