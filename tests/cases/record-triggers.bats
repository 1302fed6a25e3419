#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Triggers of recordings on this machine's own kernel: their counts, and those on what programs write to trace_marker.
load lib

setup()
{
	need_tracefs
	cd "$BATS_TEST_TMPDIR" || exit 1
	T=/sys/kernel/tracing
}

teardown()
{
	weft reset > /dev/null 2>&1 || true
}

stacks()
{
	grep -c '<stack trace>'
}

@test "record, stream, start: the count of a trigger is what the workload gets" {
	[ -e $T/events/kmem/kmalloc ] || skip "this kernel has no kmem:kmalloc"
	for n in 2 20; do
		weft record -q -e kmem:kmalloc -R "stacktrace:$n if bytes_req >= 8" -o t.dat -- ls -R /proc/self/net /proc/self/fd /proc/self/task /proc/self/ns > /dev/null 2>&1 || true
		[ "$(weft report --self t.dat | stacks)" = $n ]
	done
	[ "$(weft stream -q --self -e kmem:kmalloc -R stacktrace:2 -- ls -R /proc/self/net 2> /dev/null | stacks)" = 2 ]
	# Without a command, too.
	weft start -B weft-test-count -e kmem:kmalloc -R stacktrace:2
	ls -R /proc/self/net > /dev/null
	weft stop -B weft-test-count
	count=$(stacks < $T/instances/weft-test-count/trace)
	weft reset
	[ "$count" = 2 ]
}

@test "record: a wrong trigger with a count is refused before the command runs" {
	run -125 weft record -q -e sched:sched_switch -R 'stacktrace:2 if no_such_field == 1' -o t.dat -- touch ran
	[[ "$output" == *no_such_field* ]]
	[ ! -e ran ]
	run -125 weft record -q -e sched:sched_switch -R stacktrace:x2 -o t.dat -- touch ran
	[ ! -e ran ]
}

@test "record, start: -e ftrace:print -R has triggers on what is written to trace_marker, and stat and reset see them" {
	E=$T/events/ftrace/print/trigger
	[ -e $E ] || skip "this kernel has no triggers on ftrace:print"
	[ "$(cat $T/current_tracer)" = nop ] || skip "somebody traces"
	weft start -e sched:sched_process_exec -e ftrace:print -R traceoff
	grep -q '^traceoff:unlimited' $E
	echo stop > $T/trace_marker
	[ "$(cat $T/tracing_on)" = 0 ]
	weft reset
	[ -z "$(grep '^traceoff' $E)" ]
	mkdir $T/instances/weft-test-marker
	echo stacktrace > $T/instances/weft-test-marker/events/ftrace/print/trigger
	stat=$(weft stat -B weft-test-marker)
	rmdir $T/instances/weft-test-marker
	[[ "$stat" == *"ftrace:print  stacktrace:unlimited"* ]]
	# Alone it records the marks, and nothing else.
	weft record -q -B weft-test-marker -e ftrace:print -o t.dat -- sh -c "echo hello > $T/instances/weft-test-marker/trace_marker"
	weft report -B weft-test-marker t.dat | grep -v '^#' > marks
	[ "$(wc -l < marks)" = 1 ]
	grep -q 'tracing_mark_write: hello$' marks
}

@test "record --for: sched, tasks, syscalls, locks and summary record which thread belongs to which process" {
	[ -e $T/options/record-tgid ] || skip "this kernel has no record-tgid"
	for name in sched tasks syscalls locks summary; do
		weft record --for $name --dry-run -- true | grep -q '^echo 1 > .*options/record-tgid$'
	done
	weft record -q --for sched -o t.dat -- sh -c 'exec cat /proc/self/status' > status
	pid=$(sed -n 's/^Pid:\t//p' status)
	# The kernel's own column of thread groups: the process of a task that has one thread is itself.
	weft report t.dat | grep -qE "cat-$pid +\( *$pid\)"
}

@test "record: a tracer that the kernel lacks is named, not the list that it would have" {
	grep -qw function_graph $T/available_tracers && skip "this kernel has function_graph"
	for option in -g -l --max-graph-depth; do
		value=vfs_read
		[ $option != --max-graph-depth ] || value=2
		run -125 weft record -p function_graph $option $value -o t.dat -- true
		[[ "$output" == *"this kernel has no tracer 'function_graph'"* ]]
	done
}

@test "reset: tracing is on again after a trigger that weft set has turned it off" {
	mkdir $T/instances/weft-test-off
	weft set -B weft-test-off -e sched:sched_process_exec -R traceoff
	/bin/true
	off=$(cat $T/instances/weft-test-off/tracing_on)
	weft reset
	on=$(cat $T/instances/weft-test-off/tracing_on)
	rmdir $T/instances/weft-test-off
	[ "$off$on" = 01 ]
}

@test "record: a trigger that takes snapshots is refused, because they would be gone with the recording" {
	grep -qw snapshot $T/events/sched/sched_switch/trigger || skip "this kernel has no snapshots"
	run -125 weft record -q -e sched:sched_switch -R snapshot:1 -o t.dat -- touch ran
	[[ "$output" == *"'weft start' with this sets it, 'weft extract -s' then saves the snapshot"* ]]
	[ ! -e ran ]
}
