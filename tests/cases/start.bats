#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# start, set, stop, restart, clear, reset: in instances of this machine's kernel. Guests test the top instance.
load lib

setup()
{
	need_tracefs
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=weft-test-start-$$-$BATS_TEST_NUMBER
	I=/sys/kernel/tracing/instances/$NAME
}

teardown()
{
	[ -n "$I" ] || return 0
	weft reset -B "$NAME" 2> /dev/null || true
	[ ! -d "$I" ] || rmdir "$I"
}

@test "start: makes the instance, leaves it tracing, and reset removes it" {
	run -0 weft start -B "$NAME" -e sched:sched_switch -b 100
	[ -z "$output" ]
	[ "$(cat $I/tracing_on)" = 1 ]
	[ "$(cat $I/set_event)" = sched:sched_switch ]
	run -0 weft reset -B "$NAME"
	[ ! -d $I ]
}

@test "start: runs a command, whose status counts, and tracing goes on" {
	run -3 weft start -B "$NAME" -e sched:sched_process_exit -- sh -c 'exit 3'
	[ "$(cat $I/tracing_on)" = 1 ]
}

@test "start: a command that cannot be run leaves nothing" {
	run -127 weft start -B "$NAME" -e sched -- ./no-such-command
	[[ "$output" == *no-such-command* ]]
	[ ! -d $I ]
}

@test "start: an error leaves nothing, not even the instance" {
	run -1 weft start -B "$NAME" -e sched:sched_switch -f 'no_field == 1'
	[[ "$output" == *no_field* ]]
	[ ! -d $I ]
	run -1 weft start -B "$NAME" -e sched:sched_swich
	[[ "$output" == *"did you mean 'sched:sched_switch'"* ]]
	[ ! -d $I ]
}

@test "start: -v switches off what an instance of somebody had on, and reset puts it back" {
	mkdir $I
	echo 1 > $I/events/sched/enable
	echo 'pid > 1' > $I/events/sched/sched_waking/filter
	cat $I/events/sched/*/enable > before
	weft start -B "$NAME" -e sched:sched_waking -f 'prio < 100' -v -e sched:sched_switch
	[ "$(cat $I/events/sched/sched_switch/enable)" = 0 ]
	[ "$(cat $I/events/sched/sched_waking/filter)" = 'prio < 100' ]
	weft start -B "$NAME" -e sched:sched_waking -f 'prio < 50'
	weft reset -B "$NAME"
	cat $I/events/sched/*/enable | diff before -
	[ "$(cat $I/events/sched/sched_waking/filter)" = 'pid > 1' ]
	[ -d $I ]
}

@test "set: changes what it is told to and nothing else" {
	weft start -B "$NAME" -e sched:sched_switch -b 100
	(cd $I && cat trace_options trace_clock buffer_size_kb) > before
	weft set -B "$NAME" -e sched:sched_waking -f 'prio < 100'
	(cd $I && cat trace_options trace_clock buffer_size_kb) | diff before -
	[ "$(cat $I/tracing_on)" = 1 ]
	[ "$(cat $I/events/sched/sched_switch/enable)" = 1 ]
	[ "$(cat $I/events/sched/sched_waking/filter)" = 'prio < 100' ]
	weft set -B "$NAME" -v -e sched:sched_waking
	[ "$(cat $I/events/sched/sched_waking/enable)" = 0 ]
}

@test "set: an instance that is not there is an error with a near name" {
	weft start -B "$NAME" -e sched:sched_switch
	run -1 weft set -B "${NAME}x" -e sched:sched_waking
	[[ "$output" == *"did you mean '$NAME'"* ]]
}

@test "set: nothing to change is a usage error" {
	run -2 weft set
	[[ "$output" == *"nothing to change"* ]]
}

@test "stop, restart and clear: do what they say" {
	weft start -B "$NAME" -e sched:sched_process_exit -- true
	weft stop -B "$NAME"
	[ "$(cat $I/tracing_on)" = 0 ]
	grep -q sched_process_exit $I/trace
	weft clear -B "$NAME"
	run ! grep -q sched_process_exit $I/trace
	weft restart -B "$NAME"
	[ "$(cat $I/tracing_on)" = 1 ]
}

# entries CPU: the number of events that the kernel has in the buffer of this CPU
entries()
{
	sed -n 's/^entries: //p' $I/per_cpu/cpu$1/stats
}

@test "clear --cpu: empties the buffers of these CPUs only" {
	[ -d /sys/kernel/tracing/per_cpu/cpu1 ] || skip "one CPU"
	weft start -B "$NAME" -e sched:sched_process_exit
	taskset -c 0 true
	taskset -c 1 true
	weft stop -B "$NAME"
	[ "$(entries 0)" -gt 0 ]
	before=$(entries 1)
	[ "$before" -gt 0 ]
	weft clear -B "$NAME" --cpu 0
	[ "$(entries 0)" = 0 ]
	[ "$(entries 1)" = "$before" ]
	run -1 weft clear -B "$NAME" --cpu 1,8191
	[[ "$output" == *"this machine has no CPU 8191"* ]]
	[ "$(entries 1)" = "$before" ]
	run -2 weft clear -B "$NAME" --cpu 1 --errors
	weft clear -B "$NAME" --cpu all
	[ "$(entries 1)" = 0 ]
}

@test "set: a change by which the kernel empties the buffer is told with the number of events" {
	weft start -B "$NAME" -e sched:sched_process_exit -- true
	weft stop -B "$NAME"
	held=0
	for cpu in $I/per_cpu/cpu*; do
		held=$((held + $(sed -n 's/^entries: //p' $cpu/stats)))
	done
	[ "$held" -gt 0 ]
	# The clock that it already has is no change.
	run -0 weft set -B "$NAME" -C local
	[ -z "$output" ]
	run -0 weft set -B "$NAME" -C mono
	[[ "$output" == *"the kernel empties the buffer when 'trace_clock' changes: $held event"*"'$NAME'"*"gone"* ]]
	run ! grep -q sched_process_exit $I/trace
	# It is empty now.
	run -0 weft set -B "$NAME" -C local
	[ -z "$output" ]
}

@test "stop: what was on in somebody's instance is on again after reset" {
	mkdir $I
	weft stop -B "$NAME"
	weft restart -B "$NAME"
	weft stop -B "$NAME"
	[ "$(cat $I/tracing_on)" = 0 ]
	weft reset -B "$NAME"
	[ "$(cat $I/tracing_on)" = 1 ]
}

@test "reset: nothing to put back is no error" {
	run -0 weft reset -B "$NAME"
	[[ "$output" == *"nothing to put back"* ]]
}

@test "reset: --all asks, and without a terminal changes nothing" {
	mkdir $I
	run -1 weft reset --all < /dev/null
	[[ "$output" == *"the instance '$NAME'"* ]]
	[[ "$output" == *"nothing was changed"*"--yes"* ]]
	[ -d $I ]
}

@test "recover: what start has left is none of a crash" {
	weft start -B "$NAME" -e sched:sched_switch
	run weft recover
	[ -d $I ]
	[ "$(cat $I/events/sched/sched_switch/enable)" = 1 ]
}
