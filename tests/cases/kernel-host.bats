#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Instances of this machine's own tracefs. Whatever weft did in an instance of somebody else, it must be as before.
load lib

T=/sys/kernel/tracing

setup()
{
	need_tracefs
	SOME=weft-test-some-$$
	mkdir $T/instances/$SOME
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown()
{
	[ -n "${SOME:-}" ] || return 0
	echo 0 > $T/instances/$SOME/events/enable
	rmdir $T/instances/$SOME
}

# Prints the settings of the instance, one per line.
settings()
{
	(cd $T/instances/$SOME && grep -H '' set_event trace_clock buffer_size_kb tracing_on tracing_cpumask trace_options set_event_pid \
		current_tracer buffer_percent events/{sched,irq}/*/{enable,filter,trigger} | sort)
}

@test "an existing instance is left as it was: events, filters, triggers, clock, size, options" {
	echo 'prev_prio < 50' > $T/instances/$SOME/events/sched/sched_switch/filter
	echo 'traceoff if prev_pid == -5' > $T/instances/$SOME/events/sched/sched_switch/trigger
	echo 1 > $T/instances/$SOME/events/irq/enable
	echo mono > $T/instances/$SOME/trace_clock
	echo 300 > $T/instances/$SOME/buffer_size_kb
	echo 4242 > $T/instances/$SOME/set_event_pid
	settings > before
	run --separate-stderr weft record -B $SOME -e sched -f 'common_pid > 0' -R stacktrace -C local -b 100 -O nooverwrite -F -- true
	echo "$stderr"
	[ "$status" -eq 0 ]
	settings > after
	diff before after
}

@test "a refused filter shows the kernel's words with its caret, and changes nothing" {
	settings > before
	run --separate-stderr weft record -B $SOME -e sched:sched_switch -f 'prev_comm == 7' -- true
	[ "$status" -eq 125 ]
	[[ "$stderr" == *"Expecting string field"* ]]
	grep -q '^ *^$' <<< "$stderr"
	settings > after
	diff before after
}

@test "a field that the event does not have is told before anything is written, with those that fit" {
	settings > before
	tail -n 3 $T/error_log $T/instances/$SOME/error_log > log.before
	run --separate-stderr weft record -B $SOME -e sched:sched_switch -f 'prev_pid > 1 && nex_pid == 1' -- true
	[ "$status" -eq 125 ]
	[[ "$stderr" == *"has no field 'nex_pid'"*"did you mean 'next_pid'"*"the fields are prev_comm, prev_pid"* ]]
	[[ "$stderr" == *$'\n'"  prev_pid > 1 && nex_pid == 1"$'\n'"                  ^"$'\n'* ]]
	tail -n 3 $T/error_log $T/instances/$SOME/error_log > log.after
	diff log.before log.after
	settings > after
	diff before after
}

@test "an unknown trigger, clock and option are named with what is near" {
	run --separate-stderr weft record -e sched:sched_switch -R stacktrce -- true
	[ "$status" -eq 125 ]
	[[ "$stderr" == *"no trigger 'stacktrce'; did you mean 'stacktrace'"* ]]
	run --separate-stderr weft record -e sched -C mon -- true
	[ "$status" -eq 125 ]
	[[ "$stderr" == *"no trace clock 'mon'; did you mean 'mono'"* ]]
	run --separate-stderr weft record -e sched -O stackrace -- true
	[ "$status" -eq 125 ]
	[[ "$stderr" == *"no option 'stackrace'; did you mean 'stacktrace'"* ]]
}

@test "after kill -9 the next weft finds the private instance and recover removes it" {
	weft record -q -e sched:sched_switch -o killed.dat 2> log &
	local pid=$!
	await_tracing $pid || { cat log; return 1; }
	kill -9 $pid
	wait $pid || true
	[ -d $T/instances/weft-$pid ]
	run weft recover killed.dat
	[ "$status" -eq 0 ]
	[ ! -e $T/instances/weft-$pid ]
	run weft check killed.dat
	[ "$status" -eq 0 ]
}

holds_events()
{
	grep -q '^entries: [1-9]' "$T/instances/$1/per_cpu/cpu0/stats"
}

# What the kernel still holds of a killed recording is lost with its instance, so who tells of it names recover first.
@test "after kill -9 status and doctor name recover, and reset says what it gives up" {
	weft record -q -b 4M -e sched:sched_switch -o killed.dat 2> log &
	local pid=$!
	await_tracing $pid || { cat log; return 1; }
	kill -STOP $pid
	await holds_events weft-$pid
	kill -9 $pid
	wait $pid || true
	for command in status doctor; do
		weft $command | tr -s '\n ' ' ' > told
		grep -E "process $pid\)? was killed and left behind .*'weft recover [^ ]*killed\.dat\.weft-$pid-[^ ]*parts' makes a file .* 'weft reset' puts it back without" told
	done
	run --separate-stderr -0 weft reset -B weft-$pid -B weft-$pid-2
	[[ "$stderr" =~ "note: "[0-9,]+" event"s?" of a killed recording that the kernel still held "(is|are)" gone; 'weft recover " ]]
	[ ! -e $T/instances/weft-$pid ]
	run --separate-stderr -1 weft recover
	[[ "$stderr" == *"nothing to recover: no parts of 'trace.dat'"*"'weft recover ./killed.dat.weft-$pid-"*" makes a file of the parts that another recording left here"* ]]
	run --separate-stderr -0 weft recover killed.dat
	[[ "$stderr" == *"the file lacks what the kernel still held"* ]]
}
