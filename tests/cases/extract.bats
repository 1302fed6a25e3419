#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Buffers of instances of this machine's own kernel that somebody else filled.
load lib

T=/sys/kernel/tracing

setup()
{
	need_tracefs
	SOME=weft-test-extract-$$
	I=$T/instances/$SOME
	mkdir "$I"
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown()
{
	[ -n "${SOME:-}" ] || return 0
	for dir in "$I" "$I-2"; do
		[ -d "$dir" ] || continue
		echo 0 > "$dir/events/enable"
		rmdir "$dir"
	done
}

# Fills an instance and freezes it.
fill()
{
	echo 1 > "$1/events/sched/enable"
	for _ in 1 2 3; do ls / > /dev/null; done
	echo 0 > "$1/tracing_on"
	echo 0 > "$1/events/enable"
}

settings()
{
	(cd "$I" && grep -H '' set_event trace_clock buffer_size_kb tracing_on tracing_cpumask trace_options set_event_pid current_tracer)
}

@test "extract: the report equals the kernel's text of the frozen buffer, latency-format too" {
	fill "$I"
	cat "$I/trace" > want
	echo 1 > "$I/options/latency-format"
	cat "$I/trace" > want.latency
	echo 0 > "$I/options/latency-format"
	settings > before
	run --separate-stderr weft extract -B "$SOME" -o e.dat
	[ "$status" -eq 0 ]
	[[ "$stderr" == *" events of "*" 0 overwritten before" ]]
	settings > after
	diff before after
	weft report e.dat | cmp - want
	weft report -O latency-format e.dat | cmp - want.latency
	weft check e.dat
	[ "$(weft info --setting weft/mode e.dat)" = extract ]
	[ -z "$(ls -d ./*.parts 2> /dev/null)" ]
}

@test "extract: system calls are printed as this very kernel does" {
	echo 1 > "$I/events/syscalls/enable"
	ls / > /dev/null
	echo 0 > "$I/tracing_on"
	echo 0 > "$I/events/enable"
	cat "$I/trace" > want
	weft extract -q -B "$SOME" -o e.dat
	weft report -B "$SOME" e.dat | cmp - want
}

@test "extract: an overwritten buffer, and versions 6 and 7, compressed or not" {
	for how in "--file-version 6" "--compression none" "--compression zstd:5"; do
		echo 16 > "$I/buffer_size_kb"
		echo 1 > "$I/tracing_on"
		echo 1 > "$I/events/sched/enable"
		for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do ls / > /dev/null; done
		echo 0 > "$I/tracing_on"
		echo 0 > "$I/events/enable"
		cat "$I/trace" > want
		# shellcheck disable=SC2086
		weft extract -q -B "$SOME" $how -o e.dat
		weft report e.dat | cmp - want
		echo > "$I/trace"
	done
}

@test "extract: what was extracted is gone; an empty buffer makes no file" {
	fill "$I"
	weft extract -q -B "$SOME" -o e.dat
	grep -q '^# entries-in-buffer/entries-written: 0/0 ' "$I/trace"
	run --separate-stderr weft extract -B "$SOME" -o none.dat
	[ "$status" -eq 1 ]
	[ "$stderr" = "weft: there is nothing in the buffer" ]
	[ ! -e none.dat ]
	[ -z "$(ls -d ./*.parts 2> /dev/null)" ]
}

@test "extract: several instances are buffers of one file" {
	mkdir "$I-2"
	fill "$I"
	fill "$I-2"
	cat "$I/trace" > want
	cat "$I-2/trace" > want-2
	weft extract -q -B "$SOME" -B "$SOME-2" -o e.dat
	weft report -B "$SOME" e.dat | cmp - want
	weft report -B "$SOME-2" e.dat | cmp - want-2
}

@test "extract: instances beside the top one are all in the file" {
	cat $T/per_cpu/cpu*/stats | awk '/^entries:/ { n += $2 } END { exit n != 0 }' || skip "somebody's events are in the top buffer"
	mkdir "$I-2"
	fill "$I"
	fill "$I-2"
	cat "$I/trace" > want
	cat "$I-2/trace" > want-2
	weft extract -q -B "$SOME" -B '' -B "$SOME-2" -o e.dat
	weft report -B "$SOME" e.dat | cmp - want
	weft report -B "$SOME-2" e.dat | cmp - want-2
}

@test "extract: a disk without room is told before anything is taken out of the kernel" {
	mkdir small
	mount -t tmpfs -o size=1m tmpfs small || skip "cannot mount a tmpfs"
	fill "$I"
	cat "$I/trace" > want
	run --separate-stderr weft extract -B "$SOME" -o small/e.dat
	left=$(ls -A small)
	umount small
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"nothing was taken out of the kernel"* || "$stderr" == *"No space left"* ]]
	[ -z "$left" ]
	cat "$I/trace" | cmp - want
}

@test "extract: tracing that is on stays on, and the file ends" {
	echo 1 > "$I/events/sched/enable"
	ls / > /dev/null
	run --separate-stderr timeout 60 weft extract -B "$SOME" -o e.dat
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"tracing is on and continued meanwhile"* ]]
	[ "$(cat "$I/tracing_on")" = 1 ]
	[ "$(cat "$I/events/sched/sched_switch/enable")" = 1 ]
	weft check e.dat
}

@test "extract: of a buffer that goes on as much is taken as each CPU can hold, though their sizes differ" {
	[ -d "$I/per_cpu/cpu1" ] || skip "one CPU only"
	echo 16 > "$I/per_cpu/cpu0/buffer_size_kb"
	echo 512 > "$I/per_cpu/cpu1/buffer_size_kb"
	echo 1 > "$I/events/syscalls/enable"
	taskset -c 1 sh -c 'for i in 1 2 3 4 5 6 7 8; do ls -lR /etc/s* > /dev/null 2>&1; done'
	echo 0 > "$I/events/enable"
	[ "$(awk '/^bytes:/ { print $2 }' "$I/per_cpu/cpu1/stats")" -gt 65536 ]
	weft extract -q -B "$SOME" -o e.dat
	grep -qx 'entries: 0' "$I/per_cpu/cpu1/stats"
	weft check e.dat
}

# Half of a page is read, and the events after it are overwritten.
leave_gap()
{
	echo 16 > "$I/buffer_size_kb"
	echo 1 > "$I/tracing_on"
	echo 1 > "$I/events/raw_syscalls/enable"
	taskset -c 0 ls / > /dev/null
	weft extract -q -B "$SOME" -o first.dat
	taskset -c 0 ls -lR /etc > /dev/null 2>&1 || true
	echo 0 > "$I/events/enable"
}

@test "extract: a gap is told where tracing went on, and is none in a buffer that stands still" {
	leave_gap
	weft extract -q -B "$SOME" -o e.dat
	weft report -B "$SOME" e.dat | grep -q '^CPU:[0-9]* \[LOST .*EVENTS\]$'
	leave_gap
	echo 0 > "$I/tracing_on"
	cat "$I/trace" > want
	weft extract -q -B "$SOME" -o e.dat
	weft report -B "$SOME" e.dat | cmp - want
	weft report -B "$SOME" --format trace_pipe e.dat | grep -q 'LOST'
}

@test "extract: to standard output" {
	fill "$I"
	cat "$I/trace" > want
	weft extract -q -B "$SOME" -o - | weft report - | cmp - want
}

@test "extract: unknown instances come with near names, wrong words are usage errors" {
	run --separate-stderr weft extract -B "${SOME}x"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"no instance '${SOME}x'; did you mean '$SOME'"* ]]
	for wrong in "file.dat" "-B a -B a" "-a -B a" "--file-version 6 --compression zstd" "--compression lzo"; do
		# shellcheck disable=SC2086
		run --separate-stderr weft extract $wrong
		[ "$status" -eq 2 ]
	done
}

@test "extract: where there is no snapshot the kernel's option is named" {
	[ ! -e "$I/snapshot" ] || skip "this kernel has snapshots"
	run --separate-stderr weft extract -s -B "$SOME"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"this kernel has no 'snapshot'"*CONFIG_TRACER_SNAPSHOT* ]]
}
