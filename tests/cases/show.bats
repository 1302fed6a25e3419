#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The running kernel's own text, from an instance of the test's own, with events only.
load lib

setup()
{
	need_tracefs
	T=/sys/kernel/tracing
	I=weft-show-$$-$BATS_TEST_NUMBER
	mkdir "$T/instances/$I"
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown()
{
	[ -z "${I:-}" ] || rmdir "$T/instances/$I"
}

# still: writes some markers, then stops writing.
still()
{
	echo 'one two' > "$T/instances/$I/trace_marker"
	echo 'three' > "$T/instances/$I/trace_marker"
	echo 0 > "$T/instances/$I/tracing_on"
}

@test "show: the trace of an instance is the kernel's text" {
	still
	weft show -B "$I" > got
	cmp got "$T/instances/$I/trace"
	grep -q 'one two' got
}

@test "show: one CPU" {
	still
	for cpu in "$T/instances/$I"/per_cpu/cpu*; do
		weft show -B "$I" -c "${cpu##*cpu}" | cmp - "$cpu/trace"
	done
	run -1 weft show -B "$I" -c 9999
	[ "$output" = "weft: this machine has no CPU 9999" ]
}

@test "show: a buffer that its own reading fills comes to an end, and the note says why" {
	echo 1 > "$T/instances/$I/events/syscalls/enable"
	run -0 --separate-stderr timeout -s KILL 60 weft show -B "$I"
	echo 0 > "$T/instances/$I/events/syscalls/enable"
	[ "$stderr" = "weft: note: tracing goes on; what happened after this call is left out" ]
}

@test "show: trace_pipe gives what there is and says when that is nothing" {
	echo 'one two' > "$T/instances/$I/trace_marker"
	run -0 --separate-stderr timeout -s KILL 60 weft show -B "$I" trace_pipe
	[[ "$output" == *"one two"* ]]
	run -0 --separate-stderr timeout -s KILL 60 weft show -B "$I" trace_pipe
	[ -z "$output" ]
	[ "$stderr" = "weft: 'trace_pipe' has nothing to show now; --follow waits for more" ]
}

@test "show: --follow prints what comes, and ends when tracing does" {
	weft show -B "$I" --follow > got &
	pid=$!
	echo 'first' > "$T/instances/$I/trace_marker"
	for _ in {1..200}; do
		! grep -q first got || break
		sleep 0.05
	done
	grep -q first got
	echo 'second' > "$T/instances/$I/trace_marker"
	for _ in {1..200}; do
		! grep -q second got || break
		sleep 0.05
	done
	grep -q second got
	kill -TERM $pid
	wait $pid || true
}

@test "show: settings by their name, by that of trace-cmd, and options of the trace" {
	[ "$(weft show -B "$I" current_tracer)" = nop ]
	[ "$(weft show -B "$I" --current_tracer)" = nop ]
	[ "$(weft show -B "$I" --buffer_size)" = "$(cat "$T/instances/$I/buffer_size_kb")" ]
	[ "$(weft show -B "$I" stacktrace)" = 0 ]
	run -0 weft show -B "$I" tracing_on trace_clock
	[ "${lines[0]}" = "# tracing_on" ]
	[ "${lines[2]}" = "# trace_clock" ]
	[[ "$(weft show -B "$I" --trigger sched:sched_switch)" == "# Available triggers:"* ]]
}

@test "show: what cannot be shown is refused in words" {
	run -1 weft show -B "$I" curent_tracer
	[[ "$output" == *"did you mean 'current_tracer'?" ]]
	run -1 weft show free_buffer
	[[ "$output" == *"'free_buffer' is write-only"* ]]
	run -1 weft show -B "$I" per_cpu/cpu0/trace_pipe_raw
	[[ "$output" == *"raw pages"* ]]
	run -1 weft show -B "$I" events
	[[ "$output" == *"is a directory"* ]]
	run -1 weft show ../kernel
	[[ "$output" == *"not a name below the tracing directory"* ]]
	run -1 weft show -B weft-no-such-instance
	[[ "$output" == *"no instance 'weft-no-such-instance'"* ]]
	run -2 weft show -p current_tracer
	run -2 weft show -p -s
	run -1 weft show --hist no_such_event
	[[ "$output" == *"no event is called 'no_such_event'"* ]]
}
