#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

@test "list: formats need no kernel and name the default one" {
	run --separate-stderr weft list formats
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	grep -qx ftrace <<< "$output"
}

@test "list: an unknown list is a usage error that tells what is near" {
	run --separate-stderr weft list evnts
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[ "$stderr" = "weft: unknown list 'evnts'; did you mean 'events'?" ]
}

@test "list: a glob that matches nothing fails and names it" {
	run --separate-stderr weft list formats 'ft*' 'nothing*'
	[ "$status" -eq 1 ]
	[ "$output" = ftrace ]
	[ "$stderr" = "weft: no format matches 'nothing*'" ]
}

@test "list: --max-bytes leaves out the last rows of each list, and says how many and how to get them" {
	local size file=$BATS_TEST_DIRNAME/../fixtures/demo.dat all part

	weft list events -i "$file" > "$BATS_TEST_TMPDIR/all"
	all=$(wc -l < "$BATS_TEST_TMPDIR/all")
	for size in 1 100 3000; do
		weft list events -i "$file" --max-bytes $size > "$BATS_TEST_TMPDIR/part" 2> "$BATS_TEST_TMPDIR/said"
		[ "$(wc -c < "$BATS_TEST_TMPDIR/part")" -le $size ]
		part=$(wc -l < "$BATS_TEST_TMPDIR/part")
		head -n "$part" "$BATS_TEST_TMPDIR/all" | cmp - "$BATS_TEST_TMPDIR/part"
		# One line more would not fit.
		[ "$(head -n $((part + 1)) "$BATS_TEST_TMPDIR/all" | wc -c)" -gt $size ]
		[ "$(cat "$BATS_TEST_TMPDIR/said")" = "weft: $((all - part)) more rows: --max-bytes with a larger number, or a GLOB, shows them" ]
	done
	for size in 400 5000; do
		weft list events -i "$file" --max-bytes $size --format json > "$BATS_TEST_TMPDIR/part"
		[ "$(wc -c < "$BATS_TEST_TMPDIR/part")" -le $size ]
		[ "$(jq '(.events | length) + .rows_left_out.events' "$BATS_TEST_TMPDIR/part")" = "$all" ]
		jq -e '.for_more | test("max-bytes")' "$BATS_TEST_TMPDIR/part"
	done
	weft list events -i "$file" --max-bytes 1000000 --format json > "$BATS_TEST_TMPDIR/part"
	weft list events -i "$file" --format json | cmp - "$BATS_TEST_TMPDIR/part"
	run -2 weft list --max-bytes 100
	run -1 weft list events -i "$file" --max-bytes 10 --format json
	[[ $output == *'without any row the answer has '*' bytes, more than --max-bytes' ]]
}

@test "list: events come one to a line, all of those that the kernel names" {
	need_tracefs
	run --separate-stderr weft list events
	[ "$status" -eq 0 ]
	[ "$output" = "$(cat /sys/kernel/tracing/available_events)" ]
}

@test "list: events of a system, of a glob, and of a bare name" {
	need_tracefs
	[ "$(weft list events sched)" = "$(grep ^sched: /sys/kernel/tracing/available_events)" ]
	[ "$(weft list events 'sched:sched_sw*')" = "$(grep ^sched:sched_sw /sys/kernel/tracing/available_events)" ]
	[ "$(weft list events sched/sched_switch)" = sched:sched_switch ]
	[ "$(weft list events sched_switch)" = sched:sched_switch ]
}

@test "list: --full tells the fields of an event and its print fmt" {
	need_tracefs
	run --separate-stderr weft list events --full sched:sched_switch
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = sched:sched_switch ]
	grep -q '^    .*prev_comm\[16\]' <<< "$output"
	grep -q '^    print fmt: ' <<< "$output"
	# The ID and all fields of the kernel's own text, in its order.
	sed -n 's/^ID: /    &/p; s/^\tfield:/    /p; s/^print fmt:/    &/p' /sys/kernel/tracing/events/sched/sched_switch/format |
		diff - <(tail -n +2 <<< "$output")
}

@test "list: events of the system ftrace, which nobody can choose, are listed when they are named" {
	need_tracefs
	[ "$(weft list events ftrace:print)" = ftrace:print ]
	[ "$(weft list events ftrace | sort)" = "$(cd /sys/kernel/tracing/events && ls -d ftrace/*/ | sed 's:/$::; s:/:\::' | sort)" ]
	weft list events -F ftrace:print | grep -q '^    print fmt: "%ps: %s"'
	[ "$(weft list events -i tests/fixtures/golden/6.12-events-sched.dat ftrace:print)" = ftrace:print ]
	run ! weft list events ftrace:none
	[[ "$output" == *"no event 'ftrace:none'"* ]]
}

@test "list: an event that does not exist is an error with near names" {
	need_tracefs
	run --separate-stderr weft list events sched_swich
	[ "$status" -eq 1 ]
	[ "$stderr" = "weft: no event 'sched_swich'; did you mean 'sched:sched_switch'?" ]
}

@test "list: tracers and clocks are those of tracefs, the current one told by --full" {
	need_tracefs
	[ "$(weft list tracers | sort)" = "$(tr ' ' '\n' < /sys/kernel/tracing/available_tracers | grep . | sort)" ]
	[ "$(weft list clocks | sort)" = "$(tr -d '[]' < /sys/kernel/tracing/trace_clock | tr ' ' '\n' | sort)" ]
	[ "$(weft list clocks --full | grep -c 'current$')" -eq 1 ]
}

@test "list: options tell with --full whether they are on" {
	need_tracefs
	[ "$(weft list options | sort)" = "$(ls /sys/kernel/tracing/options | sort)" ]
	[ "$(weft list options --full stacktrace)" = "stacktrace	off" ] ||
		[ "$(weft list options --full stacktrace)" = "stacktrace	on" ]
}

@test "list: instances are listed, and asked for by name" {
	need_tracefs
	local name=weft-test-list-$$
	mkdir /sys/kernel/tracing/instances/$name
	echo mono > /sys/kernel/tracing/instances/$name/trace_clock
	run weft list instances
	local all=$output
	run weft list --full -B $name clocks mono
	rmdir /sys/kernel/tracing/instances/$name
	grep -qx "$name" <<< "$all"
	[ "$output" = "mono	current" ]
	run --separate-stderr weft list -B ${name}x clocks
	[ "$status" -eq 1 ]
	[[ "$stderr" == "weft: no instance '${name}x'"* ]]
}

@test "list: functions are those that can be traced, or one line says why not" {
	need_tracefs
	run --separate-stderr weft list functions 'do_sys_open*'
	if cat /sys/kernel/tracing/available_filter_functions > "$BATS_TEST_TMPDIR/functions" 2> /dev/null; then
		[ "$status" -eq 0 ]
		[ "$output" = "$(grep -o '^do_sys_open[^ ]*' "$BATS_TEST_TMPDIR/functions")" ]
	else
		[ "$status" -eq 1 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ "$stderr" == *available_filter_functions* ]]
	fi
}

@test "list: without arguments it gives an overview and changes nothing" {
	need_tracefs
	run --separate-stderr weft list
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	grep -q '^tracers ' <<< "$output"
	grep -q '^events  *[0-9]* in [0-9]* systems$' <<< "$output"
}

@test "list: non-root hears once what is missing and how to get it" {
	need_tracefs
	need_command setpriv
	cp "$WEFT" "$BATS_TEST_TMPDIR/weft"
	chmod 755 "$BATS_TEST_TMPDIR/weft" "$BATS_TEST_TMPDIR"
	setpriv --reuid 65534 --clear-groups "$BATS_TEST_TMPDIR/weft" --version > /dev/null 2>&1 ||
		skip "an unprivileged user cannot reach the test directory"
	run --separate-stderr setpriv --reuid 65534 --clear-groups "$BATS_TEST_TMPDIR/weft" list events
	[ "$status" -eq 1 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == *"sudo"* ]]
}

@test "list: a full standard output is an error" {
	run --separate-stderr bash -c 'weft list formats > /dev/full'
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"cannot write"* ]]
}

@test "list: syscalls of a recording have the numbers of its machine and the arguments of its events" {
	local file=tests/fixtures/golden/6.12-events-syscalls.dat
	# /usr/include/asm/unistd_64.h and the format of the event say so.
	[ "$(weft list syscalls -i $file openat)" = "257	openat	int dfd, const char * filename, int flags, umode_t mode" ]
	[ "$(weft list syscalls -i $file 257)" = "$(weft list syscalls -i $file openat)" ]
	[ "$(weft list syscalls -i $file getpid stat)" = "4	stat
39	getpid" ]
	run --separate-stderr weft list syscalls -i $file opnat
	[ "$status" -eq 1 ]
	[ "$stderr" = "weft: no system call matches 'opnat'" ]
	# The numbers of another machine: n64 of mips, where openat is 5000 + 247.
	[ "$(weft list syscalls -i tests/fixtures/golden/6.1-mips64el-markers.dat 5247 | cut -f 1,2)" = "5247	openat" ]
}

@test "list: syscalls of this kernel are those of unistd.h, with the fields of their events" {
	need_tracefs
	local format=/sys/kernel/tracing/events/syscalls/sys_enter_openat/format
	[ "$(uname -m)" = x86_64 ] || skip "the number is that of x86-64"
	[ -e $format ] || skip "this kernel has no events of system calls"
	[ "$(weft list syscalls openat | tr -d ' ')" = "257	openat	$(sed -n 's/^\tfield:\(.*\);\toffset.*/\1/p' $format | grep -v 'common_\|__syscall_nr\|_loc' | paste -sd , | tr -d ' ')" ]
}

@test "list: -i lists the events, formats, systems, instances and tracer of a recording" {
	local file=tests/fixtures/golden/6.12-events-sched.dat
	[ "$(weft list systems -F -i $file)" = "sched	$(weft list events -i $file | grep -c ^sched:)" ]
	weft list events -F -i $file sched_switch | grep -q '^    char prev_comm\[16\];'
	[ "$(weft list events -i $file sched_switch)" = sched:sched_switch ]
	run --separate-stderr weft list events -i $file sched_swich
	[ "$stderr" = "weft: no event 'sched_swich'; did you mean 'sched:sched_switch'?" ]
	[ "$(weft list tracers -F -i $file)" = "nop	current" ]
	[ "$(weft list clocks -F -i $file local)" = "local	current" ]
	[ "$(weft list options -F -i $file print-parent)" = "print-parent	on" ]
	[ "$(weft list plugins -i tests/fixtures/golden/6.12-events-syscalls.dat 'syscalls' | head -n 1)" = "syscalls:sys_enter_brk" ]
	weft list -i $file | grep -q '^kernel .*6\.12'
	run -1 weft list functions -i $file
	[[ "$output" == *"does not say which functions could be traced"* ]]
	run -1 weft list events -i /nosuch.dat
	[[ "$output" == *"/nosuch.dat"* ]]
}
