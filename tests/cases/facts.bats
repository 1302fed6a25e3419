#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What a recording stores besides its pages because the text depends on it, on the kernel of this machine.
load lib

setup()
{
	need_tracefs
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "record: with userstacktrace the maps of the command are kept, and sym-userobj names its files" {
	run --separate-stderr weft record -e sched:sched_switch -O userstacktrace -F -c -o r.dat -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 0.02; done'
	[ "$status" -eq 0 ]
	weft info --settings r.dat | grep -q '^proc/[0-9]*/maps '
	weft report -O sym-userobj r.dat > named
	weft report -O nosym-userobj r.dat > plain
	grep -Eq '^ => /.*\[\+0x[0-9a-f]+\]$' named
	run -1 grep -q '\[+0x' plain
	# Only these lines differ.
	diff <(grep -v '^ => ' named) <(grep -v '^ => ' plain)
	weft report -O sym-userobj -O sym-addr r.dat | grep -Eq '^ => /.*\[\+0x[0-9a-f]+\] <[0-9a-f]{16}>$'
}

@test "record: without user stacks no maps are kept" {
	weft record -q -e sched:sched_switch -o r.dat -- sleep 0.05
	run weft info --settings r.dat
	[[ "$output" != *proc/* ]]
}

@test "record: --save of what there is not is wrong usage" {
	run --separate-stderr weft record -e sched --save stak -- true
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"unknown statistics 'stak'"* ]]
}

@test "record: --save leaves out what this kernel does not have" {
	run --separate-stderr weft record -e sched:sched_switch --save hist --save stack --save stat -o r.dat -- true
	[ "$status" -eq 0 ]
	if [ -e /sys/kernel/tracing/stack_trace ]; then weft report --stored stack r.dat; fi
	weft check r.dat
}

@test "record: the formats of events that somebody switches on meanwhile are kept" {
	local some=weft-test-meanwhile-$$ inst
	inst=/sys/kernel/tracing/instances/$some
	mkdir "$inst"
	run --separate-stderr weft record -B "$some" -e sched:sched_switch -o r.dat -- \
		sh -c "echo 1 > $inst/events/sched/sched_waking/enable; sleep 0.05"
	echo 0 > "$inst/events/enable"
	rmdir "$inst"
	[ "$status" -eq 0 ]
	weft report -B "$some" r.dat > text
	grep -q ': sched_waking: comm=' text
	run -1 grep -q 'Unknown type' text
}
